"""Functions of NumPy that call functions, in programs: both modes, twice, with what those close over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.primitives.record import find_rule, refusal
from s2sad.rules.functional import along_axis, by_conditions, elementwise, on_grid, over_axes
from s2sad.transforms.errors import S2sadError
from tests.support.compare import check_program, check_second

POINTS = np.array([-1.5, -0.2, 0.3, 2.7])
MATRIX = np.array([[1.0, 2.0, 4.0], [0.5, 0.3, 0.2]])


@np.vectorize
def root(v: float, w: float) -> float:
    return v**0.5 * w if v > 0 else v * w


def by_rows(x: Any, w: Any) -> Any:
    return np.apply_along_axis(lambda row: np.sum(row**2) * w, 1, x)


def by_rows_with_more(x: Any, w: Any) -> Any:
    return np.apply_along_axis(lambda row, power: row**power, 0, x, w)


def over_both_axes(x: Any, w: Any) -> Any:
    return np.apply_over_axes(lambda a, axis: np.sum(a * w, axis=axis), x, (0, 1))


def in_pieces(x: Any, w: Any) -> Any:
    return np.piecewise(x, [x < 0, x >= 2], [lambda v: v * w, np.sin, 0.5])


def in_pieces_that_vary(x: Any, w: Any) -> Any:
    return np.piecewise(x, [x > 0], [np.exp, w])


def from_places(x: Any, w: Any) -> Any:
    return x * np.fromfunction(lambda i, j: (i + j + 1) ** w, (2, 3))


def one_by_one(x: Any, w: Any) -> Any:
    return root(x, w) ** 2


def made_inside(x: Any, w: Any) -> Any:
    power = np.vectorize(pow)
    return power(x**2, w)


PROGRAMS = [
    (by_rows, MATRIX),
    (by_rows_with_more, MATRIX),
    (over_both_axes, MATRIX),
    (in_pieces, POINTS),
    (in_pieces_that_vary, POINTS),
    (from_places, MATRIX),
    (one_by_one, POINTS),
    (made_inside, POINTS),
]


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_functions_that_are_called_are_differentiated(f: Callable[..., Any], x: Any) -> None:
    check_program(f, (x, 1.5), (0, 1))
    check_second(f, (x, 1.5), (0, 1))


def test_the_programs_return_what_the_functions_return() -> None:
    def norm(row: Any, scale: float) -> Any:
        return np.stack([np.sum(row), scale * np.max(row)])

    same = np.testing.assert_array_equal
    for axis in (0, 1, -1):
        same(along_axis((norm, axis, MATRIX, (2.5,))), np.apply_along_axis(norm, axis, MATRIX, 2.5))
    cube = np.arange(12.0).reshape(2, 3, 2)
    same(over_axes((np.sum, cube, [0, -1])), np.apply_over_axes(np.sum, cube, [0, -1]))
    for conditions in ([POINTS < 0, POINTS > 1], POINTS < 0, [POINTS < 0]):
        functions = [np.sin, 1.5, np.cos][: len(np.atleast_2d(conditions)) + 1]
        expected = np.piecewise(POINTS, conditions, functions)
        same(by_conditions((POINTS, conditions, functions, ())), expected)
    same(on_grid((np.hypot, (2, 3), float)), np.fromfunction(np.hypot, (2, 3)))
    wide = (MATRIX, np.array([1.0, 2.0, 3.0]))
    same(elementwise((pow, wide)), np.vectorize(pow)(*wide))


def test_a_vectorised_function_that_closes_over_what_varies_is_refused() -> None:
    def f(x: Any, w: Any) -> Any:
        return np.sum(np.vectorize(lambda v: v * w)(x))

    with pytest.raises(S2sadError):
        s2sad.grad(f, 1)(POINTS, 1.5)
    assert "make it outside" in str(refusal(np.vectorize))


def test_vectorised_functions_with_a_signature_have_no_rule() -> None:
    assert find_rule(root) is find_rule(root) is not None
    assert find_rule(np.vectorize(np.sum, signature="(n)->()")) is None
    assert find_rule(np.vectorize(pow, excluded=[1])) is None
