"""Factorisations of matrices, and functions of them: cholesky, eigh, svd, qr, pinv, powers.

`np.linalg.cholesky`, `eigh` and `eigvalsh` read one triangle of their argument only, and that is where their
gradients are: what lies in the other triangle is zero. Where matrices are built symmetric this is the same as
any other convention. The phases of vectors of complex matrices are the library's choice: `eigh` of such is
differentiated backwards, if what is done with the vectors does not depend on these, and `svd` for its values.
Vectors that belong to equal eigenvalues are refused. Cotangents here multiply without conjugation; the
textbook formulas, which conjugate, are entered and left by `np.conj`.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from .containers import filled
from .matrices import adjoint, diagonal_matrices, transposed
from .phases import turning_rate, turning_share
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def is_lower(uplo: Any) -> bool:
    """Whether a letter stands for the lower triangle."""
    return uplo in ("L", "l")


nondifferentiable([is_lower])


def onto_triangle(s: Array, uplo: Any) -> Array:
    """The cotangent of the triangle that is read, from the cotangent `s` of the whole Hermitian matrix."""
    both = s + adjoint(s)
    triangle = np.tril(both) if is_lower(uplo) else np.triu(both)
    return triangle * (1 - np.eye(np.shape(s)[-1], dtype=s.dtype) / 2)


def from_triangle(da: Array, uplo: Any) -> Array:
    """The tangent of a Hermitian matrix, from the one triangle that is read."""
    triangle = np.tril(da) if is_lower(uplo) else np.triu(da)
    half = triangle * (1 - np.eye(np.shape(da)[-1], dtype=da.dtype) / 2)
    return half + adjoint(half)


def half_lower(x: Array) -> Array:
    """The lower triangle, with half the diagonal."""
    return np.tril(x) * (1 - np.eye(np.shape(x)[-1], dtype=x.dtype) / 2)


def positive(*shape: int, dtype: str = "float64") -> Any:
    """For samples: positive definite matrices."""

    def draw(rng: np.random.Generator) -> Array:
        x = A(*shape, dtype=dtype).draw(rng)
        return (np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + np.eye(shape[-1])).astype(dtype)

    return draw


def symmetric(*shape: int, dtype: str = "float64") -> Any:
    """For samples: Hermitian matrices."""

    def draw(rng: np.random.Generator) -> Array:
        x = A(*shape, dtype=dtype).draw(rng)
        return (x + np.conj(np.swapaxes(x, -1, -2))).astype(dtype)

    return draw


# ---------------------------------------------------------------- Cholesky


def cholesky_dx(d: Array, out: Array, upper: bool) -> Array:
    """The cotangent of the argument of `np.linalg.cholesky`."""
    lower = adjoint(out) if upper else out
    d = transposed(d) if upper else np.conj(d)
    inner = half_lower(adjoint(lower) @ d)
    left = np.linalg.solve(adjoint(lower), inner)
    s = adjoint(np.linalg.solve(adjoint(lower), adjoint(left)))
    return np.conj(onto_triangle(s, "U" if upper else "L"))


def cholesky_tangent(dx: Array, out: Array, upper: bool) -> Array:
    """The tangent of `np.linalg.cholesky`."""
    lower = adjoint(out) if upper else out
    left = np.linalg.solve(lower, from_triangle(dx, "U" if upper else "L"))
    dout = lower @ half_lower(adjoint(np.linalg.solve(lower, adjoint(left))))
    return adjoint(dout) if upper else dout


@bprop(
    np.linalg.cholesky,
    samples=[
        given(positive(3, 3)),
        given(positive(2, 3, 3)),
        given(positive(3, 3, dtype="complex128")),
        given(positive(3, 3), upper=True),
    ],
)
def cholesky(x, *, upper=False, out, dout):
    return (cholesky_dx(dout, out, upper),)


@cholesky.jvp
def cholesky_jvp(upper, out, dx):
    return cholesky_tangent(dx, out, upper)


# ---------------------------------------------------------------- eigenvalues


def inverse_gaps(w: Array, needed: Any) -> Array:
    """`1 / (w[j] - w[i])` at row i, column j, and zero where they are equal, which is refused if `needed` is
    not all zero.
    """
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    same = gaps == 0
    if np.any(needed != 0) and np.any(same & np.logical_not(np.eye(np.shape(w)[-1], dtype=bool))):
        raise NonDifferentiableError(
            "the vectors of a matrix with equal eigenvalues or singular values have no derivative",
            why="any rotation of them among each other is as good",
            instead="use the values only, or what does not depend on the choice of vectors",
        )
    return np.where(same, 0, 1 / np.where(same, 1, gaps))


def real_row(uplo: Any) -> int:
    """The row in which the vectors of a complex matrix are real, by the triangle that is read."""
    return 0 if is_lower(uplo) else -1


def eigh_dx(d: Any, out: Any, uplo: Any) -> Array:
    """The cotangent of the argument of `np.linalg.eigh`."""
    w, v = out
    dw, dv = filled(d, (w, v))
    if np.iscomplexobj(v):
        along = np.sum(dv * v, axis=-2, keepdims=True)
        size = np.sum(np.abs(dv * v), axis=-2, keepdims=True)
        dv = dv - turning_share(along, size, v, real_row(uplo))
    inner = inverse_gaps(w, dv) * (adjoint(v) @ np.conj(dv)) + diagonal_matrices(dw)
    return np.conj(onto_triangle(v @ inner @ adjoint(v), uplo))


def eigh_tangent(dx: Array, out: Any, uplo: Any) -> Any:
    """The tangent of `np.linalg.eigh`, in its structure."""
    w, v = out
    inner = adjoint(v) @ from_triangle(dx, uplo) @ v
    dw, dv = np.diagonal(inner, axis1=-2, axis2=-1), v @ (inverse_gaps(w, dx) * inner)
    if np.iscomplexobj(v):
        return type(out)(np.real(dw), dv - 1j * turning_rate(dv, v, real_row(uplo)) * v)
    return type(out)(dw, dv)


@bprop(
    np.linalg.eigh,
    samples=[
        given(positive(3, 3)),
        given(positive(2, 3, 3)),
        given(positive(3, 3), "U"),
        given(positive(3, 3), "l"),
        given(positive(3, 3, dtype="complex128")),
        given(positive(2, 3, 3, dtype="complex128"), "U"),
    ],
)
def eigh(a, UPLO="L", *, out, dout):
    return (eigh_dx(dout, out, UPLO),)


@eigh.jvp
def eigh_jvp(UPLO, out, da):
    return eigh_tangent(da, out, UPLO)


def eigvalsh_dx(d: Array, x: Array, uplo: Any) -> Array:
    """The cotangent of the argument of `np.linalg.eigvalsh`."""
    v = np.linalg.eigh(x, uplo)[1]
    return np.conj(onto_triangle((v * np.expand_dims(d, -2)) @ adjoint(v), uplo))


@bprop(
    np.linalg.eigvalsh,
    samples=[given(positive(3, 3)), given(positive(2, 3, 3), "U"), given(positive(3, 3, dtype="complex128"))],
)
def eigvalsh(a, UPLO="L", *, out, dout):
    return (eigvalsh_dx(dout, a, UPLO),)


@eigvalsh.jvp
def eigvalsh_jvp(a, UPLO, out, da):
    return eigvalsh_tangent(da, a, UPLO)


def eigvalsh_tangent(dx: Array, x: Array, uplo: Any) -> Array:
    """The tangent of `np.linalg.eigvalsh`."""
    v = np.linalg.eigh(x, uplo)[1]
    return np.real(np.sum(np.conj(v) * (from_triangle(dx, uplo) @ v), axis=-2))


# ---------------------------------------------------------------- singular values


def check_thin(out: Any) -> None:
    """Refuses vectors that belong to no singular value."""
    if np.shape(out[0])[-1] != np.shape(out[2])[-2]:
        raise NonDifferentiableError(
            "np.linalg.svd of a matrix that is not square returns vectors that have no derivative",
            why="those beyond the singular values are any basis of the rest",
            instead="pass full_matrices=False",
        )


def check_unused(d: Array, out: Any) -> None:
    """Refuses cotangents `d` of vectors that belong to no singular value, unless they are zero."""
    if np.any(d != 0):
        check_thin(out)


nondifferentiable([check_thin, check_unused])


def skew(x: Array) -> Array:
    """Each matrix less its adjoint."""
    return x - adjoint(x)


def phases_dx(du: Array, dv: Array, u: Array, v: Array) -> tuple[Array, Array]:
    """The conjugate cotangents of singular vectors, which turn together, less what turning takes part in
    them: the first elements of `v`, or of `u` if there are more of `v`, stay real.
    """
    along = np.sum(np.conj(du) * u, axis=-2, keepdims=True) + np.sum(np.conj(dv) * v, axis=-2, keepdims=True)
    size = np.sum(np.abs(du * u), axis=-2, keepdims=True) + np.sum(np.abs(dv * v), axis=-2, keepdims=True)
    if np.shape(u)[-2] >= np.shape(v)[-2]:
        return du, dv - np.conj(turning_share(along, size, v, 0))
    return du - np.conj(turning_share(along, size, u, 0)), dv


def phases_change(du: Array, dv: Array, u: Array, v: Array) -> Array:
    """By how much singular vectors turn together after the changes `du` and `dv`."""
    if np.shape(u)[-2] >= np.shape(v)[-2]:
        return 1j * turning_rate(dv, v, 0)
    return 1j * turning_rate(du, u, 0)


def svd_dx(d: Any, out: Any) -> Array:
    """The cotangent of the argument of `np.linalg.svd`.

    For complex matrices: Wan and Zhang, "Automatic differentiation for complex valued SVD", arXiv:1909.02659.
    """
    k = np.shape(out[1])[-1]
    du, ds, dvh = filled(d, (out[0], out[1], out[2]))
    check_unused(du[..., k:], out)
    check_unused(dvh[..., k:, :], out)
    u, s, vh = out[0][..., :k], out[1], out[2][..., :k, :]
    ut, v = adjoint(u), adjoint(vh)
    du, dv = np.conj(du[..., :k]), transposed(dvh[..., :k, :])
    if np.iscomplexobj(u):
        du, dv = phases_dx(du, dv, u, v)
        ds = ds + 1j * np.imag(np.sum(np.conj(u) * du, axis=-2)) / s
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    gaps = inverse_gaps(s * s, np.concatenate([du, dv], axis=-2))
    inner = gaps * skew(ut @ du) * row + column * (gaps * skew(vh @ dv)) + diagonal_matrices(ds)
    dx = u @ inner @ vh
    if np.shape(u)[-2] > np.shape(s)[-1]:
        dx = dx + ((du - u @ (ut @ du)) / row) @ vh
    if np.shape(vh)[-1] > np.shape(s)[-1]:
        dx = dx + u @ adjoint((dv - v @ (vh @ dv)) / row)
    return np.conj(dx)


def svd_tangent(dx: Array, out: Any) -> Any:
    """The tangent of `np.linalg.svd`, in its structure."""
    check_thin(out)
    u, s, vh = out
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    gaps = inverse_gaps(s * s, dx)
    ut, v = adjoint(u), adjoint(vh)
    inner = ut @ dx @ v
    du = u @ (gaps * (inner * row + column * adjoint(inner)))
    dv = v @ (gaps * (column * inner + adjoint(inner) * row))
    if np.shape(u)[-2] > np.shape(s)[-1]:
        du = du + (dx @ v - u @ inner) / row
    if np.shape(vh)[-1] > np.shape(s)[-1]:
        dv = dv + (adjoint(dx) @ u - v @ adjoint(inner)) / row
    ds = np.diagonal(inner, axis1=-2, axis2=-1)
    if np.iscomplexobj(u):
        du = du + 1j * np.expand_dims(np.imag(ds) / s, -2) * u
        turn = phases_change(du, dv, u, v)
        return type(out)(du - turn * u, np.real(ds), adjoint(dv - turn * v))
    return type(out)(du, ds, adjoint(dv))


def singular_values_dx(d: Array, x: Array) -> Array:
    """The cotangent of the argument of `np.linalg.svd` from that of the singular values alone."""
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.conj((u * np.expand_dims(d, -2)) @ vh)


def singular_values_tangent(dx: Array, x: Array) -> Array:
    """The tangent of the singular values of `x`."""
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return np.real(np.sum(np.conj(u) * (dx @ adjoint(vh)), axis=-2))


@bprop(
    np.linalg.svd,
    samples=[
        given(A(3, 3)),
        given(A(4, 2), False),
        given(A(2, 4), full_matrices=False),
        given(A(2, 3, 2), False),
        given(A(3, 4), compute_uv=False),
        given(A(3, 2, dtype="complex128"), compute_uv=False),
        given(A(3, 3, dtype="complex128")),
        given(A(2, 4, 2, dtype="complex128"), False),
        given(A(2, 3, dtype="complex128"), False),
        given(symmetric(3, 3, dtype="complex128"), hermitian=True),
        given(positive(3, 3), hermitian=True),
        given(symmetric(3, 3), True, False, True),
        given(symmetric(2, 2, dtype="complex128"), compute_uv=False, hermitian=True),
    ],
)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, out, dout):
    if hermitian:
        return (hermitian_svd_dx(dout, a, out, compute_uv),)
    if compute_uv:
        return (svd_dx(dout, out),)
    return (singular_values_dx(dout, a),)


@svd.jvp
def svd_jvp(a, compute_uv, hermitian, out, da):
    if hermitian:
        return hermitian_svd_tangent(from_triangle(da, "L"), from_triangle(a, "L"), out, compute_uv)
    if compute_uv:
        return svd_tangent(da, out)
    return singular_values_tangent(da, a)


def hermitian_svd_dx(d: Any, a: Array, out: Any, compute_uv: bool) -> Array:
    """The cotangent of the argument of `np.linalg.svd` where only its lower triangle is read."""
    whole = svd_dx(d, out) if compute_uv else singular_values_dx(d, from_triangle(a, "L"))
    return np.conj(onto_triangle(np.conj(whole), "L"))


def hermitian_svd_tangent(da: Array, a: Array, out: Any, compute_uv: bool) -> Any:
    """The tangent of `np.linalg.svd` for Hermitian matrices."""
    return svd_tangent(da, out) if compute_uv else singular_values_tangent(da, a)


@bprop(np.linalg.svdvals, samples=[given(A(3, 3)), given(A(2, 4, 2))])
def svdvals(x, out, dout):
    return (singular_values_dx(dout, x),)


@svdvals.jvp
def svdvals_jvp(x, out, dx):
    return singular_values_tangent(dx, x)
