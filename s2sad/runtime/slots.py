"""Attributes and items that are read and set as they stand, in programs with a heap whose objects are known.

`v = get_field(heap, x, "name")` is `v = x.name`, and `heap = set_field(heap, x, "name", v)` is `x.name = v`:
so they are written in derivatives that run (`s2sad/derivatives/plain_objects.py`). As calls they carry the
heap, whose adjoint is a table of slots: see `heap_adjoints`. There `Shadows` stands in its place, which
changes in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .adjoints import add
from .heap_adjoints import zero_like
from .heap_keys import Moved, reorder
from .heap_table import Table
from .object_graph import LISTS, Record, nodes, tuple_like

__all__ = [
    "Row",
    "Shadows",
    "append_item",
    "born",
    "clear_items",
    "copy_items",
    "delete_item",
    "emptied",
    "entered",
    "entered_field",
    "extended",
    "field_alone",
    "field_at",
    "field_whole",
    "filled",
    "get_field",
    "get_item",
    "held_field",
    "held_item",
    "held_items",
    "hold_append",
    "hold_clear",
    "hold_delete",
    "hold_field",
    "hold_insert",
    "hold_item",
    "hold_order",
    "hold_splice",
    "insert_item",
    "item_alone",
    "item_at",
    "item_whole",
    "items_alone",
    "items_at",
    "keys_in",
    "known",
    "made_item",
    "order_items",
    "plus",
    "positions",
    "read_items",
    "read_rows",
    "rows_alone",
    "rows_at",
    "rows_of",
    "set_field",
    "set_item",
    "shaped",
    "splice",
    "splice_items",
    "whole_field",
    "whole_item",
    "without_field",
    "without_item",
]


# ---------------------------------------------------------------- reading and changing


def born(heap: Any, x: Any) -> Any:
    """Marks a new object without attributes or items."""
    return heap


def known(x: Any) -> Any:
    """An object itself; what it holds is the heap's."""
    return x


def filled(heap: Any, x: Any, record: Record) -> Any:
    """Notes a new list or dict of numbers or arrays."""
    return heap


def entered(heap: Any, x: Any, key: Any, value: Any, like: Any) -> Any:
    """Notes a number or array that a list or dict is made with; `like` has its shape."""
    return heap


def entered_field(heap: Any, x: Any, name: str, value: Any, like: Any) -> Any:
    """Notes a number or array in an attribute that an object is made with; `like` has its shape."""
    return heap


def get_field(heap: Any, x: Any, name: str) -> Any:
    """A number or array in an attribute."""
    return getattr(x, name)


def get_item(heap: Any, x: Any, key: Any) -> Any:
    """A number or array in a list or dict."""
    return x[key]


def made_item(x: Any, key: Any) -> None:
    """Reads an item, which a defaultdict makes if it is missing."""
    x[key]


def whole_field(heap: Any, x: Any, name: str) -> Any:
    """A number, an array, a tuple or None in an attribute."""
    return getattr(x, name)


def whole_item(heap: Any, x: Any, key: Any) -> Any:
    """A number, an array, a tuple or None in a list or dict."""
    return x[key]


def read_items(heap: Any, x: Any) -> Any:
    """A list with the numbers or arrays of a list."""
    return list(x)


def read_rows(heap: Any, rows: list[Any]) -> list[Any]:
    """Lists with the numbers of lists, which `rows` has."""
    return rows_of(rows)


def rows_of(rows: list[Any]) -> list[Any]:
    """Copies of lists."""
    return [list(row) for row in rows]


def copy_items(heap: Any, x: dict[Any, Any]) -> Any:
    """A copy of a dict of numbers or arrays."""
    return x.copy()


def held_items(x: Any) -> list[Any]:
    """A list with the objects of a list."""
    return list(x)


def keys_in(x: dict[Any, Any]) -> list[Any]:
    """The keys of a dict that keeps its keys while they are used."""
    return list(x)


def positions(x: list[Any]) -> range:
    """The positions of the items of a list that keeps its length while they are used."""
    return range(len(x))


def held_field(x: Any, name: str) -> Any:
    """An object, or an inactive value, in an attribute."""
    return getattr(x, name)


def held_item(x: Any, key: Any) -> Any:
    """An object, or an inactive value, in a list or dict."""
    return x[key]


def set_field(heap: Any, x: Any, name: str, value: Any, like: Any) -> Any:
    """Sets an attribute to a number or array; `like` has its shape."""
    setattr(x, name, value)
    return heap


def set_item(heap: Any, x: Any, key: Any, value: Any, like: Any) -> Any:
    """Sets an item to a number or array; `like` has its shape."""
    x[key] = value
    return heap


def append_item(heap: Any, x: Any, key: int, value: Any, like: Any) -> Any:
    """Appends a number or array, whose position will be `key`."""
    x.append(value)
    return heap


def insert_item(heap: Any, x: Any, key: int, value: Any, like: Any) -> Any:
    """Inserts a number or array at a position of a list."""
    x.insert(key, value)
    return heap


