"""Globals that are assigned as attributes of their module.

Form in: a function with resolved names. Form out: the same, without `global`. What functions assign while the
program runs is read and set where it stands; other globals are names still.

>>> from s2sad.transforms.normal_form.resolve_names import resolve_names
>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import Scope, program_of
>>> print(to_source(desugar_globals(resolve_names(program_of('''
... def f(x):
...     global calls
...     calls += 1
...     return x
... ''', Scope({"__name__": "models"})))).tree))
def f(x):
    pass
    models.calls += 1
    return x
<BLANKLINE>
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.modules import Globals, name_key
from ..trees.nodes import find_nodes, located
from ..trees.program import Program
from ..trees.rebuild import map_children, rebuilt

__all__ = ["assigned_globals", "desugar_globals"]

Node = Any  # gast publishes no types


def desugar_globals(program: Program) -> Program:
    """The program with attributes of its module in the place of the globals that are assigned."""
    declarations = find_nodes(program.tree, gast.Global)
    if not declarations and not program.scope.rebound:
        return program
    scope, own = program.scope, program.locals | program.scope.cells.keys()
    read = {n.id for n in find_nodes(program.tree, gast.Name) if n.id not in own}
    found = assigned_globals(program.tree) | {n for n in read if name_key(scope.globals, n) in scope.rebound}
    objects = Objects(program, program.names.copy())
    name = ""
    if found:
        module = Globals(scope.globals)  # type: ignore[arg-type]
        name = objects.name(module, module.__name__.rpartition(".")[2])

    def change(node: Node) -> Node:
        match node:
            case gast.Name(id=id) if id in found:
                owner = located(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None), node)
                return located(gast.Attribute(value=owner, attr=id, ctx=node.ctx), node)
            case gast.Global():
                return located(gast.Pass(), node)
        return map_children(node, change)

    tree = rebuilt(program.tree, body=[change(s) for s in program.tree.body])
    return program.with_tree(tree, names=objects.names, bindings=objects.all_bindings())


def assigned_globals(tree: Node) -> set[str]:
    """The names that a function declares to be globals and assigns."""
    declared = {name for n in find_nodes(tree, gast.Global) for name in n.names}
    if not declared:
        return declared
    return declared & {n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load)}
