"""Changes in place: those that only one name sees pass, others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.primitives import PRIMITIVES
from s2sad.transforms.check_stores import check_stores, stores
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.transforms.analysed import Analysed, analysed

V = np.arange(4.0)


def check(found: Analysed) -> None:
    check_stores(found.program, found.aliases, PRIMITIVES.is_in_place)


def test_the_statements_that_change_something() -> None:
    found = analysed(
        """
def f(x, n):
    a = np.zeros(4)
    items = []
    for i in range(n):
        a[i] = x
        if i:
            a[0] += x
    items.append(x)
    x += a
    items.sort()
    return a
""",
        1.0,
        3,
    )
    changed = stores(found.program, PRIMITIVES.is_in_place)
    assert {(name, found.program.source_line(s)) for name, s in changed} == {
        ("a", "a[i] = x"),
        ("a", "a[0] += x"),
        ("items", "items.append(x)"),
    }


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("def f(x):\n    a = np.zeros(4)\n    a[0] = x\n    return a", (1.0,)),
        ("def f(b, x):\n    a = b.copy()\n    a[0] = x\n    return a", (V, 1.0)),
        (
            "def f(x):\n    a = np.zeros(4)\n    v = a[:2]\n    s = v * x\n    a[0] = x\n    return a + s[0]",
            (1.0,),
        ),
        ("def f(x):\n    a = []\n    a.append(x)\n    return a", (1.0,)),
        (
            "def f(x):\n    def g(t):\n        b = np.zeros(3)\n        b[0] = t\n"
            "        return b\n    return g(x)",
            (1.0,),
        ),
    ],
)
def test_allowed(text: str, args: tuple[Any, ...]) -> None:
    check(analysed(text, *args))


@pytest.mark.parametrize(
    ("text", "args", "what", "line"),
    [
        ("def f(a, x):\n    a[0] = x\n    return a", (V, 1.0), "of `a`, which the caller holds too", 2),
        (
            "def f(a, x):\n    b = a[1:]\n    b[0] += x\n    return b",
            (V, 1.0),
            "of `b`, which the caller holds",
            3,
        ),
        (
            "def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    a[1] = x\n    return v",
            (1.0,),
            "of `a`, which `v` holds too",
            4,
        ),
        (
            "def f(x):\n    a = []\n    b = [a]\n    a.append(x)\n    return b",
            (1.0,),
            "of `a`, which `b` holds too",
            4,
        ),
        (
            "def f(x):\n    a = np.zeros(4)\n    def g(t):\n        a[0] = t\n"
            "        return t\n    return g(x)",
            (1.0,),
            "of `a` in a nested function",
            4,
        ),
        ("def f(s, x):\n    s.a[0] = x\n    return x", (object(), 1.0), "the caller holds too", 2),
    ],
)
def test_refused(text: str, args: tuple[Any, ...], what: str, line: int) -> None:
    found = analysed(text, *args)
    with pytest.raises(UnsupportedSyntaxError, match=what) as caught:
        check(found)
    assert caught.value.where is not None and caught.value.where.line == line
    assert caught.value.instead
