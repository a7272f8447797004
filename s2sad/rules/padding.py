"""Padding: `np.pad` in all its modes.

Modes that copy elements outward are linear; those that compute what they pad with go along one axis after the
other, and so do their derivatives.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .reductions import share_of_ties
from .samples import A, given

Array = Any  # any type with NumPy's protocols

COPYING = ("edge", "wrap", "reflect", "symmetric")
COMPUTING = ("mean", "maximum", "minimum", "median")


def pairs(values: Any, ndim: int) -> list[tuple[Any, Any]]:
    """What `np.pad` reads its options as: (before, after) for each axis."""
    if isinstance(values, dict):
        given_ = {axis % ndim: (w, w) if np.ndim(w) == 0 else tuple(w) for axis, w in values.items()}
        return [given_.get(i, (0, 0)) for i in range(ndim)]
    if values is None:
        return [(None, None)] * ndim
    return [(a, b) for a, b in np.broadcast_to(np.asarray(values), (ndim, 2)).tolist()]


def is_odd(mode: Any, reflect_type: str) -> bool:
    """Whether elements are reflected through the edges."""
    return mode in ("reflect", "symmetric") and reflect_type == "odd"


def one_axis(widths: list[tuple[int, int]], axis: int) -> list[tuple[int, int]]:
    """The widths along one axis, none along the others."""
    return [w if i == axis else (0, 0) for i, w in enumerate(widths)]


def inner_part(widths: list[tuple[int, int]], d: Array) -> tuple[slice, ...]:
    """Where in a padded array what was padded lies."""
    return tuple(slice(before, n - after) for (before, after), n in zip(widths, np.shape(d), strict=True))


nondifferentiable([pairs, is_odd, one_axis, inner_part])


# ---------------------------------------------------------------- modes that copy


def unpad(d: Array, x: Array, pad_width: Any, mode: Any) -> Array:
    """The transpose of `np.pad`: the inner part, and in the modes that copy elements outward the rest added
    to where it came from.
    """
    if mode in ("constant", "empty"):
        return d[inner_part(pairs(pad_width, np.ndim(x)), d)]
    source = np.pad(np.reshape(np.arange(np.size(x)), np.shape(x)), pad_width, mode)
    dx = np.zeros_like(x, shape=(np.size(x),))
    np.add.at(dx, source, d)
    return np.reshape(dx, np.shape(x))


def padded(x: Array, like: Array, pad_width: Any, mode: Any) -> Array:
    """The tangent of `np.pad` in a mode that copies, or that leaves the border uninitialised."""
    return np.pad(x, pad_width, "constant" if mode in ("constant", "empty") else mode)


@bprop(
    unpad,
    "linear",
    samples=[
        given(A(6), np.zeros(3), (1, 2), "constant"),
        given(A(5, 4), np.zeros((3, 2)), 1, "edge"),
        given(A(7), np.zeros(3), 2, "reflect"),
    ],
)
def unpad_(d, x, pad_width, mode, out, dout):
    return padded(dout, d, pad_width, mode), None


@bprop(padded, "linear", sharing="fresh", samples=[given(A(3), np.zeros(6), (1, 2), "wrap")])
def padded_(x, like, pad_width, mode, out, dout):
    return unpad(dout, x, pad_width, mode), None


def unpad_odd(d: Array, x: Array, pad_width: Any, mode: str) -> Array:
    """The transpose of odd reflection, axis by axis: twice the edge minus the reflected elements."""
    widths = pairs(pad_width, np.ndim(x))
    for axis in range(np.ndim(x) - 1, -1, -1):
        only, n = one_axis(widths, axis), np.shape(x)[axis]
        if max(widths[axis]) > n - (mode == "reflect"):  # what was reflected is reflected again
            d = np.moveaxis(np.tensordot(reflections(d, n, widths[axis], mode), d, (0, axis)), 0, axis)
            continue
        shape = [m - sum(w) for m, w in zip(np.shape(d), only, strict=True)]
        like = np.zeros_like(d, shape=shape)
        d = 2 * unpad(d, like, only, "edge") - unpad(d, like, only, mode)
    return d


def reflections(d: Array, n: int, width: tuple[int, int], mode: Any) -> Array:
    """The matrix that pads a vector of `n` elements by reflection through its edges."""
    unit = np.diag(np.ones_like(np.real(d), shape=n))
    return np.pad(unit, (width, (0, 0)), mode, reflect_type="odd")


nondifferentiable([reflections])


# ---------------------------------------------------------------- modes that compute


def edge_numbers(x: Array, axis: int, count: Any, after: bool) -> Array:
    """The part of `x` from which the padding before, or `after`, along `axis` is computed."""
    n = np.shape(x)[axis]
    count = n if count is None else min(count, n)
    moved = np.moveaxis(x, axis, 0)
    return np.moveaxis(moved[n - count :] if after else moved[:count], 0, axis)


def edge_slopes(part: Array, axis: int, mode: str) -> Array:
    """The derivative of what stands for `part` in the padding by its elements."""
    if mode == "mean":
        return np.ones_like(part) / np.shape(part)[axis]
    if mode == "median":
        order = np.sort(part, axis=axis)
        n = np.shape(part)[axis]
        low, high = np.take(order, [(n - 1) // 2], axis), np.take(order, [n // 2], axis)
        return (share_of_ties(part, low, axis, True) + share_of_ties(part, high, axis, True)) / 2
    best = (
        np.max(part, axis=axis, keepdims=True)
        if mode == "maximum"
        else np.min(part, axis=axis, keepdims=True)
    )
    return share_of_ties(part, best, axis, True)


def ramp(rows: Array, width: int, after: bool) -> Array:
    """How much of the edge is left at each place of a ramp, before or `after`, along the first axis."""
    row = np.arange(width) / max(width, 1)
    return np.reshape(row[::-1] if after else row, (-1,) + (1,) * (np.ndim(rows) - 1))


nondifferentiable([edge_slopes, ramp])


def change_outside(dx: Array, x: Array, axis: int, width: int, mode: str, count: Any, after: bool) -> Array:
    """The tangent of the padding on one side along `axis`."""
    part = edge_numbers(x, axis, count, after)
    moved = np.sum(
        edge_numbers(dx, axis, count, after) * edge_slopes(part, axis, mode), axis=axis, keepdims=True
    )
    return np.repeat(moved, width, axis)


def padded_change(dx: Array, x: Array, pad_width: Any, mode: str, stat_length: Any) -> Array:
    """The tangent of `np.pad` in a mode that computes."""
    widths, counts = pairs(pad_width, np.ndim(x)), pairs(stat_length, np.ndim(x))
    for axis in range(np.ndim(x)):
        before, after = widths[axis]
        left = change_outside(dx, x, axis, before, mode, counts[axis][0], False)
        right = change_outside(dx, x, axis, after, mode, counts[axis][1], True)
        dx = np.concatenate([left, dx, right], axis=axis)
        x = padded_along(x, axis, widths, mode, counts)
    return dx


def padded_along(x: Array, axis: int, widths: Any, mode: Any, counts: Any) -> Array:
    """`x` padded along one axis in a mode that computes."""
    if mode == "linear_ramp":
        return np.pad(x, one_axis(widths, axis), mode)
    return np.pad(x, one_axis(widths, axis), mode, stat_length=one_count(counts, axis))


def one_count(counts: Any, axis: int) -> Any:
    """How many numbers next to the edges are looked at along one axis; None for all."""
    return None if counts[axis] == (None, None) else [counts[axis]] * len(counts)


nondifferentiable([one_count])


def unpad_computed(d: Array, x: Array, pad_width: Any, mode: str, stat_length: Any) -> Array:
    """The transpose of `padded_change`, and of ramps from the edges to zero."""
    widths, counts = pairs(pad_width, np.ndim(x)), pairs(stat_length, np.ndim(x))
    before_each = [x]
    for axis in range(np.ndim(x) - 1):
        before_each.append(padded_along(before_each[axis], axis, widths, mode, counts))
    for axis in range(np.ndim(x) - 1, -1, -1):
        d = unpad_axis(d, before_each[axis], axis, widths[axis], mode, counts[axis])
    return unbroadcast(d, x)


def unpad_axis(d: Array, x: Array, axis: int, width: tuple[int, int], mode: str, count: Any) -> Array:
    """The cotangent of `x` from that of `x` padded along one axis."""
    d, rows = np.moveaxis(d, axis, 0), np.moveaxis(x, axis, 0)
    n, before = len(rows), width[0]
    left = from_outside(d[:before], rows, mode, count[0], False)
    right = from_outside(d[before + n :], rows, mode, count[1], True)
    none = [(0, 0)] * (np.ndim(x) - 1)
    dx = d[before : before + n] + np.pad(left, [(0, n - len(left)), *none])
    return np.moveaxis(dx + np.pad(right, [(n - len(right), 0), *none]), 0, axis)


def from_outside(d: Array, rows: Array, mode: str, count: Any, after: bool) -> Array:
    """The cotangent of the rows that what was padded on one side was computed from."""
    if mode == "linear_ramp":
        return np.sum(d * ramp(rows, len(d), after), axis=0, keepdims=True)
    return np.sum(d, axis=0, keepdims=True) * edge_slopes(edge_numbers(rows, 0, count, after), 0, mode)


# ---------------------------------------------------------------- the rule


def unpad_any(
    d: Array, x: Array, pad_width: Any, mode: Any, stat_length: Any, reflect_type: str
) -> Array:
    """The cotangent of what `np.pad` pads, in any mode."""
    if mode in COMPUTING:
        return unpad_computed(d, x, pad_width, mode, stat_length)
    if is_odd(mode, reflect_type):
        return unpad_odd(d, x, pad_width, mode)
    if mode not in (*COPYING, "constant", "empty"):
        raise NonDifferentiableError(
            f"np.pad with mode={mode!r} is not differentiated", instead="pad by np.concatenate"
        )
    return unpad(d, x, pad_width, mode)


def padded_any(
    dx: Array, x: Array, pad_width: Any, mode: Any, stat_length: Any, reflect_type: str
) -> Array:
    """The tangent of `np.pad` in any mode, its constants aside."""
    if mode in COMPUTING:
        return padded_change(dx, x, pad_width, mode, stat_length)
    if is_odd(mode, reflect_type):
        return np.pad(dx, pad_width, mode, reflect_type=reflect_type)
    return padded(dx, x, pad_width, mode)


def from_ends(values: Any, like: Array, pad_width: Any, mode: Any) -> Array:
    """Zeros like `like`, padded with constants, or by ramps to these values."""
    if mode == "constant":
        return np.pad(np.zeros_like(like), pad_width, constant_values=values)
    return np.pad(np.zeros_like(like), pad_width, mode, end_values=values)


def to_ends(d: Array, x: Array, pad_width: Any, mode: Any, values: Any) -> Any:
    """The transpose of `from_ends`, for one value for all sides or values broadcast to one for each."""
    if np.ndim(values) == 0:
        return unbroadcast(np.sum(d * from_ends(1.0, x, pad_width, mode)), values)
    found = []
    for side in range(2 * np.ndim(x)):
        unit = np.reshape(np.arange(2 * np.ndim(x)) == side, (np.ndim(x), 2))
        found.append(np.sum(d * from_ends(unit, x, pad_width, mode)))
    return unbroadcast(np.reshape(np.stack(found), (np.ndim(x), 2)), values)


@bprop(
    from_ends,
    "linear", sharing="fresh",
    samples=[given(1.5, np.zeros(3), (1, 2), "constant"), given(A(2, 2), np.zeros((2, 3)), 2, "linear_ramp")],
)
def from_ends_(values, like, pad_width, mode, out, dout):
    return to_ends(dout, like, pad_width, mode, values), None, None, None


@bprop(to_ends, "linear", samples=[given(A(6), np.zeros(3), (1, 2), "constant", np.zeros(2))])
def to_ends_(d, x, pad_width, mode, values, out, dout):
    return from_ends(dout, x, pad_width, mode), None, None, None, None


@bprop(
    np.pad,
    samples=[
        given(A(3), 2),
        given(A(2, 3), ((1, 0), (0, 2))),
        given(A(3), (1, 2), constant_values=7.0),
        given(A(2, 3), (1, 2), constant_values=A(2, 2)),
        given(A(3), 5, "wrap"),
        given(A(2, 3), (1, 2), "edge"),
        given(A(4), 3, mode="reflect"),
        given(A(3), 2, mode="symmetric"),
        given(A(4), 2, "reflect", reflect_type="odd"),
        given(A(3, 4), ((1, 2), (0, 2)), "symmetric", reflect_type="odd"),
        given(A(3, 2), ((5, 1), (0, 7)), "reflect", reflect_type="odd"),
        given(A(2), (3, 6), "symmetric", reflect_type="odd"),
        given(A(2, 3), 2, "mean"),
        given(A(2, 3), ((0, 1), (2, 0)), "maximum"),
        given(A(4, 3), 1, "minimum", stat_length=2),
        given(A(4, 5), ((1, 0), (2, 1)), "median", stat_length=((3, 2), (4, 1))),
        given(A(3), (2, 4), "linear_ramp", end_values=A(2)),
        given(A(2, 3), 2, "linear_ramp", end_values=1.5),
        given(A(2, 3), ((1, 2), (0, 3)), "linear_ramp", end_values=A(2, 1)),
        given(A(2, 3), 2, "linear_ramp"),
    ],
)
def pad(
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=0,
    stat_length=None,
    end_values=0,
    reflect_type="even",
    out,
    dout,
):
    if mode == "constant":
        dconstants = to_ends(dout, array, pad_width, mode, constant_values)
        return unpad(dout, array, pad_width, mode), None, None, dconstants, None, None
    if mode == "linear_ramp":
        dends = to_ends(dout, array, pad_width, mode, end_values)
        return unpad_computed(dout, array, pad_width, mode, None), None, None, None, None, dends
    darray = unpad_any(dout, array, pad_width, mode, stat_length, reflect_type)
    return darray, None, None, None, None, None


@pad.jvp
def pad_jvp(array, pad_width, mode, stat_length, reflect_type, out, darray, dconstant_values, dend_values):
    if mode == "constant":
        return np.pad(darray, pad_width) + from_ends(dconstant_values, array, pad_width, mode)
    if mode == "linear_ramp":
        return np.pad(darray, pad_width, mode) + from_ends(dend_values, array, pad_width, mode)
    return padded_any(darray, array, pad_width, mode, stat_length, reflect_type)
