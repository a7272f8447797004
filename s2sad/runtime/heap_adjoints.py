"""The adjoints and tangents of the heap: a table from objects and keys to adjoints.

Contract: a `Table`; None is zero, and so is a missing entry. An object itself has the adjoint None: only the
numbers and arrays in it have one. No function changes its arguments, and each is linear in its first.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError
from ..values.objects import dict_like, mirror
from .adjoints import add, add_at, zeros_like
from .heap_arrays import Holders
from .heap_keys import Moved
from .heap_table import Table
from .object_graph import LISTS, SETS, Record, is_reference, nodes, tuple_like

__all__ = [
    "cleared",
    "closed",
    "closed_at",
    "gathered",
    "gathered_as",
    "held_alone",
    "held_part",
    "item_adjoint",
    "item_part",
    "opened",
    "opened_at",
    "own_part",
    "part_alone",
    "part_at",
    "parts_alone",
    "parts_at",
    "permuted",
    "scattered",
    "unpermuted",
    "without_held",
    "without_part",
    "without_parts",
]

def _at(d: Table | None, x: Any) -> dict[Any, Any]:
    """The adjoints of what an object holds, by key."""
    return {} if d is None else d.at(x)


def _table(x: Any, parts: dict[Any, Any]) -> Table:
    """The table of the adjoints of what one object holds."""
    return Table({id(x): (x, parts)})


def part_at(d: Table | None, x: Any, key: Any, value: Any) -> Any:
    """The adjoint of the `value` that `x` holds: None for an object, zero where `x` is an array or tuple,
    which are not in the heap.
    """
    if is_reference(value):
        return None
    found = _at(d, x).get(key) if is_reference(x) else None
    return zero_like(value) if found is None else found


def part_alone(dvalue: Any, x: Any, key: Any, value: Any) -> Table | None:
    """The adjoint of the heap from that of a `value` that `x` holds."""
    if dvalue is None or is_reference(value) or not is_reference(x):
        return None
    return _table(x, {key: _without_objects(dvalue, value)})


def _without_objects(dvalue: Any, value: Any) -> Any:
    """An adjoint with None for the objects in a tuple."""
    if not isinstance(value, tuple) or not isinstance(dvalue, tuple):
        return None if is_reference(value) else dvalue
    return tuple_like(value, list(map(_without_objects, dvalue, value)))


def zero_like(value: Any) -> Any:
    """The zero adjoint of a value in a slot; None for an object, whose adjoint is elsewhere."""
    if isinstance(value, tuple):
        return tuple_like(value, list(map(zero_like, value)))
    return None if is_reference(value) else zeros_like(value)


def _or_zeros(d: Any, value: Any) -> Any:
    """An adjoint, or the zero of a value; in shadows 0.0 is the zero of an array, too."""
    return zeros_like(value) if d is None or (type(d) is float and d == 0.0) else d


def parts_at(d: Table | None, record: Record) -> list[Any]:
    """The adjoints of the items of a list that a record has by position; None for objects."""
    held = _at(d, record.place.holder) if record.place else {}
    return [_or_zeros(held.get(k), part.value) for k, part in (record.parts or {}).items()]


def parts_alone(dvalues: list[Any] | None, record: Record) -> Table | None:
    """The adjoint of the heap from those of the items of a list that a record has by position."""
    parts = zip(record.parts or {}, dvalues or (), strict=False)
    held = {k: d for k, d in parts if d is not None}
    return _table(record.place.holder, held) if record.place and held else None


def without_part(d: Table | None, x: Any, key: Any) -> Table | None:
    """The adjoint with zero for what `x` holds under a key."""
    return None if d is None else d.without_part(x, key)


def held_part(d: Table | None, value: Any, holders: Holders) -> Any:
    """The adjoint of the `value` that objects hold: the sum over these."""
    found = None
    for x, key in holders:
        found = add(found, _at(d, x).get(key))
    return zeros_like(value) if found is None else found


def held_alone(dvalue: Any, value: Any, holders: Holders) -> Table | None:
    """The adjoint of the heap from that of a `value` that objects hold."""
    found = Table({})
    for x, key in holders if dvalue is not None else ():
        found = found.with_part(x, key, dvalue)
    return found


def without_held(d: Table | None, holders: Holders) -> Table | None:
    """The adjoint with zero for what objects hold under keys."""
    for x, key in holders:
        d = without_part(d, x, key)
    return d


def item_adjoint(dvalue: Any, x: Any, key: Any) -> Any:
    """The adjoint of an array or tuple `x` from that of an item, or of `x.T`; None of an object or set."""
    if dvalue is None or is_reference(x) or isinstance(x, SETS):
        return None
    key = _position(x, key)
    return dvalue.T if isinstance(key, str) else add_at(zeros_like(x), key, dvalue)


def _position(x: Any, key: Any) -> Any:
    """The key of an item of a named tuple, given its name."""
    names = getattr(x, "_fields", ()) if isinstance(key, str) else ()
    return names.index(key) if key in names else key


def item_part(dx: Any, x: Any, key: Any) -> Any:
    """The tangent of an item of an array or tuple `x`, or of `x.T`."""
    if dx is None or is_reference(x) or isinstance(x, SETS):
        return None
    key = _position(x, key)
    return dx.T if isinstance(key, str) else dx[key]


def _is_object(record: Record) -> bool:
    """Whether a record is of an object; as a leaf it has no value."""
    return record.place is not None or (record.parts is None and record.value is None)


def own_part(dx: Any, record: Record) -> Any:
    """`dx` without the adjoints of objects: those of a number, of an array and of the ones in a tuple. A
    text has none.
    """
    if dx is None or _is_object(record) or isinstance(record.value, (str, bytes)):
        return None
    if record.parts is None:
        return dx
    items = [own_part(d, part) for d, part in zip(dx, record.parts.values(), strict=True)]
    return tuple_like(record.value, items)


def gathered(d: Table | None, record: Record, once: bool = False) -> Any:
    """The adjoint of a value, in the structure of its record, from that of the heap. A number itself, and the
    numbers directly in a tuple, have zeros. An object held several times has its adjoint each time, or with
    `once` the first time only; that of an object inside of itself holds itself, or with `once`, and in the
    gradients of arguments, None.
    """
    return _gathered(d, record, {}, once and not record.each, record.each)


def gathered_as(d: Table | None, record: Record, once: bool, like: Any) -> Any:
    """As `gathered`, with the type of `like`: an array for an array, zeros like it for None. The adjoint of
    the argument of `scattered`.
    """
    found = gathered(d, record, once)
    if found is None:
        return zeros_like(like)
    return np.array(found, like.dtype) if isinstance(like, np.ndarray) else found


def _gathered(d: Table | None, record: Record, made: dict[int, Any], once: bool, each: bool) -> Any:
    if record.parts is None:
        return zeros_like(record.value)
    if id(record) in made:
        return None if once else made[id(record)]
    made[id(record)] = inside = None if once or each else Inside()
    values = {k: _gathered(d, part, made, once, each) for k, part in record.parts.items()}
    if record.place is not None:
        held = _at(d, record.place.holder)
        for key, part in record.parts.items():
            if not _is_object(part):
                values[key] = add(values[key], held.get(key))
    made[id(record)] = found = _like(record.value, values)
    for key, value in values.items():
        if isinstance(value, Inside):
            value.holders.append((found, key))
    if inside is not None:
        inside.put(found)
    return found


class Inside:
    """The adjoint of an object inside of itself, until it is made; `holders` hold it, each with a key."""

    def __init__(self) -> None:
        self.holders: list[tuple[Any, Any]] = []

    def put(self, adjoint: Any) -> None:
        for holder, key in self.holders:
            if isinstance(holder, tuple):
                raise NonDifferentiableError(
                    "an object that is held by a tuple inside of itself, in a call",
                    why="its tangent would hold itself, too, and a tuple does not change",
                    instead="use a list in place of the tuple",
                )
            if isinstance(holder, (list, dict)):
                holder[key] = adjoint
            else:
                setattr(holder, key, adjoint)


def _like(x: Any, values: dict[Any, Any]) -> Any:
    """The adjoint of an object or container from those of its parts."""
    if isinstance(x, tuple):
        return tuple_like(x, list(values.values()))
    if isinstance(x, LISTS):
        return list(values.values())
    if isinstance(x, dict):
        return dict_like(x, values)
    return None if all(v is None for v in values.values()) else mirror(x, values)


def scattered(dx: Any, record: Record, once: bool = False) -> Table | None:
    """The transpose of `gathered`: the adjoint of the heap from that of a value.

    Raises NonDifferentiableError where an argument that is held twice has two tangents.
    """
    found: dict[int, tuple[Any, dict[Any, Any]]] = {}
    _scatter(dx, record, found, {}, once, record.each)
    return Table(found) if found else None


def _scatter(
    dx: Any,
    record: Record,
    found: dict[int, tuple[Any, dict[Any, Any]]],
    seen: dict[int, Any],
    once: bool,
    each: bool,
) -> None:
    if dx is None or record.parts is None:
        return
    if not once and not each:
        _scatter_each(dx, record, found, set())
        return
    parts = {k: _part_of(dx, k, record.value) for k in record.parts}
    own = {k: own_part(parts[k], part) for k, part in record.parts.items()} if record.place else {}
    if id(record) in seen:
        if each and any(d is not None and not np.array_equal(d, seen[id(record)][k]) for k, d in own.items()):
            raise NonDifferentiableError(
                f"different tangents of one {type(record.value).__name__}, which arguments hold twice",
                why="it has one value, and so one tangent",
                instead="give it the same tangent in both places",
            )
        return
    seen[id(record)] = own
    for key, part in record.parts.items():
        _scatter(parts[key], part, found, seen, once, each)
    if not once:
        del seen[id(record)]
    for key, d in own.items():
        if d is not None:
            held = found.setdefault(id(record.value), (record.value, {}))[1]
            held[key] = add(held.get(key), d)


def _scatter_each(
    dx: Any, record: Record, found: dict[int, tuple[Any, dict[Any, Any]]], around: set[tuple[int, int]]
) -> None:
    """Adds up the adjoints in all places; `around` are the objects around this one, with their adjoints."""
    place = id(dx), id(record)
    if dx is None or record.parts is None or place in around:
        return
    around.add(place)
    parts = {k: _part_of(dx, k, record.value) for k in record.parts}
    for key, part in record.parts.items():
        _scatter_each(parts[key], part, found, around)
    around.discard(place)
    for key, part in record.parts.items() if record.place else ():
        d = own_part(parts[key], part)
        if d is not None:
            held = found.setdefault(id(record.value), (record.value, {}))[1]
            held[key] = add(held.get(key), d)


def _part_of(dx: Any, key: Any, x: Any) -> Any:
    if isinstance(x, (*LISTS, tuple)):
        return dx[key]
    return dx.get(key) if isinstance(dx, dict) else getattr(dx, key, None)


def without_parts(d: Table | None, record: Record) -> Table | None:
    """The adjoint with zero for all that a value holds."""
    for part in nodes(record) if d is not None else ():
        d = cleared(d, part.place.holder)  # type: ignore[union-attr]
    return d


# ---------------------------------------------------------------- positions


def opened(d: Table | None, x: Any, key: Any) -> Table | None:
    """The adjoint after a list gets an item at position `key`; for other objects, with zero there."""
    return _moved(d, x, lambda k: k + (k >= key)) if isinstance(x, LISTS) else without_part(d, x, key)


def closed(d: Table | None, x: Any, key: Any) -> Table | None:
    """The adjoint after a list loses the item at position `key`; for other objects, with zero there."""
    d = without_part(d, x, key)
    return _moved(d, x, lambda k: k - (k > key)) if isinstance(x, LISTS) else d


def opened_at(d: Table | None, x: Any, record: Record) -> Table | None:
    """The adjoint after a list gets items at the positions of a record."""
    positions = sorted(record.parts or ())

    def moved(k: int) -> int:
        for position in positions:
            k += position <= k
        return k

    return _moved(d, x, moved)


def closed_at(d: Table | None, x: Any, record: Record) -> Table | None:
    """The adjoint after a list loses the items at the positions of a record."""
    parts = record.parts or {}
    positions = sorted(parts)
    return _moved(d, x, lambda k: None if k in parts else k - bisect.bisect_left(positions, k))


def cleared(d: Table | None, x: Any) -> Table | None:
    """The adjoint with zero for all items of `x`."""
    return d.with_parts(x, {}) if d is not None and d.at(x) else d


def permuted(d: Table | None, x: Any, order: list[int] | Moved) -> Table | None:
    """The adjoint after a list is reordered: `order[i]` is the old position of item i."""
    if isinstance(order, Moved):
        return unpermuted(d, x, Moved({old: k for k, old in order.items()}))
    places = {k: position for position, k in enumerate(order)}
    return _moved(d, x, places.get)


def unpermuted(d: Table | None, x: Any, order: list[int] | Moved) -> Table | None:
    """The transpose of `permuted`: the adjoint before the list is reordered."""
    if isinstance(order, Moved):
        return _moved(d, x, lambda k: order.get(k, k))
    return _moved(d, x, order.__getitem__)


def _moved(d: Table | None, x: Any, move: Any) -> Table | None:
    held = _at(d, x)
    if d is None or not held:
        return d
    moved = {move(k): v for k, v in held.items()}
    return d.with_parts(x, {k: v for k, v in moved.items() if k is not None})
