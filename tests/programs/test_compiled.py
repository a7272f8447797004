"""Compiled derivatives: functions that call others, ranges backwards, arguments that share memory."""

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


def smoothed(u: Any, t: Any) -> Any:
    u[1:-1] += u[:-2]
    return np.sum(u * t)


A, B = np.linspace(0.1, 2.4, 24).reshape(6, 4) ** 2, np.linspace(0.1, 1.2, 12) ** 2
PAIRS = {
    "columns": (A[:, 0], A[:, 1]),
    "one column": (A[:, 0], A[:, 0]),
    "columns, one backwards": (A[::-1, 0], A[:, 1]),
    "rows": (A[0], A[1]),
    "even and odd": (B[::2], B[1::2]),
    "halves": (B[:6], B[6:]),
    "halves, one backwards": (B[5::-1], B[6:]),
    "halves that meet": (B[:6], B[5:11]),
    "halves that meet, one backwards": (B[6:0:-1], B[6:]),
    "of other steps": (B[::2], B[2:8]),
    "copies": (B.copy(), B.copy()),
    "empty": (B[:0], B[:0]),
    "elements": (B[:1], B[1:2]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_arguments_that_share_memory(name: str) -> None:
    def result(gradient: Any) -> Any:
        before, pair = (A.copy(), B.copy()), PAIRS[name]
        try:
            return gradient(*pair).tolist()
        except s2sad.NonDifferentiableError as error:
            return error.what
        finally:
            A[:], B[:] = before

    assert result(s2sad.grad(smoothed, compile="numba")) == result(s2sad.grad(smoothed))


def transmission(indices: Any, depths: Any, wavelength: float) -> Any:
    m = np.eye(2, dtype=complex)
    for n, d in zip(indices, depths, strict=True):
        k = 2 * np.pi * n * d / wavelength
        m = m @ np.array([[np.cos(k), 1j * np.sin(k) / n], [1j * n * np.sin(k), np.cos(k)]])
    return np.abs(m[0, 0] + m[1, 0]) ** 2


@pytest.mark.parametrize("make", [tuple, list, np.array])
def test_real_items_beside_complex_ones_have_real_gradients(make: Any) -> None:
    args = make([1.5, 2.0]), make([0.1, 0.2]), 0.6
    expected = s2sad.grad(transmission, (0, 1, 2))(*args)
    found = s2sad.grad(transmission, (0, 1, 2), compile="numba")(*args)
    for a, b in zip(found, expected, strict=True):
        assert not np.iscomplexobj(a)
        np.testing.assert_allclose(a, b, rtol=1e-12)
