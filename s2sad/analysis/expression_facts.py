"""What simplification and analyses ask about generated code, answered from the rule table and from kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Kind
from ..runtime.adjoints import unbroadcast, unreduce
from ..runtime.broadcasting import contracted, fitted
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply
from ..transforms.trees.program import Program
from .primitive_table import PRIMITIVES

__all__ = [
    "is_float",
    "is_number",
    "is_odd",
    "stays_starred",
    "users_names",
]


SUMMING = (unbroadcast, unreduce, fitted, contracted)
PRODUCTS = ("elementwise", "bilinear")  # of floats, and of anything with floats, these are floats
ODD = frozenset({"unbroadcast", "fitted", "contracted", "unreduce", "sum", "transpose"})


def users_names(program: Program) -> frozenset[str]:
    """The names of the user's own variables: those without a number that a pass has put behind them."""
    return frozenset(n for n in program.locals if not re.search(r"_\d+$", n))


def is_float(
    node: Any,
    is_one: Callable[[str], bool],
    program: Program,
    kinds: Mapping[str, Kind],
    derivatives: frozenset[str],
) -> bool:
    """Whether an expression in generated code is surely a float or an array of floats, and stays what it is
    when it is multiplied by one.
    """

    def has_axes(node: Any) -> bool:
        match node:
            case gast.Name():
                return bool(domain.rank(domain.kind_of_atom(node, kinds, program)))
            case gast.BinOp(left=a, right=b) | gast.Compare(left=a, comparators=[b]):
                return has_axes(a) or has_axes(b)
            case gast.UnaryOp(operand=operand):
                return has_axes(operand)
        return False

    def found(node: Any) -> bool:
        match node:
            case gast.Constant(value=value):
                return isinstance(value, float)
            case gast.Name(id=name):
                is_steady = is_one(name) if name in kinds else name not in program.locals
                return name in derivatives or (
                    is_steady and domain.is_float(domain.kind_of_atom(node, kinds, program))
                )
            case gast.IfExp(body=first, orelse=second):
                return found(first) and found(second)
            case gast.Subscript(value=gast.Name(id=name)) if name in derivatives:
                return True
            case gast.Subscript(value=gast.Name(id=name)):
                kind = kinds.get(name, UNKNOWN)
                return is_one(name) and domain.item_nature(kind) == "array" and domain.is_float(kind)
            case gast.BinOp(left=left, right=right):
                return found(left) or found(right)
            case gast.UnaryOp(operand=operand):
                return found(operand)
            case gast.Call(func=func, args=[operand], keywords=keywords) if program.resolve(func) is np.sum:
                return found(operand) and all(k.arg in ("axis", "keepdims") for k in keywords)
            case gast.Call(func=func, args=[operand, *_]) if program.resolve(func) in SUMMING:
                return found(operand)
            case gast.Call(func=func, args=args):
                function = program.resolve(func)
                if function is np.where and not any(map(has_axes, args)):  # of numbers it makes an array
                    return False
                rule = PRIMITIVES.find_rule(function)
                return rule is not None and rule.structure in PRODUCTS and any(map(found, args))
        return False

    return found(node)


def is_odd(call: Any, program: Program) -> bool:
    """Whether a call in generated code is of a function that is odd in its first argument."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return (
        name in ODD
        and (name != "sum" or len(call.args) == 1)  # a second argument of Python's is where the sum begins
        and all(k.arg in ("axis", "keepdims") for k in call.keywords)
        and PRIMITIVES.means(name, program.resolve(call.func))
    )


def is_number(node: Any, kinds: Mapping[str, Kind]) -> bool:
    """Whether a name, or an item of one, is a number and no array, by the kinds of the program's names."""

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds)

    match node:
        case gast.Name():
            return domain.is_scalar(kind(node))
        case gast.Subscript(value=gast.Name() as base, slice=index):
            return domain.is_scalar_item(kind(base), index, kind)
    return False


def stays_starred(call: Any, facts: Facts) -> bool:
    """Whether a call with `*` or `**` needs no derivative with respect to what these expand: that of a
    function without derivative, or one that passes no floats in this way, beyond the named parameters.
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
