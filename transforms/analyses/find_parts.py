"""Which names may hold a part of something, of which only the run tells what it is.

Form: the single-assignment form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.nodes import target_names, walk
from ..trees.program import MISSING, Program
from .operations import Call, Operation, Pop

__all__ = ["find_parts"]


def find_parts(program: Program, operation_of: Callable[[Any], Operation]) -> frozenset[str]:
    """The names that may hold a part of a container or object, or what a method of one returns."""
    found: set[str] = set()
    copies: list[tuple[str, str]] = []
    for s in walk(program.tree):
        match s:
            case gast.For(target=target) | gast.Assign(targets=[gast.Tuple() as target]):
                found.update(target_names(target))
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)):
                copies.append((name, source))
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Subscript() | gast.Attribute()):
                found.add(name)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as made):
                operation = operation_of(made)
                is_unknown = isinstance(operation, Call) and operation.function is MISSING
                if is_unknown or isinstance(operation, Pop):
                    found.add(name)
    while new := {name for name, source in copies if source in found} - found:
        found |= new
    return frozenset(found)
