"""Lambda lifting of recursive nested functions, at least of those that store into captured objects: captured
variables become parameters, which every call passes.

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

from collections.abc import Callable, Mapping
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import binding_counts, find_nodes, load, located, own_statements, param
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_children, rebuilt, without_statements

__all__ = ["lift_closures"]


def lift_closures(
    program: Program, make: Callable[[Program, list[Any]], list[Any]], only_writing: bool
) -> Program:
    """The program with such functions lifted out of it, also those that call each other; unless
    `only_writing`, those that only read as well. `make(program, trees)` makes the function objects of
    definitions that are recursive by their names and whose free names are looked up in the program's scope.
    """
    while True:
        own = [s for s in own_statements(program.tree.body) if isinstance(s, gast.FunctionDef)]
        nested = {s.name: s for s in own}
        groups = (_reached(nested, name) for name in nested)
        found = next((g for g in groups if _can_be_lifted(program, g, nested, only_writing)), None)
        if found is None:
            return program
        program = _lifted(program, [nested[name] for name in found], make)


def _reached(nested: Mapping[str, Any], name: str) -> list[str]:
    """The nested functions that one reads, directly or through others, in their order."""
    found: set[str] = set()
    todo = [name]
    while todo:
        new = (free_names(nested[todo.pop()]) & nested.keys()) - found
        found |= new
        todo += new
    return [n for n in nested if n in found]


def _can_be_lifted(
    program: Program, names: list[str], nested: Mapping[str, Any], only_writing: bool
) -> bool:
    """Whether nested functions call each other, and are only called; with `only_writing`, also whether one
    may store into captured objects.
    """
    group = [nested[name] for name in names]
    is_written = not only_writing or any(map(_may_write, group))
    if not group or not is_written or any(_reached(nested, name) != names for name in names):
        return False
    bound = binding_counts(program.tree)
    others = {n.name for n in find_nodes(program.tree, gast.FunctionDef)} - {*names}
    for function in group:
        name, args = function.name, function.args
        if args.vararg is not None or args.kwarg is not None or args.defaults or any(args.kw_defaults):
            return False
        calls = [c for c in find_nodes(program.tree, gast.Call) if getattr(c.func, "id", None) == name]
        uses = sum(n.id == name and isinstance(n.ctx, gast.Load) for n in find_nodes(program.tree, gast.Name))
        if bound[name] != 1 or uses != len(calls) or not others.isdisjoint(free_names(function)):
            return False
    return True


def _may_write(function: Any) -> bool:
    """Whether a function may change an object that it did not make."""
    for s in own_statements(function.body):
        match s:
            case gast.Assign(targets=[gast.Subscript() | gast.Attribute()]) | gast.AugAssign():
                return True
            case gast.Expr(value=gast.Call(func=func)) if getattr(func, "id", None) != function.name:
                return True
    return False


def _lifted(
    program: Program, functions: list[Any], make: Callable[[Program, list[Any]], list[Any]]
) -> Program:
    names = {f.name for f in functions}
    free = set().union(*map(free_names, functions))
    captured = sorted((free & program.locals) - names)

    def passing(node: Any) -> Any:
        new = map_children(node, passing)
        if isinstance(new, gast.Call) and getattr(new.func, "id", None) in names:
            return rebuilt(new, args=[*(located(load(c), new) for c in captured), *new.args])
        return new

    def lifted(function: Any) -> Any:
        args = function.args
        given = [*map(param, captured), *args.posonlyargs, *args.args]
        body = [passing(s) for s in function.body]
        return rebuilt(function, args=rebuilt(args, args=given, posonlyargs=[]), body=body)

    made = make(program, [*map(lifted, functions)])
    kept = without_statements(program.tree, lambda s: any(s is f for f in functions))
    tree = rebuilt(program.tree, body=[passing(s) for s in kept.body])
    bindings = {**program.bindings, **{f.name: m for f, m in zip(functions, made, strict=True)}}
    return program.with_tree(tree, bindings=bindings, locals=program.locals & bound_names(tree))
