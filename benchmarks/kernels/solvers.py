"""Factorisations and solutions of linear systems, written as loops; most overwrite their arguments."""

from __future__ import annotations

import numpy as np

from .declare import kernel

__all__ = ["cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"]


def dominant(rng, n):
    """A matrix whose factorisation needs no pivots: small numbers beside a large diagonal."""
    return rng.uniform(-1.0, 1.0, (n, n)) + n * np.eye(n)


def definite(rng, n):
    """A positive definite matrix."""
    a = rng.uniform(-1.0, 1.0, (n, n))
    return a @ a.T + n * np.eye(n)


@kernel(
    lambda rng, n: (dominant(rng, n),),
    size={"n": 5},
    active="A",
    outputs="A",
)
def lu(A):
    """A = L U in the place of A: U on and above the diagonal, L (whose own diagonal is one) below it."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


@kernel(
    lambda rng, n: (dominant(rng, n), rng.uniform(-1.0, 1.0, n)),
    size={"n": 5},
    active="A b",
)
def ludcmp(A, b):
    """The solution of A x = b: elimination in the place of A, then substitution forwards and backwards."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@kernel(
    lambda rng, n: (definite(rng, n),),
    size={"n": 5},
    active="A",
    outputs="A",
)
def cholesky(A):
    """A = L L^T, with L in the place of the lower triangle of A; the rest of A stays."""
    n = A.shape[0]
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[i, j] /= A[j, j]
        A[i, i] -= A[i, :i] @ A[i, :i]
        A[i, i] = np.sqrt(A[i, i])


@kernel(
    lambda rng, n: (np.tril(dominant(rng, n)), np.zeros(n), rng.uniform(-1.0, 1.0, n)),
    size={"n": 6},
    active="L x b",
    outputs="x",
)
def trisolv(L, x, b):
    """The solution x of L x = b for a lower triangular L."""
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@kernel(
    lambda rng, n: (rng.uniform(-0.5, 0.5, n) / n,),
    size={"n": 6},
    active="r",
)
def durbin(r):
    """The solution of the Yule-Walker equations T y = -r for the Toeplitz matrix T of 1, r[0], r[1], ..."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@kernel(
    lambda rng, m, n: (rng.uniform(-1.0, 1.0, (m, n)) + np.eye(m, n),),
    size={"m": 6, "n": 4},
    active="A",
)
def gramschmidt(A):
    """A = Q R with orthonormal columns of Q, by the modified method, which changes A."""
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        norm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(norm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R
