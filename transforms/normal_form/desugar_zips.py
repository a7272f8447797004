"""Writes `zip(*rows)` as a transpose.

Form in: a function with resolved names. Form out: the same, without stars in `zip`, `enumerate` and
`reversed`. The helper `transposed` returns a list of tuples, and has a rule. A loop whose body may change the
rows goes over `zip(row, row_1)`, which reads each item when its iteration begins.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_zips(program_of('''
... def f(x, rows):
...     a, b = zip(x, *rows)
...     return a
... ''')).tree))
def f(x, rows):
    a, b = transposed([x, *rows])
    return a
<BLANKLINE>
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import transposed
from ..trees.nodes import assign, call, find_nodes, load, located, store, tuple_of
from ..trees.program import Program
from ..trees.rebuild import map_children, rebuilt
from .check_loop_effects import may_change_items
from .lazy_iterables import base_name, is_call
from .splice_iterables import takes_apart

__all__ = ["desugar_zips"]

Node = Any  # gast publishes no types


def desugar_zips(program: Program) -> Program:
    """The program with transposes for zips of starred arguments."""
    if not find_nodes(program.tree, gast.Starred):
        return program
    objects = Objects(program, program.names.copy())

    def change(node: Node) -> Node:
        if isinstance(node, gast.For) and is_of_rows(program, node):
            node = by_rows(objects, node)
        new = map_children(node, change)
        if not isinstance(node, gast.Call) or not any(isinstance(a, gast.Starred) for a in node.args):
            return new
        found = program.resolve(node.func)
        if found is enumerate or found is reversed:
            program.refuse(
                node,
                f"`{found.__name__}` of a `*` argument is not differentiated",
                "the sequence that it iterates over is dynamic",
                "name the sequence",
            )
        if found is not zip:
            return new
        rows = gast.List(elts=new.args, ctx=gast.Load())
        if len(new.args) == 1:
            rows = new.args[0].value
        return rebuilt(new, func=load(objects.name(transposed)), args=[rows])

    tree = map_children(program.tree, change)
    return program.with_tree(tree, names=objects.names, bindings=objects.all_bindings())


def is_of_rows(program: Program, loop: Node) -> bool:
    """Whether a loop over `zip(*rows)` takes each item apart, and may change the rows."""
    match loop.iter:
        case gast.Call(args=[gast.Starred(value=gast.Name())]) if is_call(program, loop.iter, "zip"):
            is_split = takes_apart(loop.target, len(getattr(loop.target, "elts", [])))
            return is_split and not loop.orelse and may_change_items(program, loop)
    return False


def by_rows(objects: Objects, loop: Node) -> Node:
    """Such a loop as one over `zip(row, row_1)`, if there are any rows."""
    rows = loop.iter.args[0].value
    parts = [objects.names.temporary(base_name(t)) for t in loop.target.elts]
    split = assign(tuple_of(map(store, parts), gast.Store()), rows, loop)
    body = [split, rebuilt(loop, iter=rebuilt(loop.iter, args=list(map(load, parts))))]
    return located(gast.If(test=call(objects.name(len), rows), body=body, orelse=[]), loop)
