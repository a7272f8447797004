"""Linear algebra of matrices and stacks of matrices: determinants, inverses, linear equations."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast, zeros_like
from .matrices import regular as regular
from .matrices import transposed as transposed
from .norms import norm_dx as norm_dx
from .products import matmul_dx
from .reductions import product_of_others
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- determinants, inverses


def is_well_conditioned(x: Array, inverse: Array) -> bool:
    """Whether the inverses of matrices are good to eight digits or so."""
    condition = np.linalg.norm(x, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
    return bool(np.all(condition < 1e8))


nondifferentiable([is_well_conditioned])


def cofactors(x: Array, out: Array) -> Array:
    """The derivative of the determinant `out` of `x`; finite for singular matrices too."""
    if np.all(out != 0):
        inverse = np.linalg.inv(x)
        if is_well_conditioned(x, inverse):
            return np.expand_dims(out, (-2, -1)) * transposed(inverse)
    u, s, vh = np.linalg.svd(x)
    scale = np.expand_dims(np.linalg.det(u) * np.linalg.det(vh), (-2, -1))
    return scale * np.conj(np.matmul(u * np.expand_dims(product_of_others(s, -1), -2), vh))


@bprop(
    np.linalg.det,
    samples=[
        given(A(3, 3)),
        given(A(2, 3, 3)),
        given(np.array([[1.0, 2.0], [2.0, 4.0]])),
        given(A(2, 2, dtype="complex128")),
        given(np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])),
    ],
)
def det(a, out, dout):
    return (np.expand_dims(dout, (-2, -1)) * cofactors(a, out),)


@det.for_ranks(2)
def det_of_matrix(a, out, dout):
    return (dout * cofactors(a, out),)


@det.jvp
def det_jvp(a, out, da):
    return np.sum(cofactors(a, out) * da, axis=(-2, -1))


def slogdet_dx(d: Any, x: Array, out: Any) -> Array:
    """The cotangent of the argument of `np.linalg.slogdet`."""
    dsign, dlog = d
    inverse = transposed(np.linalg.inv(x))
    scale = np.zeros_like(out[1]) if dlog is None else dlog
    if np.iscomplexobj(x) and dsign is not None:
        scale = scale - 1j * np.real(1j * dsign * out[0])
    return np.expand_dims(scale, (-2, -1)) * inverse


@bprop(
    np.linalg.slogdet,
    samples=[given(regular(3, 3)), given(regular(2, 2, 2)), given(regular(2, 2, dtype="complex128"))],
)
def slogdet(a, out, dout):
    return (slogdet_dx(dout, a, out),)


@slogdet.for_ranks(2)
def slogdet_of_matrix(a, out, dout):
    return (dout[1] * np.linalg.inv(a).T,)


@slogdet.jvp
def slogdet_jvp(a, out, da):
    return slogdet_tangent(a, out, da)


def slogdet_tangent(x: Array, out: Any, dx: Array) -> Any:
    """The tangent of `np.linalg.slogdet`, in its structure."""
    change = np.trace(np.linalg.solve(x, dx), axis1=-2, axis2=-1)
    if np.iscomplexobj(x):
        return type(out)(out[0] * 1j * np.imag(change), np.real(change))
    return type(out)(zeros_like(out[0]), change)


@bprop(
    np.linalg.inv,
    samples=[given(regular(3, 3)), given(regular(2, 3, 3)), given(regular(2, 2, dtype="complex128"))],
)
def inv(a, out, dout):
    return (-transposed(out) @ dout @ transposed(out),)


@inv.for_ranks(2)
def inv_of_matrix(a, out, dout):
    return (-out.T @ dout @ out.T,)


@inv.jvp
def inv_jvp(out, da):
    return -out @ da @ out


def solve_db(d: Array, a: Array, b: Array) -> Array:
    """The cotangent of `b` in `np.linalg.solve(a, b)`, before broadcasting is undone."""
    if np.ndim(b) == 1:
        return np.linalg.solve(transposed(a), np.expand_dims(d, -1))[..., 0]
    return np.linalg.solve(transposed(a), d)


@bprop(
    np.linalg.solve,
    samples=[
        given(regular(3, 3), A(3)),
        given(regular(3, 3), A(3, 2)),
        given(regular(2, 3, 3), A(3, 2)),
        given(regular(3, 3), A(2, 3, 1)),
        given(regular(2, 3, 3), A(3)),
        given(regular(2, 2, dtype="complex128"), A(2)),
        given(regular(2, 2, dtype="float32"), A(2)),
    ],
)
def solve(a, b, *, out, dout):
    db = solve_db(dout, a, b)
    if np.ndim(b) == 1:
        return unbroadcast(-np.expand_dims(db, -1) * np.expand_dims(out, -2), a), unbroadcast(db, b)
    return matmul_dx(-db, out, a), unbroadcast(db, b)


@solve.for_ranks(2, 1)
def solve_vector(a, b, *, out, dout):
    db = np.linalg.solve(a.T, dout)
    return -np.outer(db, out), db


@solve.for_ranks(2, 2)
def solve_matrix(a, b, *, out, dout):
    db = np.linalg.solve(a.T, dout)
    return -db @ out.T, db


@solve.jvp
def solve_jvp(a, b, *, out, da, db):
    if np.ndim(b) == 1:
        return np.linalg.solve(a, np.expand_dims(db - (da @ np.expand_dims(out, -1))[..., 0], -1))[..., 0]
    return np.linalg.solve(a, db - da @ out)


# ---------------------------------------------------------------- arrays as matrices


@bprop(
    np.linalg.tensorinv,
    samples=[
        given(lambda rng: A(4, 6).draw(rng)[:, :4].reshape(4, 2, 2) + np.eye(4).reshape(4, 2, 2), ind=1),
        given(lambda rng: (A(4, 4).draw(rng) + 4 * np.eye(4)).reshape(2, 2, 4)),
    ],
)
def tensorinv(a, ind=2, *, out, dout):
    inverse = np.reshape(out, (-1, product_of_lengths(a, ind)))
    return (
        np.reshape(
            -transposed(inverse) @ np.reshape(dout, np.shape(inverse)) @ transposed(inverse), np.shape(a)
        ),
    )


@tensorinv.jvp
def tensorinv_jvp(a, ind, out, da):
    inverse = np.reshape(out, (-1, product_of_lengths(a, ind)))
    return np.reshape(-inverse @ np.reshape(da, np.shape(transposed(inverse))) @ inverse, np.shape(out))


def product_of_lengths(a: Array, ind: int) -> int:
    """The number of elements along the first axes."""
    return int(np.prod(np.shape(a)[:ind], dtype=int))


def solved_axes(a: Array, axes: Any) -> tuple[int, ...]:
    """The axes of the tensor in the order in which `np.linalg.tensorsolve` takes them."""
    moved = [i % np.ndim(a) for i in axes or ()]
    return (*(i for i in range(np.ndim(a)) if i not in moved), *moved)


nondifferentiable([product_of_lengths, solved_axes])


@bprop(
    np.linalg.tensorsolve,
    samples=[
        given(lambda rng: (A(6, 6).draw(rng) + 4 * np.eye(6)).reshape(2, 3, 6), A(2, 3)),
        given(lambda rng: (A(6, 6).draw(rng) + 4 * np.eye(6)).reshape(6, 6), A(6)),
        given(lambda rng: (A(6, 6).draw(rng) + 4 * np.eye(6)).reshape(2, 6, 3), A(2, 3), axes=(1,)),
    ],
)
def tensorsolve(a, b, axes=None, *, out, dout):
    order = solved_axes(a, axes)
    matrix = np.reshape(np.transpose(a, order), (np.size(b), -1))
    db = np.linalg.solve(transposed(matrix), np.reshape(dout, (-1, 1)))
    da = np.reshape(-db @ np.reshape(out, (1, -1)), np.shape(np.transpose(a, order)))
    da = np.transpose(da, np.argsort(order).tolist())
    return unbroadcast(da, a), unbroadcast(np.reshape(db, np.shape(b)), b)


@tensorsolve.jvp
def tensorsolve_jvp(a, b, axes, out, da, db):
    order = solved_axes(a, axes)
    matrix = np.reshape(np.transpose(a, order), (np.size(b), -1))
    dmatrix = np.reshape(np.transpose(da, order), (np.size(b), -1))
    change = np.reshape(db, (-1, 1)) - dmatrix @ np.reshape(out, (-1, 1))
    return np.reshape(np.linalg.solve(matrix, change), np.shape(out))
