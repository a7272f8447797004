"""Stores what would be added to a place that was just set to zero.

Contract: a function definition in, one that does the same out, apart from the sign of zeros. An array that is
updated in place, as by `a[i] /= 9`, hands the adjoint of what it holds on to the adjoint of what it held.

    dv = da[i]
    da[i] = 0                  da[i] /= 9.0
    da[i] += dv / 9.0    ->
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_uses import Purity, Uses, find_uses, is_pure, map_nested
from ..trees.nodes import Comment, load, loads, located, same
from ..trees.rebuild import map_blocks, rebuilt, substitute, with_body

__all__ = ["store_over_zero"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]


def store_over_zero(tree: Node, purity: Purity, adjoints: frozenset[str], is_array: Test,
                    is_number: Test) -> Node:
    """The function with fewer stores; `adjoints` are names that share memory with each other alone,
    `is_array` tells of the name of an adjoint, or of another array of floats, that it holds an array, and
    `is_number` that it holds a number.
    """
    tree = map_nested(tree, lambda nested: store_over_zero(nested, purity, adjoints, is_array, is_number))
    uses = find_uses(tree)
    if uses is None:
        return tree
    return with_body(tree, _Blocks(uses, purity, adjoints, is_array, is_number).block(tree.body))


class _Blocks:
    def __init__(self, uses: Uses, purity: Purity, adjoints: frozenset[str], is_array: Test,
                 is_number: Test) -> None:
        self.uses, self.purity, self.adjoints = uses, purity, adjoints
        self.is_array, self.is_number = is_array, is_number

    def block(self, statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        for s in statements:
            if not isinstance(s, gast.FunctionDef):
                s = map_blocks(s, self.block)
            result.append(s)
            self.join(result)
        return result

    def join(self, lines: list[Node]) -> None:
        """Joins the last statement, if it adds to a place, with those before it that set it to zero, and that
        take what it held.
        """
        match lines[-1]:
            case gast.AugAssign(
                target=(gast.Subscript(value=gast.Name(id=name)) | gast.Name(id=name)) as place,
                op=gast.Add(),
                value=value,
            ) if name in self.adjoints and self.is_array(name) and is_pure(value, self.purity):
                zero = len(lines) - 2
                while zero >= 0 and self.may_stand_between(lines[zero]):
                    zero -= 1
                if zero < 0 or not _zeroes(lines[zero], place):
                    return
                before = lines[zero - 1] if zero else None
                is_next = all(isinstance(s, Comment) for s in lines[zero + 1 : -1])
                new = self.of_taken(value, before, place) or self.of_made(value, before)
                new = new if is_next else None
                if new is None and not self.is_apart(value, before):
                    return
                last = lines.pop()
                del lines[zero if new is None else zero - 1 : zero + 1]
                lines += _stored(last, value if new is None else new)

    def may_stand_between(self, s: Node) -> bool:
        """Whether a statement neither changes an adjoint nor reads one, but for numbers."""
        match s:
            case gast.Assign(targets=[gast.Name()], value=value):
                return is_pure(value, self.purity) and self.is_apart(value, None)
        return isinstance(s, Comment)

    def of_taken(self, value: Node, before: Node | None, place: Node) -> Node | None:
        """The value with the place for the name that the statement before takes of it; None where it is not
        computed from this alone among adjoints, or where the name is read again.
        """
        match before:
            case gast.Assign(targets=[gast.Name(id=taken)], value=source):
                part = source if self.is_number(taken) else _copied(source)
                is_apart = (set(loads(value)) - {taken}).isdisjoint(self.adjoints)
                if self.is_read_once(taken) and part is not None and same(part, place) and is_apart:
                    is_new = isinstance(value, (gast.Name, gast.BinOp, gast.UnaryOp))
                    return substitute(value, {taken: part}) if is_new and taken in loads(value) else None
        return None

    def of_made(self, value: Node, before: Node | None) -> Node | None:
        """What the statement before makes anew, where the value is that, and it is read nowhere else."""
        match value, before:
            case gast.Name(id=name), gast.Assign(targets=[gast.Name(id=made)], value=source) if made == name:
                return source if isinstance(source, gast.BinOp) and self.is_read_once(name) else None
        return None

    def is_read_once(self, name: str) -> bool:
        uses = self.uses
        return uses.read[name] == uses.bound[name] == 1 and name not in uses.captured

    def is_apart(self, value: Node, before: Node | None) -> bool:
        """Whether a value reads of adjoints nothing but numbers, or what the statement before makes anew."""
        made = ""
        match before:
            case gast.Assign(targets=[gast.Name(id=name)], value=source):
                made = name if isinstance(source, (gast.BinOp, gast.UnaryOp)) or _copied(source) else ""
        return all(n == made or n not in self.adjoints or self.is_number(n) for n in loads(value))


def _zeroes(s: Node, place: Node) -> bool:
    match s:
        case gast.Assign(targets=[gast.Subscript() as target], value=gast.Constant(value=0)):
            return same(target, _elements(place))
    return False


def _elements(place: Node) -> Node:
    """A place in an array, all of it where that is a name."""
    whole = gast.Constant(value=..., kind=None)
    return gast.Subscript(load(place.id), whole, gast.Store()) if isinstance(place, gast.Name) else place


def _copied(source: Node) -> Node | None:
    """The part of an array of which a call makes a copy."""
    match source:
        case gast.Call(
            func=gast.Attribute(
                value=(gast.Name() | gast.Subscript(value=gast.Name())) as part, attr="copy"
            ),
            args=[],
            keywords=[],
        ):
            return part
    return None


def _stored(s: Node, value: Node) -> list[Node]:
    """The statements that store a value in the place that a sum in place adds to."""
    place = s.target
    if same(value, place):
        return []
    match value:
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div() as op, right=right):
            if same(left, place):
                return [rebuilt(s, op=op, value=right)]
    return [located(gast.Assign(targets=[_elements(place)], value=value, type_comment=None), s)]
