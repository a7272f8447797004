"""Aliases by name, for code that may not be in single-assignment form: who may hold an object that is
changed.

Contract: a function definition in, with its nested functions (their names count as one scope); the answer
over-approximates, except that arithmetic and the calls in `FRESH` make new objects. Only the object itself is
followed, through element stores (`a[i] = v`), `a += v` and `a.append(v)`.
"""
from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import gast

from ..trees.nodes import has_nested, own_statements, statements_in, target_names
from ..trees.remember import remembered
from .find_uses import Purity, Uses, reads
from .nested_scopes import children

__all__ = ["FRESH", "UPDATES", "base_of", "find_followers", "shared_by"]

Node = Any  # gast publishes no types

# Functions and methods whose results share no memory with their arguments, by name.
FRESH = frozenset({"bool", "copy", "empty_like", "float", "full_like", "int", "len", "ones", "ones_like",
                   "range", "zeros", "zeros_like"})

# Methods that change their object and have no other effect.
UPDATES = frozenset({"add", "append", "clear", "discard", "extend", "fill", "insert", "reverse", "sort",
                     "update"})


def find_followers(
    function: Node, uses: Uses, purity: Purity, owned: frozenset[str]
) -> dict[str, frozenset[str]]:
    """The possible aliases of each owned name that is changed in place, where these are all names of the
    function; an assignment to an owned name makes a new object.
    """
    inside = uses.bound.keys() - set(uses.parameters) - uses.fixed
    if owned.isdisjoint(inside):
        return {}
    walk = _Walk(purity, owned)
    if has_nested(function):
        for s in statements_in(function.body):
            walk.visit(s)
    else:
        _visit_related(walk, own_statements(function.body), uses, owned & inside)
    inside -= walk.escaped
    found = {name: frozenset(walk.followers([name])) for name in owned & inside & walk.changed}
    return {name: names for name, names in found.items() if names <= inside}


def _visit_related(walk: _Walk, statements: list[Node], uses: Uses, names: Set[str]) -> None:
    """Visits the statements that read or bind one of the names, or a possible alias of one."""
    while True:
        rest = []
        for s in statements:
            header = uses.headers[id(s)]
            if header.reads.isdisjoint(names) and names.isdisjoint(header.binds):
                rest.append(s)
            else:
                walk.visit(s)
        related = walk.followers(names)
        if len(related) == len(names):
            return
        statements, names = rest, related


def base_of(node: Node) -> str | None:
    """The name whose object a path of items, slices and attributes starts at, or None."""
    while isinstance(node, (gast.Subscript, gast.Attribute, gast.Starred)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def shared_by(node: Node) -> set[str]:
    """The names whose objects the value of an expression may be, be part of, or contain."""
    match node:
        case gast.Name():
            return {node.id}
        case gast.Constant() | gast.BinOp() | gast.UnaryOp() | gast.Compare() | gast.JoinedStr():
            return set()
        case gast.Subscript() | gast.Attribute() | gast.Starred():
            return shared_by(node.value)
        case gast.Call():
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            if name in FRESH:
                return set()
            found = shared_by(node.func)
            for part in (*node.args, *(k.value for k in node.keywords)):
                found |= shared_by(part)
            return found
        case gast.Tuple() | gast.List() | gast.Set():
            return {name for e in node.elts for name in shared_by(e)}
    return reads(node)


@remembered
def _calls(node: Node) -> tuple[Node, ...]:
    """The calls in an expression, outer ones first."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return ()
    inner = tuple(c for child in children(node) for c in _calls(child))
    return (node, *inner) if isinstance(node, gast.Call) else inner


@remembered
def _shared_by(expression: Node) -> frozenset[str]:
    return frozenset(shared_by(expression))


class _Walk:
    """A walk over statements and the calls in them.

    `holders[a]` are the names that may directly hold the object of `a`, `changed` those changed in place;
    `escaped` are arguments of calls with effects.
    """

    def __init__(self, purity: Purity, owned: frozenset[str]) -> None:
        self.purity, self.owned = purity, owned
        self.holders: dict[str, set[str]] = {}
        self.changed: set[str] = set()
        self.escaped: set[str] = set()

    def followers(self, names: Iterable[str]) -> set[str]:
        """The names and their possible aliases."""
        found = set(names)
        todo = [*found]
        while todo:
            for other in self.holders.get(todo.pop(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def hold(self, holders: Iterable[str], held: Iterable[str]) -> None:
        """Notes that each of `holders` may hold the object of each of `held`."""
        targets = set(holders)
        for name in held:
            self.holders.setdefault(name, set()).update(targets)

    def visit(self, node: Node) -> None:
        """Notes the effects of a statement without those of its blocks."""
        match node:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                self.name(name, value)
            case gast.Assign():
                for target in node.targets:
                    self.bind(target, node.value)
            case gast.AugAssign():
                self.bind(node.target, node.value)
                self.change(base_of(node.target))
            case gast.For():
                self.bind(node.target, node.iter)
            case gast.FunctionDef():
                self.hold([node.name], reads(*node.body))
        for part in children(node):
            if not isinstance(part, gast.stmt):
                for call in _calls(part):
                    self.call(call)

    def name(self, name: str, value: Node) -> None:
        """Notes the binding of a name to a value."""
        held = _shared_by(value)
        if isinstance(value, gast.Name):  # a copy of an owned name still is an alias
            self.hold([name], held)
            self.hold([n for n in held if n in self.owned], [name])
        elif held:
            self.hold([name] if name not in self.owned else [], held)

    def bind(self, target: Node, value: Node) -> None:
        held = shared_by(value)
        for name in target_names(target):
            self.name(name, value)
        for part in target.elts if isinstance(target, (gast.Tuple, gast.List)) else [target]:
            if isinstance(part, (gast.Subscript, gast.Attribute)):
                base = base_of(part)
                self.change(base)
                self.hold([base] if base is not None else [], held)

    def call(self, node: Node) -> None:
        parts = [*node.args, *(k.value for k in node.keywords)]
        if self.purity(node):
            return
        names = {name for part in parts for name in shared_by(part)}
        if isinstance(node.func, gast.Attribute):
            base = base_of(node.func)
            if base is not None and node.func.attr in UPDATES:
                self.change(base)
                self.hold([base], names)
                return
            names |= shared_by(node.func)
        self.changed |= names
        self.escaped |= names
        self.hold(names, names)

    def change(self, name: str | None) -> None:
        if name is not None:
            self.changed.add(name)
