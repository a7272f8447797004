"""The names around functions, which functions may assign: globals, and variables around closures."""

from __future__ import annotations

import dis
import re
from collections.abc import Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import gast

from .source import read_source
from .transforms.trees.nodes import find_nodes
from .transforms.trees.program import Program

__all__ = ["declared_outside", "refuse_assigning", "stored_globals"]

ASSIGNING = frozenset({"STORE_DEREF", "DELETE_DEREF"})
GLOBAL = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
DECLARATION = re.compile(r"\b(?:global|nonlocal)\s+(\w+(?:\s*,\s*\w+)*)")


@lru_cache(maxsize=256)
def declared_outside(lines: tuple[str, ...]) -> frozenset[str]:
    """The names that functions in a file may declare to be global or nonlocal."""
    listed = DECLARATION.findall("\n".join(lines))
    return frozenset(name for names in listed for name in re.findall(r"\w+", names))


def stored_globals(names: Mapping[str, Any]) -> frozenset[str]:
    """The globals that functions assign, of those that are found among the globals."""
    found = list(names.values())
    found += [member for value in found if isinstance(value, type) for member in vars(value).values()]
    functions = [getattr(value, "__func__", getattr(value, "__wrapped__", value)) for value in found]
    codes = {f.__code__ for f in functions if isinstance(f, FunctionType) and f.__globals__ is names}
    return frozenset().union(*map(_stored, codes))


@lru_cache(maxsize=4096)
def _stored(code: CodeType) -> frozenset[str]:
    """The globals that a function assigns, or one defined in it."""
    own = [i.argval for i in dis.get_instructions(code) if i.opname in GLOBAL]
    inner = [_stored(c) for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(own).union(*inner)


def refuse_assigning(f: FunctionType) -> None:
    """Raises UnsupportedSyntaxError for a closure that assigns a variable around it, itself or by a closure
    that it captures: as parameters, which is what the free variables of a closure become that only the run
    finds, each of them has the value that it had before the call.
    """
    found = _assigning(f, set())
    if found is None:
        return
    source = read_source(found)
    program = Program(source.tree, source.scope, source.filename, source.lines)
    node = find_nodes(source.tree, gast.Nonlocal)[0]
    program.refuse(
        node,
        f"`nonlocal {', '.join(node.names)}` in a function that only the run finds",
        "what it assigns is changed where others see it",
        "call the function by its name, or pass the value as an argument and return the new one",
    )


def _assigning(f: FunctionType, seen: set[int]) -> FunctionType | None:
    """A closure that assigns what is around it: f, or one that it captures."""
    if f.__closure__ is None or id(f) in seen:
        return None
    if _assigns(f.__code__):
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


@lru_cache(maxsize=4096)
def _assigns(code: CodeType) -> bool:
    return _assigns_among(code, frozenset(code.co_freevars))


def _assigns_among(code: CodeType, names: frozenset[str]) -> bool:
    """Whether a function, or one defined in it, assigns one of these variables around it."""
    names = names.intersection(code.co_freevars)
    if not names:
        return False
    if any(i.opname in ASSIGNING and i.argval in names for i in dis.get_instructions(code)):
        return True
    return any(_assigns_among(inner, names) for inner in code.co_consts if isinstance(inner, CodeType))
