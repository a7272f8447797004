"""Choices in the code of derivatives: how templates write them, as calls of `np.where` with a zero, and the
conditional expressions that stand for them among single numbers.

A template says by such a call which elements have a derivative, so the call itself is read, by the object
that is called: a declaration beside it would say the same condition again.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import assign, constant, names_read, same, subscript, walk
from .rule_application import Emitter

__all__ = [
    "chosen",
    "conditional",
    "may_raise",
    "of_numbers",
    "one_of",
    "part_at",
    "scalar_choices",
    "summed",
]


def chosen(emitter: Emitter, value: Any) -> tuple[Any, bool, Any] | None:
    """The condition of `np.where(condition, part, 0)` or `np.where(condition, 0, part)`, whether the part is
    chosen where it does not hold, and the part; None for other expressions.
    """
    match value:
        case gast.Call(func=func, args=[test, first, second]) if emitter.is_array_function(func, "where"):
            if _is_zero(second):
                return test, False, first
            if _is_zero(first):
                return test, True, second
    return None


def one_of(emitter: Emitter, a: Any, b: Any) -> Any:
    """The sum of two expressions as one choice, where at most one of them is nonzero; else None."""
    first, second = chosen(emitter, a), chosen(emitter, b)
    if first is None or second is None or first[1] == second[1] or not same(first[0], second[0]):
        return None
    parts = (second[2], first[2]) if first[1] else (first[2], second[2])
    return emitter.array_call("where", first[0], *parts)


def summed(emitter: Emitter, value: Any) -> Any:
    """The part of `unbroadcast(part, operand)`; None for other expressions."""
    match value:
        case gast.Call(func=func, args=[part, _]) if emitter.is_helper(func, "unbroadcast"):
            return part
    return None


def part_at(emitter: Emitter, value: Any, key: Any) -> Any:
    """The gradient of one operand, in what a template gives for its variadic parameter: a tuple, or
    `where_each(conditions, part, choices)`.
    """
    match value:
        case gast.Tuple(elts=elts):
            return elts[key]
        case gast.Call(func=func, args=[conditions, part, _]) if emitter.is_helper(func, "where_each"):
            test = subscript(conditions, constant(key))
            return emitter.array_call("where", test, part, constant(0))
    return subscript(value, constant(key))


def scalar_choices(emitter: Emitter, value: Any) -> Any:
    """A scalar expression with `a if c else b` for `np.where(c, a, b)`."""
    match value:
        case gast.Call(func=func, args=[test, first, second]) if emitter.is_array_function(func, "where"):
            return conditional(test, scalar_choices(emitter, first), scalar_choices(emitter, second))
        case gast.Call(func=func, args=[test, whole]) if emitter.is_helper(func, "halved_where"):
            half = gast.BinOp(left=whole, op=gast.Div(), right=constant(2))
            return conditional(test, half, whole)
        case gast.BinOp(left=left, op=op, right=right):
            return gast.BinOp(left=scalar_choices(emitter, left), op=op, right=scalar_choices(emitter, right))
        case gast.UnaryOp(op=op, operand=operand):
            return gast.UnaryOp(op=op, operand=scalar_choices(emitter, operand))
    return value


def of_numbers(emitter: Emitter, s: Any) -> Any:
    """An assignment of a number whose value went through `scalar_choices`; other statements unchanged."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            return assign(name, scalar_choices(emitter, value))
    return s


def conditional(test: Any, first: Any, second: Any) -> Any:
    """`first if test else second`, of numbers."""
    first, second = (constant(0.0) if _is_zero(part) else part for part in (first, second))
    return gast.IfExp(test=test, body=first, orelse=second)


def may_raise(emitter: Emitter, value: Any) -> bool:
    """Whether an expression of numbers divides by one that may be zero, or takes a power that may be
    negative.
    """
    for n in walk(value):
        match n:
            case gast.BinOp(op=gast.Div(), right=divisor):
                if names_read(divisor) and not _is_positive(divisor):
                    return True
            case gast.BinOp(op=gast.Pow(), right=gast.Constant(value=int() | float() as exponent)):
                if exponent < 0:
                    return True
            case gast.BinOp(op=gast.Pow()):
                return True
            case gast.Call(func=func) if emitter.is_helper(func, "real_power"):
                return True
    return False


def _is_positive(divisor: Any) -> bool:
    """Whether an expression is `r + (r == 0)` or `1 + x ** 2`, which are never zero."""
    match divisor:
        case gast.BinOp(left=left, op=gast.Add(), right=gast.Compare(left=same_, ops=[gast.Eq()])):
            return same(left, same_)
        case gast.BinOp(left=gast.Constant(), op=gast.Add(), right=gast.BinOp(op=gast.Pow())):
            return True
    return False


def _is_zero(node: Any) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, float) and node.value == 0
