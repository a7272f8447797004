"""What modules and classes hold: arrays that a function reads, changes to constants, and reads again; objects
with operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import s2sad


class Table:
    w = np.zeros(5)


G = np.zeros(5)


def reset() -> None:
    Table.w[:] = G[:] = np.arange(1.0, 6.0)


def stored(x: Any) -> Any:
    y = Table.w * x
    Table.w[0] = 5.0
    return np.sum(y * Table.w)


def stored_by_a_name(x: Any) -> Any:
    y = Table.w * x
    w = Table.w
    w[0] = 5.0
    return np.sum(y * Table.w)


def stored_by_a_view(x: Any) -> Any:
    y = Table.w * x
    tail = Table.w[1:]
    tail[0] = 7.0
    return np.sum(y * Table.w)


def filled(x: Any) -> Any:
    y = Table.w * x
    Table.w.fill(2.0)
    return np.sum(y * Table.w)


def copied_to(x: Any) -> Any:
    y = Table.w * x
    np.copyto(Table.w, 2.0)
    return np.sum(y * Table.w)


def sorted_in_place(x: Any) -> Any:
    y = Table.w * x
    Table.w[::-1].sort()
    return np.sum(y * Table.w)


def change() -> None:
    Table.w[:] = 2.0


def changed_by_a_call(x: Any) -> Any:
    y = Table.w * x
    change()
    return np.sum(y * Table.w)


def multiplied(x: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total += np.sum(Table.w * x) * x
        np.multiply(Table.w, 2, out=Table.w)
    return total


def summed(x: Any) -> Any:
    y = Table.w.sum() * x
    Table.w[0] = 5.0
    return y * Table.w.sum()


def global_summed(x: Any) -> Any:
    y = G.sum() * x
    G[0] = 5.0
    return y * G.sum()


PROGRAMS: list[Callable[[Any], Any]] = [
    stored, stored_by_a_name, stored_by_a_view, filled, copied_to, sorted_in_place, changed_by_a_call,
    multiplied, summed, global_summed,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_was_read_before_the_change_is_kept(f: Callable[[Any], Any]) -> None:
    def at(x: float) -> Any:
        reset()
        return f(x)

    expected = (at(1.3 + 1e-6) - at(1.3 - 1e-6)) / 2e-6
    for found in (
        lambda: s2sad.grad(f)(1.3),
        lambda: s2sad.value_and_grad(f)(1.3)[1],
        lambda: s2sad.vjp(f)(1.3)[1](1.0)[0],
        lambda: s2sad.jvp(f)(1.3, 1.0)[1],
    ):
        reset()
        np.testing.assert_allclose(found(), expected, rtol=1e-6)


class Squared:
    """A number that multiplies by squares."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __mul__(self, other: Any) -> Any:
        return self.factor * other * other

    __rmul__ = __mul__


class Holder:
    squared = Squared(2.0)
    half = Fraction(1, 2)


SQUARED = Holder.squared


def test_operators_of_objects_behind_attributes() -> None:
    assert s2sad.grad(lambda x: SQUARED * x)(1.5) == 6.0
    assert s2sad.grad(lambda x: Holder.half * x * x)(1.5) == 1.5
    for f in (lambda x: Holder.squared * x, lambda x: x * Holder.squared):
        for transform in (s2sad.grad, s2sad.jacfwd):
            with pytest.raises(s2sad.UnsupportedSyntaxError, match="an operator on an object"):
                transform(f)(1.5)


class State:
    def __init__(self) -> None:
        self.a, self.v = 1.0, 2.0

    def __call__(self, t: float) -> float:
        return STATE.a * t

    def __float__(self) -> float:
        return STATE.a * self.v


STATE, OTHER = State(), State()


def times_state(t: float) -> float:
    return STATE.a * t


def set_state(a: float) -> None:
    STATE.a = a


READ_BY_FUNCTIONS: list[Any] = [
    lambda: quad(times_state, 0.0, 1.0)[0],
    lambda: quad(OTHER, 0.0, 1.0)[0],
    lambda: math.tan(OTHER),
    lambda: math.tan(State()),
]


@pytest.mark.parametrize("read", READ_BY_FUNCTIONS)
def test_what_library_functions_call_may_read_changed_objects(read: Any) -> None:
    def f(x: float) -> Any:
        set_state(x)
        return read() * x

    for transform in (s2sad.grad, s2sad.jacfwd):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match=r"among changes of objects|outside of the"):
            transform(f)(0.7)
