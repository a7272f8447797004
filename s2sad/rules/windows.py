"""Sliding windows: views of an array that overlap."""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..primitives.record import bprop
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def add_windows(d: Array, x: Array, window_shape: Any, axis: Any) -> Array:
    """The cotangent of the array `x` from that of its windows."""
    widths = window_shape if np.iterable(window_shape) else (window_shape,)
    axes = range(np.ndim(x)) if axis is None else axis if np.iterable(axis) else (axis,)
    total = np.zeros_like(x)
    for offsets in np.ndindex(*widths):
        starts = [0] * np.ndim(x)
        for a, offset in zip(axes, offsets, strict=True):
            starts[a] += offset
        places = tuple(slice(start, start + n) for start, n in zip(starts, np.shape(d), strict=False))
        total[places] += d[(..., *offsets)]
    return total


@bprop(add_windows, "linear", sharing="fresh", samples=[given(A(2, 3, 2, 2), np.zeros((3, 4)), (2, 2), None)])
def add_windows_(d, x, window_shape, axis, out, dout):
    return sliding_window_view(dout, window_shape, axis), None


WINDOWS = [
    given(A(5), 3),
    given(A(4, 5), (2, 3)),
    given(A(4, 5), 2, axis=1),
    given(A(2, 4, 5), (2, 3), axis=(1, -1)),
    given(A(6), (2, 3), axis=(0, 0)),
    given(A(5), 3, subok=True, writeable=True),
]


@bprop(sliding_window_view, "linear", sharing="unknown", steady=True, samples=WINDOWS)
def windows(x, window_shape, axis=None, *, subok=False, writeable=False, out, dout):
    return (add_windows(dout, x, window_shape, axis),)
