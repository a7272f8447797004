"""Statistics, dynamic programming, filters and elementwise passes."""

from __future__ import annotations

import numpy as np

from .declare import kernel

__all__ = ["compute", "correlation", "covariance", "deriche", "floyd_warshall", "go_fast", "nussinov"]


@kernel(
    lambda rng, m, n: (float(n), rng.uniform(size=(n, m))),
    size={"m": 3, "n": 5},
    active="data",
)
def covariance(float_n, data):
    """The covariance matrix of the columns of data, which are centred in place."""
    m = data.shape[1]
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((m, m), dtype=data.dtype)
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (float_n - 1.0)
    return cov


@kernel(
    lambda rng, m, n: (float(n), np.column_stack([rng.uniform(size=(n, m - 1)), np.linspace(0.0, 1e-3, n)])),
    size={"m": 4, "n": 5},
    active="data",
)
def correlation(float_n, data):
    """The correlation matrix of the columns of data, which are centred and scaled in place.

    A column whose deviation is tiny is not scaled.
    """
    m = data.shape[1]
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    corr = np.eye(m, dtype=data.dtype)
    for i in range(m - 1):
        corr[i + 1 : m, i] = corr[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return corr


@kernel(
    lambda rng, n: (rng.uniform(0.5, 1.5, (n, n)),),
    size={"n": 5},
    active="path",
    outputs="path",
)
def floyd_warshall(path):
    """The lengths of the shortest paths between all pairs of nodes, in the place of those of the edges."""
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


@kernel(
    lambda rng, n: (rng.integers(0, 4, n), rng.uniform(0.5, 1.5, (4, 4))),
    size={"n": 8},
    active="bond",
)
def nussinov(sequence, bond):
    """The table of the largest weight of nested pairs in each part of a sequence of bases.

    `bond` weighs a pair of bases (in the original it is one for those that match and else zero).
    """
    n = sequence.shape[0]
    table = np.zeros((n, n), dtype=bond.dtype)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + bond[sequence[i], sequence[j]])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@kernel(
    lambda rng, w, h: (0.25, rng.uniform(size=(w, h))),
    size={"w": 5, "h": 4},
    active="alpha image",
)
def deriche(alpha, image):
    """A smoothed image: a recursive filter along all rows and all columns, forwards and backwards."""
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)

    y1 = np.empty_like(image)
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, image.shape[1]):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2 = np.empty_like(image)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    out = y1 + y2

    y1[0, :] = a5 * out[0, :]
    y1[1, :] = a5 * out[1, :] + a6 * out[0, :] + b1 * y1[0, :]
    for i in range(2, image.shape[0]):
        y1[i, :] = a5 * out[i, :] + a6 * out[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a7 * out[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        y2[i, :] = a7 * out[i + 1, :] + a8 * out[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return y1 + y2


@kernel(
    lambda rng, n: (rng.uniform(size=(n, n)),),
    size={"n": 5},
    active="a",
)
def go_fast(a):
    """a, plus the sum of the hyperbolic tangents of its diagonal."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@kernel(
    lambda rng, m, n: (rng.uniform(0.0, 20.0, (m, n)), rng.uniform(0.0, 20.0, (m, n)), 4.0, 3.0, 9.0),
    size={"m": 3, "n": 4},
    active="array_1 array_2 a b c",
)
def compute(array_1, array_2, a, b, c):
    """An elementwise expression with limits."""
    return np.clip(array_1, 2.0, 10.0) * a + array_2 * b + c
