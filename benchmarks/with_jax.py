"""Programs as users of JAX write them: loops are scans, which it compiles once whatever their length."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.nn import sigmoid
from jax.scipy.special import logsumexp

from .primals import DT, change

Array = Any


def lotka_volterra(growth: float, hunting: float, feeding: float, decline: float, steps: int) -> Array:
    rates = growth, hunting, feeding, decline

    def step(state: tuple[Array, Array, Array], _: None) -> tuple[tuple[Array, Array, Array], None]:
        x, y, total = state
        a1, b1 = change(x, y, *rates)
        a2, b2 = change(x + DT / 2 * a1, y + DT / 2 * b1, *rates)
        a3, b3 = change(x + DT / 2 * a2, y + DT / 2 * b2, *rates)
        a4, b4 = change(x + DT * a3, y + DT * b3, *rates)
        x = x + DT / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y = y + DT / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        return (x, y, total + (x - 3.0) ** 2 + (y - 1.0) ** 2), None

    start = tuple(map(jnp.asarray, (3.0, 1.0, 0.0)))
    (_, _, total), _ = lax.scan(step, start, length=steps)
    return total * DT


def rnn(params: tuple[Array, ...], values: Array, targets: Array) -> Array:
    w_in, w_hidden, bias, w_out, b_out = params

    def step(hidden: Array, sample: tuple[Array, Array]) -> tuple[Array, Array]:
        value, target = sample
        hidden = jnp.tanh(value @ w_in + hidden @ w_hidden + bias)
        error = hidden @ w_out + b_out - target
        return hidden, jnp.mean(error ** 2)

    start = jnp.zeros((values.shape[1], bias.shape[0]))
    _, losses = lax.scan(step, start, (values, targets))
    return jnp.mean(losses)


def lstm(params: dict[str, Array], values: Array, targets: Array) -> Array:
    width = params["recurrent"].shape[0]

    def step(state: tuple[Array, Array], value: Array) -> tuple[tuple[Array, Array], None]:
        hidden, cell = state
        gates = value @ params["input"] + hidden @ params["recurrent"] + params["bias"]
        entry, forget, output, new = jnp.split(gates, 4, axis=1)
        cell = sigmoid(forget) * cell + sigmoid(entry) * jnp.tanh(new)
        return (sigmoid(output) * jnp.tanh(cell), cell), None

    start = jnp.zeros((values.shape[1], width))
    (hidden, _), _ = lax.scan(step, (start, start), values)
    return jnp.mean((hidden @ params["output"] - targets) ** 2)


def gmm(alphas: Array, means: Array, factors: Array, x: Array, gamma: float, m: int) -> Array:
    n, d = x.shape
    diagonal = jnp.arange(d)
    rows, columns = jnp.tril_indices(d, -1)
    scales = jnp.exp(factors[:, :d])
    triangles = jnp.zeros((len(means), d, d))
    triangles = triangles.at[:, diagonal, diagonal].set(scales).at[:, rows, columns].set(factors[:, d:])
    logdets = jnp.sum(factors[:, :d], axis=1)
    scaled = (x - means[:, None, :]) @ jnp.transpose(triangles, (0, 2, 1))
    inner = (alphas + logdets)[:, None] - 0.5 * jnp.sum(scaled ** 2, axis=2)
    prior = 0.5 * gamma ** 2 * (jnp.sum(scales ** 2) + jnp.sum(factors[:, d:] ** 2)) - m * jnp.sum(logdets)
    return jnp.sum(logsumexp(inner, axis=0)) - n * logsumexp(alphas) - prior


def hidden_markov(start: Array, transition: Array, emission: Array, observed: Array) -> Array:
    def step(belief: Array, k: Array) -> tuple[Array, None]:
        return logsumexp(belief[:, None] + transition, axis=0) + emission[:, k], None

    belief, _ = lax.scan(step, start + emission[:, observed[0]], observed[1:])
    return logsumexp(belief)


def kalman(F: Array, H: Array, Q: Array, R: Array, observed: Array) -> Array:
    def step(state: tuple[Array, Array], y: Array) -> tuple[tuple[Array, Array], Array]:
        x, P = state
        x = F @ x
        P = F @ P @ F.T + Q
        error = y - H @ x
        HP = H @ P
        S = HP @ H.T + R
        inverse = jnp.linalg.inv(S)
        gain = HP.T @ inverse
        part = 0.5 * (error @ inverse @ error + jnp.linalg.slogdet(S)[1])
        return (x + gain @ error, P - gain @ HP), part

    _, parts = lax.scan(step, (jnp.zeros(F.shape[0]), jnp.eye(F.shape[0])), observed)
    return jnp.sum(parts)


def particles(x: Array, v: Array, masses: Array, dt: float, steps: int) -> Array:
    def step(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        x, v = state
        apart = x[:, None, :] - x[None, :, :]
        squares = jnp.sum(apart ** 2, axis=2) + 0.01
        pull = masses / (squares * jnp.sqrt(squares))
        v = v - dt * jnp.sum(pull[:, :, None] * apart, axis=1)
        return (x + dt * v, v), None

    (_, v), _ = lax.scan(step, (x, v), length=steps)
    return 0.5 * jnp.sum(masses * jnp.sum(v ** 2, axis=1))


def jacobi_1d(a: Array, b: Array, weights: Array, steps: int) -> Array:
    def step(_: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
        a, b = state
        b = b.at[1:-1].set((a[:-2] + a[1:-1] + a[2:]) / 3)
        a = a.at[1:-1].set((b[:-2] + b[1:-1] + b[2:]) / 3)
        return a, b

    a, b = lax.fori_loop(0, steps, step, (a, b))
    return jnp.sum(weights * a)


def jacobi_2d(a: Array, b: Array, target: Array, steps: int) -> Array:
    def five(a: Array) -> Array:
        return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def step(_: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
        a, b = state
        b = b.at[1:-1, 1:-1].set(five(a))
        a = a.at[1:-1, 1:-1].set(five(b))
        return a, b

    a, b = lax.fori_loop(0, steps, step, (a, b))
    return 0.5 * jnp.sum((a - target) ** 2)


def heat_3d(u: Array, conductivity: float, target: Array, steps: int) -> Array:
    def step(_: int, u: Array) -> Array:
        return u.at[1:-1, 1:-1, 1:-1].add(conductivity * (
            u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]))

    return 0.5 * jnp.sum((lax.fori_loop(0, steps, step, u) - target) ** 2)


def seidel_2d(a: Array, weights: Array, steps: int) -> Array:
    """A scan over rows, and in each over its elements, of which each reads the one before."""
    def row(i: Array, a: Array) -> Array:
        above, here, below = a[i - 1], a[i], a[i + 1]
        known = (above[:-2] + above[1:-1] + above[2:] + here[1:-1] + here[2:]
                 + below[:-2] + below[1:-1] + below[2:])

        def element(left: Array, rest: Array) -> tuple[Array, Array]:
            new = (left + rest) / 9.0
            return new, new

        _, new = lax.scan(element, here[0], known)
        return a.at[i, 1:-1].set(new)

    def sweep(_: int, a: Array) -> Array:
        return lax.fori_loop(1, len(a) - 1, row, a)

    return jnp.sum(weights * lax.fori_loop(0, steps, sweep, a))


def fdtd_2d(source: Array, ex: Array, ey: Array, hz: Array, target: Array) -> Array:
    def step(state: tuple[Array, Array, Array], value: Array) -> tuple[tuple[Array, Array, Array], None]:
        ex, ey, hz = state
        ey = ey.at[0, :].set(value)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    (_, _, hz), _ = lax.scan(step, (ex, ey, hz), source)
    return 0.5 * jnp.sum((hz - target) ** 2)


def lu(a: Array, weights: Array) -> Array:
    """By elimination of whole columns, with masks, as shapes are fixed."""
    places = jnp.arange(len(a))

    def column(k: Array, a: Array) -> Array:
        factors = jnp.where(places > k, a[:, k] / a[k, k], 0.0)
        row = jnp.where(places > k, a[k], 0.0)
        a = a.at[:, k].set(jnp.where(places > k, factors, a[:, k]))
        return a - jnp.outer(factors, row)

    return jnp.sum(weights * lax.fori_loop(0, len(a), column, a))


def trisolv(triangle: Array, b: Array, target: Array) -> Array:
    """What is not known yet of x is zero."""
    def row(i: Array, x: Array) -> Array:
        return x.at[i].set((b[i] - triangle[i] @ x) / triangle[i, i])

    x = lax.fori_loop(0, len(b), row, jnp.zeros_like(b))
    return 0.5 * jnp.sum((x - target) ** 2)


def syrk(alpha: float, beta: float, c: Array, a: Array, weights: Array) -> Array:
    """Each row at once, with a mask, as shapes are fixed."""
    def row(i: Array, c: Array) -> Array:
        return c.at[i].set(jnp.where(jnp.arange(len(a)) <= i, beta * c[i] + alpha * (a @ a[i]), c[i]))

    return jnp.sum(weights * lax.fori_loop(0, len(a), row, c))
