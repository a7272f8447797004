"""Which conversions return the array that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from . import domain
from .kinds import Array, Kind
from .transforms.analyses.operations import Apply, Operation

__all__ = ["returned_by"]

CONVERSIONS = (np.asarray, np.asanyarray)
AT_LEAST = {np.atleast_1d: 1, np.atleast_2d: 2, np.atleast_3d: 3}


def returned_by(operation: Operation, kind: Callable[[Any], Kind]) -> Any:
    """The name of the array that an operation returns as it is; None of others.

    >>> from .transforms.trees.nodes import load
    >>> asarray = Apply(np.asarray, (load("x"),), (), None)
    >>> returned_by(asarray, lambda atom: Array("float64", (None,))).id
    'x'
    """
    match operation:
        case Apply(function=function, args=[gast.Name() as x, *rest], keywords=keywords):
            given = kind(x)
        case _:
            return None
    if not isinstance(given, Array) or not given.dims:  # of those without axes, NumPy's numbers may be arrays
        return None
    if any(function is f for f in CONVERSIONS):
        asked = {**dict(zip(("dtype",), rest, strict=False)), **dict(keywords)}
        return x if len(rest) < 2 and not asked.keys() - {"dtype"} and _is_of(given, asked, kind) else None
    least = next((n for f, n in AT_LEAST.items() if f is function), None)
    return x if least is not None and not rest and not keywords and len(given.dims) >= least else None


def _is_of(given: Array, asked: dict[str, Any], kind: Callable[[Any], Kind]) -> bool:
    """Whether an array has the dtype that is asked for, if one is."""
    if "dtype" not in asked:
        return True
    match domain.literal_of(kind(asked["dtype"])):
        case (wanted,) if given.dtype is not None:
            dtype: Any = wanted
        case _:
            return False
    try:
        return dtype is None or np.dtype(dtype) == np.dtype(given.dtype)
    except TypeError:  # what is no dtype is for NumPy to refuse
        return False
