"""Norms of vectors and matrices, and condition numbers. At zero the gradient of a norm is zero."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import broadcast_like, unreduce
from .matrices import regular, transposed
from .reductions import or_inf, share_of_ties
from .samples import A, given

Array = Any  # any type with NumPy's protocols


@bprop(
    np.linalg.norm,
    samples=[
        given(A(4)),
        given(A(2, 3)),
        given(A(2, 3), axis=1),
        given(A(2, 3), None, 0, True),
        given(A(3, dtype="complex128")),
        given(A(2, 3, 2), axis=(0, 2)),
        given(A(2, 3), "fro"),
        given(A(4), 1),
        given(A(4), np.inf),
        given(A(4), -np.inf),
        given(A(4), 3),
        given(A(2, 4), 2.5, axis=1),
        given(A(4), 2),
        given(A(2, 3), 1),
        given(A(2, 3), np.inf),
        given(A(2, 3), -1),
        given(A(3, 2), 2),
        given(A(3, 2), "nuc"),
        given(A(3, dtype="float32")),
        given(A(2, 3, 3), 2, axis=(1, 2)),
    ],
)
def norm(x, ord=None, axis=None, keepdims=False, *, out, dout):
    if ord is not None:
        return (norm_dx(dout, x, out, ord, axis, keepdims),)
    if axis is None:
        return (dout / or_inf(out) * np.conj(x),)
    return (unreduce(dout / or_inf(out), x, axis, keepdims) * np.conj(x),)


@norm.for_ranks(1)
def norm_of_vector(x, ord=None, axis=None, keepdims=False, *, out, dout):
    if ord is None:
        return (dout / or_inf(out) * x,)
    return (norm_dx(dout, x, out, ord, axis, keepdims),)


@norm.for_ranks(2)
def norm_of_matrix(x, ord=None, axis=None, keepdims=False, *, out, dout):
    if ord is not None:
        return (norm_dx(dout, x, out, ord, axis, keepdims),)
    if axis is None:
        return (dout / or_inf(out) * x,)
    return (unreduce(dout / or_inf(out), x, axis, keepdims) * x,)


@norm.jvp
def norm_jvp(x, ord, axis, keepdims, out, dx):
    if ord is None:
        return np.sum(np.real(np.conj(x) * dx), axis=axis, keepdims=keepdims) / or_inf(out)
    return np.sum(
        np.real(norm_dx(np.ones_like(out), x, out, ord, axis, keepdims) * dx), axis=axis, keepdims=keepdims
    )


def norm_dx(d: Array, x: Array, out: Array, ord: Any, axis: Any, keepdims: Any) -> Array:
    """The cotangent of the argument of a norm that is not the default one."""
    axes = tuple(range(np.ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    wide = unreduce(d, x, axes, keepdims)
    norms = unreduce(out, x, axes, keepdims)
    if len(axes) == 1:
        return wide * vector_norm_slope(x, norms, ord, axes[0])
    if ord == "fro":
        return wide * np.conj(x) / or_inf(norms)
    if ord in (2, -2, "nuc"):
        moved = np.moveaxis(x, axes, (-2, -1))
        return wide * np.moveaxis(spectral_slope(moved, ord), (-2, -1), axes)
    row, column = axes
    summed, other = (row, column) if abs(ord) == 1 else (column, row)
    sums = np.sum(np.abs(x), axis=summed, keepdims=True)
    best = np.max(sums, axis=other, keepdims=True) if ord > 0 else np.min(sums, axis=other, keepdims=True)
    return wide * sign_of(x) * share_of_ties(sums, best, other, True)


def sign_of(x: Array) -> Array:
    """The conjugate of the sign of `x`: the derivative of its absolute value."""
    return np.conj(x) / or_inf(np.abs(x))


def vector_norm_slope(x: Array, norms: Array, ord: Any, axis: int) -> Array:
    """The derivative of the norms of vectors along `axis`, which `norms` holds at each of their elements."""
    if ord == 2:
        return np.conj(x) / or_inf(norms)
    if ord == 1:
        return sign_of(x)
    if ord == 0:
        return np.zeros_like(x)
    size = np.abs(x)
    if ord in (np.inf, -np.inf):
        best = np.max(size, axis=axis, keepdims=True) if ord > 0 else np.min(size, axis=axis, keepdims=True)
        return sign_of(x) * share_of_ties(size, best, axis, True)
    return sign_of(x) * (size / or_inf(norms)) ** (ord - 1)


def spectral_slope(x: Array, ord: Any) -> Array:
    """The derivative of the largest, smallest or summed singular values of matrices."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    u = u * np.expand_dims(np.sign(s), -2)  # at a singular value of zero there is no slope
    if ord == 2:
        u, vh = u[..., :1], vh[..., :1, :]
    elif ord == -2:
        u, vh = u[..., -1:], vh[..., -1:, :]
    return np.conj(np.matmul(u, vh))


