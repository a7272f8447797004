"""Computes a value once that is computed several times from the same operands.

Contract: a function definition in, one that does the same out. Within a block an operation on names and
literals is not done again where its result still has a name. Operands and results are numbers and arrays that
nothing changes in place: each is assigned once, made anew, and only computed with.

    dB_1 = dA * 0.125                dB_1 = dA * 0.125
    B[2:] += dB_1                    B[2:] += dB_1
    dB_2 = dA * 0.125          ->    B[:-2] += dB_1
    B[:-2] += dB_2

Nor is an array multiplied by one where nothing changes it before the product has been read.

    dout = 1.0 * h                   do = h * t
    do = dout * t              ->    dt = h * o
    dt = dout * o
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gast

from ..analyses.find_sharing import base_of
from ..analyses.find_uses import Purity, Uses, find_uses, is_pure, map_nested
from ..trees.nodes import (
    Comment,
    assigned_names,
    blocks_of,
    children,
    is_atom,
    load,
    loads,
    names_read,
    statements_in,
)
from ..trees.rebuild import map_blocks, rebuilt, substitute
from ..trees.remember import remembered

__all__ = ["share_values"]

Node = Any  # gast publishes no types
Test = Callable[[str], bool]
Operation = tuple[Any, ...]

_ARITHMETIC = (gast.BinOp, gast.UnaryOp)


def share_values(
    tree: Node, may_go: Test, is_number: Test, is_whole: Test, is_derivative: Test, purity: Purity
) -> Node:
    """The function without repeated arithmetic; `may_go` says which names are not needed as such, `is_number`
    that a name always holds a number, `is_whole` that it always holds floats, so that a product with one is
    the same, and `is_derivative` that what it holds shares memory with other derivatives alone.
    """

    def function(tree: Node) -> Node:
        tree = map_nested(tree, function)
        uses = find_uses(tree)
        if uses is None:
            return tree
        computed = {n: uses.read[n] for n in _values(tree, uses)}
        values = frozenset(filter(may_go, computed))
        sharing = _Sharing(values, computed, is_number, is_whole, is_derivative, purity)
        return rebuilt(tree, body=sharing.block(tree.body))

    return function(tree)


def _values(tree: Node, uses: Uses) -> set[str]:
    """The names of values that are assigned once, made anew by arithmetic or `copy`, and only computed with:
    read as operands of arithmetic, and by `+=` as what is added.
    """
    computed: Counter[str] = Counter()
    made: set[str] = set()
    added: set[str] = set()
    negated: set[str] = set()
    for s in statements_in(tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if _is_made(value):
                made.add(name)
                if isinstance(value, gast.UnaryOp):
                    negated.add(name)
            case gast.AugAssign(value=gast.Name(id=name), target=target) if base_of(target) != name:
                computed[name] += 1
                added.add(name)
        for part in children(s):
            if isinstance(part, gast.expr):
                computed.update(_operands(part))
    return {
        n
        for n in made - (negated & added)  # `x += -v` is `x -= v`
        if uses.bound[n] == 1
        and computed[n] == uses.read[n]
        and n not in uses.captured
        and n not in uses.fixed
        and n not in uses.parameters
    }


@remembered
def _operands(expression: Node) -> tuple[str, ...]:
    """The names that are operands of arithmetic in an expression, each as often as it is."""
    own: tuple[str, ...] = ()
    if isinstance(expression, gast.Name | gast.Constant):
        return own
    if isinstance(expression, _ARITHMETIC):
        own = tuple(n.id for n in children(expression) if isinstance(n, gast.Name))
    return own + tuple(name for part in children(expression) for name in _operands(part))


def _is_made(value: Node) -> bool:
    """Whether an expression makes a new object."""
    match value:
        case gast.Call(func=gast.Attribute(value=gast.Subscript(value=gast.Name()), attr="copy"), args=[]):
            return True
    return isinstance(value, _ARITHMETIC)


class _Block:
    """The statements of a block, and which of them read a name: as often as they do, in order."""

    def __init__(self, statements: list[Node]) -> None:
        self.statements = statements

    @cached_property
    def _reading(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for k, s in enumerate(self.statements):
            for name in loads(s):
                found.setdefault(name, []).append(k)
        return found

    def reading(self, name: str) -> list[int]:
        return self._reading.get(name, [])


Rest = tuple[_Block, int]  # the statements of a block from a position on


@dataclass(frozen=True)
class _Sharing:
    """What is known of one function; `computed` tells how often the names are read that are only computed
    with, of which `values` may go.
    """

    values: frozenset[str]
    computed: Mapping[str, int]
    is_number: Test
    is_whole: Test
    is_derivative: Test
    purity: Purity

    def block(self, statements: list[Node]) -> list[Node]:
        known: dict[Operation, str] = {}
        versions: Counter[str] = Counter()  # how often each name has been bound so far
        again: dict[str, Node] = {}
        result: list[Node] = []
        whole = _Block(statements)
        for k, s in enumerate(statements):
            rest = whole, k + 1
            if again:
                s = substitute(s, again)
            name = _assigned(s)
            versions.update(n for n in assigned_names(s) if n not in self.values)
            if name in self.values:
                is_alone = isinstance((result or [None])[-1], Comment) and not _are_more(statements, k + 1)
                same = "" if is_alone else self.multiplied(s.value, name, rest)
                if not same and all(n in self.values or self.is_number(n) for n in names_read(s.value)):
                    operands = tuple(versions[n] for n in names_read(s.value))
                    same = known.setdefault((*_operation(s.value), operands), name)
                    if same != name and not self.is_read_in(rest, name):
                        same = name
                if same and same != name:
                    again[name] = load(same)
                    continue
            if blocks_of(s) and not isinstance(s, gast.FunctionDef):
                s = map_blocks(s, self.block)
            result.append(self.seen(s, rest))
        return result

    def is_read_in(self, rest: Rest, name: str) -> bool:
        """Whether nothing but the rest of a block reads a name."""
        block, start = rest
        return sum(k >= start for k in block.reading(name)) == self.computed[name]

    def multiplied(self, value: Node, name: str, rest: Rest) -> str:
        """The array of which a name is the product with one, if the rest of a block, which nothing else does,
        reads it before it may change that.
        """
        match value:
            case gast.BinOp(left=gast.Constant(value=1.0), op=gast.Mult(), right=gast.Name(id=array)):
                return array if self.is_whole(array) and self.is_read_before(name, array, rest) else ""
        return ""

    def seen(self, s: Node, rest: Rest) -> Node:
        """The assignment of a copy of a part of an array, without the copy if the rest of a block, which
        nothing else does, reads it before it may change the array.
        """
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Call(func=gast.Attribute(value=gast.Subscript(value=gast.Name(id=array)) as part)),
            ) if name in self.computed and self.is_read_before(name, array, rest):
                return rebuilt(s, value=part)
        return s

    def is_read_before(self, name: str, array: str, rest: Rest) -> bool:
        """Whether the rest of a block is all that reads a name, before it may change an array."""
        if not self.is_read_in(rest, name):
            return False
        block, start = rest
        until = max(block.reading(name), default=-1) + 1
        return all(self.is_calm(block.statements[k], array) for k in range(start, until))

    def is_calm(self, s: Node, array: str) -> bool:
        """Whether a statement changes nothing of what a name holds."""
        match s:
            case Comment():
                return True
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                return name != array and is_pure(value, self.purity)
            case gast.AugAssign(target=target, value=value):
                changed = base_of(target) or array
                is_apart = self.is_derivative(changed) and not self.is_derivative(array)
                return is_apart and is_pure(value, self.purity)
        return False


def _are_more(statements: list[Node], k: int) -> bool:
    """Whether a statement at a position stands under the same comment as that before it."""
    return k < len(statements) and not isinstance(statements[k], Comment)


def _assigned(s: Node) -> str:
    """The name to which a statement assigns one arithmetic operation on names and literals."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.BinOp(left=left, right=right)):
            operands = [left, right]
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.UnaryOp(operand=operand)):
            operands = [operand]
        case _:
            return ""
    return str(name) if all(map(is_atom, operands)) else ""


def _operation(value: Node) -> Operation:
    """What tells one operation on names and literals from another."""
    operands = [value.operand] if isinstance(value, gast.UnaryOp) else [value.left, value.right]
    return (value.op.__class__, *map(_atom, operands))


def _atom(node: Node) -> Operation:
    match node:
        case gast.Name(id=name):
            return gast.Name, name
        case gast.UnaryOp(operand=operand):
            return gast.UnaryOp, *_atom(operand)
    return gast.Constant, node.value.__class__, repr(node.value)
