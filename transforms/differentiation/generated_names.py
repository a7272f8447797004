"""The names that generated code binds, and the objects that its expressions refer to."""

from __future__ import annotations

import re
from typing import Any

import gast

from ..analyses.operations import Apply, Primitives
from ..analyses.primitive_table import ArrayFunction
from ..trees.nodes import attribute, call, load
from ..trees.program import MISSING, Program

__all__ = ["Objects"]


class Objects:
    """The names that a differentiation adds to a program, and the objects that they are bound to."""

    def __init__(self, program: Program, primitives: Primitives) -> None:
        self.program, self.primitives = program, primitives
        self.names = program.names.copy()
        self.bindings: dict[str, Any] = dict(program.bindings)
        self.origins = dict(program.origins)

    def bind(self, hint: str, value: Any) -> str:
        """The name by which generated code reads an object: the hint, if that is free or refers to the
        object.
        """
        for name, bound in self.bindings.items():
            if bound is value:
                return name
        if hint not in self.program.locals and hint not in self.bindings:
            found = self.program.scope.lookup(hint)
            if found is value:
                return hint
            if found is MISSING and self.names.is_free(hint):
                self.names.taken.add(hint)
                self.bindings[hint] = value
                return hint
        name = self.names.temporary(hint)
        self.bindings[name] = value
        return name

    def note_origin(self, name: str, variable: str) -> None:
        """Notes that `name` holds the adjoint or tangent of a variable."""
        origin = self.program.origins.get(variable, variable)
        if not re.search(r"_\d+$", origin):
            self.origins[name] = "d" + origin

    def helper(self, name: str) -> Any:
        return load(self.bind(name, self.primitives.helper(name)))

    def array_call(self, name: ArrayFunction, *args: Any, **keywords: Any) -> Any:
        """A call of a function on arrays."""
        return call(self.array_function(name), *args, **keywords)

    def array_function(self, name: ArrayFunction) -> Any:
        """A function on arrays, as an attribute of their module."""
        return attribute(load(self.bind(*self.primitives.array_module())), name)

    def is_array_function(self, node: Any, name: ArrayFunction) -> bool:
        """Whether an expression means a function on arrays, as an attribute of their module."""
        is_path = isinstance(node, gast.Attribute)
        return is_path and self.object_of(node) is self.primitives.array_function(name)

    def object_of(self, node: Any) -> Any:
        """The object that a name, or an attribute of one, refers to; MISSING where it is not known."""
        if isinstance(node, gast.Attribute):
            owner = self.object_of(node.value)
            return MISSING if owner is MISSING else getattr(owner, node.attr, MISSING)
        if not isinstance(node, gast.Name) or node.id in self.program.locals:
            return MISSING
        return self.bindings.get(node.id, self.program.scope.lookup(node.id))

    def is_helper(self, node: Any, name: str) -> bool:
        """Whether an expression refers to a helper."""
        return isinstance(node, gast.Name) and self.object_of(node) is self.primitives.helper(name)

    def is_fresh(self, value: Any) -> bool:
        """Whether an expression surely makes a new object without aliases."""
        match value:
            case gast.Call(func=gast.Attribute(attr="copy")):
                return True
            case gast.Call(func=func, args=args, keywords=keywords):
                named = tuple((k.arg or "", k.value) for k in keywords)
                made = Apply(self.object_of(func), tuple(args), named, value)
                if self.primitives.sharing(made) == "fresh":
                    return True
                whole = self.seen_in(value)
                return whole is not value and self.is_fresh(whole)
            case gast.Attribute(value=whole, attr="real"):
                return self.is_fresh(whole)
            case gast.Subscript(value=gast.Call(func=func) as whole):  # an array, and so a view of it
                return self.is_array_function(func, "vecdot") and self.is_fresh(whole)
        return isinstance(value, (gast.BinOp, gast.UnaryOp))

    def seen_in(self, value: Any) -> Any:
        """The array that an expression may be a view of; the expression itself where it is no view."""
        match value:
            case gast.Call(func=func, args=[whole, *_] as args, keywords=keywords):
                named = tuple((k.arg or "", k.value) for k in keywords)
                made = Apply(self.object_of(func), tuple(args), named, value)
                is_view = self.primitives.sharing(made) in ("view", "maybe")
                if is_view and not self.primitives.is_read_only(made.function):
                    return self.seen_in(whole)
        return value
