"""Which functions can be inlined at a call, and the arguments of their parameters."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import find_nodes, is_atom, statements_in, walk
from ..trees.rebuild import bound_names, parameters

__all__ = [
    "bind",
    "calls_by_keyword",
    "defines_functions",
    "makes_closures",
    "size",
    "stays",
]

Node = Any  # gast publishes no types


def bind(args: Node, call: Node, fixed: Container[str] | None) -> dict[str, Node] | None:
    """The argument (an atom) of each parameter; None when the call does not fit. Where `fixed` is given,
    defaults that are taken must be literals or names that it holds.
    """
    positional = [p.id for p in [*args.posonlyargs, *args.args]]
    if len(call.args) > len(positional) or args.vararg is not None or args.kwarg is not None:
        return None
    given = dict(zip(positional, call.args, strict=False))
    by_name = {p.id for p in [*args.args, *args.kwonlyargs]}
    for k in call.keywords:
        if k.arg not in by_name or k.arg in given:
            return None
        given[k.arg] = k.value
    defaults = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
    defaults |= {p.id: d for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
    result = {}
    for name in [*positional, *(p.id for p in args.kwonlyargs)]:
        value = given.get(name, defaults.get(name))
        if value is None:
            return None
        is_known = is_atom(value) and (not isinstance(value, gast.Name) or value.id in (fixed or ()))
        if name not in given and fixed is not None and not is_known:
            return None
        result[name] = value
    return result


def stays(parameter: str, value: Node, function: Node, captured: set[str]) -> bool:
    """Whether a parameter that is never assigned can be replaced by its argument everywhere."""
    if isinstance(value, gast.Name):
        return parameter not in captured
    for n in walk(function):  # Python warns of a literal there, or raises
        odd = (
            n.value
            if isinstance(n, (gast.Subscript, gast.Attribute))
            else n.func
            if isinstance(n, gast.Call)
            else None
        )
        if isinstance(odd, gast.Name) and odd.id == parameter:
            return False
        compared = (
            (n.left, *n.comparators)
            if isinstance(n, gast.Compare) and isinstance(n.ops[0], (gast.Is, gast.IsNot))
            else ()
        )
        if any(isinstance(e, gast.Name) and e.id == parameter for e in compared):
            return False
    return True


def size(function: Node) -> int:
    """The number of statements in a function's body."""
    return sum(1 for _ in statements_in(function.body))


def calls_by_keyword(function: Node) -> bool:
    """Whether the function passes a keyword argument to one of its nested functions, whose parameters
    inlining renames.
    """
    nested = {
        p.id
        for n in find_nodes(function, gast.FunctionDef)
        if n is not function
        for p in parameters(n)
    }
    return any(k.arg in nested for n in find_nodes(function, gast.Call) for k in n.keywords)


def makes_closures(function: Node) -> bool:
    """Whether the function uses a nested function as a value that captures its variables."""
    nested = [n for n in find_nodes(function, gast.FunctionDef) if n is not function]
    own = bound_names(function) - {n.name for n in nested}
    called = {id(c.func) for c in find_nodes(function, gast.Call)}
    used = {n.id for n in find_nodes(function, gast.Name) if id(n) not in called}
    return any(n.name in used and free_names(n) & own for n in nested)


def defines_functions(function: Node) -> bool:
    """Whether the function has inner functions, whose captured names must not change: the adjoints of
    functions have them as keys.
    """
    return any(n is not function for n in find_nodes(function, gast.FunctionDef))
