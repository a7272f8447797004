"""`scipy.linalg`: inverses, determinants, norms, solves, matrix equations, and matrices made of vectors.

Cotangents multiply without conjugation. Options by which a function would read one triangle only, or write
into its arguments, are refused.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast, unreduce
from .inverses import pinv_dx, pinv_tangent
from .linalg import cofactors, solve_db
from .matrices import regular, transposed
from .norms import norm_dx
from .products import matmul_dx
from .reductions import or_inf
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def check_real(x: Array, what: str) -> None:
    """Refuses complex matrices where the function conjugates them."""
    if np.iscomplexobj(x):
        raise NonDifferentiableError(
            f"scipy.linalg.{what} is differentiated for real matrices only",
            why="it conjugates its argument, of which it has no complex derivative")


def check_matrices(*arrays: Any, stacks: bool = False) -> None:
    """Refuses what is not a matrix, or with `stacks` one or more, where a rule is of matrices."""
    if any(np.ndim(x) < 2 or (np.ndim(x) > 2 and not stacks) for x in arrays):
        raise NonDifferentiableError(
            "a function of scipy.linalg is differentiated for matrices only",
            why=f"it is given arrays of shapes {', '.join(str(np.shape(x)) for x in arrays)}",
            instead="call it with a matrix, for stacks in a loop")


def check_columns(a: Array, out: Array) -> None:
    """Refuses a vector as the right-hand side of each system of a stack."""
    if np.ndim(a) > 2 and np.ndim(out) < np.ndim(a):
        raise NonDifferentiableError(
            "a solve of a stack of systems is differentiated for columns only",
            why="its right-hand side is a vector", instead="write `b[:, None]`, and take `[..., 0]`")


nondifferentiable([check_real, check_matrices, check_columns])

# ---------------------------------------------------------------- norms, determinants, inverses

@bprop(linalg.norm, runs=True, samples=[
    given(A(4)), given(A(2, 3)), given(A(2, 3), axis=1), given(A(2, 3), None, 0, True),
    given(A(3, dtype="complex128")), given(A(2, 3), "fro"), given(A(4), 1), given(A(4), np.inf),
    given(A(4), 3), given(A(3, 2), 2), given(A(3, 2), "nuc")])
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True, *, out, dout):
    if ord is not None:
        return (norm_dx(dout, a, out, ord, axis, keepdims),)
    if axis is None:
        return (dout / or_inf(out) * np.conj(a),)
    return (unreduce(dout / or_inf(out), a, axis, keepdims) * np.conj(a),)


@norm.jvp
def norm_jvp(a, ord, axis, keepdims, out, da):
    if ord is None:
        return np.sum(np.real(np.conj(a) * da), axis=axis, keepdims=keepdims) / or_inf(out)
    slope = norm_dx(np.ones_like(out), a, out, ord, axis, keepdims)
    return np.sum(np.real(slope * da), axis=axis, keepdims=keepdims)


@bprop(linalg.det, runs=True, samples=[
    given(A(3, 3)), given(np.array([[1.0, 2.0], [2.0, 4.0]])), given(A(2, 2, dtype="complex128"))])
def det(a, *, check_finite=True, out, dout):
    return (np.expand_dims(dout, (-2, -1)) * cofactors(a, out),)


@det.for_ranks(2)
def det_of_matrix(a, *, check_finite=True, out, dout):
    return (dout * cofactors(a, out),)


@det.jvp
def det_jvp(a, out, da):
    return np.sum(cofactors(a, out) * da, axis=(-2, -1))


@bprop(linalg.inv, runs=True, samples=[given(regular(3, 3)), given(regular(2, 2, dtype="complex128"))])
def inv(a, *, check_finite=True, out, dout):
    return (-transposed(out) @ dout @ transposed(out),)


@inv.jvp
def inv_jvp(out, da):
    return -out @ da @ out


@bprop(linalg.pinv, samples=[
    given(A(3, 3)), given(A(4, 2)), given(A(2, 4)), given(A(3, 2, dtype="complex128"))])
def pinv(a, *, check_finite=True, out, dout):
    return (pinv_dx(dout, a, out),)


@pinv.jvp
def pinv_jvp(a, out, da):
    return pinv_tangent(da, a, out)


# ---------------------------------------------------------------- solves

@bprop(linalg.solve, runs=True, samples=[
    given(regular(3, 3), A(3)), given(regular(3, 3), A(3, 2)), given(regular(2, 2, dtype="complex128"), A(2)),
    given(regular(2, 2, dtype="float32"), A(2))])
def solve(a, b, *, check_finite=True, out, dout):
    db = solve_db(dout, a, b)
    if np.ndim(b) == 1:
        return unbroadcast(-np.expand_dims(db, -1) * np.expand_dims(out, -2), a), unbroadcast(db, b)
    return matmul_dx(-db, out, a), unbroadcast(db, b)


@solve.for_ranks(2, 1)
def solve_vector(a, b, *, check_finite=True, out, dout):
    db = linalg.solve(a.T, dout)
    return -np.outer(db, out), db


@solve.for_ranks(2, 2)
def solve_matrix(a, b, *, check_finite=True, out, dout):
    db = linalg.solve(a.T, dout)
    return -db @ out.T, db


@solve.jvp
def solve_jvp(a, out, da, db):
    return linalg.solve(a, db - da @ out)


def turned(trans: Any) -> int:
    """The option `trans` of the solve that the transpose of a triangular solve is."""
    return 1 if trans in (0, "N") else 0


nondifferentiable([turned])


def on_triangle(x: Array, lower: bool, unit_diagonal: bool) -> Array:
    """The part of a matrix that a triangular solve reads."""
    if lower:
        return np.tril(x, -1 if unit_diagonal else 0)
    return np.triu(x, 1 if unit_diagonal else 0)


def outer_product(x: Array, y: Array) -> Array:
    """The product of columns with the transpose of columns."""
    return np.outer(x, y) if np.ndim(x) == 1 else x @ transposed(y)


def triangular_da(db: Array, out: Array, a: Array, trans: Any, lower: bool, unit_diagonal: bool) -> Array:
    """The cotangent of the matrix of a triangular solve; `db` is that of the right-hand side."""
    check_columns(a, out)
    if trans in (2, "C"):
        check_real(a, "solve_triangular with trans=2")
    whole = outer_product(db, out) if trans in (0, "N") else outer_product(out, db)
    return unbroadcast(on_triangle(-whole, lower, unit_diagonal), a)


@bprop(linalg.solve_triangular, runs=True, samples=[
    given(regular(3, 3), A(3)), given(regular(3, 3), A(3, 2), lower=True),
    given(regular(3, 3), A(3), trans=1), given(regular(3, 3), A(3), "T", True, True),
    given(regular(2, 2, dtype="complex128"), A(2, 1)),
    given(regular(3, 3), A(3), 2)])
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True, out, dout):
    db = linalg.solve_triangular(a, dout, turned(trans), lower, unit_diagonal)
    return triangular_da(db, out, a, trans, lower, unit_diagonal), unbroadcast(db, b)


@solve_triangular.jvp
def solve_triangular_jvp(a, trans, lower, unit_diagonal, out, da, db):
    change = db - triangular_change(da, a, out, trans, lower, unit_diagonal)
    return linalg.solve_triangular(a, change, trans, lower, unit_diagonal)


def triangular_change(da: Array, a: Array, out: Array, trans: Any, lower: bool, unit_diagonal: bool) -> Array:
    """The change of a triangular system's left-hand side with its matrix."""
    check_columns(a, out)
    if trans in (2, "C"):
        check_real(a, "solve_triangular with trans=2")
    read = on_triangle(da, lower, unit_diagonal)
    return read @ out if trans in (0, "N") else transposed(read) @ out


