"""A small convolutional network that reads handwritten digits.

Run it with `python examples/digits.py`. The parameters are arrays in a dict: sixteen filters of 3 x 3 pixels,
which are compared with all windows of a picture, and a linear layer, which sees the largest of four
neighbours. Adam trains it with mini-batches; the gradient is a dict of arrays, too.

The 1,797 pictures of 8 x 8 pixels are the test set of E. Alpaydin and C. Kaynak, "Optical Recognition of
Handwritten Digits", UCI Machine Learning Repository, 1998, doi.org/10.24432/C50P49, as scikit-learn's
`load_digits` has them: in `data/digits.npz`, under the licence CC BY 4.0.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from plotting import Figure, run

import s2sad

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Params = dict[str, Array]
DATA = Path(__file__).parent / "data" / "digits.npz"
FILTERS, BATCH, EPOCHS, RATE, TRAINED = 16, 50, 10, 0.01, 1_400


def read_digits() -> tuple[Array, Labels]:
    """The pictures, of shape (1797, 8, 8), between 0 and 1, and what they show."""
    with np.load(DATA) as data:
        return data["images"] / 16.0, data["labels"].astype(int)


def start(rng: np.random.Generator) -> Params:
    """The parameters to begin with."""
    return {
        "filters": rng.normal(0, 0.3, (FILTERS, 3, 3)),
        "shifts": np.zeros(FILTERS),
        "weights": rng.normal(0, 0.1, (9 * FILTERS, 10)),
        "biases": np.zeros(10),
    }


def scores(params: Params, images: Array) -> Array:
    """How well each picture fits each digit, of shape (pictures, 10)."""
    windows = sliding_window_view(images, (3, 3), axis=(1, 2))
    found = np.einsum("nyxij,fij->nyxf", windows, params["filters"]) + params["shifts"]
    found = np.maximum(found, 0).reshape(len(images), 3, 2, 3, 2, FILTERS)
    pooled: Array = found.max(axis=(2, 4)).reshape(len(images), -1)
    return pooled @ params["weights"] + params["biases"]


def loss(params: Params, images: Array, labels: Labels) -> float:
    """The mean negative log likelihood of the labels."""
    out = scores(params, images)
    highest = np.max(out, axis=1, keepdims=True)
    totals = np.log(np.sum(np.exp(out - highest), axis=1)) + highest[:, 0]
    total: float = np.mean(totals - out[np.arange(len(labels)), labels])
    return total


def train(images: Array, labels: Labels, rng: np.random.Generator) -> Params:
    """The parameters that Adam finds."""
    params = start(rng)
    gradient = s2sad.grad(loss)
    means = {name: np.zeros_like(value) for name, value in params.items()}
    squares = {name: np.zeros_like(value) for name, value in params.items()}
    for step in range(EPOCHS * len(labels) // BATCH):
        chosen = rng.integers(0, len(labels), BATCH)
        slopes = gradient(params, images[chosen], labels[chosen])
        for name, slope in slopes.items():
            means[name] = 0.9 * means[name] + 0.1 * slope
            squares[name] = 0.999 * squares[name] + 0.001 * slope**2
            mean, square = means[name] / (1 - 0.9 ** (step + 1)), squares[name] / (1 - 0.999 ** (step + 1))
            params[name] = params[name] - RATE * mean / (np.sqrt(square) + 1e-8)
    return params


@dataclass(frozen=True)
class Reading:
    """The network, how often it is right on pictures that it was trained with and on others, and a picture of
    these that it takes for another digit.
    """

    params: Params
    trained: float
    unseen: float
    mistake: Array


def show(image: Array) -> str:
    """The picture as text."""
    shades = np.array(list(" .:-=+*#%@"))
    return "\n".join("".join(np.repeat(row, 2)).rstrip() for row in shades[(image * 9 + 0.5).astype(int)])


def main() -> Reading:
    """Trains the network, prints how often it is right, and returns it."""
    rng = np.random.default_rng(0)
    images, labels = read_digits()
    order = rng.permutation(len(labels))
    images, labels = images[order], labels[order]
    params = train(images[:TRAINED], labels[:TRAINED], rng)
    read = np.argmax(scores(params, images), axis=1)
    right = read == labels
    wrong = TRAINED + int(np.argmin(right[TRAINED:]))
    result = Reading(params, right[:TRAINED].mean(), right[TRAINED:].mean(), images[wrong])
    print(f"right: {result.trained:.1%} of {TRAINED} pictures, {result.unseen:.1%} of others")
    print(f"a {labels[wrong]} that was read as a {read[wrong]}:")
    print(show(images[wrong]))
    return result


def plot(figure: Figure, reading: Reading) -> None:
    """Draws the filters."""
    for axes, values in zip(figure.subplots(4, FILTERS // 4).flat, reading.params["filters"], strict=True):
        axes.imshow(values, cmap="RdBu", vmin=-1.5, vmax=1.5)
        axes.set(xticks=[], yticks=[])


if __name__ == "__main__":
    run(main, plot)
