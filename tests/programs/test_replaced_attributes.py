"""Objects and functions that an object holds, replaced by a method: what is called afterwards is what it
holds then, whoever looks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
X = np.array([0.3, 0.5])


def doubled(v):
    return np.sum(v) * 2


def cubed(v):
    return np.sum(v**3)


class Plain:
    def __init__(self, v):
        self.v = v

    def total(self):
        return np.sum(self.v)

    def __add__(self, k):
        return np.sum(self.v) + k

    def __call__(self, k):
        return np.sum(self.v) * k

    def __getitem__(self, k):
        return self.v[k]

    def __len__(self):
        return 1

    def __iter__(self):
        return iter([self.v[0]])

    @property
    def first(self):
        return self.v[0]


class Squared(Plain):
    def total(self):
        return np.sum(self.v**2)

    def __add__(self, k):
        return np.sum(self.v**2) + k

    def __call__(self, k):
        return np.sum(self.v**2) * k

    def __getitem__(self, k):
        return self.v[k] ** 2

    def __len__(self):
        return 5

    def __iter__(self):
        return iter([self.v[0] ** 3])

    @property
    def first(self):
        return self.v[0] ** 4


class Holder:
    def __init__(self, x):
        self.x = x
        self.table = {"f": doubled}
        self.list = [Plain(x)]
        self.dict = {"k": Plain(x)}
        self.part = Plain(x)
        self.pair = (Plain(x), doubled)
        self.of = doubled

    def change_table(self):
        self.table["f"] = cubed

    def change_list(self):
        self.list[0] = Squared(self.x)

    def new_list(self):
        self.list = [Squared(self.x)]

    def longer_list(self):
        self.list.append(Squared(self.x))

    def change_dict(self):
        self.dict["k"] = Squared(self.x)

    def change(self):
        self.part = Squared(self.x)
        self.of = cubed

    def changed(self):
        self.change()
        return self

    def change_pair(self):
        self.pair = (Squared(self.x), cubed)

    def total(self):
        return self.part.total() * self.of(self.x)

    def total_after(self):
        self.change()
        return self.part.total() * self.total()


class Changed(Holder):
    def __init__(self, x):
        super().__init__(x)
        self.change()


class Outer:
    def __init__(self, holder):
        self.holder = holder

    def run(self):
        self.holder.change()
        return self.holder.part.total() * self.holder.total()


def same(holder):
    return holder


def change_part(holder):
    holder.part = Squared(holder.x)
    return holder


def function_of_a_table(x):
    h = Holder(x)
    h.change_table()
    return h.table["f"](x)


def function_of_a_table_before(x):
    h = Holder(x)
    table = h.table
    f = table["f"]
    h.change_table()
    return f(x) * table["f"](x)


def element_of_a_list(x):
    h = Holder(x)
    h.change_list()
    return h.list[0].total()


def element_of_a_new_list(x):
    h = Holder(x)
    h.new_list()
    return h.list[0].total()


def element_of_a_dict(x):
    h = Holder(x)
    h.change_dict()
    return h.dict["k"].total()


def method(x):
    h = Holder(x)
    h.change()
    return h.part.total() * h.of(x)


def operator(x):
    h = Holder(x)
    h.change()
    return h.part + 1.0


def call(x):
    h = Holder(x)
    h.change()
    return h.part(2.0)


def item_and_length(x):
    h = Holder(x)
    h.change()
    return h.part[0] * len(h.part)


def attribute(x):
    h = Holder(x)
    h.change()
    return h.part.first


def object_before(x):
    h = Holder(x)
    p = h.part
    h.change()
    return p.total() * h.part.total()


def class_that_is_asked_for(x):
    h = Holder(x)
    h.change()
    p = h.part
    return p.total() if isinstance(p, Squared) else 7.0 * x[0]


def type_that_is_compared(x):
    h = Holder(x)
    h.change()
    return np.sum(x) * (2 if type(h.part) is Plain else 3)


def by_a_function(x):
    def change(holder):
        holder.part = Squared(holder.x)

    h = Holder(x)
    change(h)
    return h.part.total()


def by_another_name(x):
    h = Holder(x)
    other = h
    other.change()
    return h.part.total()


def on_one_path(x):
    h = Holder(x)
    if x[0] > 0:
        h.change()
    else:
        h.new_list()
    return h.part.total() + h.list[0].total()


def until_it_is_replaced(x):
    h = Holder(x)
    while True:
        r = h.part.total()
        if isinstance(h.part, Squared):
            break
        h.change()
    return r


def in_a_loop(x):
    h, s = Holder(x), 0.0
    for k in range(3):
        s = s + h.total()
        if k == 0:
            h.change()
    return s


def in_its_constructor(x):
    return Changed(x).part.total() * Changed(x).total()


def in_a_method(x):
    return Holder(x).total_after()


def in_an_object_of_an_object(x):
    outer = Outer(Holder(x))
    r = outer.run()
    return r * outer.holder.part.total()


def of_one_of_two(x):
    pair = (Holder(x), Holder(x * 2.0))
    pair[0].change()
    return pair[0].total() * pair[1].total()


def of_all_in_a_list(x):
    holders = [Holder(x), Holder(x * 2.0)]
    for h in holders:
        h.change()
    return sum(h.total() for h in holders)


def of_a_list_with_two_names(x):
    parts = [Plain(x), Plain(x)]
    h = Holder(x)
    h.list = parts
    h.change_list()
    return parts[0].total() + parts[1].total()


def by_what_returns_it(x):
    h = Holder(x)
    other = same(h.changed())
    return h.part.total() * other.part.total() * other.of(x)


def by_a_partial_application(x):
    h = Holder(x)
    go = functools.partial(change_part, h)
    go()
    return h.part.total()


def by_a_mapped_function(x):
    h = Holder(x)
    list(map(change_part, [h]))
    return h.part.total()


def in_a_list_through_its_loop(x):
    holders = [Holder(x)]
    for h in holders:
        h.change()
    first = holders[0]
    return first.part.total()


def in_a_dict_and_by_name(x):
    h = Holder(x)
    held = {"h": h}
    held["h"].change()
    return h.part.total() * held["h"].of(x)


def read_by_a_closure(x):
    h = Holder(x)

    def total():
        return h.part.total()

    before = total()
    h.change()
    return before * total()


def of_one_of_two_names(x):
    h = Holder(x)
    other = h if x[0] > 0 else Holder(x * 2.0)
    other.change()
    return h.part.total()


RIGHT = [
    by_what_returns_it,
    by_a_mapped_function,
    in_a_list_through_its_loop,
    in_a_dict_and_by_name,
    read_by_a_closure,
    of_one_of_two_names,
    function_of_a_table,
    function_of_a_table_before,
    element_of_a_list,
    element_of_a_new_list,
    element_of_a_dict,
    method,
    operator,
    item_and_length,
    attribute,
    object_before,
    class_that_is_asked_for,
    type_that_is_compared,
    by_a_function,
    by_another_name,
    on_one_path,
    until_it_is_replaced,
    in_a_loop,
    in_its_constructor,
    in_a_method,
    in_an_object_of_an_object,
    of_one_of_two,
    of_all_in_a_list,
    of_a_list_with_two_names,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_what_is_called_is_what_is_held(f: Callable[..., Any]) -> None:
    check_program(f, (X,), (0,))


def test_a_partial_application_changes_what_it_was_made_of() -> None:
    value, gradient = s2sad.value_and_grad(by_a_partial_application)(X)
    assert value == by_a_partial_application(X)
    np.testing.assert_allclose(gradient, 2 * X)


def test_an_object_that_is_an_argument() -> None:
    def f(h: Any) -> Any:
        h.change()
        return h.part.total() * h.of(h.x)

    value, gradient = s2sad.value_and_grad(f)(Holder(X))
    assert value == f(Holder(X))
    expected = 2 * X * np.sum(X**3) + np.sum(X**2) * 3 * X**2
    np.testing.assert_allclose(gradient.x if hasattr(gradient, "x") else gradient["x"], expected)


def elements_of_the_replaced(x):
    h = Holder(x)
    h.change()
    return sum(q for q in h.part)


def property_of_an_element(x):
    h = Holder(x)
    h.longer_list()
    return sum(q.total() for q in h.list) + h.list[-1].first


@pytest.mark.parametrize("f", [call, property_of_an_element], ids=lambda f: f.__name__)
def test_what_is_right_or_refused(f: Callable[..., Any]) -> None:
    try:
        check_program(f, (X,), (0,))
    except s2sad.S2sadError as refusal:
        assert "holds" in str(refusal) or "may hold" in str(refusal)


def test_what_is_not_followed_is_refused() -> None:
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(elements_of_the_replaced)(X)
