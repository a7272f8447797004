"""Eigenvalues and eigenvectors of general matrices.

The vectors are of length 1 and their largest element is real, as LAPACK promises: so they have derivatives
where the eigenvalues are distinct. Cotangents multiply without conjugation.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled
from .factorisations import inverse_gaps
from .matrices import diagonal_matrices, regular, transposed
from .samples import A, given

Array = Any  # any type with NumPy's protocols

MATRICES = [
    given(np.array([[2.0, 1.0], [0.5, -1.0]])),
    given(np.array([[0.0, 1.0], [-2.0, 0.3]])),
    given(regular(3, 3, dtype="complex128")),
    given(np.array([[2.0, 0.3, -0.5], [0.5, -1.0, 0.2], [0.4, 1.1, 0.6]])),
    given(A(2, 3, 3, dtype="complex128")),
]


@bprop(np.linalg.eigvals, runs=False, samples=MATRICES)
def eigvals(a, out, dout):
    return (eigvals_dx(dout, a),)


@eigvals.jvp
def eigvals_jvp(a, out, da):
    return eigvals_tangent(da, a)


def eigvals_dx(d: Array, x: Array) -> Array:
    """The cotangent of the argument of `np.linalg.eigvals`."""
    v = np.linalg.eig(x)[1]
    return unbroadcast(np.linalg.solve(transposed(v), np.expand_dims(d, -1) * transposed(v)), x)


def eigvals_tangent(dx: Array, x: Array) -> Array:
    """The tangent of `np.linalg.eigvals`."""
    v = np.linalg.eig(x)[1]
    return np.diagonal(np.linalg.solve(v, dx @ v), axis1=-2, axis2=-1)


@bprop(np.linalg.eig, runs=False, samples=MATRICES)
def eig(a, out, dout):
    return (eig_dx(dout, a, out),)


@eig.jvp
def eig_jvp(out, da):
    return eig_tangent(da, out)


def largest_elements(v: Array) -> Array:
    """One at the element of each column that was made real, the largest, else zero."""
    place = np.argmax(np.where(np.imag(v) == 0, np.abs(v), 0), axis=-2)
    return (np.expand_dims(np.arange(np.shape(v)[-2]), -1) == np.expand_dims(place, -2)).astype(v.dtype)


nondifferentiable([largest_elements])


def eig_tangent(dx: Array, out: Any) -> Any:
    """The tangent of `np.linalg.eig`: with m = inv(v) dx v, that of v is v (m / gaps) but for its lengths and
    phases, which stay.
    """
    w, v = out
    inner = np.linalg.solve(v, dx @ v)
    turned = v @ (inverse_gaps(w, dx) * inner)
    growth = np.real(np.sum(np.conj(v) * turned, axis=-2, keepdims=True))
    dv = turned - growth * v
    if np.iscomplexobj(v):
        largest = largest_elements(v)
        phase = np.imag(np.sum(largest * turned, axis=-2, keepdims=True))
        dv = dv - 1j * phase / np.real(np.sum(largest * v, axis=-2, keepdims=True)) * v
    return type(out)(np.diagonal(inner, axis1=-2, axis2=-1), dv)


def eig_dx(d: Any, x: Array, out: Any) -> Array:
    """The cotangent of the argument of `np.linalg.eig`, the transpose of `eig_tangent`."""
    w, v = out
    dw, dv = filled(d, (w, v))
    along = np.sum(dv * v, axis=-2, keepdims=True)
    turned = dv - np.conj(v) * np.real(along)
    if np.iscomplexobj(v):
        largest = largest_elements(v)
        turned = turned - 1j * largest * np.imag(along) / np.real(np.sum(largest * v, axis=-2, keepdims=True))
    inner = inverse_gaps(w, dv) * (transposed(v) @ turned) + diagonal_matrices(dw)
    return unbroadcast(np.linalg.solve(transposed(v), inner @ transposed(v)), x)
