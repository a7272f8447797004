"""Stores to names of outer scopes: globals, and the free variables of closures."""

from __future__ import annotations

import dis
import re
from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter, is_
from types import CodeType, FunctionType, MethodType
from typing import Any

import gast

from ..kinds.wrapped_functions import unwrapped
from ..runtime.input_checks import Bprop
from ..source.read import read_source
from ..transforms.trees.nodes import find_nodes
from ..transforms.trees.program import Program

__all__ = ["StoredGlobals", "declared_outside", "refuse_assigning", "stored_globals"]

VARIABLE = frozenset({"STORE_DEREF", "DELETE_DEREF"})
GLOBAL = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
CODE = attrgetter("__code__")
DECLARATION = re.compile(r"\b(?:global|nonlocal)\s+(\w+(?:\s*,\s*\w+)*)")


@lru_cache(maxsize=256)
def declared_outside(lines: tuple[str, ...]) -> frozenset[str]:
    """The names in the `global` and `nonlocal` statements of a file."""
    listed = DECLARATION.findall("\n".join(lines))
    return frozenset(name for names in listed for name in re.findall(r"\w+", names))


def stored_globals(names: Mapping[str, Any]) -> frozenset[str]:
    """The globals that the functions and methods among `names` assign."""
    return StoredGlobals(names)()


_Found = tuple[list[Any], list[FunctionType], list[CodeType], frozenset[str]]


class StoredGlobals:
    """Tells, when called, what `stored_globals` tells; it looks anew only where a callable among the names, a
    member of a class or the code of a function is another one than before.
    """

    __slots__ = ("_last", "_names")

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._last: _Found = [], [], [], frozenset()

    def __call__(self) -> frozenset[str]:
        members, functions, codes, assigned = self._last
        found = list(filter(callable, self._names.values()))
        for value in tuple(found):
            if isinstance(value, type):
                found += vars(value).values()
        is_same = len(found) == len(members) and all(map(is_, found, members))
        if is_same and all(map(is_, map(CODE, functions), codes)):
            return assigned
        functions = [f for value in found for f in _functions(value) if f.__globals__ is self._names]
        codes = list(map(CODE, functions))
        assigned = frozenset().union(*(_assigned(code)[0] for code in codes))
        self._last = found, functions, codes, assigned
        return assigned


def _functions(value: Any) -> list[FunctionType]:
    """The functions in a global or a member of a class: itself, a wrapped one, a property's. Runs no user
    code.
    """
    if isinstance(value, FunctionType):
        return [value, *_functions(vars(value).get("__wrapped__"))]
    if isinstance(value, (staticmethod, classmethod, MethodType)):
        return _functions(value.__func__)
    if isinstance(value, property):
        return [f for part in (value.fget, value.fset) for f in _functions(part)]
    inner = None if isinstance(value, Bprop) else unwrapped(value)  # a bprop assigns no global
    return [] if inner is None else _functions(inner)


@lru_cache(maxsize=4096)
def _assigned(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The globals and the free variables that a function, or a function nested in it, assigns."""
    inner = [_assigned(c) for c in code.co_consts if isinstance(c, CodeType)]
    own = [(i.opname, i.argval) for i in dis.get_instructions(code)]
    names = frozenset(name for op, name in own if op in GLOBAL)
    variables = frozenset(name for op, name in own if op in VARIABLE)
    around = variables.union(*(found for _, found in inner)).intersection(code.co_freevars)
    return names.union(*(found for found, _ in inner)), around


def refuse_assigning(f: FunctionType) -> None:
    """Raises UnsupportedSyntaxError for a dynamic closure that assigns a free variable, itself or by a
    closure that it captures: the free variables become parameters, and a store to a parameter is not seen
    outside.
    """
    found = _assigning(f, set())
    if found is None:
        return
    source = read_source(found)
    program = Program(source.tree, source.scope, source.filename, source.lines)
    node = find_nodes(source.tree, gast.Nonlocal)[0]
    program.refuse(
        node,
        f"`nonlocal {', '.join(node.names)}` in a function that is known at run time only",
        "the assigned variable is read outside of the function",
        "call the function by its name, or pass the value as an argument and return the new one",
    )


def _assigning(f: FunctionType, seen: set[int]) -> FunctionType | None:
    """A closure that assigns a free variable: f, or one that it captures; None without any."""
    if f.__closure__ is None or id(f) in seen:
        return None
    if _assigned(f.__code__)[1]:
        return f
    seen.add(id(f))
    for cell in f.__closure__:
        try:
            value: Any = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, FunctionType) and (found := _assigning(value, seen)) is not None:
            return found
    return None
