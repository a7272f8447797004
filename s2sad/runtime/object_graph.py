"""Snapshots of object graphs: each object with its parts, by attribute, key or position.

Contract: objects are told apart by identity (`Place`); a `Record` does not change when the objects do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError, describe
from ..values.objects import fields_of, is_plain, lookup, own_methods
from ..values.pytree import is_differentiable

__all__ = [
    "arguments_of",
    "change_set",
    "check_function",
    "check_members",
    "check_number",
    "is_set",
    "items_of",
    "mapped",
    "outer_object",
    "places_of",
    "plain_number",
    "reference",
    "set_element",
    "set_items",
    "the_list",
    "the_set",
    "unnamed_method",
]


class Place:
    """An object as a key of dicts, compared by identity."""

    __slots__ = ("holder",)

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def __hash__(self) -> int:
        return id(self.holder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.holder is other.holder


class Record:
    """A snapshot of a value: an object and its parts, a tuple (no place) and its parts, or a leaf (no parts).
    `each`: an object in it that is held several times has its adjoint each time.
    """

    __slots__ = ("each", "parts", "place", "value")

    def __init__(
        self, value: Any, place: Place | None = None, parts: dict[Any, Record] | None = None
    ) -> None:
        self.value, self.place, self.parts, self.each = value, place, parts, False


LISTS = (list, deque)
SETS = (set, frozenset)


def is_reference(x: Any) -> bool:
    """Whether a value holds others and can be changed."""
    return isinstance(x, (*LISTS, dict)) or is_plain(type(x))


def tuple_like(x: Any, items: list[Any]) -> Any:
    """A tuple, or a named one as `x`, of these items."""
    return type(x)._make(items) if hasattr(x, "_make") else tuple(items)


def parts_of(x: Any) -> dict[Any, Any]:
    """What an object or container holds, by attribute, key or position."""
    if isinstance(x, (*LISTS, tuple)):
        return dict(enumerate(x))
    return x if isinstance(x, dict) else fields_of(x)


def places_of(x: Any) -> Record:
    """A snapshot of a value and all that it holds; an object that is held several times has one record."""
    return _record(x, {})


def items_of(x: Any) -> Record:
    """A snapshot of a container that is made or copied: the objects in it are leaves without value."""
    if not isinstance(x, (*LISTS, dict, tuple)):
        return places_of(x)
    parts = {k: _item(v) for k, v in parts_of(x).items()}
    return Record(x, None if isinstance(x, tuple) else Place(x), parts)


def _item(x: Any) -> Record:
    if isinstance(x, tuple):
        return items_of(x)
    return Record(None if is_reference(x) else x)


def _record(x: Any, made: dict[int, Record]) -> Record:
    is_tuple = isinstance(x, tuple)
    if not is_tuple and not is_reference(x):
        return Record(x)
    if id(x) in made:
        return made[id(x)]
    parts: dict[Any, Record] = {}
    made[id(x)] = record = Record(x, None if is_tuple else Place(x), parts)
    parts.update({k: _record(v, made) for k, v in parts_of(x).items()})
    return record


def arguments_of(x: tuple[Any, ...]) -> Record:
    """A snapshot of the arguments of a function."""
    record = places_of(x)
    record.each = True
    return record


def nodes(record: Record) -> list[Record]:
    """The records of objects."""
    return [r for r in _all(record) if r.place is not None]


def leaves(record: Record) -> Iterator[Any]:
    """The values in a record that are neither objects nor tuples."""
    return (r.value for r in _all(record) if r.parts is None)


def _all(record: Record) -> Iterator[Record]:
    """A record, and those of all that it holds, each once."""
    todo, seen = [record], set()
    while todo:
        r = todo.pop()
        if r.parts is None or id(r) not in seen:
            seen.add(id(r))
            todo += (r.parts or {}).values()
            yield r


def reference(x: Any, cls: type | None = None) -> Any:
    """An object or container itself; its derivative is the heap's.

    Raises UnsupportedSyntaxError for anything else, and for an object of another class than `cls`.
    """
    if not is_reference(x) or (cls is not None and type(x) is not cls):
        raise UnsupportedSyntaxError(
            f"a value of type {type(x).__name__}, where another was expected, among changes of objects",
            why="what its methods do was put in their place before",
            instead="use a name, or an attribute, for values of one type",
        )
    return x


def outer_object(x: Any, cls: type | None = None) -> Any:
    """An object of an outer scope, of this class, which the function may change."""
    return x if cls is None else reference(x, cls)


def check_members(x: Any, *names: str) -> None:
    """Raises UnsupportedSyntaxError for an object that holds attributes in place of these members of its
    class.
    """
    own = fields_of(x) if is_plain(type(x)) else {}
    for name in names:
        if name in own:
            raise UnsupportedSyntaxError(
                f"the attribute `{name}` of a {type(x).__name__}, in place of the method",
                why="which of them is called is known at run time only, and the object is changed",
                instead="call the function by another name than that of a method",
            )


def check_function(x: Any, function: Any) -> None:
    """Raises UnsupportedSyntaxError for another function than this one."""
    if x is not function:
        raise UnsupportedSyntaxError(
            f"a call of {describe(x)}, where another was expected, among changes of objects",
            why="what the function does was put in its place before",
            instead="call the functions by their names, each in a branch of its own",
        )


def unnamed_method(x: Any, name: str) -> Exception:
    """The error of looking up a method by a text that the program does not have; raises AttributeError where
    the object has no such attribute.
    """
    getattr(x, name)
    return UnsupportedSyntaxError(
        f"the attribute `{name}` of a {type(x).__name__}, looked up by a text and called",
        why="no text of the program or its module names it, so that its call was not put in its place",
        instead=f'name it in a test: `if name == "{name}": method = x.{name}`',
    )


def check_number(x: Any) -> None:
    """Raises UnsupportedSyntaxError for anything else than a number."""
    if not isinstance(x, (complex, float, int, np.generic)):
        raise UnsupportedSyntaxError(
            f"a value of type {type(x).__name__}, where a number was expected, among changes of objects",
            why="the operator of the object beside it was put in its place before",
            instead="use a name, or an attribute, for values of one type",
        )


def plain_number(x: Any) -> Any:
    """The value itself, which is no object or container.

    Raises UnsupportedSyntaxError for one that is.
    """
    if is_reference(x):
        raise UnsupportedSyntaxError(
            f"an object of type {type(x).__name__} as an operand, among changes of objects",
            why="what its operators do with what it holds is not followed",
            instead="compute with its parts",
        )
    return x


def set_element(x: Any) -> Any:
    """The value itself, an inactive one or an object.

    Raises UnsupportedSyntaxError for a number or array that carries a derivative.
    """
    todo = [x]
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo += part
        elif is_differentiable(part):
            raise UnsupportedSyntaxError(
                f"a value of type {type(part).__name__} in a set that is changed, among changes of objects",
                why="which of them the set holds is not followed",
                instead="use a list, or a dict",
            )
    return x


def is_set(x: Any) -> bool:
    """Whether a value is a set that can be changed; raises UnsupportedSyntaxError for a class of the user's.
    """
    if isinstance(x, set) and own_methods(type(x)):
        refuse_method(x)
    return isinstance(x, set)


def change_set(x: Any, method: str, *values: Any) -> None:
    """Calls a method that changes a set; elements that carry a derivative are refused as in `set_element`."""
    if not is_set(x):
        refuse_method(x)
    given = [set_element(v) if method in ("add", "discard", "remove") else set_items(v) for v in values]
    getattr(x, method)(*given)


def set_items(xs: Any) -> Any:
    """The items that a set is made of, each as in `set_element`; the keys of a dict carry no derivative."""
    return [*xs] if isinstance(xs, dict) else [*map(set_element, xs)]


def the_set(x: Any) -> Any:
    """A set itself; raises UnsupportedSyntaxError for others."""
    if not isinstance(x, SETS):
        refuse_method(x)
    return x


def the_list(x: Any) -> Any:
    """A list or deque itself; raises UnsupportedSyntaxError for others: their methods may do anything."""
    if not isinstance(x, LISTS) or own_methods(type(x)):
        refuse_method(x)
    return x


def mapped(x: Any, method: str = "") -> Any:
    """A dict itself; raises UnsupportedSyntaxError for others, and for a class that has its own `method`: it
    may do anything.
    """
    if not isinstance(x, dict) or own_methods(type(x)) or isinstance(lookup(type(x), method), FunctionType):
        refuse_method(x)
    return x


def refuse_iterator(x: Any) -> None:
    raise UnsupportedSyntaxError(
        f"a loop over a value of type {type(x).__name__}, among changes of objects",
        why="what its iterator does is not followed",
        instead="go over a list, a dict or a range",
    )


def refuse_method(x: Any) -> None:
    raise UnsupportedSyntaxError(
        f"a method that may change an object of type {type(x).__name__}, among changes of objects",
        why="which method it is is known at run time only, and its changes are not followed",
        instead="call a function of the module's that returns the new values",
    )
