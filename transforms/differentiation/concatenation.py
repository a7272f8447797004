"""Functions that join the arrays of a list along an axis, in both modes, where the list has no other reader:
each array gets its slice of the cotangent, and tangents are joined as the arrays are.

    z = np.concatenate([x, w * x])    ->    dx = dz[:len(x)] + dz[len(x):] * w
                                            dz = np.concatenate([dx, dw * x + dx * w])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from ..analyses.operations import Apply, Item
from ..analyses.primitive_table import Rule
from ..trees.nodes import attribute, call, constant, load, subscript, tuple_of
from ..trees.program import MISSING
from .inline_template import literal_of
from .rule_application import Emitter

__all__ = ["item", "joined"]


@dataclass(frozen=True)
class Count:
    """A number of elements: a constant and a sum of dynamic lengths."""

    known: int = 0
    lengths: tuple[Any, ...] = ()

    def __add__(self, other: Count) -> Count:
        return Count(self.known + other.known, self.lengths + other.lengths)

    def expression(self) -> Any:
        terms = [*self.lengths, *([constant(self.known)] if self.known or not self.lengths else [])]
        total = terms[0]
        for term in terms[1:]:
            total = gast.BinOp(left=total, op=gast.Add(), right=term)
        return total


@dataclass(frozen=True)
class Place:
    """The position of an operand on an axis, between `before` and `after`; one element unless `sliced`."""

    before: Count
    length: Count
    after: Count
    sliced: bool

    def index(self) -> Any:
        rest = self.length + self.after
        if not self.sliced:
            return _position(self.before, rest)
        start = None if self.before == Count() else _position(self.before, rest)
        stop = None if self.after == Count() else _position(self.before + self.length, self.after)
        return gast.Slice(lower=start, upper=stop, step=None)


def _position(before: Count, after: Count) -> Any:
    """A position on an axis, counted from the end where only the rest has a constant length."""
    if before.lengths and not after.lengths and after.known:
        return gast.UnaryOp(op=gast.USub(), operand=constant(after.known))
    return before.expression()

Index = list[Place | None]  # an entry for each axis; None: all of it


def joined(emitter: Emitter, operation: Apply, rule: Rule, out: str) -> Join | None:
    """The join that a rule with `joins` makes, where its axis and the ranks are known; else None."""
    if rule.joins is None or not operation.args:
        return None
    of_index = isinstance(operation.node, gast.Subscript)  # `np.r_[x, y]`
    join = Join(emitter, tuple_of(operation.args) if of_index else operation.args[0], out)
    ranks = [join.rank(item) for item in join.items(join.joined) or ()]
    if not ranks or None in ranks:
        return None
    bound, _ = emitter.arguments(operation, rule.template, rule)
    options = [literal_of(bound[name]) for name in rule.template.parameters[1:]]
    found = None if MISSING in options else rule.joins(ranks, *options)
    if found is None or found[1] != emitter.domain.rank(emitter.kind(load(out))):
        return None
    join.axis, join.axes = found
    return join if all(join.is_simple(leaf) for leaf, _ in join.shares()) else None


class Join:
    """One joined result: arrays and numbers in nested lists without other readers."""

    axis: int  # the axis of the result along which the items stand
    axes: int  # the rank of the result

    def __init__(self, emitter: Emitter, joined: Any, out: str) -> None:
        self.emitter, self.joined, self.out = emitter, joined, out

    def items(self, node: Any) -> Sequence[Any] | None:
        if isinstance(node, gast.Tuple):
            return node.elts  # type: ignore[no-any-return]
        if isinstance(node, gast.Name) and self.emitter.is_shadowed(node.id):
            return None
        return self.emitter.definitions.display(node, self.out)

    def rank(self, node: Any) -> int | None:
        """The rank of an array, a number or a list."""
        items = self.items(node)
        if items is None:
            return self.emitter.domain.rank(self.emitter.kind(node))
        ranks = set(map(self.rank, items))
        rank = ranks.pop() if len(ranks) == 1 else None
        return None if rank is None else rank + 1

    def is_simple(self, leaf: Any) -> bool:
        """Whether a slice of the cotangent is the operand's adjoint without a conversion."""
        emitter = self.emitter
        if not emitter.is_active(leaf):
            return True
        kinds = [emitter.kind(node) for node in (leaf, load(self.out))]
        if self.emitter.is_shadowed(leaf.id) or emitter.domain.may_have_no_axes(kinds[0]):
            return False
        return emitter.domain.share_real_dtype(kinds)

    def shares(self) -> Iterator[tuple[Any, Index]]:
        """Each array or number with its index in the result."""
        items = self.items(self.joined)
        assert items is not None
        return self.parts(items, [None] * self.axes, self.axis)

    def length(self, node: Any, axis: int) -> Count:
        """The length of an array or list along one of its axes."""
        items = self.items(node)
        if items is not None:
            return Count(len(items)) if axis == 0 else self.length(items[0], axis - 1)
        known = self.emitter.domain.known_length(self.emitter.kind(node), axis)
        if known is not None:
            return Count(known)
        node, axis = self.whole(node, axis)
        if axis == 0:
            return Count(lengths=(call(load(self.emitter.bind("len", len)), node),))
        shape = attribute(node, "shape")
        return Count(lengths=(subscript(shape, constant(axis)),))

    def whole(self, node: Any, axis: int) -> tuple[Any, int]:
        """The array that `node` is an item of, and the position of the axis in that array."""
        domain, kind = self.emitter.domain, self.emitter.kind
        base = self.emitter.definitions.iterated(node.id)
        match self.emitter.computed_by(node.id):
            case Item(array, index) if domain.is_integer(kind(index)):
                base = array
        if isinstance(base, gast.Name) and domain.is_array(kind(base)):
            return self.whole(base, axis + 1)
        return node, axis

    def parts(self, items: Sequence[Any], index: Index, axis: int) -> Iterator[tuple[Any, Index]]:
        """Each array or number among the items with its index in the result. Items with as many axes as the
        part that `index` selects are slices along `axis`; items with fewer are single elements of it.
        """
        part = index[axis] or Place(Count(), Count(), Count(), sliced=True)
        whole, own = (sum(e is None or e.sliced for e in index[:n]) for n in (None, axis))
        sliced = [self.rank(item) == whole for item in items]
        counts = [self.length(i, own) if along else Count(1) for i, along in zip(items, sliced, strict=True)]
        for k, node in enumerate(items):
            before = sum(counts[:k], part.before)
            place = Place(before, counts[k], sum(counts[k + 1 :], part.after), sliced[k])
            inner, found = self.items(node), [*index[:axis], place, *index[axis + 1 :]]
            if inner is None:
                yield node, found
            else:
                first = next(n for n, e in enumerate(found) if e is None or e.sliced)
                yield from self.parts(inner, found, first)


def item(value: Any, index: Index) -> Any:
    """The part of an array that an index selects."""
    while index and index[-1] is None:
        index = index[:-1]
    entries = [gast.Slice(lower=None, upper=None, step=None) if e is None else e.index() for e in index]
    key = entries[0] if len(entries) == 1 else tuple_of(entries)
    return subscript(value, key) if entries else value
