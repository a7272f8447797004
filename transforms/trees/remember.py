"""Facts of nodes that are kept while a derivative is made: passes share trees, and change none."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

__all__ = ["forget", "remembered"]

T = TypeVar("T")
_CACHES: list[Any] = []


def remembered(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Decorator of a function of one node whose result depends only on the tree below it.

    The node must be finished: no more statements are put into its blocks.
    """
    kept = lru_cache(maxsize=None)(function)
    _CACHES.append(kept)
    return kept


def forget() -> None:
    """Drops all remembered facts, and the trees that they belong to."""
    for kept in _CACHES:
        kept.cache_clear()
