"""Descriptive statistics of SciPy: the values are SciPy's but for rounding, which depends on its version; the
derivatives are those of the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

stats = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(3)
A, B = RNG.uniform(0.5, 2.0, (5, 3)), RNG.uniform(0.5, 2.0, (5, 3))
W = np.array([0.2, 0.5, 1.0, 0.3, 0.4])

CALLS: dict[str, Callable[[Any], Any]] = {
    "skew": lambda x: stats.skew(x),
    "skew along an axis": lambda x: stats.skew(x, axis=1, bias=False),
    "skew of all": lambda x: stats.skew(x, axis=None, keepdims=True),
    "kurtosis": lambda x: stats.kurtosis(x),
    "kurtosis along an axis": lambda x: stats.kurtosis(x, axis=0, fisher=False, bias=False),
    "sem": lambda x: stats.sem(x, axis=1),
    "variation": lambda x: stats.variation(x, axis=1, ddof=1),
    "gmean": lambda x: stats.gmean(x),
    "gmean with weights": lambda x: stats.gmean(x[:, 0], weights=W),
    "hmean": lambda x: stats.hmean(x, axis=1),
    "hmean with weights": lambda x: stats.hmean(x[:, 1], weights=W),
    "pmean": lambda x: stats.pmean(x, 3.0) + stats.pmean(x, 0),
    "zscore": lambda x: stats.zscore(x, axis=1),
    "zmap": lambda x: stats.zmap(x**2, x, ddof=1),
    "entropy": lambda x: stats.entropy(x, base=2),
    "entropy beside another": lambda x: stats.entropy(x, B, axis=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name: str) -> None:
    f = CALLS[name]
    value, bprop = s2sad.vjp(f)(A)
    np.testing.assert_allclose(value, f(A), rtol=1e-12)
    d, dx = RNG.normal(size=np.shape(value)), RNG.normal(size=A.shape)
    by_steps = (f(A + 1e-6 * dx) - f(A - 1e-6 * dx)) / 2e-6
    _, dvalue = s2sad.jvp(f)(A, dx)
    np.testing.assert_allclose(dvalue, by_steps, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.sum(bprop(d)[0] * dx), np.sum(d * dvalue), rtol=1e-9, atol=1e-9)

    def weighted(x: Any) -> Any:
        return np.sum(f(x) * d)

    second = s2sad.hvp(weighted)(A, dx)
    steps = (s2sad.grad(weighted)(A + 1e-6 * dx) - s2sad.grad(weighted)(A - 1e-6 * dx)) / 2e-6
    np.testing.assert_allclose(second, steps, rtol=1e-5, atol=1e-6)


def test_a_constant_sample_has_no_skewness() -> None:
    value, bprop = s2sad.vjp(lambda x: stats.skew(x))(np.full(4, 1.1))
    assert np.isnan(value)
    assert np.isnan(bprop(1.0)[0]).all()


def test_policies_are_refused() -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="nan_policy='omit'"):
        s2sad.grad(lambda x: stats.skew(x, nan_policy="omit"))(A[:, 0])


def test_tests_are_refused() -> None:
    with pytest.raises(s2sad.S2sadError, match="its result holds a p-value"):
        s2sad.grad(lambda x: stats.pearsonr(x, W)[0])(A[:, 0])
