"""Refuses nested functions that outlive the iteration whose variables they capture."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import assigned_names, own_statements, walk, walk_scope
from ..trees.program import Program
from ..trees.shown_names import is_users

__all__ = ["check_captures"]


def check_captures(
    program: Program, loop: Any, carried: Collection[str], passing: Collection[str] = ()
) -> None:
    """Raises UnsupportedSyntaxError for a nested function in a loop's body that captures a variable of the
    loop and is carried on or escapes; functions in `passing` do not escape.
    """
    nested = [s for s in own_statements(loop.body) if isinstance(s, gast.FunctionDef)]
    functions = [s for s in nested if s.name not in passing]
    if not functions:
        return
    assigned = set(assigned_names(loop))
    callees = {id(n.func) for n in walk(loop) if isinstance(n, gast.Call)}
    for function in functions:
        escapes = function.name in carried or any(
            isinstance(n, gast.Name) and n.id == function.name and id(n) not in callees
            for n in walk_scope(loop.body)
        )
        shared = sorted((free_names(function) - {function.name}) & assigned)
        if escapes and shared:
            is_named = is_users(program, function.name)
            head, end = (f"def {function.name}(..., ", ")") if is_named else ("lambda ..., ", ": ...")
            program.refuse(
                function,
                f"{f'`{function.name}`' if is_named else 'a lambda'} outlives the iteration whose variable "
                f"`{shared[0]}` it captured",
                "the function would see the value of a later iteration: closures are by reference",
                f"bind the value: `{head}{shared[0]}={shared[0]}{end}`",
            )
