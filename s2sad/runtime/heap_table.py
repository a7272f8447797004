"""A persistent table from objects and keys to adjoints: each change makes a new version in constant time.

The newest version holds the entries; an older one holds the change that leads back to it from the next
(Baker, "Shallow binding makes functional arrays fast", 1991). Reading an older version makes it the one that
holds the entries. So all versions stay valid, and a sweep, which uses them in turn, pays what a dict costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Table"]

MISSING = object()
ALL = object()  # as a key: all keys of an object


class Table:
    """One version. Objects are told apart by identity, and kept alive."""

    __slots__ = ("change", "entries", "next")

    def __init__(self, entries: dict[int, tuple[Any, dict[Any, Any]]]) -> None:
        self.entries: Any = entries  # by `id`: the object, and its adjoints by key
        self.change: Any = None
        self.next: Table | None = None

    def at(self, x: Any) -> dict[Any, Any]:
        """The adjoints of what an object holds, by key; they are not to be changed."""
        found = self._entries().get(id(x))
        return {} if found is None else found[1]

    def items(self) -> Iterator[tuple[Any, dict[Any, Any]]]:
        """The objects with their adjoints by key."""
        return iter(list(self._entries().values()))

    def with_part(self, x: Any, key: Any, value: Any) -> Table:
        """The version with this adjoint under one key of an object; without one for MISSING."""
        entries = self._entries()
        self.entries, self.next = None, (new := Table(entries))
        self.change = _changed(entries, (x, key, value))
        return new

    def with_parts(self, x: Any, parts: dict[Any, Any]) -> Table:
        """The version with these adjoints for all that an object holds."""
        return self.with_part(x, ALL, parts)

    def without_part(self, x: Any, key: Any) -> Table:
        """The version without an adjoint under one key of an object."""
        return self.with_part(x, key, MISSING) if key in self.at(x) else self

    def empty_adjoint(self) -> Table:
        """The zero of tables."""
        return Table({})

    def plus_adjoint(self, other: Table, add: Callable[[Any, Any], Any]) -> Table:
        """The sum of two tables, where `add` adds two adjoints; None is zero."""
        a, b = (self, other) if len(self._entries()) >= len(other._entries()) else (other, self)
        for x, parts in [(x, dict(parts)) for x, parts in b.items()]:
            for key, value in parts.items():
                a = a.with_part(x, key, add(a.at(x).get(key), value))
        return a

    def _entries(self) -> dict[int, tuple[Any, dict[Any, Any]]]:
        """The entries, which this version holds from now on."""
        if self.next is not None:
            chain = [self]
            while (after := chain[-1].next) is not None:
                chain.append(after)
            entries = chain.pop().entries
            newer = chain[-1].next
            for version in reversed(chain):
                newer.entries, newer.next, newer.change = None, version, _changed(entries, version.change)  # type: ignore[union-attr]
                version.next, version.change, newer = None, None, version
            self.entries = entries
        found: dict[int, tuple[Any, dict[Any, Any]]] = self.entries
        return found


def _changed(entries: dict[int, tuple[Any, dict[Any, Any]]], change: Any) -> Any:
    """Changes the entries in place; the change that undoes it."""
    x, key, value = change
    place = id(x)
    held = entries.get(place)
    if held is None:
        held = entries[place] = (x, {})
    parts = held[1]
    if key is ALL:
        entries[place] = (x, value)
        return x, ALL, parts
    old = parts.get(key, MISSING)
    if value is not MISSING:
        parts[key] = value
    elif old is not MISSING:
        del parts[key]
    return x, key, old
