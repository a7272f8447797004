"""Rates of a reaction, found from measurements through SciPy's solvers, and how sure what follows is.

Run it with `python examples/reaction_rates.py`. A substance A becomes B, which becomes C:

    a' = -first * a          b' = first * a - second * b

From samples of B, with errors, the rates are found by least squares: `solve_ivp` solves the equations,
and its derivative by the rates is that of its own steps. B is at its maximum where its rate of change is
zero, which `brentq` finds; the derivative of that time by the rates is that of an implicit function, and
gives its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize

import s2sad

Vector = NDArray[np.float64]
TRUE_RATES = np.array([1.2, 0.4])  # per hour
TIMES = np.linspace(0.25, 6.0, 24)
ERROR = 0.01


def concentrations(rates: Vector) -> Any:
    """B at all times of measurement, of one unit of A at first."""

    def change(t: float, y: Vector) -> Any:
        return np.stack([-rates[0] * y[0], rates[0] * y[0] - rates[1] * y[1]])

    start = np.array([1.0, 0.0])
    return solve_ivp(change, (0.0, 6.0), start, t_eval=TIMES, rtol=1e-8, atol=1e-10).y[1]


def misfit(rates: Vector, measured: Vector) -> Any:
    """Half the sum of the squared errors, in units of their standard deviation."""
    return 0.5 * np.sum(((concentrations(rates) - measured) / ERROR) ** 2)


def time_of_maximum(rates: Vector) -> Any:
    """When there is most of B: before, more of it is made than is lost."""

    def gain(t: float) -> Any:
        made = np.exp(-rates[0] * t) * rates[0]
        return made - np.exp(-rates[1] * t) * rates[1]

    return brentq(gain, 0.0, 20.0)


@dataclass(frozen=True)
class Fit:
    """The rates, their standard errors, and the time of the maximum with its own."""

    rates: Vector
    errors: Vector
    maximum: float
    error: float


def main() -> Fit:
    """Fits the rates, prints what follows from them, and returns it."""
    rng = np.random.default_rng(0)
    measured = concentrations(TRUE_RATES) + ERROR * rng.normal(size=TIMES.size)

    found = minimize(s2sad.value_and_grad(misfit), np.array([0.5, 0.5]), (measured,), jac=True, method="BFGS")
    slopes = s2sad.jacobian(concentrations)(found.x) / ERROR
    covariance = np.linalg.inv(slopes.T @ slopes)
    maximum, slope = s2sad.value_and_grad(time_of_maximum)(found.x)
    result = Fit(
        found.x, np.sqrt(np.diag(covariance)), float(maximum), float(np.sqrt(slope @ covariance @ slope))
    )
    for name, rate, error, true in zip(
        ("first", "second"), result.rates, result.errors, TRUE_RATES, strict=True
    ):
        print(f"{name:>6} rate: {rate:.3f} ± {error:.3f} per hour (true: {true})")
    print(f"most of B after {result.maximum:.3f} ± {result.error:.3f} hours")
    return result


if __name__ == "__main__":
    main()
