"""Calls of functions that only the run knows, with objects that change after the call: the reverse sweep of
the call reads them as they were.
"""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import check_program, check_second

X = np.array([0.3, 0.2, 0.5])

TEXT = """
from collections import deque
class Queue:
    def __init__(self, items):
        self.items = items
def f(x, read):
    q = Queue({items})
    s = 1.0
    for v in x:
        s = s + read[0](q, s) * v
        {change}
    return s
"""
ITEMS = "q.items[0] ** 2 * np.sin(s) + sum([v for v in q.items])"
VALUES = "np.sin(s) * sum(v * v for v in q.items.values())"
CHANGES = {
    "shorter in front": ("[x[0], x[1], x[2], 2.0]", "s = s + q.items.pop(0)", ITEMS),
    "shorter at the end": ("[x[0], x[1], x[2], 2.0]", "s = s + q.items.pop()", ITEMS),
    "longer": ("[x[0]]", "q.items.append(s)", ITEMS),
    "longer in front": ("[x[0]]", "q.items.insert(0, s)", ITEMS),
    "cleared": ("[x[0], x[1]]", "q.items.clear()\n        q.items.append(s)", ITEMS),
    "deleted": ("[x[0], x[1], x[2], 2.0]", "del q.items[0]", ITEMS),
    "reversed": ("[x[0], x[1]]", "q.items.reverse()\n        q.items[0] = s", ITEMS),
    "another list": ("[x[0]]", "q.items = [s, *q.items]", ITEMS),
    "another shape": ("x[:1]", "q.items = np.append(q.items, s)", "np.sum(q.items ** 2) * s"),
    "a key less": ("{k: v for k, v in enumerate(x)}", "s = s + q.items.pop(len(q.items) - 1)", VALUES),
    "a key more": ("{0: x[0]}", "q.items[len(q.items)] = s", VALUES),
    "a list in a list": ("[[x[0], x[1], 2.0, 3.0]]", "s = s + q.items[0].pop(0)", "sum(q.items[0]) * s"),
}


def program(items: str, change: str) -> object:
    return build(TEXT.replace("{items}", items).replace("{change}", change))


@pytest.mark.parametrize("name", CHANGES)
def test_functions_in_a_list(name: str) -> None:
    items, change, read = CHANGES[name]
    f, function = program(items, change), build(f"def read(q, s):\n    return {read}")
    check_program(f, (X, [function]), (0,))
    check_second(f, (X, [function]), (0,))


LARGE = """
class Rocket:
    def __init__(self, stages):
        self.stages = stages
    def rhs(self, s, v):
        x, m = s
        e = np.sin(x) * v + np.cos(m)
        g = np.sin(x) * e + np.cos(m)
        h = np.sin(e * g) + np.cos(e - g)
        k = np.sin(h * g) + np.cos(h - g) * v
        l = np.sin(k * g) + np.cos(h - k) * v
        q = np.sin(l * g) + np.cos(l - k) * v
        u = np.sin(q * g) + np.cos(q - k) * v + len(self.stages) * sum(self.stages)
        return np.array([h + k + l * x, k * m + q + u])
    def step(self, s, v):
        return s + 0.1 * self.rhs(s, v)
def f(x):
    rocket = Rocket([x[0], x[1], x[2]])
    s = np.array([1.0, 2.0])
    while rocket.stages:
        v = rocket.stages.pop(0)
        s = rocket.step(s, v)
        s[1] -= 0.5
    return s[0] + s[1] ** 2
"""


def test_a_large_method() -> None:
    f = build(LARGE)
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))


@pytest.mark.parametrize("call", ["again(q, s)", "ruled(q, s)"])
def test_functions_with_rules(call: str) -> None:
    f = build(
        """
class Queue:
    def __init__(self, items):
        self.items = items
def total(q, s):
    return q.items[0] ** 2 * np.sin(s)
def forward(q, s):
    return total(q, s), (q, s)
def backward(residuals, d):
    q, s = residuals
    g = [0.0] * len(q.items)
    g[0] = 2 * q.items[0] * np.sin(s) * d
    return Queue(g), q.items[0] ** 2 * np.cos(s) * d
again = s2sad.checkpoint(total)
ruled = s2sad.custom_vjp(lambda q, s: total(q, s))
ruled.defvjp(forward, backward)
def f(x):
    q = Queue([v for v in x])
    s = 1.0
    while q.items:
        s = s + CALL
        q.items.pop(0)
    return s
""".replace("CALL", call),
        s2sad=s2sad,
    )
    check_program(f, (X,), (0,))


def test_keys_found_by_identity_are_refused() -> None:
    f = build(
        """
class Node:
    def __init__(self, v):
        self.v = v
def f(x, read):
    nodes, s = [Node(x[0]), Node(x[1])], 1.0
    weights = {nodes[0]: x[1], nodes[1]: x[2]}
    for node in nodes:
        s = s + read[0](weights, s)
        weights[node] = s
    return s
"""
    )
    with pytest.raises(UnsupportedSyntaxError, match="a Node as the key of a dict"):
        s2sad.grad(f)(X, [lambda w, s: sum(w.values()) * s])


def test_a_refused_second_derivative_names_no_variable_of_the_first() -> None:
    again = "    rocket.stages = [s[0] * x[2]] * 5\n    s = rocket.step(s, x[0])\n    return s[0]"
    f = build(LARGE.replace("    return s[0]", again))
    with pytest.raises(UnsupportedSyntaxError, match="a derivative of this derivative"):
        s2sad.jvp(s2sad.grad(f), (X,), (X,))
