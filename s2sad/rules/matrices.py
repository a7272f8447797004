"""Matrices and stacks of matrices: helpers of the rules of linear algebra."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def regular(*shape: int, dtype: str = "float64") -> Any:
    """For samples: matrices far from singular."""
    return lambda rng: (A(*shape, dtype=dtype).draw(rng) + 4 * np.eye(shape[-1])).astype(dtype)


def transposed(x: Array) -> Array:
    """Each matrix of a stack transposed."""
    return np.swapaxes(x, -1, -2)


@bprop(transposed, "linear", samples=[given(A(2, 3, 4))])
def transposed_(x, out, dout):
    return (np.swapaxes(dout, -1, -2),)


def adjoint(x: Array) -> Array:
    """Each matrix of a stack transposed and conjugated."""
    return np.conj(np.swapaxes(x, -1, -2))


def diagonal_matrices(x: Array) -> Array:
    """Rows as diagonal matrices."""
    return np.expand_dims(x, -1) * np.eye(np.shape(x)[-1], dtype=x.dtype)
