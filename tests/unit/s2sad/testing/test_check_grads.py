"""`check_grads` of what can be differentiated: objects, methods, partials, functions with defaults."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import s2sad

X, Y = np.array([[0.3, -0.5], [1.1, 0.4], [-0.2, 0.9]]), np.array([0.7, -0.3, 0.2])


class Layer:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b, self.name = w, b, "layer"

    def forward(self, x: Any) -> Any:
        return np.tanh(x @ self.w + self.b)

    def loss(self, x: Any, y: Any, scale: float = 2.0) -> Any:
        return scale * np.mean((self.forward(x) - y) ** 2)


class Net:
    def __init__(self, layers: list[Layer]) -> None:
        self.layers = layers

    def loss(self, x: Any, y: Any) -> Any:
        for layer in self.layers:
            x = layer.forward(x)
        return np.sum((x - y) ** 2)


@dataclass
class Line:
    w: Any
    b: float

    def loss(self, x: Any, y: Any) -> Any:
        return np.sum((x @ self.w + self.b - y) ** 2)


def loss(model: Any, x: Any, y: Any) -> Any:
    return model.loss(x, y)


def called_so(f: Any, called: Any, scale: float = 2.0) -> Any:
    return scale * np.sum(f * called)


def scaled(a: float, x: Any, *, power: int = 2, scale: float = 0.5) -> Any:
    return np.sum(a * x**power) * scale


LAYER = Layer(np.array([0.4, -0.6]), 0.2)
MODELS = {
    "of a class": LAYER,
    "that holds objects": Net([Layer(np.array([[0.4, 0.1], [-0.6, 0.3]]), np.array([0.2, 0.1])), LAYER]),
    "of a dataclass": Line(np.array([0.4, -0.6]), 0.2),
}


@pytest.mark.parametrize("kind", MODELS)
def test_an_object(kind: str) -> None:
    s2sad.check_grads(loss, (MODELS[kind], X, Y))


def polynomial(x: Any, *coefficients: float, scale: float = 2.0) -> Any:
    return scale * sum(c * x**k for k, c in enumerate(coefficients))


CALLABLES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a method": (LAYER.loss, (X, Y)),
    "a method, its default given": (LAYER.loss, (X, Y, 0.7)),
    "a partial": (functools.partial(scaled, 0.3), (Y,)),
    "a partial with a name": (functools.partial(scaled, 0.3, power=3), (Y,)),
    "a function with names that have defaults": (scaled, (0.3, Y)),
    "a function whose names are those of functions": (called_so, (0.3, Y)),
    "a function with a variable number of arguments": (polynomial, (0.3, 1.0, 0.5)),
    "a derivative": (s2sad.grad(scaled, "x"), (0.3, Y)),
    "a derivative of a method": (s2sad.value_and_grad(LAYER.loss, "y"), (X, Y)),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_a_callable(kind: str) -> None:
    f, args = CALLABLES[kind]
    s2sad.check_grads(f, args)


def twice(x: float) -> float:
    return 2.0 * x


@s2sad.bprop(twice)
def twice_rule(x: Any, out: Any, dout: Any) -> Any:
    return (3.0 * dout,)


@pytest.mark.parametrize("modes", [("rev",), ("fwd", "rev")])
def test_a_rule_that_is_wrong(modes: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="order 1"):
        s2sad.check_grads(lambda x: twice(x) ** 2, (0.7,), modes=modes)
