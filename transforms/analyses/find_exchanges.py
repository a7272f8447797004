"""Loops that permute the objects of the names that they carry: `u, v = v, u`.

Form: the single-assignment form. The names hold distinct objects in each iteration if they did before the
loop, which a flow-insensitive analysis cannot see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import gast

from ..trees.nodes import is_copy, own_statements
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
    ends = list(takewhile(is_copy, reversed(body)))[::-1]
    before: dict[str, str] = {}  # from a name at the end of an iteration to one at the start
    for s in ends:
        before[s.targets[0].id] = before.get(s.value.id, s.value.id)
    head = live_before(loop.body, frozenset(), frozenset())[0]
    names = {t for t, s in before.items() if t in head and t != s}
    while not names <= (sources := {before[t] for t in names}) or names != sources:
        smaller = {t for t in names & sources if before[t] in names}
        if smaller == names:
            return None
        names = smaller
    if len(names) < 2:
        return None
    return Exchange(frozenset(names), frozenset(id(s) for s in ends if s.targets[0].id in names), loop)
