"""Arguments without a derivative beside those that have one, in one list, tuple, dict or display: each item
has a derivative of its own, or none, and no infinite slope of one without reaches another.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2sad

S, T = np.array([0.0, 4.0]), np.array([1.0, 9.0])
Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The slope of the root of zero is infinite."""
    with np.errstate(all="ignore"):
        yield


def unpacked_comprehension(s: Any, t: Any) -> Any:
    s, t = [np.asanyarray(v) for v in (s, t)]
    return t**1.5 + s**0.5


def unpacked_branches(s: Any, t: Any) -> Any:
    s, t = [v if isinstance(v, np.ndarray) else np.array(v) for v in (s, t)]
    return t**1.5 + s**0.5


def unpacked_map(s: Any, t: Any) -> Any:
    s, t = map(np.asarray, (s, t))
    return t**1.5 + s**0.5


def unpacked_generator(s: Any, t: Any) -> Any:
    s, t = (np.ravel(v) for v in (s, t))
    return t**1.5 + s**0.5


def starred(s: Any, t: Any) -> Any:
    s, *rest = s, t
    return rest[0] ** 1.5 + s**0.5


def items_of_a_list(s: Any, t: Any) -> Any:
    p = [s, t]
    return p[1] ** 1.5 + p[0] ** 0.5


def items_of_displays_of_displays(s: Any, t: Any) -> Any:
    p = [(s, t), {"s": s, "t": t}]
    return p[0][1] ** 1.5 + p[1]["s"] ** 0.5


Pair = namedtuple("Pair", "s t")


def fields_of_a_named_tuple(s: Any, t: Any) -> Any:
    p = Pair(s, t=t)
    return p.t**1.5 + p.s**0.5


def enumerated(s: Any, t: Any) -> Any:
    total = np.zeros(2)
    for k, v in enumerate((s, t)):
        total = total + (np.sqrt(v) if k == 0 else v**1.5)
    return total


def zipped(s: Any, t: Any) -> Any:
    total = np.zeros(2)
    for v, p in zip((s, t), (0.5, 1.5), strict=True):
        total = total + v**p
    return total


def summed(s: Any, t: Any) -> Any:
    return sum(v**0.5 * v ** (k * 1.0) for k, v in enumerate([s, t]))


def items_of_a_dict(s: Any, t: Any) -> Any:
    powers = {}
    for key, v in {"s": s, "t": t}.items():
        powers[key] = v**0.5
    return powers["s"] + powers["t"] ** 3


def converted(*args: Any) -> Any:
    return [np.asarray(a, dtype=float) for a in args]


def of_a_function_with_a_star(s: Any, t: Any) -> Any:
    s, t = converted(s, t)
    return t**1.5 + s**0.5


def of_both(args: Any) -> Any:
    s, t = args
    return t**1.5 + s**0.5


def given_to_a_function(s: Any, t: Any) -> Any:
    return of_both([s, t])


def keywords(s: Any, t: Any) -> Any:
    def power(**parts: Any) -> Any:
        return parts["t"] ** 1.5 + parts["s"] ** 0.5

    return power(s=s, t=t)


PROGRAMS = [
    unpacked_comprehension, unpacked_branches, unpacked_map, unpacked_generator, starred, items_of_a_list,
    items_of_displays_of_displays, fields_of_a_named_tuple, enumerated, zipped, summed, items_of_a_dict,
    of_a_function_with_a_star, given_to_a_function, keywords,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_each_item_has_a_derivative_of_its_own(f: Program) -> None:
    v, w = np.array([0.3, -1.0]), np.array([2.0, 0.7])
    by_t, by_s = 1.5 * np.sqrt(T), 0.25
    close = np.testing.assert_allclose
    close(f(S, T), T**1.5 + S**0.5, rtol=1e-12)
    close(s2sad.jvp(f, argnums=1)(S, T, v)[1], by_t * v, rtol=1e-12)
    close(s2sad.vjp(f, argnums=1)(S, T)[1](w), by_t * w, rtol=1e-12)
    close(s2sad.hvp(lambda t: np.sum(f(S, t)))(T, v), 0.75 / np.sqrt(T) * v, rtol=1e-12)
    close(s2sad.vjp(f, argnums=0)(S, T)[1](w), [np.inf, by_s * 0.7], rtol=1e-12)
    close(s2sad.jvp(f, argnums=0)(S + 4, T, v)[1], 0.5 / np.sqrt(S + 4) * v, rtol=1e-12)
    both = s2sad.grad(lambda s, t: np.sum(f(s, t)), argnums=(0, 1))(S + 4, T)
    close(both, (0.5 / np.sqrt(S + 4), by_t), rtol=1e-12)


def test_reverse_mode_computes_nothing_for_items_without_a_derivative() -> None:
    for f in (unpacked_comprehension, items_of_a_list, fields_of_a_named_tuple, zipped, given_to_a_function):
        source = s2sad.grad(lambda s, t, f=f: np.sum(f(s, t)), argnums=1).source_for(S, T)
        assert "ds" not in source and "zeros" not in source and "add_at" not in source


def test_displays_that_change_are_read_as_they_are() -> None:
    def f(s: Any, t: Any) -> Any:
        p = [s, t]
        a = p[0]
        p[0] = a * t
        b = p[0]
        q = {"a": a, "b": b}
        q["a"] = q["b"] * 2
        s = p[1]
        return p[0] * s + q["a"] - a

    def safely(s: Any, t: Any) -> Any:
        return s * t * t + 2 * s * t - s

    for k in (0, 1):
        v = np.array([0.3, -1.0])
        expected = s2sad.jvp(safely, argnums=k)(S + 1, T, v)[1]
        np.testing.assert_allclose(s2sad.jvp(f, argnums=k)(S + 1, T, v)[1], expected, rtol=1e-12)
        found = s2sad.vjp(f, argnums=k)(S + 1, T)[1](v)
        np.testing.assert_allclose(found, s2sad.vjp(safely, argnums=k)(S + 1, T)[1](v), rtol=1e-12)


def test_names_that_are_assigned_again_are_not_what_a_display_holds() -> None:
    def f(s: float, t: float) -> float:
        total = 0.0
        for _ in range(3):
            p = (s, t)
            s = s * t + 1.0
            total += p[0] * s
            s, t = p[1], s
        return total + s

    h = 1e-6
    for k, args in ((0, (0.5, 0.7)), (1, (0.5, 0.7))):
        more, less = (tuple(v + e * (j == k) for j, v in enumerate(args)) for e in (h, -h))
        slope = (f(*more) - f(*less)) / (2 * h)
        assert s2sad.grad(f, k)(*args) == pytest.approx(slope, rel=1e-7)
        assert s2sad.jvp(f, argnums=k)(*args, 1.0)[1] == pytest.approx(slope, rel=1e-7)
