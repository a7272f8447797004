"""Least squares and what belongs to it: qr, pinv, lstsq; powers of matrices, products of many."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, part_like, regroup
from .factorisations import (
    from_triangle,
    onto_triangle,
    singular_values_dx,
    singular_values_tangent,
    symmetric,
)
from .matrices import adjoint, diagonal_matrices, regular, transposed
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- QR


def check_mode(mode: str) -> None:
    """Refuses what is no factors, but reflections and how they are stored."""
    if mode not in ("reduced", "r", "complete"):
        raise NonDifferentiableError(
            f"np.linalg.qr is not differentiated in the mode {mode!r}",
            instead='use the mode "reduced", "complete" or "r"',
        )


def check_completion(q: Array, n: int) -> None:
    """Refuses columns beyond the first `n` that are not made by the reflections which make these."""
    unit = np.eye(np.shape(q)[-2], dtype=q.dtype)
    is_known = bool(np.all(np.linalg.matrix_rank((q - unit)[..., :n, :n], tol=1e-6) == n))
    if is_known:
        first, rest = completion(q[..., :n])[:2]
        is_known = np.allclose(unit[:, n:] + first @ rest, q[..., n:], atol=1e-6)
    if not is_known:
        raise NonDifferentiableError(
            "the columns that complete this matrix to an orthogonal one have no known derivative",
            why="how they are chosen changes where a column of the argument is zero below the diagonal",
            instead='use the mode "reduced"',
        )


nondifferentiable([check_mode, check_completion])


def completion(q: Array) -> tuple[Array, Array, Array, Array]:
    """With the orthonormal columns `q` made by n reflections from those of the unit matrix, e: `q - e`, what
    that is multiplied with to get the change of the other columns of that, and two parts of its derivative.

    A product of n reflections is `1 - y t y.H`, and `q - e = -y t y[:n].H`: see Ballard et al.,
    "Reconstructing Householder vectors from Tall-Skinny QR", 2014. So the other columns of it are those of
    the unit matrix and `(q - e) @ inv(q[:n].H - 1) @ q[n:].H`.
    """
    m, n = np.shape(q)[-2:]
    first = q - np.eye(m, n, dtype=q.dtype)
    inverse = np.linalg.inv(adjoint(first[..., :n, :]))
    rest = inverse @ adjoint(q[..., n:, :])
    unit = np.broadcast_to(np.eye(m - n, dtype=q.dtype), (*np.shape(q)[:-2], m - n, m - n))
    return first, rest, np.concatenate([-rest, unit], axis=-2), first @ inverse


def completed_dq(d: Array, q: Array, n: int) -> Array:
    """The conjugate cotangent of the first columns of the orthogonal matrix `q` from that of all, `d`."""
    check_completion(q, n)
    _, rest, back, across = completion(q[..., :n])
    others = d[..., n:]
    return d[..., :n] + others @ adjoint(rest) + back @ (adjoint(others) @ across)


def completed_change(dq: Array, q: Array, n: int) -> Array:
    """The tangent of the orthogonal matrix `q` from that of its first columns."""
    check_completion(q, n)
    _, rest, back, across = completion(q[..., :n])
    return np.concatenate([dq, dq @ rest + across @ (adjoint(dq) @ back)], axis=-1)


def with_real_diagonal(x: Array) -> Array:
    """The Hermitian matrix that has the lower triangle of `x`, and the real parts of its diagonal."""
    low = np.tril(x, -1)
    diagonal = np.real(np.diagonal(x, axis1=-2, axis2=-1))
    return low + adjoint(low) + diagonal_matrices(diagonal)


def qr_dx(d: Any, a: Array, out: Any, mode: str) -> Array:
    """The cotangent of the argument of `np.linalg.qr`.

    Of a wide matrix the columns beyond the first square are q times those of r.
    """
    check_mode(mode)
    n = min(np.shape(a)[-2:])
    if mode == "complete" and np.shape(a)[-2] > n:
        dq, dr = filled(d, (out[0], out[1]))
        dq = np.conj(completed_dq(np.conj(dq), out[0], n))
        return qr_dx((dq, dr[..., :n, :]), a, (out[0][..., :n], out[1][..., :n, :]), "reduced")
    if mode == "r":
        r, dr = out, np.conj(d)
        q = adjoint(np.linalg.solve(adjoint(r[..., :n]), adjoint(a[..., :n])))
        dq = np.zeros_like(q)
    else:
        q, r = out[0], out[1]
        dq, dr = filled(d, (q, r))
        dq, dr = np.conj(dq), np.conj(dr)
    square = r[..., :n]
    dq = dq + a[..., n:] @ adjoint(dr[..., n:])
    m = square @ adjoint(dr[..., :n]) - adjoint(dq) @ q
    first = adjoint(np.linalg.solve(square, adjoint(dq + q @ with_real_diagonal(m))))
    return np.conj(np.concatenate([first, q @ dr[..., n:]], axis=-1))


def qr_tangent(dx: Array, a: Array, out: Any, mode: str) -> Any:
    """The tangent of `np.linalg.qr`, in its structure."""
    check_mode(mode)
    n = min(np.shape(a)[-2:])
    if mode == "complete" and np.shape(a)[-2] > n:
        first = type(out)(out[0][..., :n], out[1][..., :n, :])
        dq, dr = qr_tangent(dx, a, first, "reduced")
        below = np.zeros_like(out[1][..., n:, :])
        return type(out)(completed_change(dq, out[0], n), np.concatenate([dr, below], axis=-2))
    r = out if mode == "r" else out[1]
    square = r[..., :n]
    q = adjoint(np.linalg.solve(adjoint(square), adjoint(a[..., :n]))) if mode == "r" else out[0]
    c = adjoint(np.linalg.solve(adjoint(square), adjoint(dx[..., :n])))
    w = adjoint(q) @ c
    low = np.tril(w, -1)
    turn = low - adjoint(low)
    if np.iscomplexobj(w):
        turn = turn + 1j * diagonal_matrices(np.imag(np.diagonal(w, axis1=-2, axis2=-1)))
    dq = c - q @ w + q @ turn
    rest = adjoint(dq) @ a[..., n:] + adjoint(q) @ dx[..., n:]
    dr = np.concatenate([(w - turn) @ square, rest], axis=-1)
    return dr if mode == "r" else type(out)(dq, dr)


@bprop(
    np.linalg.qr,
    samples=[
        given(A(3, 3)),
        given(A(4, 2)),
        given(A(2, 4, 3)),
        given(A(2, 4)),
        given(A(4, 3), "r"),
        given(A(2, 3), mode="r"),
        given(A(3, 2, dtype="complex128")),
        given(A(2, 3, dtype="complex128")),
        given(A(4, 2), "complete"),
        given(A(2, 3, 1), "complete"),
        given(A(2, 3), "complete"),
        given(A(5, 2, dtype="complex128"), "complete"),
    ],
)
def qr(a, mode="reduced", *, out, dout):
    return (qr_dx(dout, a, out, mode),)


@qr.jvp
def qr_jvp(a, mode, out, da):
    return qr_tangent(da, a, out, mode)


# ---------------------------------------------------------------- pseudoinverses, least squares


def pinv_dx(d: Array, x: Array, out: Array) -> Array:
    """The cotangent of the argument of `np.linalg.pinv`, its rank taken as constant."""
    p, ph, d = out, adjoint(out), np.conj(d)
    dh = adjoint(d)
    left, right = (dh - x @ (p @ dh)) @ p @ ph, ph @ p @ (dh - (dh @ p) @ x)
    return np.conj(left + right - ph @ d @ ph)


def pinv_tangent(dx: Array, x: Array, out: Array) -> Array:
    """The tangent of `np.linalg.pinv`, the rank of its argument taken as constant."""
    p, ph, dh = out, adjoint(out), adjoint(dx)
    left, right = p @ ph @ (dh - (dh @ x) @ p), (dh - p @ (x @ dh)) @ ph @ p
    return left + right - p @ dx @ p


@bprop(
    np.linalg.pinv,
    samples=[
        given(A(3, 3)),
        given(A(4, 2)),
        given(A(2, 4)),
        given(A(3, 2, dtype="complex128")),
        given(A(2, 3, 2), 1e-12),
        given(A(3, 2), rtol=1e-12),
        given(symmetric(3, 3), hermitian=True),
    ],
)
def pinv(a, rcond=None, hermitian=False, *, rtol=None, out, dout):
    if hermitian:
        return (np.conj(onto_triangle(np.conj(pinv_dx(dout, from_triangle(a, "L"), out)), "L")),)
    return (pinv_dx(dout, a, out),)


@pinv.jvp
def pinv_jvp(a, hermitian, out, da):
    if hermitian:
        return pinv_tangent(from_triangle(da, "L"), from_triangle(a, "L"), out)
    return pinv_tangent(da, a, out)


def lstsq_grads(d: Any, a: Array, b: Array, out: Any) -> tuple[Array, Array]:
    """The cotangents of both arguments of `np.linalg.lstsq`, the rank of the matrix taken as constant."""
    x, sums = out[0], out[1]
    dx = np.zeros_like(x) if d[0] is None else d[0]
    columns, dcolumns = as_columns(x), as_columns(dx)
    p = np.linalg.pinv(a)
    da = pinv_dx(dcolumns @ transposed(as_columns(b)), a, p)
    db = transposed(p) @ dcolumns
    if d[1] is not None and np.size(sums) > 0:
        rest = np.conj(as_columns(b) - a @ columns) * (2 * d[1])
        da, db = da - rest @ transposed(columns), db + rest
    if d[3] is not None:
        da = da + singular_values_dx(d[3], a)
    return unbroadcast(da, a), unbroadcast(np.reshape(db, np.shape(b)), b)


def lstsq_tangent(da: Array, db: Array, a: Array, b: Array, out: Any) -> Any:
    """The tangent of `np.linalg.lstsq`, in its structure."""
    x, sums = out[0], out[1]
    p = np.linalg.pinv(a)
    columns = as_columns(x)
    dx = pinv_tangent(da, a, p) @ as_columns(b) + p @ as_columns(db)
    rest = as_columns(b) - a @ columns
    dsums = 2 * np.sum(np.real(np.conj(rest) * (as_columns(db) - da @ columns)), axis=0)
    return np.reshape(dx, np.shape(x)), dsums if np.size(sums) else sums, None, singular_values_tangent(da, a)


def as_columns(x: Array) -> Array:
    """A vector as a matrix of one column; matrices as they are."""
    return np.expand_dims(x, -1) if np.ndim(x) == 1 else x


@bprop(
    np.linalg.lstsq, runs=False,
    samples=[
        given(A(4, 2), A(4)),
        given(A(4, 2), A(4, 3)),
        given(A(2, 4), A(2)),
        given(A(3, 3), A(3), 1e-10),
        given(A(4, 2, dtype="complex128"), A(4, dtype="complex128")),
    ],
)
def lstsq(a, b, rcond=None, *, out, dout):
    da, db = lstsq_grads(dout, a, b, out)
    return da, db


@lstsq.jvp
def lstsq_jvp(a, b, out, da, db):
    return lstsq_tangent(da, db, a, b, out)


# ---------------------------------------------------------------- powers and products


def power_dx(d: Array, x: Array, n: int) -> Array:
    """The cotangent of the argument of `np.linalg.matrix_power`."""
    if n < 0:
        inverse = np.linalg.inv(x)
        return -transposed(inverse) @ power_dx(d, inverse, -n) @ transposed(inverse)
    total = np.zeros_like(x)
    xt = transposed(x)
    for k in range(n):
        total = total + np.linalg.matrix_power(xt, k) @ d @ np.linalg.matrix_power(xt, n - 1 - k)
    return total


@bprop(
    np.linalg.matrix_power, sharing="maybe",
    samples=[
        given(A(3, 3), 3),
        given(A(2, 2, 2), 2),
        given(regular(3, 3), -2),
        given(A(2, 2), 0),
        given(A(2, 2), 1),
    ],
)
def matrix_power(a, n, out, dout):
    return (power_dx(dout, a, n),)


@matrix_power.jvp
def matrix_power_jvp(a, n, out, da):
    return transposed(power_dx(transposed(da), a, n))


def chain_grads(d: Array, arrays: Any) -> Any:
    """The cotangents of the arrays of `np.linalg.multi_dot`."""
    n = len(arrays)
    first = np.atleast_2d(arrays[0])
    last = np.reshape(arrays[n - 1], (np.shape(arrays[n - 1])[0], -1))
    right = np.reshape(d, (np.shape(first)[0], np.shape(last)[1]))
    rights = []
    for k in range(n - 1, 0, -1):
        rights.append(right)
        right = right @ np.transpose(last if k == n - 1 else arrays[k])
    grads = [part_like(right, arrays[0])]
    left = np.transpose(first)
    for k in range(1, n):
        grads.append(part_like(left @ rights[n - 1 - k], arrays[k]))
        left = np.transpose(last if k == n - 1 else arrays[k]) @ left
    return regroup(grads, arrays)


@bprop(
    np.linalg.multi_dot,
    lists=True,
    samples=[
        given([A(2, 3), A(3, 4), A(4, 2)]),
        given([A(3), A(3, 2), A(2)]),
        given((A(2, 3), A(3))),
        given([[1.5, 0.3], A(2, 2)]),
    ],
)
def multi_dot(arrays, *, out, dout):
    return (chain_grads(dout, arrays),)


@multi_dot.jvp
def multi_dot_jvp(arrays, *, out, darrays):
    return chain_tangent(arrays, filled(darrays, arrays))


def chain_tangent(arrays: Any, tangents: Any) -> Array:
    """The tangent of `np.linalg.multi_dot`: one product for each array."""
    total: Any = 0.0
    for k in range(len(arrays)):
        changed = list(arrays)
        changed[k] = tangents[k]
        total = total + np.linalg.multi_dot(changed)
    return total
