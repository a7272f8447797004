"""Functions that the passes write calls of: what Python does inside a statement, as a function.

But for `merged` and `transposed` none carries a derivative: they answer questions about values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["is_mapping", "is_sequence", "merged", "order_of", "place_of_max", "place_of_min", "transposed"]


def is_sequence(x: Any) -> bool:
    """Whether a sequence pattern of `match` may match the object."""
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes, bytearray))


def is_mapping(x: Any) -> bool:
    """Whether a mapping pattern of `match` may match the object."""
    return isinstance(x, Mapping)


def merged(x: Mapping[Any, Any], y: Mapping[Any, Any]) -> dict[Any, Any]:
    """`{**x, **y}`."""
    return {**x, **y}


def transposed(rows: Iterable[Iterable[Any]], strict: bool = False) -> list[tuple[Any, ...]]:
    """`list(zip(*rows))`."""
    return list(zip(*rows, strict=strict))


def order_of(keys: list[Any], reverse: bool = False) -> list[int]:
    """The positions of the keys in sorted order, equal ones as `sorted` leaves them."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def place_of_max(keys: list[Any]) -> int:
    """The position of the first of the largest keys."""
    return max(range(len(keys)), key=keys.__getitem__)


def place_of_min(keys: list[Any]) -> int:
    """The position of the first of the smallest keys."""
    return min(range(len(keys)), key=keys.__getitem__)
