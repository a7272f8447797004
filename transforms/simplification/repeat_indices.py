"""Indices written where they are read: `dh[i - 1]`, though the sum has a name and is read more than once.

Contract: a function definition in, one that does the same out. A sum of an integer and a literal costs less
than its name does a reader.

    h_1 = i - 1
    dh[h_1] -= dv        ->   dh[i - 1] -= dv
    dh[h_1] += du             dh[i - 1] += du
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import assigned_names, blocks_of, find_nodes, loads, names_read
from ..trees.rebuild import map_blocks, substitute, with_body

__all__ = ["repeat_indices"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]

MOST = 4  # reads of one name


def repeat_indices(tree: Node, is_temporary: Test, is_number: Test) -> Node:
    """The function without names of such sums; `is_temporary` says which names may go, `is_number` that a
    name always holds a number.
    """

    def function(tree: Node) -> Node:
        tree = map_nested(tree, function)
        uses = find_uses(tree)
        return tree if uses is None else with_body(tree, block(tree.body, uses))

    def block(statements: list[Node], uses: Uses) -> list[Node]:
        result: list[Node] = []
        replaced: dict[str, Node] = {}
        for k, s in enumerate(statements):
            if not replaced.keys().isdisjoint(names_read(s)):
                s = substitute(s, replaced)
            name = index_of(s, uses)
            if name and is_read_as_index(name, uses.read[name], loads(s.value)[0], statements[k + 1 :]):
                replaced[name] = s.value
            else:
                is_nested = isinstance(s, gast.FunctionDef)
                result.append(s if is_nested else map_blocks(s, lambda inner: block(inner, uses)))
        return result

    def index_of(s: Node, uses: Uses) -> str:
        """The name of a temporary that a statement makes the sum of an integer and a literal."""
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(
                    left=gast.Name(id=operand),
                    op=gast.Add() | gast.Sub(),
                    right=gast.Constant(value=int()),
                ),
            ):
                is_alone = uses.bound[name] == 1 and name not in uses.captured and name not in uses.fixed
                is_few = 1 < uses.read[name] <= MOST
                if is_alone and is_few and is_temporary(name) and is_number(operand):
                    return str(name)
        return ""

    return function(tree)


def is_read_as_index(name: str, reads: int, operand: str, statements: list[Node]) -> bool:
    """Whether the statements read a name so often, as an index and outside of loops, before the operand that
    it is made of is assigned again.
    """
    for s in statements:
        if operand in assigned_names(s):
            return False
        if name in names_read(s):
            if blocks_of(s) or isinstance(s, gast.FunctionDef):
                return False
            found = _indices(s).count(name)
            reads -= found
            if found != loads(s).count(name):
                return False
            if not reads:
                return True
    return False


def _indices(s: Node) -> list[str]:
    """The names that a statement reads in indices, each as often as it does."""
    places = [n.slice for n in find_nodes(s, gast.Subscript)]
    calls = [n for n in find_nodes(s, gast.Call) if getattr(n.func, "id", "") == "slice"]
    return [name for part in [*places, *calls] for name in loads(part)]
