"""Assigned globals as attributes of their module, and assigned variables of enclosing functions as attributes
of their cells.

Form in: a function with resolved names. Form out: the same, without `global`, and `nonlocal` only for its own
variables. A variable that some function assigns at run time is read and stored in place; other free names
stay names.

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
from ..trees.modules import cell_key, globals_of, name_key, variable_of
from ..trees.nodes import find_nodes, located
from ..trees.program import Program, Scope
from ..trees.rebuild import map_children, rebuilt

__all__ = ["assigned_outside", "desugar_globals", "key_of"]

Node = Any  # gast publishes no types


def desugar_globals(program: Program) -> Program:
    """The program with attributes for its assigned globals and enclosing variables."""
    scope = program.scope
    if not find_nodes(program.tree, gast.Global, gast.Nonlocal) and not scope.rebound:
        return program
    read = {n.id for n in find_nodes(program.tree, gast.Name) if n.id not in program.locals}
    assigned = assigned_outside(program.tree, scope)
    found = {n for n in read if n in assigned or key_of(scope, n) in scope.rebound}
    objects = Objects(program, program.names.copy())
    owners = {name: owner_of(scope, name, objects) for name in sorted(found)}

    def change(node: Node) -> Node:
        match node:
            case gast.Name(id=id) if id in owners:
                base, attr = owners[id]
                owner = located(gast.Name(id=base, ctx=gast.Load(), annotation=None, type_comment=None), node)
                return located(gast.Attribute(value=owner, attr=attr, ctx=node.ctx), node)
            case gast.Global():
                return located(gast.Pass(), node)
            case gast.Nonlocal(names=names):
                inner = [n for n in names if n not in scope.cells]
                return rebuilt(node, names=inner) if inner else located(gast.Pass(), node)
        return map_children(node, change)

    tree = rebuilt(program.tree, body=[change(s) for s in program.tree.body])
    return program.with_tree(tree, names=objects.names, bindings=objects.all_bindings())


def owner_of(scope: Scope, name: str, objects: Objects) -> tuple[str, str]:
    """The name of the object that holds a global or an enclosing variable, and the attribute."""
    if name in scope.cells:
        return objects.name(variable_of(scope.cells[name], name), f"{name}_cell"), "cell_contents"
    module = globals_of(scope.globals)  # type: ignore[arg-type]
    return objects.name(module, module.__name__.rpartition(".")[2]), name


def key_of(scope: Scope, name: str) -> tuple[int, str]:
    """The key of a global or an enclosing variable in `Scope.rebound`."""
    if name in scope.cells:
        return cell_key(scope.cells[name])
    return name_key(scope.globals, name)


def assigned_outside(tree: Node, scope: Scope) -> set[str]:
    """The names that a function declares global or nonlocal, and assigns."""
    declared = {name for n in find_nodes(tree, gast.Global) for name in n.names}
    around = {name for n in find_nodes(tree, gast.Nonlocal) for name in n.names}
    declared |= around & scope.cells.keys()
    if not declared:
        return declared
    return declared & {n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load)}
