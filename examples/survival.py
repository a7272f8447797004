"""How long remissions last: a Weibull model and Cox's model of censored data, by maximum likelihood.

Run it with `python examples/survival.py`. Of 42 children with leukaemia half got 6-mercaptopurine; the data
are the weeks until each relapsed, or how long it was watched without (Freireich et al., Blood 21 (1963),
699-716). Cox took them as the example of his model ("Regression models and life tables", 1972).
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
TREATED = [6, 6, 6, 7, 10, 13, 16, 22, 23]
WATCHED = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]  # treated, and without a relapse so long
WEEKS = np.array(PLACEBO + TREATED + WATCHED, dtype=float)
RELAPSED = np.arange(len(WEEKS)) < len(PLACEBO) + len(TREATED)
DRUG = (np.arange(len(WEEKS)) >= len(PLACEBO)).astype(float)


def weibull(params: Array) -> float:
    """Minus the log likelihood, where log(weeks) = intercept + effect * drug + scale * error."""
    intercept, effect, log_scale = params
    z = (np.log(WEEKS) - intercept - effect * DRUG) / np.exp(log_scale)
    log_hazard = z - log_scale - np.log(WEEKS)
    total: float = np.sum(np.exp(z)) - np.sum(log_hazard[RELAPSED])
    return total


def cox(effect: Array) -> float:
    """Minus the log of the partial likelihood; relapses in the same week share their risk (Breslow)."""
    risk = effect * DRUG
    total = 0.0
    for week, score in zip(WEEKS[RELAPSED], risk[RELAPSED], strict=True):
        at_risk = week <= WEEKS
        total -= score - np.log(np.sum(np.exp(risk[at_risk])))
    return total


@dataclass(frozen=True)
class Fit:
    """Parameters, their standard errors from the Hessian, and the log likelihood."""

    params: Array
    errors: Array
    log_likelihood: float


def fit(loss: Callable[[Array], float], guess: Array) -> Fit:
    """The model of most likelihood, by Newton's method with a trust region."""
    hessian = s2sad.hessian(loss)
    found = minimize(s2sad.value_and_grad(loss), guess, jac=True, hess=hessian, method="trust-exact")
    return Fit(found.x, np.sqrt(np.diag(np.linalg.inv(hessian(found.x)))), -float(found.fun))


def main() -> tuple[Fit, Fit]:
    """Fits both models, prints and returns them."""
    accelerated = fit(weibull, np.array([2.0, 0.0, 0.0]))
    for name, value, error in zip(
        ("intercept", "drug", "log scale"), accelerated.params, accelerated.errors, strict=True
    ):
        print(f"Weibull, {name}: {value:.3f} ± {error:.3f}")
    hazards = fit(cox, np.zeros(1))
    (effect,), (error,) = hazards.params, hazards.errors
    print(f"Cox, drug: {effect:.3f} ± {error:.3f}, relapses {np.exp(-effect):.1f} times as rare")
    return accelerated, hazards


if __name__ == "__main__":
    main()
