"""The variables around closures, which may assign them."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import gast

from .source import read_source
from .transforms.trees.nodes import find_nodes
from .transforms.trees.program import Program

__all__ = ["refuse_assigning"]

ASSIGNING = frozenset({"STORE_DEREF", "DELETE_DEREF"})


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
