"""Names that cancel: the derivative with respect to them is zero, as of a number subtracted in exponents.

    largest = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - largest)                        # `largest + s`: e times exp(-s)
    total = np.sum(e, axis=1, keepdims=True)       # total times exp(-s)
    out = e / total                                # out

Found in straight-line code: an operation that is not known to shift or scale with the name ends the search,
and the name has its derivative.

Form: the single-assignment form, with kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

import gast

from ..trees.nodes import binding_counts, blocks_of, load, loads, read_counts
from .facts import Facts
from .find_overwrites import find_changes
from .operations import Alias, Apply, Inert, Item, Operation, index_items

__all__ = ["find_shift_invariance"]

Axes = tuple[int | None, ...]
Factors = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class _Part:
    """How a value depends on a shift s of a name: it is shifted by `weight` times s, or (`scales`) multiplied
    by the exponential of `weight` times s.

    `factors` are named numbers in the weight, with their powers; `axes` maps each axis of the value to the
    axis of s that varies along it, None where s is constant.
    """

    scales: bool
    weight: Fraction
    factors: Factors
    axes: Axes

    def times(self, number: Fraction, name: str = "", power: int = 1) -> _Part:
        """With the weight multiplied by a number, or by a power of a named one."""
        powers = dict(self.factors)
        if name:
            powers[name] = powers.get(name, 0) + power
        factors = tuple(sorted((n, p) for n, p in powers.items() if p))
        return replace(self, weight=self.weight * number, factors=factors)

    def joined(self, other: _Part, sign: int) -> _Part | None:
        """The part of the sum of two shifted values, or of the product of two scaled ones; with the sign -1
        of the difference or quotient.
        """
        rank = max(len(self.axes), len(other.axes))
        axes = _padded(self.axes, rank)
        if (self.scales, self.factors, axes) != (other.scales, other.factors, _padded(other.axes, rank)):
            return None
        return replace(self, weight=self.weight + sign * other.weight, axes=axes)


def find_shift_invariance(facts: Facts) -> frozenset[str]:
    """The names whose derivatives are all zero."""
    return frozenset(_Search(facts).found())


class _Search:
    def __init__(self, facts: Facts) -> None:
        self.facts, self.program = facts, facts.program

    def literal(self, atom: Any) -> tuple[Any] | None:
        """The literal value of an atom, in a tuple; None where it is not known."""
        return self.facts.domain.literal_of(self.facts.kind(atom))

    def found(self) -> Iterator[str]:
        todo = [self.program.tree.body]
        while todo:
            block = todo.pop()
            for s in block:
                todo.extend(blocks_of(s))
            for name, rest in self.candidates(block):
                if self.cancels(name, rest):
                    yield name

    def candidates(self, block: list[Any]) -> Iterator[tuple[str, list[Any]]]:
        """The names that are subtracted in an exponent, each with the statements that follow it in its
        block.
        """
        made: dict[str, tuple[int, Operation]] = {}
        seen: set[str] = set()
        walked: set[str] = set()
        for k, s in enumerate(block):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    operation = self.facts.operation(value)
                    made[name] = k, operation
                    if isinstance(operation, Apply) and self.role(operation) == "exp":
                        found = [n for n in _subtracted(operation.args[0], made, walked) if n not in seen]
                        seen.update(found)
                        yield from ((n, block[made[n][0] + 1 :]) for n in found)

    def role(self, operation: Apply) -> str | None:
        rule = self.facts.primitives.find_rule(operation.function)
        return None if rule is None else rule.scaling

    @cached_property
    def reads(self) -> Counter[str]:
        """How often each name is read."""
        return read_counts(self.program.tree)

    @cached_property
    def bound(self) -> Counter[str]:
        """How often each name is assigned."""
        return binding_counts(self.program.tree)

    def cancels(self, name: str, statements: list[Any]) -> bool:
        """Whether a shift of the name changes no target of the statements that others may read."""
        axes = self.axes_of(name)
        if axes is None or not self.is_steady(name):
            return False
        along = tuple(k if is_long else None for k, is_long in enumerate(axes))
        parts = {name: _Part(False, Fraction(1), (), along)}
        read: Counter[str] = Counter()
        for s in statements:
            names = [n for n in loads(s) if n in parts] if isinstance(s, gast.Assign) else ()
            if not names:
                continue
            target = s.targets[0]
            if not isinstance(target, gast.Name) or not self.is_steady(target.id):
                return False
            read.update(names)
            known, part = self.part(self.facts.operation(s.value), parts, target.id)
            if not known:
                return False
            if part is not None and part.weight:
                parts[target.id] = part
        return all(read[n] == self.reads[n] for n in parts)

    def is_steady(self, name: str) -> bool:
        return self.bound[name] == 1 and not self.facts.of(find_changes).is_changed(name)

    def axes_of(self, name: str) -> tuple[bool, ...] | None:
        """For each axis of a number or array whether its length may differ from one; None where the rank is
        not known.
        """
        return self.facts.domain.axes_of(self.facts.kind(load(name)))

    def part(self, operation: Operation, parts: dict[str, _Part], target: str) -> tuple[bool, _Part | None]:
        """Whether the dependence of an operation's result on the name is known, and the part, if it depends
        on it.
        """

        def part_of(atom: Any) -> _Part | None:
            return parts.get(atom.id) if isinstance(atom, gast.Name) else None

        match operation:
            case Inert():
                return True, None
            case Alias(source=source):
                found = part_of(source)
            case Item(base=base, index=index):
                found = self.item(part_of(base), index, parts)
            case Apply():
                carrying = [o for o in self.facts.carrying(operation) if part_of(o) is not None]
                if not carrying:
                    return True, None
                found = self.applied(operation, part_of)
            case _:
                return False, None
        if found is None:
            return False, None
        axes = self.axes_of(target)
        if axes is None or len(axes) < len(found.axes):
            return False, None
        return True, replace(found, axes=_padded(found.axes, len(axes)))

    def applied(self, operation: Apply, part_of: Callable[[Any], _Part | None]) -> _Part | None:
        """The part of a function's result from those of its arguments; None if it is not known."""
        args = operation.args
        match operation.node:
            case gast.UnaryOp(op=gast.USub()):
                part = part_of(args[0])
                return part if part is None or part.scales else part.times(Fraction(-1))
            case gast.BinOp(op=gast.Add() | gast.Sub() as op):
                return self.sum(part_of(args[0]), part_of(args[1]), -1 if isinstance(op, gast.Sub) else 1)
            case gast.BinOp(op=gast.Mult()):
                return self.product(args, *map(part_of, args))
            case gast.BinOp(op=gast.Div()):
                return self.quotient(args, *map(part_of, args))
        role, first = self.role(operation), part_of(args[0]) if args else None
        if role == "where" and len(args) == 3 and not operation.keywords:
            return self.choice(args, *map(part_of, args))
        if first is None or any(part_of(o) is not None for o in list(operation.operands())[1:]):
            return None
        if role in ("exp", "log") and len(args) == 1 and not operation.keywords:
            return replace(first, scales=role == "exp") if first.scales == (role == "log") else None
        if role == "mean" or (role in ("sum", "cumsum") and first.scales):
            return self.reduced(operation, first, keeps=role == "cumsum")
        return None

    def sum(self, left: _Part | None, right: _Part | None, sign: int) -> _Part | None:
        if left is not None and right is not None:
            if not left.scales:
                return left.joined(right, sign)
            same = left.joined(right, -1)
            return left if same is not None and not same.weight else None
        part = left or right
        if part is None or part.scales:
            return None
        return part if right is None else part.times(Fraction(sign))

    def product(self, args: tuple[Any, ...], left: _Part | None, right: _Part | None) -> _Part | None:
        if left is not None and right is not None:
            return left.joined(right, 1) if left.scales else None
        part, other = (left, args[1]) if right is None else (right, args[0])
        return part if part is None or part.scales else self.multiplied(part, other, 1)

    def quotient(self, args: tuple[Any, ...], left: _Part | None, right: _Part | None) -> _Part | None:
        if left is None:
            return right.times(Fraction(-1)) if right is not None and right.scales else None
        if right is not None:
            return left.joined(right, -1) if left.scales else None
        return left if left.scales else self.multiplied(left, args[1], -1)

    def multiplied(self, part: _Part, factor: Any, power: int) -> _Part | None:
        """The part of a shifted value multiplied or divided by a number."""
        known = self.literal(factor)
        if known is not None:
            (number,) = known
            if type(number) not in (int, float) or not isfinite(number) or (not number and power < 0):
                return None
            return part.times(Fraction(number) ** power)
        if isinstance(factor, gast.Name) and self.axes_of(factor.id) == () and self.is_steady(factor.id):
            return part.times(Fraction(1), factor.id, power)
        return None

    def choice(
        self, args: tuple[Any, ...], test: _Part | None, left: _Part | None, right: _Part | None
    ) -> _Part | None:
        """The part of a choice between the elements of two values; a zero scales like any value."""
        if left is not None and right is not None:
            same = left.joined(right, -1)
            return left if same is not None and not same.weight else None
        part, other = (left, args[2]) if right is None else (right, args[1])
        known = self.literal(other)
        is_zero = known is not None and type(known[0]) in (int, float) and known[0] == 0
        return part if part is not None and part.scales and is_zero else None

    def reduced(self, operation: Apply, part: _Part, keeps: bool) -> _Part | None:
        """The part of a sum or mean over axes along which s is constant; of a cumulative sum, if it `keeps`
        the axes.
        """
        given = dict(zip(("axis",), map(self.literal, operation.args[1:2]), strict=False))
        given |= {k: self.literal(v) for k, v in operation.keywords if k != "where"}
        if len(operation.args) > 2 or not given.keys() <= {"axis", "keepdims"} or None in given.values():
            return None
        (axis,), (keepdims,) = given.get("axis") or (None,), given.get("keepdims") or (False,)
        rank = len(part.axes)
        if keeps and axis is None and rank != 1:
            return None
        chosen = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if not all(type(k) is int and -rank <= k < rank for k in chosen) or type(keepdims) is not bool:
            return None
        summed = {k % rank for k in chosen}
        if any(part.axes[k] is not None for k in summed):
            return None
        left = tuple(a for k, a in enumerate(part.axes) if keeps or keepdims or k not in summed)
        return replace(part, axes=left)

    def item(self, part: _Part | None, index: Any, parts: dict[str, _Part]) -> _Part | None:
        """The part of an item, if the index is `:` along the axes along which s varies."""
        if part is None or any(n in parts for n in loads(index)):
            return None
        items = index_items(index)
        known = [None if isinstance(i, gast.Slice) else self.literal(i) for i in items]
        left = list(part.axes)
        found: list[int | None] = []
        spare = len(left) - sum(k not in ((None,), (...,)) for k in known)
        for item, value in zip(items, known, strict=True):
            if value == (None,):
                found.append(None)
            elif value == (...,):
                found += left[:spare]
                left = left[spare:]
            elif not left:
                return None
            elif isinstance(item, gast.Slice):
                if left[0] is not None and not (item.lower is item.upper is item.step is None):
                    return None
                found.append(left.pop(0))
            elif left.pop(0) is not None or value is None or type(value[0]) is not int:
                return None
        return replace(part, axes=(*found, *left))


