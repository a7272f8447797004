"""Shapes for which a function raises: its derivatives raise, too, although they need no value of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

X, FIVE, ROWS = np.array([0.5, 1.5, -0.7, 2.0]), np.ones(5), np.ones((2, 3))
PAIR = np.array([1.0, 3.0])


def unpacked(x: Any) -> Any:
    a, b, _ = x
    return a + b


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "an inner product": lambda x: np.sum(x @ FIVE),
    "np.vdot": lambda x: np.vdot(x, FIVE),
    "a sum": lambda x: np.sum(x + FIVE),
    "a difference of rows": lambda x: np.sum(ROWS - x),
    "a product": lambda x: np.sum(x * FIVE),
    "a quotient": lambda x: np.sum(x / FIVE),
    "a choice": lambda x: np.sum(np.where(FIVE > 0, x, 0.0)),
    "a choice of two": lambda x: np.sum(np.where(x > 0, x, FIVE)),
    "items": unpacked,
}
FITTING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "an inner product": (lambda x: np.sum(x @ FIVE), FIVE),
    "a row of a matrix": (lambda x: np.sum(ROWS * x), np.full(3, 2.0)),
    "an array of length one": (lambda x: np.sum(FIVE * x), np.full(1, 5.0)),
    "np.vdot of matrices": (lambda x: np.vdot(x, ROWS), np.ones((3, 2))),
    "items": (unpacked, np.array([1.0, 1.0, 0.0])),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", [s2sad.grad, s2sad.value_and_grad, s2sad.jacfwd, s2sad.hessian])
def test_a_derivative_raises(name: str, transform: Any) -> None:
    with pytest.raises(ValueError, match=r"shapes|size|unpack") as error:
        transform(FUNCTIONS[name])(X)
    assert not isinstance(error.value, s2sad.S2sadError)


@pytest.mark.parametrize("name", FITTING)
def test_a_gradient_where_shapes_fit(name: str) -> None:
    f, expected = FITTING[name]
    gradient = s2sad.grad(f)(np.ones_like(expected))
    np.testing.assert_allclose(gradient, expected, strict=True)


def test_operands_of_one_length_are_not_checked() -> None:
    def weighted(x: Any, w: Any) -> Any:
        return np.sum(x * w) + np.dot(x, w)

    assert "check_shapes" not in s2sad.grad(weighted).source_for(FIVE, FIVE)
    assert "check_shapes" in s2sad.grad(weighted).source_for(FIVE, X)


def test_a_check_computes_nothing() -> None:
    def marked(x: Any, m: Any) -> Any:
        return np.sum(np.where(m, x**2, np.sin(x)))

    assert s2sad.grad(marked).source_for(FIVE, FIVE > 1).count("check_shapes") == 0
    text = s2sad.grad(marked).source_for(FIVE, X > 1)
    assert text.count("check_shapes(") == 1
    assert "check_shapes(m, x)" in text


def test_what_a_check_reads_is_computed() -> None:
    def rows(x: Any) -> Any:
        return np.sum(np.sum(x * ROWS, axis=1) * np.ones(2))

    def deeper(x: Any) -> Any:
        total = 0.0
        for k in range(2):
            total = total + np.sum(np.sum(np.exp(x * ROWS) + ROWS, axis=1) * PAIR) * k
        return total

    x = np.linspace(0.1, 0.6, 6).reshape(2, 3)
    for f in (rows, deeper):
        s2sad.check_grads(f, (x,), order=2)
        with pytest.raises(ValueError, match=r"shapes|broadcast"):
            s2sad.grad(f)(np.ones((4, 5)))
