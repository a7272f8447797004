"""Lambda lifting of recursive nested functions that store into captured objects: captured variables become
parameters, which every call passes.

Form in: the normal form, calls inlined. Form out: the same, without those nested functions whose uses are all
calls.

    def f(a):                               def f(a):
        def go(k):                              go(a, 3)
            if k > 0:
                a[k] = 0.0                  def go(a, k):
                go(k - 1)                       if k > 0:
        go(3)                                       a[k] = 0.0
                                                    go(a, k - 1)

A closure reads its variables when it is called, and so does the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import binding_counts, find_nodes, load, located, names_read, own_statements, param
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_children, rebuilt, without_statements

__all__ = ["lift_closures"]


def lift_closures(program: Program, make: Callable[[Program, Any], Any]) -> Program:
    """The program with such functions lifted out of it; `make(program, tree)` makes the function object of a
    definition that is recursive by its name and whose free names are looked up in the program's scope.
    """
    while True:
        functions = (s for s in own_statements(program.tree.body) if isinstance(s, gast.FunctionDef))
        found = next((s for s in functions if _can_be_lifted(program, s)), None)
        if found is None:
            return program
        program = _lifted(program, found, make)


def _can_be_lifted(program: Program, function: Any) -> bool:
    """Whether a nested function is recursive, may store into captured objects, and is only called."""
    name, args = function.name, function.args
    is_plain = args.vararg is None and args.kwarg is None and not args.defaults and not any(args.kw_defaults)
    if not is_plain or name not in names_read(function.body) or not _may_write(function):
        return False
    bound = binding_counts(program.tree)
    nested = {n.name for n in find_nodes(program.tree, gast.FunctionDef)} - {name}
    calls = [c for c in find_nodes(program.tree, gast.Call) if getattr(c.func, "id", None) == name]
    uses = sum(n.id == name and isinstance(n.ctx, gast.Load) for n in find_nodes(program.tree, gast.Name))
    return bound[name] == 1 and uses == len(calls) and nested.isdisjoint(free_names(function))


def _may_write(function: Any) -> bool:
    """Whether a function may change an object that it did not make."""
    for s in own_statements(function.body):
        match s:
            case gast.Assign(targets=[gast.Subscript() | gast.Attribute()]) | gast.AugAssign():
                return True
            case gast.Expr(value=gast.Call(func=func)) if getattr(func, "id", None) != function.name:
                return True
    return False


def _lifted(program: Program, function: Any, make: Callable[[Program, Any], Any]) -> Program:
    name = function.name
    captured = sorted((free_names(function) & program.locals) - {name})

    def passing(node: Any) -> Any:
        new = map_children(node, passing)
        if isinstance(new, gast.Call) and getattr(new.func, "id", None) == name:
            return rebuilt(new, args=[*(located(load(c), new) for c in captured), *new.args])
        return new

    args = function.args
    own = rebuilt(
        function,
        args=rebuilt(args, args=[*map(param, captured), *args.posonlyargs, *args.args], posonlyargs=[]),
        body=[passing(s) for s in function.body],
    )
    kept = without_statements(program.tree, lambda s: s is function)
    tree = rebuilt(program.tree, body=[passing(s) for s in kept.body])
    bindings = {**program.bindings, name: make(program, own)}
    return program.with_tree(tree, bindings=bindings, locals=program.locals & bound_names(tree))
