"""Branches that are decided before the run, and what calls make of what was known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program, check_second

# mypy: allow-untyped-defs

SQUARED = False


class Holder:
    def __init__(self, scale: Any) -> None:
        self.scale = scale
        self.cache = None


def widen(holder, n=3):
    """Makes the scale an array, too deep to be put in where it is called."""
    if n > 0:
        return widen(holder, n - 1)
    holder.scale = np.array([1.0, 2.0, 3.0])
    return n


def fill(table, n=3):
    if n > 0:
        return fill(table, n - 1)
    table["a"] = np.array([1.0, 2.0, 3.0])
    table["b"] = 2.0
    return n


def with_flags(x, training=True, *, clip=False):
    if training:
        x = x * 2.0
    if clip:
        x = np.minimum(x, 1.0)
    return np.sum(x**2)


def bound_by_one_flag(x, given, read, n=2):
    """What an arm binds that a flag decides is read where another value says so."""
    if given:
        scale = x * x
        items = [x]

        def scaled(y):
            return y * scale

    total = x
    for i in range(n):
        if i == 1 and given:
            last = total * x
        if i == 1 and read:
            total = total * last
    if read:
        items.append(scale * last)
        return scaled(total) + items[1]
    return total * 3.0


def test_what_no_flag_has_bound_raises_where_it_is_read() -> None:
    for given, read in ((True, np.True_), (True, np.False_), (False, np.False_)):
        check_program(bound_by_one_flag, (1.5, given, read), wrt=(0,))
    for derivative in (s2sad.grad, lambda f: lambda *args: s2sad.jvp(f, args, (1.0,), (0,))):
        with pytest.raises(UnboundLocalError):
            derivative(bound_by_one_flag)(1.5, False, np.True_, 0)


def test_flags_among_arguments_decide_branches() -> None:
    x = np.array([0.2, 0.8])
    gradient = s2sad.grad(with_flags)
    for given, expected in (({}, 8 * x), ({"training": False}, 2 * x), ({"clip": True}, [8 * 0.2, 0.0])):
        np.testing.assert_allclose(gradient(x, **given), expected)
        assert " if " not in gradient.source_for(x, **given)
    assert gradient.source_for(x, training=np.True_) == gradient.source_for(x, training=np.False_)
    s2sad.check_grads(with_flags, (x, True), order=2)
    jump = s2sad.grad(lambda v, up: s2sad.grad(with_flags)(v, up) @ v)
    np.testing.assert_allclose(jump(x, False), 4 * x)
    np.testing.assert_allclose(jump(x, True), 16 * x)


def changed_by_an_argument(x, holder, change):
    change(holder)
    return np.sum(holder.scale * x)


def changed_by_a_function(x, holder):
    widen(holder)
    return np.sum(holder.scale * x)


def changed_under_another_name(x, holder, change):
    other = [holder]
    change(other[0])
    return np.sum(holder.scale * x)


def dict_changed_by_a_function(x, table):
    fill(table)
    return np.sum(table["a"] * x)


def none_filled_by_an_argument(x, table, change):
    change(table)
    if table["b"] is None:
        return x
    return x * x * table["b"]


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (changed_by_an_argument, lambda: (Holder(2.0), widen)),
        (changed_by_a_function, lambda: (Holder(2.0),)),
        (changed_under_another_name, lambda: (Holder(2.0), widen)),
        (dict_changed_by_a_function, lambda: ({"a": 2.0, "b": None},)),
        (none_filled_by_an_argument, lambda: ({"a": 2.0, "b": None}, fill)),
    ],
)
def test_what_is_known_ends_where_a_call_may_change_it(f, make) -> None:
    def value(x):
        return f(x, *make())

    expected = (value(0.7 + 1e-6) - value(0.7 - 1e-6)) / 2e-6
    found = s2sad.grad(f)(0.7, *make())
    assert type(found) is float
    assert found == pytest.approx(expected, rel=1e-6)
    assert s2sad.jvp(f, argnums=0)(0.7, *make(), 1.0)[1] == pytest.approx(expected, rel=1e-6)


def average(x, weights=None, squared=False, kind="mean"):
    if weights is None:
        weights = np.ones_like(x)
    if squared:
        x = x * x
    if kind == "mean":
        return np.sum(weights * x) / np.sum(weights)
    return np.sum(weights * x)


def test_what_is_not_given_leaves_no_branches() -> None:
    def plainly(x):
        return average(x) * average(x, x)

    assert "if" not in s2sad.grad(plainly).source_for(np.ones(3)).split()
    source = s2sad.grad(average).source_for(np.ones(3), None, True, kind="sum")
    assert "if" not in source.split()


X = np.array([0.4, 1.3, 0.7])


@pytest.mark.parametrize(
    "rest", [(), (X + 1,), (None, True), (None, False, "sum"), (X + 1, True, "sum")], ids=str
)
def test_all_branches(rest) -> None:
    check_program(average, (X, *rest), (0,))
    check_second(average, (X, *rest), (0,))


def flagged(x):
    if not SQUARED:
        return np.sum(x**3)
    return np.sum(x * x)


def test_a_flag_of_the_module_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = s2sad.grad(flagged)
    np.testing.assert_allclose(gradient(X), 3 * X**2)
    monkeypatch.setattr(f"{__name__}.SQUARED", True)
    np.testing.assert_allclose(gradient(X), 2 * X)
    monkeypatch.setattr(f"{__name__}.SQUARED", False)
    np.testing.assert_allclose(gradient(X), 3 * X**2)
    monkeypatch.setattr(f"{__name__}.SQUARED", 1)
    np.testing.assert_allclose(gradient(X), 2 * X)


def by_turns(x, n):
    """A name is None in the first turn alone."""
    last = None
    total = 0.0
    for k in range(n):
        if last is None:
            last = x * k + x
        else:
            total = total + last * x
            last = None if k == 2 else last + x
    return total if last is None else total + last


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_a_name_that_is_none_at_first(n) -> None:
    check_program(by_turns, (0.7, n), (0,))
    check_second(by_turns, (0.7, n), (0,))


def flag_of_a_cell(x, on):
    flag = on

    def inner(v):
        return v * v if flag else v

    return inner(x) * x


def test_a_flag_in_a_cell() -> None:
    for on in (True, False, True):
        check_program(flag_of_a_cell, (0.7, on), (0,))

    def made(flag):
        return lambda x: x * x if flag else 3 * x

    assert [s2sad.grad(made(on))(2.0) for on in (True, False, True)] == [4.0, 3.0, 4.0]


def attribute_filled(x, holder):
    for k in range(3):
        if holder.cache is None:
            holder.cache = x * x
        else:
            holder.cache = holder.cache * x + k
    return holder.cache


def test_an_attribute_that_a_loop_fills() -> None:
    def value(x):
        return attribute_filled(x, Holder(1.0))

    expected = (value(0.7 + 1e-6) - value(0.7 - 1e-6)) / 2e-6
    assert s2sad.grad(attribute_filled)(0.7, Holder(1.0)) == pytest.approx(expected, rel=1e-6)


def raises_where_it_is_not_taken(x, mode="plain"):
    if mode == "files":
        return np.frombuffer(open("nowhere", "rb").read()) * x
    return x * x


def test_what_is_refused_may_stand_in_a_branch_that_is_not_taken() -> None:
    assert s2sad.grad(raises_where_it_is_not_taken)(3.0) == 6.0
