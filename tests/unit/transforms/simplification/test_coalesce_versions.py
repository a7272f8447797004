"""Versions of a variable, and arrays of a loop's iteration, share a name where one at a time is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from s2sad.transforms.simplification.coalesce_versions import coalesce_versions
from s2sad.transforms.simplification.facts import GeneratedFacts
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

ARRAYS = {
    "of two statements": (
        """
        def f(a, b, n):
            for i in range(n):
                da_1 = a * 0.5
                b = b + da_1
                db_1 = b * 0.5
                a = a + db_1
            return a
    """,
        """
        def f(a, b, n):
            for i in range(n):
                d = a * 0.5
                b = b + d
                d = b * 0.5
                a = a + d
            return a
    """,
        (2.0, 3.0, 3),
    ),
    "both needed": (
        """
        def f(a, b, n):
            for i in range(n):
                da_1 = a * 0.5
                db_1 = b * da_1
                a = a + db_1 * da_1
            return a
    """,
        None,
        (2.0, 3.0, 3),
    ),
    "needed in the next iteration": (
        """
        def f(a, b, n):
            da_1 = a
            for i in range(n):
                db_1 = b * da_1
                da_1 = db_1 + 1
            return da_1
    """,
        None,
        (2.0, 3.0, 3),
    ),
    "read after the loop": (
        """
        def f(a, b, n):
            for i in range(n):
                da_1 = a * 0.5
                db_1 = da_1 * b
                b = b + db_1
            return da_1 + b
    """,
        None,
        (2.0, 3.0, 3),
    ),
    "outside of loops": (
        """
        def f(a, b):
            da_1 = a * 0.5
            b = b + da_1
            db_1 = b * 0.5
            return a + db_1
    """,
        None,
        (2.0, 3.0),
    ),
    "a name that is taken": (
        """
        def f(a, b, d):
            for i in range(3):
                da_1 = a * d
                b = b + da_1
                db_1 = b * 0.5
                a = a + db_1
            return a
    """,
        """
        def f(a, b, d):
            for i in range(3):
                d_1 = a * d
                b = b + d_1
                d_1 = b * 0.5
                a = a + d_1
            return a
    """,
        (2.0, 3.0, 0.3),
    ),
    "of one statement": (
        """
        def f(a, b):
            y_1 = a + b
            y_2 = y_1 * b
            z_1 = y_2 - a
            z_2 = z_1 * z_1
            return z_2 + b
    """,
        """
        def f(a, b):
            y_1 = a + b
            y_1 = y_1 * b
            z_1 = y_1 - a
            z_1 = z_1 * z_1
            return z_1 + b
    """,
        (2.0, 3.0),
    ),
    "values and derivatives": (
        """
        def f(a, b):
            for i in range(3):
                y_1 = a * 0.5
                b = b + y_1
                dy_1 = b * 0.5
                a = a + dy_1
                z_1 = a * 0.5
                b = b + z_1
            return a + b
    """,
        """
        def f(a, b):
            for i in range(3):
                t = a * 0.5
                b = b + t
                dy_1 = b * 0.5
                a = a + dy_1
                t = a * 0.5
                b = b + t
            return a + b
    """,
        (2.0, 3.0),
    ),
    "parts": (
        """
        def f(a):
            y_1 = a[1:]
            y_2 = y_1[1:]
            return y_2 * 1
    """,
        None,
        ([2.0, 3.0, 4.0],),
    ),
    "a closure's": (
        """
        def f(a):
            y_1 = a + 1
            y_2 = y_1 * 2
            def g(b):
                return b * y_1
            return g(y_2)
    """,
        None,
        (2.0,),
    ),
}


def is_derivative(name: str) -> bool:
    return name.startswith("d")


def facts(alike: Callable[[str, str], bool]) -> GeneratedFacts:
    variables = {f"d{variable}_{k}": variable for variable in "abx" for k in range(1, 4)}
    return generated_facts(are_temporary_arrays=alike, origin=lambda name: None, variables=variables)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    before, after, arguments = ARRAYS[name]

    def alike(a: str, b: str) -> bool:
        return all(re.search(r"_[0-9]+$", n) for n in (a, b)) and is_derivative(a) is is_derivative(b)

    def shared(tree: Any) -> Any:
        return coalesce_versions(tree, facts(alike))

    check(shared, before, after or before, arguments)


def test_kinds_are_kept_apart() -> None:
    before, _, arguments = ARRAYS["of two statements"]
    check(
        lambda tree: coalesce_versions(tree, facts(lambda a, b: a == b)),
        before,
        before,
        arguments,
    )


VERSIONS = {
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


@pytest.mark.parametrize("name", VERSIONS)
def test_versions(name: str) -> None:
    before, after, *inputs = VERSIONS[name]
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
