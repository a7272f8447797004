"""Integers among floats: in lists, as the smallest of several, as what a branch leaves. They have no
derivative, and what is computed of them goes on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build

BODIES = {
    "the smaller": "m = min(x, 1)\nreturn m * m * x + m",
    "the larger of the smaller": "m = max(min(x, 1), 0)\nreturn m * m * x",
    "of a list": "m = min([x, 1, 2 * x])\nreturn m * m + x * m",
    "by a key": "m = min(x, 1, key=lambda v: v * v)\nreturn m * m * x",
    "in a loop": "m = max(x, 0)\nwhile m > 1:\n    m = max(m - 1, 0)\nreturn m * x",
    "in a branch": "m = 1 if x > 1 else x\nreturn m * m * x",
    "a loop over both": "t = 0.0\nfor v in [x, 1, 2.5]:\n    t = t + v * v * x\nreturn t",
    "a comprehension over both": "ys = [v * v for v in [x, 1, 2]]\nreturn sum(ys) * ys[0]",
    "pairs": "t = 0.0\nfor a, b in zip([x, 1], [2, x]):\n    t += a * b * x\nreturn t",
    "values of a dict": "return sum(v * v * x for v in {'a': x, 'b': 1}.values())",
    "items": "m, k = [x, 1], int(x > 0)\nreturn m[k] * m[1 - k] * x * m[k]",
    "unpacked": "a, b = [x, 2][::-1]\nreturn a * a * x * b",
    "sorted": "return sorted([x, 1, 2], key=lambda v: -v * v)[0] ** 2 * x",
    "functions that the run finds": "m = min(x, 1)\nfs = [lambda v: v * v, lambda v: v * m]\n"
    "return fs[0](m) * m + fs[1](m) * x",
    "functions passed on": "m = max(x, 1)\n"
    "return functools.reduce(lambda a, b: a * b + m, [x, m, 2]) * m",
    "popped": "w = [1, x]\nw.append(2)\nw[0] = x * x\nreturn w[0] * w[2] * w[1] + w.pop() * w.pop()",
}


@pytest.mark.parametrize("x", [0.6, 1.7, 2.3])
@pytest.mark.parametrize("name", BODIES)
def test_integers_among_floats(name: str, x: float) -> None:
    text = "def f(x):\n    " + BODIES[name].replace("\n", "\n    ") + "\n"
    f: Callable[..., Any] = build(text, functools=functools)
    s2sad.check_grads(f, (x,), order=1)
    gradient, h = s2sad.grad(f), 1e-6
    second = (gradient(x + h) - gradient(x - h)) / (2 * h)
    for found in (s2sad.grad(gradient)(x), s2sad.hessian(f)(x), s2sad.jvp(gradient, (x,), (1.0,))[1]):
        assert found == pytest.approx(second, rel=1e-5, abs=1e-7)


def test_cotangents_of_integers() -> None:
    assert s2sad.vjp(max)(2, 1.5)[1](1.0) == (None, 0.0)
    assert s2sad.vjp(min)(2, 1.5)[1](1.0) == (None, 1.0)


def test_keys_have_no_adjoints() -> None:
    f = build("def f(x, y):\n    return min([x, y, x * y], key=lambda v: v * v)\n")
    assert ".pop()" not in s2sad.grad(f).source_for(1.0, 2.0)


def squares(t: Any) -> Any:
    total = 0.0
    for v in t:
        total = total + v * v
    return total + 3.0 * t[0]


def values_of(p: Any) -> Any:
    return sum(v**2 for v in p.values()) + 3.0 * p["a"]


def test_integers_in_containers_have_no_gradient_also_where_items_are_read_in_turn() -> None:
    assert s2sad.grad(squares)([1, 2.5]) == [None, 5.0]
    assert s2sad.grad(squares)((1, 2.5)) == (None, 5.0)
    assert s2sad.grad(squares)((1.0, 2.5)) == (5.0, 5.0)
    assert s2sad.grad(values_of)({"a": 1, "b": 0.5}) == {"a": None, "b": 1.0}
    np.testing.assert_allclose(s2sad.hessian(lambda x: squares([1, x]))(2.5), 2.0)
