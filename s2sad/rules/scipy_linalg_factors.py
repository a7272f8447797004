"""`scipy.linalg`: factorisations, and solves that start from one.

Conventions are those of `factorisations`: where one triangle is read, the gradient is on that triangle.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, part_like
from .eigenvalues import eigvals_dx, eigvals_tangent
from .factorisations import (
    cholesky_dx,
    cholesky_tangent,
    eigh_dx,
    eigh_tangent,
    eigvalsh_dx,
    eigvalsh_tangent,
    from_triangle,
    inverse_gaps,
    onto_triangle,
    positive,
    singular_values_dx,
    singular_values_tangent,
    svd_dx,
    svd_tangent,
)
from .inverses import qr_dx, qr_tangent
from .matrices import regular, transposed
from .samples import A, given
from .scipy_linalg import check_columns, check_matrices, check_real, outer_product, turned

Array = Any  # any type with NumPy's protocols


class Two(NamedTuple):
    """Two factors."""

    first: Any
    second: Any


class Three(NamedTuple):
    """Three factors."""

    first: Any
    second: Any
    third: Any


def named(factors: Any) -> Any:
    """The factors in a tuple with names, as NumPy returns them."""
    return Two(factors[0], factors[1]) if len(factors) == 2 else Three(factors[0], factors[1], factors[2])


def plain(factors: Any) -> tuple[Any, ...]:
    """The factors in a tuple without names, as SciPy returns them."""
    return (factors[0], factors[1]) if len(factors) == 2 else (factors[0], factors[1], factors[2])


# ---------------------------------------------------------------- Cholesky

def triangle_of(x: Array, lower: bool) -> Array:
    """The lower or the upper triangle."""
    return np.tril(x) if lower else np.triu(x)


def uplo_of(lower: bool) -> str:
    """NumPy's name of a triangle."""
    return "L" if lower else "U"


nondifferentiable([uplo_of])

POSITIVE = [given(positive(3, 3)), given(positive(3, 3), lower=True), given(1.5),
            given(positive(2, 2, dtype="complex128"))]


@bprop(linalg.cholesky, runs=True, samples=POSITIVE)
def cholesky(a, lower=False, *, check_finite=True, out, dout):
    return (unbroadcast(cholesky_dx(dout, out, not lower), a),)


@cholesky.jvp
def cholesky_jvp(lower, out, da):
    return cholesky_tangent(np.atleast_2d(da), out, not lower)


def factor_alone(factor: Any) -> Any:
    """The result of `cho_factor`, with zeros in the other triangle, which it leaves undefined."""
    return triangle_of(factor[0], factor[1]), factor[1]


@bprop(linalg.cho_factor, runs=True, samples=[*POSITIVE[:2], POSITIVE[3]], defined=factor_alone)
def cho_factor(a, lower=False, *, check_finite=True, out, dout):
    triangle, dtriangle = triangle_of(out[0], lower), triangle_of(filled(dout, out)[0], lower)
    return (unbroadcast(cholesky_dx(dtriangle, triangle, not lower), a),)


@cho_factor.jvp
def cho_factor_jvp(lower, out, da):
    return cholesky_tangent(np.atleast_2d(da), triangle_of(out[0], lower), not lower), None


def cho_solve_dc(db: Array, out: Array, factor: Any) -> Any:
    """The cotangent of what `cho_factor` returned, in a solve; `db` is that of the right-hand side."""
    c, lower = factor
    check_real(c, "cho_solve")
    check_columns(c, out)
    triangle = triangle_of(c, lower)
    da = -outer_product(db, out) - outer_product(out, db)
    return part_like(triangle_of(da @ triangle if lower else triangle @ da, lower), c), None


def cho_change(dfactor: Any, factor: Any, out: Array) -> Array:
    """The change of a system's left-hand side with what `cho_factor` returned of its matrix."""
    c, lower = factor
    check_real(c, "cho_solve")
    check_columns(c, out)
    triangle, change = triangle_of(c, lower), triangle_of(dfactor[0], lower)
    half = change @ transposed(triangle) if lower else transposed(change) @ triangle
    return (half + transposed(half)) @ out


@bprop(linalg.cho_solve, runs=True, lists=["c_and_lower"], samples=[
    given((positive(3, 3), False), A(3)), given((positive(3, 3), True), A(3, 2))])