def _subtracted(atom: Any, made: dict[str, tuple[int, Operation]], seen: set[str]) -> Iterator[str]:
    """The names that are subtracted in a multiple of a difference, and their bases, without terms `seen`
    before.
    """
    todo = [atom]
    while todo:
        atom = todo.pop()
        if not isinstance(atom, gast.Name) or atom.id not in made or atom.id in seen:
            continue
        seen.add(atom.id)
        match made[atom.id][1]:
            case Apply(node=gast.BinOp(left=left, op=gast.Sub(), right=right)):
                todo += [left]
                yield from _bases(right, made)
            case Apply(node=gast.BinOp(left=left, op=gast.Add() | gast.Mult() | gast.Div(), right=right)):
                todo += [left, right]
            case Apply(node=gast.UnaryOp(op=gast.USub(), operand=operand)):
                todo += [operand]


def _bases(atom: Any, made: dict[str, tuple[int, Operation]]) -> Iterator[str]:
    """The names that a name is an item of, then the name itself."""
    if isinstance(atom, gast.Name) and atom.id in made:
        operation = made[atom.id][1]
        if isinstance(operation, Item):
            yield from _bases(operation.base, made)
        yield atom.id


def _padded(axes: Axes, rank: int) -> Axes:
    return (None,) * (rank - len(axes)) + axes
