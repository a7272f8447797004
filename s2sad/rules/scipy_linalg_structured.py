"""`scipy.linalg`: matrices made of vectors or of blocks, banded systems, least squares."""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast, zeros_like
from .containers import filled
from .factorisations import singular_values_dx, singular_values_tangent
from .matrices import regular
from .samples import A, given
from .scipy_linalg import check_matrices, check_real

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- matrices that repeat a vector's elements

def offsets(rows: int, columns: int) -> Array:
    """The place of each element of a Toeplitz matrix in the vector of its diagonals."""
    return np.arange(rows)[:, None] - np.arange(columns) + columns - 1


def sums(rows: int, columns: int) -> Array:
    """The place of each element of a Hankel matrix in the vector of its diagonals."""
    return np.arange(rows)[:, None] + np.arange(columns)


def turns(x: Array) -> Array:
    """The place of each element of a circulant matrix in its first column."""
    check_vector(x)
    count = len(x)
    return (np.arange(count)[:, None] - np.arange(count)) % count


nondifferentiable([offsets, sums, turns])


def collected(d: Array, places: Array, count: int) -> Array:
    """A vector in which element k is the sum of the elements of `d` at the places of k."""
    total = np.zeros_like(d, shape=count)
    np.add.at(total, places, d)
    return total


@bprop(collected, "linear", samples=[given(A(2, 3), np.array([[0, 1, 3], [1, 1, 0]]), 5)])
def collected_(x, places, count, out, dout):
    return dout[places], None, None


def check_vector(*vectors: Any) -> None:
    """Refuses stacks of vectors, which releases of SciPy treat differently."""
    if any(np.ndim(v) != 1 for v in vectors if v is not None):
        raise NonDifferentiableError("matrices of diagonals are differentiated by vectors only",
                                     instead="ravel what they are made of")


nondifferentiable([check_vector])


def toeplitz_grads(d: Array, c: Array, r: Any) -> tuple[Array, Any]:
    """The cotangents of the first column and row of a Toeplitz matrix."""
    check_vector(c, r)
    rows, columns = np.shape(d)
    lines = collected(d, offsets(rows, columns), rows + columns - 1)
    column, row = lines[columns - 1:], lines[columns - 1::-1]
    # The first element belongs to the column.
    row = row * (np.arange(columns) > 0)
    if r is None:
        return unbroadcast(column + np.conj(row), c), None
    return unbroadcast(column, c), unbroadcast(row, r)


@bprop(linalg.toeplitz, runs=True, samples=[
    given(A(3)), given(A(3), A(4)), given(A(3, dtype="complex128")), given(A(2), A(3, dtype="complex128"))])
def toeplitz(c, r=None, *, out, dout):
    d = toeplitz_grads(dout, c, r)
    return d[0], d[1]


@toeplitz.jvp
def toeplitz_jvp(r, out, dc, dr):
    if r is None:
        return linalg.toeplitz(dc)
    return linalg.toeplitz(dc, dr)


def hankel_grads(d: Array, c: Array, r: Any) -> tuple[Array, Any]:
    """The cotangents of the first column and last row of a Hankel matrix."""
    check_vector(c, r)
    rows, columns = np.shape(d)
    lines = collected(d, sums(rows, columns), rows + columns - 1)
    if r is None:
        return unbroadcast(lines[:rows], c), None
    row = lines[rows - 1:] * (np.arange(columns) > 0)
    return unbroadcast(lines[:rows], c), unbroadcast(row, r)


@bprop(linalg.hankel, samples=[given(A(3)), given(A(3), A(4))])
def hankel(c, r=None, *, out, dout):
    d = hankel_grads(dout, c, r)
    return d[0], d[1]


@hankel.jvp
def hankel_jvp(r, out, dc, dr):
    if r is None:
        return linalg.hankel(dc)
    return linalg.hankel(dc, dr)


@bprop(linalg.circulant, "linear", runs=True, samples=[given(A(4)), given(A(3, dtype="float32"))])
def circulant(x, *, out, dout):
    return (collected(dout, turns(x), len(x)),)


