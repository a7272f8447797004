"""Which names may hold the object of another: for changes in place that must not be lost or passed by.

Contract: a function definition in, its nested functions with it (their names are taken as one scope); the
answer over-approximates, except that arithmetic and the calls in `FRESH` make new objects. Only the object
itself is followed, as far as element stores (`a[i] = v`), `a += v` and `a.append(v)` change it.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from ..trees.remember import remembered
from .find_uses import Purity, bound_by, reads
from .nested_scopes import children

__all__ = ["FRESH", "UPDATES", "Sharing", "base_of", "find_sharing", "shared_by"]

Node = Any  # gast publishes no types

# Functions and methods whose results share no memory with their arguments, by name.
FRESH = frozenset({"bool", "copy", "empty_like", "float", "full_like", "int", "len", "ones", "ones_like",
                   "range", "zeros", "zeros_like"})

# Methods that change their object and have no other effect.
UPDATES = frozenset({"add", "append", "clear", "discard", "extend", "fill", "insert", "reverse", "sort",
                     "update"})


class Sharing:
    """`holders[a]` are the names that may directly hold the object of `a`, `changed` those changed in place.

    `escaped` are those that a call with side effects got, and may have put anywhere.
    """

    def __init__(self) -> None:
        self.holders: dict[str, set[str]] = {}
        self.changed: set[str] = set()
        self.escaped: set[str] = set()

    def hold(self, holders: Iterable[str], held: Iterable[str]) -> None:
        """Notes that each of `holders` may hold what each of `held` holds."""
        targets = set(holders)
        for name in held:
            self.holders.setdefault(name, set()).update(targets)

    def followers(self, name: str) -> set[str]:
        """The name itself and all that may have got its object from it."""
        found, todo = {name}, [name]
        while todo:
            for other in self.holders.get(todo.pop(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found


def find_sharing(function: Node, purity: Purity, owned: frozenset[str] = frozenset()) -> Sharing:
    """The sharing among the function's names; what is assigned to an `owned` name is a new object."""
    sharing = Sharing()
    walk = _Walk(sharing, purity, owned)
    for statement in function.body:
        walk.visit(statement)
    return sharing


def base_of(node: Node) -> str | None:
    """The name whose object an item, slice or attribute belongs to, or None when there is no such name."""
    while isinstance(node, (gast.Subscript, gast.Attribute, gast.Starred)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def shared_by(node: Node) -> set[str]:
    """The names whose objects the value of an expression may be, be part of, or hold."""
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
    """One walk over all statements and the calls in them."""

    def __init__(self, sharing: Sharing, purity: Purity, owned: frozenset[str]) -> None:
        self.sharing, self.purity, self.owned = sharing, purity, owned

    def visit(self, node: Node) -> None:
        match node:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                self.name(name, value)
                for call in _calls(value):
                    self.call(call)
                return
            case gast.Assign():
                for target in node.targets:
                    self.bind(target, node.value)
            case gast.AugAssign():
                self.bind(node.target, node.value)
                self.change(base_of(node.target))
            case gast.For():
                self.bind(node.target, node.iter)
            case gast.FunctionDef():
                self.sharing.hold([node.name], reads(*node.body))
        for child in children(node):
            if isinstance(child, gast.expr):
                for call in _calls(child):
                    self.call(call)
            else:
                self.visit(child)

    def name(self, name: str, value: Node) -> None:
        """Notes what a name is bound to."""
        held = _shared_by(value)
        if isinstance(value, gast.Name):  # a copy of an owned name is that name's object all the same
            self.sharing.hold([name], held)
            self.sharing.hold([n for n in held if n in self.owned], [name])
        elif held:
            self.sharing.hold([name] if name not in self.owned else [], held)

    def bind(self, target: Node, value: Node) -> None:
        held = shared_by(value)
        for name in bound_by(target):
            self.name(name, value)
        for part in target.elts if isinstance(target, (gast.Tuple, gast.List)) else [target]:
            if isinstance(part, (gast.Subscript, gast.Attribute)):
                base = base_of(part)
                self.change(base)
                self.sharing.hold([base] if base is not None else [], held)

    def call(self, node: Node) -> None:
        parts = [*node.args, *(k.value for k in node.keywords)]
        if self.purity(node):
            return
        names = {name for part in parts for name in shared_by(part)}
        if isinstance(node.func, gast.Attribute):
            base = base_of(node.func)
            if base is not None and node.func.attr in UPDATES:
                self.change(base)
                self.sharing.hold([base], names)
                return
            names |= shared_by(node.func)
        self.sharing.changed |= names
        self.sharing.escaped |= names
        self.sharing.hold(names, names)

    def change(self, name: str | None) -> None:
        if name is not None:
            self.sharing.changed.add(name)
