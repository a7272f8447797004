"""Liveness: which names may still be read after each statement of a function.

Contract: a function definition and its `Uses` in, `Live` out. Names that a nested function captures are live
from its definition to the end of the function. With `matters`, the statements that are not needed read
nothing, so that `Live` also says which are needed (it excludes faint variables, and not only dead ones).
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import Comment, is_atom, own_statements
from .find_uses import Uses, reads

__all__ = ["Live", "cannot_raise", "find_live"]

Node = Any  # gast publishes no types
Matters = Callable[[Node, "Live", int], bool]

_JUMPS = (gast.Break, gast.Continue)


@dataclass(slots=True)
class Live:
    """Sets of names as bits of an integer (`bits`), by the identity of the statement.

    `after` is the set live after a statement, `inside` the set live at the start of a `for` loop's body,
    after its targets are bound; `entry` that at the start of the function; `needed` the statements that
    matter, if asked for.
    """

    bits: dict[str, int]
    after: dict[int, int]
    inside: dict[int, int]
    needed: set[int]
    entry: int = 0

    def names_after(self, statement: Node) -> frozenset[str]:
        """The names that are live after a statement."""
        return frozenset(self.names(self.after[id(statement)]))

    def names(self, bits: int) -> list[str]:
        """The names of a set, in the order in which the function binds them."""
        return [name for name, bit in self.bits.items() if bits & bit]

    def of(self, names: Any) -> int:
        """The set of the names that the function binds."""
        found = 0
        for name in names:
            found |= self.bits.get(name, 0)
        return found


def find_live(function: Node, uses: Uses, matters: Matters | None = None, careful: bool = False) -> Live:
    """The liveness of the function's own names.

    `matters(statement, live, after)` says whether a simple statement, or the header of a compound one, is
    needed when the names in `after` are live; by default all are. With `careful` statements that may raise
    are needed.
    """
    flow = _Flow(uses, matters, careful)
    while True:
        needed = len(flow.live.needed)
        flow.live.entry = flow.block(function.body, flow.at_exit())
        if matters is None or not uses.captures or len(flow.live.needed) == needed:
            return flow.live


class _Flow:
    """A walk backwards over the statements; loops are walked until their sets stay the same."""

    def __init__(self, uses: Uses, matters: Matters | None, careful: bool) -> None:
        self.uses, self.matters = uses, matters
        self.live = Live({name: 1 << k for k, name in enumerate(uses.bound)}, {}, {}, set())
        bit = self.live.bits.get
        self.read, self.killed = dict.fromkeys(uses.headers, 0), dict.fromkeys(uses.headers, 0)
        for key, (read, binds) in uses.headers.items():
            for name in read:
                self.read[key] |= bit(name, 0)
            for name in binds:
                self.killed[key] |= bit(name, 0)
        if uses.captured:
            self.spare_captured()
        self.handled = 0  # the names live at the handlers
        self.guarded = careful  # whether a handler may catch exceptions
        self.jumps: list[tuple[int, int]] = []
        self.loops: list[int] = []

    def spare_captured(self) -> None:
        """Keeps old values of captured names live after a statement that binds these."""
        captured = self.uses.captured
        for position, (key, header) in enumerate(self.uses.headers.items(), 1):
            kept = [name for name in header.binds if name in captured and captured[name] <= position]
            self.killed[key] &= ~self.live.of(kept)

    def at_exit(self) -> int:
        """The names that nested functions may read when they are called after the function."""
        live = 0
        for key, names in self.uses.captures.items():
            if self.matters is None or key in self.live.needed:
                live |= self.live.of(names)
        return live

    def block(self, statements: list[Node], live: int) -> int:
        for s in reversed(statements):
            live = self.statement(s, live)
        return live

    def statement(self, s: Node, live: int) -> int:
        key, kind = id(s), type(s)
        if kind in _JUMPS:
            live = self.jumps[-1][0 if kind is gast.Break else 1]
        elif kind is gast.Return or kind is gast.Raise:
            live = self.at_exit()
        live |= self.handled
        self.live.after[key] = live = self.live.after.get(key, 0) | live
        if kind is gast.If:
            before = self.block(s.body, live) | self.block(s.orelse, live)
            return before | self.read[key] if self.is_needed(s, live, s.body + s.orelse) else before
        if kind is gast.For or kind is gast.While:
            return self.loop(s, live)
        if kind is gast.With:
            before = self.block(s.body, live) & ~self.killed[key] | self.handled
            return before | self.read[key] if self.is_needed(s, live, s.body) else before
        if kind is gast.Try:
            return self.attempt(s, live)
        if kind in _JUMPS:
            if self.loops and (self.matters is None or self.loops[-1] in self.live.needed):
                self.live.needed.add(key)
            return live
        if self.matters is not None and not self.is_needed(s, live, []):
            return live
        return live & ~self.killed[key] | self.read[key]

    def is_needed(self, s: Node, live: int, inner: list[Node]) -> bool:
        needed = self.live.needed
        if self.guarded and not cannot_raise(s):
            needed.add(id(s))
        if (id(s) in needed or self.matters is None or any(id(i) in needed for i in inner)
                or self.matters(s, self.live, live)):
            needed.add(id(s))
            return True
        return False

    def attempt(self, s: Node, live: int) -> int:
        """A `try`: each of its statements may raise into a handler, or into `finally`, so all that may raise
        are needed.
        """
        self.live.needed.add(id(s))
        final = self.block(s.finalbody, live)
        handled = 0 if s.handlers else final
        for h in s.handlers:
            bound = self.live.of([h.name.id] if h.name is not None else [])
            handled |= self.block(h.body, final) & ~bound | self.live.of(reads(h.type) if h.type else ())
        # Handlers do not read names that only the body binds: see `check_partial_effects`.
        binds = Counter(n for b in own_statements(s.body) for n in self.uses.headers[id(b)].binds)
        handled &= ~self.live.of(n for n, count in binds.items() if count == self.uses.bound[n])
        at_else = self.block(s.orelse, final)
        outer = self.handled, self.guarded
        self.handled, self.guarded = self.handled | handled, self.guarded or bool(s.handlers)
        before = self.block(s.body, at_else)
        self.handled, self.guarded = outer
        return before | handled

    def loop(self, s: Node, live: int) -> int:
        key = id(s)
        after = self.block(s.orelse, live)
        is_endless = isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and s.test.value is True
        exits = 0 if is_endless else after
        targets, header = (self.killed[key], 0) if isinstance(s, gast.For) else (0, self.read[key])
        head = exits
        while True:
            known = head, len(self.live.needed)
            self.jumps.append((live, head))
            self.loops.append(key)
            start = self.block(s.body, head)
            self.loops.pop()
            self.jumps.pop()
            if isinstance(s, gast.For):
                self.live.inside[key] = start
            inner = [b for b in (*s.body, *s.orelse) if not isinstance(b, (*_JUMPS, gast.Pass, Comment))]
            is_needed = self.is_needed(s, live | head, inner)
            head |= start & ~targets | (header if is_needed else 0)
            if (head, len(self.live.needed)) == known:
                break
        return head | self.read[key] if is_needed and isinstance(s, gast.For) else head


def cannot_raise(s: Node) -> bool:
    """Whether a statement cannot raise."""
    match s:
        case gast.Pass() | gast.Break() | gast.Continue() | Comment():
            return True
        case gast.Assign(targets=[gast.Name()], value=value):
            return is_atom(value)
    return False
