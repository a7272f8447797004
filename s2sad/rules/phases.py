"""The phases of the complex vectors that LAPACK returns.

It makes a matrix tridiagonal or bidiagonal, and real, by reflections that leave the first axis (where the
upper triangle is read, the last one) alone, and goes on with real numbers: what it returns is real along that
axis. So the phases are known, and have derivatives, where it is seen to be so and no element there is zero.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import nondifferentiable

Array = Any  # any type with NumPy's protocols


def row_of(v: Array, row: int) -> Array:
    """One row of each matrix, the first or the last, as a matrix."""
    return v[..., :1, :] if row == 0 else v[..., -1:, :]


def is_fixed(v: Array, row: int) -> Array:
    """For each column of `v` whether its element in a row is real and not zero."""
    pivot, rounding = row_of(v, row), 100 * np.finfo(v.dtype).eps
    return (np.abs(np.imag(pivot)) <= rounding) & (np.abs(np.real(pivot)) > rounding)


def check_turning(turning: Array, size: Array, v: Array, row: int) -> None:
    """Refuses what depends on phases that are not known: `turning` is by how much, beside sums of `size`."""
    matters = np.abs(turning) > 1e4 * np.finfo(v.dtype).eps * size
    if np.any(matters & np.logical_not(is_fixed(v, row))):
        raise NonDifferentiableError(
            "the result depends on the phases of the vectors of a complex matrix",
            why="they are chosen by the library",
            instead="use the values, or what does not change with the phases, such as np.abs of the vectors",
        )


def unit_row(v: Array, row: int) -> Array:
    """One in the row, zero elsewhere, as a column."""
    n = np.shape(v)[-2]
    return np.expand_dims(np.arange(n) == row % n, -1).astype(v.dtype)


def pivots(v: Array, row: int) -> Array:
    """The elements of a row, which are real; one where they are not."""
    return np.where(is_fixed(v, row), np.real(row_of(v, row)), 1)


nondifferentiable([is_fixed, check_turning, unit_row])


def turning_rate(dv: Array, v: Array, row: int) -> Array:
    """By how much the phases of the columns of `v` must turn back, after the change `dv`, for their elements
    in a row to stay real.
    """
    moved = np.imag(row_of(dv, row))
    check_turning(moved, np.abs(moved), v, row)
    return moved / pivots(v, row)


def turning_share(along: Array, size: Array, v: Array, row: int) -> Array:
    """The transpose of turning back: what the cotangent of `v` loses, if `along` is the sum of its products
    with what turns.
    """
    turning = np.imag(along)
    check_turning(turning, size, v, row)
    kept = np.where(is_fixed(v, row), turning, 0)
    return 1j * unit_row(v, row) * (kept / pivots(v, row))