def delete_item(heap: Any, x: Any, key: int) -> Any:
    """Deletes a number or array from a list."""
    del x[key]
    return heap


def clear_items(heap: Any, x: Any) -> Any:
    """Deletes all numbers and arrays from a list or dict."""
    x.clear()
    return heap


def order_items(heap: Any, x: Any, order: list[int] | Moved) -> Any:
    """Reorders a list of numbers or arrays: item i is the one that was at `order[i]`."""
    reorder(x, order)
    return heap


def splice_items(heap: Any, x: Any, items: list[Any], record: Record) -> Any:
    """Inserts numbers or arrays into a list, at the positions of the record."""
    splice(x, items, record)
    return heap


def splice(x: Any, items: list[Any], record: Record) -> None:
    """Inserts items into a list or deque, at the positions of the record."""
    positions = list(record.parts or ())
    if positions == list(range(len(x), len(x) + len(items))):
        x.extend(items)
    else:
        for position, item in sorted(zip(positions, items, strict=True), key=lambda both: both[0]):
            x.insert(position, item)


def hold_field(heap: Any, x: Any, name: str, value: Any) -> Any:
    """Sets an attribute to an object."""
    setattr(x, name, value)
    return heap


def hold_item(heap: Any, x: Any, key: Any, value: Any) -> Any:
    """Sets an item to an object."""
    x[key] = value
    return heap


def hold_append(heap: Any, x: Any, value: Any) -> Any:
    """Appends an object."""
    x.append(value)
    return heap


def hold_insert(heap: Any, x: Any, key: int, value: Any) -> Any:
    """Inserts an object at a position of a list."""
    x.insert(key, value)
    return heap


def hold_delete(heap: Any, x: Any, key: Any) -> Any:
    """Deletes an object from a list, or any item from a dict."""
    del x[key]
    return heap


def hold_clear(heap: Any, x: Any) -> Any:
    """Deletes all objects from a list or dict."""
    x.clear()
    return heap


def hold_order(heap: Any, x: Any, order: list[int] | Moved) -> Any:
    """Reorders a list of objects."""
    reorder(x, order)
    return heap


def hold_splice(heap: Any, x: Any, items: list[Any], record: Record) -> Any:
    """Inserts objects into a list, at the positions of the record."""
    splice(x, items, record)
    return heap


# ---------------------------------------------------------------- adjoints


def field_at(d: Table | None, x: Any, name: str, like: Any) -> Any:
    """The adjoint of an attribute whose value is `like` another."""
    found = None if d is None else d.at(x).get(name)
    return zero_like(like) if found is None else found


def item_at(d: Table | None, x: Any, key: Any, like: Any) -> Any:
    """The adjoint of an item whose value is `like` another."""
    return field_at(d, x, key, like)


def field_alone(dvalue: Any, x: Any, name: str) -> Table:
    """The adjoint of the heap from that of an attribute."""
    return Table({id(x): (x, {name: dvalue})})


def item_alone(dvalue: Any, x: Any, key: Any) -> Table:
    """The adjoint of the heap from that of an item."""
    return Table({id(x): (x, {key: dvalue})})


def field_whole(dvalue: Any, x: Any, name: str, like: Any) -> Table:
    """As `field_alone`; unless `like` is 0.0 the value may be a tuple, or None with the adjoint None."""
    return Table({}) if dvalue is None else field_alone(dvalue, x, name)


def item_whole(dvalue: Any, x: Any, key: Any, like: Any) -> Table:
    """As `item_alone`; unless `like` is 0.0 the value may be a tuple, or None with the adjoint None."""
    return field_whole(dvalue, x, key, like)


def items_alone(dvalues: Any, x: Any) -> Table:
    """The adjoint of the heap from those of all items of a list or dict; None is zero."""
    held = {k: d for k, d in _pairs(dvalues) if d is not None}
    return Table({id(x): (x, held)} if held else {})


def rows_alone(dvalues: Any, rows: list[Any]) -> Table:
    """The adjoint of the heap from those of all items of lists, one of which may be there several times."""
    found: dict[int, tuple[Any, dict[Any, Any]]] = {}
    for row, values in zip(rows, () if dvalues is None else dvalues, strict=False):
        held = found.setdefault(id(row), (row, {}))[1]
        for key, value in _pairs(values):
            held[key] = add(held.get(key), value)
    return Table(found)


def rows_at(d: Table | None, rows: list[Any], like: Any) -> Any:
    """The adjoints of all items of lists, whose values are `like` those of others."""
    return [items_at(d, row, values) for row, values in zip(rows, like, strict=True)]


def items_at(d: Table | None, x: Any, like: Any) -> Any:
    """The adjoints of all items of a list or dict, whose values are `like` those of another."""
    return _beside({} if d is None else d.at(x), like)


def _pairs(values: Any) -> Any:
    """The items of a list or dict, with their positions or keys."""
    return values.items() if isinstance(values, dict) else enumerate(() if values is None else values)


def _beside(held: Any, like: Any) -> Any:
    """The adjoints of the items of a list or dict; zero where none is held."""
    found = {k: shaped(held.get(k, 0.0), v) for k, v in _pairs(like)}
    return found if isinstance(like, dict) else list(found.values())


