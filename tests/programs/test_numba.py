"""The flat derivatives compile under Numba's nopython mode and agree with the plain ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import s2sad


def straight(x: float, y: float) -> float:
    return math.sin(x) * y + x / y


def branch(x: float, y: float) -> float:
    if x > y:
        z = x * x
        z = z + y
    else:
        z = x * y
    return z + x


def power(x: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


def weighted(x: float, n: int) -> float:
    s = 0.0
    for i in range(n):
        s = s * x + i * x
    return s


def nested(r: float) -> float:
    s = 0.0
    for i in range(3):
        x = 0.1 * (i + 1)
        for _ in range(4):
            x = (3 + r) * x * (1 - x)
        s = s + x
    return s


def newton(a: float, tol: float) -> float:
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


def left_early(x: float, n: int) -> float:
    s = 0.0
    for _ in range(n):
        s = s + x * x
        if s > 2.0:
            break
    return s * x


def elements(xs: np.ndarray, c: float) -> float:
    s = 0.0
    for i in range(len(xs)):
        s = s + xs[i] * xs[i] * c
    return s


PROGRAMS: list[tuple[Callable[..., float], Any, tuple[Any, ...]]] = [
    (straight, (0, 1), (0.7, 1.3)),
    (branch, 0, (1.5, 1.0)),
    (branch, 0, (0.5, 1.0)),
    (power, 0, (0.9, 5)),
    (weighted, 0, (0.9, 4)),
    (nested, 0, (0.3,)),
    (newton, 0, (3.0, 1e-9)),
    (left_early, 0, (0.8, 6)),
    (elements, (0, 1), (np.array([0.5, 1.5, -0.7]), 1.3)),
]


@pytest.mark.parametrize(("f", "argnums", "args"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
@pytest.mark.parametrize("transform", [s2sad.grad, s2sad.value_and_grad])
@pytest.mark.filterwarnings("ignore::Warning")  # Numba's, about its own future
def test_compiles(transform: Any, f: Any, argnums: Any, args: tuple[Any, ...]) -> None:
    derivative = transform(f, argnums)
    compiled = numba.njit(derivative.function_for(*args))
    np.testing.assert_allclose(flat(compiled(*args)), flat(derivative(*args)), rtol=1e-13)


def flat(result: Any) -> Any:
    if isinstance(result, tuple):
        return np.concatenate([np.ravel(flat(r)) for r in result])
    return np.ravel(result)
