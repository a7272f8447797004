"""Names that may hold a callable with a bound object: a method, or a partial application.

Form: the single-assignment form. A call of such a name may change an object that it does not name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import gast

from ..trees.nodes import load, names_read, own_statements, target_names
from ..trees.program import MISSING, Program
from ..trees.rebuild import rebuilt
from ..trees.remember import remembered
from .facts import Facts

__all__ = ["bound_callables", "bound_changes", "bound_writers", "partials"]

MOST_ARGUMENTS = 6  # tried for the open parameters of a partial application or method


def bound_callables(program: Program) -> set[str]:
    """The names that may hold a method of an object of the program, or a partial application."""
    return _holders(program, lambda v: isinstance(v, gast.Attribute) or _is_partial(program, v), False)


def partials(program: Program) -> set[str]:
    """The names that may hold a partial application."""
    return _holders(program, lambda v: _is_partial(program, v))


def bound_changes(facts: Facts) -> set[str]:
    """The names that may hold a method that changes its object, or a container of such a method."""

    primitives, kind = facts.primitives, facts.kind

    def is_change(value: Any) -> bool:
        return isinstance(value, gast.Attribute) and primitives.is_changing_method(
            kind(value.value), value.attr
        )

    return {name for name in _holders(facts.program, is_change) if primitives.is_unknown(kind(load(name)))}


def bound_writers(facts: Facts) -> set[str]:
    """The names that may hold a partial application or a method that changes its arguments, bound or not."""
    program, primitives, kind = facts.program, facts.primitives, facts.kind
    nested = {s.name: s for s in own_statements(program.tree.body) if isinstance(s, gast.FunctionDef)}

    def writes(value: Any) -> bool:
        if _is_partial(program, value):
            function, *given = value.args
            if getattr(function, "id", None) in nested:
                return any(map(_is_effect, own_statements(nested[function.id].body)))
            if program.resolve(function) is MISSING and primitives.is_unknown(kind(function)):
                bound = [*given, *(k.value for k in value.keywords)]
                return not all(primitives.is_immutable(kind(a)) for a in bound)
            node = gast.Call(func=function, args=given, keywords=value.keywords)
        elif isinstance(value, gast.Attribute) and primitives.is_object(kind(value.value)):
            node = gast.Call(func=value, args=[], keywords=[])
        else:
            return False
        open_ = [load("_open")] * MOST_ARGUMENTS
        return any(
            facts.may_change(rebuilt(node, args=[*node.args, *open_[:k]])) for k in range(MOST_ARGUMENTS + 1)
        )

    return _holders(program, writes)


def _is_effect(s: Any) -> bool:
    """Whether a statement may change an object."""
    is_store = isinstance(s, gast.Assign) and not isinstance(s.targets[0], (gast.Name, gast.Tuple))
    return is_store or isinstance(s, (gast.AugAssign, gast.Expr))


def _is_partial(program: Program, value: Any) -> bool:
    return isinstance(value, gast.Call) and program.resolve(value.func) is functools.partial


def _holders(program: Program, starts: Callable[[Any], bool], closures: bool = True) -> set[str]:
    """The names that may hold the value of an expression that `starts` accepts, or a container of it."""
    found = {
        s.targets[0].id
        for s in own_statements(program.tree.body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and starts(s.value)
    }
    size = 0
    while found and size < len(found):
        size = len(found)
        for read, held, is_closure in _held_by(program.tree):
            if (closures or not is_closure) and not found.isdisjoint(read):
                found.update(held)
    return found


@remembered
def _held_by(function: Any) -> list[tuple[Iterable[str], Iterable[str], bool]]:
    """For each statement the names that it reads, the names that may hold these afterwards, and whether it
    captures them in a function.
    """
    pairs = (_pair(s) for s in own_statements(function.body))
    return [pair for pair in pairs if pair is not None and pair[0] and pair[1]]


def _pair(s: Any) -> tuple[Iterable[str], Iterable[str], bool] | None:
    match s:
        case gast.Assign(targets=[target], value=gast.Call(args=args, keywords=keywords)):
            return names_read([*args, *keywords]), target_names(target), False
        case gast.Assign(targets=[gast.Subscript(value=base) | gast.Attribute(value=base)], value=value):
            return names_read(value), names_read(base), False
        case gast.Assign(
            targets=[target],
            value=gast.Name()
            | gast.Subscript()
            | gast.Attribute()
            | gast.Tuple()
            | gast.List()
            | gast.Dict()
            | gast.Set() as value,
        ):
            return names_read(value), target_names(target), False
        case gast.FunctionDef(name=name):
            return names_read(s), (name,), True
        case gast.For(target=target, iter=iterated):
            return names_read(iterated), target_names(target), False
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=base), args=args)):
            return names_read(args), names_read(base), False
    return None
