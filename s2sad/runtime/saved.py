"""What a `bprop` holds for the reverse sweep, by name and line."""

from __future__ import annotations

import linecache
import re
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..source.locate import GENERATED, located
from ..transforms.errors import SourceLocation

__all__ = ["Saved", "SavedValues", "saved_by"]


class Saved(NamedTuple):
    """A variable of the generated code that a `bprop` holds, the bytes of its arrays and numbers that no
    earlier one holds too, and the place in your file of the statement that made it (None: unknown).
    """

    name: str
    bytes: int
    where: SourceLocation | None


class SavedValues(tuple[Saved, ...]):
    """The variables that a `bprop` holds, largest first."""

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """The bytes of all."""
        return sum(s.bytes for s in self)

    def __str__(self) -> str:
        rows = [f"{s.bytes:>12,}  {s.name:<16}{_line_of(s.where)}".rstrip() for s in self]
        return "\n".join([*rows, f"{self.bytes:>12,}  bytes"])


def _line_of(where: SourceLocation | None) -> str:
    return "" if where is None else f"{where.filename}:{where.line}  {where.text.strip()}"


def saved_by(bprop: Any) -> SavedValues:
    """What a function that a derivative returned holds, with what the `bprop`s of its calls hold."""
    found: list[Saved] = []
    _note(bprop, found, set())
    return SavedValues(sorted((s for s in found if s.bytes), key=lambda s: -s.bytes))


def _note(function: FunctionType, found: list[Saved], seen: set[int]) -> None:
    seen.add(id(function))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # unbound on this path
            continue
        if isinstance(value, FunctionType) and id(value) not in seen and value.__closure__:
            _note(value, found, seen)
        else:
            found.append(Saved(name, _size(value, seen), _place(function, name)))


def _size(x: Any, seen: set[int]) -> int:
    """The bytes of the numbers and arrays in a value that are not `seen` yet."""
    while isinstance(x, np.ndarray) and isinstance(x.base, np.ndarray):
        x = x.base
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return int(getattr(x, "nbytes", 8))
    if id(x) in seen or isinstance(x, (str, bytes, type)):
        return 0
    seen.add(id(x))
    if isinstance(x, np.ndarray):
        return x.nbytes
    if isinstance(x, (list, tuple, dict)):
        return sum(_size(v, seen) for v in (x.values() if isinstance(x, dict) else x))
    if isinstance(x, FunctionType):
        inner: list[Saved] = []
        _note(x, inner, seen)
        return sum(s.bytes for s in inner)
    return sum(_size(v, seen) for v in getattr(x, "__dict__", {}).values())


def _place(function: FunctionType, name: str) -> SourceLocation | None:
    """The place in the user's file of the statement that makes a variable of generated code."""
    filename, first = function.__code__.co_filename, function.__code__.co_firstlineno
    if not filename.startswith(GENERATED):
        return None
    made = re.compile(rf"\s*(.*\b{name}\b[^=(]*=[^=]|{name}\.append\()")
    lines = list(enumerate(linecache.getlines(filename)[:first], 1))
    appended = [k for k, text in lines if text.lstrip().startswith(f"{name}.append(")]
    assigned = [k for k, text in lines if made.match(text) and not text.lstrip().startswith("def ")]
    line = next(iter([*appended, *reversed(assigned)]), None)
    if line is None:
        return None
    where = located(SourceLocation(filename, line, 0, ""))
    return None if where is None or where.filename.startswith(GENERATED) else where
