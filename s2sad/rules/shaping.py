"""Functions that move elements about: other shapes, other orders, copies, padding.

All are linear, so that forward mode is the function itself on the tangent. Orders of memory other than "C"
and "F" are refused, since the cotangent's memory need not lie as the argument's does.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import Sharing, bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast
from .samples import A, given, since

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- reshaping


def memory_order(order: Any) -> Any:
    """The order, when it says by itself which element goes where."""
    if order not in ("C", "F"):
        raise NonDifferentiableError(
            f"order={order!r} depends on how the argument lies in memory",
            instead='use order="C" or order="F"',
        )
    return order


@bprop(
    np.reshape,
    "linear", sharing="maybe",
    samples=[
        given(A(2, 6), (3, -1)),
        given(A(6), (2, 3), order="F"),
        given(A(), (1, 1)),
        given(A(0, 2), (2, 0)),
        *since("2.1", given(A(2, 3), 6, copy=True)),
    ],
)
def reshape(x, shape, order="C", *, copy=None, out, dout):
    if order == "C":
        return (np.reshape(dout, np.shape(x)),)
    return (np.reshape(dout, np.shape(x), memory_order(order)),)


@reshape.for_ranks(1)
def reshape_vector(x, shape, order="C", *, copy=None, out, dout):
    if order == "C":
        return (np.ravel(dout),)
    return (np.ravel(dout, memory_order(order)),)


def ravel_sharing(operation: Any) -> Sharing:
    """The method `flatten`, which stands for it, always copies."""
    return "fresh" if getattr(getattr(operation.node, "func", None), "attr", "") == "flatten" else "maybe"


@bprop(np.ravel, "linear", sharing=ravel_sharing,
    samples=[given(A(2, 3)), given(A(2, 3), "F"), given(A(3)), given(A())])
def ravel(x, order="C", *, out, dout):
    if order == "C":
        return (np.reshape(dout, np.shape(x)),)
    return (np.reshape(dout, np.shape(x), memory_order(order)),)


@ravel.for_ranks(1)
def ravel_vector(x, order="C", *, out, dout):
    return (dout,)


@bprop(np.squeeze, "linear", sharing="view", samples=[given(A(1, 3, 1)), given(A(1, 3, 1), axis=0)])
def squeeze(x, axis=None, *, out, dout):
    return (np.reshape(dout, np.shape(x)),)


@bprop(np.expand_dims, "linear", sharing="view", samples=[given(A(2, 3), 1), given(A(2, 3), axis=(0, -1))])
def expand_dims(x, axis, out, dout):
    return (np.reshape(dout, np.shape(x)),)


@bprop(
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
    "linear", sharing="view",
    samples=[given(A()), given(A(3)), given(A(2, 3)), given(A(2, 1, 2))],
)
def atleast(x, *, out, dout):
    return (unbroadcast(np.reshape(dout, np.shape(x)), x),)


# ---------------------------------------------------------------- axes


def inverse_axes(axes: Any) -> Any:
    """The permutation of axes that undoes `axes`."""
    given = [a % len(axes) for a in axes]
    return tuple(sorted(range(len(axes)), key=given.__getitem__))


def opposite(shift: Any) -> Any:
    """The shift, or each of several shifts, backwards."""
    return tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else -shift


@bprop(
    np.transpose,
    "linear", odd=True, sharing="view",
    samples=[given(A(2, 3)), given(A(2, 3, 4), (1, 2, 0)), given(A(2, 3, 4), axes=(-1, 0, 1)), given(A(3))],
)
def transpose(x, axes=None, *, out, dout):
    if axes is None:
        return (np.transpose(dout),)
    return (np.transpose(dout, inverse_axes(axes)),)


@transpose.for_ranks(2)
def transpose_of_matrix(x, axes=None, *, out, dout):
    if axes is None:
        return (dout.T,)
    return (np.transpose(dout, inverse_axes(axes)),)


@bprop(np.matrix_transpose, np.linalg.matrix_transpose, "linear", sharing="view",
    samples=[given(A(2, 3)), given(A(4, 2, 3))])
def matrix_transpose(x, out, dout):
    return (np.swapaxes(dout, -1, -2),)


@bprop(np.swapaxes, "linear", sharing="view", samples=[given(A(2, 3, 4), 0, -1)])
def swapaxes(x, axis1, axis2, out, dout):
    return (np.swapaxes(dout, axis1, axis2),)


@bprop(np.moveaxis, "linear", sharing="view",
    samples=[given(A(2, 3, 4), 0, -1), given(A(2, 3, 4), (0, 1), (2, 0))])
def moveaxis(x, source, destination, out, dout):
    return (np.moveaxis(dout, destination, source),)


@bprop(np.rollaxis, "linear", sharing="view", samples=[given(A(2, 3, 4), 2), given(A(2, 3, 4), 0, 3)])
def rollaxis(x, axis, start=0, *, out, dout):
    return (np.transpose(dout, rolled_back(np.ndim(x), axis, start)),)


def rolled_back(ndim: int, axis: int, start: int) -> tuple[int, ...]:
    """The permutation that undoes `np.rollaxis`."""
    order = [i for i in range(ndim) if i != axis % ndim]
    start = start + ndim if start < 0 else start
    order.insert(start - (start > axis % ndim), axis % ndim)
    return tuple(sorted(range(ndim), key=order.__getitem__))


@bprop(np.flip, "linear", sharing="view",
    samples=[given(A(2, 3)), given(A(2, 3), 1), given(A(2, 3), axis=(0, 1))])
def flip(x, axis=None, *, out, dout):
    return (np.flip(dout, axis),)


@bprop(np.fliplr, "linear", sharing="view", samples=[given(A(2, 3))])
def fliplr(x, out, dout):
    return (np.fliplr(dout),)


@bprop(np.flipud, "linear", sharing="view", samples=[given(A(3)), given(A(2, 3))])
def flipud(x, out, dout):
    return (np.flipud(dout),)


@bprop(np.rot90, "linear", sharing="view", samples=[given(A(2, 3)), given(A(2, 3, 4), 3, axes=(1, 2))])
def rot90(x, k=1, axes=(0, 1), *, out, dout):
    return (np.rot90(dout, -k, axes),)


@bprop(
    np.roll,
    "linear", data=2,
    samples=[given(A(5), 2), given(A(2, 3), 1, axis=1), given(A(2, 3), (1, -1), (0, 1)), given(A(2, 3), 4)],
)
def roll(x, shift, axis=None, *, out, dout):
    if not isinstance(shift, int):
        return (np.roll(dout, opposite(shift), axis),)
    if axis is None:
        return (np.roll(dout, -shift),)
    return (np.roll(dout, -shift, axis),)


nondifferentiable([memory_order, inverse_axes, opposite, rolled_back])


# ---------------------------------------------------------------- copies and casts


@bprop(
    np.require,
    "linear", sharing="maybe",
    samples=[given(A(2, 3)), given(A(3, dtype="float32"), np.float64), given(A(2), None, "C")],
)
def require(x, dtype=None, requirements=None, *, out, dout):
    return (unbroadcast(dout, x),)


@bprop(
    np.copy, "linear", moves=True, like=0,
    samples=[given(A(2, 3)), given(A(3, dtype="float32")), given(2.0), given(A(2, 3), "F")],
)
def copy(x, order="K", *, out, dout):
    return (unbroadcast(dout, x),)


@bprop(
    np.ascontiguousarray,
    np.asfortranarray,
    "linear", sharing="maybe",
    samples=[given(A(2, 3)), given(A(3)), given(2.0), given(A(2, dtype="float32"), np.float64)],
)
def contiguous(x, dtype=None, *, out, dout):
    return (unbroadcast(np.reshape(dout, np.shape(x)), x),)


@bprop(
    np.broadcast_to,
    "linear", moves=True, sharing="unknown", steady=True,
    samples=[given(A(3), (2, 3)), given(A(2, 1), (2, 3)), given(A(), (2,)), given(A(1), 4, subok=True)],
)
def broadcast_to(x, shape, subok=False, *, out, dout):
    return (unbroadcast(dout, x),)


def cast_back(d: Any, x: Any) -> Any:
    """The cotangent of `x` from that of a copy in another dtype; zeros if that one carries no derivative."""
    return np.zeros_like(x) if d is None else unbroadcast(d, x)


def made_into(x: Any, out: Any) -> Any:
    """What an array `out` of numbers is made of, `x`.

    Raises NonDifferentiableError for an array of objects, or one with fields.
    """
    if out.dtype.kind in "OV":
        raise NonDifferentiableError(
            "an array of objects, or one with fields, is made of what carries a derivative",
            why="what its elements carry is not followed",
            instead="use a list, or an array of floats",
        )
    return x


nondifferentiable([made_into])


def cast_like(dx: Any, out: Any) -> Any:
    """The tangent of a copy `out` in another dtype; None if that dtype carries no derivative."""
    made_into(dx, out)
    return dx.astype(out.dtype) if out.dtype.kind in "fc" else None


@bprop(
    cast_back,
    samples=[given(A(3, dtype="float32"), np.zeros(3)), given(A(2, 3), np.zeros(3)), given(A(2, 3), 0.0)],
)
def cast_back_(d, x, out, dout):
    return broadcast_like(dout, d), None


@cast_back_.jvp
def cast_back_jvp(x, out, dd):
    return cast_back(dd, x)


@bprop(cast_like, samples=[given(A(3), np.zeros(3, np.float32))])
def cast_like_(dx, like, out, dout):
    return cast_back(dout, dx), None


@cast_like_.jvp
def cast_like_jvp(out, ddx):
    return cast_like(ddx, out)


# The method takes more arguments than the function: the rule is for both.
@bprop(
    np.astype, sharing={"copy": "maybe"},
    samples=[
        given(A(3, dtype="float32"), np.float64),
        given(A(3), np.float32),
        given(A(2, dtype="float32"), np.complex128),
        given(A(2, 3), np.float64, copy=False),
    ],
)
def astype(x, dtype, *, copy=True, order="K", casting="unsafe", subok=True, out, dout):
    return (cast_back(dout, x),)


@astype.jvp
def astype_jvp(out, dx):
    return cast_like(dx, out)


# ---------------------------------------------------------------- repetition


def untile(d: Array, x: Array, reps: Any) -> Array:
    """The transpose of `np.tile`."""
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    shape = (1,) * (len(reps) - np.ndim(x)) + np.shape(x)
    reps = (1,) * (len(shape) - len(reps)) + reps
    parted = np.reshape(d, tuple(n for pair in zip(reps, shape, strict=True) for n in pair))
    return np.reshape(np.sum(parted, axis=tuple(range(0, 2 * len(shape), 2))), np.shape(x))


def unrepeat(d: Array, x: Array, repeats: Any, axis: int | None) -> Array:
    """The transpose of `np.repeat`."""
    if axis is None or np.ndim(x) == 0:
        return np.reshape(unrepeat(d, np.reshape(x, (-1,)), repeats, 0), np.shape(x))
    n = np.shape(x)[axis]
    dx = np.zeros_like(x)
    np.add.at(np.moveaxis(dx, axis, 0), np.repeat(np.arange(n), repeats), np.moveaxis(d, axis, 0))
    return dx


@bprop(untile, "linear", sharing="fresh",
    samples=[given(A(2, 6), np.zeros((2, 3)), 2), given(A(4, 3), np.zeros(3), (4, 1))])
def untile_(d, x, reps, out, dout):
    return np.tile(dout, reps), None


@bprop(
    unrepeat,
    "linear", sharing="fresh",
    samples=[given(A(6), np.zeros((1, 3)), 2, None), given(A(2, 4), np.zeros((2, 3)), [1, 0, 3], 1)],
)
def unrepeat_(d, x, repeats, axis, out, dout):
    return np.repeat(dout, repeats, axis), None


@bprop(
    np.tile, "linear", samples=[given(A(3), 2), given(A(2, 3), (2, 1, 2)), given(A(2, 3), 3), given(A(), 2)]
)
def tile(x, reps, out, dout):
    return (untile(dout, x, reps),)


@bprop(
    np.repeat,
    "linear", runs=False,
    samples=[
        given(A(3), 2),
        given(A(2, 3), 2, axis=0),
        given(A(2, 3), np.array([1, 0, 3]), 1),
        given(A(2, 3), 2),
    ],
)
def repeat(x, repeats, axis=None, *, out, dout):
    return (unrepeat(dout, x, repeats, axis),)
