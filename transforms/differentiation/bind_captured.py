"""Binds the captured variables of inner functions that are used as values to defaults of keyword-only
parameters: `def h(y, *, x_captured=x)`.

Form in: the single-assignment form, in which captured variables are not assigned again. The parameters keep
their names when later passes rename variables, and the adjoint of the function has them as keys.
"""

from __future__ import annotations

import re
from typing import Any

import gast

from ..analyses.liveness import captured_names
from ..trees.nodes import assigned_names, load, own_statements, param, walk_scope
from ..trees.program import Names, Program
from ..trees.rebuild import rebuilt, substitute

__all__ = ["bind_captured", "is_captured", "is_function_tangent"]

SUFFIX = "_captured"


def bind_captured(
    program: Program, function: Any, active: frozenset[str], names: Names
) -> tuple[Any, list[tuple[str, str]]]:
    """The function with its active captures bound, and their names by their keys in its adjoint; the function
    itself is not bound. Refuses a capture that is assigned after the definition.
    """
    before = _assigned_before(program, function)
    captured = [(key, n) for key, n in captured_names(function) if n in active and n != function.name]
    for _, n in captured:
        if n not in before:
            program.refuse(
                function,
                f"`{function.name}` reads `{n}`, which is assigned after it",
                "the derivative of the function would be built before that of the variable",
                f"assign `{n}` before the function, or pass it as an argument",
            )
    read = [n for key, n in captured if key == n] + _varying(program, function, active)
    bound = {n: names.fresh(n + SUFFIX) for n in read}
    if not bound:
        return function, captured
    args = function.args
    new = rebuilt(
        args,
        kwonlyargs=[*args.kwonlyargs, *map(param, bound.values())],
        kw_defaults=[*args.kw_defaults, *map(load, bound)],
    )
    body = substitute(function.body, {n: load(p) for n, p in bound.items()})
    return rebuilt(function, args=new, body=body), [
        (f"{bound[n]}=" if key == n else key, n) for key, n in captured
    ]


def _varying(program: Program, function: Any, active: frozenset[str]) -> list[str]:
    """The inactive variables that a function captures and a loop around it assigns: the reverse sweep sees
    other values of them.
    """
    loops = [s for s in own_statements(program.tree.body) if isinstance(s, (gast.For, gast.While))]
    around = [s for s in loops if any(t is function for t in own_statements(s.body))]
    assigned = {n for s in around for n in assigned_names(s)} - active - {function.name}
    return [n for key, n in captured_names(function) if key == n and n in assigned]


def is_captured(name: str) -> bool:
    """Whether a parameter is the default that holds a captured variable, and no argument."""
    return re.search(SUFFIX + r"(_\d+)?$", name) is not None


def is_function_tangent(keys: Any) -> bool:
    """Whether these are the keys of the tangent of a function; its adjoint may be None, if it was never
    called.
    """
    return bool(keys) and all(
        isinstance(key, gast.Constant) and isinstance(key.value, str) and key.value.endswith("=")
        for key in keys
    )


def _assigned_before(program: Program, function: Any) -> set[str]:
    """The names that are bound before the definition of a nested function."""
    found = {
        n.id for n in [*program.tree.args.posonlyargs, *program.tree.args.args, *program.tree.args.kwonlyargs]
    }
    for s in walk_scope(program.tree.body):
        if s is function:
            break
        if isinstance(s, (gast.Assign, gast.For)):
            for target in s.targets if isinstance(s, gast.Assign) else [s.target]:
                found.update(n.id for n in gast.walk(target) if isinstance(n, gast.Name))
        elif isinstance(s, gast.FunctionDef):
            found.add(s.name)
    return found