# ---------------------------------------------------------------- by the standard's names


VECTORS = [
    given(A(4)),
    given(A(2, 3)),
    given(A(2, 3), axis=1, keepdims=True),
    given(A(2, 3, 2), axis=(0, 2), ord=1),
    given(A(2, 3), ord=3),
    given(A(2, 3), axis=-1, ord=np.inf),
    given(A(2, 3), ord=-np.inf, keepdims=True),
    given(A(3, dtype="complex128")),
]


@bprop(np.linalg.vector_norm, samples=VECTORS)
def vector_norm(x, *, axis=None, keepdims=False, ord=2, out, dout):
    if ord == 2:
        return (unreduce(dout / or_inf(out), x, axis, keepdims) * np.conj(x),)
    return (
        unreduce(dout, x, axis, keepdims) * vector_norm_slope(x, unreduce(out, x, axis, keepdims), ord, axis),
    )


@vector_norm.jvp
def vector_norm_jvp(x, axis, keepdims, ord, out, dx):
    if ord == 2:
        return np.sum(np.real(np.conj(x) * dx), axis=axis, keepdims=keepdims) / or_inf(out)
    slope = vector_norm_slope(x, unreduce(out, x, axis, keepdims), ord, axis)
    return np.sum(np.real(slope * dx), axis=axis, keepdims=keepdims)


@bprop(
    np.linalg.matrix_norm,
    samples=[
        given(A(2, 3)),
        given(A(2, 3, 2), keepdims=True),
        given(A(2, 3, 2), ord=2),
        given(A(3, 3), ord="nuc"),
        given(A(2, 3), ord=1),
        given(A(2, 3), ord=-np.inf),
        given(A(2, 2, dtype="complex128")),
    ],
)
def matrix_norm(x, *, keepdims=False, ord="fro", out, dout):
    return (norm_dx(dout, x, out, ord, (-2, -1), keepdims),)


@matrix_norm.jvp
def matrix_norm_jvp(x, keepdims, ord, out, dx):
    slopes = norm_dx(np.ones_like(out), x, out, ord, (-2, -1), keepdims)
    return np.sum(np.real(slopes * dx), axis=(-2, -1), keepdims=keepdims)


# ---------------------------------------------------------------- condition numbers


def condition_slope(x: Array, out: Array, p: Any) -> Array:
    """The derivative of condition numbers: quotients of singular values, or products of norms."""
    wide = np.expand_dims(out, (-2, -1))
    if p in (None, 2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        first, last = np.expand_dims(s[..., 0], (-2, -1)), np.expand_dims(s[..., -1], (-2, -1))
        slope = wide * (spectral_slope(x, 2) / first - spectral_slope(x, -2) / last)
        return slope if p != -2 else -slope
    inverse = np.linalg.inv(x)
    size, other = np.linalg.norm(x, p, (-2, -1)), np.linalg.norm(inverse, p, (-2, -1))
    dinverse = norm_dx(size, inverse, other, p, (-2, -1), False)
    return norm_dx(other, x, size, p, (-2, -1), False) - transposed(inverse) @ dinverse @ transposed(inverse)


@bprop(
    np.linalg.cond,
    samples=[
        given(regular(3, 3)),
        given(A(2, 4, 3)),
        given(A(4, 3), -2),
        given(regular(2, 3, 3), 1),
        given(regular(3, 3), "fro"),
        given(regular(3, 3), p=np.inf),
        given(regular(3, 3), "nuc"),
        given(regular(2, 2, dtype="complex128")),
        given(regular(2, 2, dtype="complex128"), "fro"),
    ],
)
def cond(x, p=None, *, out, dout):
    return (np.expand_dims(np.real(dout), (-2, -1)) * condition_slope(x, out, p),)


@cond.jvp
def cond_jvp(x, p, out, dx):
    return broadcast_like(np.sum(np.real(condition_slope(x, out, p) * dx), axis=(-2, -1)), out)
