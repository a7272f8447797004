"""A Gaussian process on Fisher's iris: its scales are found from the marginal likelihood.

Run it with `python examples/gaussian_process.py`. The petal's width is predicted from the three other lengths
of a flower, with a length scale for each (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
2006, section 5.1). A length that says little gets a long scale. Every third flower is kept for the test. (The
data are those of `logistic_regression.py`.)
"""
from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
DATA = Path(__file__).parent / "data" / "iris.csv"
NAMES = ("sepal length", "sepal width", "petal length")


def kernel(a: Array, b: Array, variance: float, scales: Array) -> Array:
    """Covariances of the function's values at the rows of `a` and those of `b`."""
    difference = (a[:, None, :] - b[None, :, :]) / scales
    values: Array = variance * np.exp(-0.5 * np.sum(difference**2, axis=2))
    return values


def negative_log_likelihood(log_params: Array, x: Array, y: Array) -> float:
    """Minus the logarithm of the probability of `y`, over all functions."""
    variance, noise, *scales = np.exp(log_params)
    covariance = kernel(x, x, variance, np.array(scales))
    covariance[np.diag_indices(len(x))] += noise
    factor, lower = cho_factor(covariance, lower=True)
    fit = y @ cho_solve((factor, lower), y)
    log_det = 2 * np.sum(np.log(np.diag(factor)))
    total: float = 0.5 * (fit + log_det + len(x) * np.log(2 * np.pi))
    return total


def predict(log_params: Array, x: Array, y: Array, new: Array) -> tuple[Array, Array]:
    """Means and standard deviations of measurements at the rows of `new`."""
    variance, noise, *scales = np.exp(log_params)
    covariance = kernel(x, x, variance, np.array(scales)) + noise * np.eye(len(x))
    factor = cho_factor(covariance, lower=True)
    across = kernel(new, x, variance, np.array(scales))
    spread = variance + noise - np.sum(across.T * cho_solve(factor, across.T), axis=0)
    return across @ cho_solve(factor, y), np.sqrt(spread)


def read_iris() -> tuple[Array, Array]:
    """The first three lengths of each flower, scaled, and the petal's width in centimetres."""
    with DATA.open(newline="") as file:
        rows = [row[:4] for row in csv.reader(file) if len(row) == 5]
    table = np.array(rows[1:], dtype=float)
    x = table[:, :3]
    return (x - x.mean(axis=0)) / x.std(axis=0), table[:, 3]


@dataclass(frozen=True)
class Fit:
    """The likelihoods before and after, the parameters, and what became of the flowers kept for the test."""

    params: Array
    before: float
    after: float
    error: float
    deviation: float
    covered: float


def main() -> Fit:
    """Fits the scales, prints them and how good the predictions are, and returns all that."""
    x, y = read_iris()
    test = np.arange(len(x)) % 3 == 0
    mean = y[~test].mean()
    data = (x[~test], y[~test] - mean)
    guess = np.log([1.0, 0.1, 1.0, 1.0, 1.0])
    found = minimize(s2sad.value_and_grad(negative_log_likelihood), guess, data, jac=True, method="BFGS")
    predicted, spread = predict(found.x, *data, x[test])
    error = predicted + mean - y[test]
    fit = Fit(
        found.x,
        float(negative_log_likelihood(guess, *data)),
        float(found.fun),
        float(np.sqrt(np.mean(error**2))),
        float(y[test].std()),
        float(np.mean(np.abs(error) < 1.96 * spread)),
    )
    print(f"negative log marginal likelihood: {fit.before:.1f} -> {fit.after:.1f}")
    for name, scale in zip(NAMES, np.exp(found.x[2:]), strict=True):
        print(f"length scale of {name}: {scale:.1f} standard deviations")
    print(f"error on {test.sum()} other flowers: {fit.error:.3f} cm, of {fit.deviation:.3f} cm")
    print(f"{fit.covered:.0%} of them are within their intervals of 95%")
    return fit


if __name__ == "__main__":
    main()
