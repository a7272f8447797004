"""Calls that stay as they stand: of functions of libraries that are given nothing that carries a derivative.

They are neither read nor put in, and what they return and change is what a function may that only the run
knows.
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

__all__ = ["leaving"]


def leaving(program: Program, carrying: Iterable[str]) -> Program:
    """A function in normal form that leaves the calls of libraries' functions as they stand that are given
    nothing the parameters `carrying` lead to, but for short ones and those of its own package.
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
    """The function or class of a library that a call runs, if it can be read; None for all others."""
    function = stand_in(program.resolve(call.func))
    if function is MISSING and isinstance(call.func, gast.Attribute):
        function = getattr(known_method(call, program), "__func__", None)
    package = str(program.scope.globals.get("__name__", "")).partition(".")[0]
    return library_function(function, package)

