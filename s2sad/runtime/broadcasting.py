"""Adjoints of broadcast operands, from cotangents that are not broadcast themselves.

The cotangent of a sum is constant along the summed axes: it is kept with length one there, not repeated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .adjoints import broadcast_like, unbroadcast

__all__ = ["contracted", "fitted"]


def fitted(dx: Any, x: Any) -> Any:
    """The adjoint of the broadcast operand `x` from `dx`: summed over the axes where `x` has length one, and
    repeated along those where only `dx` has.

    >>> fitted(np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2))
    array([4., 6.])
    >>> fitted(np.array([[1.0], [3.0]]), np.zeros(2))
    array([4., 4.])
    """
    shape, given = np.shape(x), np.shape(dx)
    if given == shape:
        return unbroadcast(dx, x)
    given = (1,) * (len(shape) - len(given)) + given
    lead = len(given) - len(shape)
    axes = (*range(lead), *(lead + i for i, n in enumerate(shape) if n == 1 != given[lead + i]))
    summed = np.sum(np.reshape(dx, given), axis=axes, keepdims=True) if axes else dx
    left = (1 if n == 1 else k for n, k in zip(shape, given[lead:], strict=True))
    return broadcast_like(np.reshape(summed, tuple(left)), x)


def contracted(a: Any, b: Any, x: Any) -> Any:
    """`fitted(a * b, x)`; for NumPy's arrays without making the product, which may be much larger.

    >>> contracted(np.array([[1.0], [3.0]]), np.array([2.0, 4.0]), np.zeros(2))
    array([ 8., 16.])
    """
    if not type(a) is type(b) is np.ndarray:
        return fitted(a * b, x)
    shape, dtype = np.shape(x), x.dtype
    of_a, of_b, kept, lengths, lead = _axes(a.ndim, b.ndim, shape)
    found = np.einsum(a, of_a, b, of_b, kept)
    if found.shape == lengths and found.dtype == dtype and shape:
        return found.reshape(shape)
    left = dict(zip(kept, np.shape(found), strict=True))
    return broadcast_like(np.reshape(found, [left.get(lead + k, 1) for k in range(len(shape))]), x)


@lru_cache(maxsize=1024)
def _axes(a: int, b: int, shape: tuple[int, ...]) -> tuple[list[int], list[int], list[int], Any, int]:
    """The axes of two arrays with `a` and `b` axes, numbered as in their product; the axes that an adjoint of
    this shape keeps, with their lengths; and the number of its first axis.
    """
    rank = max(a, b)
    lead = rank - len(shape)
    kept = [k for k, n in enumerate(shape, lead) if n != 1 and k >= 0]
    return [*range(rank - a, rank)], [*range(rank - b, rank)], kept, tuple(n for n in shape if n != 1), lead
