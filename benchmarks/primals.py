"""The programs whose gradients are measured, as users write them: plain Python and NumPy.

`np`, `math` and `special` are looked up as globals, so that a second copy of this module can run on another
array library. What is differentiated are functions of one result; arrays that they change are their own.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

Array = Any  # of NumPy, or of the library that stands in for it; numbers of it too
DT = 0.02


# ---------------------------------------------------------------- numbers


def chain(x: float, y: float) -> float:
    """Straight-line code of numbers."""
    u = math.sin(x) * y
    v = math.exp(-u * u) + x * y
    w = math.log(1.0 + v * v)
    z = math.cos(w) / (1.0 + u * u) + math.sqrt(v * v + w * w)
    u = math.tanh(z * u) + w
    v = u * v - z
    w = math.exp(math.sin(v)) * u
    return math.sqrt(1.0 + w * w) + z * v


def change(prey: float, predators: float, growth: float, hunting: float, feeding: float,
           decline: float) -> tuple[float, float]:
    """The right-hand side of the equations of Lotka and Volterra."""
    met = prey * predators
    return growth * prey - hunting * met, feeding * met - decline * predators


def lotka_volterra(growth: float, hunting: float, feeding: float, decline: float, steps: int) -> float:
    """How far two populations stray from where they started, over time: Runge-Kutta steps of numbers."""
    x = 3.0
    y = 1.0
    total = 0.0
    for _ in range(steps):
        a1, b1 = change(x, y, growth, hunting, feeding, decline)
        a2, b2 = change(x + DT / 2 * a1, y + DT / 2 * b1, growth, hunting, feeding, decline)
        a3, b3 = change(x + DT / 2 * a2, y + DT / 2 * b2, growth, hunting, feeding, decline)
        a4, b4 = change(x + DT * a3, y + DT * b3, growth, hunting, feeding, decline)
        x = x + DT / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y = y + DT / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        total = total + (x - 3.0) ** 2 + (y - 1.0) ** 2
    return total * DT


# ---------------------------------------------------------------- arrays, element by element


def rosenbrock(x: Array) -> Array:
    """The function of Rosenbrock in many dimensions."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic(w: Array, b: float, x: Array, y: Array, penalty: float) -> Array:
    """The mean negative log-likelihood of a logistic regression, and a penalty on large weights."""
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + penalty * np.sum(w ** 2)


def black_scholes(spot: Array, vol: Array, rate: float, strike: Array, years: Array) -> Array:
    """The price of a portfolio of call options."""
    root = vol * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol ** 2) * years) / root
    d2 = d1 - root
    here = 0.5 * (1.0 + special.erf(d1 / math.sqrt(2.0)))
    there = 0.5 * (1.0 + special.erf(d2 / math.sqrt(2.0)))
    return np.sum(spot * here - strike * np.exp(-rate * years) * there)


# ---------------------------------------------------------------- networks


def mlp(params: tuple[Array, ...], x: Array, targets: Array) -> Array:
    """The mean squared error of a network of three layers."""
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    error = h2 @ w3 + b3 - targets
    return np.mean(error ** 2)


def rnn(params: tuple[Array, ...], values: Array, targets: Array) -> Array:
    """The mean squared error of an Elman network's predictions: a loop over time, small matrices."""
    w_in, w_hidden, bias, w_out, b_out = params
    hidden = np.zeros((values.shape[1], bias.shape[0]))
    total = 0.0
    for value, target in zip(values, targets, strict=True):
        hidden = np.tanh(value @ w_in + hidden @ w_hidden + bias)
        error = hidden @ w_out + b_out - target
        total = total + np.mean(error ** 2)
    return total / len(values)


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(params: dict[str, Array], values: Array, targets: Array) -> Array:
    """The mean squared error of what a long short-term memory says at the end of a sequence."""
    width = params["recurrent"].shape[0]
    hidden = np.zeros((values.shape[1], width))
    cell = np.zeros((values.shape[1], width))
    for value in values:
        gates = value @ params["input"] + hidden @ params["recurrent"] + params["bias"]
        entry = sigmoid(gates[:, :width])
        forget = sigmoid(gates[:, width : 2 * width])
        output = sigmoid(gates[:, 2 * width : 3 * width])
        new = np.tanh(gates[:, 3 * width :])
        cell = forget * cell + entry * new
        hidden = output * np.tanh(cell)
    return np.mean((hidden @ params["output"] - targets) ** 2)


