"""A small neural network on Fisher's iris: plain classes with NumPy arrays, a `loss` method, and its gradient
by the object.

Run it with `python examples/iris_network.py`. Nothing is registered and nothing derives from a class of
s2sad's: the gradient of the network is an object with the network's attributes. (The data are those of
`logistic_regression.py`.)
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import s2sad

Array = NDArray[np.float64]
SPECIES = ("setosa", "versicolor", "virginica")
DATA = Path(__file__).parent / "data" / "iris.csv"


class Dense:
    """A layer `tanh(x @ weights + bias)`; without `bend` it is linear."""

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator, bend: bool = True) -> None:
        self.weights = rng.normal(size=(inputs, outputs)) / np.sqrt(inputs)
        self.bias = np.zeros(outputs)
        self.bend = bend

    def __call__(self, x: Array) -> Array:
        y: Array = x @ self.weights + self.bias
        return np.tanh(y) if self.bend else y


class Network:
    """Layers one behind the other, and a penalty on large weights."""

    def __init__(self, sizes: list[int], penalty: float = 1e-3) -> None:
        rng = np.random.default_rng(0)
        last = len(sizes) - 2
        self.layers = [
            Dense(a, b, rng, k < last) for k, (a, b) in enumerate(pairwise(sizes))
        ]
        self.penalty = penalty

    def scores(self, x: Array) -> Array:
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x: Array, labels: NDArray[np.intp]) -> float:
        """The mean negative log-likelihood of the labels, and the penalty."""
        scores = self.scores(x)
        scores = scores - np.max(scores, axis=1, keepdims=True)
        log_total = np.log(np.sum(np.exp(scores), axis=1))
        mean = np.mean(log_total - scores[np.arange(len(labels)), labels])
        size = sum(np.sum(layer.weights**2) for layer in self.layers)
        total: float = mean + self.penalty * size
        return total

    def accuracy(self, x: Array, labels: NDArray[np.intp]) -> float:
        return float(np.mean(np.argmax(self.scores(x), axis=1) == labels))


def read_iris() -> tuple[Array, NDArray[np.intp]]:
    """The four lengths of each flower, scaled, and the numbers of the species."""
    with DATA.open(newline="") as file:
        rows = [row for row in csv.reader(file) if row and row[-1] in SPECIES]
    x = np.array([[float(v) for v in row[:4]] for row in rows])
    return (x - x.mean(axis=0)) / x.std(axis=0), np.array([SPECIES.index(row[-1]) for row in rows])


def train(
    network: Network, x: Array, labels: NDArray[np.intp], steps: int = 300, rate: float = 0.5
) -> list[float]:
    """Gradient descent; the losses on the way."""
    step: Any = s2sad.value_and_grad(Network.loss)
    losses = []
    for _ in range(steps):
        value, gradient = step(network, x, labels)
        for layer, change in zip(network.layers, gradient.layers, strict=True):
            layer.weights -= rate * change.weights
            layer.bias -= rate * change.bias
        losses.append(value)
    return losses


def main() -> tuple[Network, list[float]]:
    x, labels = read_iris()
    network = Network([4, 8, 3])
    losses = train(network, x, labels)
    print(s2sad.value_and_grad(Network.loss).source_for(network, x, labels))
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, {network.accuracy(x, labels):.1%} of {len(x)} flowers")
    return network, losses


if __name__ == "__main__":
    main()
