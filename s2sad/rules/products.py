"""Products of vectors, matrices and arrays of more dimensions.

The templates for known ranks are what an expert writes (`dout @ y.T`); they are for real arguments of one
dtype. The general ones go through helpers that read the ranks at run time, each of which is again a product
with a rule of its own. Matrices are multiplied by `@` alone, so that a constant one may be sparse.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from ..values.sparse_arrays import is_sparse
from .samples import A, given

Array = Any  # any type with NumPy's protocols

COMMON = [
    given(A(3), A(3)),
    given(A(2, 3), A(3)),
    given(A(3), A(3, 2)),
    given(A(2, 3), A(3, 4)),
    given(A(0, 3), A(3, 2)),
    given(A(2, 3, dtype="float32"), A(3, 4)),
    given(A(2, 3), A(3, dtype="complex128")),
]


# ---------------------------------------------------------------- matmul


nondifferentiable([is_sparse])


def matmul_dx(d: Array, y: Array, x: Array) -> Array:
    """The cotangent of `x` in `x @ y`, for any ranks; sparse matrices are constants."""
    if is_sparse(x):
        return None
    if np.ndim(y) == 1:
        return unbroadcast(np.expand_dims(d, -1) * y, x)
    if np.ndim(y) == 2:
        return unbroadcast(d @ y.T, x)
    if np.ndim(x) > 1:
        return unbroadcast(np.matmul(d, np.swapaxes(y, -1, -2)), x)
    return unbroadcast(np.matmul(np.expand_dims(d, -2), np.swapaxes(y, -1, -2))[..., 0, :], x)


def matmul_dy(d: Array, x: Array, y: Array) -> Array:
    """The cotangent of `y` in `x @ y`, for any ranks; sparse matrices are constants."""
    if is_sparse(y):
        return None
    if np.ndim(x) == 2:
        return unbroadcast(x.T @ d, y)
    if np.ndim(x) == 1:
        return unbroadcast(np.expand_dims(d, -2) * np.expand_dims(x, -1) if np.ndim(y) > 1 else d * x, y)
    if np.ndim(y) > 1:
        return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), d), y)
    return unbroadcast(np.matmul(np.swapaxes(x, -1, -2), np.expand_dims(d, -1))[..., 0], y)


@bprop(
    np.matmul,
    operator.matmul,
    np.linalg.matmul,
    "bilinear",
    in_place=[operator.imatmul],
    samples=[
        *COMMON,
        given(A(2, 3), A(3, 3)),
        given(A(5, 2, 3), A(3, 4)),
        given(A(2, 3), A(5, 3, 4)),
        given(A(5, 1, 2, 3), A(4, 3, 2)),
        given(A(5, 2, 3), A(3)),
        given(A(3), A(5, 3, 2)),
    ],
)
def matmul(x, y, *, out, dout):
    return matmul_dx(dout, y, x), matmul_dy(dout, x, y)


@bprop(
    matmul_dx,
    "bilinear", sharing="fresh",
    samples=[
        given(A(2, 4), A(3, 4), np.zeros((2, 3))),
        given(A(), A(3), np.zeros(3)),
        given(A(5, 2), A(3, 2), np.zeros((5, 3))),
        given(A(5, 2), A(5, 3, 2), np.zeros(3)),
    ],
)
def matmul_dx_(d, y, x, out, dout):
    return unbroadcast(dout @ y, d), matmul_dy(d, dout, y), None


@bprop(
    matmul_dy,
    "bilinear", sharing="fresh",
    samples=[
        given(A(2, 4), A(2, 3), np.zeros((3, 4))),
        given(A(), A(3), np.zeros(3)),
        given(A(5, 2), A(5, 2, 3), np.zeros(3)),
    ],
)
def matmul_dy_(d, x, y, out, dout):
    return unbroadcast(x @ dout, d), matmul_dx(d, dout, x), None


# ---------------------------------------------------------------- dot


def dot_dx(d: Array, y: Array, x: Array) -> Array:
    """The cotangent of `x` in `np.dot(x, y)`, for any ranks."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(d * y, x)
    if np.ndim(y) == 1:
        return unbroadcast(np.expand_dims(d, -1) * y, x)
    free = (*range(np.ndim(y) - 2), np.ndim(y) - 1)
    return unbroadcast(np.tensordot(d, y, (tuple(range(np.ndim(x) - 1, np.ndim(d))), free)), x)


