"""Which objects a statement of a loop has made in this iteration, and which names hold only older ones.

Form: the single-assignment form. All objects that one statement makes have one root; this tells the most
recent of them from the earlier ones, as in recency abstraction (Balakrishnan and Reps, 2006). In a loop that
carries its result, `c` is never the array that is changed:

    for t in range(n):
        y = np.copy(c)
        y -= step(y, c)
        c = y
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gast

from ..trees.nodes import assigned_names, blocks_of, bound_here, header_of, names_read, own_statements
from .liveness import live_before

__all__ = ["Made", "Recency"]

Roots = frozenset[str]
Held = tuple[Roots, Roots]
_NOTHING: Held = frozenset(), frozenset()


@dataclass(frozen=True)
class Made:
    """The aliases of an object between its creation and its change in one iteration (`holding`), and the ids
    of the statements between these (`inside`).
    """

    holding: frozenset[str]
    inside: frozenset[int]


class Recency:
    """`held` maps names to their roots and those of their contents; `shared(value)` are the roots of an
    expression's operands that its result may hold, and `may_keep(value)` says whether it may store an operand
    into another object; `is_check(value)` whether a call that stands alone does nothing but raise.
    """

    def __init__(
        self,
        tree: Any,
        held: Mapping[str, Held],
        shared: Callable[[Any], Roots],
        may_keep: Callable[[Any], bool],
        is_check: Callable[[Any], bool],
    ) -> None:
        self.tree, self.held, self.shared = tree, held, shared
        self.may_keep, self.is_check = may_keep, is_check
        self._known: dict[tuple[str, int], Made | None] = {}

    def is_older(self, other: str, name: str, change: Any) -> bool:
        """Whether each run of `change` changes a new object of `name`, and `other` can only hold older
        ones.
        """
        made = self.made(name, change)
        return made is not None and other not in made.holding

    def made(self, name: str, change: Any) -> Made | None:
        """The aliases of the object of `name` since it was made, if that was in the same iteration as the
        change; None where the object may be older.
        """
        key = name, id(change)
        if key not in self._known:
            self._known[key] = self._found(name, change)
        return self._known[key]

    def _found(self, name: str, change: Any) -> Made | None:
        roots = self.held.get(name, _NOTHING)[0]
        if not roots or not all(root in self._bindings for root in roots):
            return None
        sites = [id(s) for root in roots for s in self._bindings[root]]
        for block, end in self._around(change):
            inside = [{id(n) for n in own_statements([s])} for s in block]
            start = next((k for k, ids in enumerate(inside) if not ids.isdisjoint(sites)), None)
            if start is not None and frozenset().union(*inside).issuperset(sites):
                return self._followed(name, roots, block[start : end + 1], change)
        return None

    def _followed(self, name: str, roots: Roots, segment: list[Any], change: Any) -> Made | None:
        bound = set(assigned_names(segment))
        direct = {n for n in bound if not self.held.get(n, _NOTHING)[1] & roots}
        exposed = live_before(segment, frozenset(), frozenset())[0]
        inside = frozenset(id(s) for s in own_statements(segment))
        sources = {n: self._sources(n, roots, inside) for n in bound}
        recent = direct - exposed
        while lost := {n for n in recent if not sources[n] <= recent}:
            recent -= lost
        if name not in recent:
            return None
        holding = roots & bound
        while more := {n for n in bound - holding if sources[n] & holding}:
            holding |= more
        is_held = any(both[1] & roots for both in self.held.values())
        return None if is_held and self._is_kept(segment, holding, roots, change) else Made(holding, inside)

    def _sources(self, name: str, roots: Roots, inside: frozenset[int]) -> set[str]:
        """The names from which the statements inside may assign a name an object of these roots."""
        found: set[str] = set()
        for s in self._bindings[name]:
            if id(s) in inside and not (_is_plain(s) and self.shared(s.value).isdisjoint(roots)):
                found.update(n for n in names_read(header_of(s)) if self._roots_of(n) & roots)
        return found

    def _roots_of(self, name: str) -> Roots:
        own, contents = self.held.get(name, _NOTHING)
        return own | contents

    def _is_kept(self, segment: list[Any], holding: frozenset[str], roots: Roots, change: Any) -> bool:
        """Whether a statement may store the object of these names into another one."""
        parts = {n for n in holding if self.held.get(n, _NOTHING)[1] & roots}
        functions = [s for s in self._statements if isinstance(s, gast.FunctionDef)]
        return any(
            not (parts if isinstance(s, gast.AugAssign) else holding).isdisjoint(self._given(s))
            for s in (*own_statements(segment), *functions)
            if s is not change
        )

    def _given(self, s: Any) -> Sequence[str]:
        """The names whose objects a statement may store into another one."""
        match s:
            case gast.Assign(targets=[gast.Name() | gast.Tuple()], value=value):
                return names_read(value) if self.may_keep(value) else []
            case gast.Assign(value=value):
                return names_read(value)
            case gast.If() | gast.While() | gast.For():
                return []
            case gast.Expr(value=value) if self.is_check(value):
                return []
        return names_read(header_of(s))

    def _around(self, s: Any) -> Iterator[tuple[list[Any], int]]:
        """The blocks around a statement, innermost first, with its position in each."""
        while id(s) in self._places:
            block, k, s = self._places[id(s)]
            yield block, k

    @cached_property
    def _places(self) -> dict[int, tuple[list[Any], int, Any]]:
        """The block of each statement, its position, and the statement that has the block."""
        return {
            id(s): (block, k, parent)
            for parent in (self.tree, *self._statements)
            for block in ([parent.body] if parent is self.tree else blocks_of(parent))
            for k, s in enumerate(block)
        }

    @cached_property
    def _bindings(self) -> dict[str, list[Any]]:
        """The statements that bind each name."""
        found: dict[str, list[Any]] = {}
        for s in self._statements:
            for name in bound_here(s):
                found.setdefault(name, []).append(s)
        return found

    @cached_property
    def _statements(self) -> list[Any]:
        return own_statements(self.tree.body)


def _is_plain(s: Any) -> bool:
    return isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
