"""Run-time helpers for keys of items and for orders of lists, computed before the heap is changed.

Contract: a key is normalised (a position counts from the front); an order lists the old position of each
item.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.errors import MissingRuleError, UnsupportedSyntaxError
from ..values.objects import fields_of
from .object_graph import (
    LISTS,
    SETS,
    Place,
    Record,
    is_reference,
    is_set,
    mapped,
    parts_of,
    refuse_iterator,
    the_list,
)

__all__ = [
    "Moved",
    "arrays_of",
    "check_same",
    "counter_of",
    "counts_numbers",
    "has_key",
    "holds_attribute",
    "indexed",
    "is_full",
    "key_of",
    "key_of_insert",
    "key_of_item",
    "keys_of",
    "last_key",
    "order_of_heap",
    "order_of_pop",
    "order_of_push",
    "order_of_reverse",
    "order_of_rotation",
    "order_of_sort",
    "order_without",
    "record_of_end",
    "record_of_slice",
    "reorder",
    "same_length",
]


def key_of(x: Any, key: Any) -> Any:
    """The key of an item: of a list its position, counted from the front.

    Raises IndexError as the list does, and UnsupportedSyntaxError for a slice of one.
    """
    if not isinstance(x, LISTS):
        return key
    if isinstance(key, slice):
        raise UnsupportedSyntaxError(
            "a slice of a list, among changes of objects",
            why="which items it holds is not followed",
            instead="build a new list",
        )
    position = operator.index(key)
    x[position]  # raises what the list raises
    return position + len(x) if position < 0 else position


def keys_of(x: Any) -> Any:
    """The keys that a loop visits: the positions of a list, tuple or array, the keys of a dict, the elements
    of a set.
    """
    if isinstance(x, (*LISTS, tuple, np.ndarray, range, str)):
        return range(len(x))
    if not isinstance(x, (dict, *SETS)):
        refuse_iterator(x)
    return list(x)


COUNTED = re.compile(r"count\(-?\d+(, -?\d+)?\)")  # the text of a counter of whole numbers


def counts_numbers(x: Any) -> bool:
    """Whether an iterator is an `itertools.count` of whole numbers, which have no derivative."""
    return type(x) is itertools.count and COUNTED.fullmatch(repr(x)) is not None


def counter_of(x: Any) -> Any:
    """The iterator itself, of which `next` is called; MissingRuleError unless it counts whole numbers."""
    if counts_numbers(x):
        return x
    raise MissingRuleError(
        "`next` has no rule",
        why="an iterator changes as it is read; among changes of objects only whole numbers are counted",
        instead="read `x[0]` by its index, and go over `x[1:]`",
    )


def last_key(x: Any) -> Any:
    """The key of the item that `x.pop()` or `x.popitem()` removes; an element of a set is removed here.

    Raises IndexError or KeyError as they do.
    """
    if is_set(x):
        return x.pop()
    if isinstance(x, dict):
        if not x:
            raise KeyError("popitem(): dictionary is empty")
        return next(reversed(x))
    if not the_list(x):
        raise IndexError("pop from an empty list")
    return len(x) - 1


def key_of_insert(x: Any, key: Any) -> int:
    """The position of a new item after `x.insert(key, item)`."""
    count, position = len(the_list(x)), operator.index(key)
    return min(position, count) if position >= 0 else max(position + count, 0)


def key_of_item(x: Any, value: Any) -> Any:
    """The position of the first item of a list that equals a value; of a set the value itself.

    Raises ValueError, or KeyError, where there is none.
    """
    if is_set(x):
        x.remove(value)
        return value
    return int(the_list(x).index(value))


def has_key(x: Any, key: Any) -> bool:
    """Whether a dict has a key."""
    return key in mapped(x)


def holds_attribute(x: Any, name: str) -> bool:
    """Whether an attribute is stored in the object itself, and not only in its class."""
    return name in fields_of(x)


def is_full(x: Any) -> bool:
    """Whether the next append makes a deque drop its first item."""
    return isinstance(x, deque) and x.maxlen is not None and len(x) == x.maxlen


def same_length(x: Any, keys: Any) -> None:
    """Raises UnsupportedSyntaxError if a list has changed its length during a loop over it."""
    if not isinstance(x, np.ndarray) and len(x) != len(keys):
        raise UnsupportedSyntaxError(
            "a list that gets longer or shorter while a loop goes over it",
            why="which items the loop visits is not followed",
            instead="go over a copy: `for v in list(items)`",
        )


def arrays_of(record: Record) -> list[tuple[Any, bytes]]:
    """The arrays that objects hold, with their present contents."""
    found: dict[int, tuple[Any, bytes]] = {}
    todo, seen = [record], set[int]()
    while todo:
        part = todo.pop()
        if part.parts is not None and id(part) not in seen:
            seen.add(id(part))
            todo += part.parts.values()
        elif isinstance(part.value, np.ndarray):
            found[id(part.value)] = part.value, part.value.tobytes()
    return list(found.values())


def check_same(record: Record, x: Any, arrays: list[tuple[Any, bytes]]) -> None:
    """Raises UnsupportedSyntaxError if a call has changed the objects since the record was made, or what
    their `arrays` hold.
    """
    if not _is_same(record, x, set()) or any(a.tobytes() != before for a, before in arrays):
        raise UnsupportedSyntaxError(
            "a call that changes the objects that it is given, among other changes of objects",
            why="the callee is known at run time only, and its changes are not followed",
            instead="return the new values from it, and make the change where it is called",
        )


def _is_same(record: Record, x: Any, seen: set[int]) -> bool:
    if record.parts is None or record.value is not x:
        return record.value is x
    if id(record) in seen:
        return True
    seen.add(id(record))
    parts, before = parts_of(x), record.parts
    return parts.keys() == before.keys() and all(_is_same(p, parts[k], seen) for k, p in before.items())


# ---------------------------------------------------------------- orders


class Moved(dict[int, int]):
    """An order in which few items have moved: the old positions of these by their new ones."""


def reorder(x: Any, order: list[int] | Moved) -> None:
    """Puts the items of a list or deque into an order; those left out of it are deleted."""
    if isinstance(order, Moved):
        for k, item in [(k, x[old]) for k, old in order.items()]:
            x[k] = item
        return
    items = [x[k] for k in order]
    x.clear()
    x.extend(items)


def order_of_sort(x: Any, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> list[int]:
    """The order into which `x.sort` puts a list."""
    values = list(the_list(x)) if key is None else [key(v) for v in the_list(x)]
    return sorted(range(len(values)), key=values.__getitem__, reverse=reverse)


def order_of_reverse(x: Any) -> list[int]:
    """The order into which `x.reverse` puts a list."""
    return list(range(len(the_list(x))))[::-1]


def order_without(x: Any, index: Any) -> list[int]:
    """The old positions of the items that `del x[index]` leaves in a list."""
    kept = list(range(len(the_list(x))))
    del kept[index]
    return kept


def record_of_end(x: Any, items: list[Any]) -> Record:
    """The record of the items that `x.extend(items)` adds, by position."""
    return _record_at(x, range(len(the_list(x)), len(x) + len(items)), items)


def record_of_slice(x: Any, index: slice, items: list[Any]) -> Record:
    """The record of the items that `x[index] = items` stores, by position.

    Raises ValueError, as the list does, where the number of items does not fit a slice with a step.
    """
    start, stop, step = index.indices(len(the_list(x)))
    positions = range(start, start + len(items)) if index.step is None else range(start, stop, step)
    if len(positions) != len(items):
        raise ValueError(
            f"attempt to assign sequence of size {len(items)} to extended slice of size {len(positions)}"
        )
    return _record_at(x, positions, items)


def _record_at(x: Any, positions: range, items: list[Any]) -> Record:
    leaves = [Record(None if is_reference(v) else v) for v in items]
    return Record(items, Place(x), dict(zip(positions, leaves, strict=True)))


def order_of_rotation(x: Any, count: int = 1) -> list[int]:
    """The order into which `x.rotate(count)` puts a deque."""
    positions = deque(range(len(the_list(x))))
    positions.rotate(count)
    return list(positions)


class _Ranked:
    """An item with its position, compared by the item."""

    __slots__ = ("item", "position")

    def __init__(self, position: int, item: Any) -> None:
        self.position, self.item = position, item

    def __lt__(self, other: _Ranked) -> bool:
        return bool(self.item < other.item)


def order_of_heap(x: Any) -> list[int]:
    """The order into which `heapq.heapify` puts a list."""
    items = [_Ranked(k, v) for k, v in enumerate(the_list(x))]
    heapq.heapify(items)
    return [i.position for i in items]


def order_of_push(x: Any) -> Moved:
    """The order of a heap after its last item has been pushed."""
    last = len(the_list(x)) - 1
    return Moved(_risen(x, {}, last, last))


def order_of_pop(x: Any) -> Moved:
    """The order of a heap after its smallest item is popped; the popped one stands last."""
    last = len(the_list(x)) - 1
    order, position = {last: 0}, 0
    while (child := 2 * position + 1) < last:  # up from the leaf that is reached, as `heapq` does
        if child + 1 < last and not x[child] < x[child + 1]:
            child += 1
        order[position] = child
        position = child
    return Moved(_risen(x, order, position, last) if last > 0 else {})


def _risen(x: Any, order: dict[int, int], position: int, place: int) -> dict[int, int]:
    """The order with the item at `place` in the heap, from a position upwards."""
    while position > 0:
        parent = (position - 1) >> 1
        if not x[place] < x[order.get(parent, parent)]:
            break
        order[position] = order.get(parent, parent)
        position = parent
    order[position] = place
    return order


def indexed(x: Any) -> Any:
    """The container whose items a loop reads; None for a dict or set, whose keys it reads."""
    return None if isinstance(x, (dict, *SETS)) else x
