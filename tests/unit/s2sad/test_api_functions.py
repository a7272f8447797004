"""What can be differentiated: methods, partials, callable objects, lambdas, closures, and live globals."""

from __future__ import annotations

import functools
import linecache
import math
import operator
import types
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jacobian, jvp, value_and_grad, vjp
from tests.support.build import build


class Model:
    """A quadratic."""

    factor = 3.0

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def value(self, x: float) -> float:
        return self.scale * x**2 * self.factor

    @functools.partial(grad, argnums="x")
    def cube_slope(self, x: float) -> float:
        return self.scale * x**3

    @staticmethod
    def square(x: float) -> float:
        return x * x

    @classmethod
    def scaled(cls, x: float) -> float:
        return cls.factor * x * x

    def __call__(self, x: float) -> float:
        return self.scale * math.sin(x)


def test_methods() -> None:
    model = Model(2.0)
    assert grad(model.value)(5.0) == 60.0
    assert value_and_grad(model.value)(5.0) == (150.0, 60.0)
    assert grad(Model.value, argnums="x")(model, 5.0) == 60.0
    assert model.cube_slope(2.0) == 24.0
    assert grad(Model.square)(3.0) == grad(model.square)(3.0) == 6.0
    assert grad(Model.scaled)(3.0) == grad(model.scaled)(3.0) == 18.0
    assert grad(model)(0.0) == 2.0
    model.scale = 4.0
    assert grad(model.value)(5.0) == 120.0
    assert model.cube_slope(2.0) == 48.0


def test_methods_called_by_functions() -> None:
    model = Model(2.0)

    def f(x: float) -> float:
        return model.value(x) * x

    assert grad(f)(2.0) == 72.0
    assert jvp(f)(2.0, 1.0) == (48.0, 72.0)


def test_partials() -> None:
    def f(a: float, x: float, b: float = 1.0) -> float:
        return a * x**2 + b * x

    assert grad(functools.partial(f, 2.0))(3.0) == 13.0
    assert grad(functools.partial(f, 2.0, b=5.0))(3.0) == 17.0
    assert grad(functools.partial(functools.partial(f, 2.0), b=5.0))(3.0) == 17.0
    assert vjp(functools.partial(f, 2.0), 3.0, 1.0)[1](1.0) == (13.0, 3.0)


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (np.sin, 0.5, math.cos(0.5)),
        (math.exp, 0.5, math.exp(0.5)),
        (np.linalg.det, np.diag([2.0, 3.0]), np.diag([3.0, 2.0])),
        (abs, -2.0, -1.0),
        (float, 2.0, 1.0),
        (np.float64, 2.0, 1.0),
    ],
)
def test_primitives(f: Any, x: Any, expected: Any) -> None:
    np.testing.assert_allclose(grad(f)(x), expected)


