"""Structures of arguments, and their conversion to nested tuples and back.

Compiled code takes tuples of any parts: dicts, lists, named tuples and plain objects become tuples at
its border, and results become dicts, lists, named tuples and objects again. A list whose items have one
structure and one type is a list in compiled code; at the border it is an array of numbers, or a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..values.objects import fields_of, is_named_tuple, is_plain, is_read_as_it_stands, make, mirror_class

__all__ = ["LEAF", "Listed", "Structure", "as_numbers", "converted", "packed", "structure_of"]

CONTAINERS = (dict, list, tuple)
NUMBERS = (float, int, complex, bool, np.float64, np.complex128, np.int64, np.bool_)


@dataclass(frozen=True)
class Structure:
    """A container: its class, the keys or names of its parts (positions in lists and tuples), and the
    structures of these. A leaf, which is one number, array or string, has no class.

    What is a list in compiled code as well has the class `Listed` and one part, the structure of each item;
    the key of one that is an argument is its length, or the dtype of its numbers.
    """

    cls: type | None = None
    keys: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    @property
    def is_leaf(self) -> bool:
        return self.cls is None

    @property
    def is_packed(self) -> bool:
        """Whether it is passed and returned as it is: a leaf, or a tuple of such."""
        return self.is_leaf or (self.cls is tuple and all(p.is_packed for p in self.parts))

    @property
    def is_object(self) -> bool:
        """Whether it is that of an object with attributes."""
        return self.cls is not None and not issubclass(self.cls, (*CONTAINERS, Listed))

    @property
    def is_list(self) -> bool:
        """Whether it is that of a list in compiled code."""
        return self.cls is Listed

    @property
    def has_lists(self) -> bool:
        return self.is_list or any(p.has_lists for p in self.parts)

    @property
    def is_given(self) -> bool:
        """Whether it is that of a list that is an argument, or part of one."""
        return self.is_list and bool(self.keys)

    @property
    def item(self) -> Structure | None:
        """The structure of each of its items; None where they differ."""
        return self.parts[0] if len(set(self.parts)) == 1 else None


class Listed:
    """The class of the structure of a list whose items have one structure."""


LEAF = Structure()
EMPTY = Structure(list)


def sequence(cls: type, parts: Sequence[Structure]) -> Structure:
    """The structure of a list or tuple."""
    return Structure(cls, tuple(range(len(parts))), tuple(parts))


def listed(item: Structure) -> Structure:
    """The structure of a list of such items; that of a list of leaves is a leaf."""
    return item if item.is_leaf else Structure(Listed, (), (item,))


def owned(structure: Structure) -> Structure:
    """The structure of a copy."""
    if structure.is_list:
        return listed(owned(structure.parts[0]))
    return Structure(structure.cls, structure.keys, tuple(map(owned, structure.parts)))


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
    if cls is list and value:
        first = type(value[0])
        if first in NUMBERS and all(type(v) is first for v in value):
            return Structure(Listed, (np.dtype(first).name,), (LEAF,))
        parts = tuple(_with_type_of_others(parts))
        if len(set(parts)) == 1 and are_of_one_type(value, parts[0]):
            return Structure(Listed, (len(value),), parts[:1])
    if cls in (list, tuple):
        return sequence(cls, parts)
    return Structure(cls, cls._fields, parts) if is_named_tuple(cls) else LEAF


def _with_type_of_others(parts: Sequence[Structure]) -> Sequence[Structure]:
    """The structures of the items of a list, of which an empty list is one of numbers if all others are."""
    others = {s for s in parts if s != EMPTY}
    numbers = [s for s in others if s.is_list and s.parts == (LEAF,) and isinstance(s.keys[0], str)]
    return [*numbers] * len(parts) if len(others) == len(numbers) == 1 else parts


def are_of_one_type(values: Sequence[Any], structure: Structure) -> bool:
    """Whether values with this structure hold numbers, arrays and strings of the same types."""
    found = {tuple(_types_in(value, structure)) for value in values}
    return len(found) == 1 and None not in next(iter(found))


def _types_in(value: Any, structure: Structure) -> Iterator[Any]:
    """The types of the leaves of a value; None for others than numbers, arrays and strings."""
    if structure.is_leaf:
        is_known = type(value) in NUMBERS or type(value) is str
        is_array = type(value) is np.ndarray
        yield (value.dtype, value.ndim) if is_array else type(value) if is_known else None
    elif structure.is_list:
        yield from [] if isinstance(structure.keys[0], str) else _types_in(value[0], structure.parts[0])
    else:
        for key, part in zip(structure.keys, structure.parts, strict=True):
            is_read = structure.is_object or (not isinstance(value, (dict, list)) and isinstance(key, str))
            yield from _types_in(getattr(value, key) if is_read else value[key], part)


def as_numbers(values: list[Any], dtype: str) -> Any:
    """The array of a list of numbers."""
    try:
        return np.array(values, dtype)
    except OverflowError as error:
        raise NotImplementedError("an integer is larger than 64 bits") from error


def packed(value: Any, structure: Structure) -> Any:
    """The value, with tuples in place of containers."""
    return _packer(structure)(value)


@lru_cache(maxsize=1024)
def _packer(structure: Structure) -> Callable[[Any], Any]:
    scope = {"as_numbers": as_numbers}
    packer: Callable[[Any], Any] = eval(f"lambda x: {_packing('x', structure)}", scope)
    return packer


def converted(
    call: Callable[..., Any],
    structures: Sequence[Structure],
    readers: Sequence[Callable[[], Any]],
    result: Structure,
) -> Callable[..., Any]:
    """The function of arguments of these structures that passes tuples in their place, and behind them what
    the readers return, to a function whose result of tuples stands for one of the structure `result`.
    """
    if all(s.is_packed for s in (*structures, result)) and not readers:
        return call
    scope: dict[str, Any] = {"call": call, "as_numbers": as_numbers}
    scope |= {f"read{k}": read for k, read in enumerate(readers)}
    names = [f"x{k}" for k in range(len(structures))]
    given = [_packing(x, s) for x, s in zip(names, structures, strict=True)]
    given += [f"read{k}()" for k in range(len(readers))]
    lines = f"def run({', '.join(names)}):", f" r = call({', '.join(given)})"
    exec("\n".join((*lines, f" return {_unpacking('r', result, scope)}")), scope)
    run: Callable[..., Any] = scope["run"]
    return run


def listing(x: str, structure: Structure, made: str) -> str:
    """The expression of a value with lists, for what is passed for it; `made` is a name for `list`."""
    if structure.is_leaf:
        return x
    if structure.is_list and isinstance(structure.keys[0], str):
        return f"{made}({x})"
    count = structure.keys[0] if structure.is_list else len(structure.parts)
    parts = structure.parts * count if structure.is_list else structure.parts
    items = "".join(f"{listing(f'{x}[{k}]', part, made)}, " for k, part in enumerate(parts))
    return f"[{items}]" if structure.is_list else f"({items})"


def _packing(x: str, structure: Structure) -> str:
    """The expression of nested tuples, for an expression of containers."""
    if structure.is_packed:
        return x
    if structure.is_list and isinstance(structure.keys[0], str):
        return f"as_numbers({x}, {structure.keys[0]!r})"
    if structure.is_list:
        return f"tuple([{_packing('v', structure.parts[0])} for v in {x}])"
    form = "getattr({}, {!r})" if structure.is_object else "{}[{!r}]"
    keys = structure.keys if structure.is_object or structure.cls is dict else range(len(structure.parts))
    parts = zip(keys, structure.parts, strict=True)
    return f"({''.join(f'{_packing(form.format(x, key), s)}, ' for key, s in parts)})"


def _unpacking(x: str, structure: Structure, scope: dict[str, Any]) -> str:
    """The expression of containers, for one of nested tuples; `scope` gains the objects that it names."""
    if structure.is_packed:
        return x
    if structure.is_list:
        return f"[{_unpacking('v', structure.parts[0], scope)} for v in {x}]"
    parts = [_unpacking(f"{x}[{k}]", s, scope) for k, s in enumerate(structure.parts)]
    listed = "".join(f"{part}, " for part in parts)
    if structure.cls in (list, tuple):
        return f"[{listed}]" if structure.cls is list else f"({listed})"
    if not (structure.is_object or structure.cls is dict):
        scope[name := f"c{len(scope)}"] = structure.cls
        return f"{name}({listed})"
    made = f"{{{', '.join(f'{key!r}: {part}' for key, part in zip(structure.keys, parts, strict=True))}}}"
    if structure.cls is dict:
        return made
    scope[name := f"c{len(scope)}"] = partial(make, mirror_class(structure.cls))  # type: ignore[arg-type]
    return f"{name}({made})"
