"""Products, inverses and determinants of matrices: loops where they are small, as a library would take
longer to be called. Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from ..rules.linalg import slogdet_dx
from ..rules.products import matmul_dx, matmul_dy
from ..runtime.adjoints import unbroadcast
from .matrices import inverse, product, sign_and_log

__all__ = ["MATRICES"]

FEW = 512  # products of numbers
SMALL = 8  # rows


def are_matrices(*found: Any) -> bool:
    return all(isinstance(t, types.Array) and t.ndim == 2 and t.dtype == types.float64 for t in found)


@overload(product)  # type: ignore[untyped-decorator]
def product_(a: Any, b: Any) -> Callable[..., Any] | None:
    if not all(is_array(t) and t.ndim == 2 for t in (a, b)):
        return None
    dtype = np.result_type(str(a.dtype), str(b.dtype))

    is_mixed = a.dtype != b.dtype

    def of_matrices(a: Any, b: Any) -> Any:
        n, m, p = a.shape[0], a.shape[1], b.shape[1]
        if n * m * p > FEW or m != b.shape[0]:
            return np.dot(a.astype(dtype), b.astype(dtype)) if is_mixed else np.dot(a, b)
        out = np.zeros((n, p), dtype)
        for i in range(n):
            for k in range(m):
                for j in range(p):
                    out[i, j] += a[i, k] * b[k, j]
        return out

    return of_matrices


def is_array(t: Any) -> bool:
    """Whether the type is that of arrays of floats or complex numbers."""
    return isinstance(t, types.Array) and isinstance(t.dtype, (types.Float, types.Complex))


@overload(matmul_dx, strict=False)  # type: ignore[untyped-decorator]
def matmul_dx_(d: Any, y: Any, x: Any) -> Callable[..., Any] | None:
    ranks = ranks_of(x, y)
    if ranks == (2, 2):
        return lambda d, y, x: unbroadcast(product(d, y.T), x)
    if ranks == (1, 2):
        return lambda d, y, x: unbroadcast(product(np.expand_dims(d, 0), y.T)[0], x)
    if ranks == (2, 1):
        return lambda d, y, x: unbroadcast(np.expand_dims(d, 1) * y, x)
    return (lambda d, y, x: unbroadcast(d * y, x)) if ranks else None


@overload(matmul_dy, strict=False)  # type: ignore[untyped-decorator]
def matmul_dy_(d: Any, x: Any, y: Any) -> Callable[..., Any] | None:
    ranks = ranks_of(x, y)
    if ranks == (2, 2):
        return lambda d, x, y: unbroadcast(product(x.T, d), y)
    if ranks == (2, 1):
        return lambda d, x, y: unbroadcast(product(x.T, np.expand_dims(d, 1))[:, 0], y)
    if ranks == (1, 2):
        return lambda d, x, y: unbroadcast(np.expand_dims(d, 0) * np.expand_dims(x, 1), y)
    return (lambda d, x, y: unbroadcast(d * x, y)) if ranks else None


def ranks_of(x: Any, y: Any) -> tuple[int, ...]:
    """The ranks of two vectors or matrices; nothing for others."""
    are_small = is_array(x) and is_array(y) and {x.ndim, y.ndim} <= {1, 2}
    return (x.ndim, y.ndim) if are_small else ()


@register_jitable  # type: ignore[untyped-decorator]
def factored(a: Any, right: Any) -> float:
    """Makes `a` upper triangular by rows that are exchanged and subtracted, which it does to `right` as well;
    returns the sign of the permutation, and 0 for a singular matrix.
    """
    n, sign = a.shape[0], 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if a[pivot, k] == 0.0:
            return 0.0
        if pivot != k:
            sign = -sign
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            for j in range(right.shape[1]):
                right[k, j], right[pivot, j] = right[pivot, j], right[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
            for j in range(right.shape[1]):
                right[i, j] -= factor * right[k, j]
    return sign


@register_jitable  # type: ignore[untyped-decorator]
def small_inverse(a: Any) -> Any:
    n = a.shape[0]
    upper, out = a.copy(), np.eye(n)
    if factored(upper, out) == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    for k in range(n - 1, -1, -1):
        for j in range(n):
            for i in range(k + 1, n):
                out[k, j] -= upper[k, i] * out[i, j]
            out[k, j] /= upper[k, k]
    return out


@overload(inverse)  # type: ignore[untyped-decorator]
def inverse_(a: Any) -> Callable[..., Any] | None:
    if not are_matrices(a):
        return None

    def of_matrix(a: Any) -> Any:
        return small_inverse(a) if a.shape[0] == a.shape[1] <= SMALL else np.linalg.inv(a)

    return of_matrix


@overload(sign_and_log)  # type: ignore[untyped-decorator]
def sign_and_log_(a: Any) -> Callable[..., Any] | None:
    if not are_matrices(a):
        return None

    def of_matrix(a: Any) -> Any:
        if not a.shape[0] == a.shape[1] <= SMALL:
            return np.linalg.slogdet(a)
        upper, log = a.copy(), 0.0
        sign = factored(upper, np.empty((0, 0)))
        if sign == 0.0:
            return 0.0, -np.inf
        for k in range(a.shape[0]):
            sign = -sign if upper[k, k] < 0.0 else sign
            log += np.log(abs(upper[k, k]))
        return sign, log

    return of_matrix


@overload(slogdet_dx)  # type: ignore[untyped-decorator]
def slogdet_dx_(d: Any, x: Any, out: Any) -> Callable[..., Any] | None:
    if not are_matrices(x) or not isinstance(d[1], types.Float):
        return None

    def of_matrix(d: Any, x: Any, out: Any) -> Any:
        found, scale = inverse(x), d[1]
        dx = np.empty_like(found)
        for i in range(dx.shape[0]):
            for j in range(dx.shape[1]):
                dx[i, j] = scale * found[j, i]
        return dx

    return of_matrix


MATRICES = {product, inverse, sign_and_log, slogdet_dx, matmul_dx, matmul_dy}
