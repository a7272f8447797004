"""Functions whose derivatives are exported."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

import s2sad
from tests.unit.s2sad.tools import exported_units as units

RATE = 2.5
WEIGHTS = np.array([[1.0, 1e-300], [math.inf, 3.0]])
TABLE = {"low": (0.1, -0.0), "high": [1, 2]}
Pair = namedtuple("Pair", "first second")


@dataclass
class Box:
    width: float
    height: float

    def area(self) -> float:
        return self.width * self.height


def damped(t: Any, a: Any, b: Any) -> Any:
    decay = np.exp(-a * t) * RATE
    return decay * np.cos(b * t)


def square_root(a: float, tolerance: float = 1e-12) -> float:
    x = a
    while abs(x * x - a) > tolerance:
        x = 0.5 * (x + a / x)
    return x


def diffuse(u: Any, steps: int) -> Any:
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[:] = v
    return np.sum(u * u) * exp(units.SCALE * u[0]) + TABLE["low"][0] * u[0]


def layers(parameters: Any, x: Any) -> Any:
    for weights, bias in parameters:
        x = np.tanh(x @ weights + bias)
    return np.sum(x * WEIGHTS[0, 0])


def fibonacci(x: float, n: int) -> float:
    return x if n < 2 else fibonacci(x, n - 1) * math.sin(x) + fibonacci(x * x, n - 2)


def of_pair(x: float) -> float:
    pair = Pair(x, x * x)
    return pair.first * pair.second


def of_box(x: float) -> float:
    return Box(x, x + 1.0).area()


def own_rule(x: float) -> float:
    return math.floor(x) + x * x


@s2sad.bprop(own_rule, "elementwise")
def own_rule_bprop(x: Any, out: Any, dout: Any) -> Any:
    return (dout * 2 * x,)


def with_own_rule(x: float) -> float:
    return own_rule(x) * own_rule(3.0 * x)


def caught(x: float) -> float:
    try:
        return x * x / len(str(x)) if x > 1.0 else 1.0 / (x - x)
    except ZeroDivisionError:
        return 5.0 * x


def shadowed(type: float, np_: float, out: float) -> float:
    add = type * np_
    return add * math.exp(out) * add


def applied(f: Any, x: float) -> float:
    return f(f(x))


def counted(x: float) -> float:
    global RATE
    RATE = RATE + 1.0
    return x * RATE


def keyword_only(x: float, *, scale: float = RATE) -> float:
    return x * x * scale


def matrix(x: Any, w: Any) -> Any:
    return np.tanh(x @ w)


def swept(u: Any, sweeps: int) -> Any:
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) * RATE
    return np.sum(u * u)


def stretched(box: Any) -> Any:
    return Box(box.width * 2.0, box.height).area() if isinstance(box, Box) else box.width
