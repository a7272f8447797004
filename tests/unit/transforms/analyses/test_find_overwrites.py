"""Changes: what a reverse sweep wants to read and may have been overwritten by then."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad.analysis.primitive_table import PRIMITIVES
from s2sad.transforms.trees.nodes import load
from tests.support.analysed import Node, analysed

V = np.arange(4.0)


def expression(text: str) -> Node:
    return gast.parse(text, mode="eval").body


LATER = (
    "def f(x):\n    a = np.zeros(4)\n    s = np.sum(a * a)\n    a[0] = x\n    t = np.sum(a * a)\n    return t"
)
LOOP = """
def f(x, n):
    a = np.zeros(4)
    s = 0.0
    for i in range(n):
        a[i] = x
        s = a[0] * a[1]
    t = a[2] * s
    return t
"""


def test_a_store_after_the_statement_overwrites() -> None:
    found = analysed(LATER, 1.0)
    changes = found.changes
    before, after = found.statement("a = np.zeros"), found.statement("return t")
    assert changes.is_changed("a") and not changes.is_changed("s")
    assert changes.may_be_overwritten(before, load("a"))
    assert not changes.may_be_overwritten(after, load("a"))
    assert not changes.may_be_overwritten(before, load("x"))
    assert not changes.may_be_overwritten(before, gast.Constant(value=1.0, kind=None))


def test_a_store_in_the_same_loop_is_also_a_later_one() -> None:
    found = analysed(LOOP, 1.0, 3)
    assert found.changes.may_be_overwritten(found.statement("a[i] = x"), load("a"))
    assert not found.changes.may_be_overwritten(found.statement("return t"), load("a"))


def test_a_store_through_a_view_changes_the_array() -> None:
    found = analysed("def f(x):\n    a = np.zeros(4)\n    v = a[1:]\n    v[0] = x\n    return v", 1.0)
    assert found.changes.is_changed("a")


def test_a_store_in_the_other_arm_overwrites_nothing() -> None:
    text = (
        "def f(c, x):\n    a = np.zeros(4)\n    if c:\n        s = a * a\n    else:\n"
        "        a[0] = x\n    return a"
    )
    found = analysed(text, True, 1.0)
    assert not found.changes.may_be_overwritten(found.statement("s = a * a"), load("a"))
    assert found.changes.may_be_overwritten(found.statement("a = np.zeros"), load("a"))


def test_calls_that_change_their_arguments_count() -> None:
    found = analysed("def f(x):\n    a = np.zeros(4)\n    np.copyto(a, x)\n    return a", V)
    assert found.changes.is_changed("a") and not found.changes.is_changed("x")


def object_of(node: Any) -> Any:
    """What generated code means by the name of a function."""
    if isinstance(node, gast.Attribute):
        return getattr(np, node.attr)
    return len if node.id == "len" else PRIMITIVES.helper(node.id)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("da * a", ["a"]),
        ("a[0] * x", ["a"]),
        ("np.sum(d * a, axis=a)", ["a"]),
        ("np.zeros_like(a)", []),
        ("unbroadcast(d, a)", []),
        ("unbroadcast(a, d)", ["a"]),
        ("np.zeros(a.shape) + len(a)", []),
        ("np.zeros_like(a) + a", ["a"]),
        ("d * s", []),
    ],
)
def test_shapes_stay_when_values_are_overwritten(code: str, expected: list[str]) -> None:
    found = analysed(LATER, 1.0)
    statement = found.statement("a = np.zeros")
    assert found.changes.overwritten(statement, [expression(code)], object_of) == expected


def test_a_program_without_changes_asks_for_no_aliases() -> None:
    found = analysed("def f(x):\n    a = x * 2\n    return a", V)
    assert found.changes.overwritten(found.statement("return a"), [expression("a * x")], object_of) == []
    assert "aliases" not in vars(found)
