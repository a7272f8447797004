"""Time loops over grids: each point becomes a combination of its neighbours. They change their arguments."""

from __future__ import annotations

import numpy as np

from .declare import kernel

__all__ = ["adi", "fdtd_2d", "heat_3d", "jacobi_1d", "jacobi_2d", "seidel_2d"]


@kernel(
    lambda rng, steps, n: (steps, rng.uniform(size=n), rng.uniform(size=n)),
    size={"steps": 3, "n": 8},
    active="A B",
    outputs="A B",
)
def jacobi_1d(steps, A, B):
    """The mean of three neighbours, to and fro between two arrays."""
    for _ in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) / 3


@kernel(
    lambda rng, steps, n: (steps, rng.uniform(size=(n, n)), rng.uniform(size=(n, n))),
    size={"steps": 2, "n": 6},
    active="A B",
    outputs="A B",
)
def jacobi_2d(steps, A, B):
    """The mean of a point and its four neighbours, to and fro between two arrays."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@kernel(
    lambda rng, steps, n: (steps, rng.uniform(size=(n, n, n)), rng.uniform(size=(n, n, n))),
    size={"steps": 2, "n": 5},
    active="A B",
    outputs="A B",
)
def heat_3d(steps, A, B):
    """The heat equation: second differences along three axes, an eighth of each per half step."""
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )


@kernel(
    lambda rng, steps, n: (steps, *(rng.uniform(size=(n, n + 1)) for _ in range(3)), rng.uniform(size=steps)),
    size={"steps": 3, "n": 5},
    active="ex ey hz source",
    outputs="ex ey hz",
)
def fdtd_2d(steps, ex, ey, hz, source):
    """Maxwell's equations on a staggered grid, with a given field at one side."""
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel(
    lambda rng, steps, n: (steps, rng.uniform(size=(n, n))),
    size={"steps": 2, "n": 5},
    active="A",
    outputs="A",
)
def seidel_2d(steps, A):
    """The mean of nine points, each replaced as soon as it is known."""
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2]
                + A[i - 1, 1:-1]
                + A[i - 1, 2:]
                + A[i, 2:]
                + A[i + 1, :-2]
                + A[i + 1, 1:-1]
                + A[i + 1, 2:]
            )
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


@kernel(
    lambda rng, steps, n: (steps, rng.uniform(size=(n, n))),
    size={"steps": 2, "n": 5},
    active="u",
    outputs="u",
)
def adi(steps, u):
    """The heat equation by alternating directions: implicit along columns, then along rows.

    Each half step solves tridiagonal systems `-b x[j-1] + c x[j] - b x[j+1] = ...` by elimination (p, q).
    """
    n = u.shape[0]
    v = np.empty_like(u)
    p = np.empty_like(u)
    q = np.empty_like(u)
    ratio_v = 2.0 * n / steps
    ratio_u = 1.0 * n / steps
    a, b = ratio_v / 2.0, ratio_u / 2.0
    c, d = 1.0 + ratio_v, 1.0 + ratio_u
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = a / (c - a * p[1:-1, j - 1])
            q[1:-1, j] = (
                b * u[j, :-2] + (1.0 - 2.0 * b) * u[j, 1:-1] + b * u[j, 2:] + a * q[1:-1, j - 1]
            ) / (c - a * p[1:-1, j - 1])
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = b / (d - b * p[1:-1, j - 1])
            q[1:-1, j] = (
                a * v[:-2, j] + (1.0 - 2.0 * a) * v[1:-1, j] + a * v[2:, j] + b * q[1:-1, j - 1]
            ) / (d - b * p[1:-1, j - 1])
        u[1:-1, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
