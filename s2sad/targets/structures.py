"""Structures of arguments, and their conversion to nested tuples and back.

Compiled code takes tuples of any parts: dicts, lists, named tuples and plain objects become tuples at
its border, and results become dicts, lists, named tuples and objects again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from ..values.objects import fields_of, is_named_tuple, is_plain, is_read_as_it_stands, make, mirror_class

__all__ = ["LEAF", "Structure", "converted", "packed", "structure_of"]

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
    return _packer(structure)(value)


@lru_cache(maxsize=1024)
def _packer(structure: Structure) -> Callable[[Any], Any]:
    packer: Callable[[Any], Any] = eval(f"lambda x: {_packing('x', structure)}")
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
    if all(s.is_leaf for s in structures) and not readers and result.is_leaf:
        return call
    scope: dict[str, Any] = {"call": call, **{f"read{k}": read for k, read in enumerate(readers)}}
    names = [f"x{k}" for k in range(len(structures))]
    given = [_packing(x, s) for x, s in zip(names, structures, strict=True)]
    given += [f"read{k}()" for k in range(len(readers))]
    lines = f"def run({', '.join(names)}):", f" r = call({', '.join(given)})"
    exec("\n".join((*lines, f" return {_unpacking('r', result, scope)}")), scope)
    run: Callable[..., Any] = scope["run"]
    return run


def _packing(x: str, structure: Structure) -> str:
    """The expression of nested tuples, for an expression of containers."""
    if structure.is_leaf:
        return x
    form = "getattr({}, {!r})" if structure.is_object else "{}[{!r}]"
    keys = structure.keys if structure.is_object or structure.cls is dict else range(len(structure.parts))
    parts = zip(keys, structure.parts, strict=True)
    return f"({''.join(f'{_packing(form.format(x, key), s)}, ' for key, s in parts)})"


def _unpacking(x: str, structure: Structure, scope: dict[str, Any]) -> str:
    """The expression of containers, for one of nested tuples; `scope` gains the objects that it names."""
    if structure.is_leaf:
        return x
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
