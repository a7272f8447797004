"""The programs with loops as users of JAX write them: scans, which it compiles once whatever their length."""
from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from primals import DT, Array, change


def runge_kutta(growth: float, hunting: float, feeding: float, decline: float, steps: int) -> Array:
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


def recurrent(params: tuple[Array, ...], values: Array, targets: Array) -> Array:
    w_in, w_hidden, bias, w_out, b_out = params

    def step(hidden: Array, sample: tuple[Array, Array]) -> tuple[Array, Array]:
        value, target = sample
        hidden = jnp.tanh(value @ w_in + hidden @ w_hidden + bias)
        error = hidden @ w_out + b_out - target
        return hidden, jnp.mean(error ** 2)

    start = jnp.zeros((values.shape[1], bias.shape[0]))
    _, losses = lax.scan(step, start, (values, targets))
    return jnp.mean(losses)
