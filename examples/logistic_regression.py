"""Softmax regression on Fisher's iris: the loss in plain NumPy, its gradient from s2sad, the fit by SciPy.

Run it with `python examples/logistic_regression.py`. It prints the gradient's generated source, how the fit
went, and how many of the flowers the fitted model names correctly.

The data are all 150 flowers of R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals
of Eugenics 7 (1936), 179-188: lengths and widths in centimetres, as printed there. The UCI repository's copy
has two flowers wrong, the 35th and the 38th; `data/iris.csv` has the paper's values.
"""
from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
SPECIES = ("setosa", "versicolor", "virginica")
DATA = Path(__file__).parent / "data" / "iris.csv"


def loss(params: Array, x: Array, labels: Labels, penalty: float) -> float:
    """The mean negative log-likelihood of the labels, and a penalty on large weights."""
    weights = params.reshape(x.shape[1] + 1, -1)
    scores = x @ weights[:-1] + weights[-1]
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    mean: float = np.mean(log_total - scores[np.arange(len(labels)), labels])
    return mean + penalty * np.sum(weights[:-1] ** 2)


@dataclass(frozen=True)
class Fit:
    """A fitted model: its weights (one column a species; the last row is constant), its loss and the gradient
    there, the share of flowers that it names correctly, and the source of the gradient.
    """

    weights: Array
    loss: float
    gradient: Array
    accuracy: float
    source: str


def read_iris() -> tuple[Array, Labels]:
    """The measurements, one row a flower, and the number of each flower's species."""
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "species"]
    measurements = np.array([[float(row[name]) for name in names] for row in rows])
    return measurements, np.array([SPECIES.index(row["species"]) for row in rows])


def main() -> Fit:
    """Fits the model, prints what was found, and returns it."""
    measurements, labels = read_iris()
    x = (measurements - measurements.mean(axis=0)) / measurements.std(axis=0)
    start = np.zeros((x.shape[1] + 1) * len(SPECIES))
    data = (x, labels, 1e-3)

    loss_and_gradient = s2sad.value_and_grad(loss)
    source = loss_and_gradient.source_for(start, *data)
    print(source)

    found = minimize(loss_and_gradient, start, args=data, jac=True, method="BFGS")
    weights = found.x.reshape(-1, len(SPECIES))
    accuracy = float(np.mean(np.argmax(x @ weights[:-1] + weights[-1], axis=1) == labels))
    print(f"{found.message} {found.nit} iterations, {found.nfev} evaluations of the loss and its gradient")
    print(f"loss {found.fun:.4f}, {accuracy:.1%} of {len(labels)} flowers named correctly")
    return Fit(weights, float(found.fun), found.jac, accuracy, source)


if __name__ == "__main__":
    main()
