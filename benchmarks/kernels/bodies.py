"""Bodies under gravity, and the layers of neural networks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .declare import kernel

__all__ = ["conv2d", "mlp", "nbody", "softmax"]


def acceleration(pos, mass, G, softening):
    """The acceleration of each body: G m (r_j - r_i) / (|r_j - r_i|^2 + softening^2)^(3/2), summed over j."""
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, G):
    """The kinetic and the potential energy."""
    kinetic = 0.5 * np.sum(mass * vel**2)
    dx = np.subtract.outer(pos[:, 0], pos[:, 0])
    dy = np.subtract.outer(pos[:, 1], pos[:, 1])
    dz = np.subtract.outer(pos[:, 2], pos[:, 2])
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = G * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return kinetic, potential


@kernel(
    lambda rng, n, steps: (
        rng.uniform(0.5, 1.5, (n, 1)),
        rng.normal(size=(n, 3)),
        rng.normal(size=(n, 3)),
        steps,
        0.01,
        1.0,
        0.1,
    ),
    size={"n": 4, "steps": 3},
    active="mass pos vel",
)
def nbody(mass, pos, vel, steps, dt, G, softening):
    """The energies over time of bodies that attract each other (leapfrog); pos and vel are changed."""
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, G, softening)
    kinetic = np.ndarray(steps + 1, dtype=np.float64)
    potential = np.ndarray(steps + 1, dtype=np.float64)
    kinetic[0], potential[0] = energy(pos, vel, mass, G)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        kinetic[i + 1], potential[i + 1] = energy(pos, vel, mass, G)
    return kinetic, potential


@kernel(
    lambda rng, n, h, s: (rng.normal(size=(n, h, s, s)),),
    size={"n": 2, "h": 2, "s": 4},
    active="x",
)
def softmax(x):
    """Exponentials along the last axis, divided by their sum."""
    largest = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - largest)
    total = np.sum(out, axis=-1, keepdims=True)
    return out / total


def relu(x):
    """The positive part."""
    return np.maximum(x, 0)


def softmax_of_rows(x):
    """Exponentials of each row, divided by their sum, with in-place operators."""
    out = x - np.max(x, axis=-1, keepdims=True)
    np.exp(out, out=out)
    out /= np.sum(out, axis=-1, keepdims=True)
    return out


def layers(rng, *sizes):
    """Weights and biases in turn."""
    return tuple(
        a
        for rows, columns in pairwise(sizes)
        for a in (rng.normal(0.0, rows**-0.5, (rows, columns)), rng.normal(size=columns))
    )


@kernel(
    lambda rng, n, inputs, s0, s1, s2: (rng.normal(size=(n, inputs)), *layers(rng, inputs, s0, s1, s2)),
    size={"n": 3, "inputs": 2, "s0": 4, "s1": 3, "s2": 3},
    active="x w1 b1 w2 b2 w3 b3",
)
def mlp(x, w1, b1, w2, b2, w3, b3):
    """Three layers: two rectified, the last normalised."""
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax_of_rows(x @ w3 + b3)


@kernel(
    lambda rng, n, size, channels, k, out: (
        rng.normal(size=(n, size, size, channels)),
        rng.normal(size=(k, k, channels, out)),
        rng.normal(size=out),
    ),
    size={"n": 2, "size": 5, "channels": 2, "k": 2, "out": 3},
    active="x weights bias",
)
def conv2d(x, weights, bias):
    """A layer of convolutions (correlations) without padding, channels last."""
    k = weights.shape[0]
    rows = x.shape[1] - k + 1
    columns = x.shape[2] - k + 1
    out = np.empty((x.shape[0], rows, columns, weights.shape[3]), dtype=x.dtype)
    for i in range(rows):
        for j in range(columns):
            out[:, i, j, :] = np.sum(
                x[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return out + bias
