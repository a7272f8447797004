"""`scipy.stats`: probabilities of whole numbers, by the parameters of their distributions.

Where a number has no probability nothing changes with the parameters, and all gradients are zero.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ..registry import bprop
from .samples import A, given
from .scipy_special import quotient

COUNTS = np.array([0, 1, 2, 3])
CHANCE: Any = {"low": 0.2, "high": 0.8}
RATES = [given(COUNTS, 1.7), given(COUNTS, A(2, 1, low=0.5)), given(2, 0.9), given(np.array([2.0, 0.0]), 1.7)]
CHANCES = [given(COUNTS, 5, 0.3), given(COUNTS, 3, A(2, 1, **CHANCE)), given(2, 4, 0.6)]


@bprop(stats.poisson.logpmf, "elementwise", widens=True, refused=["k"], samples=RATES)
def poisson_logpmf(k, mu, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (quotient(k, mu) - 1)


@bprop(stats.poisson.pmf, "elementwise", widens=True, refused=["k"], samples=RATES)
def poisson_pmf(k, mu, out, dout):
    return None, dout * out * (quotient(k, mu) - 1)


@bprop(stats.binom.logpmf, "elementwise", widens=True, refused=["k", "n"], samples=CHANCES)
def binom_logpmf(k, n, p, out, dout):
    return None, None, np.where(out > -np.inf, dout, 0) * (quotient(k, p) - quotient(n - k, 1 - p))


@bprop(stats.binom.pmf, "elementwise", widens=True, refused=["k", "n"], samples=CHANCES)
def binom_pmf(k, n, p, out, dout):
    return None, None, dout * out * (quotient(k, p) - quotient(n - k, 1 - p))


TRIALS = [given(np.array([0, 1, 1, 0]), 0.3), given(1, 0.6), given(np.array([0, 1]), A(3, 1, **CHANCE))]


@bprop(stats.bernoulli.logpmf, "elementwise", widens=True, refused=["k"], samples=TRIALS)
def bernoulli_logpmf(k, p, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (quotient(k, p) - quotient(1 - k, 1 - p))


@bprop(stats.bernoulli.pmf, "elementwise", widens=True, refused=["k"], samples=TRIALS)
def bernoulli_pmf(k, p, out, dout):
    return None, dout * out * (quotient(k, p) - quotient(1 - k, 1 - p))


LENGTHS = [given(COUNTS + 1, 0.3), given(2, 0.6)]


@bprop(stats.geom.logpmf, "elementwise", widens=True, refused=["k"], samples=LENGTHS)
def geom_logpmf(k, p, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (1 / p - quotient(k - 1, 1 - p))


@bprop(stats.geom.pmf, "elementwise", widens=True, refused=["k"], samples=LENGTHS)
def geom_pmf(k, p, out, dout):
    return None, dout * out * (1 / p - quotient(k - 1, 1 - p))


WAITING = [given(COUNTS, 2.5, 0.3), given(COUNTS, A(2, 1, low=0.5), A(2, 1, **CHANCE)), given(2, 4.0, 0.6)]


@bprop(stats.nbinom.logpmf, "elementwise", widens=True, refused=["k"], samples=WAITING)
def nbinom_logpmf(k, n, p, out, dout):
    d, count = np.where(out > -np.inf, dout, 0), np.maximum(k, 0)
    dn = d * (special.digamma(count + n) - special.digamma(n) + np.log(p))
    return None, dn, d * (n / p - quotient(k, 1 - p))


@bprop(stats.nbinom.pmf, "elementwise", widens=True, refused=["k"], samples=WAITING)
def nbinom_pmf(k, n, p, out, dout):
    d, count = dout * out, np.maximum(k, 0)
    dn = d * (special.digamma(count + n) - special.digamma(n) + np.log(p))
    return None, dn, d * (n / p - quotient(k, 1 - p))
