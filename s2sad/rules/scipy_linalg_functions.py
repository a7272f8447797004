"""`scipy.linalg`: functions of matrices: exponential, logarithm, square root, circular and hyperbolic
functions.

The change of f(a) along e is the upper right block of f([[a, e], [0, a]]) (Higham, "Functions of Matrices",
theorem 3.6), and its transpose is the change of f at the transpose of a.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast
from .matrices import regular, transposed
from .samples import A, given
from .scipy_linalg import as_matrices, check_matrices

Array = Any  # any type with NumPy's protocols

SMALL = [given(A(2, 3, 3)), given(A(2, 2, dtype="complex128"))]
FAR = [given(regular(2, 3, 3)), given(regular(2, 2, dtype="complex128"))]


def beside(a: Array, e: Array) -> Array:
    """The block matrix [[a, e], [0, a]]."""
    check_matrices(a, e, stacks=True)
    rows = np.concatenate([a, e], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate(rows, axis=-2)


def corner(x: Array) -> Array:
    """The upper right block of a block matrix."""
    n = np.shape(x)[-1] // 2
    return x[..., :n, n:]


# ---------------------------------------------------------------- the exponential

def expm_change(a: Array, e: Array) -> Array:
    """The change of the exponential of `a` along `e`."""
    if np.ndim(a) == 2:
        return linalg.expm_frechet(a, e, compute_expm=False)
    return corner(linalg.expm(beside(a, e)))


def expm_second_change(a: Array, e: Array, f: Array) -> Array:
    """The change of `expm_change(a, e)` with `a` along `f`; `e` and `f` may be exchanged."""
    return corner(expm_change(beside(a, e), beside(f, np.zeros_like(f))))


@bprop(linalg.expm, runs=True, samples=[*SMALL, given(A(3, 3)), given(A(2, 2, dtype="float32"))])
def expm(A, out, dout):
    return (unbroadcast(expm_change(transposed(as_matrices(A)), dout), A),)


@expm.jvp
def expm_jvp(A, out, dA):
    return unbroadcast(expm_change(A, dA), out)


@bprop(expm_change, samples=[given(A(3, 3), A(3, 3)), given(A(2, 2, 2), A(2, 2, 2))])
def expm_change_(a, e, out, dout):
    return expm_second_change(transposed(a), transposed(e), dout), expm_change(transposed(a), dout)


@expm_change_.jvp
def expm_change_jvp(a, e, out, da, de):
    return expm_second_change(a, e, da) + expm_change(a, de)


# ---------------------------------------------------------------- others

@bprop(linalg.logm, samples=FAR)
def logm(A, *, out, dout):
    return (unbroadcast(corner(linalg.logm(beside(transposed(A), dout))), A),)


@logm.jvp
def logm_jvp(A, *, out, dA):
    return unbroadcast(corner(linalg.logm(beside(A, dA))), out)


# The root s fulfils s ds + ds s = da.
@bprop(linalg.sqrtm, samples=FAR)
def sqrtm(A, *, out, dout):
    return (unbroadcast(linalg.solve_sylvester(transposed(out), transposed(out), dout), as_matrices(A)),)


@sqrtm.jvp
def sqrtm_jvp(out, dA):
    return unbroadcast(linalg.solve_sylvester(out, out, as_matrices(dA)), out)


@bprop(linalg.sinm, samples=SMALL)
def sinm(A, out, dout):
    return (unbroadcast(corner(linalg.sinm(beside(transposed(A), dout))), A),)


@sinm.jvp
def sinm_jvp(A, out, dA):
    return unbroadcast(corner(linalg.sinm(beside(A, dA))), out)


@bprop(linalg.cosm, samples=SMALL)
def cosm(A, out, dout):
    return (unbroadcast(corner(linalg.cosm(beside(transposed(A), dout))), A),)


@cosm.jvp
def cosm_jvp(A, out, dA):
    return unbroadcast(corner(linalg.cosm(beside(A, dA))), out)


@bprop(linalg.sinhm, samples=SMALL)
def sinhm(A, out, dout):
    return (unbroadcast(corner(linalg.sinhm(beside(transposed(A), dout))), A),)


@sinhm.jvp
def sinhm_jvp(A, out, dA):
    return unbroadcast(corner(linalg.sinhm(beside(A, dA))), out)


@bprop(linalg.coshm, samples=SMALL)
def coshm(A, out, dout):
    return (unbroadcast(corner(linalg.coshm(beside(transposed(A), dout))), A),)


@coshm.jvp
def coshm_jvp(A, out, dA):
    return unbroadcast(corner(linalg.coshm(beside(A, dA))), out)
