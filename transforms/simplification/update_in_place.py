"""Updates an adjoint in place that is needed for nothing but the next one.

Contract: a function definition in, one that does the same out, to the last bit. An array that the function
has just computed, that nobody else can hold and that is not read again, takes what is computed of it, if that
is an array of its kind and shape.

    dy = dout / total + dtotal          dy = dout / total + dtotal
    dy_1 = dy * y                 ->    dy *= y
    dx = np.sum(dy_1, axis=0)           dx = np.sum(dy, axis=0)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import blocks_of, load, loads, located, own_statements, store
from ..trees.rebuild import map_blocks, rebuilt
from .merge_copies import renamed

__all__ = ["update_in_place"]

Node = Any  # gast publishes no types

_UPDATING = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_COMMUTING = (gast.Add, gast.Mult)


def update_in_place(
    tree: Node,
    is_of_form: Callable[[Node, str], bool],
    are_alike: Callable[[str, str], bool],
    is_fresh: Callable[[Node], bool],
) -> Node:
    """The function with updates in place.

    `is_of_form(value, name)` says that the arithmetic that a name is assigned surely makes an array of the
    dtype that the name's variable has, `are_alike(a, b)` that a name may be updated to become another, an
    array of the same dtype and shape, and `is_fresh` that a call makes a new object.
    """
    tree = map_nested(tree, lambda nested: update_in_place(nested, is_of_form, are_alike, is_fresh))
    uses = find_uses(tree)
    if uses is None:
        return tree
    counts = Counter(name for s in own_statements(tree.body) for name in _updated(s))
    updates = _Updates(tree, uses, counts, is_of_form, are_alike, is_fresh)
    body = updates.block(tree.body)
    mapping = {name: load(_best(group)) for group in updates.groups.values() for name in group}
    return rebuilt(tree, body=renamed(body, mapping, tree)) if mapping else tree


class _Updates:
    """The updates of one function; `groups` has, for each array that is updated, its names."""

    def __init__(
        self,
        tree: Node,
        uses: Uses,
        updates: Counter[str],
        is_of_form: Callable[[Node, str], bool],
        are_alike: Callable[[str, str], bool],
        is_fresh: Callable[[Node], bool],
    ) -> None:
        self.uses, self.updates = uses, updates
        self.is_of_form, self.are_alike, self.is_fresh = is_of_form, are_alike, is_fresh
        self.groups: dict[str, list[str]] = {}
        self.first: dict[str, str] = {}  # for each name of an array that is updated the first one
        # what may get hold of an array at all would see, to who differentiates this again, its updates
        self.passed = {
            name
            for s in own_statements(tree.body)
            if isinstance(s, (gast.Assign, gast.AugAssign))
            if self.keeps(s)
            for name in loads(s)
        }

    def block(self, statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        unread: dict[str, int] = {}  # for the arrays that may be updated how often they are read from here on
        for s in statements:
            if blocks_of(s):
                for name in loads(s):
                    unread.pop(name, None)
                result.append(map_blocks(s, self.block))
                continue
            for name in [*loads(s), *_updated(s)]:
                if name in unread:
                    unread[name] -= 1
            update = self.update(s, unread)
            if unread and self.keeps(s):
                for name in loads(s):
                    unread.pop(name, None)
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.BinOp() | gast.UnaryOp() as value):
                    if self.is_own(name) and (update is not s or self.is_of_form(value, name)):
                        unread[name] = self.uses.read[name]
            result.append(update)
        return result

    def is_own(self, name: str) -> bool:
        uses = self.uses
        elsewhere = uses.captured, uses.fixed, uses.parameters
        is_one = uses.bound[name] - self.updates[name] == 1
        return is_one and not any(name in names for names in elsewhere)

    def update(self, s: Node, unread: dict[str, int]) -> Node:
        """An assignment as an update of an array that it is the last to read, if it is one."""
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(left=left, op=op, right=right),
            ) if self.is_own(name) and isinstance(op, _UPDATING):
                sides = [(left, right), (right, left)] if isinstance(op, _COMMUTING) else [(left, right)]
                for old, value in sides:
                    if not isinstance(old, gast.Name) or unread.get(old.id) != 0 or old.id in loads(value):
                        continue
                    if {old.id, name} & self.passed:
                        continue
                    if _stem(old.id) == _stem(name) and self.are_alike(old.id, name):
                        first = self.first[name] = self.first.get(old.id, old.id)
                        self.groups.setdefault(first, [first]).append(name)
                        return located(gast.AugAssign(target=store(first), op=op, value=value), s)
        return s

    def keeps(self, s: Node) -> bool:
        """Whether what a statement reads may have another name, or be part of something, after it."""
        match s:
            case gast.Assign() | gast.AugAssign():
                is_new = isinstance(s.value, (gast.BinOp, gast.UnaryOp, gast.Compare))
                return not (is_new or (isinstance(s.value, gast.Call) and self.is_fresh(s.value)))
        return True


def _updated(s: Node) -> list[str]:
    """The name that a statement updates in place, if it does."""
    return [s.target.id] if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) else []


def _best(names: list[str]) -> str:
    """The name without a number, or the first."""
    return next((n for n in names if _stem(n) == n), names[0])


def _stem(name: str) -> str:
    return re.sub(r"_\d+$", "", name)
