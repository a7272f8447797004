"""A differential equation fitted to noisy data: the gradient of 1,000 Runge-Kutta steps in plain Python.

Run it with `python examples/lotka_volterra.py`. The populations of prey and predators follow the equations of
Lotka and Volterra,

    prey' = growth * prey - hunting * prey * predators
    predators' = feeding * prey * predators - decline * predators,

time in years. From counts twice a year, with errors of 5%, the four rates are found again by least squares.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import s2sad

Pair = tuple[float, float]
NAMES = ("growth", "hunting", "feeding", "decline")
TRUE_RATES = (1.0, 0.4, 0.3, 0.9)
START = (3.0, 1.0)  # prey and predators, in thousands
STEPS, EVERY, DT = 1_000, 25, 0.02


def change(prey: float, predators: float, growth: float, hunting: float, feeding: float,
           decline: float) -> Pair:
    """How fast the populations change."""
    met = prey * predators
    return growth * prey - hunting * met, feeding * met - decline * predators


def advance(prey: float, predators: float, growth: float, hunting: float, feeding: float,
            decline: float) -> Pair:
    """The populations one time step later, by the classical Runge-Kutta method of fourth order."""
    a1, b1 = change(prey, predators, growth, hunting, feeding, decline)
    a2, b2 = change(prey + DT / 2 * a1, predators + DT / 2 * b1, growth, hunting, feeding, decline)
    a3, b3 = change(prey + DT / 2 * a2, predators + DT / 2 * b2, growth, hunting, feeding, decline)
    a4, b4 = change(prey + DT * a3, predators + DT * b3, growth, hunting, feeding, decline)
    return prey + DT / 6 * (a1 + 2 * a2 + 2 * a3 + a4), predators + DT / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


def misfit(growth: float, hunting: float, feeding: float, decline: float,
           seen_prey: list[float], seen_predators: list[float]) -> float:
    """The sum of the squared relative errors of the solution, at each `EVERY`-th step."""
    prey, predators = START
    total = 0.0
    for i in range(STEPS):
        prey, predators = advance(prey, predators, growth, hunting, feeding, decline)
        if i % EVERY == EVERY - 1:
            total = total + math.log(prey / seen_prey[i // EVERY]) ** 2
            total = total + math.log(predators / seen_predators[i // EVERY]) ** 2
    return total


@dataclass(frozen=True)
class Fit:
    """The rates that were found, and the misfit of these and of the true ones."""

    rates: tuple[float, ...]
    misfit: float
    true_misfit: float
    evaluations: int


def observe(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Counts of the true populations, with errors of 5%."""
    prey, predators = START
    seen_prey, seen_predators = [], []
    for i in range(STEPS):
        prey, predators = advance(prey, predators, *TRUE_RATES)
        if i % EVERY == EVERY - 1:
            seen_prey.append(prey * math.exp(rng.normal(0, 0.05)))
            seen_predators.append(predators * math.exp(rng.normal(0, 0.05)))
    return seen_prey, seen_predators


def main() -> Fit:
    """Fits the rates, prints them beside the true ones, and returns them."""
    seen = observe(np.random.default_rng(0))
    misfit_and_gradient = s2sad.value_and_grad(misfit, argnums=(0, 1, 2, 3))

    def objective(rates: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = misfit_and_gradient(*rates.tolist(), *seen)
        return value, np.array(gradient)

    guess = np.array([0.8, 0.5, 0.4, 0.7])
    found = minimize(objective, guess, jac=True, method="L-BFGS-B", bounds=[(0.05, 3.0)] * 4)
    result = Fit(tuple(found.x.tolist()), float(found.fun), misfit(*TRUE_RATES, *seen), found.nfev)
    print(f"{result.evaluations} evaluations of the misfit and its gradient")
    for name, rate, true in zip(NAMES, result.rates, TRUE_RATES, strict=True):
        print(f"{name:>8}: {rate:.4f} (true: {true})")
    return result


if __name__ == "__main__":
    main()
