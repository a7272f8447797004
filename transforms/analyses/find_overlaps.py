"""Whether a store may hit elements that were read before it, by their indices and the loops around both.

Form: the single-assignment form. The elements of `A[i, :j]` lie between bounds that are linear in loop
variables, and `for j in range(i)` bounds these: a later store hits one of them only if a system of integer
inequalities has a solution. Fourier-Motzkin elimination shows that it has none, even among fractions. Indices
of any other form may hit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import count
from math import gcd
from typing import Any

import gast

from ..trees.nodes import bound_here, places_of, walk
from ..trees.statements import Place
from .facts import Facts

__all__ = ["Overlaps", "has_solution"]

Node = Any  # gast publishes no types
Linear = dict[str, int]  # coefficients by symbol; that of "" is the constant
Bounds = tuple[Linear | None, Linear | None]  # the first element and the one after the last; None: unknown

ONE: Linear = {"": 1}
MOST = 400  # inequalities at most in an elimination


def plus(a: Linear, b: Linear, factor: int = 1) -> Linear:
    found = Counter(a)
    for symbol, c in b.items():
        found[symbol] += factor * c
    return {s: c for s, c in found.items() if c or not s}


def has_solution(inequalities: list[Linear]) -> bool:
    """Whether all the linear expressions may be at least zero, with fractions for symbols; True when
    elimination takes too many steps.

        >>> has_solution([{"i": 1}, {"i": -1, "": 3}]), has_solution([{"i": 1}, {"i": -1, "": -1}])
        (True, False)
    """
    left = {_key(e) for e in inequalities}
    while True:
        symbols = Counter(s for e in left for s, _ in e if s)
        if any(not [s for s, _ in e if s] and dict(e).get("", 0) < 0 for e in left):
            return False
        if not symbols:
            return True
        symbol = min(symbols, key=lambda s: (symbols[s], s))
        low = [dict(e) for e in left if dict(e).get(symbol, 0) > 0]
        high = [dict(e) for e in left if dict(e).get(symbol, 0) < 0]
        left = {e for e in left if symbol not in dict(e)}
        left |= {
            _key(plus({s: c * -b[symbol] for s, c in a.items()}, b, a[symbol])) for a in low for b in high
        }
        if len(left) > MOST:
            return True


def _key(e: Linear) -> tuple[tuple[str, int], ...]:
    """The normal form of an inequality."""
    divisor = gcd(*e.values()) or 1
    return tuple(sorted((s, c // divisor) for s, c in e.items() if c))


class Overlaps:
    """The elements that the statements of a program touch."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.program = facts, facts.program
        self.fresh = count()

    def _is_integer(self, name: str) -> bool:
        return self.facts.domain.is_integer(self.facts.kind_of_name(name))

    @property
    def _around(self) -> dict[int, Place]:
        return places_of(self.program.tree)

    @cached_property
    def _assigned(self) -> dict[str, tuple[Node, bool]]:
        """The definition of each name that is assigned once, and whether it stands in a loop."""
        times: Counter[str] = Counter(n.id for n in self.program.tree.args.args)
        found: dict[str, tuple[Node, bool]] = dict.fromkeys(times, (None, False))
        for s in walk(self.program.tree):
            if id(s) not in self._around:
                continue
            for name in bound_here(s):
                times[name] += 1
                found[name] = s, bool(self._around[id(s)].loops) or isinstance(s, gast.For)
        return {name: where for name, where in found.items() if times[name] == 1}

    def may_hit(self, place: Node, statement: Node, store: Node) -> bool:
        """Whether a store, after a statement, may change an element that the subscript `place` selects
        there.
        """
        target = store.target if isinstance(store, gast.AugAssign) else getattr(store, "targets", [None])[0]
        match place, target:
            case gast.Subscript(value=gast.Name(id=a)), gast.Subscript(value=gast.Name(id=b)):
                if a != b or self._assigned.get(a, (None, True))[1]:
                    return True  # other names, or a name of several arrays
            case _:
                return True
        before, after = self.context(statement, "r"), self.context(store, "s")
        meeting = self.meeting(place.slice, before, "r", target.slice, after, "s")
        return any(
            has_solution([*before, *after, *meeting, *order]) for order in self.orders(statement, store)
        )

    def orders(self, statement: Node, store: Node) -> Iterator[list[Linear]]:
        """The orders in which a store may come after a statement, as inequalities between their loop
        variables.
        """
        place, loops, _ = self._around[id(statement)]
        where, around, _ = self._around[id(store)]
        same: list[Linear] = []
        for a, b in zip(loops, around, strict=False):
            if a is not b:
                break
            step = self.range_of(a)
            if step is None:
                yield list(same)
                continue
            difference = plus({f"{a.target.id}@s": 1}, {f"{a.target.id}@r": 1}, -1)
            yield [*same, plus({s: c * step[2] for s, c in difference.items()}, ONE, -1)]
            same += [difference, {s: -c for s, c in difference.items()}]
        if where > place:
            yield same

    def range_of(self, loop: Node) -> tuple[Node, Node, int] | None:
        """The bounds of a loop over a range, and its direction, 1 or -1."""
        match loop:
            case gast.For(target=gast.Name(id=name), iter=gast.Call(func=func, args=args, keywords=[])) if (
                name in self._assigned and self.program.resolve(func) is range and 1 <= len(args) <= 3
            ):
                low, high = (gast.Constant(value=0, kind=None), args[0]) if len(args) == 1 else args[:2]
                step = self.linear(args[2], "") if len(args) == 3 else ONE
                size = step.get("", 0) if step is not None and set(step) <= {""} else 0
                return (low, high, 1 if size > 0 else -1) if size else None
        return None

    def context(self, statement: Node, tag: str) -> list[Linear]:
        """The inequalities between the variables of the loops around a statement."""
        found = []
        for loop in self._around[id(statement)].loops:
            bounds = self.range_of(loop)
            if bounds is None:
                continue
            variable = {f"{loop.target.id}@{tag}": 1}
            first, last, step = bounds
            ends = [(self.linear(first, tag), 0), (self.linear(last, tag), 1)]
            for (end, inside), sign in zip(ends, (step, -step), strict=True):
                if end is not None:
                    difference = plus(variable, end, -1)
                    found.append(plus({s: c * sign for s, c in difference.items()}, ONE, -inside))
        return found

    def meeting(
        self, a: Node, of_a: list[Linear], tag_a: str, b: Node, of_b: list[Linear], tag_b: str
    ) -> list[Linear]:
        """The inequalities that hold when two indices select a common element."""
        found = []
        parts = [self.parts(a, of_a, tag_a), self.parts(b, of_b, tag_b)]
        for (low_a, high_a), (low_b, high_b) in zip(*parts, strict=False):
            for low, high in ((low_a, high_b), (low_b, high_a)):
                if low is not None and high is not None:
                    found.append(plus(plus(high, low, -1), ONE, -1))
        return found

    def parts(self, index: Node, context: list[Linear], tag: str) -> list[Bounds]:
        """The bounds of an index along each axis; empty where the axes are not known."""
        found = []
        for item in index.elts if isinstance(index, gast.Tuple) else [index]:
            if isinstance(item, gast.Slice):
                step = self.linear(item.step, tag) if item.step is not None else ONE
                low = {} if item.lower is None else self.linear(item.lower, tag)
                high = None if item.upper is None else self.linear(item.upper, tag)
                forward = step is not None and set(step) <= {""} and step.get("", 0) > 0
                if not forward or not self.counts_from_start(low, context):
                    low = None
                if not forward or not self.counts_from_start(high, context):
                    high = None
            elif self.is_index(item):
                low = self.linear(item, tag)
                low = low if self.counts_from_start(low, context) else None
                high = None if low is None else plus(low, ONE)
            else:
                return []
            found.append((low, high))
        return found

    def is_index(self, item: Node) -> bool:
        """Whether a part of an index is an integer."""
        if isinstance(item, gast.Constant):
            return type(item.value) is int
        return isinstance(item, gast.Name) and self._is_integer(item.id)

    def counts_from_start(self, bound: Linear | None, context: list[Linear]) -> bool:
        """Whether a bound surely is not negative; negative ones count from the end."""
        if bound is None:
            return False
        return not has_solution([*context, plus({s: -c for s, c in bound.items()}, ONE, -1)])

    def linear(self, node: Node, tag: str) -> Linear | None:
        """An integer expression as a linear one of symbols, None where it is not linear. Symbols that vary in
        the loop have the tag.
        """
        match node:
            case gast.Constant(value=value) if type(value) is int:
                return {"": value}
            case gast.Name(id=name) if self._is_integer(name):
                return self.symbol(name, tag)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                inner = self.linear(operand, tag)
                return None if inner is None else {s: -c for s, c in inner.items()}
            case gast.BinOp(left=left, op=gast.Add() | gast.Sub() as op, right=right):
                a, b = self.linear(left, tag), self.linear(right, tag)
                if a is not None and b is not None:
                    return plus(a, b, 1 if isinstance(op, gast.Add) else -1)
        return None

    def symbol(self, name: str, tag: str) -> Linear:
        if name not in self._assigned:
            return {f"{name}@{next(self.fresh)}": 1}  # a new symbol, as each read may differ
        s, varies = self._assigned[name]
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            found = self.linear(s.value, tag)
            if found is not None:
                return found
        return {f"{name}@{tag}" if varies else name: 1}
