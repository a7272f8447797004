"""Arrays of a loop's iteration share few names."""

from __future__ import annotations

import re

import pytest

from s2sad.transforms.share_temporaries import share_temporaries

from .before_after import check

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
}


@pytest.mark.parametrize("name", SHARED)
def test_names(name: str) -> None:
    before, after, arguments = SHARED[name]

    def alike(a: str, b: str) -> bool:
        return all(re.search(r"_[0-9]+$", n) for n in (a, b))

    check(lambda tree: share_temporaries(tree, frozenset(), alike), before, after or before, arguments)


def test_kinds_are_kept_apart() -> None:
    before, _, arguments = SHARED["of two statements"]
    check(lambda tree: share_temporaries(tree, frozenset(), lambda a, b: a == b), before, before, arguments)
