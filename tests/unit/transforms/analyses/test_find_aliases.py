"""Aliases: which names may hold the same object, and who sees a change in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.transforms.analyses.find_aliases import OUTSIDE, is_outside
from tests.support.analysed import analysed, locals_of

V = np.arange(4.0)

SHARING: dict[str, tuple[str, tuple[Any, ...], set[str], set[str]]] = {
    "views and copies": (
        "def f(x):\n    a = np.zeros(4)\n    view = a[1:]\n    again = view.T\n    shaped = a.reshape(2, 2)\n"
        "    copy = a.copy()\n    item = a[0]\n    other = a + 1.0\n    return a",
        (1.0,),
        {"view", "again", "shaped"},
        {"copy", "item", "other"},
    ),
    "renamings and branches": (
        "def f(c):\n    a = np.zeros(4)\n    same = a\n    if c:\n        either = a\n    else:\n"
        "        either = np.ones(4)\n    other = np.ones(4)\n    return either",
        (True,),
        {"same", "either", "either_3"},
        {"other"},
    ),
    "loops carry": (
        "def f(n):\n    a = np.zeros(4)\n    u = np.ones(4)\n    v = np.ones(4)\n    w = np.ones(4)\n"
        "    for i in range(n):\n        w = v\n        v = u\n        u = a\n    return w",
        (3,),
        {"u_2", "v_2", "w_2"},
        {"u", "v", "w"},
    ),
    "containers hold": (
        "def f(x):\n    a = np.zeros(4)\n    pair = (a, x)\n    rows = []\n"
        "    rows.append(a)\n    row = rows[0]\n"
        "    for each in rows:\n        pass\n    first, second = pair\n    return x",
        (1.0,),
        {"pair", "rows", "row", "each", "first"},
        {"second"},
    ),
    "stores into a list": (
        "def f(x):\n    a = np.zeros(4)\n    rows = [None, None]\n    rows[0] = a\n    nested = {'k': rows}\n"
        "    row = nested['k']\n    return x",
        (1.0,),
        {"rows", "nested", "row"},
        set(),
    ),
    "nested functions capture": (
        "def f(x):\n    a = np.zeros(4)\n    def g(t):\n        return a * t\n    h = g\n    return x",
        (1.0,),
        {"g", "h"},
        set(),
    ),
}


@pytest.mark.parametrize("name", SHARING)
def test_who_reaches_the_array(name: str) -> None:
    text, args, sharing, apart = SHARING[name]
    aliases = analysed(text, *args).aliases
    assert {n for n in sharing | apart if aliases.reaches(n, "a")} == sharing


@pytest.mark.parametrize("name", SHARING)
def test_what_shares_memory_in_a_run_is_found(name: str) -> None:
    text, args, _, _ = SHARING[name]
    found = analysed(text, *args)
    arrays = {n: v for n, v in locals_of(found.program, args).items() if isinstance(v, np.ndarray)}
    assert "a" in arrays
    for n, v in arrays.items():
        for m, w in arrays.items():
            assert not np.shares_memory(v, w) or found.aliases.reaches(n, m), f"{n} and {m} share memory"


def test_arguments_calls_and_globals_come_from_outside() -> None:
    text = (
        "def f(x, g):\n    a = x\n    b = g(x)\n    c = WEIGHTS\n    d = x[1:]\n"
        "    e = np.sin(x)\n    return a"
    )
    held = analysed(text, V, len, WEIGHTS=V).aliases.held
    outside = {n: {root for root in held[n][0] if is_outside(root)} for n in "abcde"}
    assert outside.pop("b") == {"<g>", "<g[]>", "<x>", OUTSIDE}
    assert outside == {"a": {"<x>"}, "c": {OUTSIDE}, "d": {"<x>"}, "e": set()}


OTHERS: dict[str, tuple[str, tuple[Any, ...], str, list[str]]] = {
    "nobody": ("def f(x):\n    a = np.zeros(4)\n    a[0] = x\n    return a", (1.0,), "a", []),
    "the caller": ("def f(a, x):\n    a[0] = x\n    return a", (V, 1.0), "a", ["<a>"]),
    "a view that is read later": (
        "def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    a[0] = x\n    return v",
        (1.0,),
        "a",
        ["v"],
    ),
    "a view that is not": (
        "def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    s = np.sum(v)\n    a[0] = x\n    return a",
        (1.0,),
        "a",
        [],
    ),
    "a list that holds it": (
        "def f(x):\n    a = np.zeros(4)\n    r = [a]\n    a[0] = x\n    return r",
        (1.0,),
        "a",
        ["r"],
    ),
    "made anew in each iteration": (
        "def f(x, n):\n    r = []\n    for i in range(n):\n        a = np.zeros(4)\n"
        "        a[0] = x\n        r.append(a)\n"
        "    return r",
        (1.0, 3),
        "a",
        [],
    ),
    "made anew, but held before the change": (
        "def f(x, n):\n    r = []\n    for i in range(n):\n        a = np.zeros(4)\n"
        "        r.append(a)\n        a[0] = x\n"
        "    return r",
        (1.0, 3),
        "a",
        ["r"],
    ),
    "made anew, and carried to the next iteration": (
        "def f(x, n):\n    c = np.zeros(4)\n    for i in range(n):\n        a = np.copy(c)\n"
        "        a[0] = x\n        y = np.sum(a * c)\n        c = a\n"
        "    return c, y",
        (1.0, 3),
        "a",
        [],
    ),
    "made anew, and carried, with changes in a loop inside": (
        "def f(x, n):\n    c = np.zeros(4)\n    for i in range(n):\n        a = np.copy(c)\n"
        "        for k in range(n):\n            y = np.sum(a * c)\n            a[0] = x\n        c = a\n"
        "    return c",
        (1.0, 3),
        "a",
        [],
    ),
    "made anew, and carried too early": (
        "def f(x, n):\n    c = np.zeros(4)\n    for i in range(n):\n        a = np.copy(c)\n"
        "        c = a\n        a[0] = x\n"
        "    return c",
        (1.0, 3),
        "a",
        ["c_3"],
    ),
    "made anew, and carried too early as a view": (
        "def f(x, n):\n    c = np.zeros(4)\n    d = c\n    for i in range(n):\n        a = np.copy(c)\n"
        "        d = a[1:]\n        a[0] = x\n        c = a\n"
        "    return c, d",
        (1.0, 3),
        "a",
        ["d_3"],
    ),
    "made anew on one path only": (
        "def f(x, n):\n    c = np.zeros(4)\n    a = c\n    for i in range(n):\n        if i > 1:\n"
        "            a = np.copy(c)\n        a[0] = x\n        y = c[1]\n        c = a\n"
        "    return c, y",
        (1.0, 3),
        "a_4",
        ["c_2"],
    ),
    "made anew, and put into a list in a loop inside": (
        "def f(x, n):\n    r = []\n    for i in range(n):\n        a = np.zeros(4)\n"
        "        for k in range(n):\n            a[0] = x\n            r.append(a)\n"
        "    return r",
        (1.0, 3),
        "a",
        ["r"],
    ),
    "made before the loop": (
        "def f(x, n):\n    r = []\n    a = np.zeros(4)\n    for i in range(n):\n"
        "        a[0] = x\n        r.append(a)\n"
        "    return r",
        (1.0, 3),
        "a",
        ["r"],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_who_else_sees_a_change(name: str) -> None:
    text, args, changed, expected = OTHERS[name]
    found = analysed(text, *args)
    assert found.aliases.others(changed, found.statement("a[0] = x")) == expected
