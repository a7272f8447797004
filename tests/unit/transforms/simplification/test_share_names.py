"""Versions of a variable share its name where never two of them are needed; literals replace their names."""
from __future__ import annotations

import re

import pytest

from s2sad.transforms.simplification.coalesce_versions import coalesce_versions
from s2sad.transforms.simplification.merge_copies import put_constants
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

SHARED = {
    "versions one after the other": ("""
        def f(x):
            x_2 = x * 2
            x_3 = x_2 + 1
            return x_3
    """, """
        def f(x):
            x = x * 2
            x = x + 1
            return x
    """, (2.0,)),
    "several in one statement": ("""
        def f(x):
            a_1 = x * 2
            b_1 = x + a_1
            a, b = a_1, b_1
            return a * b
    """, """
        def f(x):
            a = x * 2
            b = x + a
            return a * b
    """, (2.0,)),
    "a version that is read later": ("""
        def f(x):
            x_2 = x * 2
            x_3 = x_2 + 1
            return x * x_3
    """, """
        def f(x):
            x_2 = x * 2
            x_2 = x_2 + 1
            return x * x_2
    """, (2.0,)),
    "a loop that needs the version before it": ("""
        def f(x, n):
            x_2 = x
            for i in range(n):
                x_2 = x_2 * x
            return x_2
    """, None, (2.0, 3), (2.0, 0)),
    "a version on one path": ("""
        def f(x, c):
            if c:
                x_2 = x + 1
                y = x_2 * 2
            else:
                y = x
            return y
    """, """
        def f(x, c):
            if c:
                x = x + 1
                y = x * 2
            else:
                y = x
            return y
    """, (2.0, True), (2.0, False)),
    "a version that a nested function reads": ("""
        def f(x):
            x_2 = x * 2
            def g(y):
                return x_2 * y
            x_3 = x + 1
            return g(x_3)
    """, """
        def f(x):
            x_2 = x * 2
            def g(y):
                return x_2 * y
            x = x + 1
            return g(x)
    """, (2.0,)),
    "values that a loop leaves to be walked backwards": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                trace.append(x)
                x_2 = x * x
                x = x_2
            dx = 1.0
            for x_3 in trace[::-1]:
                dx_2 = dx * 2 * x_3
                dx = dx_2
            return dx
    """, """
        def f(x, n):
            trace = []
            for i in range(n):
                trace.append(x)
                x = x * x
            dx = 1.0
            for x in trace[::-1]:
                dx = dx * 2 * x
            return dx
    """, (1.5, 3), (1.5, 0)),
}  # fmt: skip


def origin(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


@pytest.mark.parametrize("name", SHARED)
def test_share_names(name: str) -> None:
    before, after, *inputs = SHARED[name]
    facts = generated_facts(origin=origin, alike=lambda a, b: origin(a) == origin(b), nature=str)
    check(lambda tree: coalesce_versions(tree, facts), before, before if after is None else after, *inputs)


def test_captured_names_are_not_shared() -> None:
    text = """
        def f(x):
            y_2 = x * 2
            y_3 = y_2 + 1
            return y_3
    """
    kept = frozenset({"y_2", "y_3"})
    facts = generated_facts(captured=kept, origin=origin, alike=lambda a, b: True, nature=str)
    check(lambda tree: coalesce_versions(tree, facts), text, text, (2.0,))


def test_literals_stand_where_they_are_read() -> None:
    facts = generated_facts(captured=frozenset({"kept_1"}))
    check(lambda tree: put_constants(tree, facts), """
        def f(x):
            a_1 = -4.0
            kept_1 = 1.0
            b = 0.0
            for i in range(3):
                b = b + a_1 * x + kept_1
            return b
    """, """
        def f(x):
            kept_1 = 1.0
            b = 0.0
            for i in range(3):
                b = b + -4.0 * x + kept_1
            return b
    """, (2.0,))
