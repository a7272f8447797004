"""`scipy.sparse`: products of sparse arrays and matrices, which are constants, with dense arrays; solves.

`A @ x` has the rule of all products, in `products`. What would give the elements of a sparse array a
derivative is refused where the array is made; so here they have none. Of what is not known to be a sparse
array it is not known where it was made: that is refused here.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import copyreg
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def scattered(rows: int, columns: int) -> Any:
    """For samples: a sparse array, with a diagonal that keeps it from being singular."""
    def draw(rng: np.random.Generator) -> Any:
        dense = A(rows, columns).draw(rng)
        return sparse.csc_array(np.where(dense > 0, dense, 0) + 3 * np.eye(rows, columns))
    return draw


CLASSES = [getattr(sparse, f"{name}_{kind}") for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
           for kind in ("array", "matrix")]
DOTS = list(dict.fromkeys(c.dot for c in CLASSES))


def product(a: Any, x: Any) -> Any:
    """The product of a sparse array with a dense one."""
    return a @ x


@bprop(product, refused=["a"],
    samples=[given(scattered(4, 3), A(3)), given(scattered(4, 3), A(3, 2))])
def product_(a, x, out, dout):
    return None, unbroadcast(a.T @ dout, x)


@product_.jvp
def product_jvp(a, out, dx):
    return product(a, dx)


@bprop(*DOTS, sharing="unknown", refused=["a"],
    samples=[given(scattered(4, 3), A(3)), given(scattered(4, 3), A(3, 2))])
def dot(a, x, *, out, dout):
    return None, unbroadcast(product(a.T, dout), x)


@dot.jvp
def dot_jvp(a, out, dx):
    return product(a, dx)


def transposed_solve(A: Any, d: Array) -> Array:
    """The solution of the system with the transpose."""
    return linalg.spsolve(A.T.tocsc(), d)


@bprop(linalg.spsolve, sharing="unknown", refused=["A"],
    samples=[given(scattered(3, 3), A(3)), given(scattered(3, 3), A(3, 2))])
def spsolve(A, b, *, out, dout):
    return None, unbroadcast(np.reshape(transposed_solve(A, dout), np.shape(b)), b)


@spsolve.jvp
def spsolve_jvp(A, out, db):
    return linalg.spsolve(A, db)


@bprop(transposed_solve, refused=["A"],
    samples=[given(scattered(3, 3), A(3)), given(scattered(3, 3), A(3, 2))])
def transposed_solve_(A, d, *, out, dout):
    return None, unbroadcast(np.reshape(linalg.spsolve(A, dout), np.shape(d)), d)


@transposed_solve_.jvp
def transposed_solve_jvp(A, out, dd):
    return transposed_solve(A, dd)


# ---------------------------------------------------------------- factors

TRANSPOSED = {"N": "T", "T": "N", "H": "N"}  # of `trans`; the conjugate of the one of H is meant


def transposed_factor_solve(lu: Any, d: Array, trans: str = "N") -> Array:
    """The solution of the system with the transpose of what `lu.solve` with this `trans` solves."""
    if trans == "H":
        return np.conj(lu.solve(np.conj(d), "N"))
    return lu.solve(d, TRANSPOSED[trans])


def factor(rng: np.random.Generator) -> Any:
    """For samples: the factors of a sparse matrix. Checks copy their arguments: these stay as they are."""
    copyreg.pickle(linalg.SuperLU, lambda lu: "a constant")
    return linalg.splu(scattered(3, 3)(rng))


# Factors are constants: those of a matrix that is differentiated are refused where they are made.
@bprop(linalg.SuperLU.solve, sharing="unknown",
    samples=[given(factor, A(3)), given(factor, A(3, 2), "T"), given(factor, A(3), "H")])
def factor_solve(self, rhs, trans="N", *, out, dout):
    return None, unbroadcast(transposed_factor_solve(self, dout, trans), rhs)


@factor_solve.jvp
def factor_solve_jvp(self, trans, out, drhs):
    return self.solve(drhs, trans)


@bprop(transposed_factor_solve,
    samples=[given(factor, A(3)), given(factor, A(3, 2), "T"), given(factor, A(3), "H")])
def transposed_factor_solve_(lu, d, trans="N", *, out, dout):
    return None, unbroadcast(lu.solve(dout, trans), d)


@transposed_factor_solve_.jvp
def transposed_factor_solve_jvp(lu, trans, out, dd):
    return transposed_factor_solve(lu, dd, trans)


@bprop(linalg.splu, linalg.spilu, linalg.factorized, sharing="unknown", refused=["A"],
    samples=[given(scattered(3, 3))])
def factors(A, *, out, dout):
    return (None,)


@factors.jvp
def factors_jvp(out, dA):
    return None


# ---------------------------------------------------------------- what makes sparse arrays

def declare_class(kind: Any) -> None:
    """Declares that a class makes constants."""
    @bprop(kind, sharing="unknown",
        lists=["arg1"], refused=["arg1"], samples=[given(np.eye(3)), given(np.eye(2), dtype="float32")])
    def made(arg1, shape=None, dtype=None, copy=False, *, out, dout):
        return (None,)

    @made.jvp
    def made_jvp(out, darg1):
        return None


for _class in CLASSES:
    if "dok" not in _class.__name__:  # a dict in some releases of SciPy
        declare_class(_class)

DIAGONALS = [getattr(sparse, name) for name in ("diags", "diags_array") if hasattr(sparse, name)]


@bprop(
    *DIAGONALS, sharing="unknown",
    lists=["diagonals"],
    refused=["diagonals"],
    samples=[given(A(3)), given([A(2), A(3)], offsets=[-1, 0])],
)
def diags(diagonals, offsets=0, *, shape=None, format=None, dtype=None, out, dout):
    return (None,)


@diags.jvp
def diags_jvp(out, ddiagonals):
    return None


@bprop(sparse.kron, sharing="unknown", refused=["A", "B"], samples=[given(scattered(3, 2), scattered(2, 2))])
def kron(A, B, format=None, *, out, dout):
    return None, None


@kron.jvp
def kron_jvp(out, dA, dB):
    return None


nondifferentiable(getattr(sparse, name) for name in ("eye", "eye_array", "identity") if hasattr(sparse, name))
