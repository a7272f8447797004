"""Activity: which names vary with the arguments that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.analysed import analysed

V = np.arange(3.0)

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], dict[str, str]]] = {
    "only what depends on the argument": (
        "def f(x, y):\n    a = x * 2\n    b = y * 2\n    c = a * b\n    return c",
        (1.0, 2.0),
        {"x": "a c x", "y": "b c y"},
    ),
    "integers, strings and comparisons do not vary": (
        "def f(x, n):\n    c = x > 0\n    k = n * 2\n    i = int(x)\n    s = f'{x}'\n    return k",
        (1.0, 2),
        {"x": "x", "n": ""},
    ),
    "shapes and functions without derivative": (
        "def f(v):\n    n = v.shape\n    z = np.zeros_like(v)\n    s = np.isnan(v)\n"
        "    k = np.argmax(v)\n    return z",
        (V,),
        {"v": "v"},
    ),
    "around a loop until nothing is new": (
        "def f(x, n):\n    a = 0.0\n    b = 0.0\n    for i in range(n):\n        a = b\n"
        "        b = x\n    return a",
        (1.0, 3),
        {"x": "a_2 a_3 b_2 b_3 x"},
    ),
    "stores and appends make what they change active": (
        "def f(x, y):\n    a = np.zeros(3)\n    b = np.zeros(3)\n    a[0] = x\n    b[0] += y\n    c = []\n"
        "    c.append(x)\n    return a",
        (1.0, 2.0),
        {"x": "a c x", "y": "b y"},
    ),
    "loop variables of what is active": (
        "def f(v, w):\n    s = 0.0\n    for k, (a) in enumerate(v):\n        s = a\n"
        "    for a, b in zip(v, w):\n"
        "        s = b\n    return s",
        (V, V),
        {"v": "a a_2 s_2 s_3 s_4 v", "w": "b s_4 s_5 w"},
    ),
    "containers and their items": (
        "def f(x, y):\n    t = x, y\n    d = {'k': y}\n    a = t[0]\n    b = d['k']\n    return a",
        (1.0, 2.0),
        {"x": "a t x", "y": "a b d t y"},
    ),
    "parallel copies one by one": (
        "def f(x, y):\n    a, b = x, y\n    return a",
        (1.0, 2.0),
        {"x": "a x", "y": "b y"},
    ),
    "a nested function that captures": (
        "def f(x, y):\n    def g(t):\n        return t * x\n    def h(t, u=y):\n        return t * u\n"
        "    a = [g, h]\n    return 1.0",
        (1.0, 2.0),
        {"x": "a g x", "y": "a h y"},
    ),
    "calls of what is not known": (
        "def f(g, x):\n    a = g(x)\n    b = g(2.0)\n    return a",
        (object(), 1.0),
        {"x": "a x", "g": "a b g"},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_active(name: str) -> None:
    text, args, expected = PROGRAMS[name]
    found = analysed(text, *args)
    assert {wrt: found.active(wrt) for wrt in expected} == expected


def test_the_operands_that_a_derivative_flows_through() -> None:
    """What only lends its shape, and a condition, make nothing active."""
    found = analysed(
        "def f(v, x, y):\n    a = np.full_like(v, x)\n    b = np.where(v, x, y)\n    return a", V, 1.0, 2.0
    )
    assert found.active("v") == "v"
    assert found.active("x") == "a b x"
    assert found.active("y") == "b y"


def test_what_does_not_vary_is_never_active() -> None:
    found = analysed("def f(n, x):\n    y = n * x\n    return y", 3, 1.0)
    assert found.active("n") == "" and found.active("n", "x") == "x y"
