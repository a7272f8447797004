"""Blocks that mean nothing to compiled code."""

from __future__ import annotations

import ast

import pytest

from s2sad.targets.without_contexts import without_contexts


def removed(text: str) -> str:
    def is_silent(context: ast.expr) -> bool:
        return ast.unparse(context) == "silent()"

    body = without_contexts(ast.parse(text).body, is_silent)
    return ast.unparse(ast.Module(body, []))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with silent():\n    y = 1 / x", "y = 1 / x"),
        ("for k in x:\n    with silent():\n        y = k", "for k in x:\n    y = k"),
        ("try:\n    y = 1\nfinally:\n    n = n + 1", "y = 1\nn = n + 1"),
    ],
)
def test_before_and_after(before: str, after: str) -> None:
    assert removed(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "with loud():\n    y = 1 / x",
        "with silent() as s:\n    y = s",
        "try:\n    y = 1\nfinally:\n    a[0] = 2",
        "try:\n    y = 1\nexcept ValueError:\n    y = 2",
        "for k in x:\n    try:\n        break\n    finally:\n        n = 1",
    ],
)
def test_other_blocks_stay(text: str) -> None:
    assert removed(text) == text
