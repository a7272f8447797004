"""The heap: run-time helpers for functions that change objects with aliases.

Such a function gets one more variable, the heap: `v = heap_get(heap, x, key)` reads an attribute or item of
`x`, and `heap = heap_set(heap, x, key, v)` changes it. The objects are the user's own and are changed in
place; the variable stands for all their contents, so that its adjoint has an entry for each number or array
in them, by object and key: see `heap_adjoints`.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError
from ..values.objects import (
    fields_of,
    is_member,
    is_named_tuple,
    is_plain,
    is_read_as_it_stands,
    lookup,
    refuse_missing,
    sets_plainly,
    shadows_fields,
)
from ..values.pytree import is_differentiable
from .heap_arrays import Arrays, Holders
from .heap_keys import Moved, reorder
from .object_graph import (
    LISTS,
    SETS,
    Place,
    Record,
    is_reference,
    is_set,
    leaves,
    nodes,
    places_of,
    plain_number,
    reference,
    refuse_iterator,
    refuse_method,
    the_list,
    tuple_like,
)
from .records import held_by

__all__ = [
    "heap_admit",
    "heap_append",
    "heap_clear",
    "heap_constant",
    "heap_copy",
    "heap_delete",
    "heap_element",
    "heap_enter",
    "heap_get",
    "heap_insert",
    "heap_number",
    "heap_object",
    "heap_order",
    "heap_replace",
    "heap_set",
    "heap_splice",
    "heap_view",
    "new_heap",
]


class Heap:
    """Stands for the contents of all objects. `own` are those that the function made or may change; `arrays`
    is set where it changes arrays in them in place.
    """

    def __init__(self, arrays: Arrays | None) -> None:
        self.own: dict[Place, bool] = {}
        self.arrays = arrays

    def is_own(self, x: Any) -> bool:
        """Whether the function has made an object, or may change it."""
        return self.own.get(Place(x), False)


def new_heap(*given: Any) -> Heap:
    """The heap at the start of a function. With arguments it follows arrays, and the arrays in these values
    are held outside of the function.
    """
    return Heap(Arrays(given) if given else None)


def _arrays(heap: Heap | None) -> Arrays | None:
    """The record of arrays in a heap; None without a heap, or where it follows none."""
    return None if heap is None else heap.arrays


def _note(heap: Heap | None, holder: Any, value: Any) -> None:
    """Notes that an object now holds a value."""
    if (arrays := _arrays(heap)) is not None:
        arrays.note(holder, value)


# ---------------------------------------------------------------- reading and changing


def heap_enter(heap: Heap, x: Any, record: Record, own: bool = True) -> Heap:
    """The heap with the objects of a new value in it; with `own` the function may change them."""
    for part in nodes(record):
        heap.own.setdefault(part.place, own)  # type: ignore[arg-type]
        for leaf in (part.parts or {}).values() if heap.arrays else ():
            _note(heap, part.place.holder, leaf.value)  # type: ignore[union-attr]
    return heap


def heap_admit(heap: Heap, x: Any) -> Heap:
    """The heap where the function may change an object of an outer scope, and those that it holds."""
    if (arrays := _arrays(heap)) is not None:
        arrays.note_outside(x)
    return heap_enter(heap, x, places_of(x))


def heap_view(heap: Heap, x: Any, record: Record) -> Any:
    """The value itself; raises UnsupportedSyntaxError if it holds an array from before a change, or a
    function that reads an object of the heap: the contents of that are not passed with it.
    """
    _check_leaves(heap, record)
    for leaf in leaves(record) if heap is not None and heap.own else ():
        if isinstance(leaf, (FunctionType, MethodType, partial)):
            _check_reached(heap, leaf)
    return x


def _check_reached(heap: Heap, function: Any) -> None:
    seen: set[int] = set()
    todo = [function]
    while todo:
        x = todo.pop()
        if Place(x) in heap.own:
            raise UnsupportedSyntaxError(
                f"a held function that reads an object of type {type(x).__name__}, among changes of objects",
                why="what the object holds when the function is called is not followed",
                instead="make it a method, or pass it the object as an argument",
            )
        if id(x) not in seen:
            seen.add(id(x))
            todo += held_by(x)


def _check_leaves(heap: Heap, record: Record) -> None:
    arrays = _arrays(heap)
    if arrays is not None and arrays.stale:
        for leaf in leaves(record):
            arrays.check(leaf)


def heap_copy(heap: Heap, x: Any, record: Record, deep: bool = False) -> Any:
    """A copy of a container, a list for a deque; with `deep` the containers in it are copied, too."""
    _check_leaves(heap, record)
    if isinstance(x, dict):
        new = copy.copy(x)
        if deep:
            new.update({k: heap_copy(heap, v, record, deep) for k, v in x.items()})
        return new
    if isinstance(x, LISTS) or (deep and isinstance(x, tuple)):
        items = [heap_copy(heap, v, record, deep) if deep else v for v in x]
        return items if isinstance(x, LISTS) else tuple_like(x, items)
    if is_plain(type(x)) and hasattr(type(x), "__iter__"):
        refuse_iterator(x)
    return x


def heap_get(heap: Heap, x: Any, key: Any, is_field: bool = False) -> Any:
    """An attribute or item of `x`.

    Raises UnsupportedSyntaxError for an attribute that is computed, such as a property.
    """
    value = _got(heap, x, key, is_field)
    if (arrays := _arrays(heap)) is not None:
        arrays.check(value)
    return value


def _got(heap: Heap, x: Any, key: Any, is_field: bool) -> Any:
    if not is_field:
        if not isinstance(x, (*LISTS, dict, tuple, np.ndarray, range, str)):
            refuse_method(x)
        return _made_missing(heap, x, key) if isinstance(x, defaultdict) and key not in x else x[key]
    if is_named_tuple(type(x)) and key in x._fields:
        return getattr(x, key)
    if is_plain(type(x)) and is_read_as_it_stands(x, key):
        value = getattr(x, key)
        if (arrays := _arrays(heap)) is not None and key not in fields_of(x):
            arrays.note_outside(value)
        if not isinstance(value, (MethodType, BuiltinFunctionType)) or not any(True for _ in held_by(value)):
            return value
    elif _is_of_class(x, key) or (
        isinstance(x, np.ndarray) and key in ("shape", "ndim", "size", "dtype", "T")
    ):
        return getattr(x, key)
    refuse_missing(x, key)
    raise UnsupportedSyntaxError(
        f"the attribute `{key}` of a value of type {type(x).__name__}, among changes of objects",
        why="it is no plain attribute that the value holds",
        instead="call a function of the module's that computes it",
    )


def _is_of_class(x: Any, key: str) -> bool:
    """Whether an attribute is the class of `x`, or the name of the class that `x` is."""
    if isinstance(x, type) and key in ("__name__", "__qualname__"):
        return lookup(type(x), key) is lookup(type, key)
    return key == "__class__" and lookup(type(x), key) is lookup(object, key)


def _made_missing(heap: Heap, x: Any, key: Any) -> Any:
    """The value that a defaultdict makes for a missing key."""
    if x.default_factory not in (list, dict, int, float, complex):
        refuse_method(x)
    value = x[key]
    if is_reference(value):
        heap.own[Place(value)] = True
    return value


def heap_number(heap: Heap, x: Any, key: Any, is_field: bool = False) -> Any:
    """As `heap_get`, for a value that is no object or container; raises UnsupportedSyntaxError for one."""
    return plain_number(heap_get(heap, x, key, is_field))


def heap_object(x: Any, key: Any, is_field: bool = False, cls: type | None = None) -> Any:
    """As `heap_get`, for a container or an object of the class; raises UnsupportedSyntaxError for others."""
    return reference(heap_get(new_heap(), x, key, is_field), cls)


def heap_constant(x: Any, key: Any, is_field: bool = False) -> Any:
    """As `heap_get`, for an inactive value; raises UnsupportedSyntaxError for others."""
    value = heap_get(new_heap(), x, key, is_field)
    if is_member(value):
        return value
    record = places_of(value)
    if any(True for _ in nodes(record)) or any(map(is_differentiable, leaves(record))):
        raise UnsupportedSyntaxError(
            f"a value of type {type(value).__name__}, where an integer or the like was expected",
            why="among changes of objects, what carries derivatives has to be known",
            instead="use a name, or an attribute, for values of one type",
        )
    return value


def heap_element(heap: Heap, x: Any, key: Any) -> Any:
    """The element of `x` that a loop over it binds, for one of its `keys_of`."""
    return key if isinstance(x, (dict, *SETS)) else heap_get(heap, x, key)


def _check_change(heap: Heap | None, x: Any, key: Any = "", is_field: bool = False) -> None:
    """Raises UnsupportedSyntaxError for an object that the function may not change, or whose class defines
    the store itself; without a heap only for the latter.
    """
    if isinstance(x, np.ndarray):
        raise UnsupportedSyntaxError(
            "an array that is changed in place, among changes of objects",
            why="which of them hold it is not followed",
            instead="make a new one: `a = a + v`",
        )
    if isinstance(x, tuple):
        raise UnsupportedSyntaxError(
            "an in-place update of an item of a tuple",
            why="a tuple cannot be changed",
            instead="make a new tuple",
        )
    if heap is not None and not heap.is_own(x):
        raise UnsupportedSyntaxError(
            f"a change of an object of type {type(x).__name__} that something outside of the function holds",
            why="the change would be seen there, and following it is not supported",
            instead="make a new object, or return the new value",
        )
    cls = type(x)
    if is_field:
        is_simple = is_plain(cls) and sets_plainly(cls)
        is_simple = is_simple and not shadows_fields(lookup(cls, key))
    else:
        is_simple = not any("__setitem__" in vars(c) for c in cls.__mro__ if c.__module__ not in BUILT_IN)
        is_simple = is_simple and isinstance(x, (*LISTS, dict))
    if not is_simple:
        refuse_method(x)


BUILT_IN = ("builtins", "collections")


def heap_set(heap: Heap, x: Any, key: Any, value: Any, is_field: bool = False) -> Heap:
    """Sets an attribute or item."""
    _check_change(heap, x, key, is_field)
    if is_field:
        setattr(x, key, value)
    else:
        x[key] = value
    _note(heap, x, value)
    return heap


def heap_replace(heap: Heap, value: Any, holders: Holders) -> Heap:
    """Stores an array into each of the holders, in place of another one."""
    for x, key in holders:
        heap_set(heap, x, key, value, is_plain(type(x)))
    return heap


def heap_append(heap: Heap, x: Any, key: int, value: Any) -> Heap:
    """Appends to a list or deque that has `key` items."""
    _check_change(heap, the_list(x))
    x.append(value)
    _note(heap, x, value)
    if len(x) != key + 1:
        refuse_method(x)
    return heap


def heap_insert(heap: Heap, x: Any, key: int, value: Any) -> Heap:
    """Inserts an item before the position `key`."""
    _check_change(heap, the_list(x))
    x.insert(key, value)
    _note(heap, x, value)
    return heap


def heap_splice(heap: Heap, x: Any, items: list[Any], record: Record) -> Heap:
    """Inserts items into a list, at the positions of the record."""
    _check_change(heap, the_list(x))
    placed = dict(zip(record.parts or {}, items, strict=True))
    others = iter(list(x))
    x[:] = [placed[k] if k in placed else next(others) for k in range(len(x) + len(placed))]
    for value in items:
        _note(heap, x, value)
    return heap


def heap_delete(heap: Heap, x: Any, key: Any, is_field: bool = False) -> Heap:
    """Deletes an attribute or item; of a set nothing, whose element is gone with its key."""
    if is_set(x):
        return heap
    _check_change(heap, x, key, is_field)
    if is_field:
        delattr(x, key)
    else:
        del x[key]
    return heap


def heap_clear(heap: Heap, x: Any) -> Heap:
    """Deletes all items."""
    if is_set(x):
        x.clear()
        return heap
    _check_change(heap, x)
    x.clear()
    return heap


def heap_order(heap: Heap, x: Any, order: list[int] | Moved) -> Heap:
    """Reorders a list: item i is the one that was at `order[i]`; items left out of the order are deleted."""
    _check_change(heap, the_list(x))
    reorder(x, order)
    return heap
