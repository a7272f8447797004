"""What is read in a `try` for its exception, among objects that change; generators whose order matters."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad


class Part:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.items: Any = []
        self.other: Any = None


def item_of_a_list(x: Any) -> Any:
    p = Part(x[0])
    try:
        p.items[0]
    except IndexError:
        p.v = x[1] * 3
    return p.v


def named_item(x: Any) -> Any:
    p = Part(x[0])
    try:
        _ = p.items[0]
    except IndexError:
        p.v = x[1] * 3
    return p.v


def key_in_a_loop(x: Any) -> Any:
    p, d = Part(x[0]), {}
    for v in x:
        try:
            d["a"]
        except KeyError:
            p.v = p.v * 3
            d["a"] = v
    return p.v


def lists_by_key(x: Any) -> Any:
    d: Any = {}
    for i, v in enumerate(x):
        try:
            d[i % 2]
        except KeyError:
            d[i % 2] = []
        d[i % 2].append(v)
    return sum(d[0]) * sum(d[1])


def in_a_function(x: Any) -> Any:
    p = Part(x[0])

    def check(i: int) -> None:
        p.items[i]

    try:
        check(3)
    except IndexError:
        p.v = p.v * 2
    return p.v


def attribute_of_none(x: Any) -> Any:
    p = Part(x[0])
    try:
        p.other.v  # noqa: B018
    except AttributeError:
        p.other = Part(x[1])
    return p.v * p.other.v


def too_few(x: Any) -> Any:
    p = Part(x[0])
    try:
        _, _ = p.items
    except ValueError:
        p.items = [p.v, x[1]]
    return p.items[0] * p.items[1]


def too_many(x: Any) -> Any:
    p = Part(x[0])
    p.items = [1.0, 2.0, x[0]]
    for _ in range(3):
        try:
            _, _ = p.items
        except ValueError:
            p.items.pop()
            p.v = p.v * 2
    return p.items[0] * p.v * p.items[1]


READS = [
    item_of_a_list, named_item, key_in_a_loop, lists_by_key, in_a_function, attribute_of_none, too_few,
    too_many,
]  # fmt: skip


def check(f: Callable[[Any], Any], may_refuse: bool = False) -> None:
    x = np.array([0.7, -0.4, 1.1])
    expected = np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    try:
        value, found = s2sad.value_and_grad(f)(x)
        _, slope = s2sad.jvp(f)(x, np.ones(3))
    except s2sad.S2sadError:
        assert may_refuse
        return
    assert value == pytest.approx(f(x))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert slope == pytest.approx(expected.sum(), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("f", READS)
def test_reads_for_their_exception(f: Callable[[Any], Any]) -> None:
    check(f)


def halved(p: Part, x: Any) -> Any:
    for v in x:
        p.v = p.v * 0.5 + v
        yield p.v


def two(x: Any) -> Any:
    p = Part(x[0])
    return sum([a * b for a, b in zip(halved(p, x), halved(p, x), strict=False)])


def read_beside(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a, b in zip((p.v * k for k in x), halved(p, x), strict=False):
        total = total + a * b
    return total


def mapped_beside(x: Any) -> Any:
    p, total = Part(x[0]), 0.0

    def scaled(v: Any) -> Any:
        p.v = p.v * v
        return p.v

    for a, b in zip(map(scaled, x), halved(p, x), strict=False):
        total = total + a * b
    return total


def own_variables(x: Any) -> Any:
    s = x[0]

    def sums() -> Any:
        nonlocal s
        for v in x:
            s = s * 0.5 + v
            yield s

    total = 0.0
    for a, b in zip(sums(), sums(), strict=False):
        total = total + a * b
    return total


def member(x: Any) -> Any:
    p = Part(x[0])
    found = 100.0 in halved(p, x)
    return p.v * x[1] if not found else 0.0


def first(x: Any) -> Any:
    p = Part(x[0])
    return next(iter(halved(p, x))) * p.v


def chained(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a in itertools.chain(halved(p, x), halved(p, x)):
        total = total + a * p.v
        p.v = p.v * 0.5
    return total


def pairs(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a, b in itertools.pairwise(halved(p, x)):
        total = total + a * b
        p.v = p.v + 1.0
    return total


def made(p: Part, x: Any) -> Any:
    return halved(p, x)


def pairs_of_what_a_function_returns(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a, b in itertools.pairwise(made(p, x)):
        total = total + a * b
        p.v = p.v + 1.0
    return total


def beside_what_a_function_returns(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a, b in zip((k * p.v for k in x), made(p, x), strict=False):
        total = total + a * b
    return total


def by_another_name(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    first = halved(p, x)
    second = first
    for a, b in itertools.pairwise(second):
        total = total + a * b
        p.v = p.v + 1.0
    return total


def with_a_sequence(x: Any) -> Any:
    p, total = Part(x[0]), 0.0
    for a, b in zip(halved(p, x), x, strict=False):
        p.v = p.v + b
        total = total + a * b
    return total


@pytest.mark.parametrize(
    "f",
    [
        two, read_beside, mapped_beside, own_variables, member, first, chained, pairs, with_a_sequence,
        pairs_of_what_a_function_returns, beside_what_a_function_returns, by_another_name,
    ],
)  # fmt: skip
def test_generators_with_effects_are_refused_or_run_in_order(f: Callable[[Any], Any]) -> None:
    check(f, may_refuse=f not in (first, with_a_sequence))


class Counted:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.n = 0

    def __bool__(self) -> bool:
        self.n += 1
        return self.n < 4


class Noted:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.n = 1

    def __str__(self) -> str:
        self.n += 1
        return "noted"

    def __lt__(self, other: Any) -> bool:
        self.n += 1
        return bool(self.w < other.w)


def while_it_holds(x: Any) -> Any:
    s, total = Counted(x[0]), 0.0
    while s:
        total = total * 0.5 + x[s.n - 1]
    return total * s.n


def as_text(x: Any) -> Any:
    s = Noted(x[0])
    return s.w * s.n * len(f"{s}")


def compared(x: Any) -> Any:
    a, b = Noted(x[0]), Noted(x[1])
    least = min(a, b)
    return least.w * a.n + b.n


@pytest.mark.parametrize("f", [while_it_holds, as_text, compared])
def test_special_methods_that_change_their_object(f: Callable[[Any], Any]) -> None:
    check(f, may_refuse=True)
