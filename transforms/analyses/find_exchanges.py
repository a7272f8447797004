"""Loops that permute the objects of the names that they carry: `u, v = v, u`.

Form: the single-assignment form. The names hold distinct objects in each iteration if they did before the
loop, which a flow-insensitive analysis cannot see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import own_statements
from .find_live import Live
from .liveness import is_exit, live_before

__all__ = ["Exchange", "find_exchanges"]


@dataclass(frozen=True)
class Exchange:
    """The names that a loop permutes, and the ids of the copies at the end of its body that do so."""

    names: frozenset[str]
    copies: frozenset[int]
    loop: Any

    def keeps_apart(self, held: Mapping[str, Any], live: Live) -> bool:
        """Whether the names hold distinct objects at any time; `held` maps all names to their roots without
        the copies.
        """
        own = {name: held[name][0] | held[name][1] for name in self.names}
        names = sorted(own)
        if any(own[a] & own[b] for k, a in enumerate(names) for b in names[k + 1 :]):
            return False
        roots = frozenset().union(*own.values())
        outer = held.keys() - live.bits.keys()
        later = live.names_after(self.loop) | live.names_after(self.loop.body[-1]) | outer
        return not any((held[n][0] | held[n][1]) & roots for n in later if n in held and n not in own)


def find_exchanges(tree: Any) -> Iterator[Exchange]:
    """The loops of a function that permute names, without those of nested functions."""
    for loop in own_statements(tree.body):
        if isinstance(loop, (gast.For, gast.While)):
            found = _exchange(loop)
            if found is not None:
                yield found


def _exchange(loop: Any) -> Exchange | None:
    body = loop.body[:-1] if is_exit(loop.body[-1]) else loop.body
    ends: list[tuple[Any, list[tuple[str, str]]]] = []
    for s in reversed(body):
        pairs = _pairs(s)
        if pairs is None:
            break
        ends.insert(0, (s, pairs))
    before: dict[str, str] = {}  # from a name at the end of an iteration to one at the start
    for _, pairs in ends:
        before.update({target: before.get(source, source) for target, source in pairs})
    head = live_before(loop.body, frozenset(), frozenset())[0]
    names = {t for t, s in before.items() if t in head and t != s}
    while not names <= (sources := {before[t] for t in names}) or names != sources:
        smaller = {t for t in names & sources if before[t] in names}
        if smaller == names:
            return None
        names = smaller
    copies = [(s, {t for t, _ in pairs}) for s, pairs in ends]
    passing = [(s, targets) for s, targets in copies if targets & names]
    if len(names) < 2 or any(not targets <= names for _, targets in passing):
        return None
    return Exchange(frozenset(names), frozenset(id(s) for s, _ in passing), loop)


def _pairs(s: Any) -> list[tuple[str, str]] | None:
    """The pairs (target, source) of a statement that only copies names; else None."""
    match s:
        case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=source)):
            return [(target, source)]
        case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)) if all(
            isinstance(n, gast.Name) for n in (*targets, *values)
        ):
            return [(t.id, v.id) for t, v in zip(targets, values, strict=True)]
    return None
