"""The programs whose gradients are measured, as users write them: plain Python and NumPy.

NumPy is looked up as the global `np`, so that a second copy of this module can run on another array library.
"""
from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # of NumPy, or of the library that stands in for it; numbers of it too
DT = 0.02


def change(prey: float, predators: float, growth: float, hunting: float, feeding: float,
           decline: float) -> tuple[float, float]:
    """The right-hand side of the equations of Lotka and Volterra."""
    met = prey * predators
    return growth * prey - hunting * met, feeding * met - decline * predators


def runge_kutta(growth: float, hunting: float, feeding: float, decline: float, steps: int) -> float:
    """How far two populations stray from where they started, over time: a loop over Python floats."""
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


def recurrent(params: tuple[Array, ...], values: Array, targets: Array) -> Array:
    """The mean squared error of an Elman network's predictions: a loop over time, small matrices."""
    w_in, w_hidden, bias, w_out, b_out = params
    hidden = np.zeros((values.shape[1], bias.shape[0]))
    total = 0.0
    for value, target in zip(values, targets, strict=True):
        hidden = np.tanh(value @ w_in + hidden @ w_hidden + bias)
        error = hidden @ w_out + b_out - target
        total = total + np.mean(error ** 2)
    return total / len(values)


def perceptron(params: tuple[Array, ...], x: Array, targets: Array) -> Array:
    """The mean squared error of a network of three layers."""
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    error = h2 @ w3 + b3 - targets
    return np.mean(error ** 2)


def logistic(w: Array, b: float, x: Array, y: Array, penalty: float) -> Array:
    """The mean negative log-likelihood of a logistic regression, and a penalty on large weights."""
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + penalty * np.sum(w ** 2)


# Thirty lines from here to the end, to measure how long generating a derivative takes.
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
