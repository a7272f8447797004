"""Copies of what is not known, and of what holds one object twice, are refused; hooks are not passed by."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.analysis.object_copies import copier_of, refuse_parts_held_twice
from s2sad.kinds.lattice import UNKNOWN


class Doubling:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Any:
        return Doubling(2 * self.value)


def test_an_object_in_two_places_is_refused() -> None:
    def f(x: Any) -> Any:
        row = [x[0], x[1]]
        rows = copy.deepcopy([row, row])
        rows[0][0] = x[2]
        return rows[1][0] * rows[0][1]

    with pytest.raises(s2sad.S2sadError, match="one object of type list in two places"):
        s2sad.grad(f)(np.array([1.0, 2.0, 3.0]))
    a = np.ones(2)
    refuse_parts_held_twice([1, 1, (), (), "a", "a", a, a.copy()])
    for held in ([a, a], {"a": a, "b": [a]}, [{}, []] * 2):
        with pytest.raises(s2sad.S2sadError, match="in two places"):
            refuse_parts_held_twice(held)


def test_copies_by_the_class_are_refused() -> None:
    def f(x: float) -> Any:
        return copy.deepcopy(Doubling(x)).value * x

    with pytest.raises(s2sad.S2sadError, match=r"`copy.deepcopy` of a value whose contents are known"):
        s2sad.grad(f)(1.5)
    assert copier_of(copy.copy, UNKNOWN) is None


def test_a_copy_that_carries_no_derivative_runs_as_it_stands() -> None:
    settings = {"rate": [2.0, Doubling(1.0)]}

    def f(x: float) -> Any:
        own = copy.deepcopy(settings)
        return own["rate"][0] * x * x + own["rate"][1].value * x  # type: ignore[index, attr-defined]

    assert s2sad.grad(f)(1.5) == 8.0