def dot_dy(d: Array, x: Array, y: Array) -> Array:
    """The cotangent of `y` in `np.dot(x, y)`, for any ranks."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(d * x, y)
    free = tuple(range(np.ndim(x) - 1))
    dy = np.tensordot(x, d, (free, free))
    return unbroadcast(dy if np.ndim(y) == 1 else np.moveaxis(dy, 0, -2), y)


@bprop(
    np.dot,
    "bilinear",
    samples=[
        *COMMON,
        given(2.0, A(3)),
        given(A(2, 3), A()),
        given(A(2, 4, 3), A(5, 3, 2)),
        given(A(2, 4, 3), A(3)),
        given(A(3), A(5, 3, 2)),
    ],
)
def dot(x, y, *, out, dout):
    return dot_dx(dout, y, x), dot_dy(dout, x, y)


@bprop(
    dot_dx,
    "bilinear", sharing="fresh",
    samples=[
        given(A(2, 4), A(3, 4), np.zeros((2, 3))),
        given(A(2, 4, 5, 2), A(5, 3, 2), np.zeros((2, 4, 3))),
    ],
)
def dot_dx_(d, y, x, out, dout):
    return unbroadcast(np.dot(dout, y), d), dot_dy(d, dout, y), None


@bprop(
    dot_dy,
    "bilinear", sharing="fresh",
    samples=[
        given(A(2, 4), A(2, 3), np.zeros((3, 4))),
        given(A(2, 4, 5, 2), A(2, 4, 3), np.zeros((5, 3, 2))),
    ],
)
def dot_dy_(d, x, y, out, dout):
    return unbroadcast(np.dot(x, dout), d), dot_dx(d, dout, x), None


def vector_vector(x, y, *, out, dout):
    return dout * y, dout * x


def matrix_vector(x, y, *, out, dout):
    return np.outer(dout, y), x.T @ dout


def vector_matrix(x, y, *, out, dout):
    return dout @ y.T, np.outer(x, dout)


def matrix_matrix(x, y, *, out, dout):
    return dout @ y.T, x.T @ dout


for _rule in (matmul, dot):
    _rule.for_ranks(1, 1)(vector_vector)
    _rule.for_ranks(2, 1)(matrix_vector)
    _rule.for_ranks(1, 2)(vector_matrix)
    _rule.for_ranks(2, 2)(matrix_matrix)


# ---------------------------------------------------------------- inner, outer, vdot


@bprop(
    np.inner,
    "bilinear",
    samples=[
        given(A(3), A(3)),
        given(A(2, 3), A(3)),
        given(A(2, 3), A(4, 3)),
        given(2.0, A(3)),
        given(A(2, 2, 3), A(4, 3)),
    ],
)
def inner(x, y, *, out, dout):
    return inner_dx(dout, y, x), inner_dx(np.transpose(dout, sides_swapped(x, y)), x, y)


def inner_dx(d: Array, y: Array, x: Array) -> Array:
    """The cotangent of `x` in `np.inner(x, y)`, for any ranks."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(d * y, x)
    return unbroadcast(np.tensordot(d, y, np.ndim(y) - 1), x)


def sides_swapped(x: Array, y: Array) -> tuple[int, ...]:
    """The axes of `np.inner(x, y)`, those of `y` first."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return tuple(range(np.ndim(x) + np.ndim(y)))
    p, q = np.ndim(x) - 1, np.ndim(y) - 1
    return (*range(p, p + q), *range(p))


nondifferentiable([sides_swapped])


@inner.for_ranks(1, 1)
def inner_of_vectors(x, y, *, out, dout):
    return dout * y, dout * x


@bprop(np.outer, np.linalg.outer, "bilinear", samples=[given(A(3), A(2)), given(A(1), A(3, dtype="float32"))])
def outer(x, y, *, out, dout):
    dx = np.reshape(dout @ np.ravel(y), np.shape(x))
    return unbroadcast(dx, x), unbroadcast(np.reshape(np.ravel(x) @ dout, np.shape(y)), y)


@outer.for_ranks(1, 1)
def outer_of_vectors(x, y, *, out, dout):
    return dout @ y, x @ dout


@bprop(
    np.vdot,
    "bilinear",
    samples=[
        given(A(3), A(3)),
        given(A(2, 3), A(2, 3)),
        given(A(3, dtype="complex128"), A(3, dtype="complex128")),
    ],
)
def vdot(x, y, *, out, dout):
    dx = np.reshape(np.conj(dout * y), np.shape(x))
    return unbroadcast(dx, x), unbroadcast(np.reshape(dout * np.conj(x), np.shape(y)), y)


@vdot.for_reals
def vdot_of_reals(x, y, *, out, dout):
    dx = np.reshape(dout * y, np.shape(x))
    return unbroadcast(dx, x), unbroadcast(np.reshape(dout * x, np.shape(y)), y)


@vdot.for_ranks(1, 1)
def vdot_of_vectors(x, y, *, out, dout):
    return dout * y, dout * x


@bprop(
    np.vecdot,
    np.linalg.vecdot,
    "bilinear",
    samples=[
        given(A(3), A(3)),
        given(A(2, 3), A(3)),
        given(A(2, 3, dtype="complex128"), A(2, 3)),
        given(A(3, 2), A(3, 2, dtype="complex128"), axis=0),
    ],
)
def vecdot(x, y, *, axis=-1, out, dout):
    wide = np.expand_dims(dout, axis)
    return unbroadcast(np.conj(wide * y), x), unbroadcast(wide * np.conj(x), y)


@vecdot.for_reals
def vecdot_of_reals(x, y, *, axis=-1, out, dout):
    wide = np.expand_dims(dout, axis)
    return unbroadcast(wide * y, x), unbroadcast(wide * x, y)
