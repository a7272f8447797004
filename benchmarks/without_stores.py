"""Programs as users of tools write them whose arrays cannot be changed: new arrays in the place of stores.

`np` is the library that computes.
"""

from __future__ import annotations

from typing import Any

import numpy
import numpy as np

Array = Any


def logsumexp(x: Array) -> Array:
    top = np.max(x, axis=0)
    return np.log(np.sum(np.exp(x - top), axis=0)) + top


def gmm(alphas: Array, means: Array, factors: Array, x: Array, gamma: float, m: int) -> Array:
    """Triangles as sums of constant matrices, one for each of their elements."""
    n, d = x.shape
    on, below = numpy.zeros((d, d * d)), numpy.zeros((d * (d - 1) // 2, d * d))
    on[numpy.arange(d), numpy.arange(d) * (d + 1)] = 1.0
    rows, columns = numpy.tril_indices(d, -1)
    below[numpy.arange(len(rows)), rows * d + columns] = 1.0
    scales = np.exp(factors[:, :d])
    triangles = np.reshape(scales @ on + factors[:, d:] @ below, (len(means), d, d))
    logdets = np.sum(factors[:, :d], axis=1)
    scaled = (x - means[:, None, :]) @ np.transpose(triangles, (0, 2, 1))
    inner = (alphas + logdets)[:, None] - 0.5 * np.sum(scaled ** 2, axis=2)
    prior = 0.5 * gamma ** 2 * (np.sum(scales ** 2) + np.sum(factors[:, d:] ** 2)) - m * np.sum(logdets)
    return np.sum(logsumexp(inner)) - n * logsumexp(alphas) - prior


def inside_1d(of: Array, new: Array) -> Array:
    return np.concatenate([of[:1], new, of[-1:]])


def inside_2d(of: Array, new: Array) -> Array:
    middle = np.concatenate([of[1:-1, :1], new, of[1:-1, -1:]], axis=1)
    return np.concatenate([of[:1], middle, of[-1:]], axis=0)


def jacobi_1d(a: Array, b: Array, weights: Array, steps: int) -> Array:
    for _ in range(steps):
        b = inside_1d(b, (a[:-2] + a[1:-1] + a[2:]) / 3)
        a = inside_1d(a, (b[:-2] + b[1:-1] + b[2:]) / 3)
    return np.sum(weights * a)


def five(a: Array) -> Array:
    return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def jacobi_2d(a: Array, b: Array, target: Array, steps: int) -> Array:
    for _ in range(steps):
        b = inside_2d(b, five(a))
        a = inside_2d(a, five(b))
    return 0.5 * np.sum((a - target) ** 2)


def heat_3d(u: Array, conductivity: float, target: Array, steps: int) -> Array:
    for _ in range(steps):
        inside = u[1:-1, 1:-1, 1:-1]
        inside = inside + conductivity * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6.0 * inside
        )
        inside = np.concatenate([u[1:-1, 1:-1, :1], inside, u[1:-1, 1:-1, -1:]], axis=2)
        inside = np.concatenate([u[1:-1, :1], inside, u[1:-1, -1:]], axis=1)
        u = np.concatenate([u[:1], inside, u[-1:]], axis=0)
    return 0.5 * np.sum((u - target) ** 2)


def fdtd_2d(source: Array, ex: Array, ey: Array, hz: Array, target: Array) -> Array:
    ones = np.ones((1, ey.shape[1]))
    for k in range(len(source)):
        ey = np.concatenate([source[k] * ones, ey[1:, :] - 0.5 * (hz[1:, :] - hz[:-1, :])], axis=0)
        ex = np.concatenate([ex[:, :1], ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])], axis=1)
        inner = hz[:-1, :-1] - 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        hz = np.concatenate([np.concatenate([inner, hz[:-1, -1:]], axis=1), hz[-1:, :]], axis=0)
    return 0.5 * np.sum((hz - target) ** 2)
