"""Structures of arguments, and their conversion to nested tuples and back.

Compiled code takes tuples of any parts: dicts, lists, named tuples and plain objects become tuples at
its border, and results become dicts, lists, named tuples and objects again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..values.objects import fields_of, is_named_tuple, is_plain, is_read_as_it_stands, make, mirror_class

__all__ = ["LEAF", "Structure", "packed", "structure_of", "unpacked"]

CONTAINERS = (dict, list, tuple)


@dataclass(frozen=True)
class Structure:
    """A container: its class, the keys or names of its parts (positions in lists and tuples), and the
    structures of these. A leaf, which is one number, array or string, has no class.

    The list of a trace has the class `Trace`; its `parts` are the structures of its items.
    """

    cls: type | None = None
    keys: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    @property
    def is_leaf(self) -> bool:
        return self.cls is None

    @property
    def is_object(self) -> bool:
        """Whether it is that of an object with attributes."""
        return self.cls is not None and not issubclass(self.cls, (*CONTAINERS, Trace))

    @property
    def item(self) -> Structure | None:
        """The structure of each of its items; None where they differ."""
        return self.parts[0] if len(set(self.parts)) == 1 else None


class Trace:
    """The class of the structure of a list that a loop fills."""


LEAF = Structure()


def sequence(cls: type, parts: Sequence[Structure]) -> Structure:
    """The structure of a list or tuple."""
    return Structure(cls, tuple(range(len(parts))), tuple(parts))


def structure_of(value: Any) -> Structure:
    """The structure of an argument. Dicts by other keys than strings, and objects that hold more than
    attributes or hold themselves, are leaves.
    """
    return _structure_of(value, ())


def _structure_of(value: Any, around: tuple[int, ...]) -> Structure:
    cls: Any = type(value)
    if not isinstance(value, CONTAINERS):
        if cls.__module__ == "builtins" or not is_plain(cls) or id(value) in around:
            return LEAF
        held = {name: v for name, v in fields_of(value).items() if is_read_as_it_stands(value, name)}
        around = (*around, id(value))
        return Structure(cls, tuple(held), tuple(_structure_of(v, around) for v in held.values()))
    if isinstance(value, dict):
        if cls is not dict or not all(type(key) is str for key in value):
            return LEAF
        return Structure(dict, tuple(value), tuple(_structure_of(v, around) for v in value.values()))
    parts = tuple(_structure_of(v, around) for v in value)
    if cls in (list, tuple):
        return sequence(cls, parts)
    return Structure(cls, cls._fields, parts) if is_named_tuple(cls) else LEAF


def packed(value: Any, structure: Structure) -> Any:
    """The value, with tuples in place of containers."""
    if structure.is_leaf:
        return value
    if structure.is_object:
        parts = [getattr(value, name) for name in structure.keys]
    else:
        parts = value.values() if structure.cls is dict else value
    return tuple([packed(part, s) for part, s in zip(parts, structure.parts, strict=True)])


def unpacked(value: Any, structure: Structure) -> Any:
    """The inverse of `packed`."""
    if structure.is_leaf:
        return value
    parts = [unpacked(part, s) for part, s in zip(value, structure.parts, strict=True)]
    if structure.cls is dict:
        return dict(zip(structure.keys, parts, strict=True))
    if structure.is_object:
        return make(mirror_class(structure.cls), dict(zip(structure.keys, parts, strict=True)))  # type: ignore[arg-type]
    if structure.cls is list:
        return parts
    return tuple(parts) if structure.cls is tuple else structure.cls(*parts)  # type: ignore[misc]
