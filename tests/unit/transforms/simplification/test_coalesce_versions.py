"""Arrays of a loop's iteration share few names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from s2sad.transforms.simplification.coalesce_versions import coalesce_versions
from s2sad.transforms.simplification.facts import GeneratedFacts
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

SHARED = {
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


@pytest.mark.parametrize("name", SHARED)
def test_names(name: str) -> None:
    before, after, arguments = SHARED[name]

    def alike(a: str, b: str) -> bool:
        return all(re.search(r"_[0-9]+$", n) for n in (a, b)) and is_derivative(a) is is_derivative(b)

    def shared(tree: Any) -> Any:
        return coalesce_versions(tree, facts(alike))

    check(shared, before, after or before, arguments)


def test_kinds_are_kept_apart() -> None:
    before, _, arguments = SHARED["of two statements"]
    check(
        lambda tree: coalesce_versions(tree, facts(lambda a, b: a == b)),
        before,
        before,
        arguments,
    )