def cho_solve(c_and_lower, b, *, check_finite=True, out, dout):
    db = linalg.cho_solve(c_and_lower, dout)
    return cho_solve_dc(db, out, c_and_lower), unbroadcast(db, b)


@cho_solve.jvp
def cho_solve_jvp(c_and_lower, out, dc_and_lower, db):
    change = cho_change(filled(dc_and_lower, c_and_lower), c_and_lower, out)
    return linalg.cho_solve(c_and_lower, db - change)


# ---------------------------------------------------------------- LU

def check_square(x: Array) -> None:
    """Refuses all but a square matrix."""
    check_matrices(x)
    if np.shape(x)[0] != np.shape(x)[1]:
        raise NonDifferentiableError("scipy.linalg's lu is differentiated for square matrices only")


nondifferentiable([check_square])


def lower_one(x: Array) -> Array:
    """The lower triangle below a diagonal of ones."""
    return np.tril(x, -1) + np.eye(np.shape(x)[-1], dtype=x.dtype)


def unpermuted_da(dlower: Array, dupper: Array, lower: Array, upper: Array) -> Array:
    """The cotangent of the product of the triangular factors."""
    check_square(lower)
    check_square(upper)
    lt, ut = transposed(lower), transposed(upper)
    inner = np.tril(lt @ dlower, -1) + np.triu(dupper @ ut)
    return np.linalg.solve(lt, transposed(np.linalg.solve(upper, transposed(inner))))


