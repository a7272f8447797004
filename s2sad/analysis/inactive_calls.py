"""Inactive calls of library functions: they are not inlined.

Contract: such a callee is not read; its result and effect are those of a dynamic callee.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from ..primitives.code_reach import is_short, library_function
from ..primitives.record import stand_in
from ..transforms.analyses.find_reached import find_reached
from ..transforms.analyses.operations import known_method
from ..transforms.trees.nodes import find_nodes, names_read
from ..transforms.trees.program import MISSING, Program
from .facts import facts_of

__all__ = ["leave_inactive_calls"]


def leave_inactive_calls(program: Program, carrying: Iterable[str]) -> Program:
    """A function in normal form with its inactive calls marked to be left as they are: those of library
    functions on values that do not depend on the parameters `carrying`. Short functions, and those of the
    function's own package, are not marked.
    """
    called = [(c, _function_of(program, c)) for c in find_nodes(program.tree, gast.Call)]
    called = [(c, f) for c, f in called if f is not None and not program.leaves(f) and not is_short(f)]
    if not called:
        return program
    reached = find_reached(facts_of(program, {}), tuple(carrying))
    read = {id(f) for c, f in called if not reached.isdisjoint(names_read(c))}
    left = {id(f) for _, f in called} - read
    return program.with_tree(program.tree, left=program.left | left) if left else program


def _function_of(program: Program, call: Any) -> Any:
    """The function or class of a library that a call executes, if its source can be read; None for others."""
    function = stand_in(program.resolve(call.func))
    if function is MISSING and isinstance(call.func, gast.Attribute):
        function = getattr(known_method(call, program), "__func__", None)
    package = str(program.scope.globals.get("__name__", "")).partition(".")[0]
    return library_function(function, package)

