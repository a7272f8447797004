"""Gives a variable and its copy one name where their lives allow it, and puts constants where they are used.

Contract: a function definition in, one that returns the same out. Two names become one when neither is
assigned while the other may still be read (Chaitin's coalescing); parameters and captured names keep
theirs. A constant with one assignment replaces its name.

    x_2 = f(x)          x = f(x)
    x = x_2       ->
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from typing import Any

import gast

from ..analyses.find_live import Live, find_live
from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import fields_of, load, located, names_in, own_statements
from ..trees.rebuild import alike, rebuilt
from .facts import GeneratedFacts
from .hoist_traces import hoist_traces

__all__ = ["Classes", "merge_copies", "put_constants", "renamed", "share_names"]

Node = Any  # gast publishes no types
Nature = Callable[[str], Any]


def merge_copies(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with copies merged; traces may be filled earlier for that."""
    return _Merger(facts).function(tree, frozenset())


def put_constants(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with its own names that have one value, a literal, replaced by it."""
    uses = find_uses(tree)
    if uses is None:
        return tree
    mapping = _constants(tree, uses, facts.captured)
    return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree


def share_names(tree: Node, facts: GeneratedFacts) -> Node:
    """The function in which versions of a variable of which never two are needed at once are one name.

        x_2 = f(x)          x = f(x)
        return g(x_2)  ->   return g(x)
    """
    if find_uses(tree) is None:
        return tree
    tree = map_nested(tree, lambda nested: share_names(nested, facts))
    uses = find_uses(tree)
    assert uses is not None
    versions: dict[str, list[str]] = {}
    for name in dict.fromkeys([*uses.parameters, *uses.bound]):
        variable = None if name in uses.fixed else facts.origin(name)
        if variable is not None:
            versions.setdefault(variable, []).append(name)
    if all(len(names) == 1 for names in versions.values()):
        return tree
    classes = Classes(tree, uses, _kept(tree, uses, facts.captured), facts.alike, facts.nature)
    for names in versions.values():
        while names:  # what one class does not take it would not take when it is larger
            first, *others = names
            names = classes.take(first, others)
    mapping = {name: load(one) for name, one in classes.representatives(set(uses.parameters)).items()}
    return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree


def _kept(tree: Node, uses: Uses, protected: frozenset[str]) -> frozenset[str]:
    """The names that stay as they are: of functions, parameters, and what nested scopes bind too."""
    functions = {s.name for s in own_statements(tree.body) if isinstance(s, gast.FunctionDef)}
    return frozenset(protected | uses.fixed | functions | set(uses.parameters))


def _constants(tree: Node, uses: Uses, protected: frozenset[str]) -> dict[str, Node]:
    """The names to be replaced by their values."""
    found: dict[str, Node] = {}
    for s in own_statements(tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                    uses.bound[name] == 1 and _is_literal(value) and name not in uses.fixed
                    and name not in protected):
                found[name] = value
    return found


class _Merger:
    """Merges the copies of a function and of those nested in it, innermost first."""

    def __init__(self, facts: GeneratedFacts) -> None:
        self.facts = facts

    def function(self, tree: Node, enclosing: frozenset[str]) -> Node:
        """The function, `enclosing` being the names of the functions around it that only those assign."""
        uses = find_uses(tree)
        if uses is None:
            return tree
        inner = enclosing - set(uses.bound) | (set(uses.bound) - uses.fixed)
        new = map_nested(tree, lambda nested: self.function(nested, frozenset(inner)))
        new = hoist_traces(new, self.facts)
        while True:
            if new is not tree:
                tree, uses = new, find_uses(new)
            assert uses is not None
            mapping = _constants(tree, uses, self.facts.captured)
            mapping |= self.copies(tree, uses, enclosing, mapping.keys())
            if not mapping:
                return tree
            new = rebuilt(tree, body=renamed(tree.body, mapping, tree))

    def copies(self, tree: Node, uses: Uses, enclosing: frozenset[str],
               constants: Set[str]) -> dict[str, Node]:
        """The names to be replaced by other names; those in `constants` are no names any more."""
        keep = _kept(tree, uses, self.facts.captured)
        pairs = []
        found: dict[str, Node] = {}
        for s in own_statements(tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=a)], value=gast.Name(id=b)):
                    if b in constants or not self.facts.alike(a, b):
                        continue
                    if a == b or ({a, b} <= uses.bound.keys() and not {a, b} & uses.fixed):
                        pairs.append((a, b))
                    elif (b in enclosing and b not in uses.bound and uses.bound[a] == 1 and a not in keep
                          and a not in uses.captured):
                        found[a] = load(b)
        if found or not pairs:
            return found
        classes = Classes(tree, uses, keep, self.facts.alike, self.facts.nature)
        for a, b in pairs:
            classes.merge(a, b)
        found = {name: load(one) for name, one in classes.representatives(set(uses.parameters)).items()}
        return found or {a: load(a) for a, b in pairs if a == b}


class Classes:
    """Names that become one, and with which others each class interferes; sets are bits, as in `Live`."""

    def __init__(self, tree: Node, uses: Uses, keep: frozenset[str],
                 alike: Callable[[str, str], bool], nature: Nature) -> None:
        self.keep, self.alike, self.nature = keep, alike, nature
        self.live: Live = find_live(tree, uses)
        self.members = dict(self.live.bits)
        self.conflicts = dict.fromkeys(self.live.bits, 0)
        self.root = {name: name for name in self.live.bits}
        self.examples: dict[str, dict[Any, str]] = {}  # of a class with more than one, by nature
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
        """Notes that names get new values together while those in `live` are needed."""
        together = live | self.live.of(names)
        for name in names:
            self.conflicts[name] |= together & ~self.live.bits[name]

    def find(self, name: str) -> str:
        while (root := self.root[name]) != name:
            self.root[name] = name = self.root[root]
        return name

    def merge(self, a: str, b: str) -> bool:
        """Makes two names one, if they can be; whether they are now."""
        a, b = self.find(a), self.find(b)
        members, conflicts = self.members, self.conflicts
        if a == b:
            return True
        if (conflicts[a] & members[b] or conflicts[b] & members[a]
                or (members[a] & self.kept and members[b] & self.kept)):
            return False
        mine, others = self.examples_of(a), self.examples_of(b)
        if not all(self.alike(x, y) for x in mine.values() for y in others.values()):
            return False
        self.root[b] = a
        self.examples[a] = others | mine
        members[a] |= members[b]
        conflicts[a] |= conflicts[b]
        return True

    def take(self, name: str, others: list[str]) -> list[str]:
        """Makes those of other names that are one each, and can be, one with a name; returns the rest."""
        members, conflicts = self.members, self.conflicts
        rest = []
        for other in others:  # most of many versions are in each other's way
            if conflicts[other] & members[name] or not self.merge(name, other):
                rest.append(other)
        return rest

    def examples_of(self, root: str) -> dict[Any, str]:
        """One name of each nature of a class."""
        return self.examples.get(root) or {self.nature(root): root}

    def representatives(self, parameters: set[str]) -> dict[str, str]:
        """For each name that goes the one that stays: a parameter, one without number, or the shortest."""
        groups: dict[str, list[str]] = {}
        for name in self.live.bits:
            groups.setdefault(self.find(name), []).append(name)
        found = {}
        for names in groups.values():
            if len(names) > 1:
                best = min(names, key=lambda n: (n not in parameters, n not in self.keep,
                                                 re.search(r"_\d+$", n) is not None, len(n)))
                found.update({n: best for n in names if n != best})
        return found


def _is_literal(value: Node | None) -> bool:
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        value = value.operand
    return isinstance(value, gast.Constant)


def _assigned(s: Node) -> str:
    """The name that a statement assigns, if it is nothing but that."""
    is_one = s.__class__ is gast.Assign and s.targets[0].__class__ is gast.Name
    return s.targets[0].id if is_one else ""


def renamed(statements: list[Node], mapping: Mapping[str, Node], owner: Node) -> list[Node]:
    """The statements with names replaced, less those that say no more."""
    result = []
    for s in statements:
        if _is_literal(mapping.get(_assigned(s))):
            continue
        new = _replaced(s, mapping)
        if new.__class__ is not gast.Assign or not _are_same(new.targets[0], new.value):
            result.append(new)
    return result or [located(gast.Pass(), owner)]


def _are_same(target: Node, value: Node) -> bool:
    """Whether names are assigned to themselves."""
    if target.__class__ is gast.Name:
        return value.__class__ is gast.Name and value.id == target.id
    if not target.__class__ is value.__class__ is gast.Tuple or len(target.elts) != len(value.elts):
        return False
    return all(map(_are_same, target.elts, value.elts))


def _replaced(node: Node, mapping: Mapping[str, Node]) -> Node:
    """The tree with names replaced, sharing with the original what stays as it is."""
    if isinstance(node, gast.Name):
        new = mapping.get(node.id)
        if new is None or (new.__class__ is gast.Name and new.id == node.id):
            return node
        return new if isinstance(node.ctx, gast.Load) else rebuilt(node, id=new.id)
    if isinstance(node, (gast.expr, gast.Assign)) and mapping.keys().isdisjoint(names_in(node)):
        return node
    changes: dict[str, Any] = {}
    held = node.__dict__
    for name in fields_of(node.__class__):
        old = held.get(name)
        if isinstance(old, list):
            if name == "body" or (name in ("orelse", "finalbody") and old):
                items = renamed(old, mapping, node)
            else:
                items = [_replaced(v, mapping) if isinstance(v, gast.AST) else v for v in old]
            if not alike(items, old):
                changes[name] = items
        elif isinstance(old, gast.AST) and old._fields:
            new = _replaced(old, mapping)
            if new is not old:
                changes[name] = new
    if isinstance(node, gast.FunctionDef) and isinstance(mapping.get(node.name), gast.Name):
        changes["name"] = mapping[node.name].id  # that of a variable which holds something else, too
    return rebuilt(node, **changes) if changes else node
