"""Which variables of a loop have adjoints where an iteration begins, told before differentiating it."""

from __future__ import annotations

import textwrap
from typing import Any

import gast
import pytest

from s2sad.transforms.analyses.find_carried_adjoints import find_carried_adjoints
from s2sad.transforms.trees.nodes import assigned_names, names_read


def carried(text: str, *having: str) -> list[str]:
    loop = gast.parse(textwrap.dedent(text)).body[0]

    def sources(value: Any) -> list[str]:
        return names_read(value)

    return find_carried_adjoints(loop, having, set(assigned_names(loop)), sources)


@pytest.mark.parametrize(
    ("text", "having", "expected"),
    [
        ("for i in r:\n    h = h * w\n", ["h"], ["h"]),
        ("for i in r:\n    s = s + h\n    h = h * w\n", ["s"], ["s", "h"]),
        ("for i in r:\n    a = h\n    s = s + a\n    h = b\n    b = c\n    c = w\n", ["s"], [*"shbc"]),
        ("for i in r:\n    t = w * w\n    s = s + t\n", ["s"], ["s"]),
        ("while t:\n    if c:\n        a = b\n    else:\n        a = w\n    b = w\n", ["a"], ["a", "b"]),
        ("for i in r:\n    for x in h:\n        s = s + x\n    h = w\n", ["s"], ["s", "h"]),
        ("for i in r:\n    b[i] = a\n    a = w\n", ["b"], ["a"]),
        ("for i in r:\n    xs.append(a)\n    a = w\n", ["xs"], ["a"]),
        ("for i in r:\n    a = b\n    c = a\n", ["d"], []),
    ],
)
def test_what_a_loop_carries(text: str, having: list[str], expected: list[str]) -> None:
    assert carried(text, *having) == expected
