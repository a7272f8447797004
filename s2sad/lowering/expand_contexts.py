"""Expands `with` on objects of the user's classes into calls of their methods, in normal form.

    with box as v:          v = box.__enter__()
        ...                 try:
                                ...
                            finally:
                                box.__exit__(None, None, None)

Only for objects that may be active, with an `__exit__` that lets every exception pass and does not read it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import gast

from ..analysis.constructors import makes_known
from ..analysis.context_managers import returns_nothing
from ..kinds import domain
from ..kinds.lattice import Kind, Record
from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.trees.nodes import assign, attribute, call, constant, find_nodes, load, located, names_read
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names, rewritten
from ..values.objects import lookup

__all__ = ["expand_contexts"]


def expand_contexts(program: Program, kind: Callable[[Any], Kind]) -> Program:
    """The program with calls of `__enter__` and `__exit__` in place of `with` on such objects."""
    names = program.names.copy()
    made: set[str] = set()

    def carries(atom: Any) -> bool:
        return domain.is_differentiable(kind(atom)) is not False

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.With(items=[gast.withitem(context_expr=gast.Call() as context)]):
                found = program.resolve(context.func)
                is_known = isinstance(found, type) and makes_known(found) and is_followed(found)
                given = [*context.args, *(k.value for k in context.keywords)]
                if not is_known or not any(map(carries, given)):
                    return None
                name = names.temporary("context")
                made.add(name)
                return [assign(name, context, s), *within(s, load(name))]
            case gast.With(items=[gast.withitem(context_expr=gast.Name() as context)]):
                owner = kind(context)
                is_known = isinstance(owner, Record) and is_followed(owner.cls)
                if is_known and context.id in program.locals and carries(context):
                    made.add(context.id)
                    return within(s, context)
        return None

    def within(s: Any, context: Any) -> list[Any]:
        target = s.items[0].optional_vars
        entered = located(call(attribute(context, "__enter__")), s)
        nothing = [constant(None)] * 3
        left = located(gast.Expr(value=located(call(attribute(context, "__exit__"), *nothing), s)), s)
        first = located(gast.Expr(value=entered), s) if target is None else assign(target, entered, s)
        return [first, located(gast.Try(body=s.body, handlers=[], orelse=[], finalbody=[left]), s)]

    if not find_nodes(program.tree, gast.With):
        return program
    tree = rewritten(program.tree, statement, inner_first=True)
    if not made:
        return program
    return program.with_tree(tree, names=names, locals=program.locals | made)


@lru_cache(maxsize=1024)
def is_followed(cls: type) -> bool:
    """Whether a class has Python methods `__enter__` and `__exit__`, and the latter lets every exception pass
    and does not read it.
    """
    enter, leave = lookup(cls, "__enter__"), lookup(cls, "__exit__")
    if not isinstance(enter, FunctionType) or not isinstance(leave, FunctionType):
        return False
    try:
        tree = read_source(leave).tree
    except NoSourceError:
        return False
    stars = [p.id for p in (tree.args.vararg, tree.args.kwarg) if p is not None]
    details = {*parameter_names(tree)[1:], *stars}
    return returns_nothing(leave) and details.isdisjoint(names_read(tree.body))
