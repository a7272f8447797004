"""Which functions are generator functions, which calls make generators, and what may notice when they run.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from types import FunctionType
from typing import Any

import gast

from .nodes import find_nodes, loads, walk, walk_scope
from .program import MISSING, Program
from .remember import remembered

__all__ = [
    "KEEPERS", "METHODS", "READERS", "is_generator", "is_generator_function", "is_yield", "makes_generator",
    "reads_state",
]  # fmt: skip

# Functions and methods that take all items of their first argument before any other effect: they keep or read
# them.
KEEPERS = (list, tuple, set, frozenset, dict, Counter, sorted)
READERS = (sum, max, min, math.prod, math.fsum)
METHODS = ("join", "extend", "fromkeys", "union", "update")

Node = Any  # gast publishes no types


def is_yield(s: Node) -> bool:
    """Whether a statement is a `yield`."""
    return isinstance(s, gast.Expr) and isinstance(s.value, (gast.Yield, gast.YieldFrom))


@remembered
def is_generator(function: Node) -> bool:
    """Whether the finished tree of a function has a `yield`."""
    return any(map(is_yield, walk_scope(function.body)))


def is_generator_function(function: Any) -> bool:
    """Whether a call of the function object makes a generator."""
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def makes_generator(program: Program, call: Node) -> bool:
    """Whether a call makes a generator: of a known function, or of a nested one whose name has one
    binding.
    """
    if is_generator_function(program.resolve(call.func)):
        return True
    functions = [f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree]
    named = [f for f in functions if f.name == getattr(call.func, "id", "")]
    return len(named) == 1 and is_generator(named[0])


def reads_state(program: Program, block: list[Node]) -> bool:
    """Whether statements may read or change something besides numbers, arrays and containers in variables of
    their own: an attribute, a variable of another function, or what a call of the program's own code does.
    """
    nested = [f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree]
    shared = {n for f in nested for s in find_nodes(f, gast.Nonlocal) for n in s.names}
    for n in (n for s in block for n in walk(s)):
        match n:
            case gast.Attribute() if program.resolve(n) is MISSING:
                return True
            case gast.Call(func=gast.Name() as func):
                found = program.resolve(func)
                if found is MISSING or isinstance(found, FunctionType):
                    return True
            case gast.Nonlocal() | gast.Global() | gast.FunctionDef():
                return True
    return not shared.isdisjoint(n for s in block for n in loads(s))
