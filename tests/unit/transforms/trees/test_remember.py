"""What is kept of nodes while a derivative is made."""

from __future__ import annotations

from typing import Any

import gast
import pytest

import s2sad
from s2sad.transforms.trees.nodes import find_nodes, loads, own_statements, walk
from s2sad.transforms.trees.rebuild import map_blocks, rebuilt, with_body
from s2sad.transforms.trees.remember import forget, remembered
from tests.support.before_after import parse

PROGRAM = """
    def f(x, n):
        def g(y):
            return x * y
        for i in range(n):
            if x[i] > 0:
                x = x + g(x[i]) * x
            else:
                pass
        return (lambda z: z + n)(x)
"""


def test_what_is_found_of_a_node_is_found_once_until_it_is_forgotten() -> None:
    asked = []

    @remembered
    def size(node: Any) -> int:
        asked.append(node)
        return len(list(walk(node)))

    tree = parse(PROGRAM)
    assert size(tree) == size(tree) == len(list(walk(tree)))
    assert asked == [tree]
    forget()
    assert size(tree) == len(list(walk(tree)))
    assert asked == [tree, tree]


def test_nodes_are_found_in_the_order_in_which_they_stand() -> None:
    tree = parse(PROGRAM)
    for kinds in [(gast.Name,), (gast.BinOp, gast.Call), (gast.FunctionDef, gast.Lambda), (gast.With,)]:
        assert find_nodes(tree, *kinds) == [n for n in walk(tree) if isinstance(n, kinds)]


def test_loads_are_counted() -> None:
    value = parse(PROGRAM).body[1].body[0].body[0].value
    assert loads(value) == ("x", "g", "x", "i", "x")


def test_own_statements_stay_out_of_nested_functions() -> None:
    tree = parse(PROGRAM)
    kinds = [type(s).__name__ for s in own_statements(tree.body)]
    assert kinds == ["FunctionDef", "For", "If", "Assign", "Pass", "Return"]


def test_what_does_not_change_is_the_same_tree() -> None:
    tree = parse(PROGRAM)
    loop = tree.body[1]
    assert map_blocks(loop, list) is loop
    assert with_body(tree, list(tree.body)) is tree
    shorter = with_body(tree, tree.body[1:])
    assert shorter.body == tree.body[1:] and len(tree.body) == 3
    assert rebuilt(loop, orelse=[]) is not loop
    assert rebuilt(loop).lineno == loop.lineno


def test_nothing_is_kept_after_a_derivative_is_made(monkeypatch: Any) -> None:
    """Also when making it fails."""
    forgotten = []
    monkeypatch.setattr("s2sad.derivatives.generator.forget", lambda: forgotten.append(True))

    def cube(x: float) -> float:
        return x**3

    def refused(x: float) -> Any:
        yield x

    assert s2sad.grad(cube)(2.0) == 12.0
    assert len(forgotten) == 1
    with pytest.raises(s2sad.UnsupportedSyntaxError):
        s2sad.grad(refused)(1.0)
    assert len(forgotten) == 2