# ---------------------------------------------------------------- matrix equations

SYLVESTER = [
    given(regular(3, 3), regular(2, 2), A(3, 2)), given(regular(2, 3, 3), regular(2, 2), A(3, 2)),
    given(regular(2, 2, dtype="complex128"), np.array([[4.0, 1.0], [0.5, 3.0]]), A(2, 2))]
LYAPUNOV = [given(regular(3, 3), A(3, 3)), given(regular(2, 3, 3), A(3, 3))]


def as_matrices(q: Array) -> Array:
    """Matrices; refuses a number, which stands for that times the identity."""
    check_matrices(q, stacks=True)
    return q


@bprop(linalg.solve_sylvester, samples=SYLVESTER)
def solve_sylvester(a, b, q, out, dout):
    dq = linalg.solve_sylvester(transposed(a), transposed(b), dout)
    da, db = -dq @ transposed(out), -transposed(out) @ dq
    return unbroadcast(da, a), unbroadcast(db, b), unbroadcast(dq, as_matrices(q))


@solve_sylvester.jvp
def solve_sylvester_jvp(a, b, out, da, db, dq):
    return linalg.solve_sylvester(a, b, as_matrices(dq) - da @ out - out @ db)


def real_transpose(a: Array) -> Array:
    """The transpose of a matrix, for equations that hold its conjugate transpose: refuses complex ones."""
    check_matrices(a, stacks=True)
    check_real(a, "solve_continuous_lyapunov and solve_discrete_lyapunov")
    return transposed(a)


@bprop(linalg.solve_continuous_lyapunov, samples=LYAPUNOV)
def solve_continuous_lyapunov(a, q, out, dout):
    dq = linalg.solve_continuous_lyapunov(real_transpose(a), dout)
    da = -dq @ transposed(out) - transposed(dq) @ out
    return unbroadcast(da, a), unbroadcast(dq, as_matrices(q))


@solve_continuous_lyapunov.jvp
def solve_continuous_lyapunov_jvp(a, out, da, dq):
    change = as_matrices(dq) - da @ out - out @ real_transpose(da)
    return linalg.solve_continuous_lyapunov(a, change)


@bprop(linalg.solve_discrete_lyapunov, samples=[given(A(3, 3, low=-0.3, high=0.3), A(3, 3))])
def solve_discrete_lyapunov(a, q, *, out, dout):
    dq = linalg.solve_discrete_lyapunov(real_transpose(a), dout)
    da = dq @ a @ transposed(out) + transposed(dq) @ a @ out
    return unbroadcast(da, a), unbroadcast(dq, as_matrices(q))


@solve_discrete_lyapunov.jvp
def solve_discrete_lyapunov_jvp(a, out, da, dq):
    change = as_matrices(da) @ out @ real_transpose(a) + a @ out @ real_transpose(da)
    return linalg.solve_discrete_lyapunov(a, as_matrices(dq) + change)
