"""Which functions are generator functions, and which calls make generators."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import gast

from .nodes import find_nodes, walk_scope
from .program import Program
from .remember import remembered

__all__ = ["is_generator", "is_generator_function", "is_yield", "makes_generator"]

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
