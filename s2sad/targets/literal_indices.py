"""Indices whose values the text of a program tells."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

__all__ = ["constant_of", "is_none"]


def constant_of(node: ast.expr | None) -> Any:
    """The value of a literal index; None for others."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice_of([lower, upper, step])
        case ast.Call(func=ast.Name(id="slice"), args=args):
            return slice_of(args)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Constant(value=value):
            return value
    return None


def slice_of(bounds: Sequence[ast.expr | None]) -> slice | None:
    """The slice with these literal bounds; None for others."""
    values = [constant_of(b) for b in bounds]
    is_known = all(v is not None or is_none(b) for v, b in zip(values, bounds, strict=True))
    return slice(*values) if is_known else None


def is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
