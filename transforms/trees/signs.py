"""Minus signs of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from .nodes import located
from .rebuild import rebuilt

__all__ = ["without_sign"]


def without_sign(value: Any, is_odd: Callable[[Any], bool] = lambda call: False) -> tuple[bool, Any]:
    """Whether an expression is the negative of another one, with that one, or itself; `is_odd` says that a
    call is of a function that is odd in its first argument. They are equal to the last bit, as signs of
    factors are exact.
    """
    match value:
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            negative, operand = without_sign(operand, is_odd)
            return not negative, operand
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div() as op, right=right):
            first, left = without_sign(left, is_odd)
            second, right = without_sign(right, is_odd)
            if first or second:
                return first != second, located(gast.BinOp(left=left, op=op, right=right), value)
        case gast.Call(args=[argument, *rest]) if is_odd(value):
            negative, argument = without_sign(argument, is_odd)
            if negative:
                return True, rebuilt(value, args=[argument, *rest])
    return False, value
