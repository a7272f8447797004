"""The names that a function reads and does not bind, and the variables that it reads too early.

Contract: a finished function definition in; names out. A variable is read too early where no path from the
function's start to the read binds it. `refuse_unbound` checks the result of all passes: each free name of
generated code must refer to what the user's code, or a pass, bound it to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

import gast

from ..errors import InternalError, UnsupportedSyntaxError
from ..trees.nodes import (
    assigned_names,
    blocks_of,
    bound_in_header,
    defaults_of,
    find_nodes,
    header_expressions,
    load,
    names_read,
    target_names,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import bound_names

__all__ = ["Unbound", "find_unbound", "refuse_unbound"]

Node = Any  # gast publishes no types


@dataclass
class Unbound:
    """The names that a function reads and does not bind (`free`), or reads too early (`early`)."""

    free: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)


def find_unbound(function: Node) -> Unbound:
    """The free names of a function, and its variables that are read too early.

        >>> tree = gast.parse("def f(x):\\n    y = x + late\\n    late = scale * y\\n    return late").body[0]
        >>> found = find_unbound(tree)
        >>> found.free, found.early
        ({'scale'}, {'late'})
    """
    found = Unbound()
    _note_reads(found, function, frozenset())
    return found


def refuse_unbound(program: Program, before: Program) -> list[str]:
    """The names of a finished derivative that refer to the scope of the user's function.

    Raises InternalError for a name that neither the derivative, nor a pass, nor that scope binds, unless it
    is the user's own. A name that the function reads too early `before` it was differentiated is the user's
    fault, and refused where nothing binds it any more.
    """
    found = find_unbound(program.tree)
    free = sorted(found.free - program.bindings.keys())
    lost = [n for n in free if n in program.locals or not (_means(program, n) or _is_written(program, n))]
    early = find_unbound(before.tree).early if lost or found.early else set()
    if found.early and not early:
        lost += sorted(found.early)
    if not early.isdisjoint(lost):
        raise UnsupportedSyntaxError(
            f"`{min(early)}` is read before anything is assigned to it",
            before.where(before.tree),
            "the function raises an UnboundLocalError or NameError there",
            "assign it first",
        )
    if lost:
        raise InternalError(
            f"internal error in s2sad: nothing binds {', '.join(f'`{n}`' for n in lost)} in the derivative",
            before.where(before.tree),
            "a pass has lost a definition, and the name could mean something else",
            "please report the function",
        )
    return [n for n in free if _means(program, n)]


def _means(program: Program, name: str) -> bool:
    return program.scope.lookup(name) is not MISSING


def _is_written(program: Program, name: str) -> bool:
    """Whether a name occurs in the user's file."""
    is_here = re.compile(rf"\b{re.escape(name)}\b").search
    return any(map(is_here, program.lines))


def _note_reads(found: Unbound, function: Node, outer: Set[str]) -> None:
    """Notes the reads of a function; `outer` are the variables of enclosing functions."""
    _Scope(found, function, outer).block(function.body, set(bound_names(function.args)))


class _Scope:
    """One function's statements, in the order in which they may run."""

    def __init__(self, found: Unbound, function: Node, outer: Set[str]) -> None:
        self.found, self.outer = found, outer
        walrus = (n.target.id for n in find_nodes(function, gast.NamedExpr))
        self.own = bound_names(function.args).union(walrus, assigned_names(function.body))

    def reads(self, nodes: Iterable[Node], bound: Set[str]) -> None:
        for node in nodes:
            inner = bound_names(node)  # the variables of lambdas and comprehensions
            for name in names_read(node):
                if name in bound or name in inner:
                    continue
                if name in self.own:
                    self.found.early.add(name)
                elif name not in self.outer:
                    self.found.free.add(name)

    def block(self, statements: list[Node], bound: set[str]) -> set[str]:
        """Notes the reads of a block; `bound` gains the variables that it may bind."""
        for s in statements:
            self.statement(s, bound)
        return bound

    def statement(self, s: Node, bound: set[str]) -> None:
        if isinstance(s, gast.FunctionDef):
            self.reads([*defaults_of(s), *s.decorator_list], bound)
            _note_reads(self.found, s, self.outer | self.own)
            bound.add(s.name)
            return
        self.reads(header_expressions(s), bound)
        if isinstance(s, gast.AugAssign):
            self.reads(map(load, target_names(s.target)), bound)
        if isinstance(s, (gast.For, gast.While)):
            bound.update(assigned_names(s))  # an earlier iteration may bind them
            self.reads([s.test] if isinstance(s, gast.While) else [], bound)
        if isinstance(s, gast.Try):
            after = self.block(s.orelse, self.block(s.body, set(bound)))
            bound.update(assigned_names(s.body))  # any statement may raise into a handler
            bound.update(*[self.handler(h, bound) for h in s.handlers], after)
            self.block(s.finalbody, bound)
        elif blocks := blocks_of(s):
            bound.update(n for t in bound_in_header(s) for n in target_names(t))
            bound.update(*[self.block(b, set(bound)) for b in blocks])
        elif isinstance(s, (gast.Assign, gast.AugAssign)):
            bound.update(assigned_names(s))

    def handler(self, h: Node, bound: set[str]) -> set[str]:
        self.reads([h.type] if h.type is not None else [], bound)
        return self.block(h.body, bound | ({h.name.id} if h.name is not None else set()))
