"""Removes blocks that mean nothing to compiled code: contexts that keep NumPy from warning, and `finally`.

    with np.errstate(divide="ignore"):            y = 1 / x
        y = 1 / x                                 n = n + 1
    try:                                          m = m + 1
        n = n + 1
    finally:
        m = m + 1
"""

from __future__ import annotations

import ast
from collections.abc import Callable

__all__ = ["without_contexts"]

LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def without_contexts(statements: list[ast.stmt], is_silent: Callable[[ast.expr], bool]) -> list[ast.stmt]:
    """Statements without such blocks; trees within are changed in place. `is_silent` tells of the expression
    of a context whether it only keeps NumPy from warning.
    """
    found: list[ast.stmt] = []
    for s in statements:
        for name, inner in ast.iter_fields(s):
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(s, name, without_contexts(inner, is_silent))
        match s:
            case ast.With(items=items) if all(
                is_silent(i.context_expr) and i.optional_vars is None for i in items
            ):
                found += s.body
            case ast.Try(handlers=[], orelse=[]) if is_local(s.finalbody) and not is_left(s.body):
                found += [*s.body, *s.finalbody]
            case _:
                found.append(s)
    return found


def is_local(statements: list[ast.stmt]) -> bool:
    """Whether statements only bind variables, whom nobody reads after an exception."""
    return all(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in statements)


def is_left(statements: list[ast.stmt]) -> bool:
    """Whether statements may be left before their end, but for an exception."""
    return any(isinstance(n, LEAVING) for s in statements for n in ast.walk(s))
