"""Padding, diagonals, triangles: arrays placed in larger ones, and parts of them taken out again. All are
linear.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from ..values.libraries import library_of
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- diagonals and triangles


def place_diagonal(d: Array, x: Array, offset: int, axis1: int, axis2: int) -> Array:
    """Zeros like `x`, but for `d`, by its last axis (of any or of length 1), on a diagonal."""
    if library_of(x) is not None:
        return chosen_diagonal(d, x, offset, (axis1, axis2))
    dx = np.zeros_like(x)
    moved = np.moveaxis(dx, (axis1, axis2), (-2, -1))
    i = np.arange(len(np.diagonal(np.zeros(np.shape(moved)[-2:]), offset)))
    moved[..., i + max(-offset, 0), i + max(offset, 0)] = d
    return dx


def chosen_diagonal(d: Array, x: Array, offset: int, axes: tuple[int, int]) -> Array:
    """`place_diagonal` without a store: `d` by rows, where they are on the diagonal."""
    moved = np.moveaxis(x, axes, (-2, -1))
    if np.shape(d)[-1] != 1:
        before = max(-offset, 0)
        ends = before, np.shape(moved)[-2] - before - np.shape(d)[-1]
        first, last = (np.zeros_like(d, shape=(*np.shape(d)[:-1], n)) for n in ends)
        d = np.concatenate([first, d, last], axis=-1)
    is_there = lower_triangle(moved, offset) & ~lower_triangle(moved, offset - 1)
    return unbroadcast(np.moveaxis(np.where(is_there, np.expand_dims(d, -1), 0), (-2, -1), axes), x)


@bprop(
    place_diagonal,
    "linear", sharing="fresh",
    samples=[
        given(A(2), np.zeros((2, 3)), 1, 0, 1),
        given(A(3, 2), np.zeros((2, 3, 4)), 1, 0, 2),
        given(A(2, 1), np.zeros((2, 3, 3)), 0, 1, 2),
    ],
)
def place_diagonal_(d, x, offset, axis1, axis2, out, dout):
    return unbroadcast(np.diagonal(dout, offset, axis1, axis2), d), None


@bprop(np.diag, "linear", sharing="maybe", read_only=True, selects=True,
    samples=[given(A(3)), given(A(3), -1), given(A(2, 3)), given(A(3, 3), k=1)])
def diag(x, k=0, *, out, dout):
    return (undo_diag(dout, x, k),)


@diag.for_ranks(1)
def diag_of_vector(x, k=0, *, out, dout):
    return (np.diag(dout, k),)


def undo_diag(d: Array, x: Array, k: int) -> Array:
    """The transpose of `np.diag`."""
    return np.diag(d, k).copy() if np.ndim(x) == 1 else place_diagonal(d, x, k, 0, 1)


@bprop(undo_diag, "linear", sharing="fresh",
    samples=[given(A(3, 3), np.zeros(2), 1), given(A(2), np.zeros((2, 3)), 0)])
def undo_diag_(d, x, k, out, dout):
    return np.diag(dout, k), None


@bprop(np.diagflat, "linear", samples=[given(A(3)), given(A(2, 2), -1), given(A())])
def diagflat(x, k=0, *, out, dout):
    return (unbroadcast(np.reshape(np.diagonal(dout, k), np.shape(x)), x),)


@bprop(
    np.diagonal,
    "linear", sharing="view", read_only=True, selects=True,
    samples=[given(A(2, 3)), given(A(2, 3, 4), 1, 0, 2), given(A(3, 2, 2), offset=-1, axis1=2, axis2=0)],
)
def diagonal(x, offset=0, axis1=0, axis2=1, *, out, dout):
    return (place_diagonal(dout, x, offset, axis1, axis2),)


@bprop(np.linalg.diagonal, "linear", sharing="view", read_only=True, selects=True,
    samples=[given(A(2, 3)), given(A(2, 3, 4), offset=1)])
def linalg_diagonal(x, *, offset=0, out, dout):
    return (place_diagonal(dout, x, offset, -2, -1),)


@bprop(
    np.trace,
    "linear",
    samples=[
        given(A(2, 3)),
        given(A(3, 3), 1),
        given(A(2, 3, 4), 0, 1, 2),
        given(A(2, 2, dtype="float32"), dtype=np.float64),
    ],
)
def trace(x, offset=0, axis1=0, axis2=1, dtype=None, *, out, dout):
    return (place_diagonal(np.expand_dims(dout, -1), x, offset, axis1, axis2),)


@bprop(
    np.linalg.trace,
    "linear",
    samples=[given(A(2, 3)), given(A(2, 3, 4), offset=-1), given(A(2, 2, dtype="float32"), dtype=np.float64)],
)
def linalg_trace(x, *, offset=0, dtype=None, out, dout):
    return (place_diagonal(np.expand_dims(dout, -1), x, offset, -2, -1),)


def lower_triangle(x: Array, k: int) -> Array:
    """Which elements of matrices are on the `k`-th diagonal or below it."""
    if library_of(x) is not None:
        return np.tril(np.ones_like(x, dtype=bool), k)
    rows, columns = np.shape(x)[-2:]
    return np.tri(rows, columns, k, dtype=bool)


nondifferentiable([lower_triangle], shape_only=(0,))


@bprop(np.tril, "linear", selects=True, samples=[given(A(3, 3)), given(A(2, 3, 4), 1), given(A(3), -1)])
def tril(x, k=0, *, out, dout):
    return (unbroadcast(np.where(lower_triangle(out, k), dout, 0), x),)


@tril.for_ranks(2)
def tril_of_matrix(x, k=0, *, out, dout):
    return (np.where(lower_triangle(x, k), dout, 0),)  # a choice: what is left out has no derivative


@bprop(np.triu, "linear", selects=True, samples=[given(A(3, 3)), given(A(2, 3, 4), 1), given(A(3), -1)])
def triu(x, k=0, *, out, dout):
    return (unbroadcast(np.where(lower_triangle(out, k - 1), 0, dout), x),)


@triu.for_ranks(2)
def triu_of_matrix(x, k=0, *, out, dout):
    return (np.where(lower_triangle(x, k - 1), 0, dout),)
