# mypy: allow-untyped-defs
"""Complex numbers with another real or imaginary part, which is what `z.real = v` and `z.imag = v` make."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast
from .samples import A, given

Array = Any  # any type with NumPy's protocols

__all__ = ["with_imag", "with_real"]


def with_real(z: Array, v: Any) -> Array:
    """A copy of `z` with the real part `v`."""
    if isinstance(z, np.generic):
        return z.dtype.type(complex(v, z.imag))
    new = z.copy()
    new.real = v
    return new


def with_imag(z: Array, v: Any) -> Array:
    """A copy of `z` with the imaginary part `v`."""
    if isinstance(z, np.generic):
        return z.dtype.type(complex(z.real, v))
    new = z.copy()
    new.imag = v
    return new


Z = A(3, dtype="complex128")


@bprop(with_real, "linear", sharing="fresh",
    samples=[given(Z, A(3)), given(Z, 1.5), given(A(2, 3, dtype="complex128"), A(3))])
def with_real_(z, v, out, dout):
    return with_real(dout, 0.0), unbroadcast(np.real(dout), v)


@bprop(with_imag, "linear", sharing="fresh",
    samples=[given(Z, A(3)), given(Z, 1.5), given(A(2, 3, dtype="complex128"), A(3))])
def with_imag_(z, v, out, dout):
    return with_imag(dout, 0.0), unbroadcast(-np.imag(dout), v)
