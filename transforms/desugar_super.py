"""Makes `super()` say what it looks at.

Form in: a function as its author wrote it. Form out: the same, with `super(Base, type(self)).method(self, x)`
in the place of `super().method(x)`, which is the same call.

>>> from s2sad.transforms.printer import to_source
>>> from s2sad.transforms.program import Scope, program_of
>>> from types import CellType
>>> scope = Scope({}, {"__class__": CellType(dict)})
>>> print(to_source(desugar_super(program_of('''
... def f(self, x):
...     return super().get(x)
... ''', scope)).tree), end="")
def f(self, x):
    return super(dict, type(self)).get(self, x)
"""

from __future__ import annotations

from typing import Any

import gast

from .bind_objects import Objects
from .nodes import attribute, call, load, names_in
from .program import MISSING, Names, Program
from .rebuild import map_children, parameters, rebuilt

__all__ = ["desugar_super"]


def desugar_super(program: Program) -> Program:
    """The program without calls of `super` that read the variables around them."""
    cls = program.scope.lookup("__class__") if "__class__" in program.scope.cells else MISSING
    first = next((p.id for p in parameters(program.tree)), None)
    if cls is MISSING or first is None or "super" not in names_in(program.tree):
        return program
    names = Names(names_in(program.tree) | program.names.taken)
    objects = Objects(program, names)

    def change(node: Any) -> Any:
        new = map_children(node, change)
        match new:
            case gast.Call(
                func=gast.Attribute(
                    value=gast.Call(func=gast.Name(id="super"), args=[], keywords=[]) as found
                )
            ):
                owner = call(found.func, load(objects.name(cls)), call(objects.name(type), load(first)))
                func = attribute(owner, new.func.attr)
                return rebuilt(new, func=func, args=[load(first), *new.args])
        return new

    tree = rebuilt(program.tree, body=[change(s) for s in program.tree.body])
    return program.with_tree(tree, bindings=objects.all_bindings())
