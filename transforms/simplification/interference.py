"""Names that may be coalesced as they do not interfere (Chaitin).

Contract: two names interfere where one is bound while the other is live, unless it is bound to that very
name. `Classes` merges names that do not interfere; `renamed` gives the names of a class one name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gast

from ..analyses.find_live import Live, find_live
from ..analyses.find_uses import Uses
from ..trees.nodes import blocks_of, load, located, own_statements
from ..trees.rebuild import map_blocks, with_names
from .facts import GeneratedFacts

__all__ = ["Classes", "is_literal", "kept_names", "renamed"]

Node = Any  # gast publishes no types
Alike = Callable[[str, str], bool]


def kept_names(tree: Node, uses: Uses, facts: GeneratedFacts) -> frozenset[str]:
    """The names that must stay: of functions, parameters, captures, and names that nested scopes bind,
    too.
    """
    functions = {s.name for s in own_statements(tree.body) if isinstance(s, gast.FunctionDef)}
    return frozenset(facts.captured | uses.fixed | functions | set(uses.parameters))


class Classes:
    """Classes of coalesced names, with the names that interfere with each; sets are bits, as in `Live`."""

    def __init__(self, tree: Node, uses: Uses, facts: GeneratedFacts) -> None:
        self.parameters, self.nature = uses.parameters, facts.nature
        self.keep = keep = kept_names(tree, uses, facts)
        self.live: Live = find_live(tree, uses)
        self.members = dict(self.live.bits)
        self.conflicts = dict.fromkeys(self.live.bits, 0)
        self.root = {name: name for name in self.live.bits}
        self.examples: dict[str, dict[Any, str]] = {}  # of a class of several names, by nature
        self.kept = self.live.of(keep)
        self.bind(uses.parameters, self.live.entry)
        for s in own_statements(tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=a)], value=gast.Name(id=b)):
                    self.bind((a,), self.live.after[id(s)] & ~self.live.of([b]))
                case gast.For():
                    self.bind(uses.headers[id(s)].binds, self.live.inside[id(s)])
                case _:
                    self.bind(uses.headers[id(s)].binds, self.live.after[id(s)])

    def bind(self, names: tuple[str, ...], live: int) -> None:
        """Notes that names are bound together while those in `live` are live."""
        together = live | self.live.of(names)
        for name in names:
            self.conflicts[name] |= together & ~self.live.bits[name]

    def find(self, name: str) -> str:
        while (root := self.root[name]) != name:
            self.root[name] = name = self.root[root]
        return name

    def merge(self, a: str, b: str, may_join: Alike) -> bool:
        """Merges two names, if they do not interfere; whether they are one now. `may_join` gives the same
        answer for all names of one nature.
        """
        a, b = self.find(a), self.find(b)
        members, conflicts = self.members, self.conflicts
        if a == b:
            return True
        if (conflicts[a] & members[b] or conflicts[b] & members[a]
                or (members[a] & self.kept and members[b] & self.kept)):
            return False
        mine, others = self.examples_of(a), self.examples_of(b)
        if not all(may_join(x, y) for x in mine.values() for y in others.values()):
            return False
        self.root[b] = a
        self.examples[a] = others | mine
        members[a] |= members[b]
        conflicts[a] |= conflicts[b]
        return True

    def take(self, name: str, others: list[str], may_join: Alike) -> list[str]:
        """Merges a name with all other names that it can be merged with, each a class of its own; returns the
        rest.
        """
        members, conflicts = self.members, self.conflicts
        rest = []
        for other in others:  # most of many versions interfere
            if conflicts[other] & members[name] or not self.merge(name, other, may_join):
                rest.append(other)
        return rest

    def examples_of(self, root: str) -> dict[Any, str]:
        """One name of each nature of a class."""
        return self.examples.get(root) or {self.nature(root): root}

    def representatives(self) -> dict[str, Node]:
        """Maps each coalesced name to the one that stays: a parameter, a name without number, or the
        shortest.
        """
        groups: dict[str, list[str]] = {}
        for name in self.live.bits:
            groups.setdefault(self.find(name), []).append(name)
        found = {}
        for names in groups.values():
            if len(names) > 1:
                best = min(names, key=lambda n: (n not in self.parameters, n not in self.keep,
                                                 re.search(r"_\d+$", n) is not None, len(n)))
                found.update({n: load(best) for n in names if n != best})
        return found


def is_literal(value: Node | None) -> bool:
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        value = value.operand
    return isinstance(value, gast.Constant)


def _assigned(s: Node) -> str:
    """The name that a statement assigns, if that is its only target; else ""."""
    is_one = s.__class__ is gast.Assign and s.targets[0].__class__ is gast.Name
    return s.targets[0].id if is_one else ""


def renamed(statements: list[Node], mapping: Mapping[str, Node], owner: Node) -> list[Node]:
    """The statements with names replaced, without those that become `x = x`."""
    result = []
    for s in statements:
        if is_literal(mapping.get(_assigned(s))):
            continue
        new = with_names(s, mapping)
        if blocks_of(s) or s.__class__ is gast.FunctionDef:
            new = map_blocks(new, partial(_renamed_block, mapping=mapping, owner=s))
        if new.__class__ is not gast.Assign or not _are_same(new.targets[0], new.value):
            result.append(new)
    return result or [located(gast.Pass(), owner)]


def _renamed_block(block: list[Node], mapping: Mapping[str, Node], owner: Node) -> list[Node]:
    return renamed(block, mapping, owner) if block else block


def _are_same(target: Node, value: Node) -> bool:
    """Whether names are assigned to themselves."""
    if target.__class__ is gast.Name:
        return value.__class__ is gast.Name and value.id == target.id
    if not target.__class__ is value.__class__ is gast.Tuple or len(target.elts) != len(value.elts):
        return False
    return all(map(_are_same, target.elts, value.elts))