def factor_changes(da: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The changes of the triangular factors with their product."""
    check_square(lower)
    check_square(upper)
    inner = np.linalg.solve(lower, transposed(np.linalg.solve(transposed(upper), transposed(da))))
    return lower @ np.tril(inner, -1), np.triu(inner) @ upper


@bprop(linalg.lu, samples=[given(regular(3, 3)), given(A(3, 3)), given(regular(2, 2, dtype="complex128"))])
def lu(a, *, check_finite=True, out, dout):
    d = filled(dout, out)
    return (out[0] @ unpermuted_da(d[1], d[2], out[1], out[2]),)


@lu.jvp
def lu_jvp(out, da):
    changes = factor_changes(transposed(out[0]) @ da, out[1], out[2])
    return np.zeros_like(out[0]), changes[0], changes[1]


def order_of(factor: Any) -> Array:
    """The rows of a matrix in the order in which `lu_factor` took them."""
    both, pivots = factor
    check_square(both)
    order = np.arange(len(pivots))
    for i, k in enumerate(pivots):
        order[[i, k]] = order[[k, i]]
    return order


def place_of(factor: Any) -> Array:
    """Where in that order each row went."""
    return np.argsort(order_of(factor))


nondifferentiable([order_of, place_of])


@bprop(linalg.lu_factor, runs=True, samples=[given(regular(3, 3)), given(A(3, 3))])
def lu_factor(a, *, check_finite=True, out, dout):
    d, both = filled(dout, out)[0], out[0]
    return (unpermuted_da(np.tril(d, -1), np.triu(d), lower_one(both), np.triu(both))[place_of(out)],)


@lu_factor.jvp
def lu_factor_jvp(out, da):
    changes = factor_changes(da[order_of(out)], lower_one(out[0]), np.triu(out[0]))
    return changes[0] + changes[1], None


def lu_solve_dlu(db: Array, out: Array, factor: Any, trans: int) -> Any:
    """The cotangent of what `lu_factor` returned, in a solve; `db` is that of the right-hand side."""
    both = np.asarray(factor[0])
    if trans == 2:
        check_real(both, "lu_solve with trans=2")
    da = -outer_product(db, out) if trans == 0 else -outer_product(out, db)
    rows = da[order_of(factor)]
    dlower = np.tril(rows @ transposed(np.triu(both)), -1)
    return part_like(dlower + np.triu(transposed(lower_one(both)) @ rows), factor[0]), None


def lu_change(dfactor: Any, factor: Any, out: Array, trans: int) -> Array:
    """The change of a system's left-hand side with what `lu_factor` returned of its matrix."""
    both = np.asarray(factor[0])
    if trans == 2:
        check_real(both, "lu_solve with trans=2")
    change = np.asarray(dfactor[0])
    rows = np.tril(change, -1) @ np.triu(both) + lower_one(both) @ np.triu(change)
    da = rows[place_of(factor)]
    return da @ out if trans == 0 else transposed(da) @ out


FACTORED = [given((regular(3, 3), np.array([1, 2, 2])), A(3)),
            given((regular(3, 3), np.array([0, 2, 2])), A(3, 2), 1)]


@bprop(linalg.lu_solve, runs=True, lists=["lu_and_piv"], samples=FACTORED)
def lu_solve(lu_and_piv, b, trans=0, *, check_finite=True, out, dout):
    db = linalg.lu_solve(lu_and_piv, dout, turned(trans))
    return lu_solve_dlu(db, out, lu_and_piv, trans), unbroadcast(db, b)


@lu_solve.jvp
def lu_solve_jvp(lu_and_piv, trans, out, dlu_and_piv, db):
    change = lu_change(filled(dlu_and_piv, lu_and_piv), lu_and_piv, out, trans)
    return linalg.lu_solve(lu_and_piv, db - change, trans)


# ---------------------------------------------------------------- QR, eigenvalues, singular values

def qr_mode(mode: str, a: Array, out: Any) -> str:
    """NumPy's name of what was computed, if that has a derivative."""
    names = {"economic": "reduced", "full": "complete"}
    return names.get(mode, f"{mode} of scipy.linalg") if len(out) == 2 else f"{mode} of scipy.linalg"


nondifferentiable([qr_mode])


@bprop(linalg.qr, runs=True, samples=[
    given(A(3, 3)), given(A(4, 2), mode="economic"), given(A(4, 2)), given(A(2, 4))])
def qr(a, *, mode="full", check_finite=True, out, dout):
    return (qr_dx(dout, a, out, qr_mode(mode, a, out)),)


@qr.jvp
def qr_jvp(a, mode, out, da):
    changes = qr_tangent(da, a, named(out), qr_mode(mode, a, out))
    return changes[0], changes[1]


def pair_dx(d: Any, out: Any, uplo: str) -> tuple[Array, Array]:
    """The cotangents of the matrices of `eigh(a, b)`, where `a @ v = b @ v * w` and `v.T @ b @ v` is the
    identity.
    """
    w, v = out
    check_matrices(v)
    check_real(v, "eigh of two matrices")
    dw, dv = filled(d, (w, v))
    turned_dv = v.T @ dv
    inner = inverse_gaps(w, dv) * turned_dv + np.diag(dw)
    of_b = inner * w + np.diag(np.diagonal(turned_dv)) / 2
    return onto_triangle(v @ inner @ v.T, uplo), -onto_triangle(v @ of_b @ v.T, uplo)


def pair_tangent(da: Array, db: Array, out: Any, uplo: str) -> tuple[Array, Array]:
    """The tangent of `eigh(a, b)`."""
    w, v = out
    check_matrices(v)
    check_real(v, "eigh of two matrices")
    of_b = v.T @ from_triangle(db, uplo) @ v
    change = v.T @ from_triangle(da, uplo) @ v - of_b * w
    inner = inverse_gaps(w, change) * change - np.diag(np.diagonal(of_b)) / 2
    return np.diagonal(change), v @ inner


# The signs of the default driver's vectors change from one matrix to the next, those of this one seldom.
@bprop(linalg.eigh, runs=True, samples=[
    given(positive(3, 3), driver="evd"), given(positive(3, 3), lower=False, driver="evd"),
    given(positive(3, 3), eigvals_only=True), given(positive(3, 3), positive(3, 3)),
    given(positive(3, 3), positive(3, 3), lower=False),
    given(positive(3, 3), positive(3, 3), eigvals_only=True)])
def eigh(a, b=None, *, lower=True, eigvals_only=False, check_finite=True, driver=None, out, dout):
    if b is not None and eigvals_only:
        of_values = pair_dx((dout, None), (out, linalg.eigh(a, b, lower=lower)[1]), uplo_of(lower))
        return of_values[0], of_values[1]
    if b is not None:
        found = pair_dx(dout, out, uplo_of(lower))
        return found[0], found[1]
    if eigvals_only:
        return eigvalsh_dx(dout, a, uplo_of(lower)), None
    return eigh_dx(dout, out, uplo_of(lower)), None


@eigh.jvp
def eigh_jvp(a, b, lower, eigvals_only, out, da, db):
    if b is not None and eigvals_only:
        vectors = linalg.eigh(a, b, lower=lower)[1]
        return pair_tangent(filled(da, a), filled(db, b), (out, vectors), uplo_of(lower))[0]
    if b is not None:
        return pair_tangent(filled(da, a), filled(db, b), out, uplo_of(lower))
    if eigvals_only:
        return eigvalsh_tangent(da, a, uplo_of(lower))
    return plain(eigh_tangent(da, named(out), uplo_of(lower)))


@bprop(linalg.eigvalsh, runs=True, samples=[
    given(positive(3, 3)), given(positive(3, 3), lower=False), given(positive(2, 2, dtype="complex128"))])
def eigvalsh(a, *, lower=True, check_finite=True, driver=None, out, dout):
    return (eigvalsh_dx(dout, a, uplo_of(lower)),)


@eigvalsh.jvp
def eigvalsh_jvp(a, lower, out, da):
    return eigvalsh_tangent(da, a, uplo_of(lower))


def in_order(found: Array, out: Array) -> Array:
    """Where the eigenvalues `out` of two matrices are among those found."""
    places = np.argmin(np.abs(np.subtract.outer(out, found)), axis=-1)
    if not np.array_equal(np.sort(places), np.arange(len(out))) or not np.allclose(found[places], out):
        raise NonDifferentiableError(
            "the derivative of eigenvalues of two matrices that are equal, or not finite",
            why="they have none where they are equal, or where the second matrix is singular")
    return places


nondifferentiable([in_order])


def vectors_of_pair(a: Array, b: Array, out: Array) -> Array:
    """The eigenvectors of two matrices, in the order of their eigenvalues `out`."""
    w, v = np.linalg.eig(np.linalg.solve(b, a))
    return np.take(v, in_order(w, out), axis=-1)


def of_pair_dx(d: Array, a: Array, b: Array, out: Array) -> tuple[Array, Array]:
    """The cotangents of two matrices, from those of their eigenvalues `out`."""
    v = vectors_of_pair(a, b, out)
    rows = np.linalg.solve(transposed(b @ v), np.expand_dims(d, -1) * transposed(v))
    of_b = np.linalg.solve(transposed(b @ v), np.expand_dims(d * out, -1) * transposed(v))
    return unbroadcast(rows, a), unbroadcast(-of_b, b)


@bprop(linalg.eigvals, runs=True, samples=[
    given(regular(3, 3)), given(regular(3, 3, dtype="complex128")),
    given(np.array([[0.0, 1.0], [-1.0, 0.3]])), given(A(3, 3), regular(3, 3)),
    given(regular(2, 2, dtype="complex128"), regular(2, 2))])
def eigvals(a, b=None, *, check_finite=True, out, dout):
    if b is not None:
        d = of_pair_dx(dout, a, b, out)
        return d[0], d[1]
    return eigvals_dx(dout, a), None


@eigvals.jvp
def eigvals_jvp(a, b, out, da, db):
    if b is not None:
        v = vectors_of_pair(a, b, out)
        change = filled(da, a) @ v - filled(db, b) @ v * out
        return np.diagonal(np.linalg.solve(b @ v, change))
    return np.asarray(eigvals_tangent(da, a), out.dtype)


@bprop(linalg.svd, runs=True, samples=[
    given(A(3, 3)), given(A(4, 2), False), given(A(2, 4), full_matrices=False),
    given(A(3, 4), compute_uv=False)])
def svd(a, full_matrices=True, compute_uv=True, *, check_finite=True, out, dout):
    if compute_uv:
        return (svd_dx(dout, out),)
    return (singular_values_dx(dout, a),)


@svd.jvp
def svd_jvp(a, compute_uv, out, da):
    if compute_uv:
        return plain(svd_tangent(da, named(out)))
    return singular_values_tangent(da, a)


@bprop(linalg.svdvals, runs=True,
    samples=[given(A(3, 3)), given(A(2, 4)), given(A(3, 2, dtype="complex128"))])
def svdvals(a, *, check_finite=True, out, dout):
    return (singular_values_dx(dout, a),)


@svdvals.jvp
def svdvals_jvp(a, out, da):
    return singular_values_tangent(da, a)
