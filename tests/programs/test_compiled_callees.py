"""Compiled derivatives of functions that call others, which are put in whatever their size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad


def thomas(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The solution of a tridiagonal system."""
    n = len(d)
    upper, right = np.empty(n), np.empty(n)
    upper[0] = c[0] / b[0]
    right[0] = d[0] / b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / pivot
        right[i] = (d[i] - a[i] * right[i - 1]) / pivot
    x = np.empty(n)
    x[-1] = right[-1]
    for i in reversed(range(n - 1)):
        x[i] = right[i] - upper[i] * x[i + 1]
    return x


def crank_nicolson(kappa: float, u: Any, steps: int) -> Any:
    n = u.size
    r = kappa * 0.1
    a, b, c = np.full(n, -r / 2), np.full(n, 1 + r), np.full(n, -r / 2)
    b[0] = b[-1] = 1 + r / 2
    a[0] = c[-1] = 0
    for _ in range(steps):
        bent = np.zeros_like(u)
        bent[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        bent[0], bent[-1] = u[1] - u[0], u[-2] - u[-1]
        u = thomas(a, b, c, u + r / 2 * bent)
    return (u**2).sum()


def backwards(x: Any, n: int) -> Any:
    s = 0.0
    for i in reversed(range(n - 1)):
        s = s * 0.5 + x[i] * x[i + 1]
    for i in reversed(range(n, 0, -3)):
        s -= x[i - 1] * s * 0.1
    return s


U = np.linspace(0.5, 2.0, 6) ** 2


def test_a_large_function_in_a_loop() -> None:
    gradient = s2sad.grad(crank_nicolson, (0, 1))
    assert "thomas_fprop" in gradient.source_for(0.7, U, 3)
    compiled = s2sad.grad(crank_nicolson, (0, 1), compile="numba")
    for found, expected in zip(compiled(0.7, U, 3), gradient(0.7, U, 3), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6])
def test_reversed_ranges(n: int) -> None:
    expected = s2sad.grad(backwards)(U, n)
    np.testing.assert_allclose(s2sad.grad(backwards, compile="numba")(U, n), expected, rtol=1e-13)
