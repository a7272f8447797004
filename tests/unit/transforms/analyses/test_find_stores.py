"""The statements that change something in place."""

from __future__ import annotations

import pytest

from s2sad.transforms.analyses.find_stores import find_stores
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.analysed import analysed


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
    changed = find_stores(found)
    assert {(name, found.program.source_line(s)) for name, s in changed} == {
        ("a", "a[i] = x"),
        ("a", "a[0] += x"),
        ("items", "items.append(x)"),
    }


@pytest.mark.parametrize(
    ("text", "args", "what", "line"),
    [
        (
            "def f(x):\n    a = np.zeros(4)\n    def g(t):\n        a[0] = t\n"
            "        return t\n    return g(x)",
            (1.0,),
            "of `a` in a nested function",
            4,
        ),
    ],
)
def test_refused(text: str, args: tuple[object, ...], what: str, line: int) -> None:
    found = analysed(text, *args)
    with pytest.raises(UnsupportedSyntaxError, match=what) as caught:
        find_stores(found)
    assert caught.value.where is not None and caught.value.where.line == line
    assert caught.value.instead
