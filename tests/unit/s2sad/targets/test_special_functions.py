"""Functions of `scipy.special` in compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import s2sad
from s2sad.targets.special_functions import is_special, special_functions

RNG = np.random.default_rng(0)
X = RNG.uniform(0.2, 3.0, 6)


def test_functions_in_c_are_those_of_arrays() -> None:
    assert is_special(special.gammaln) and not is_special(np.sin) and not is_special(special.logsumexp)
    for function, address in special_functions().items():
        taken = [ctypes.c_double] * function.nin
        own = ctypes.PYFUNCTYPE(ctypes.c_double, *taken, ctypes.c_int)(address)
        points = RNG.uniform(0.1, 0.9, (3, function.nin))
        found = [own(*map(float, point), 1) for point in points]
        np.testing.assert_array_equal(found, [function(*point) for point in points], function.__name__)


def of_numbers(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += special.gammaln(x[i]) * special.expit(x[i]) + special.erf(x[i]) * special.betaln(x[i], 2)
    return s


def of_arrays(x: Any) -> Any:
    return np.sum(special.gammaln(x) * special.ndtr(x) + special.xlogy(x, x[::-1]) * special.i0(x))


def imported(x: Any) -> Any:
    return np.mean(gammaln(x * 2.0) + psi(x)) + called(x[0])


def called(v: Any) -> Any:
    return special.logit(v / 4.0) * special.exp1(v)


def of_integers(x: Any) -> Any:
    return special.xlogy(len(x), x[1]) * special.gammaln(len(x)) + np.sum(special.jv(2, x))


def complex_ones(x: Any) -> Any:
    return np.real(special.gamma(x[0] + 1j * x[1]))


gammaln, psi = special.gammaln, special.psi


@pytest.mark.parametrize("f", [of_numbers, of_arrays, imported, of_integers])
def test_gradients(f: Callable[[Any], Any]) -> None:
    compiled = s2sad.value_and_grad(f, compile="numba")(X)
    for a, b in zip(compiled, s2sad.value_and_grad(f)(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_a_second_derivative() -> None:
    v = np.arange(6.0)
    a, b = s2sad.hvp(of_arrays, compile="numba")(X, v), s2sad.hvp(of_arrays)(X, v)
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_complex_numbers() -> None:
    np.testing.assert_allclose(s2sad.grad(complex_ones, compile="numba")(X), s2sad.grad(complex_ones)(X))
