"""What is measured: each program, the arguments that its gradient is by, and how its arguments are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from . import primals

__all__ = ["PROGRAMS", "THIRTY_LINES", "Program"]

Function = Callable[..., Any]
Inputs = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """A function of `primals`; `size` holds keywords for `inputs`, `small` those to check gradients with."""

    title: str
    name: str
    active: str  # the names of the parameters that the gradient is by
    inputs: Inputs
    size: Mapping[str, int]
    small: Mapping[str, int]

    @property
    def primal(self) -> Function:
        found: Function = getattr(primals, self.name)
        return found

    @property
    def argnums(self) -> int | tuple[int, ...]:
        code = self.primal.__code__
        found = tuple(code.co_varnames.index(name) for name in self.active.split())
        return found if len(found) > 1 else found[0]

    @cached_property
    def args(self) -> tuple[Any, ...]:
        return self.arguments(self.size)

    def arguments(self, size: Mapping[str, int]) -> tuple[Any, ...]:
        """New arguments of a size, always the same."""
        return self.inputs(np.random.default_rng(0), **size)


Rng = np.random.Generator


def weights(rng: Rng, *shape: int) -> Any:
    return rng.normal(0, shape[0] ** -0.5, shape)


def layers(rng: Rng, *widths: int) -> tuple[Any, ...]:
    """Weights and biases, in turn."""
    return tuple(a for m, n in pairwise(widths) for a in (weights(rng, m, n), weights(rng, n)))


def for_logistic(rng: Rng, n: int) -> tuple[Any, ...]:
    return weights(rng, 8), 0.1, rng.normal(size=(n, 8)), (rng.uniform(size=n) > 0.5).astype(float), 1e-3


def for_black_scholes(rng: Rng, n: int) -> tuple[Any, ...]:
    return (
        rng.uniform(80.0, 120.0, n),
        rng.uniform(0.1, 0.4, n),
        0.03,
        rng.uniform(80.0, 120.0, n),
        rng.uniform(0.1, 2.0, n),
    )


def for_mlp(rng: Rng, batch: int, width: int) -> tuple[Any, ...]:
    return layers(rng, width, width, width, 10), rng.normal(size=(batch, width)), rng.normal(size=(batch, 10))


def for_rnn(rng: Rng, steps: int, batch: int, width: int) -> tuple[Any, ...]:
    params = (weights(rng, 8, width), weights(rng, width, width), weights(rng, width), *layers(rng, width, 4))
    return params, rng.normal(size=(steps, batch, 8)), rng.normal(size=(steps, batch, 4))


def for_lstm(rng: Rng, steps: int, batch: int, width: int) -> tuple[Any, ...]:
    params = {
        "input": weights(rng, 8, 4 * width),
        "recurrent": weights(rng, width, 4 * width),
        "bias": weights(rng, 4 * width),
        "output": weights(rng, width, 4),
    }
    return params, rng.normal(size=(steps, batch, 8)), rng.normal(size=(batch, 4))


def for_gmm(rng: Rng, n: int, d: int, k: int) -> tuple[Any, ...]:
    return (
        rng.normal(size=k),
        rng.uniform(size=(k, d)),
        rng.normal(size=(k, d * (d + 1) // 2)),
        rng.normal(size=(n, d)),
        1.0,
        0,
    )


def for_bundle_adjustment(rng: Rng, cameras: int, points: int, observations: int) -> tuple[Any, ...]:
    camera = np.hstack(
        [
            rng.normal(0, 0.3, (cameras, 3)),
            rng.normal(0, 0.2, (cameras, 3)) - [0, 0, 5.0],
            rng.uniform(0.9, 1.1, (cameras, 1)),
            rng.normal(0, 0.1, (cameras, 2)),
            rng.normal(0, 0.01, (cameras, 2)),
        ]
    )
    return (
        camera,
        rng.normal(size=(points, 3)),
        rng.uniform(0.5, 1.0, observations),
        rng.integers(0, cameras, observations),
        rng.integers(0, points, observations),
        rng.normal(size=(observations, 2)),
    )


def for_hidden_markov(rng: Rng, steps: int, states: int) -> tuple[Any, ...]:
    return (
        rng.normal(size=states),
        rng.normal(size=(states, states)),
        rng.normal(size=(states, 12)),
        rng.integers(0, 12, steps),
    )


def for_kalman(rng: Rng, steps: int) -> tuple[Any, ...]:
    return (
        np.eye(4) + 0.1 * np.eye(4, k=2),
        np.eye(2, 4),
        0.1 * np.eye(4),
        0.5 * np.eye(2),
        np.cumsum(rng.normal(size=(steps, 2)), axis=0),
    )


def for_particles(rng: Rng, n: int, steps: int) -> tuple[Any, ...]:
    return rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n), 0.01, steps


def for_fdtd(rng: Rng, n: int, steps: int) -> tuple[Any, ...]:
    return rng.normal(size=steps), *(rng.uniform(size=(n, n + 1)) for _ in range(4))


def dominant(rng: Rng, n: int) -> Any:
    """A matrix whose factorisation needs no pivots."""
    return rng.uniform(-1.0, 1.0, (n, n)) + n * np.eye(n)


PROGRAMS = (
    Program("scalar chain", "chain", "x y", lambda rng: (0.7, 1.3), {}, {}),
    Program(
        "Lotka-Volterra, RK4, 1,000 steps",
        "lotka_volterra",
        "growth hunting feeding decline",
        lambda rng, steps: (1.0, 0.4, 0.3, 0.9, steps),
        {"steps": 1000},
        {"steps": 5},
    ),
    *(
        Program(
            f"Rosenbrock, {n:,}", "rosenbrock", "x", lambda rng, n: (rng.normal(size=n),), {"n": n}, {"n": 5}
        )
        for n in (10, 1000, 1_000_000)
    ),
    *(
        Program(f"logistic regression, {n:,}", "logistic", "w b", for_logistic, {"n": n}, {"n": 9})
        for n in (10, 1000, 1_000_000)
    ),
    Program(
        "Black-Scholes, 1,000,000",
        "black_scholes",
        "spot vol rate",
        for_black_scholes,
        {"n": 1_000_000},
        {"n": 7},
    ),
    *(
        Program(
            f"MLP, {batch} x {width}",
            "mlp",
            "params",
            for_mlp,
            {"batch": batch, "width": width},
            {"batch": 5, "width": 6},
        )
        for batch, width in ((32, 128), (512, 512))
    ),
    Program(
        "RNN, 100 steps",
        "rnn",
        "params",
        for_rnn,
        {"steps": 100, "batch": 32, "width": 32},
        {"steps": 4, "batch": 3, "width": 5},
    ),
    Program(
        "LSTM, 100 steps",
        "lstm",
        "params",
        for_lstm,
        {"steps": 100, "batch": 32, "width": 32},
        {"steps": 4, "batch": 3, "width": 5},
    ),
    Program(
        "Gaussian mixture (ADBench)",
        "gmm",
        "alphas means factors",
        for_gmm,
        {"n": 1000, "d": 10, "k": 10},
        {"n": 6, "d": 3, "k": 2},
    ),
    Program(
        "bundle adjustment (ADBench)",
        "bundle_adjustment",
        "cameras points weights",
        for_bundle_adjustment,
        {"cameras": 20, "points": 300, "observations": 3000},
        {"cameras": 3, "points": 5, "observations": 12},
    ),
    Program(
        "k-means",
        "k_means",
        "centers",
        lambda rng, n, k, d: (rng.normal(size=(k, d)), rng.normal(size=(n, d))),
        {"n": 2000, "k": 20, "d": 4},
        {"n": 12, "k": 3, "d": 2},
    ),
    Program(
        "hidden Markov model",
        "hidden_markov",
        "start transition emission",
        for_hidden_markov,
        {"steps": 200, "states": 16},
        {"steps": 5, "states": 3},
    ),
    Program("Kalman filter, 100 steps", "kalman", "F H Q R", for_kalman, {"steps": 100}, {"steps": 4}),
    Program(
        "particles", "particles", "x v masses", for_particles, {"n": 100, "steps": 10}, {"n": 4, "steps": 3}
    ),
    Program(
        "jacobi 1d",
        "jacobi_1d",
        "a b",
        lambda rng, n, steps: (*(rng.uniform(size=n) for _ in range(3)), steps),
        {"n": 4000, "steps": 200},
        {"n": 8, "steps": 3},
    ),
    Program(
        "jacobi 2d",
        "jacobi_2d",
        "a b",
        lambda rng, n, steps: (*(rng.uniform(size=(n, n)) for _ in range(3)), steps),
        {"n": 150, "steps": 50},
        {"n": 6, "steps": 2},
    ),
    Program(
        "heat 3d",
        "heat_3d",
        "u conductivity",
        lambda rng, n, steps: (rng.uniform(size=(n, n, n)), 0.1, rng.uniform(size=(n, n, n)), steps),
        {"n": 40, "steps": 20},
        {"n": 5, "steps": 2},
    ),
    Program(
        "seidel 2d",
        "seidel_2d",
        "a",
        lambda rng, n, steps: (*(rng.uniform(size=(n, n)) for _ in range(2)), steps),
        {"n": 60, "steps": 5},
        {"n": 5, "steps": 2},
    ),
    Program("fdtd 2d", "fdtd_2d", "source", for_fdtd, {"n": 150, "steps": 50}, {"n": 5, "steps": 3}),
    Program(
        "lu", "lu", "a", lambda rng, n: (dominant(rng, n), rng.uniform(size=(n, n))), {"n": 80}, {"n": 5}
    ),
    Program(
        "trisolv",
        "trisolv",
        "triangle b",
        lambda rng, n: (np.tril(dominant(rng, n)), rng.uniform(size=n), rng.uniform(size=n)),
        {"n": 500},
        {"n": 6},
    ),
    Program(
        "syrk",
        "syrk",
        "alpha beta c a",
        lambda rng, n, m: (
            1.5,
            1.2,
            rng.uniform(size=(n, n)),
            rng.uniform(size=(n, m)),
            rng.uniform(size=(n, n)),
        ),
        {"n": 80, "m": 60},
        {"n": 4, "m": 3},
    ),
    Program(
        "gemm",
        "gemm",
        "alpha beta c a b",
        lambda rng, n: (1.5, 1.2, *(rng.uniform(-1.0, 1.0, (n, n)) for _ in range(4))),
        {"n": 300},
        {"n": 4},
    ),
    Program(
        "atax",
        "atax",
        "a x",
        lambda rng, m, n: (rng.uniform(size=(m, n)), rng.uniform(size=n)),
        {"m": 500, "n": 600},
        {"m": 4, "n": 3},
    ),
)
THIRTY_LINES = Program(
    "function of 30 lines",
    "gated",
    "params",
    lambda rng: (
        (*layers(rng, 12, 8), *layers(rng, 12, 8), *layers(rng, 12, 8), *layers(rng, 8, 2)),
        rng.normal(size=(6, 5, 4)),
        rng.normal(size=(6, 5, 2)),
        2,
        1e-3,
    ),
    {},
    {},
)
