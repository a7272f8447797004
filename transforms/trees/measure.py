"""The width and depth of an expression in print, estimated without printing it.

Contract: an expression in, columns or levels out; the width is exact for names, literals, calls and items.
"""
from __future__ import annotations

from typing import Any

import gast

from .nodes import children

__all__ = ["depth", "width"]

Node = Any  # gast publishes no types

_WORDS: dict[type, int] = {gast.Pow: 4, gast.LShift: 4, gast.RShift: 4, gast.FloorDiv: 4, gast.Not: 4,
                           gast.Is: 4, gast.IsNot: 8, gast.In: 4, gast.NotIn: 8}
_LEVELS: dict[type, int] = {gast.Add: 1, gast.Sub: 1, gast.Mult: 2, gast.Div: 2, gast.FloorDiv: 2,
                            gast.Mod: 2, gast.MatMult: 2, gast.Pow: 4}


def width(node: Node) -> int:
    """The number of columns that an expression takes."""
    match node:
        case gast.Name():
            return len(node.id)
        case gast.Constant():
            return len(repr(node.value))
        case gast.Attribute():
            return width(node.value) + 1 + len(node.attr)
        case gast.BinOp():
            sign = _WORDS.get(type(node.op), 3)
            return _operand(node.left, node) + sign + _operand(node.right, node, is_right=True)
        case gast.UnaryOp():
            return _WORDS.get(type(node.op), 1) + _operand(node.operand, node)
        case gast.Compare():
            signs = sum(_WORDS.get(type(o), 4) for o in node.ops)
            return width(node.left) + signs + sum(map(width, node.comparators))
        case gast.Call():
            return width(node.func) + 2 + _listed([*node.args, *node.keywords])
        case gast.keyword():
            return len(node.arg or "**") + 1 + width(node.value)
        case gast.Subscript():
            parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
            return width(node.value) + 2 + _listed(parts)
        case gast.Slice():
            step = 0 if node.step is None else 1 + width(node.step)
            return 1 + step + sum(width(e) for e in (node.lower, node.upper) if e is not None)
        case gast.Tuple() | gast.List() | gast.Set():
            return 2 + _listed(node.elts)
        case gast.Dict():
            return 2 + sum(4 + (width(k) if k is not None else 2) + width(v)
                           for k, v in zip(node.keys, node.values, strict=True))
    return sum(width(child) + 2 for child in children(node))


def depth(node: Node) -> int:
    """How many operations are nested in one another; a chain such as `a + b - c` counts once."""
    match node:
        case gast.Name() | gast.Constant() | gast.UnaryOp(op=gast.USub(), operand=gast.Constant()):
            return 0
        case gast.Attribute():
            return depth(node.value)
        case gast.BinOp():
            left = depth(node.left)
            if isinstance(node.left, gast.BinOp) and _level(node.left) == _level(node):
                left -= 1
            return 1 + max(left, depth(node.right))
        case gast.keyword():
            return depth(node.value)
    return 1 + max((depth(child) for child in children(node)), default=-1)


def _listed(nodes: list[Node]) -> int:
    return sum(map(width, nodes)) + 2 * max(0, len(nodes) - 1)


def _level(node: Node) -> int:
    return _LEVELS.get(type(node.op), 0) if isinstance(node, gast.BinOp) else 3


def _operand(node: Node, parent: Node, is_right: bool = False) -> int:
    """The width of an operand, with the parentheses that it needs."""
    own = width(node)
    if isinstance(node, (gast.BoolOp, gast.Compare, gast.IfExp, gast.Lambda)):
        return own + 2
    if isinstance(node, gast.BinOp) and _level(node) < _level(parent) + is_right:
        return own + 2
    return own
