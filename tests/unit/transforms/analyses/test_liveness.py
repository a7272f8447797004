"""Structured liveness: what is read later, and what nested functions capture."""

from __future__ import annotations

import gast
import pytest

from s2sad.transforms.analyses.liveness import (
    captured_names,
    free_names,
    is_exit,
    is_test,
    live_before,
    loop_head,
)
from tests.support.before_after import Node, parse


def body_of(text: str) -> list[Node]:
    statements: list[Node] = parse(text).body
    return statements


def live(text: str, after: str = "", at_break: str = "") -> list[str]:
    """What is live before each statement of the body, and after it."""
    found = live_before(body_of(text), frozenset(after.split()), frozenset(at_break.split()))
    return [" ".join(sorted(names)) for names in found]


STRAIGHT = "def f(x):\n    y = x * 2\n    z = y + x\n    y = z\n    return y"
STORE = "def f(a, i, v):\n    a[i] = v\n    a = v\n    return a"
AUGMENTED = "def f(a, b, v):\n    a[0] += v\n    b += v\n    return a"
BRANCH = """
    def f(c, x, y):
        if c:
            z = x
        else:
            z = y
        return z
"""
LOOP = """
    def f(n, x):
        s = 0.0
        for i in range(n):
            t = s * x
            s = t + i
        return s
"""
DEFINITION = "def f(x, y):\n    def g(t, k=y):\n        return t * x\n    return g"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STRAIGHT, ["x", "x y", "z", "y", ""]),
        (STORE, ["a i v", "v", "a", ""]),
        (AUGMENTED, ["a b v", "a b v", "a", ""]),
        (BRANCH, ["c x y", "z", ""]),
        (LOOP, ["n range x", "n range s x", "s", ""]),
        (DEFINITION, ["x y", "g", ""]),
    ],
    ids=["straight", "store", "augmented", "branch", "loop", "definition"],
)
def test_live_before(text: str, expected: list[str]) -> None:
    assert live(text) == expected


def test_a_break_leads_to_what_is_live_after_the_loop() -> None:
    text = "def f(c):\n    if c:\n        break\n    x = c"
    assert live(text, after="x y", at_break="z") == ["c y z", "c y", "x y"]


def test_the_head_of_a_loop_grows_until_nothing_is_new() -> None:
    """`a` is read two iterations after `c` was assigned."""
    (loop,) = body_of(
        "def f(xs):\n    for x in xs:\n        r = a\n        a = b\n        b = c\n        c = x"
    )
    assert loop_head(loop, frozenset({"r"})) == {"a", "b", "c", "r"}


def test_a_for_loop_may_not_run_and_while_true_does() -> None:
    each, forever = body_of("""
        def f(xs):
            for x in xs:
                y = x
            while True:
                z = 1
                if stop:
                    break
    """)
    assert loop_head(each, frozenset({"y"})) == {"y"}
    assert loop_head(forever, frozenset({"z"})) == {"stop"}


def test_what_a_nested_function_captures() -> None:
    (g,) = body_of("""
        def f():
            def g(x, y=a, *, z=b):
                def h(t):
                    return t * u + inner
                inner = x * c
                return h(inner)
    """)
    assert free_names(g) == {"c", "u"}
    assert set(captured_names(g)) == {("c", "c"), ("u", "u"), ("y=", "a"), ("z=", "b")}


def test_exits_and_tests() -> None:
    leave, test, other = body_of("""
        def f():
            if stop:
                break
            if not go:
                break
            if stop:
                pass
    """)
    assert [is_exit(s) for s in (leave, test, other)] == [True, False, False]
    assert [is_test(s) for s in (leave, test, other)] == [False, True, False]
    assert isinstance(test, gast.If)
