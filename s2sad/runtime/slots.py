"""Attributes and items that are read and set as they stand, in programs with a heap whose objects are known.

`v = get_field(heap, x, "name")` is `v = x.name`, and `heap = set_field(heap, x, "name", v)` is `x.name = v`:
so they are written in derivatives that run (`s2sad/derivatives/plain_objects.py`). As calls they carry the
heap, whose adjoint is a table of slots: see `heap_adjoints`. There `Shadows` stands in its place, which
changes in place.
"""

from __future__ import annotations

from typing import Any

from .adjoints import zeros_like
from .heap_table import Table
from .object_graph import Record

__all__ = [
    "Shadows",
    "append_item",
    "born",
    "extended",
    "field_alone",
    "field_at",
    "get_field",
    "get_item",
    "held_field",
    "held_item",
    "hold_append",
    "hold_field",
    "hold_item",
    "item_alone",
    "item_at",
    "keys_in",
    "known",
    "positions",
    "read_items",
    "set_field",
    "set_item",
    "shaped",
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


def get_field(heap: Any, x: Any, name: str) -> Any:
    """A number or array in an attribute."""
    return getattr(x, name)


def get_item(heap: Any, x: Any, key: Any) -> Any:
    """A number or array in a list or dict."""
    return x[key]


def read_items(heap: Any, x: Any, record: Record) -> Any:
    """A list with the numbers or arrays of a list."""
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


# ---------------------------------------------------------------- adjoints


def field_at(d: Table | None, x: Any, name: str, like: Any) -> Any:
    """The adjoint of an attribute whose value is `like` another."""
    found = None if d is None else d.at(x).get(name)
    return zeros_like(like) if found is None else found


def item_at(d: Table | None, x: Any, key: Any, like: Any) -> Any:
    """The adjoint of an item whose value is `like` another."""
    return field_at(d, x, key, like)


def field_alone(dvalue: Any, x: Any, name: str) -> Table:
    """The adjoint of the heap from that of an attribute."""
    return Table({id(x): (x, {name: dvalue})})


def item_alone(dvalue: Any, x: Any, key: Any) -> Table:
    """The adjoint of the heap from that of an item."""
    return Table({id(x): (x, {key: dvalue})})


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


class Items(dict[Any, Any]):
    """The adjoints of the items of a list or dict, by position or key; zero at first."""

    def __missing__(self, key: Any) -> float:
        return 0.0


class Shadows:
    """The adjoints of what objects hold, during one reverse sweep: `d[x].name`, and `d[x][key]` of a list or
    dict. Adjoints are replaced, and never changed in place.
    """

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}  # by `id`: the object, kept alive, and its shadow

    def __getitem__(self, x: Any) -> Any:
        found = self.made.get(id(x))
        if found is None:
            shadow = Items() if isinstance(x, (list, dict)) else Shadow()
            found = self.made[id(x)] = x, shadow
        return found[1]

    def at(self, x: Any) -> dict[Any, Any]:
        """The adjoints of what an object holds, by key."""
        shadow = self[x]
        return shadow if isinstance(shadow, Items) else vars(shadow)


def extended(d: Shadows, table: Table | None) -> Shadows:
    """Adds a table to shadows, in place."""
    for x, parts in () if table is None else table.items():
        held = d.at(x)
        for key, value in parts.items():
            held[key] = held.get(key, 0.0) + value  # a new array
    return d


def shaped(dvalue: Any, like: Any) -> Any:
    """An adjoint from shadows, in the shape of its value: a number stands for zero."""
    return zeros_like(like) if type(dvalue) is float and dvalue == 0.0 else dvalue