# ---------------------------------------------------------------- statistics and vision


def logsumexp(x: Array) -> Array:
    """The logarithm of the sum of exponentials along the first axis."""
    top = np.max(x, axis=0)
    return np.log(np.sum(np.exp(x - top), axis=0)) + top


def gmm(alphas: Array, means: Array, factors: Array, x: Array, gamma: float, m: int) -> Array:
    """The log-likelihood of a Gaussian mixture with a Wishart prior, without its constant (ADBench).

    A row of `factors` is a lower triangle, the inverse of a covariance's factor: the logarithms of the
    diagonal, then what is below it.
    """
    n, d = x.shape
    diagonal = np.arange(d)
    rows, columns = np.tril_indices(d, -1)
    scales = np.exp(factors[:, :d])
    triangles = np.zeros((len(means), d, d))
    triangles[:, diagonal, diagonal] = scales
    triangles[:, rows, columns] = factors[:, d:]
    logdets = np.sum(factors[:, :d], axis=1)
    scaled = (x - means[:, None, :]) @ np.transpose(triangles, (0, 2, 1))
    inner = (alphas + logdets)[:, None] - 0.5 * np.sum(scaled ** 2, axis=2)
    prior = 0.5 * gamma ** 2 * (np.sum(scales ** 2) + np.sum(factors[:, d:] ** 2)) - m * np.sum(logdets)
    return np.sum(logsumexp(inner)) - n * logsumexp(alphas) - prior


def bundle_adjustment(cameras: Array, points: Array, weights: Array, which: Array, what: Array,
                      features: Array) -> Array:
    """The squared reprojection errors of points seen by cameras with radial distortion (ADBench).

    A camera is a rotation vector, a centre, a focal length, an image's centre and two distortions.
    """
    camera = cameras[which]
    rotation = camera[:, :3]
    seen = points[what] - camera[:, 3:6]
    angle = np.sqrt(np.sum(rotation ** 2, axis=1, keepdims=True))
    axis = rotation / angle
    cosine = np.cos(angle)
    along = np.sum(axis * seen, axis=1, keepdims=True) * (1.0 - cosine)
    turned = seen * cosine + np.cross(axis, seen) * np.sin(angle) + axis * along
    flat = turned[:, :2] / turned[:, 2:]
    radius = np.sum(flat ** 2, axis=1)
    distortion = 1.0 + camera[:, 9] * radius + camera[:, 10] * radius ** 2
    image = flat * (distortion * camera[:, 6])[:, None] + camera[:, 7:9]
    return np.sum((weights[:, None] * (image - features)) ** 2)


def k_means(centers: Array, points: Array) -> Array:
    """The squared distances of points from their nearest centers."""
    distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(distances, axis=1))


def hidden_markov(start: Array, transition: Array, emission: Array, observed: Array) -> Array:
    """The log-likelihood of observations, given logarithms of a model's weights: the forward algorithm."""
    belief = start + emission[:, observed[0]]
    for k in observed[1:]:
        belief = logsumexp(belief[:, None] + transition) + emission[:, k]
    return logsumexp(belief)


def kalman(F: Array, H: Array, Q: Array, R: Array, observed: Array) -> Array:
    """The negative log-likelihood of observations of a linear system with noise, without its constant."""
    x = np.zeros(F.shape[0])
    P = np.eye(F.shape[0])
    total = 0.0
    for y in observed:
        x = F @ x
        P = F @ P @ F.T + Q
        error = y - H @ x
        HP = H @ P
        S = HP @ H.T + R
        inverse = np.linalg.inv(S)
        gain = HP.T @ inverse
        total = total + 0.5 * (error @ inverse @ error + np.linalg.slogdet(S)[1])
        x = x + gain @ error
        P = P - gain @ HP
    return total


