"""What is found of nodes, kept while a derivative is made: passes share trees, and change none."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

__all__ = ["forget", "remembered"]

T = TypeVar("T")
_CACHES: list[Any] = []


def remembered(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Decorator of a function of one node that asks for nothing but the tree below it.

    The node must be finished: whoever still puts statements into a block does not ask.
    """
    kept = lru_cache(maxsize=None)(function)
    _CACHES.append(kept)
    return kept


def forget() -> None:
    """Lets go of all that is remembered, and of the trees that it is about."""
    for kept in _CACHES:
        kept.cache_clear()
