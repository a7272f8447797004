"""Parallel copies as a sequence of assignments."""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import assign, names_read, store, tuple_of

__all__ = ["parallel_copies"]


def parallel_copies(copies: list[tuple[str, Any]], like: Any = None) -> list[Any]:
    """Assignments equivalent to simultaneous ones: targets that no later copy reads come first, and a cycle
    is one statement.
    """
    result: list[Any] = []
    copies = [(t, c) for t, c in copies if not (isinstance(c, gast.Name) and c.id == t)]
    while copies:
        free = [
            (t, c)
            for t, c in copies
            if not any(t in names_read(other) for other_t, other in copies if other_t != t)
        ]
        if not free:
            targets = tuple_of([store(t) for t, _ in copies], gast.Store())
            return [*result, assign(targets, tuple_of([c for _, c in copies]), like)]
        result.extend(assign(t, c, like) for t, c in free)
        copies = [pair for pair in copies if pair not in free]
    return result