def without_field(d: Table | None, x: Any, name: str) -> Table | None:
    """The adjoint with zero for an attribute."""
    return None if d is None else d.without_part(x, name)


def without_item(d: Table | None, x: Any, key: Any) -> Table | None:
    """The adjoint with zero for an item."""
    return None if d is None else d.without_part(x, key)


class Shadow:
    """The adjoints of the attributes of an object; zero at first."""

    def __getattr__(self, name: str) -> float:
        return 0.0


class Part:
    """The adjoints of the items of a list or dict, by position or key."""

    def add(self, values: Any) -> None:
        """Adds the adjoints of all items; None is zero."""
        held: Any = self
        for k, value in _pairs(values):
            if value is not None:
                held[k] = plus(held[k], value)

    def like(self, values: Any) -> Any:
        """The adjoints of all items, in the shapes of these values."""
        return _beside(self, values)


class Items(Part, dict[Any, Any]):
    """The adjoints of the items of a list or dict; zero at first."""

    def __missing__(self, key: Any) -> float:
        return 0.0


class Row(Part, list[Any]):
    """The adjoints of the items of a list whose items move; zero at first, and beyond its end."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if key < len(self) else 0.0

    def __setitem__(self, key: Any, value: Any) -> None:
        if key >= len(self):
            self.extend([0.0] * (key + 1 - len(self)))
        super().__setitem__(key, value)

    def get(self, key: Any, default: Any = None) -> Any:
        """The adjoint of an item."""
        return self[key]

    def items(self) -> Iterable[tuple[int, Any]]:
        """The adjoints with the positions of the items."""
        return enumerate(self)

    def insert(self, key: Any, value: Any) -> None:
        """The list gets an item at a position."""
        if key < len(self):
            super().insert(key, value)
        else:
            self[key] = value

    def pop(self, key: Any = -1) -> Any:
        """The adjoint of an item, which the list loses."""
        return super().pop(key) if key < len(self) else 0.0

    def reorder(self, order: list[int] | Moved) -> None:
        """The list is reordered: `order[i]` is the old position of item i."""
        if isinstance(order, Moved):
            reorder(self, order)
            return
        super().__setitem__(slice(None), [self[k] for k in order])

    def restore(self, order: list[int] | Moved) -> None:
        """The list gets the items back that had another order, or were deleted."""
        if isinstance(order, Moved):
            reorder(self, Moved({old: k for k, old in order.items()}))
            return
        items = [0.0] * (max(order, default=-1) + 1)
        for position, k in enumerate(order):
            items[k] = self[position]
        super().__setitem__(slice(None), items)

    def open(self, record: Record) -> None:
        """The list gets items at the positions of a record."""
        for position in sorted(record.parts or ()):
            self.insert(position, 0.0)

    def close(self, record: Record) -> None:
        """The list loses the items at the positions of a record."""
        for position in sorted(record.parts or (), reverse=True):
            self.pop(position)


class Shadows:
    """The adjoints of what objects hold, during one reverse sweep: `d[x].name`, and `d[x][key]` of a list or
    dict. Adjoints are replaced, and never changed in place. `row` is the class of the shadows of lists.
    """

    __slots__ = ("made", "row")

    def __init__(self, row: type = Items) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}  # by `id`: the object, kept alive, and its shadow
        self.row = row

    def __getitem__(self, x: Any) -> Any:
        found = self.made.get(id(x))
        if found is None:
            shadow = self.row() if isinstance(x, LISTS) else Items() if isinstance(x, dict) else Shadow()
            found = self.made[id(x)] = x, shadow
        return found[1]

    def at(self, x: Any) -> Any:
        """The adjoints of what an object holds, by key: what `get` gives, and 0.0 for zero."""
        shadow = self[x]
        return vars(shadow) if isinstance(shadow, Shadow) else shadow


def extended(d: Shadows, table: Table | None) -> Shadows:
    """Adds a table to shadows, in place."""
    for x, parts in () if table is None else table.items():
        held = d.at(x)
        for key, value in parts.items():
            held[key] = plus(held.get(key, 0.0), value)  # a new array
    return d


def emptied(d: Shadows, record: Record) -> Shadows:
    """Shadows that are zero for all that a value holds, in place."""
    for part in nodes(record):
        held = d[part.place.holder]  # type: ignore[union-attr]
        (vars(held) if isinstance(held, Shadow) else held).clear()
    return d


def shaped(dvalue: Any, like: Any) -> Any:
    """An adjoint from shadows, in the shape of its value: a number stands for zero."""
    return zero_like(like) if type(dvalue) is float and dvalue == 0.0 else dvalue


def plus(dvalue: Any, more: Any) -> Any:
    """An adjoint from shadows, and another one of the same value, which may be None or a tuple. Arrays are
    new: others are added to them in place.
    """
    if isinstance(more, tuple):
        return more if type(dvalue) is float else tuple_like(more, list(map(plus, dvalue, more)))
    return add(dvalue, more)
