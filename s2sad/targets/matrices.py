"""Operations on matrices that compiled code does in loops where these are small (`numba_matrices.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["inverse", "product", "sign_and_log"]

Array = Any


def product(a: Array, b: Array) -> Array:
    """`a @ b`, of two matrices."""
    return a @ b


def inverse(a: Array) -> Array:
    """`np.linalg.inv(a)`, of one matrix."""
    return np.linalg.inv(a)


def sign_and_log(a: Array) -> tuple[float, float]:
    """`np.linalg.slogdet(a)`, of one matrix."""
    sign, log = np.linalg.slogdet(a)
    return sign, log
