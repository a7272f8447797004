"""Compiled code has NumPy's numbers where they are integers, booleans or of 32 bits, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

pytest.importorskip("numba")

X, M = np.array([1.1, 0.7, 0.6, 2.3]), np.array([True, True, False, True])
TIED = np.repeat([3.0, 1.0, 2.0, 1.0], 10)


def counts(x: Any) -> Any:
    n = x[0] > 0
    for i in range(1, len(x)):
        n = n + (x[i] > 0)
    return n * x[0] ** 2


def of_masks(x: Any, m: Any) -> Any:
    return (m[0] + m[1]) * x[0]


def narrow(x: Any) -> Any:
    return np.sum(x.astype(np.float32) * 1.1)


def narrow_constant(x: Any) -> Any:
    return np.sum(np.ones(4, np.float32) * 0.1 * x)


def products(x: Any, k: Any) -> Any:
    return x[0] * (k[0] * k[1])


def drawn(x: Any) -> Any:
    return np.sum(x * np.random.randn(4))


def series(x: Any, n: int) -> Any:
    total, factorial = 1.0, 1
    for k in range(1, n):
        factorial *= k
        total += x**k / factorial
    return total


def shifted(x: Any, n: int) -> Any:
    return x * (1 << n) * (5 >> n)


def truncated(x: float) -> float:
    return x * (int(x) % 7)


def ordered(y: Any, x: Any) -> Any:
    return np.sum(y[np.argsort(x)] * np.arange(float(len(x))))


def rounded(x: float) -> float:
    return round(x, 2) * x


@pytest.mark.parametrize(
    ("f", "args", "why"),
    [
        (counts, (X,), "arithmetic of booleans"),
        (of_masks, (X, M), "arithmetic of booleans"),
        (narrow, (X,), "numbers of 32 bits"),
        (narrow_constant, (X,), "numbers of 32 bits"),
        (products, (X, np.array([10**5, 10**5], np.int32)), "integers of less than 64 bits"),
        (drawn, (X,), "random numbers of its own"),
        (series, (10.0, 60), "larger than 64 bits"),
        (shifted, (0.5, 70), "larger than 64 bits"),
        (truncated, (1e300,), "larger than 64 bits"),
    ],
)
def test_other_numbers_are_refused(f: Callable[..., Any], args: tuple[Any, ...], why: str) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match=why):
        s2sad.grad(f, compile="numba")(*args)


@pytest.mark.parametrize(
    ("f", "args"),
    [(series, (1.5, 20)), (shifted, (0.5, 2)), (truncated, (9.5,)), (rounded, (2.675,)),
     (ordered, (np.linspace(0.0, 1.0, 40), TIED))],
)  # fmt: skip
def test_numbers_are_those_of_numpy(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    value, gradient = s2sad.value_and_grad(f, compile="numba")(*args)
    expected = s2sad.value_and_grad(f)(*args)
    np.testing.assert_allclose(value, expected[0], rtol=1e-15)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-15)


@pytest.mark.parametrize("x", [np.nan, np.inf])
def test_integers_of_what_is_not_finite(x: float) -> None:
    with pytest.raises((ValueError, OverflowError), match="cannot convert float"):
        s2sad.grad(truncated, compile="numba")(x)


def scaled(by: Any, weights: Any) -> Any:
    return lambda x: np.sum(by * x * weights["w"])


def test_closures_of_the_same_code_share_machine_code() -> None:
    from numba.core import event  # type: ignore[import-untyped]

    first = s2sad.grad(scaled(2.0, {"w": 3.0}), compile="numba")(X)
    with event.install_recorder("numba:compile") as compiled:
        second = s2sad.grad(scaled(5.0, {"w": 7.0}), compile="numba")(X)
    assert not compiled.buffer
    np.testing.assert_array_equal(first, np.full(4, 6.0))
    np.testing.assert_array_equal(second, np.full(4, 35.0))
