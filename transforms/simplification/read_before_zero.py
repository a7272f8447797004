"""Reads what a store is about to set to zero, in place of a copy of it.

Contract: a function definition in, one that does the same out. The adjoint of a stored value is what the
adjoint of the array holds in its place, which then is zero. Where that value is read once, to compute a new
one, this is done first.

    dv = da[1:].copy()          du = da[1:] / 3
    da[1:] = 0             ->   da[1:] = 0
    du = dv / 3
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_uses import Purity, find_uses, is_pure, map_nested, reads
from ..trees.nodes import Comment, same, walk
from ..trees.rebuild import map_blocks, substitute, with_body

__all__ = ["read_before_zero"]

Node = Any  # gast publishes no types


def read_before_zero(tree: Node, purity: Purity, adjoints: frozenset[str]) -> Node:
    """The function with fewer copies; `adjoints` are names that share memory with each other alone."""
    tree = map_nested(tree, lambda nested: read_before_zero(nested, purity, adjoints))
    return with_body(tree, _block(tree.body, tree, purity, adjoints))


def _block(statements: list[Node], function: Node, purity: Purity, adjoints: frozenset[str]) -> list[Node]:
    result: list[Node] = []
    k = 0
    while k < len(statements):
        s = statements[k]
        later = k + 2
        while later < len(statements) and isinstance(statements[later], Comment):
            later += 1
        place = _copied(s)
        if (
            place is not None
            and later < len(statements)
            and _zeroes(statements[k + 1], place)
            and _computes(statements[later], s.targets[0].id, function, purity, adjoints)
        ):
            new = substitute(statements[later], {s.targets[0].id: place})
            result += [*statements[k + 2 : later], new, statements[k + 1]]
            k = later + 1
            continue
        if not isinstance(s, gast.FunctionDef):
            s = map_blocks(s, lambda block: _block(block, function, purity, adjoints))
        result.append(s)
        k += 1
    return result


def _copied(s: Node) -> Node | None:
    """The part of an array that a statement copies into a name."""
    match s:
        case gast.Assign(
            targets=[gast.Name()],
            value=gast.Call(
                func=gast.Attribute(value=gast.Subscript(value=gast.Name()) as place, attr="copy"), args=[]
            ),
        ):
            return place
    return None


def _zeroes(s: Node, place: Node) -> bool:
    match s:
        case gast.Assign(targets=[gast.Subscript() as target], value=gast.Constant(value=0)):
            return same(target, place)
    return False


def _computes(s: Node, name: str, function: Node, purity: Purity, adjoints: frozenset[str]) -> bool:
    """Whether a statement makes something new of a name, the only time that this is read, and of nothing
    that the array may share memory with.
    """
    uses = find_uses(function)
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.BinOp() | gast.UnaryOp() as value) if uses:
            others = [n.id for n in walk(value) if isinstance(n, gast.Name) and n.id != name]
            once = uses.read[name] == 1 and name in reads(value) and name not in uses.captured
            return once and is_pure(value, purity) and not any(n in adjoints for n in others)
    return False
