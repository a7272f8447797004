"""The aliasing of results, from a primitive's record and the kinds of the operands."""

from __future__ import annotations

import operator
from typing import Any

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Dict, Kind, List, Literal, Scalar, Unknown
from ..primitives.aliasing import sharing
from ..primitives.record import fact
from ..runtime import heap, slots
from ..runtime.adjoints import add
from ..transforms.analyses.operations import Apply

__all__ = ["sharing_of"]

# An array in the heap is never changed in place: it is replaced. Objects are changed by helpers alone.
HEAP_READS = (
    heap.heap_element,
    heap.heap_get,
    heap.heap_number,
    slots.get_field,
    slots.get_item,
    slots.held_field,
    slots.held_item,
    slots.known,
)


def sharing_of(operation: Apply, kinds: list[Kind]) -> str:
    """As `sharing`, sharpened by the kinds of the operands: a copy of a list of numbers shares nothing."""
    if any(operation.function is f for f in HEAP_READS):
        return "fresh"
    found = sharing(operation)
    is_listed = any(operation.function is f for f in (list, tuple, sorted))
    if is_listed and kinds and isinstance(kinds[0], Dict):
        return "fresh"  # of the keys
    if fact(operation.function, "sharing") == "elements":
        if all(domain.holds_immutables(k) or domain.is_immutable(k) for k in kinds):
            return "fresh"
        is_joined = len(kinds) > 1 and not all(isinstance(k, (List, Dict, Scalar, Literal)) for k in kinds)
        return "unknown" if is_joined else found
    if operation.function is add:  # add(None, a_list) is that list
        return "fresh" if all(map(domain.holds_immutables, kinds)) else found
    return "elements" if found == "fresh" and _may_join(operation.function, kinds) else found


def _may_join(function: Any, kinds: list[Kind]) -> bool:
    """Whether an operator may join lists or dicts, since the kinds of its operands are unknown."""
    if function is operator.mul:
        return UNKNOWN in kinds and any(map(domain.is_integer, kinds))
    is_join = function is operator.add or function is operator.or_
    return is_join and all(isinstance(k, Unknown) for k in kinds)
