"""Where a statement reads a name, and what it evaluates before that.

Contract: a statement and a name that it reads once in; the `Order` of evaluation out, or None when no
expression can take the place of the name: in `and` and `or`, in expressions that are evaluated repeatedly or
later, and in an f-string.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import header_expressions
from .find_uses import Uses, reads

__all__ = ["Order", "find_place"]

Node = Any  # gast publishes no types

_PLAIN = (gast.BinOp, gast.UnaryOp, gast.Call, gast.keyword, gast.Subscript, gast.Slice, gast.Attribute,
          gast.Tuple, gast.List, gast.Set, gast.Starred)


@dataclass
class Order:
    """The operations that a statement evaluates before it reads the name: whether there is any, and one with
    effects.

    `is_changed` says that the statement changes the name's object in place.
    """

    impure_before: bool = False
    operation_before: bool = False
    is_changed: bool = False


def find_place(s: Node, name: str, is_pure: Callable[[Node], bool], uses: Uses) -> Order | None:
    """The order of evaluation before the statement reads the name."""
    search = _Search(name, is_pure, uses)
    for node in header_expressions(s):
        is_target = node is getattr(s, "target", None) or any(node is t for t in getattr(s, "targets", ()))
        if is_target and name in reads(node):
            base = node
            while isinstance(base, (gast.Subscript, gast.Attribute)):
                base = base.value
            search.order.is_changed = isinstance(base, gast.Name) and base.id == name
        if isinstance(s, gast.Assert) and node is s.msg:
            return None  # evaluated only when the assertion fails
        found = search.visit(node)
        if found is not None:
            return search.order if found else None
        if isinstance(s, gast.AugAssign) and is_target and not isinstance(node, gast.Name):
            search.order.operation_before = True
    return None


class _Search:
    """A walk over expressions in the order in which Python evaluates them, up to the name."""

    def __init__(self, name: str, is_pure: Callable[[Node], bool], uses: Uses) -> None:
        self.name, self.is_pure, self.uses = name, is_pure, uses
        self.order = Order()

    def visit(self, node: Node) -> bool | None:
        """True at the name, False where nothing can replace it, None when it is not in the node."""
        if isinstance(node, gast.Name):
            return True if node.id == self.name and isinstance(node.ctx, gast.Load) else None
        if isinstance(node, gast.Constant) or node is None:
            return None
        found = self.first(self.parts(node))
        if found is not None:
            return found
        if isinstance(node, gast.IfExp):
            self.order.operation_before = True  # a call with effects stays where it is surely evaluated
            found = self.first([node.body, node.orelse])
            self.order.impure_before = self.order.impure_before or (found is None and not self.is_pure(node))
            return found
        if not isinstance(node, _PLAIN) and self.name in reads(node):
            return False
        if not self.is_static(node) and not isinstance(node, (gast.Tuple, gast.keyword, gast.Slice)):
            self.order.operation_before = True
        if (isinstance(node, gast.Call) and not self.is_pure(node)) or not isinstance(node, _PLAIN):
            self.order.impure_before = self.order.impure_before or not self.is_pure(node)
        return None

    def first(self, nodes: list[Node]) -> bool | None:
        """`visit` of several expressions, one after another."""
        return next((found for node in nodes if (found := self.visit(node)) is not None), None)

    def parts(self, node: Node) -> list[Node]:
        """The operands of an expression that are surely evaluated once, in order."""
        match node:
            case gast.BinOp():
                return [node.left, node.right]
            case gast.UnaryOp():
                return [node.operand]
            case gast.Compare():
                return [node.left, node.comparators[0]]
            case gast.IfExp():
                return [node.test]
            case gast.Call():
                return [node.func, *node.args, *node.keywords]
            case gast.keyword() | gast.Attribute() | gast.Starred():
                return [node.value]
            case gast.Subscript():
                return [node.value, node.slice]
            case gast.Slice():
                return [node.lower, node.upper, node.step]
            case gast.Tuple() | gast.List() | gast.Set():
                return list(node.elts)
        return []

    def is_static(self, node: Node) -> bool:
        """Whether an expression is a path such as `np.linalg.norm`, whose root the function does not bind."""
        while isinstance(node, gast.Attribute):
            node = node.value
        return isinstance(node, gast.Name) and node.id not in self.uses.bound
