"""The conductivities of a wall's layers from temperatures inside: a heat equation, stepped in place.

Run it with `python examples/heat_inverse.py`. The wall is warmed on its left side, and its right side is kept
at 0. Thermometers at six depths are read now and then, with errors of 0.05 degrees. The temperatures follow

    u' = (conductivity * u_x)_x,

and are stepped in one array by finite differences. L-BFGS finds the layers' conductivities again by least
squares; its gradient runs the 1,000 steps backwards.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotting import Figure, run
from scipy.optimize import minimize

import s2sad

Vector = NDArray[np.float64]
TRUE = np.array([1.0, 0.3, 0.8, 0.15, 0.6])  # of the layers
CELLS, STEPS, EVERY = 30, 1_000, 50
DX, DT = 1 / CELLS, 4.5e-4
THERMOMETERS = np.array([3, 7, 12, 16, 21, 26])
NOISE = 0.05
BOUNDS = (np.log(0.01), np.log(1.2))  # above, the steps would be unstable


def simulate(log_conductivity: Vector) -> Vector:
    """What the thermometers show, of shape (readings, thermometers)."""
    conductivity = np.repeat(np.exp(log_conductivity), CELLS // len(log_conductivity))
    u = np.zeros(CELLS + 1)
    readings = np.zeros((STEPS // EVERY, len(THERMOMETERS)))
    for n in range(STEPS):
        u[0] = 20.0 * min(1.0, n * DT / 0.05)
        flux = conductivity * np.diff(u) / DX
        u[1:-1] += DT / DX * (flux[1:] - flux[:-1])
        if (n + 1) % EVERY == 0:
            readings[n // EVERY] = u[THERMOMETERS]
    return readings


def misfit(log_conductivity: Vector, measured: Vector) -> float:
    """Half the sum of the squared errors, in units of their standard deviation."""
    error: Vector = (simulate(log_conductivity) - measured) / NOISE
    total: float = 0.5 * np.sum(error**2)
    return total


@dataclass(frozen=True)
class Fit:
    """The conductivities that were found, and the misfit of these and of the true ones."""

    conductivity: Vector
    misfit: float
    true_misfit: float
    evaluations: int


def main() -> Fit:
    """Finds the conductivities, prints them beside the true ones, and returns them."""
    rng = np.random.default_rng(0)
    exact = simulate(np.log(TRUE))
    measured = exact + NOISE * rng.normal(size=exact.shape)
    guess = np.full(TRUE.size, np.log(0.5))
    found = minimize(
        s2sad.value_and_grad(misfit),
        guess,
        (measured,),
        jac=True,
        method="L-BFGS-B",
        bounds=[BOUNDS] * TRUE.size,
    )
    fit = Fit(np.exp(found.x), float(found.fun), float(misfit(np.log(TRUE), measured)), found.nfev)
    print(f"{fit.evaluations} evaluations of the misfit and its gradient")
    for layer, (value, true) in enumerate(zip(fit.conductivity, TRUE, strict=True), 1):
        print(f"layer {layer}: conductivity {value:.4f} (true: {true})")
    return fit


def plot(figure: Figure, fit: Fit) -> None:
    """Draws the conductivities over the wall."""
    axes = figure.subplots()
    edges = np.linspace(0, 1, TRUE.size + 1)
    axes.stairs(TRUE, edges, label="true", linewidth=4, alpha=0.4)
    axes.stairs(fit.conductivity, edges, label="found")
    axes.set(xlabel="depth", ylabel="conductivity")
    axes.legend()


if __name__ == "__main__":
    run(main, plot)
