"""Exchanges of names in one statement."""

from __future__ import annotations

import pytest

from s2sad.transforms.simplification.join_exchanges import join_exchanges
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of

CASES = {
    "two": ("t = u\n    u = v\n    v = t\n    return u, v", "u, v = v, u\n    return u, v"),
    "in a loop": (
        "for i in range(3):\n        t = v\n        v = u\n        u = t\n    return u, v",
        "for i in range(3):\n        v, u = u, v\n    return u, v",
    ),
    "three": (
        "t = u\n    u = v\n    v = w\n    w = t\n    return u, v, w",
        "u, v, w = v, w, u\n    return u, v, w",
    ),
    "two at once": (
        "t = u\n    s = w\n    u = v\n    w = x\n    v = t\n    x = s\n    return u, v, w, x",
        "u, v = v, u\n    w, x = x, w\n    return u, v, w, x",
    ),
    "a name that is read later": ("t = u\n    u = v\n    v = t\n    return u, t",) * 2,
    "copies that are no exchange": ("t = u\n    u = v\n    w = t\n    return u, w",) * 2,
}


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name: str) -> None:
    before, after = (f"def f(u, v, w, x):\n    {body}\n" for body in CASES[name])
    new = to_source(join_exchanges(program_of(before).tree))
    assert new == after
    results = []
    for text in (before, new):
        namespace: dict[str, object] = {}
        exec(text, namespace)
        results.append(namespace["f"](1, 2, 3, 4))  # type: ignore[operator]
    assert results[0] == results[1]
