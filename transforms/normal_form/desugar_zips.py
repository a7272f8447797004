"""Writes `zip(*rows)` as what it is: a transpose.

Form in: a function with resolved names. Form out: the same, without stars in `zip`, `enumerate` and
`reversed`. The helper `transposed` gives a list of tuples, and has a derivative.

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
from ..trees.nodes import call, find_nodes, located
from ..trees.program import Program
from ..trees.rebuild import map_children

__all__ = ["desugar_zips"]

Node = Any  # gast publishes no types


def desugar_zips(program: Program) -> Program:
    """The program with transposes for zips of what is expanded."""
    if not find_nodes(program.tree, gast.Starred):
        return program
    objects = Objects(program, program.names.copy())

    def change(node: Node) -> Node:
        new = map_children(node, change)
        if not isinstance(node, gast.Call) or not any(isinstance(a, gast.Starred) for a in node.args):
            return new
        found = program.resolve(node.func)
        if found is enumerate or found is reversed:
            program.refuse(
                node,
                f"`{found.__name__}` of what a `*` expands is not differentiated",
                "which sequence it goes over is known only at run time",
                "name the sequence",
            )
        if found is not zip:
            return new
        rows = gast.List(elts=new.args, ctx=gast.Load())
        if len(new.args) == 1:
            rows = new.args[0].value
        return located(call(objects.name(transposed), rows, **{k.arg: k.value for k in new.keywords}), node)

    tree = map_children(program.tree, change)
    return program.with_tree(tree, names=objects.names, bindings=objects.all_bindings())
