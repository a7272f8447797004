"""Splits `with` and `try` into simple ones.

Form in: a function with resolved names. Form out: the same; each `with` has one context and at most a name
for it, each `try` either `except` or `finally`. `contextlib.nullcontext` and `contextlib.suppress` are
expanded.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_contexts(program_of('''
... def f(x):
...     with a(), b() as (y, z):
...         try:
...             x = g(y)
...         except ValueError:
...             x = z
...         finally:
...             done()
... ''')).tree))
def f(x):
    with a():
        with b() as y_1:
            y, z = y_1
            try:
                try:
                    x = g(y)
                except ValueError:
                    x = z
            finally:
                done()
<BLANKLINE>
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import gast

from ..trees.nodes import assign, load, located, store, tuple_of, walk
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt
from .lazy_iterables import base_name

__all__ = ["desugar_contexts"]

Node = Any  # gast publishes no types


def desugar_contexts(program: Program) -> Program:
    """The program with simple contexts."""
    if not any(isinstance(n, (gast.With, gast.Try)) for n in walk(program.tree)):
        return program
    names = program.names.copy()

    def held(statements: list[Node]) -> list[Node]:
        """The block with the values of its returns evaluated inside it; around a loop they would be evaluated
        after it is left.
        """
        result: list[Node] = []
        for s in statements:
            if isinstance(s, gast.Return) and s.value is not None and not isinstance(s.value, gast.Constant):
                name = names.temporary("value")
                result.append(assign(name, s.value, s))
                s = rebuilt(s, value=load(name))
            result.append(s if isinstance(s, gast.FunctionDef) else map_blocks(s, held))
        return result

    def block(statements: list[Node], in_loop: bool = False) -> list[Node]:
        result: list[Node] = []
        for s in statements:
            is_loop = isinstance(s, (gast.For, gast.While))
            s = map_blocks(
                s, partial(block, in_loop=is_loop or (in_loop and not isinstance(s, gast.FunctionDef)))
            )
            if in_loop and isinstance(s, gast.Try) and s.finalbody:
                s = map_blocks(s, held)
            elif in_loop and isinstance(s, (gast.With, gast.Try)):
                s = rebuilt(s, body=held(s.body))
            if isinstance(s, gast.With):
                result += within(s, s.items)
            elif isinstance(s, gast.Try) and s.finalbody and s.handlers:
                result.append(rebuilt(s, body=[rebuilt(s, finalbody=[])], handlers=[], orelse=[]))
            else:
                result.append(s)
        return result

    def within(s: Node, items: list[Node]) -> list[Node]:
        """The statements for `with items[0]: with items[1]: ...`."""
        if not items:
            return list(s.body)
        item, body = items[0], within(s, items[1:])
        context, target = item.context_expr, item.optional_vars
        found = program.resolve(context.func) if isinstance(context, gast.Call) else None
        if found is contextlib.nullcontext and not context.keywords and len(context.args) < 2:
            value = context.args[0] if context.args else gast.Constant(value=None, kind=None)
            bound = [assign(target, value, s)] if target is not None else []
            return [*bound, *body]
        if found is contextlib.suppress and target is None and not context.keywords:
            kinds = located(tuple_of(context.args), context)
            handler = located(
                gast.ExceptHandler(type=kinds, name=None, body=[located(gast.Pass(), s)]), context
            )
            return [located(gast.Try(body=body, handlers=[handler], orelse=[], finalbody=[]), s)]
        if target is not None and not isinstance(target, gast.Name):
            name = names.temporary(base_name(target))
            body = [assign(target, load(name), s), *body]
            target = store(name)
        return [rebuilt(s, items=[rebuilt(item, optional_vars=target)], body=body)]

    tree = rebuilt(program.tree, body=block(program.tree.body))
    return program.with_tree(tree, names=names)
