"""The names that each statement of a function reads and binds, and those that its nested functions capture.

Contract: a function definition in; `Uses` of its own scope out, or None when it holds a construct that is not
analysed (`del`, `global`, `yield`, walrus, classes ...), and callers leave such a function alone. The sets
over-approximate the names read, captured and fixed.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from ..trees.nodes import (
    Comment,
    blocks_of,
    bound_here,
    classes_in,
    has_nested,
    loads,
    target_names,
)
from ..trees.rebuild import rewritten
from ..trees.remember import remembered
from ..trees.statements import FORMS
from .nested_scopes import NestedScope, children

__all__ = ["Header", "Purity", "Uses", "find_uses", "is_pure", "map_nested", "reads"]

Node = Any  # gast publishes no types
Purity = Callable[[Node], bool]  # of a call, a `for` loop or an unpacking: whether it changes nothing

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp)
_ODD = (gast.Await, gast.Yield, gast.YieldFrom, gast.NamedExpr)
_ACTING = (gast.Call, *_ODD)
_SCOPES_AND_ODD = frozenset({gast.Lambda, gast.GeneratorExp, *_COMPREHENSIONS, *_ODD})


class Header(NamedTuple):
    """The names that a statement reads and binds outside of its blocks."""

    reads: frozenset[str]
    binds: tuple[str, ...]


@dataclass(slots=True)
class Uses:
    """The names of one function's scope.

    `bound` and `read` count how often it binds and reads each name itself; `captured` are the names that
    nested functions, lambdas and generators read later, with the position from which they may; `captures`
    those of each statement; `fixed` the names that must keep their names, because a nested scope binds the
    same one. A position counts statements in source order, as `headers` do.
    """

    parameters: tuple[str, ...] = ()
    bound: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    captured: dict[str, int] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    headers: dict[int, Header] = field(default_factory=dict)
    captures: dict[int, frozenset[str]] = field(default_factory=dict)


@remembered
def find_uses(function: Node) -> Uses | None:
    """The reads and bindings of the function's statements, by the identity of the statement."""
    finder = _Finder()
    try:
        finder.function(function)
    except _NotAnalysed:
        return None
    return finder.uses


def reads(*nodes: Node) -> set[str]:
    """The names that expressions read, nested scopes included."""
    found: set[str] = set()
    for node in nodes:
        _note_loads(node, found)
    return found


def is_pure(node: Node, purity: Purity) -> bool:
    """Whether the evaluation of an expression has no effect; `purity` decides calls, all else is pure."""
    return all(type(n) is gast.Call and purity(n) for n in _effects(node))


@remembered
def _effects(node: Node) -> tuple[Node, ...]:
    """The parts of an expression that may have an effect: calls, walruses and awaits."""
    kind = type(node)
    if kind is gast.Name or kind is gast.Constant or kind is gast.Lambda:
        return ()
    own = (node,) if kind in _ACTING else ()
    return own + tuple(e for child in children(node) for e in _effects(child))


def map_nested(function: Node, change: Callable[[Node], Node]) -> Node:
    """The function with `change` applied to the functions nested directly in it."""
    if not has_nested(function):
        return function
    return rewritten(function, lambda s: [change(s)] if isinstance(s, gast.FunctionDef) else None)


def _note_loads(node: Node, found: set[str]) -> None:
    if isinstance(node, gast.expr) and _is_plain(node):
        found.update(loads(node))
    elif type(node) is gast.Name:
        found.add(node.id)
    else:
        for child in children(node):
            _note_loads(child, found)


@remembered
def _is_plain(expression: Node) -> bool:
    """Whether an expression has no scope and no walrus in it."""
    return _SCOPES_AND_ODD.isdisjoint(classes_in(expression))


@remembered
def _simple(assignment: Node) -> Header | None:
    """The reads and bindings of an assignment without nested scopes; else None."""
    if not _SCOPES_AND_ODD.isdisjoint(classes_in(assignment)):
        return None
    binds = tuple(name for target in assignment.targets for name in target_names(target))
    return Header(frozenset(loads(assignment)), binds)


class _NotAnalysed(Exception):
    """The function holds a construct that is not analysed."""


class _Finder:
    """One walk over a function's own statements, in source order."""

    def __init__(self) -> None:
        self.uses = Uses()
        self.position = 0
        self.loop: int | None = None
        self.now: set[str] = set()
        self.key = 0
        self.bound: list[str] = []  # with repetitions
        self.read: list[str] = []

    def function(self, function: Node) -> None:
        scope = NestedScope()
        scope.arguments(function.args)
        self.uses.parameters = tuple(scope.bound)
        self.bound += scope.bound
        self.block(function.body)
        self.uses.bound, self.uses.read = Counter(self.bound), Counter(self.read)

    def block(self, statements: list[Node]) -> None:
        for s in statements:
            self.position += 1
            if s.__class__ is gast.Assign and (simple := _simple(s)) is not None:
                self.read += loads(s)
                self.bound += simple.binds
                self.uses.headers[id(s)] = simple
            else:
                self.compound(s)

    def compound(self, s: Node) -> None:
        """A statement with blocks, nested scopes, or targets other than names."""
        self.now, self.key = set(), id(s)
        position, binds = self.position, bound_here(s)
        match s:
            case gast.FunctionDef():
                self.capture(s, s.name)
            case gast.For():
                self.expressions(s.iter, s.target)
            case gast.Try():
                self.expressions(*(h.type for h in s.handlers if h.type is not None))
            case gast.Pass() | gast.Break() | gast.Continue() | Comment():
                pass
            case _ if s.__class__ in FORMS:
                self.expressions(*FORMS[s.__class__].evaluates(s))
                self.add_reads(binds if isinstance(s, gast.AugAssign) else [])
            case _:
                raise _NotAnalysed
        self.uses.headers[id(s)] = Header(frozenset(self.now), tuple(binds))
        self.bound += binds
        if isinstance(s, (gast.For, gast.While)):
            outer, self.loop = self.loop, position if self.loop is None else self.loop
            self.block(s.body)
            self.block(s.orelse)
            self.loop = outer
        else:
            for inner in blocks_of(s):
                self.block(inner)

    def expressions(self, *nodes: Node) -> None:
        for node in nodes:
            self.expression(node)

    def expression(self, node: Node) -> None:
        kind = type(node)
        if _is_plain(node):
            self.add_reads(loads(node))
        elif kind is gast.Lambda or kind is gast.GeneratorExp:
            self.capture(node, "")
        elif kind in _COMPREHENSIONS:
            scope = NestedScope()
            scope.visit(node)
            if scope.is_odd:
                raise _NotAnalysed
            self.uses.fixed |= scope.inner
            self.add_reads(scope.loads)
        elif kind in _ODD:
            raise _NotAnalysed
        else:
            for child in children(node):
                self.expression(child)

    def add_reads(self, names: Iterable[str]) -> None:
        self.now.update(names)
        self.read += names

    def capture(self, node: Node, own: str) -> None:
        """Notes a nested scope, called `own`, that may run later and reads the values that its free names
        have then.
        """
        scope = NestedScope()
        scope.visit(node)
        free = scope.mentioned if scope.is_odd else scope.loads
        self.uses.fixed |= scope.mentioned if scope.is_odd else scope.inner
        for name in sorted(free):
            start = self.position + (name == own) if self.loop is None else self.loop
            self.uses.captured.setdefault(name, start)
        self.add_reads(sorted(free - {own}))
        self.uses.captures[self.key] = self.uses.captures.get(self.key, frozenset()) | free
