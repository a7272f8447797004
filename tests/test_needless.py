"""What generated code leaves out: arrays for their shape alone, gradients nobody asked for, conjugates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

X, M = np.array([1.0, 2.0, 3.0]), np.arange(12.0).reshape(3, 4)


def mean_of_sine(x: Any) -> Any:
    return np.mean(np.sin(x))


def shifted(x: Any, b: Any) -> Any:
    return np.sum(x + b)


def mean_of_columns(x: Any) -> Any:
    return np.sum(np.mean(x, axis=0) ** 2)


def one_of_einsum(x: Any, y: Any) -> Any:
    return np.sum(np.einsum("ij,j->i", x, y))


@pytest.mark.parametrize(
    ("f", "args", "argnums", "line"),
    [
        (mean_of_sine, (X,), 0, "dx = 1.0 / x.size * np.cos(x)"),
        (shifted, (X, 2.0), 1, "db = 1.0 * x.size"),
        (mean_of_columns, (M,), 0, "/ reduced_size(x, 0), x, 0)"),
        (one_of_einsum, (M, np.ones(4)), 1, '"ij,j->i", (x, y), (1,))[1]'),
    ],
)
def test_nothing_is_computed_for_its_shape(f: Callable[..., Any], args: Any, argnums: int, line: str) -> None:
    gradient = s2sad.grad(f, argnums)
    assert line in gradient.source_for(*args)
    s2sad.check_grads(f, args, argnums=argnums)


def test_magnitudes_of_real_numbers_have_no_conjugates() -> None:
    def f(x: Any) -> Any:
        return np.abs(x)

    assert "dout = dx * np.sign(x)" in s2sad.jvp(f).source_for(X)
    z = np.array([3 + 4j])
    np.testing.assert_allclose(s2sad.jvp(f)(z, np.array([1 + 1j]))[1], [1.4])
