"""Inlines generator functions into their consumers; a recursive one becomes a function that returns a list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any
from weakref import WeakSet

import gast

from ..analysis.context_managers import nature_of_context
from ..kinds.lattice import UNKNOWN
from ..source.read import code_of_tree, read_source
from ..transforms.analyses.bind_methods import MethodCall
from ..transforms.analyses.facts import Facts
from ..transforms.errors import NoSourceError
from ..transforms.lowering.splice_generators import collect_items, splice_generators
from ..transforms.trees.generators import makes_generator
from ..transforms.trees.nodes import (
    assigned_names,
    binding_counts,
    bound_here,
    find_nodes,
    load,
    names_read,
    statements_in,
    store,
)
from ..transforms.trees.program import Names, Program
from ..transforms.trees.rebuild import map_blocks, rebuilt, substitute
from ..values.code_state import cells_of, rebuilt_function
from .self_recursion import is_within

__all__ = ["given_generators", "inline_generators", "refuse_generators"]

LISTS: WeakSet[FunctionType] = WeakSet()  # the functions made by `items_of`
VIEWS = ("items", "keys", "values")
Inlinable = Callable[[Any, Any], Program | None]


def inline_generators(
    program: Program,
    inlinable: Inlinable,
    recursive: set[Any],
    find_method: Callable[[Any], MethodCall | None] | None = None,
    guards: Callable[[Any], list[Any]] = lambda value: [],
) -> Program:
    """The program, in normal form, with generators inlined into the loops and calls that consume them.
    `recursive` are functions that were found to reach themselves; it gains the generators that are called
    where their own code was put in, and the functions that return the items of recursive ones. `guards` are
    those of `inline_calls`.
    """

    def recurs(function: Any, place: Any) -> bool:
        is_written = isinstance(function, FunctionType) and place[1] is not None
        if is_written and is_within(place[0], place[1], function):
            recursive.add(function)
        return function in recursive

    def collect(function: FunctionType) -> FunctionType | None:
        items = items_of(function)
        recursive.update({items} - {None})
        return items

    program = iterables_apart(program)
    return splice_generators(program, inlinable, find_method, collect, stays_context, recurs, guards)


def iterables_apart(program: Program) -> Program:
    """The program with names of their own for generators, and for `d.values()` and the like, whose names are
    bound again later in the block: `it = g(); it = list(it)` becomes `it_1 = g(); it = list(it_1)`.
    """
    names = program.names.copy()
    made: set[str] = set()

    def holds(s: Any) -> bool:
        """Whether a statement gives a name to such an iterable."""
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Name(id=name)):
                return name in made
            case gast.Assign(targets=[gast.Name()], value=gast.Call(func=func, args=args) as value):
                is_view = isinstance(func, gast.Attribute) and func.attr in VIEWS and not args
                return is_view or makes_generator(program, value)
        return False

    for s in find_nodes(program.tree, gast.Assign):
        if holds(s):
            made.add(s.targets[0].id)
    functions = [f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree]
    captured = {n for f in functions for n in names_read(f)}
    captured |= {n for t in find_nodes(program.tree, gast.Try) for n in assigned_names([t])}
    counts = binding_counts(program.tree)
    several = {name for name in made if counts[name] > 1} - captured
    if not several:
        return program

    def block(statements: list[Any]) -> list[Any]:
        result = [s if isinstance(s, gast.FunctionDef) else map_blocks(s, block) for s in statements]
        for k, s in enumerate(result):
            if not holds(s) or (name := s.targets[0].id) not in several:
                continue
            later = [j for j in range(k + 1, len(result)) if name in bound_here(result[j])]
            if not later or name in assigned_names(result[k + 1 : later[0]]):
                continue
            last = result[later[0]]
            if not isinstance(last, gast.Assign) or not isinstance(last.targets[0], gast.Name):
                continue
            own = load(names.temporary(name))
            result[k] = rebuilt(s, targets=[store(own.id)])
            result[k + 1 : later[0]] = substitute(result[k + 1 : later[0]], {name: own})
            result[later[0]] = rebuilt(last, value=substitute(last.value, {name: own}))
        return result

    return program.with_tree(rebuilt(program.tree, body=block(program.tree.body)), names=names)


def stays_context(manager: Any, stores_outside: bool) -> bool:
    """Whether a `with` on a generator-based manager stays as it is: it is a setting, or it lets exceptions
    pass and its stores cannot be followed.
    """
    nature = nature_of_context(manager)
    return nature == "setting" or (nature == "passing" and stores_outside)


@lru_cache(maxsize=1024)
def items_of(generator: FunctionType) -> FunctionType | None:
    """The function that returns the list of the items of a generator function; None without its source."""
    try:
        source = read_source(generator)
    except NoSourceError:
        return None
    code = generator.__code__
    items = Names({n.id for n in find_nodes(source.tree, gast.Name)} | {*code.co_names}).fresh("items")
    tree = collect_items(source.tree, items)
    new = code_of_tree(tree, source.filename, code.co_freevars, source.lines)
    made = rebuilt_function(generator, new, cells_of(generator))
    LISTS.add(made)
    return made


def is_list_of_items(function: FunctionType) -> bool:
    """Whether a function was made by `items_of`."""
    return function in LISTS


def refuse_unknown_items(facts: Facts) -> None:
    """Raises UnsupportedSyntaxError where a function iterates over something of an unknown kind, which may be
    an object of the user's: only the memory of a heap may tell its class.
    """
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.For(iter=gast.Name() as source):
                is_read = True
            case gast.Assign(value=gast.Call(func=func, args=[gast.Name() as source])):
                is_read = facts.program.resolve(func) is list
            case _:
                continue
        if is_read and facts.kind(source) is UNKNOWN:
            facts.program.refuse(
                s,
                "a recursive generator over objects of unknown classes is not differentiated",
                "which generator gives the items is known at run time only",
                "write a function that returns a list",
            )


def given_generators(program: Program) -> Callable[[Any], bool]:
    """A predicate: does this call get a generator that the program binds to a name?"""
    named = {
        s.targets[0].id
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.value, gast.Call) and isinstance(s.targets[0], gast.Name)
        if makes_generator(program, s.value)
    }

    def is_given(call: Any) -> bool:
        given = [*call.args, *(k.value for k in call.keywords)]
        return any(isinstance(a, gast.Name) and a.id in named for a in given)

    return is_given


def refuse_generators(program: Program) -> None:
    """Raises UnsupportedSyntaxError for a generator function that was not inlined, nested ones included."""
    for s in find_nodes(program.tree, gast.Expr):
        if isinstance(s.value, gast.Yield):
            program.refuse(
                s,
                "a generator that is not consumed where it is made is not differentiated",
                "when its items are computed is known at run time only",
                "go over it with `for`, `sum`, `list`, ... once and at once; or collect the items in a list "
                "and return that",
            )
