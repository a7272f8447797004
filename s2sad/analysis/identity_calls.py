"""Calls that return their argument, an item of a dict, or a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import Array, Dict, Kind
from ..runtime.containers import dict_get
from ..transforms.analyses.operations import Apply, Operation
from ..transforms.trees.nodes import located

__all__ = ["copied_by", "returned_by"]

FindKind = Callable[[Any], Kind]

# Functions of an array and a dtype, and whether they copy when the dtype is the array's.
CONVERSIONS: dict[Any, bool] = {np.asarray: False, np.asanyarray: False, np.array: True, np.astype: True}
AT_LEAST: dict[Any, int] = {np.atleast_1d: 1, np.atleast_2d: 2, np.atleast_3d: 3}


def returned_by(operation: Operation, kind: FindKind) -> Any:
    """The array, or the item of a dict, that an operation returns as it is; None for other operations.

    >>> from .transforms.trees.nodes import load
    >>> asarray = Apply(np.asarray, (load("x"),), (), None)
    >>> returned_by(asarray, lambda atom: Array("float64", (None,))).id
    'x'
    """
    match operation:
        case Apply(function=function, args=[gast.Name() as x], keywords=()):
            least, given = _entry(AT_LEAST, function), kind(x)
            if least is not None and isinstance(given, Array) and len(given.dims or ()) >= least:
                return x
        case Apply(function=function, args=[gast.Name() as x, key, *_], keywords=()) if function is dict_get:
            given, found = kind(x), domain.literal_of(kind(key))
            if isinstance(given, Dict) and found is not None and found[0] in dict(given.items):
                return located(gast.Subscript(value=x, slice=key, ctx=gast.Load()), operation.node)
    return _converted(operation, kind, copies=False)


def copied_by(operation: Operation, kind: FindKind) -> Any:
    """The name of the array that an operation copies, as `np.copy` does; None for other operations."""
    return _converted(operation, kind, copies=True)


def _converted(operation: Operation, kind: FindKind, copies: bool) -> Any:
    """The array that a conversion returns as it is, or with `copies` the one that it copies."""
    match operation:
        case Apply(function=function, args=[gast.Name() as x, *rest], keywords=keywords) if len(rest) < 2:
            always = _entry(CONVERSIONS, function)
        case _:
            return None
    if always is None:
        return None
    given, named = kind(x), [*zip(["dtype"], rest, strict=False), *keywords]
    asked = {name: domain.literal_of(kind(value)) for name, value in named}
    copy = asked.pop("copy", (always,))
    if not isinstance(given, Array) or not given.dims:  # without axes it may be a NumPy scalar
        return None
    if copy is None or bool(copy[0]) is not copies:
        return None
    return x if asked.keys() <= {"dtype"} and _is_of(given, **asked) else None


def _entry(table: dict[Any, Any], function: Any) -> Any:
    """The entry of a function in a table; the function need not be hashable."""
    return next((value for known, value in table.items() if known is function), None)


def _is_of(given: Array, dtype: tuple[Any] | None = (None,)) -> bool:
    """Whether an array has this dtype; `(None,)` asks for none, and None is an unknown one."""
    if dtype is None or given.dtype is None:
        return dtype == (None,)
    try:
        return dtype[0] is None or np.dtype(dtype[0]) == np.dtype(given.dtype)
    except TypeError:  # no dtype: NumPy raises at run time
        return False
