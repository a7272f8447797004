"""Names the functions that make an array of a list that a loop fills: `np.stack(ys)` becomes `array_of(ys)`.

Compilers have code for these, where NumPy's functions take more than lists of arrays of one type.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["array_of", "joined_of", "name_arrays_of_lists"]


def array_of(items: list[Any]) -> Any:
    """The array of a list of numbers, or of arrays of one shape."""
    return np.array(items)


def joined_of(items: list[Any]) -> Any:
    """The arrays of a list behind each other."""
    return np.concatenate(items)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.array: array_of, np.asarray: array_of, np.stack: array_of, np.concatenate: joined_of,
}  # fmt: skip


def name_arrays_of_lists(
    function: ast.FunctionDef,
    lists: set[str],
    meaning: Callable[[ast.expr], Any],
    fresh: Callable[[str], str],
) -> dict[str, Any]:
    """Changes the function in place, in which the names `lists` are lists, too; returns the functions that it
    names then.
    """
    assigned = [n for n in ast.walk(function) if isinstance(n, ast.Assign)]
    displays = {id(t) for n in assigned if isinstance(n.value, ast.List) for t in n.targets}
    bound = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    others = {n.id for n in bound if id(n) not in displays}
    lists = lists | ({n.id for n in bound} - others)
    names: dict[Any, str] = {}
    for n in ast.walk(function):
        match n:
            case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]) if name in lists:
                made = FUNCTIONS.get(meaning(func))
                if made is not None:
                    found = names[made] = names.get(made) or fresh(made.__name__)
                    n.func = ast.copy_location(ast.Name(found, ast.Load()), func)
    return {name: made for made, name in names.items()}
