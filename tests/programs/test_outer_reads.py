"""An argument that is changed and that a called function reads from outside as well is refused, whichever way
that gets hold of it.
"""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad.runtime.reachable_arrays import held_in, outside_of
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

READERS = {
    "a global": "def read(k):\n    return read(k - 1) if k > 0 else np.sum(G * G)\n",
    "a view of it": "V = G[::-1]\ndef read(k):\n    return read(k - 1) if k > 0 else np.sum(V[1:] * G[1:])\n",
    "a list": "L = [G]\ndef read(k):\n    return read(k - 1) if k > 0 else np.sum(L[0] ** 2)\n",
    "an object": (
        "class State:\n    pass\nSTATE = State()\nSTATE.me, STATE.w = STATE, G\n"
        "def read(k):\n    return read(k - 1) if k > 0 else np.sum(STATE.w ** 2)\n"
    ),
    "a class": "class State:\n    w = G\ndef read(k):\n    return np.sum(State.w ** 2)\n",
    "a default": "def read(k, g=G):\n    return read(k - 1) if k > 0 else np.sum(g * g)\n",
    "a closure": (
        "def make(g):\n"
        "    def read(k):\n        return read(k - 1) if k > 0 else np.sum(g * g)\n"
        "    return read\n"
        "read = make(G)\n"
    ),
    "a function that is passed": (
        "def inner():\n    return np.sum(G * G)\n"
        "def call(h, k):\n    return call(h, k - 1) if k > 0 else h()\n"
        "def read(k):\n    return call(inner, k)\n"
    ),
    "a method": (
        "class State:\n    def read(self, k):\n        return np.sum(G * G)\n"
        "STATE = State()\ndef read(k):\n    return read(k - 1) if k > 0 else STATE.read(k)\n"
    ),
}
TEXT = """
G = np.array([0.3, 0.5, 0.7])
READER
def f(a, s):
    a[0] = a[1] * a[2] * s
    return read(2) * np.sum(a)
"""


@pytest.mark.parametrize("reader", READERS)
def test_what_is_changed_and_read_from_outside(reader: str) -> None:
    f = build(TEXT.replace("READER", READERS[reader]))
    other = np.array([1.3, 0.2, 0.4])
    check_changing(f, (other, 0.7), (0, 1))
    check_changing_second(f, (other, 0.7), (0, 1))
    for derivative in (s2sad.grad(f), s2sad.vjp(f), lambda a, s: s2sad.jvp(f)(a, s, a.copy(), 1.0)):
        for shared in (f.__globals__["G"], f.__globals__["G"][::-1]):
            with pytest.raises(s2sad.NonDifferentiableError, match="share memory"):
                derivative(shared, 0.7)


def test_what_is_bound_later_is_seen() -> None:
    f = build(TEXT.replace("READER", READERS["a global"]))
    gradient = s2sad.grad(f)
    a = np.array([1.3, 0.2, 0.4])
    gradient(a.copy(), 0.7)
    f.__globals__["G"] = a
    with pytest.raises(s2sad.NonDifferentiableError, match="share memory"):
        gradient(a, 0.7)


def test_libraries_and_functions_without_data_are_left_out() -> None:
    def plain(x: float) -> float:
        return float(np.sin(x)) * 2.0

    assert not outside_of([plain, np.sum, np.linalg.norm, len])


def test_held_in() -> None:
    a, b = np.ones(2), np.ones(3)
    table = {"b": (b, 1.0, "text")}
    cycle: list[object] = [a, table, lambda: b]
    cycle.append(cycle)
    assert sorted(map(id, held_in(cycle))) == sorted(map(id, [a, b, table, cycle, cycle]))
    assert sum(x is b for x in held_in(cycle, functions=True)) == 2