def particles(x: Array, v: Array, masses: Array, dt: float, steps: int) -> Array:
    """The kinetic energy of particles that attract each other, after some steps."""
    for _ in range(steps):
        apart = x[:, None, :] - x[None, :, :]
        squares = np.sum(apart ** 2, axis=2) + 0.01
        pull = masses / (squares * np.sqrt(squares))
        v = v - dt * np.sum(pull[:, :, None] * apart, axis=1)
        x = x + dt * v
    return 0.5 * np.sum(masses * np.sum(v ** 2, axis=1))


# ---------------------------------------------------------------- stencils


def jacobi_1d(a: Array, b: Array, weights: Array, steps: int) -> Array:
    """A weighted sum after means of three neighbours, to and fro between two arrays."""
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3
    return np.sum(weights * a)


def jacobi_2d(a: Array, b: Array, target: Array, steps: int) -> Array:
    """A misfit after means of a point and its four neighbours, to and fro between two arrays."""
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return 0.5 * np.sum((a - target) ** 2)


def heat_3d(u: Array, conductivity: float, target: Array, steps: int) -> Array:
    """A misfit after steps of the heat equation, whose conductivity is sought."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] += conductivity * (
            u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1])
    return 0.5 * np.sum((u - target) ** 2)


def seidel_2d(a: Array, weights: Array, steps: int) -> Array:
    """A weighted sum after means of nine points, each replaced as soon as it is known."""
    a = a.copy()
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                           + a[i, j - 1] + a[i, j] + a[i, j + 1]
                           + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0
    return np.sum(weights * a)


def fdtd_2d(source: Array, ex: Array, ey: Array, hz: Array, target: Array) -> Array:
    """A misfit of the magnetic field, for a given electric field at one side: Maxwell's equations."""
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for value in source:
        ey[0, :] = value
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return 0.5 * np.sum((hz - target) ** 2)


# ---------------------------------------------------------------- linear algebra


def lu(a: Array, weights: Array) -> Array:
    """A weighted sum of the factors of a matrix, which take its place."""
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(weights * a)


def trisolv(triangle: Array, b: Array, target: Array) -> Array:
    """A misfit of the solution of a lower triangular system."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - triangle[i, :i] @ x[:i]) / triangle[i, i]
    return 0.5 * np.sum((x - target) ** 2)


def syrk(alpha: float, beta: float, c: Array, a: Array, weights: Array) -> Array:
    """A weighted sum of beta C + alpha A A^T, whose lower triangle alone is computed."""
    c = c.copy()
    for i in range(len(a)):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return np.sum(weights * c)


def gemm(alpha: float, beta: float, c: Array, a: Array, b: Array, weights: Array) -> Array:
    """A weighted sum of beta C + alpha A B."""
    return np.sum(weights * (alpha * a @ b + beta * c))


def atax(a: Array, x: Array) -> Array:
    """The squared length of A^T A x."""
    y = (a @ x) @ a
    return y @ y


# ---------------------------------------------------------------- thirty lines, for generation.py


def gated(params: tuple[Array, ...], values: Array, targets: Array, skipped: int, penalty: float) -> Array:
    """The robust loss of a gated recurrent network that first listens for some steps, and a penalty."""
    w_update, b_update, w_reset, b_reset, w_new, b_new, w_out, b_out = params
    steps = values.shape[0]
    count = values.shape[1]
    width = b_new.shape[0]
    hidden = np.zeros((count, width))
    total = 0.0
    rough = 0.0
    for i in range(steps):
        before = hidden
        both = np.concatenate([values[i], before], axis=1)
        update = 1 / (1 + np.exp(-(both @ w_update + b_update)))
        reset = 1 / (1 + np.exp(-(both @ w_reset + b_reset)))
        kept = np.concatenate([values[i], reset * before], axis=1)
        new = np.tanh(kept @ w_new + b_new)
        hidden = (1 - update) * before + update * new
        if i < skipped:
            continue
        moved = hidden - before
        rough = rough + np.sum(moved ** 2)
        error = hidden @ w_out + b_out - targets[i]
        size = np.abs(error)
        robust = np.where(size < 1.0, 0.5 * error ** 2, size - 0.5)
        total = total + np.mean(robust)
    mean = total / (steps - skipped)
    weights = np.sum(w_new ** 2) + np.sum(w_out ** 2)
    gates = np.sum(w_update ** 2) + np.sum(w_reset ** 2)
    loss = mean + penalty * (weights + gates)
    return loss + penalty * rough / count
