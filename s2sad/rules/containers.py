"""Helpers for functions that take or return several arrays: each array's share of a cotangent, in the
structure that was passed.

`arrays` is the list, tuple or array that the user passed; what comes back is a list, tuple or array
accordingly.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast, zeros_like
from ..values.libraries import has_dtype, is_any_array
from .samples import A, given

Array = Any  # any type with NumPy's protocols

FLOATS = (float, np.float64)

__all__ = ["as_operand", "filled", "nested_like", "regroup", "split_like", "unstack_like"]


def as_operand(x: Any) -> Any:
    """What an operation on arrays computes with: an array of a list or tuple, any other value itself."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def regroup(parts: Sequence[Any], arrays: Any) -> Any:
    """The parts, in the structure of `arrays`."""
    if has_dtype(arrays):
        if not len(parts):
            return np.zeros_like(arrays)
        stacked = np.stack([p if is_any_array(p) else np.asarray(p) for p in parts])
        return stacked.astype(arrays.dtype, copy=False)
    return tuple(parts) if isinstance(arrays, tuple) else list(parts)


def part_like(dx: Any, x: Any) -> Any:
    """`dx` in the shape and dtype of `x`; nested lists of numbers for nested lists; None for what is no
    number.
    """
    if isinstance(x, (list, tuple)):
        return nested_like(np.reshape(dx, np.shape(x)), x)
    if type(x) is type(dx) is np.ndarray and x.dtype == dx.dtype and x.shape == dx.shape:
        return dx
    return None if zeros_like(x) is None else unbroadcast(np.reshape(dx, np.shape(x)), x)


def split_like(d: Array, arrays: Any, axis: int | None, widen: Callable[[Any], Any] | None = None) -> Any:
    """The cotangents of what was concatenated along `axis` (None: flattened), each array first having been
    widened.
    """
    if axis is None:
        widen, axis = np.ravel, 0
    parts = []
    start = 0
    d = np.moveaxis(d, axis, 0)
    for x in arrays:
        shape = np.shape(x) if widen is None else np.shape(widen(x))
        stop = start + shape[axis]
        parts.append(part_like(np.moveaxis(d[start:stop], 0, axis), x))
        start = stop
    return regroup(parts, arrays)


def unstack_like(d: Array, arrays: Any, axis: int) -> Any:
    """The cotangents of what was stacked along `axis`."""
    moved = np.moveaxis(d, axis, 0)
    if has_dtype(arrays):
        return unbroadcast(moved, arrays)
    return regroup([part_like(dx, x) for dx, x in zip(moved, arrays, strict=True)], arrays)


def nested_like(d: Any, x: Any) -> Any:
    """The cotangent of what became an array of cotangent `d`: of a list the list of its elements' cotangents,
    and so on inwards.
    """
    if d is None:
        return zeros_like(x)
    if isinstance(x, (list, tuple)):
        if type(d) is np.ndarray and d.dtype == np.float64 and all(type(v) in FLOATS for v in x):
            return regroup([*d], x)
        return regroup([part_like(dx, v) for dx, v in zip(d, x, strict=True)], x)
    return part_like(d, x)


def table_of(rows: list[list[float]]) -> Array:
    """The matrix with these rows; raises NotImplementedError where they differ in length."""
    if any(len(row) != len(rows[0]) for row in rows):
        raise NotImplementedError("the rows of a table differ in length")
    return np.array(rows, float) if rows else np.zeros((0, 0))


def filled(d: Any, values: Any) -> Any:
    """The tangents (or cotangents) `d` of `values`, arrays of zeros where there are none."""
    if isinstance(values, (list, tuple)):
        if d is None:
            d = [None] * len(values)
        return regroup([filled(dx, v) for dx, v in zip(d, values, strict=True)], values)
    return np.zeros_like(values, dtype=float) if d is None else d


def along_row(x: Array) -> Array:
    """What `np.hstack` widens its arguments to, its axis in front."""
    x = np.atleast_1d(x)
    return x if x.ndim == 1 else np.swapaxes(x, 0, 1)


def as_column(x: Array) -> Array:
    """What `np.column_stack` widens its arguments to."""
    return np.reshape(x, (-1, 1)) if np.ndim(x) < 2 else x


nondifferentiable([along_row, as_column])


# The rules: each is linear in the cotangent, and putting the parts together again is its transpose.


def listed(parts: Any) -> list[Any]:
    """The parts as a list."""
    return list(parts)


@bprop(regroup, samples=[given([A(2), A(2)], (0.0, 0.0)), given([1.5, A(2)], [0.0, 0.0])])
def regroup_(parts, arrays, out, dout):
    return listed(dout), None


@regroup_.jvp
def regroup_jvp(arrays, out, dparts):
    return regroup(dparts, arrays)


@bprop(listed, samples=[given([A(2), A(3)])])
def listed_(parts, out, dout):
    return (regroup(dout, parts),)


@listed_.jvp
def listed_jvp(out, dparts):
    return listed(dparts)


@bprop(
    split_like,
    samples=[
        given(A(5), [np.zeros(2), np.zeros(3)], 0),
        given(A(2, 5), (np.zeros((2, 4)), np.zeros((2, 1))), 1),
    ],
)
def split_like_(d, arrays, axis, widen=None, *, out, dout):
    return joined(dout, arrays, axis, widen), None


@split_like_.jvp
def split_like_jvp(arrays, axis, widen, out, dd):
    return split_like(dd, arrays, axis, widen)


def joined(parts: Any, arrays: Any, axis: int | None, widen: Callable[[Any], Any] | None = None) -> Array:
    """The transpose of `split_like`: the parts, widened and concatenated."""
    parts = filled(parts, arrays)
    if axis is None:
        return np.concatenate(list(parts), axis=None)
    return np.concatenate([p if widen is None else widen(p) for p in parts], axis=axis)


@bprop(joined, samples=[given([A(2), A(3)], [np.zeros(2), np.zeros(3)], 0)])
def joined_(parts, arrays, axis, widen=None, *, out, dout):
    return split_like(dout, arrays, axis, widen), None


@joined_.jvp
def joined_jvp(arrays, axis, widen, out, dparts):
    return joined(dparts, arrays, axis, widen)


@bprop(
    unstack_like,
    samples=[given(A(2, 3), [np.zeros(3), np.zeros(3)], 0), given(A(2, 3), (np.zeros(2),) * 3, 1)],
)
def unstack_like_(d, arrays, axis, out, dout):
    return np.stack(filled(dout, arrays), axis=axis), None


@unstack_like_.jvp
def unstack_like_jvp(arrays, axis, out, dd):
    return unstack_like(dd, arrays, axis)


@bprop(nested_like, samples=[given(A(3), [0.0, 0.0, 0.0]), given(A(2, 2), ([0.0, 0.0], (0.0, 0.0)))])
def nested_like_(d, x, out, dout):
    return np.array(filled(dout, x)), None


@nested_like_.jvp
def nested_like_jvp(x, out, dd):
    return nested_like(dd, x)


@bprop(table_of, sharing="fresh", samples=[given([[0.5, 1.5], [2.5, 0.5], [1.0, 2.0]])])
def table_of_(rows, out, dout):
    return (nested_like(dout, rows),)


@table_of_.jvp
def table_of_jvp(rows, out, drows):
    return np.array(filled(drows, rows))


@bprop(filled, samples=[given([A(3), A(2)], [np.zeros(3), np.zeros(2)])])
def filled_(d, values, out, dout):
    return dout, None


@filled_.jvp
def filled_jvp(values, out, dd):
    return filled(dd, values)
