"""Changes in place of arrays that objects in the heap hold.

Contract: a change makes a new array and puts it into every object that holds the old one; residuals keep the
old one. A view or tuple of the same memory then is stale, and is refused when it is read. A change is refused
where a local name that is read later, or something outside of the function, holds the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError
from ..values.libraries import has_dtype
from .adjoints import take_stored, zeros_like
from .heap_keys import counts_numbers
from .mutation import refuse_shared
from .object_graph import Place, is_reference, parts_of
from .reachable_arrays import Outside, contents, held_in

__all__ = [
    "Arrays",
    "Holders",
    "holders_of",
    "is_array",
    "item_cleared",
    "item_stored",
    "item_taken",
    "note_outside",
    "with_item",
]

Holders = tuple[tuple[Any, Any], ...]  # objects, each with the key under which it holds an array


class Arrays:
    """Which objects may hold an array of which memory; memory that is held outside, and that has stale views.
    """

    def __init__(self, given: Iterable[Any]) -> None:
        self.outside: set[Place] = set()
        self.later: list[Outside] = []
        self.holders: dict[Place, set[Place]] = {}
        self.stale: set[Place] = set()
        for x in given:
            if isinstance(x, Outside):
                self.later.append(x)
            else:
                self.note_outside(x)

    def note_outside(self, x: Any) -> None:
        """Notes that the arrays in a value may be held outside of the function."""
        todo, seen = [x], set()
        while todo:
            x = todo.pop()
            if not is_reference(x):
                self.outside.update(map(_memory, _arrays_of(x)))
            elif id(x) not in seen:
                seen.add(id(x))
                todo += parts_of(x).values()

    def note(self, holder: Any, value: Any) -> None:
        """Notes that an object now holds a value."""
        if not is_reference(value):
            for array in _arrays_of(value):
                self.holders.setdefault(_memory(array), set()).add(Place(holder))

    def check(self, x: Any) -> None:
        """Raises UnsupportedSyntaxError for a value that is or holds an array from before a change."""
        if self.stale and not is_reference(x) and any(_memory(a) in self.stale for a in _arrays_of(x)):
            _refuse("this value holds as well, a view or a tuple", "hold a copy: `x.copy()`")

    def is_outside(self, memory: Place) -> bool:
        held = [a for a in held_in(self.later) if isinstance(a, np.ndarray)]
        return memory in self.outside or any(_memory(a) == memory for a in held)


def _memory(x: Any) -> Place:
    """The object that owns the memory of an array."""
    while True:
        base = getattr(x, "obj" if isinstance(x, memoryview) else "base", None)
        if base is None:
            return Place(x)
        x = base


def _arrays_of(x: Any) -> Iterator[np.ndarray]:
    """The arrays that a value is, or holds in tuples and functions.

    Raises UnsupportedSyntaxError for an iterator, which may hold any.
    """
    todo, seen = [x], set()
    while todo:
        x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        match x:
            case np.ndarray():
                yield x
            case tuple():
                todo += x
            case MethodType():
                todo += [x.__self__, x.__func__]
            case partial():
                todo += [x.func, *x.args, *x.keywords.values()]
            case FunctionType():
                todo += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
                todo += map(contents, x.__closure__ or ())
            case _ if hasattr(type(x), "__next__") and not counts_numbers(x):
                raise UnsupportedSyntaxError(
                    f"a value of type {type(x).__name__}, among changes of arrays in place",
                    why="which arrays it holds is not followed",
                    instead="make it a list",
                )


def note_outside(heap: Any, x: Any) -> None:
    """Notes that the arrays in a value may be held outside of the function."""
    heap.arrays.note_outside(x)


def holders_of(heap: Any, x: Any, *names: Any) -> Holders:
    """The objects and keys that hold an array that is about to change; none for a number. `names` are values
    of local names that are read later.

    Raises UnsupportedSyntaxError if such a value, or something outside of the function, would see the change.
    """
    if not isinstance(x, np.ndarray):
        if has_dtype(x) and not isinstance(x, np.generic):
            raise UnsupportedSyntaxError(
                f"an array of type {type(x).__name__} that is changed in place, among changes of objects",
                why="who else sees that memory is known of NumPy's arrays alone",
                instead="use NumPy's arrays",
            )
        if not isinstance(x, set):  # which `stored_in` changes
            refuse_shared(x)
        return ()
    if not x.flags.writeable:
        raise ValueError("output array is read-only")
    memory = _memory(x)
    if heap.arrays.is_outside(memory):
        instead = "write `x = x + ...`, which makes a new one; or copy it before: `w = w.copy()`"
        _refuse("something outside of the function holds", instead)
    if any(_memory(a) == memory for a in _arrays_of(names)):
        _refuse("another name, read later, holds as well", "write `x = x + ...`, which makes a new one")
    found = []
    for place in heap.arrays.holders.get(memory, ()):
        for key, value in parts_of(place.holder).items():
            if value is x:
                found.append((place.holder, key))
            elif not is_reference(value) and any(_memory(a) == memory for a in _arrays_of(value)):
                heap.arrays.stale.add(memory)
    return tuple(found)


def _refuse(who: str, instead: str) -> None:
    raise UnsupportedSyntaxError(
        f"an array that is changed in place, and that {who}, among changes of objects",
        why="the change would be seen there, and following it is not supported",
        instead=instead,
    )


def is_array(x: Any) -> bool:
    """Whether a value is an array."""
    return isinstance(x, np.ndarray)


# ---------------------------------------------------------------- items


def with_item(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array in which a value is stored at an index."""
    new = np.copy(x)
    new[index] = value
    return new


def item_cleared(dx: Any, index: Any) -> Any:
    """The adjoint of an array with zeros at an index."""
    return with_item(dx, index, 0) if isinstance(dx, np.ndarray) else dx


def item_taken(dx: Any, index: Any, value: Any) -> Any:
    """The adjoint of the value stored at an index from that of the array; zero for an array of integers."""
    return take_stored(dx, index, value) if isinstance(dx, np.ndarray) else zeros_like(value)


def item_stored(dvalue: Any, index: Any, x: Any) -> Any:
    """The tangent of an array `x` from that of the value stored at an index; None for integers."""
    zeros = zeros_like(x)
    return None if zeros is None or dvalue is None else with_item(zeros, index, dvalue)
