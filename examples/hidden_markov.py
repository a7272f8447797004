"""Calm and restless years: a hidden Markov model of the number of great earthquakes, by maximum likelihood.

Run it with `python examples/hidden_markov.py`. The data are the earthquakes of magnitude 7 and more in each
year from 1900 to 2006 (US Geological Survey), as in Zucchini and MacDonald, "Hidden Markov Models for Time
Series" (2009), table 1.1. Each year is in one of three states, with a mean number of earthquakes each, and
the state changes from year to year with fixed probabilities. The book finds the means 13.1, 19.7 and 29.7.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, softmax

import s2sad

Array = NDArray[np.float64]
COUNTS = np.array([
    13, 14, 8, 10, 16, 26, 32, 27, 18, 32, 36, 24, 22, 23, 22, 18, 25, 21, 21, 14, 8, 11, 14, 23, 18,
    17, 19, 20, 22, 19, 13, 26, 13, 14, 22, 24, 21, 22, 26, 21, 23, 24, 27, 41, 31, 27, 35, 26, 28, 36,
    39, 21, 17, 22, 17, 19, 15, 34, 10, 15, 22, 18, 15, 20, 15, 22, 19, 16, 30, 27, 29, 23, 20, 16, 21,
    21, 25, 16, 18, 15, 18, 14, 10, 15, 8, 15, 6, 11, 8, 7, 18, 16, 13, 12, 13, 20, 15, 16, 12, 18, 15,
    16, 13, 15, 16, 11, 11,
])
STATES = 3


def unpack(params: Array) -> tuple[Array, Array, Array]:
    """The means, the probabilities of changes (a row for each state before), and those of the first state."""
    rates = np.exp(params[:STATES])
    changes = softmax(params[STATES:].reshape(STATES, STATES), axis=1)
    first = np.linalg.solve((np.eye(STATES) - changes + 1).T, np.ones(STATES))  # it is stationary
    return rates, changes, first


def negative_log_likelihood(params: Array, counts: Array) -> float:
    """Minus the logarithm of the probability of the counts, by the scaled forward algorithm."""
    rates, changes, forward = unpack(params)
    emission = np.exp(np.outer(counts, np.log(rates)) - rates - gammaln(counts + 1)[:, None])
    total = 0.0
    for year in range(len(counts)):
        if year > 0:
            forward = forward @ changes
        forward = forward * emission[year]
        scale = forward.sum()
        forward = forward / scale
        total -= np.log(scale)
    return total


@dataclass(frozen=True)
class Fit:
    """The mean number of earthquakes in each state, the probabilities of changes, and the objective."""

    rates: Array
    changes: Array
    negative_log_likelihood: float


def main() -> Fit:
    """Fits the model, prints and returns it."""
    guess = np.concatenate([np.log([10.0, 20.0, 30.0]), 2 * np.eye(STATES).ravel()])
    loss_and_gradient = s2sad.value_and_grad(negative_log_likelihood)
    found = minimize(loss_and_gradient, guess, (COUNTS,), jac=True, method="BFGS")
    rates, changes, _ = unpack(found.x)
    fit = Fit(rates, changes, float(found.fun))
    for rate, row in zip(fit.rates, fit.changes, strict=True):
        print(f"{rate:5.2f} earthquakes a year; next year's state:", ", ".join(f"{p:.2f}" for p in row))
    print(f"negative log likelihood {fit.negative_log_likelihood:.2f}")
    return fit


if __name__ == "__main__":
    main()
