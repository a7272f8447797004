# mypy: allow-untyped-defs
"""Where NumPy's functions that write into an array write, as indices of the array; and what they repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, part_like
from .indexing import repeated_places, untake
from .samples import A, given

Array = Any  # any type with NumPy's protocols

__all__ = [
    "along_axis_places",
    "at_mask",
    "cycled",
    "diagonal_places",
    "flat_places",
    "from_mask",
    "numbers_at",
    "shape_at",
    "turns_of",
]


def flat_places(a: Array, index: Any, mode: Any = "raise") -> tuple[Array, ...]:
    """The index of `a.flat[index]`."""
    if isinstance(index, (int, np.integer)) and mode == "raise" and -a.size <= index < a.size:
        return np.unravel_index(index % a.size, a.shape)
    places = np.arange(a.size)
    if isinstance(index, (list, np.ndarray)) and np.size(index) == 0:
        index = np.zeros(np.shape(index), dtype=int)
    places = places[index] if mode == "raise" else places.take(index, mode=mode)
    return np.unravel_index(places, a.shape)


def diagonal_places(a: Array, wrap: bool = False) -> tuple[Array, ...]:
    """The index of what `np.fill_diagonal` sets."""
    places = np.zeros(a.shape, dtype=bool)
    np.fill_diagonal(places, True, wrap)
    return np.nonzero(places)


def along_axis_places(arr: Array, indices: Array, axis: int | None = -1) -> tuple[Array, ...]:
    """The index of what `np.put_along_axis` sets."""
    if axis is None:
        return flat_places(arr, indices)
    places = np.arange(arr.size).reshape(arr.shape)
    return np.unravel_index(np.take_along_axis(places, indices, axis), arr.shape)


def numbers_at(a: Array, index: Any) -> Array:
    """Which elements `a[index]` are, counted in the order of `a.flat`; in one row."""
    if isinstance(index, list) and not index:
        index = np.zeros(0, dtype=int)
    return np.ravel(np.arange(a.size).reshape(a.shape)[index])


def shape_at(a: Array, index: Any) -> tuple[int, ...]:
    """The shape of `a[index]`."""
    if isinstance(index, list) and not index:
        return 0, *a.shape[1:]
    return np.shape(a[index])


def turns_of(numbers: Array) -> Array:
    """How often each number stands before, in a row."""
    order = np.argsort(numbers, kind="stable")
    is_first = np.diff(numbers[order], prepend=-1) != 0
    starts = np.maximum.accumulate(np.where(is_first, np.arange(numbers.size), 0))
    turns = np.empty_like(numbers)
    turns[order] = np.arange(numbers.size) - starts
    return turns


nondifferentiable([flat_places, diagonal_places, along_axis_places, numbers_at, shape_at, turns_of])


def at_mask(x: Array, mask: Array) -> Array:
    """The elements of `x` where the mask is true, `x` being broadcast to the shape of the mask."""
    return np.broadcast_to(x, np.shape(mask))[mask]


def from_mask(d: Array, x: Array, mask: Array) -> Array:
    """The transpose of `at_mask`."""
    spread = np.zeros(np.shape(mask), dtype=d.dtype)
    spread[mask] = d
    return unbroadcast(spread, x)


MASKED = np.array([[True, False, True, False], [False, True, True, False], [True, True, False, False]])


@bprop(at_mask, "linear", sharing="fresh",
    samples=[given(A(3, 4), MASKED), given(A(4), MASKED), given(A(3, 1), MASKED)])
def at_mask_(x, mask, out, dout):
    return (from_mask(dout, x, mask),)


@at_mask_.for_picks
def picked_by_mask(x, mask, out, dout):
    return (mask,)


@bprop(from_mask, "linear", sharing="fresh",
    samples=[given(A(6), np.zeros((3, 4)), MASKED), given(A(6), np.zeros(4), MASKED)])
def from_mask_(d, x, mask, out, dout):
    return at_mask(dout, mask), None


def cycled(values: Any, shape: Any) -> Array:
    """The values, repeated or cut to a shape.

    Raises ValueError when there are none.
    """
    if np.size(values) == 0:
        raise ValueError("no values to write")
    return np.resize(values, shape)


@bprop(
    cycled, sharing="fresh",
    lists=True,
    samples=[given(A(4), (2, 3)), given(A(2, 3), 4), given(1.5, 3), given([1.5, 2.5], 5), given(A(2), ())],
)
def cycled_(values, shape, out, dout):
    row = np.reshape(np.asarray(values), (-1,))
    return part_like(untake(dout, row, repeated_places(values, shape), None, "raise"), values), None


@cycled_.jvp
def cycled_jvp(values, shape, out, dvalues):
    return cycled(filled(dvalues, values), shape)
