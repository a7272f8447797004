"""The purity of calls and loops in generated code: a pure one may be moved or removed.

Contract: a method or loop is pure only where the kind of its object is known: an unknown object may be an
iterator, which a loop consumes.
"""

from __future__ import annotations

from typing import Any

import gast

from ..kinds import domain
from ..kinds.lattice import Array, Dict, Kind, List, Literal, Numeric, Scalar, Set, Sparse, Tuple
from ..rules.methods import METHODS
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_effects import uncovered_by_rule
from ..transforms.analyses.operations import method_of_callable
from ..transforms.trees.nodes import find_nodes, names_read
from ..transforms.trees.program import MISSING
from .primitive_table import PRIMITIVES

__all__ = ["Purity"]

# Objects whose methods are known, and that can be iterated over any number of times.
_KNOWN = (Array, Dict, List, Literal, Numeric, Scalar, Set, Sparse, Tuple)

# Functions that iterate over their arguments.
_TAKING = (all, any, dict, enumerate, filter, frozenset, iter, list, map, max, min, reversed, set, sorted,
           sum, tuple, zip)  # fmt: skip


class Purity:
    """Whether a call, or a statement that iterates (a `for` loop, an unpacking), has no side effects."""

    def __init__(self, facts: Facts, made: frozenset[str] = frozenset()) -> None:
        self.facts, self.program = facts, facts.program
        self.made = made  # adjoints, tangents and traces: numbers, arrays and lists
        nested = find_nodes(self.program.tree, gast.FunctionDef)[1:]
        self.raising = {s.name for s in nested if find_nodes(s, gast.Raise)}

    def __call__(self, node: Any) -> bool:
        match node:
            case gast.Call(func=func, args=args, keywords=keywords):
                function = self.program.resolve(func)
                if function is MISSING and isinstance(func, gast.Attribute):
                    function = method_of_callable(node, self.program) or MISSING
                if function is MISSING:
                    return isinstance(func, gast.Attribute) and self.is_pure_method(node)
                if any(function is taking for taking in _TAKING) and not all(map(self.is_known, args)):
                    return False
                if self.raising and not self.raising.isdisjoint(names_read([*args, *keywords])):
                    return False
                named = {k.arg or "": k.value for k in keywords}
                if PRIMITIVES.tuple_positions(function, len(args), [*named]) is not None:
                    return True
                if not PRIMITIVES.is_pure(function) or PRIMITIVES.changed(function, len(args), named):
                    return False
                return uncovered_by_rule(self.facts.operation(node), PRIMITIVES) is None
            case gast.For(iter=source) | gast.Assign(targets=[gast.Tuple() | gast.List()], value=source):
                return self.is_known(source)
        return True

    def is_pure_method(self, call: Any) -> bool:
        """Whether a call of a dynamic method has no side effects."""
        name, method = call.func.attr, METHODS.get(call.func.attr)
        if method is None and name not in ("copy", "get"):
            return False
        named = {k.arg or "": k.value for k in call.keywords}
        if method is not None and PRIMITIVES.changed(method, len(call.args) + 1, named):
            return False
        return self.is_known(call.func.value)

    def is_known(self, node: Any) -> bool:
        """Whether an expression's value is a number, an array, or one of Python's own containers."""
        match node:
            case gast.Name() | gast.Attribute() | gast.Subscript():
                root = node
                while isinstance(root, (gast.Attribute, gast.Subscript)):
                    root = root.value
                is_made = isinstance(root, gast.Name) and root.id in self.made
                return is_made or isinstance(self.kind(node), _KNOWN)
            case gast.Call(func=func, args=args):
                function = self.program.resolve(func)
                if function is MISSING:
                    return isinstance(func, gast.Attribute) and all(map(self.is_known, [func.value, *args]))
                return function is not iter and all(map(self.is_known, args))
            case gast.BinOp(left=left, right=right):
                return self.is_known(left) and self.is_known(right)
            case gast.UnaryOp(operand=operand) | gast.Starred(value=operand):
                return self.is_known(operand)
            case gast.Constant() | gast.Compare() | gast.List() | gast.Tuple() | gast.Dict() | gast.Set():
                return True
        return False

    def kind(self, node: Any) -> Kind:
        """The kind of a name's object, of an attribute of it, or of an element."""
        match node:
            case gast.Attribute(value=value, attr=attr) if self.program.resolve(node) is MISSING:
                return domain.attribute_kind(self.kind(value), attr)
            case gast.Subscript(value=value, slice=index):
                return domain.item_kind(self.kind(value), index, self.kind)
        found: Kind = self.facts.kind(node)
        return found
