"""What loops of compiled code call. Importing this module imports Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange, types
from numba.extending import intrinsic

from ..runtime.adjoints import unbroadcast
from .one_path import LengthsDiffer
from .vector_arithmetic import inlined
from .vector_functions import FUNCTIONS
from .vector_trigonometry import LARGEST

__all__ = ["CALLED_IN_LOOPS"]


@inlined
def square(x: Any) -> Any:
    return x * x


@intrinsic  # type: ignore[untyped-decorator]
def plus(context: Any, a: Any, b: Any) -> Any:
    """The sum of two floats; LLVM may add several of them in another order."""
    return types.float64(types.float64, types.float64), lambda c, builder, s, args: builder.fadd(
        *args, flags=("reassoc", "nsz")
    )


@inlined
def bound(b: Any, n: Any) -> Any:
    """Where a bound of a slice stands on an axis."""
    return min(b, n) if b >= 0 else max(b + n, 0)


@inlined
def place(i: Any, n: Any) -> Any:
    """Where an index stands on an axis."""
    if i >= n or i < -n:
        raise IndexError("index is out of bounds")
    return i if i >= 0 else i + n


@inlined
def joined(n: Any, m: Any) -> Any:
    """The length of the axis that two axes make when arrays are broadcast together."""
    return m if n == 1 else n


@inlined
def step(n: Any, m: Any) -> Any:
    """How far an axis of length n moves with one of length m that it is broadcast to: not at all, or along.
    """
    if n != m and n != 1:
        raise ValueError("operands could not be broadcast together")
    return 1 if n == m else 0


OWN = (square, plus, bound, place, joined, step)
CALLED_IN_LOOPS = {
    "numpy": np, "unbroadcast": unbroadcast, "LengthsDiffer": LengthsDiffer, "LARGEST": LARGEST,
    "prange": prange,
    **{f.__name__: f for f in OWN}, **FUNCTIONS,
}  # fmt: skip
