"""Which changes in place are seen through other names, and by whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.transforms.analyses.find_shadowed import Sharing, find_shadowed
from tests.support.analysed import analysed

V = np.arange(4.0)


def shared(text: str, *args: Any) -> Sharing:
    return find_shadowed(analysed(text, *args))


CASES: dict[str, tuple[str, tuple[Any, ...], list[set[str]]]] = {
    "nobody else": ("def f(x):\n    a = np.zeros(4)\n    a[0] = x\n    return a", (1.0,), []),
    "a copy": ("def f(b, x):\n    a = b.copy()\n    a[0] = x\n    return a + b", (V, 1.0), []),
    "a view that is not read later": (
        "def f(x):\n    a = np.zeros(4)\n    v = a[:2]\n    s = v * x\n    a[0] = x\n    return a + s[0]",
        (1.0,),
        [],
    ),
    "a view": (
        "def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    a[1] = x\n    return v",
        (1.0,),
        [{"a", "v"}],
    ),
    "a view of a view": (
        "def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    w = v[::-1]\n    w[1] = x\n    return a",
        (1.0,),
        [{"a", "v", "w"}],
    ),
    "a list": (
        "def f(x):\n    a = np.zeros(4)\n    b = [a]\n    a[0] = x\n    return b",
        (1.0,),
        [{"a", "b"}],
    ),
    "two classes": (
        "def f(x):\n    a = np.zeros(4)\n    b = a\n    a[0] = x\n    c = np.ones(4)\n    d = c\n"
        "    d[0] = x\n    out = (b, c)\n    return out",
        (1.0,),
        [{"a", "b", "c", "d", "out"}],
    ),
    "arrays that a loop passes around": (
        "def f(x, n):\n    u = np.zeros(4)\n    v = np.ones(4)\n    for i in range(n):\n        v[0] = x\n"
        "        u, v = v, u\n    return u",
        (1.0, 3),
        [],
    ),
    "rows": (
        "def f(A):\n    B = A * 2.0\n    for row in B:\n        row[0] = 1.0\n    return B",
        (np.ones((2, 2)),),
        [{"B", "row"}],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_classes(name: str) -> None:
    text, args, expected = CASES[name]
    assert [set(c) for c in shared(text, *args).classes] == expected


def test_a_loop_passes_an_array_around_that_is_seen_later() -> None:
    text = (
        "def f(x, n):\n    u = np.zeros(4)\n    v = np.ones(4)\n    w = u\n    for i in range(n):\n"
        "        v[0] = x\n        u, v = v, u\n    return u + w"
    )
    (names,) = shared(text, 1.0, 3).classes
    assert {"u", "v", "w"} <= names


def test_arguments_that_are_changed() -> None:
    text = (
        "def f(a, items, x):\n    b = a[1:]\n    b[0] = x\n"
        "    for c in items:\n        c[0] = x\n    return x"
    )
    found = shared(text, V, [V, V], 1.0)
    assert found.written == ("a", "items")
    assert {root for _, _, root in found.outside} == {"<a>", "<items[]>"}
    assert shared("def f(a, x):\n    b = a.copy()\n    b[0] = x\n    return b", V, 1.0) == Sharing()
