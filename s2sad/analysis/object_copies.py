"""`copy.copy` and `copy.deepcopy` of values of known kinds, as generated functions."""

from __future__ import annotations

import copy
import dis
import functools
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from ..kinds.lattice import Array, Dict, Kind, List, Literal, Record, Scalar, Tuple
from ..runtime.deep_copies import refuse_parts_held_twice
from ..source.compiling import make_function
from ..transforms.trees.program import Scope, identifier
from ..values.objects import ABSENT, lookup
from .constructors import makes_empty

__all__ = ["copier_of", "is_copier"]

HOOKS = ("__copy__", "__deepcopy__", "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__")


def is_copier(function: Any) -> bool:
    """Whether a function is `copy.copy` or `copy.deepcopy`."""
    return function is copy.copy or function is copy.deepcopy


@lru_cache(maxsize=256)
def copier_of(function: Callable[[Any], Any], kind: Kind) -> FunctionType | None:
    """A function that copies values of a kind as `copy.copy` or `copy.deepcopy` does; None for other kinds.
    """
    writer = _Writer(function is copy.deepcopy)
    try:
        result = writer.copied(kind, "obj", whole=True)
    except KeyError:
        return None
    if writer.deep and _mutable_count(kind) > 2:  # two of its parts may be aliases
        writer.bindings["refuse_parts_held_twice"] = refuse_parts_held_twice
        writer.lines.insert(0, "refuse_parts_held_twice(obj)")
    body = "".join(f"    {line}\n" for line in [*writer.lines, f"return {result}"])
    name = "deep_copy" if writer.deep else "shallow_copy"
    return make_function(f"def {name}(obj):\n{body}", name, Scope({}), writer.bindings)


def _mutable_count(kind: Kind) -> int:
    """The number of mutable objects in a value, itself included; 3 for a list of any length with such."""
    match kind:
        case Array():
            return 1
        case List(None, element):
            return 3 if _mutable_count(element) else 1
        case List(items) | Tuple(items):
            return sum(map(_mutable_count, items or ())) + isinstance(kind, List)
        case Dict(items) | Record(_, items):
            return sum(_mutable_count(k) for _, k in items) + 1
    return 0


class _Writer:
    """The statements that make a copy; `copied` raises KeyError for a kind that it cannot copy."""

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.lines: list[str] = []
        self.bindings: dict[str, Any] = {"np": np}

    def copied(self, kind: Kind, path: str, whole: bool = False) -> str:
        """The expression for a copy of the value at a path."""
        if not whole and not self.deep:
            return path
        match kind:
            case Array():
                return f"np.copy({path})"
            case Scalar() | Literal(value=None | bool() | int() | float() | complex() | str()):
                return path
            case Record(cls, held) if is_copied_plainly(cls):
                count = len(self.bindings)
                own = identifier(cls.__name__)
                of_class, name = f"{own}_{count}", f"{own.lower()}_{count}"
                self.bindings[of_class] = cls
                self.lines.append(f"{name} = object.__new__({of_class})")
                for attr, k in held:
                    outer, self.lines = self.lines, []
                    copied = self.copied(k, f"{path}.{attr}")
                    lines = [*self.lines, f"{name}.{attr} = {copied}"]
                    if attr not in set_at_first(cls):  # some of the objects may have it
                        lines = [f"if hasattr({path}, {attr!r}):", *(f"    {line}" for line in lines)]
                    self.lines = [*outer, *lines]
                return name
            case Tuple(items, None):
                items_ = [self.copied(k, f"{path}[{i}]") for i, k in enumerate(items)]
                return f"({', '.join(items_)}{',' if len(items_) == 1 else ''})"
            case List() if not self.deep:
                return f"list({path})"
            case Dict() if not self.deep:
                return f"dict({path})"
            case List(None, element):
                name, before = f"item_{path.count('item') + 1}", len(self.lines)
                item = self.copied(element, name)
                if len(self.lines) > before:  # objects, which are made by statements
                    raise KeyError(path)
                return f"[{item} for {name} in {path}]"
            case List(items) if items is not None:
                return f"[{', '.join(self.copied(k, f'{path}[{i}]') for i, k in enumerate(items))}]"
            case Dict(items):
                pairs = [f"{key!r}: {self.copied(k, f'{path}[{key!r}]')}" for key, k in items]
                return "{" + ", ".join(pairs) + "}"
        raise KeyError(path)


@lru_cache(maxsize=256)
def set_at_first(cls: Any) -> frozenset[str]:
    """The attributes that the constructor of a class sets, on some path."""
    inits = [vars(c)[n] for c in cls.__mro__ for n in ("__init__", "__post_init__") if n in vars(c)]
    codes = [f.__code__ for f in inits if isinstance(f, FunctionType)]
    found = (i for code in codes for i in dis.get_instructions(code))
    return frozenset(i.argval for i in found if i.opname == "STORE_ATTR")


def is_copied_plainly(cls: Any) -> bool:
    """Whether a class has no hooks for copies: a copy is a new object with the same attributes; cached
    properties are kept in attributes that are not followed.
    """
    if any(isinstance(v, functools.cached_property) for c in cls.__mro__ for v in vars(c).values()):
        return False
    return makes_empty(cls) and all(lookup(cls, n) in (ABSENT, getattr(object, n, ABSENT)) for n in HOOKS)


