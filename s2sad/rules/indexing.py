"""Functions that pick elements: take, compress, delete, insert; subscripts are the transforms' own."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, part_like
from .padding import unpad
from .samples import A, given, since

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- take


def untake(d: Array, x: Array, indices: Any, axis: int | None, mode: str) -> Array:
    """The transpose of `np.take`: zeros like `x`, and `d` added where it was taken from."""
    if mode != "raise":
        n = np.size(x) if axis is None else np.shape(x)[axis]
        indices = np.mod(indices, n) if mode == "wrap" else np.clip(indices, 0, n - 1)
    if axis is None:
        dx = np.zeros_like(np.reshape(x, (-1,)))
        np.add.at(dx, np.asarray(indices), d)
        return np.reshape(dx, np.shape(x))
    dx = np.zeros_like(x)
    before = (slice(None),) * (axis % np.ndim(x))
    np.add.at(dx, (*before, indices), d)
    return dx


@bprop(
    untake,
    "linear", sharing="fresh",
    samples=[
        given(A(4, 2), np.zeros((3, 2)), [0, 2, 0, -1], 0, "raise"),
        given(A(2, 2), np.zeros((2, 3)), [[0, 5]] * 2, None, "wrap"),
    ],
)
def untake_(d, x, indices, axis, mode, out, dout):
    return np.take(dout, indices, axis, mode=mode), None, None


@bprop(
    np.take,
    "linear", data=2, selects=True,
    samples=[
        given(A(5), [0, 2, 2, -1]),
        given(A(3, 4), [[1, 0], [1, 3]], axis=1),
        given(A(3, 4), 2, axis=0),
        given(A(3, 4), [0, 11, 4]),
        given(A(3), [-1, 5], mode="clip"),
        given(A(3), [-1, 5], mode="wrap"),
    ],
)
def take(x, indices, axis=None, *, mode="raise", out, dout):
    return untake(dout, x, indices, axis, mode), None


def untake_along(d: Array, x: Array, indices: Array, axis: int | None) -> Array:
    """The transpose of `np.take_along_axis`."""
    if axis is None:
        return np.reshape(untake_along(d, np.reshape(x, (-1,)), indices, 0), np.shape(x))
    dx = np.zeros_like(x)
    np.add.at(dx, positions_along(indices, np.shape(x), axis), d)
    return dx


def positions_along(indices: Array, shape: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    """The index arrays that `np.take_along_axis` uses."""
    ndim, axis = len(shape), axis % len(shape)
    grid = [np.reshape(np.arange(n), (1,) * i + (-1,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(shape)]
    grid[axis] = indices
    return tuple(grid)


nondifferentiable([positions_along])


@bprop(
    untake_along, "linear", samples=[given(A(3, 2), np.zeros((3, 4)), np.array([[0, 0], [3, 1], [2, 2]]), 1)],
    sharing="fresh",
)
def untake_along_(d, x, indices, axis, out, dout):
    return np.take_along_axis(dout, indices, axis), None


@bprop(
    np.take_along_axis,
    "linear", selects=True,
    samples=[
        given(A(3, 4), np.array([[0, 0], [3, 1], [2, 2]]), 1),
        given(A(3, 4), np.array([[2, 0, 1, 2]]), 0),
        given(A(2, 2), np.array([0, 3, 3]), None),
    ],
)
def take_along_axis(x, indices, axis=-1, *, out, dout):
    return (untake_along(dout, x, indices, axis),)


# ---------------------------------------------------------------- masks


def chosen(condition: Any) -> Array:
    """The places at which a mask of one axis is true."""
    return np.flatnonzero(condition)


nondifferentiable([chosen])


@bprop(
    np.compress, runs=False, selects=True,
    samples=[
        given([True, False, True], A(3)),
        given([True, False, True], A(3, 2), axis=0),
        given([False, True], A(2, 2)),
    ],
)
def compress(condition, a, axis=None, *, out, dout):
    return None, untake(dout, a, chosen(condition), axis, "raise")


@compress.jvp
def compress_jvp(condition, axis, out, da):
    return np.compress(condition, da, axis)


@bprop(
    np.extract, runs=False, selects=True,
    samples=[given(np.array([[True, False], [True, True]]), A(2, 2))],
)
def extract(condition, arr, out, dout):
    return None, untake(dout, arr, chosen(condition), None, "raise")


@extract.jvp
def extract_jvp(condition, out, darr):
    return np.extract(condition, darr)


@bprop(
    np.delete,
    "linear", selects=True,
    samples=[
        given(A(5), 1),
        given(A(3, 4), [0, 2], axis=1),
        given(A(3, 4), slice(1, 3), 1),
        given(A(2, 2), 3),
    ],
)
def delete(x, obj, axis=None, *, out, dout):
    return (untake(dout, x, remaining(x, obj, axis), axis, "raise"),)


def remaining(x: Array, obj: Any, axis: int | None) -> Array:
    """The places that `np.delete` leaves."""
    return np.delete(np.arange(np.size(x) if axis is None else np.shape(x)[axis]), obj)


nondifferentiable([remaining])


# ---------------------------------------------------------------- other lengths


def inserted_places(arr: Array, obj: Any, values: Any, axis: int | None) -> Array:
    """For each element of `np.insert(arr, obj, values, axis)` the number of the one of `values` that it is;
    -1 for an element of `arr`.
    """
    numbers = np.reshape(np.arange(np.size(values)), np.shape(values))
    return np.insert(np.full(np.shape(arr), -1), obj, numbers, axis)


nondifferentiable([inserted_places])


def kept_dx(d: Array, arr: Array, places: Array) -> Array:
    """The cotangent of the array into which `np.insert` put values."""
    return unbroadcast(np.reshape(d[places < 0], np.shape(arr)), arr)


def values_dx(d: Array, values: Any, places: Array) -> Any:
    """The cotangent of the values that `np.insert` inserts."""
    row = untake(d[places >= 0], np.reshape(np.asarray(values), (-1,)), places[places >= 0], 0, "raise")
    return part_like(row, values)


@bprop(
    np.insert,
    lists=["values"],
    samples=[
        given(A(4), 1, 1.5),
        given(A(4), [1, 3, 3], A(3)),
        given(A(2, 3), 1, A(2), axis=1),
        given(A(2, 3), [0, 2], A(2, 1), 1),
        given(A(2, 3), slice(0, 2), A(3), 0),
        given(A(2, 3), 2, 1.5),
        given(A(3, dtype="float32"), 0, [1.5, 2.5]),
    ],
)
def insert(arr, obj, values, axis=None, *, out, dout):
    places = inserted_places(arr, obj, values, axis)
    return kept_dx(dout, arr, places), None, values_dx(dout, values, places)


@insert.jvp
def insert_jvp(arr, obj, values, axis, out, darr, dvalues):
    return np.insert(filled(darr, arr), obj, filled(dvalues, values), axis)


def repeated_places(x: Array, shape: Any) -> Array:
    """Which elements of `x` are the elements of `np.resize(x, shape)`."""
    return np.resize(np.arange(np.size(x)), shape)


nondifferentiable([repeated_places])


@bprop(np.resize, "linear", samples=[given(A(4), (2, 3)), given(A(2, 3), 4), given(A(2), (3, 3))])
def resize(x, new_shape, out, dout):
    return (untake(dout, x, repeated_places(x, new_shape), None, "raise"),)


def trimmed(filt: Array, out: Array, trim: str, axis: Any) -> list[tuple[int, int]]:
    """How much `np.trim_zeros` cut off `filt` before and after, along each axis."""
    found = []
    nonzero = np.argwhere(filt)
    for k, (n, m) in enumerate(zip(np.shape(filt), np.shape(out), strict=True)):
        before = int(nonzero[:, k].min()) if len(nonzero) and m < n and "f" in trim.lower() else 0
        found.append((min(before, n - m), n - m - min(before, n - m)))
    return found


nondifferentiable([trimmed])


@bprop(
    np.trim_zeros, runs=False, sharing="unknown",
    samples=[
        given(A(4)),
        given(np.array([1.5, 0.0, 2.5]), "b"),
        *since("2.2", given(A(2, 3), axis=1)),
    ],
)  # zeros that are cut can't move
def trim_zeros(filt, trim="fb", axis=None, *, out, dout):
    return (np.pad(dout, trimmed(filt, out, trim, axis)),)


@trim_zeros.jvp
def trim_zeros_jvp(filt, trim, axis, out, dfilt):
    return unpad(dfilt, out, trimmed(filt, out, trim, axis), "constant")
