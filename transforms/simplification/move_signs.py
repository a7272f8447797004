"""Subtracts what is added with a minus.

Contract: a function definition in, one that computes the same numbers out: a product or quotient of a negated
number is the negated product or quotient, to the last bit. A minus in what is added to a derivative goes into
the operator, also that of a name which is only used so. What arithmetic reads at once need not be copied.

    dx += -d * y              dx -= d * y
    t = -d * 0.5              t = d * 0.5
    dx[1:] += t         ->    dx[1:] -= t
    dx[:-1] += -t             dx[:-1] += t
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_sharing import base_of
from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import located, names_read, own_statements
from ..trees.rebuild import map_blocks, rebuilt
from ..trees.signs import without_sign

__all__ = ["move_signs"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]

_FLIPPED = {gast.Add: gast.Sub, gast.Sub: gast.Add}


def move_signs(
    tree: Node, is_derivative: Test, may_turn: Test, is_number: Test, is_odd: Callable[[Node], bool]
) -> Node:
    """The function with minus signs in the operators of updates; `may_turn` says which names may come to mean
    the opposite, `is_number` that a name always holds a number, `is_odd` that a call is of a function that is
    odd in its first argument.
    """
    tree = map_nested(tree, lambda nested: move_signs(nested, is_derivative, may_turn, is_number, is_odd))
    uses = find_uses(tree)
    if uses is None:
        return tree
    signs = _Signs(tree, uses, is_derivative, may_turn, is_number, is_odd)
    return rebuilt(tree, body=signs.block(tree.body))


class _Signs:
    """The names of one function that may change their sign, and which of them do."""

    def __init__(
        self,
        tree: Node,
        uses: Uses,
        is_derivative: Test,
        may_turn: Test,
        is_number: Test,
        is_odd: Callable[[Node], bool],
    ) -> None:
        self.uses, self.is_derivative, self.may_turn, self.is_odd = uses, is_derivative, may_turn, is_odd
        self.assigned: dict[str, Node] = {}
        self.readers: dict[str, list[Node]] = {}
        for s in own_statements(tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)]):
                    self.assigned[name] = s
            if isinstance(s, (gast.Assign, gast.AugAssign)):
                for name in names_read(s):
                    self.readers.setdefault(name, []).append(s)
        self.flipped: set[str] = set()
        for name, s in self.assigned.items():
            negative, value = without_sign(s.value, self.is_odd)
            if negative and (_makes(value) or is_number(name)):
                found = self.turned(name)
                self.flipped |= found if self.flipped.isdisjoint(found) else set()

    def turned(self, name: str) -> frozenset[str]:
        """The names that change their sign with one; none where something else would change."""
        s = self.assigned.get(name)
        readers = self.readers.get(name, [])
        uses = self.uses
        if (
            s is None
            or not self.may_turn(name)
            or uses.bound[name] != 1
            or uses.read[name] != len(readers)
            or name in uses.captured
            or name in uses.fixed
            or name in uses.parameters
        ):
            return frozenset()
        found = {name}
        for reader in readers:
            if not self.carries_sign(reader.value, name):
                return frozenset()
            if isinstance(reader, gast.Assign):
                target = reader.targets[0]
                inner = self.turned(target.id) if isinstance(target, gast.Name) else frozenset()
                if not inner:
                    return frozenset()
                found |= inner
            elif not self.is_update(reader):
                return frozenset()
        return frozenset(found)

    def is_update(self, s: Node) -> bool:
        """Whether a statement adds to a derivative, or subtracts from it."""
        base = base_of(s.target)
        return type(s.op) in _FLIPPED and base is not None and self.is_derivative(base)

    def block(self, statements: list[Node]) -> list[Node]:
        return [self.statement(s) for s in statements]

    def statement(self, s: Node) -> Node:
        match s:
            case gast.AugAssign(value=value) if self.is_update(s):
                negative, value = without_sign(value, self.is_odd)
                if negative != self.changes_sign(s.value):
                    op = _FLIPPED[type(s.op)]()
                    return located(gast.AugAssign(target=s.target, op=op, value=self.uncopied(value)), s)
                return rebuilt(s, value=self.uncopied(value if negative else s.value))
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                if name in self.flipped and not self.changes_sign(value):
                    value = without_sign(value, self.is_odd)[1]
                value = self.uncopied(value)
                return s if value is s.value else rebuilt(s, value=value)
        return s if isinstance(s, gast.FunctionDef) else map_blocks(s, self.block)

    def changes_sign(self, value: Node) -> bool:
        """Whether an expression changes its sign with the names that do."""
        return sum(self.carries_sign(value, n) for n in names_read(value) if n in self.flipped) % 2 == 1

    def uncopied(self, value: Node) -> Node:
        """An expression with the derivatives that its arithmetic reads as they are rather than copied."""
        match value:
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return rebuilt(value, operand=self.operand(operand))
            case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div(), right=right):
                return rebuilt(value, left=self.operand(left), right=self.operand(right))
        return value

    def operand(self, value: Node) -> Node:
        match value:
            case gast.Call(func=gast.Attribute(value=part, attr="copy"), args=[]):
                base = base_of(part)
                if base is not None and self.is_derivative(base):
                    return part
        return self.uncopied(value)

    def carries_sign(self, value: Node, name: str) -> bool:
        """Whether an expression changes its sign, and nothing else, when a name that it reads once does."""
        match value:
            case gast.Name():
                return bool(value.id == name)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return self.carries_sign(operand, name)
            case gast.BinOp(left=left, op=gast.Mult() | gast.Div(), right=right):
                sides = [side for side in (left, right) if name in names_read(side)]
                return len(sides) == 1 and self.carries_sign(sides[0], name)
            case gast.Call(args=[first, *rest], keywords=keywords) if self.is_odd(value):
                return name not in names_read([*rest, *keywords]) and self.carries_sign(first, name)
        return False


def _makes(value: Node) -> bool:
    """Whether an expression makes a new object, rather than a view of another one."""
    match value:
        case gast.BinOp() | gast.UnaryOp():
            return True
        case gast.Call(func=gast.Attribute(attr="copy"), args=[]):
            return True
    return False