def test_primitives_of_two_arguments() -> None:
    assert grad(operator.mul, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert grad(math.hypot, argnums=1)(3.0, 4.0) == 0.8
    np.testing.assert_allclose(jacobian(np.linalg.inv)(np.array([[2.0]])), [[[[-0.25]]]])


def test_several_lambdas_on_one_line() -> None:
    f, g = lambda x: x**2, lambda x: x**3
    many = [lambda x, k=k: x**k for k in range(2, 5)]
    nested = lambda x: (lambda y: y * y)(x) * x  # noqa: E731
    assert (grad(f)(2.0), grad(g)(2.0), grad(nested)(2.0)) == (4.0, 12.0, 12.0)
    assert [grad(h)(2.0) for h in many] == [4.0, 12.0, 32.0]


def test_closures_share_code_and_not_values() -> None:
    def power(n: int, scale: Any) -> Any:
        def f(x: Any) -> Any:
            return np.sum(scale * x**n)

        return f

    gradients = [grad(power(n, scale)) for n in (1, 2, 3) for scale in (1.0, np.array([1.0, 2.0]))]
    assert [g(2.0) for g in gradients] == [1.0, 3.0, 4.0, 12.0, 12.0, 36.0]
    assert [g(2.0) for g in reversed(gradients)] == [36.0, 12.0, 12.0, 4.0, 3.0, 1.0]


def test_cells_are_read_at_each_call() -> None:
    scale: Any = 2.0

    def square(x: float) -> float:
        return x * x

    def cube(x: float) -> float:
        return x**3

    inner = square

    def f(x: float) -> Any:
        return np.sum(inner(x) * scale)

    gradient = grad(f)
    assert gradient(3.0) == 12.0
    scale = 5.0
    assert gradient(3.0) == 30.0
    scale = np.array([1.0, 2.0, 3.0])
    assert gradient(3.0) == 36.0

    inner = cube
    assert gradient(3.0) == 162.0


GLOBALS = """
scale = 2.0
table = [1.0, 2.0]
def inner(x):
    return x * x
class Settings:
    rate = 1.0
def f(x):
    return np.sum(inner(x) * scale * table[0] * Settings.rate * other.factor)
"""


def test_globals_are_read_at_each_call() -> None:
    other = types.ModuleType("other")
    other.factor = 1.0  # type: ignore[attr-defined]
    f = build(GLOBALS, other=other)
    names = f.__globals__
    gradient = grad(f)
    assert gradient(3.0) == 12.0
    names["scale"] = 5.0
    assert gradient(3.0) == 30.0
    names["scale"] = np.array([1.0, 2.0])
    assert gradient(3.0) == 18.0
    names["table"][0] = 10.0
    assert gradient(3.0) == 180.0
    names["table"][0] = np.array([1.0, 2.0])
    assert gradient(3.0) == 30.0
    names["Settings"].rate = 2.0
    assert gradient(3.0) == 60.0
    other.factor = 0.5  # type: ignore[attr-defined]
    assert gradient(3.0) == 30.0
    names["inner"] = lambda x: x**3
    assert gradient(3.0) == 135.0
    names["np"] = types.SimpleNamespace(sum=lambda x: 7.0 * x[0])
    assert gradient(3.0) == 189.0


def test_attributes_of_modules_that_are_functions_are_live() -> None:
    tools = types.ModuleType("tools")
    f = build(
        "def square(x): return x * x\ndef cube(x): return x ** 3\ndef f(x): return tools.inner(x)",
        tools=tools,
    )
    tools.inner = f.__globals__["square"]  # type: ignore[attr-defined]
    gradient = grad(f)
    assert gradient(2.0) == 4.0
    tools.inner = f.__globals__["cube"]  # type: ignore[attr-defined]
    assert gradient(2.0) == 12.0


def test_functions_from_exec() -> None:
    text = "def f(x):\n    return x * helper(x)\ndef helper(x):\n    return x + 1\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    names: dict[str, Any] = {}
    exec(compile(text, "<cell 1>", "exec"), names)
    assert grad(names["f"])(3.0) == 7.0


def test_recursion() -> None:
    def power(x: float, n: int) -> float:
        return 1.0 if n == 0 else x * power(x, n - 1)

    def is_even(x: float, n: int) -> float:
        return x if n == 0 else x * is_odd(x, n - 1)

    def is_odd(x: float, n: int) -> float:
        return 2.0 * x if n == 0 else is_even(x, n - 1)

    assert grad(power)(2.0, 5) == 80.0
    assert grad(grad(power))(2.0, 5) == 160.0
    assert grad(is_even)(2.0, 4) == 12.0
    assert grad(is_even)(2.0, 3) == 24.0  # 2 x^3


def test_many_kinds_of_arguments_and_more_than_are_kept() -> None:
    gradient = grad(lambda x: np.sum(x * x))
    for count in [*range(1, 45), *range(1, 45)]:
        x = np.ones((1,) * (count % 20) + (count,))
        np.testing.assert_array_equal(gradient(x), 2 * x)
