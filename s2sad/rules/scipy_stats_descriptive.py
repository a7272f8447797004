"""`scipy.stats`: descriptive statistics, as formulas. SciPy's own are called through decorators, by code that
is made at run time.
"""
# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import numpy as np
from scipy import special, stats

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import refusal, refuse, stand_in, stands_in

__all__: list[str] = []

# Functions of the same decorators whose results hold more than numbers.
TESTS = {
    "pearsonr": "its result holds a p-value: use `np.corrcoef(x, y)[0, 1]`",
    "linregress": "its result holds p-values: use `np.polyfit(x, y, 1)`",
    "describe": "call `np.mean`, `np.var` and `scipy.stats.skew`",
    "ttest_1samp": "compute the statistic by its formula",
    "ttest_ind": "compute the statistic by its formula",
    "ttest_rel": "compute the statistic by its formula",
    "spearmanr": "ranks have no derivative",
    "kendalltau": "ranks have no derivative",
    "trim_mean": "use np.mean of a slice of np.sort(x)",
    "iqr": "use np.subtract of two calls of np.quantile",
}
for name, reason in TESTS.items():
    refuse([getattr(stats, name)], reason)


def check_policy(nan_policy):
    """Refuses to leave NaN out, which takes masks."""
    if nan_policy != "propagate":
        raise NonDifferentiableError(
            f"a statistic with nan_policy={nan_policy!r}",
            why="derivatives are known where no item is left out",
            instead="leave NaN out before: `x[~np.isnan(x)]`",
        )


# Powers by squares and the factors in SciPy's order: the values are SciPy's but for rounding.
def is_constant(a, m2, axis, keepdims):
    """Whether a variance is zero but for rounding."""
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    return m2 <= (np.finfo(np.asarray(m2).dtype).eps * mean) ** 2


@stands_in(stats.skew)
def skew(a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    a = np.asarray(a)
    d = a - np.mean(a, axis=axis, keepdims=True)
    m2 = np.mean(d**2, axis=axis, keepdims=keepdims)
    m3 = np.mean(d**2 * d, axis=axis, keepdims=keepdims)
    m2 = np.where(is_constant(a, m2, axis, keepdims), np.nan, m2)
    n = a.size / np.size(m2)
    if not bias and n > 2:
        return ((n - 1.0) * n) ** 0.5 / (n - 2.0) * m3 / m2**1.5
    return m3 / m2**1.5


@stands_in(stats.kurtosis)
def kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    a = np.asarray(a)
    d = a - np.mean(a, axis=axis, keepdims=True)
    m2 = np.mean(d**2, axis=axis, keepdims=keepdims)
    m4 = np.mean((d**2) ** 2, axis=axis, keepdims=keepdims)
    m2 = np.where(is_constant(a, m2, axis, keepdims), np.nan, m2)
    n = a.size / np.size(m2)
    found = m4 / m2**2.0
    if not bias and n > 3:
        found = 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * m4 / m2**2.0 - 3 * (n - 1) ** 2.0) + 3.0
    return found - 3 if fisher else found


@stands_in(stats.sem)
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    check_policy(nan_policy)
    a = np.asarray(a)
    found = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return found / np.sqrt(a.size / np.size(found))


@stands_in(stats.variation)
def variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    check_policy(nan_policy)
    a = np.asarray(a)
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    n = a.size / np.size(mean)
    return np.std(a, axis=axis, keepdims=keepdims) * (n / (n - ddof)) ** 0.5 / mean


def weighted_mean(a, axis, weights, keepdims):
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    return np.average(a, axis=axis, weights=weights, keepdims=keepdims)


@stands_in(stats.gmean)
def gmean(a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    check_policy(nan_policy)
    return np.exp(weighted_mean(np.log(np.asarray(a, dtype)), axis, weights, keepdims))


@stands_in(stats.hmean)
def hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    check_policy(nan_policy)
    return 1.0 / weighted_mean(1.0 / np.asarray(a, dtype), axis, weights, keepdims)


@stands_in(stats.pmean)
def pmean(a, p, *, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    check_policy(nan_policy)
    if p == 0:
        return np.exp(weighted_mean(np.log(np.asarray(a, dtype)), axis, weights, keepdims))
    return weighted_mean(np.asarray(a, dtype) ** p, axis, weights, keepdims) ** (1.0 / p)


@stands_in(stats.zscore)
def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    return zmap(a, a, axis, ddof, nan_policy)


@stands_in(stats.zmap)
def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    check_policy(nan_policy)
    a = np.asarray(compare)
    mean = np.mean(a, axis=axis, keepdims=True)
    return (np.asarray(scores) - mean) / np.std(a, axis=axis, ddof=ddof, keepdims=True)


@stands_in(stats.entropy)
def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    check_policy(nan_policy)
    pk = np.asarray(pk)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = np.sum(special.entr(pk), axis=axis, keepdims=keepdims)
    else:
        qk = np.asarray(qk)
        qk = qk / np.sum(qk, axis=axis, keepdims=True)
        found = np.sum(special.rel_entr(pk, qk), axis=axis, keepdims=keepdims)
    return found if base is None else found / np.log(base)


def is_wrapped(f):
    """Whether calls of a function pass through the decorator of SciPy that looks for NaN."""
    while not (found := getattr(f, "__code__", None) is stats.kruskal.__code__) and hasattr(f, "__wrapped__"):
        f = f.__wrapped__
    return found


refuse(
    [f for f in map(vars(stats).get, stats.__all__) if is_wrapped(f) and stand_in(f) is f and not refusal(f)],
    "SciPy calls it through code that is made at run time; compute the statistic by its formula",
    writes=(),
)
