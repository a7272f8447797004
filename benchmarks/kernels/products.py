"""Sums of products of matrices and vectors, general, symmetric and triangular."""

from __future__ import annotations

import numpy as np

from .declare import kernel

__all__ = [
    "atax",
    "bicg",
    "doitgen",
    "gemm",
    "gemver",
    "gesummv",
    "mvt",
    "symm",
    "syr2k",
    "syrk",
    "three_mm",
    "trmm",
    "two_mm",
]


def arrays(rng, *shapes):
    """Arrays of these shapes, of numbers between -1 and 1."""
    return tuple(rng.uniform(-1.0, 1.0, shape) for shape in shapes)


@kernel(
    lambda rng, k, m, n: (1.5, 1.2, *arrays(rng, (m, n), (m, k), (k, n))),
    size={"k": 3, "m": 4, "n": 5},
    active="alpha beta C A B",
    outputs="C",
)
def gemm(alpha, beta, C, A, B):
    """C <- alpha A B + beta C."""
    C[:] = alpha * A @ B + beta * C


@kernel(
    lambda rng, n: (1.5, 1.2, *arrays(rng, (n, n), (n,), (n,), (n,), (n,), (n,), (n,), (n,), (n,))),
    size={"n": 5},
    active="alpha beta A u1 v1 u2 v2 w x y z",
    outputs="A w x",
)
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    """A <- A + u1 v1^T + u2 v2^T, x <- x + beta A^T y + z, w <- w + alpha A x."""
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


@kernel(
    lambda rng, n: (1.5, 1.2, *arrays(rng, (n, n), (n, n), (n,))),
    size={"n": 5},
    active="alpha beta A B x",
)
def gesummv(alpha, beta, A, B, x):
    """alpha A x + beta B x."""
    return alpha * A @ x + beta * B @ x


@kernel(
    lambda rng, m, n: (1.5, 1.2, *arrays(rng, (m, n), (m, m), (m, n))),
    size={"m": 4, "n": 3},
    active="alpha beta C A B",
    outputs="C",
)
def symm(alpha, beta, C, A, B):
    """C <- alpha S B + beta C for the symmetric S whose lower triangle is that of A."""
    m, n = C.shape
    part = np.empty((n,), dtype=C.dtype)
    C *= beta
    for i in range(m):
        for j in range(n):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            part[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * part


@kernel(
    lambda rng, m, n: (1.5, 1.2, *arrays(rng, (n, n), (n, m))),
    size={"m": 3, "n": 4},
    active="alpha beta C A",
    outputs="C",
)
def syrk(alpha, beta, C, A):
    """C <- alpha A A^T + beta C, in the lower triangle alone."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


@kernel(
    lambda rng, m, n: (1.5, 1.2, *arrays(rng, (n, n), (n, m), (n, m))),
    size={"m": 3, "n": 4},
    active="alpha beta C A B",
    outputs="C",
)
def syr2k(alpha, beta, C, A, B):
    """C <- alpha (A B^T + B A^T) + beta C, in the lower triangle alone."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


@kernel(
    lambda rng, m, n: (1.5, *arrays(rng, (m, m), (m, n))),
    size={"m": 4, "n": 3},
    active="alpha A B",
    outputs="B",
)
def trmm(alpha, A, B):
    """B <- alpha T^T B for the unit lower triangular T below the diagonal of A."""
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


@kernel(
    lambda rng, n: (1.5, 1.2, *arrays(rng, (n, n + 1), (n + 1, n), (n, n + 2), (n, n + 2))),
    size={"n": 3},
    active="alpha beta A B C D",
    outputs="D",
    name="2mm",
)
def two_mm(alpha, beta, A, B, C, D):
    """D <- alpha A B C + beta D."""
    D[:] = alpha * A @ B @ C + beta * D


@kernel(
    lambda rng, n: arrays(rng, (n, n + 1), (n + 1, n), (n, n + 2), (n + 2, n)),
    size={"n": 3},
    active="A B C D",
    name="3mm",
)
def three_mm(A, B, C, D):
    """The product of A B and C D."""
    return (A @ B) @ (C @ D)


@kernel(
    lambda rng, m, n: arrays(rng, (m, n), (n,)),
    size={"m": 4, "n": 3},
    active="A x",
)
def atax(A, x):
    """A^T A x."""
    return (A @ x) @ A


@kernel(
    lambda rng, m, n: arrays(rng, (n, m), (m,), (n,)),
    size={"m": 3, "n": 4},
    active="A p r",
)
def bicg(A, p, r):
    """A^T r and A p."""
    return r @ A, A @ p


@kernel(
    lambda rng, n: arrays(rng, (n,), (n,), (n,), (n,), (n, n)),
    size={"n": 4},
    active="x1 x2 y1 y2 A",
    outputs="x1 x2",
)
def mvt(x1, x2, y1, y2, A):
    """x1 <- x1 + A y1, x2 <- x2 + A^T y2."""
    x1 += A @ y1
    x2 += y2 @ A


@kernel(
    lambda rng, r, q, p: arrays(rng, (r, q, p), (p, p)),
    size={"r": 2, "q": 3, "p": 4},
    active="A C4",
    outputs="A",
)
def doitgen(A, C4):
    """A[r, q, :] <- A[r, q, :] C4 for all r and q."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            A[r, q, :] = A[r, q, :] @ C4
