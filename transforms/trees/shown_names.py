"""How errors name values: as the user wrote them."""

from __future__ import annotations

import re
from typing import Any

import gast

from .nodes import call, constant, find_nodes, load, names_read
from .printer import to_source
from .program import EMPTY, Program
from .rebuild import substitute

__all__ = ["shown_name"]


def shown_name(program: Program, name: str) -> str:
    """A name as the user wrote it; for one that a pass made, the expression that it stands for.

    >>> from .program import program_of
    >>> shown_name(program_of("def f(rows):\\n    first = rows[0]\\n    return first"), "first")
    'first'
    """
    return to_source(_shown(program, name))


def _shown(program: Program, name: str) -> Any:
    name = program.origins.get(name, name)
    for s in [] if _is_users(program, name) else find_nodes(program.tree, gast.Assign):
        target = s.targets[0]
        if isinstance(target, gast.Name) and program.origins.get(target.id, target.id) == name:
            match s.value:
                case gast.Call(args=[gast.Name() as cls]) if program.resolve(s.value.func) in EMPTY:
                    return call(cls, constant(...))
                case gast.Attribute() | gast.Subscript() | gast.Call():
                    return substitute(s.value, {n: _shown(program, n) for n in names_read(s.value)})
    return load(name)


def _is_users(program: Program, name: str) -> bool:
    """Whether the user's function has a name."""
    first, last = getattr(program.tree, "lineno", None), getattr(program.tree, "end_lineno", None)
    text = "\n".join(program.lines[first - 1 : last]) if first else ""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
