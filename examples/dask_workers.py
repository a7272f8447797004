"""Logistic regression on data that is spread over worker processes, to which Dask sends the derivative, and
sums what comes back. One worker is killed on the way.

Run it with `python examples/dask_workers.py`. It prints the coefficients beside those of a fit on one
machine.

Each task computes the loss and its gradient on one part of the data. The parts are results of tasks, too:
what a worker held when it died is computed again elsewhere, and the fit goes on.
"""
from __future__ import annotations

import logging
import os
import signal
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.distributed import Client, LocalCluster
from numpy.typing import NDArray
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
Part = tuple[Array, Array]
WORKERS, PARTS, ROWS = 3, 12, 5_000
TRUE = np.array([0.8, -1.2, 0.5, 0.0, 0.3, -0.7])
KILLED_AT = 4  # the evaluation of the loss during which a worker is killed


def loss(params: Array, part: Part) -> float:
    """The negative log-likelihood of the outcomes of one part; the last parameter is the constant."""
    x, y = part
    z = x @ params[:-1] + params[-1]
    total: float = np.sum(np.logaddexp(0, z) - y * z)
    return total


loss_and_gradient = s2sad.value_and_grad(loss)


def make_part(number: int) -> Part:
    """The numbered part of the data; a program would read it from a file."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(ROWS, TRUE.size - 1))
    return x, np.asarray(rng.random(ROWS) < 1 / (1 + np.exp(-(x @ TRUE[:-1] + TRUE[-1]))), dtype=float)


def mean_of(results: list[tuple[float, Array]]) -> tuple[float, Array]:
    """The loss for each row, and its gradient, from those of the parts."""
    count = len(results) * ROWS
    gradient: Array = np.sum([gradient for _, gradient in results], axis=0)
    return sum(value for value, _ in results) / count, gradient / count


@dataclass(frozen=True)
class Fit:
    """The parameters found by the workers and on one machine, the loss, how often it was evaluated, and the
    process that was killed.
    """

    params: Array
    alone: Array
    loss: float
    evaluations: int
    killed: int


def fit(client: Client) -> tuple[Any, int]:
    """The result of the fit by the workers of a client, and the process that it killed."""
    parts = client.map(make_part, range(PARTS))
    killed: list[int] = []
    evaluations = 0

    def objective(params: Array) -> tuple[float, Array]:
        nonlocal evaluations
        evaluations += 1
        results = client.map(loss_and_gradient, [params] * PARTS, parts, pure=False)
        total = client.submit(mean_of, results, pure=False)
        if evaluations == KILLED_AT:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)
        found: tuple[float, Array] = total.result()
        return found

    return minimize(objective, np.zeros(TRUE.size), jac=True, method="BFGS"), killed[0]


def main() -> Fit:
    """Fits the model twice, prints what was found, and returns it."""
    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    )
    with cluster, Client(cluster) as client:
        found, killed = fit(client)

    parts = list(map(make_part, range(PARTS)))
    start = np.zeros(TRUE.size)
    alone = minimize(
        lambda params: mean_of([loss_and_gradient(params, part) for part in parts]),
        start, jac=True, method="BFGS",
    )  # fmt: skip
    print(f"{found.nfev} evaluations by {WORKERS} workers; process {killed} was killed in number {KILLED_AT}")
    print(f"loss {found.fun:.6f}, on one machine {alone.fun:.6f}")
    for true, ours, theirs in zip(TRUE, found.x, alone.x, strict=True):
        print(f"true {true:5.2f}   by workers {ours:8.5f}   on one machine {theirs:8.5f}")
    return Fit(found.x, alone.x, float(found.fun), int(found.nfev), killed)


if __name__ == "__main__":
    main()
