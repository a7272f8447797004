"""Facts of expressions in generated code, for simplification: from primitives and kinds."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Kind
from ..primitives.aliasing import is_fresh, positional_parameters
from ..primitives.record import fact
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply
from ..transforms.differentiation.generation import Generation
from ..transforms.trees.nodes import attribute, call, names_read
from ..transforms.trees.program import Program
from .primitive_table import PRIMITIVES
from .purity import Purity

__all__ = [
    "GeneratedExpressions",
    "stays_starred",
    "users_names",
]


PRODUCTS = ("elementwise", "bilinear")  # structures of functions that return floats if one operand is float
NOT_ODD = frozenset({"dtype", "initial", "out"})  # parameters


def users_names(program: Program) -> frozenset[str]:
    """The names of the user's own variables: those without the numeric suffix of a pass."""
    return frozenset(n for n in program.locals if not re.search(r"_\d+$", n))


class GeneratedExpressions(Facts):
    """The facts of a generated program, and questions of simplification about its expressions."""

    def __init__(self, program: Program, generation: Generation) -> None:
        super().__init__(program, generation.kinds, PRIMITIVES, domain)
        self.derivatives, self.generation = generation.derivatives, generation
        self.is_pure = Purity(self, generation.derivatives | generation.traces)

    def is_module(self, path: Any) -> bool:
        """Whether a name or dotted path is known to be a module or class."""
        return isinstance(self.program.resolve(path), (ModuleType, type))

    def is_float(self, node: Any, is_one: Callable[[str], bool]) -> bool:
        """Whether an expression is surely a float or an array of floats, so that `1.0 * x` is `x`;
        `is_one(name)` says that a name is bound once, so that its kind holds.
        """
        kinds, resolve = self.kinds, self.program.resolve

        def found(node: Any) -> bool:
            match node:
                case gast.Constant(value=value):
                    return isinstance(value, float)
                case gast.Name(id=name) if name in self.derivatives:
                    return True
                case gast.Name(id=name):
                    is_steady = is_one(name) if name in kinds else name not in self.program.locals
                    return is_steady and domain.is_float(self.kind(node))
                case gast.IfExp(body=first, orelse=second):
                    return found(first) and found(second)
                case gast.Subscript(value=gast.Name(id=name)) if name in self.derivatives:
                    return True
                case gast.Subscript(value=gast.Name(id=name)):
                    kind = kinds.get(name, UNKNOWN)
                    return is_one(name) and domain.item_nature(kind) == "array" and domain.is_float(kind)
                case gast.Subscript(value=gast.Call() as whole) | gast.Attribute(value=whole, attr="T"):
                    return found(whole)
                case gast.BinOp(left=left, right=right):
                    return found(left) or found(right)
                case gast.UnaryOp(operand=operand):
                    return found(operand)
                case gast.Call(args=[operand, *_]) if self.is_odd(node):
                    return found(operand)
                case gast.Call(func=func, args=args):
                    function = resolve(func)
                    if function is np.where and not any(map(self.has_axes, args)):  # it makes an array
                        return False
                    rule = PRIMITIVES.find_rule(function)
                    return rule is not None and rule.structure in PRODUCTS and any(map(found, args))
            return False

        return found(node)

    def has_axes(self, node: Any) -> bool:
        """Whether an expression is an array of at least one axis."""
        match node:
            case gast.Name():
                return bool(domain.rank(self.kind(node)))
            case gast.BinOp(left=a, right=b) | gast.Compare(left=a, comparators=[b]):
                return self.has_axes(a) or self.has_axes(b)
            case gast.UnaryOp(operand=operand):
                return self.has_axes(operand)
        return False

    def is_odd(self, call: Any) -> bool:
        """Whether a call is of a function that is odd in its first argument."""
        function = self.program.resolve(call.func)
        passed = {*positional_parameters(function)[: len(call.args)], *(k.arg for k in call.keywords)}
        return bool(fact(function, "odd")) and NOT_ODD.isdisjoint(passed)

    def is_number(self, node: Any) -> bool:
        """Whether a name, or an item of one, is a number and no array, by its kind."""

        def kind(node: Any) -> Kind:
            is_free = isinstance(node, gast.Name) and node.id not in self.kinds
            return UNKNOWN if is_free else self.kind(node)

        match node:
            case gast.Name(id=name) if name in self.program.bindings:
                return isinstance(self.program.bindings[name], float)
            case gast.Name():
                return domain.is_scalar(kind(node))
            case gast.Subscript(value=gast.Name() as base, slice=index):
                return domain.is_scalar_item(kind(base), index, kind)
        return False

    def is_fresh(self, call: Any) -> bool:
        """Whether a call makes a new object."""
        return is_fresh(self.program.resolve(call.func))

    def sum_of_outer(self, a: Any, b: Any, is_one: Callable[[str], bool]) -> Any:
        """`np.array([x, y]).T @ np.array([u, v])` for `np.outer(x, u) + np.outer(y, v)`, contributions to one
        adjoint, all of vectors of one dtype; None for other terms. It makes one matrix in place of three.
        """
        terms = [self.outer_factors(a), self.outer_factors(b)]
        if not all(terms) or not all(self.generation.adjoint_of.keys() & {*names_read(t)} for t in terms):
            return None
        kinds = [self.kind_of_product(v, is_one) for vectors in terms for v in vectors]
        if not (all(domain.rank(k) == 1 for k in kinds) and domain.share_real_dtype(kinds)):
            return None
        array = attribute(a.func.value, "array")
        rows = [gast.List(elts=list(vectors), ctx=gast.Load()) for vectors in zip(*terms, strict=True)]
        left, right = (call(array, r) for r in rows)
        return gast.BinOp(left=attribute(left, "T"), op=gast.MatMult(), right=right)

    def is_matrix(self, node: Any, is_one: Callable[[str], bool]) -> bool:
        """Whether an expression is a matrix of floats: a name, a transposed one, or a product of such."""
        kind = self.kind_of_product(node, is_one)
        return domain.rank(kind) == 2 and domain.share_real_dtype([kind])

    def outer_factors(self, node: Any) -> list[Any]:
        """The operands of a call of `np.outer`; none for other expressions."""
        match node:
            case gast.Call(func=gast.Attribute() as func, args=[_, _] as args, keywords=[]):
                return args if self.program.resolve(func) is np.outer else []
        return []

    def kind_of_product(self, node: Any, is_one: Callable[[str], bool]) -> Kind:
        """The kind, but for lengths, of a name, also with a sign, transposed, or multiplied by a matrix."""
        match node:
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return self.kind_of_product(operand, is_one)
            case gast.Name(id=name) if is_one(name) and name not in self.generation.spreading:
                found: Kind = self.kinds.get(self.generation.adjoint_of.get(name, name), UNKNOWN)
                return found
            case gast.Attribute(value=base, attr="T"):
                kind = self.kind_of_product(base, is_one)
                return kind if domain.rank(kind) == 2 else UNKNOWN
            case gast.BinOp(left=left, op=gast.MatMult(), right=right):
                kinds: list[Kind] = [self.kind_of_product(k, is_one) for k in (left, right)]
                ranks = [domain.rank(k) for k in kinds]
                is_product = ranks in ([1, 2], [2, 1], [2, 2]) and domain.share_real_dtype(kinds)
                return kinds[ranks.index(min(r or 0 for r in ranks))] if is_product else UNKNOWN
        return UNKNOWN

    def shape_only(self, call: Any) -> tuple[int, ...]:
        """The positions of arguments whose shape and dtype alone a function reads."""
        return PRIMITIVES.shape_only(self.program.resolve(call.func))

    def are_alike(self, a: str, b: str) -> bool:
        """Whether two variables are arrays of one kind."""
        return domain.are_alike(self.kinds.get(a, UNKNOWN), self.kinds.get(b, UNKNOWN))


def stays_starred(call: Any, facts: Facts) -> bool:
    """Whether a call with `*` or `**` stays as it is: the function has no derivative, or the expanded
    arguments are inactive and go to the `*args` of its rule.
    """
    operation = facts.operation(call)
    expanded = [a.value for a in call.args if isinstance(a, gast.Starred)]
    expanded += [k.value for k in call.keywords if k.arg is None]
    rule = PRIMITIVES.find_rule(operation.function) if isinstance(operation, Apply) else None
    if not isinstance(operation, Apply) or rule is None:
        return isinstance(operation, Apply)
    template = rule.template
    first = next((k for k, a in enumerate(operation.args) if isinstance(a, gast.Starred)), 0)
    return (
        template.vararg is not None
        and first >= template.positional
        and all(domain.is_differentiable(facts.kind(a)) is False for a in expanded)
    )
