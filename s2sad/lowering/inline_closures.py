"""Inlines functions that are called by other names: closures from factories, stored or chosen functions, and
partial applications, where all their calls are known.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial
from typing import Any

import gast

from ..transforms.analyses.liveness import free_names
from ..transforms.lowering.inlinable import makes_closures
from ..transforms.lowering.inline_calls import inline_calls
from ..transforms.lowering.name_functions import name_functions
from ..transforms.trees.nodes import find_nodes, same, statements_in
from ..transforms.trees.program import Program
from .inline_generators import given_generators, inline_generators
from .inline_methods import is_among

__all__ = ["inline_known_functions"]

Inlinable = Callable[[Any, Any], Program | None]
ROUNDS = 8  # of inlining: a function may make others
# The methods of arrays and containers that change their object and return a value.
CHANGING = frozenset({"pop", "popitem", "setdefault", "__setitem__", "__iadd__", "__isub__", "__imul__"})


def inline_known_functions(program: Program, inlinable: Inlinable, recursive: set[Any]) -> Program:
    """The program, in normal form, with small functions inlined, and the closures of factories where none of
    them escapes.
    """
    program = _put_in(program, inlinable, recursive)
    for _ in range(ROUNDS):
        calls = find_nodes(program.tree, gast.Call)
        factories = [c for c in calls if _makes_closures(program, c, inlinable)]
        if not factories:
            break
        before = program
        for tried in (factories, *([f] for f in factories if len(factories) > 1)):
            made = inline_calls(program, inlinable, makes=partial(is_among, tried))
            made = _put_in(made, inlinable, recursive, _functions(made) - _functions(program))
            if _functions(made) <= _functions(program):
                program = made
                break
        if program is before:  # the closures escape: their factory is not inlined
            break
    return program


def _functions(program: Program) -> set[str]:
    return {f.name for f in find_nodes(program.tree, gast.FunctionDef)}


def _put_in(
    program: Program, inlinable: Inlinable, recursive: set[Any], made: Set[str] = frozenset()
) -> Program:
    """The program with small functions inlined, and closures that write or whose names are in `made`."""
    for _ in range(ROUNDS):
        program = inline_calls(program, inlinable, needed=_writing(program, inlinable))
        program = _with_generators(program, inlinable, recursive)
        writes = partial(_may_write, program, inlinable)
        named = name_functions(program, partial(_is_either, partial(_is_named, made), writes))
        if named is program:
            break
        program = named
    return program


def _with_generators(program: Program, inlinable: Inlinable, recursive: set[Any]) -> Program:
    """The program with generators inlined into their consumers, and then their callees."""
    for _ in range(ROUNDS):
        before = program
        program = inline_generators(before, inlinable, recursive)
        is_given = given_generators(program)
        if program is before and not any(map(is_given, find_nodes(program.tree, gast.Call))):
            break
        needed = partial(_is_either, _writing(program, inlinable), is_given)
        called = inline_calls(program, inlinable, needed=needed)
        if program is before and same(called.tree, before.tree):
            break
        program = called
    return program


def _is_either(first: Callable[[Any], bool], second: Callable[[Any], bool], node: Any) -> bool:
    return first(node) or second(node)


def _is_named(names: Set[str], function: Any) -> bool:
    return function.name in names


def _writing(program: Program, inlinable: Inlinable) -> Callable[[Any], bool]:
    """A predicate: is this a call of a nested function that may change its captured variables?"""
    nested = [f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree]
    writing = {f.name for f in nested if _may_write(program, inlinable, f)}
    return lambda call: getattr(call.func, "id", None) in writing


def _makes_closures(program: Program, node: Any, inlinable: Inlinable) -> bool:
    """Whether a call of a known function makes closures, or uses some that write to captured variables."""
    function = program.resolve(node.func)
    callee = None if program.leaves(function) else inlinable(function, node)
    if callee is None:
        return False
    nested = [f for f in find_nodes(callee.tree, gast.FunctionDef) if f is not callee.tree]
    return makes_closures(callee.tree) or any(_may_write(callee, inlinable, f) for f in nested)


def _may_write(program: Program, inlinable: Inlinable, function: Any) -> bool:
    """Whether a nested function, or one in it, may change its captured variables."""
    captured = free_names(function) & program.locals
    return bool(captured) and any(
        _may_change(program, inlinable, captured, s) for s in statements_in(function.body)
    )


def _may_change(program: Program, inlinable: Inlinable, captured: set[str], s: Any) -> bool:
    match s:
        case gast.Assign(targets=[gast.Subscript() | gast.Attribute()]) | gast.AugAssign():
            return True
        case gast.Assign(value=gast.Call() as node) | gast.Expr(value=gast.Call() as node):
            given = [*node.args, *(k.value for k in node.keywords), getattr(node.func, "value", None)]
            if captured.isdisjoint(n.id for n in given if isinstance(n, gast.Name)):
                return False
            if isinstance(s, gast.Expr) or any(k.arg == "out" for k in node.keywords):
                return True
            function = program.resolve(node.func)
            is_known = not program.leaves(function) and inlinable(function, node) is not None
            return is_known or getattr(node.func, "attr", "") in CHANGING
    return False
