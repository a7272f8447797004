"""Containers that do not escape from the function that makes them.

Form: the normal form, before and after single assignment.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import find_nodes, names_read
from ..trees.program import MISSING, Program

__all__ = ["find_local_containers"]


def find_local_containers(program: Program) -> set[str]:
    """The names of lists and dicts that the function makes and that have no alias."""
    made: set[str] = set()
    held: set[str] = set()
    loops = find_nodes(program.tree, gast.For)
    walked = {id(n.iter) for n in loops if _is_walk(n.iter, program)}
    makers = gast.Assign, gast.Tuple, gast.List, gast.Dict, gast.FunctionDef, gast.Call
    for n in find_nodes(program.tree, *makers):
        match n:
            case gast.Call() if id(n) in walked:
                continue
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.List() | gast.Dict() as value):
                made.add(name)
                held |= set(names_read(value))
            case gast.Assign(value=gast.Name(id=name) | gast.Starred(value=gast.Name(id=name))):
                held.add(name)
            case gast.Tuple() | gast.List() | gast.Dict() | gast.FunctionDef() if n is not program.tree:
                held |= set(names_read(n))
            case gast.Call(args=args, keywords=keywords):
                held |= {m for a in [*args, *(k.value for k in keywords)] for m in names_read(a)}
    return made - held


def _is_walk(iterable: Any, program: Program) -> bool:
    """Whether a loop iterates over a call that passes items on."""
    function = program.resolve(iterable.func) if isinstance(iterable, gast.Call) else MISSING
    return any(function is f for f in (zip, enumerate, reversed))
