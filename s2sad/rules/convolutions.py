"""Convolution and correlation of rows of numbers."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def kept_part(n: int, m: int, mode: str) -> tuple[int, int]:
    """Where the part of a full convolution of `n` with `m` numbers that `mode` keeps starts and stops."""
    if mode == "full":
        return 0, n + m - 1
    if mode == "same":
        return (min(n, m) - 1) // 2, (min(n, m) - 1) // 2 + max(n, m)
    return min(n, m) - 1, max(n, m)


nondifferentiable([kept_part])


def full_convolution(d: Array, n: int, m: int, mode: str) -> Array:
    """The cotangent of a full convolution of `n` with `m` numbers, from that of the part that is kept."""
    start, stop = kept_part(n, m, mode)
    return np.pad(d, (start, n + m - 1 - stop))


@bprop(
    full_convolution,
    "linear", sharing="fresh",
    samples=[given(A(5), 5, 3, "same"), given(A(3), 5, 3, "valid"), given(A(4), 3, 4, "same")],
)
def full_convolution_(d, n, m, mode, out, dout):
    start, stop = kept_part(n, m, mode)
    return (dout[start:stop],)


@bprop(
    np.convolve,
    "bilinear",
    samples=[
        given(A(5), A(3)),
        given(A(5), A(3), "same"),
        given(A(5), A(4), "valid"),
        given(A(2), A(5), "same"),
        given(A(4, dtype="complex128"), A(2, dtype="complex128")),
    ],
)
def convolve(x, y, mode="full", *, out, dout):
    if mode == "full":
        return unbroadcast(np.convolve(dout, np.flip(y), "valid"), x), unbroadcast(
            np.convolve(dout, np.flip(x), "valid"), y
        )
    wide = full_convolution(dout, np.size(x), np.size(y), mode)
    return unbroadcast(np.convolve(wide, np.flip(y), "valid"), x), unbroadcast(
        np.convolve(wide, np.flip(x), "valid"), y
    )


# A convolution with the second row backwards and conjugated.
@bprop(
    np.correlate,
    "bilinear",
    samples=[
        given(A(5), A(3)),
        given(A(5), A(3), "same"),
        given(A(4), A(4), "same"),
        given(A(3), A(5), "full"),
        given(A(2), A(5)),
        given(A(2), A(5), "same"),
        given(A(4, dtype="complex128"), A(2, dtype="complex128")),
    ],
)
def correlate(x, y, mode="valid", *, out, dout):
    return correlate_dx(dout, x, y, mode), correlate_dy(dout, x, y, mode)


def correlated_part(d: Array, x: Array, y: Array, mode: str) -> Array:
    """The cotangent of the full correlation of `x` with `y`, from that of the part that is kept."""
    n, m = len(x), len(y)
    start, stop = kept_part(n, m, mode)
    if (
        m > n and mode == "same"
    ):  # the rows are exchanged and the result reversed, so the other middle is kept
        start, stop = n + m - 1 - stop, n + m - 1 - start
    return np.pad(d, (start, n + m - 1 - stop))


def correlate_dx(d: Array, x: Array, y: Array, mode: str) -> Array:
    """The cotangent of the first row of `np.correlate`."""
    return unbroadcast(np.convolve(correlated_part(d, x, y, mode), np.conj(y), "valid"), x)


def correlate_dy(d: Array, x: Array, y: Array, mode: str) -> Array:
    """The cotangent of the second row of `np.correlate`."""
    back = np.convolve(correlated_part(d, x, y, mode), x[::-1], "valid")
    return unbroadcast(np.conj(back[::-1]), y)
