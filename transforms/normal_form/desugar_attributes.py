"""Writes `super()`, `getattr` and `setattr` as plain attributes.

Form in: a function as its author wrote it. Form out: the same, with `super(Base, type(self)).method(self, x)`
for `super().method(x)`, and `x.a` for `getattr(x, "a")`.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import Scope, program_of
>>> from types import CellType
>>> scope = Scope({}, {"__class__": CellType(dict)})
>>> print(to_source(desugar_attributes(program_of('''
... def f(self, x):
...     setattr(self, "x", getattr(x, "y"))
...     return super().get(x)
... ''', scope)).tree), end="")
def f(self, x):
    self.x = x.y
    return super(dict, type(self)).get(self, x)
"""

from __future__ import annotations

import keyword
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, attribute, call, load, located, names_in
from ..trees.program import MISSING, Program
from ..trees.rebuild import bound_names, map_children, parameters, rebuilt

__all__ = ["desugar_attributes"]

NAMES = frozenset({"super", "getattr", "setattr"})


def desugar_attributes(program: Program) -> Program:
    """The program with plain attributes wherever their names are literals."""
    found = names_in(program.tree)
    if not NAMES & (found - bound_names(program.tree)):
        return program
    objects = Objects(program, program.names.copy(found))
    cls = program.scope.lookup("__class__") if "__class__" in program.scope.cells else MISSING
    first = next((p.id for p in parameters(program.tree)), None)

    def change(node: Any) -> Any:
        new = map_children(node, change)
        match new:
            case gast.Call(
                func=gast.Attribute(value=gast.Call(func=gast.Name(id="super") as name, args=[], keywords=[]))
            ) if cls is not MISSING and first is not None:
                owner = call(name, load(objects.name(cls)), call(objects.name(type), load(first)))
                func = attribute(owner, new.func.attr)
                return rebuilt(new, func=func, args=[load(first), *new.args])
            case gast.Call(
                func=gast.Name(id="getattr") as name, args=[base, gast.Constant(value=str(attr))]
            ) if is_builtin(name, getattr, attr):
                return located(attribute(base, attr), new)
            case gast.Expr(
                value=gast.Call(
                    func=gast.Name(id="setattr") as name, args=[base, gast.Constant(value=str(attr)), value]
                )
            ) if is_builtin(name, setattr, attr):
                return assign(gast.Attribute(value=base, attr=attr, ctx=gast.Store()), value, new)
        return new

    def is_builtin(name: Any, function: Any, attr: str) -> bool:
        plain = attr.isidentifier() and not keyword.iskeyword(attr)
        return program.scope.lookup(name.id) is function and plain

    tree = rebuilt(program.tree, body=[change(s) for s in program.tree.body])
    return program.with_tree(tree, bindings=objects.all_bindings())
