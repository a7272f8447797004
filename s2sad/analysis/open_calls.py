"""Calls that may run code of the user's which is not put in its place, and may read what a program changes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import FunctionType, SimpleNamespace
from typing import Any

import gast
import numpy as np

from ..kinds.lattice import Instance, Kind, Literal, Random, Record, Unknown
from ..kinds.memory import Memory
from ..primitives.code_reach import is_of_libraries
from ..primitives.record import computes, find_rule, takes_arrays
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply, Call
from ..transforms.trees.program import EMPTY
from ..values.objects import is_plain, lookup

__all__ = ["may_run_users_code"]

# Functions that call no argument, and no methods of arguments but those that are put in their place.
CALLING_NONE = {abs, bool, complex, float, getattr, id, int, isinstance, len, print, range, round, setattr}
CALLING_NONE |= {dict, enumerate, frozenset, list, reversed, set, str, sum, tuple, type, zip}
CALLING_NONE |= {Counter, OrderedDict, SimpleNamespace, defaultdict, deque}
CALLING = {np.apply_along_axis, np.apply_over_axes, np.fromfunction, np.piecewise}
CALLING_MODULES = "scipy.differentiate", "scipy.integrate", "scipy.optimize"
METHODS = "array array_function array_ufunc call complex float getitem index int iter len lt next"


def may_run_users_code(facts: Facts, node: Any, memory: Memory | None = None) -> bool:
    """Whether a call may run code of the user's, in a program with a heap by what its `memory` tells: a
    function that is called, one that a primitive is given, or a method of an object that it is given.
    """
    function = facts.program.resolve(node.func)
    match facts.operation(node):
        case Apply(function=function) as operation:
            pass
        case Call() if isinstance(node.func, gast.Attribute) and isinstance(
            facts.kind(node.func.value), Random
        ):
            return False
        case Call() as operation if function in EMPTY or function in CALLING_NONE or _is_read(function):
            pass
        case Call():
            return True
        case _:
            return False
    named = {id(value) for keyword, value in operation.keywords if keyword == "key"}
    return any(
        _may_run(x, facts.kind(x), memory, function, function in (max, min) and id(x) not in named)
        for x in operation.operands()
    )


def _is_read(function: Any) -> bool:
    """Whether a function is a library's, written in Python."""
    return isinstance(function, FunctionType) and is_of_libraries(function)


def _may_run(node: Any, kind: Kind, memory: Memory | None, function: Any, is_compared: bool) -> bool:
    """Whether an argument of a primitive may be a function of the user's, or an object with methods that the
    primitive calls.
    """
    is_open = _may_call(function) and not is_compared
    if isinstance(kind, Unknown) and not isinstance(kind, Instance):
        held = None if memory is None else memory.names.get(getattr(node, "id", ""))
        if memory is None or held is None or held.sites is None:
            return is_open
        if not memory.functions.keys().isdisjoint(held.sites):
            return True
        if any(_runs_code(memory.classes.get(site, object)) for site in held.sites):
            return function not in CALLING_NONE
        kind = held.kind
    match kind:
        case Literal(value=value):
            return callable(value) and not _is_librarys(value)
        case Instance(cls) | Record(cls):
            return function not in CALLING_NONE and _runs_code(cls)
    return isinstance(kind, Unknown) and is_open


def _may_call(function: Any) -> bool:
    """Whether a primitive may call an argument of which nothing is known."""
    if takes_arrays(function):
        module = str(getattr(function, "__module__", ""))
        return function in CALLING or module.startswith(CALLING_MODULES)
    return function not in CALLING_NONE and not computes(function)


def _runs_code(cls: type) -> bool:
    """Whether a class of the user's has a method that Python, NumPy or SciPy may call."""
    return is_plain(cls) and any(isinstance(lookup(cls, f"__{n}__"), FunctionType) for n in METHODS.split())


def _is_librarys(value: Any) -> bool:
    """Whether a callable is a class, or has a rule, of Python or a library."""
    return (isinstance(value, type) and not is_plain(value)) or find_rule(value) is not None