def blocks_like(d: Array, blocks: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the blocks of a block diagonal matrix."""
    found: list[Any] = []
    row = column = 0
    for block in blocks:
        check_matrices(np.atleast_2d(block))
        rows, columns = np.shape(np.atleast_2d(block))
        part = d[row:row + rows, column:column + columns]
        part = np.reshape(part, np.shape(block))
        found.append(None if zeros_like(block) is None else unbroadcast(part, block))
        row, column = row + rows, column + columns
    return tuple(found)


def diagonal_of(blocks: tuple[Any, ...], like: tuple[Any, ...]) -> Array:
    """The block diagonal matrix of tangents of blocks, zeros for those that have none."""
    pairs = zip(blocks, like, strict=True)
    return linalg.block_diag(*[np.zeros(np.shape(x)) if b is None else b for b, x in pairs])


@bprop(blocks_like, "linear", samples=[given(A(3, 3), (np.zeros((2, 2)), 1.0))])
def blocks_like_(x, blocks, out, dout):
    return diagonal_of(dout, blocks), None


@bprop(diagonal_of, "linear", lists=True, samples=[given((A(2, 2), A(3)), (np.zeros((2, 2)), np.zeros(3)))])
def diagonal_of_(x, like, out, dout):
    return blocks_like(dout, like), None


@bprop(linalg.block_diag, runs=True, samples=[
    given(A(2, 2), A(3), 1.5), given(A(2, 3), 2), given(A(2, 2, dtype="complex128"), A(1, 1))])
def block_diag(*arrs, out, dout):
    return (blocks_like(dout, arrs),)


@block_diag.jvp
def block_diag_jvp(*arrs, out, darrs):
    return diagonal_of(darrs, arrs)


# ---------------------------------------------------------------- banded systems

def sources(n: int, lower: int, upper: int, step: int) -> tuple[Array, Array]:
    """For the k-th diagonal in each column j the index j + step k, and whether there is such an element."""
    index = np.arange(n) + step * np.arange(-upper, lower + 1)[:, None]
    return index % n, (index >= 0) & (index < n)


nondifferentiable([sources])


def band_rows(ab: Array, lower: int, upper: int) -> Array:
    """For each diagonal its elements, by their rows; zeros where it has none."""
    index, inside = sources(np.shape(ab)[1], lower, upper, -1)
    return np.where(inside, np.take_along_axis(ab, index, 1), 0)


def band_outer(x: Array, y: Array, lower: int, upper: int) -> Array:
    """The bands of the product of columns with the transpose of columns."""
    index, inside = sources(len(x), lower, upper, 1)
    whole = x[index] * y
    return np.where(inside, whole if np.ndim(x) == 1 else np.sum(whole, axis=-1), 0)


def band_product(ab: Array, x: Array, lower: int, upper: int) -> Array:
    """The product of a banded matrix with columns."""
    check_matrices(ab)
    rows = band_rows(ab, lower, upper)
    index, _ = sources(len(x), lower, upper, -1)
    return np.sum((rows if np.ndim(x) == 1 else np.expand_dims(rows, -1)) * x[index], axis=0)


BANDS = [given((1, 1), lambda rng: A(3, 4).draw(rng) + np.array([[0.0], [6.0], [0.0]]), A(4)),
         given((0, 2), lambda rng: A(3, 4).draw(rng) + np.array([[0.0], [0.0], [8.0]]), A(4, 2)),
         given((2, 1), lambda rng: A(4, 5).draw(rng) + np.array([[0.0], [9.0], [0.0], [0.0]]), A(5))]


def transposed_solve(bands: Any, ab: Array, d: Array) -> Array:
    """The solve with the transpose of a banded matrix."""
    lower, upper = bands
    check_matrices(ab)
    return linalg.solve_banded((upper, lower), band_rows(ab, lower, upper)[::-1], d)


@bprop(linalg.solve_banded, runs=True, samples=BANDS)
def solve_banded(l_and_u, ab, b, *, check_finite=True, out, dout):
    db = transposed_solve(l_and_u, ab, dout)
    return None, unbroadcast(-band_outer(db, out, l_and_u[0], l_and_u[1]), ab), unbroadcast(db, b)


@solve_banded.jvp
def solve_banded_jvp(l_and_u, ab, out, dab, db):
    return linalg.solve_banded(l_and_u, ab, db - band_product(dab, out, l_and_u[0], l_and_u[1]))


# ---------------------------------------------------------------- least squares

def check_overdetermined(a: Array, b: Array, rank: Any) -> None:
    """Refuses systems that do not fix the solution."""
    check_matrices(a, np.atleast_2d(b))
    if rank != np.shape(a)[1]:
        raise NonDifferentiableError(
            "scipy.linalg.lstsq is differentiated for matrices of full column rank",
            why="the solution jumps where the rank changes", instead="use scipy.linalg.pinv")


nondifferentiable([check_overdetermined])


def lstsq_grads(d: Any, a: Array, b: Array, out: Any) -> tuple[Array, Array]:
    """The cotangents of a system's matrix and right-hand side."""
    check_overdetermined(a, b, out[2])
    check_real(out[0], "lstsq")
    columns = b if np.ndim(b) > 1 else np.expand_dims(b, -1)
    x = np.reshape(out[0], (np.shape(a)[1], np.shape(columns)[1]))
    rest = columns - a @ x
    z = np.linalg.solve(a.T @ a, np.reshape(d[0], np.shape(x)))
    drest = 2 * rest * d[1] if np.size(d[1]) else np.zeros_like(rest)
    db = a @ z + drest
    da = rest @ z.T - db @ x.T + singular_values_dx(d[3], a)
    return unbroadcast(da, a), unbroadcast(np.reshape(db, np.shape(b)), b)


def lstsq_change(da: Array, db: Array, a: Array, b: Array, out: Any) -> tuple[Array, Array]:
    """The tangents of the solution and of the sums of squares."""
    check_overdetermined(a, b, out[2])
    check_real(out[0], "lstsq")
    rest, change = b - a @ out[0], db - da @ out[0]
    dx = np.linalg.solve(a.T @ a, a.T @ change + da.T @ rest)
    return dx, 2 * np.sum(rest * change, axis=0) if np.size(out[1]) else np.zeros_like(out[1])


@bprop(linalg.lstsq, samples=[given(A(4, 2), A(4)), given(A(4, 2), A(4, 3)), given(regular(3, 3), A(3))])
def lstsq(a, b, *, check_finite=True, out, dout):
    d = lstsq_grads(filled(dout, out), a, b, out)
    return d[0], d[1]


@lstsq.jvp
def lstsq_jvp(a, b, out, da, db):
    changes = lstsq_change(da, db, a, b, out)
    return changes[0], changes[1], None, singular_values_tangent(da, a)
