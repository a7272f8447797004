"""Values that carry a derivative as keys of dicts: what a dict of the function's own holds is followed; keys
that are read as values, and what an earlier call left in a cache, are refused.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

CACHE: dict[float, float] = {1.5: 2.25}
TABLE = {1: 2.0, 2: 3.0, "a": 4.0}


class Square:
    def __init__(self) -> None:
        self.known = {1.5: 2.25}

    def __call__(self, x: float) -> float:
        return self.known[x] if x in self.known else x * x


SQUARE = Square()


def cached(x: Any) -> Any:
    return CACHE[x] if x in CACHE else x * x


def cached_by_get(x: Any) -> Any:
    found = CACHE.get(x)
    return x * x if found is None else found


def cached_by_exception(x: Any) -> Any:
    try:
        return CACHE[x]
    except KeyError:
        return x * x


def cached_by_an_object(x: Any) -> Any:
    return SQUARE(x)


CACHED = [cached, cached_by_get, cached_by_exception, cached_by_an_object]


@pytest.mark.parametrize("f", CACHED)
@pytest.mark.parametrize("derivative", [s2sad.grad, lambda f: lambda x: s2sad.jvp(f)(x, 1.0)])
def test_a_cache_that_has_the_value_is_refused(f: Any, derivative: Callable[[Any], Any]) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="in a dict that carries none"):
        derivative(f)(1.5)


@pytest.mark.parametrize("f", CACHED)
def test_a_cache_that_has_it_not_is_none(f: Any) -> None:
    check_program(f, (1.25,), (0,))


def in_a_display(x: Any) -> Any:
    return sum(k * v for k, v in {x: 1.0, 2 * x: x}.items())


def in_a_loop(x: Any) -> Any:
    d = {}
    for i in range(3):
        d[x * i] = i
    return max(d, key=d.get)  # type: ignore[arg-type]


def as_counts(x: Any) -> Any:
    counts: dict[Any, int] = defaultdict(int)
    for v in (x, 2 * x, x):
        counts[v] += 1
    return sum(k * n for k, n in counts.items())


def as_places(x: Any) -> Any:
    return next(iter({x: 2.0})) * 3


def without_doubles(x: Any) -> Any:
    return sum(dict.fromkeys([x, 2 * x]))


@pytest.mark.parametrize("f", [in_a_display, in_a_loop, as_counts, as_places, without_doubles])
def test_keys_that_are_read_are_refused(f: Any) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="as a key of a dict"):
        s2sad.grad(f)(1.5)


def memory_of_its_own(x: Any) -> Any:
    memo: dict[Any, Any] = {}
    for y in (x, 2 * x, x):
        if y not in memo:
            memo[y] = y**3
    return sum(memo.values()) + memo[x] * len(memo)


def memory_of_a_recursion(x: Any) -> Any:
    memo: dict[Any, Any] = {}

    def power(n: int, y: Any) -> Any:
        if (n, y) not in memo:
            memo[n, y] = y if n == 0 else power(n - 1, y) * y
        return memo[n, y]

    return power(3, x) + power(2, x)


def tables(x: Any) -> Any:
    halves = {0.5: x, 1.0: 2.0}
    return TABLE[int(x)] * x + TABLE["a"] * x + TABLE.get("b", x) + sum(k * v for k, v in halves.items())


def numbers_as_keys(x: Any) -> Any:
    d = {1.0: x, 2.0: 2 * x, 0.0: x * x}
    total = sum(d) * x
    for i, k in enumerate(d):
        total += k * d[k] * (i + 1)
    for k, v in d.items():
        total += k * v
    return total


def places_of_values(x: Any) -> Any:
    places = {v: i for i, v in enumerate((x, 2 * x))}
    return x * (places[2 * x] + 3)


@pytest.mark.parametrize(
    "f", [memory_of_its_own, memory_of_a_recursion, tables, numbers_as_keys, places_of_values]
)
def test_what_the_function_itself_holds_is_followed(f: Any) -> None:
    check_program(f, (1.25,), (0,))


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


def by_identity(x: Any) -> Any:
    a, b = Node(x), Node(x * x)
    order = {a: 0, b: 1}
    return a.value * order[b] + b.value * order.get(a, 2)


def test_objects_are_keys_by_what_they_are() -> None:
    check_program(by_identity, (1.25,), (0,))
    np.testing.assert_allclose(s2sad.grad(by_identity)(1.25), 1.0)


# ---------------------------------------------------------------- classes of dicts


class Named(dict[str, Any]):
    def total(self) -> Any:
        return sum(self.values())


class ByAttribute(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Doubling(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 2.0 * dict.__getitem__(self, key)


class Defaulting(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        return self["a"]


def product_of_items(p: Any) -> Any:
    return p["a"] * p["b"] ** 2


@pytest.mark.parametrize("made", [
    OrderedDict, lambda p: defaultdict(float, p), Named, ByAttribute,
])  # fmt: skip
def test_gradients_have_the_class_of_the_dict(made: Any) -> None:
    p = made({"a": 2.0, "b": 3.0})
    gradients = (
        s2sad.grad(product_of_items)(p),
        s2sad.grad(lambda q: product_of_items(q["p"]))({"p": p})["p"],
        s2sad.vjp(product_of_items, p)[1](1.0)[0],
    )
    for gradient in gradients:
        assert gradient == {"a": 9.0, "b": 12.0}
        assert type(gradient) is type(p) or (made is ByAttribute and gradient.a == 9.0)
    for tangent in (made({"a": 1.0, "b": 0.0}), {"a": 1.0, "b": 0.0}):
        assert s2sad.jvp(product_of_items, (p,), (tangent,)) == (18.0, 9.0)
    second = s2sad.hessian(product_of_items)(p)
    assert second == {"a": {"a": 0.0, "b": 6.0}, "b": {"a": 6.0, "b": 4.0}}


def reads_missing_items(d: Any) -> Any:
    d["b"] += d["a"]
    for key in ("c", "c", "a"):
        d[key] = 2 * d[key] + d["a"]
    return d["c"] * (d["b"] + d["d"] + 1)


@pytest.mark.parametrize("factory", [float, int])
def test_items_that_a_dict_makes_are_constants(factory: Any) -> None:
    def made(a: float) -> Any:
        return defaultdict(factory, {"a": a})

    out, tangent = s2sad.jvp(reads_missing_items)(made(2.0), made(1.0))
    (gradient,) = s2sad.vjp(reads_missing_items, made(2.0))[1](1.0)
    assert out == 18.0 and tangent == gradient["a"] == 15.0
    lists = defaultdict(list, a=[2.0], b=1.0)
    _, tangent = s2sad.jvp(lambda d: d["b"] + d["a"][0])(lists, {"a": [1.0], "b": 3.0})
    assert tangent == 4.0
    ones = defaultdict(lambda: 1.0, a=2.0)
    with pytest.raises(s2sad.NonDifferentiableError, match="an item that a defaultdict makes"):
        s2sad.jvp(product_of_items)(ones, {"a": 1.0})


@pytest.mark.parametrize("made", [Doubling, Defaulting])
def test_dicts_with_ways_of_their_own_to_read_items_are_refused(made: Any) -> None:
    p = made({"a": 2.0, "b": 3.0})
    derivatives = (
        lambda: s2sad.grad(product_of_items)(p),
        lambda: s2sad.vjp(product_of_items, p)[1](1.0),
        lambda: s2sad.jvp(product_of_items, (p,), ({"a": 1.0, "b": 0.0},)),
        lambda: s2sad.grad(lambda q: product_of_items(q["p"]))({"p": p}),
    )
    for derivative in derivatives:
        with pytest.raises(s2sad.S2sadError, match=r"of its own(.|\n)*pass a dict, `dict\(x\)`"):
            derivative()
