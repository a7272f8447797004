"""A recurrent network that learns to continue waves: a Python loop over time, trained on s2sad's gradients.

Run it with `python examples/recurrent.py`. An Elman network reads waves of unknown frequency and phase sample
by sample, and says at each step what the next sample is. It is trained by Adam (Kingma and Ba, 2015) and
tested on waves that it has never seen.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import s2sad

Array = NDArray[np.float64]
Params = tuple[Array, ...]
HIDDEN, WAVES, STEPS, UPDATES = 16, 32, 40, 400


def step(hidden: Array, value: Array, w_in: Array, w_hidden: Array, bias: Array) -> Array:
    """The state after one more sample, for all waves at once."""
    return np.tanh(value @ w_in + hidden @ w_hidden + bias)


def loss(params: Params, values: Array, targets: Array) -> float:
    """The mean squared error of the next sample's prediction, over time and waves."""
    w_in, w_hidden, bias, w_out, b_out = params
    hidden = np.zeros((values.shape[1], len(bias)))
    total = 0.0
    for value, target in zip(values, targets, strict=True):
        hidden = step(hidden, value, w_in, w_hidden, bias)
        error = hidden @ w_out + b_out - target
        total = total + np.mean(error ** 2)
    return total / len(values)


@dataclass(frozen=True)
class Training:
    """The losses during training; on unseen waves, the network's and that of repeating each sample."""

    losses: list[float]
    unseen: float
    repeating: float


def draw_waves(rng: np.random.Generator, count: int) -> Array:
    """Sine waves of random frequency and phase, of shape (time, count, 1)."""
    frequency = rng.uniform(0.2, 0.8, count)
    phase = rng.uniform(0, 2 * np.pi, count)
    return np.sin(np.outer(np.arange(STEPS + 1), frequency) + phase)[:, :, None]


def draw_params(rng: np.random.Generator) -> Params:
    """Random weights and zero biases."""
    scale = HIDDEN ** -0.5
    return (rng.normal(0, 0.5, (1, HIDDEN)), rng.normal(0, scale, (HIDDEN, HIDDEN)), np.zeros(HIDDEN),
            rng.normal(0, scale, (HIDDEN, 1)), np.zeros(1))


def train(params: Params, waves: Array, rate: float = 0.01) -> tuple[Params, list[float]]:
    """The parameters after `UPDATES` steps of Adam, and the loss before each."""
    loss_and_gradient = s2sad.value_and_grad(loss)
    means = [np.zeros_like(p) for p in params]
    squares = [np.zeros_like(p) for p in params]
    losses = []
    for count in range(1, UPDATES + 1):
        value, gradient = loss_and_gradient(params, waves[:-1], waves[1:])
        losses.append(float(value))
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradient, strict=True)]
        squares = [0.999 * s + 0.001 * g ** 2 for s, g in zip(squares, gradient, strict=True)]
        moves = [m / (1 - 0.9 ** count) / (np.sqrt(s / (1 - 0.999 ** count)) + 1e-8)
                 for m, s in zip(means, squares, strict=True)]
        params = tuple(p - rate * move for p, move in zip(params, moves, strict=True))
    return params, losses


def main() -> Training:
    """Trains the network, prints how it went, and returns it."""
    rng = np.random.default_rng(0)
    params, losses = train(draw_params(rng), draw_waves(rng, WAVES))
    unseen = draw_waves(rng, WAVES)
    result = Training(losses, float(loss(params, unseen[:-1], unseen[1:])),
                      float(np.mean((unseen[1:] - unseen[:-1]) ** 2)))
    for count in range(0, UPDATES, UPDATES // 8):
        print(f"update {count:4d}: loss {losses[count]:.5f}")
    print(f"on unseen waves: {result.unseen:.5f}; repeating the last sample instead: {result.repeating:.5f}")
    return result


if __name__ == "__main__":
    main()
