"""Derivatives of functions that take a variable number of arguments."""

from __future__ import annotations

import functools
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program, check_second


def powers(x: float, *coefficients: float, scale: float = 1.0, **named: float) -> float:
    total = 0.0
    for k, c in enumerate(coefficients):
        total += c * x**k
    return total * scale + named.get("shift", 0.0) * x


def doubled(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return 2.0 * f(*args, **kwargs)

    return wrapper


@doubled
def product(x: float, y: float = 2.0) -> float:
    return x * y * y


class Model:
    @doubled
    def value(self, x: float, y: float) -> float:
        return x * y

    def total(self, *xs: float) -> float:
        return sum(x * x for x in xs)


def test_both_modes_and_second_order() -> None:
    check_program(powers, (0.5, 1.5, 2.5), (0, 1, 2))
    check_second(powers, (0.5, 1.5, 2.5), (0, 1, 2))
    check_program(powers, (0.5,), (0,))


def test_named_arguments() -> None:
    gradient = s2sad.grad(powers, argnums=(0, "scale", "shift"))
    assert gradient(0.5, 1.0, 3.0, scale=2.0, shift=4.0) == (10.0, 2.5, 0.5)
    assert s2sad.grad(powers)(0.5, 1.0, 3.0) == 3.0


def test_all_transforms() -> None:
    assert s2sad.vjp(powers, 0.5, 1.0, 3.0)[1](1.0) == (3.0, 1.0, 0.5, 2.5)
    assert s2sad.jvp(powers, (0.5, 1.0, 3.0), (1.0, 0.0, 0.0)) == (2.5, 3.0)
    assert s2sad.jvp(powers, argnums=2)(0.5, 1.0, 3.0, 1.0) == (2.5, 0.5)
    assert s2sad.value_and_grad(powers)(0.5, 1.0, 3.0) == (2.5, 3.0)
    assert s2sad.jacobian(powers)(0.5, 1.0, 3.0) == 3.0
    assert s2sad.hessian(powers)(0.5, 1.0, 3.0, 5.0) == 10.0
    assert s2sad.hvp(powers)(0.5, 1.0, 3.0, 5.0, 2.0) == 20.0
    assert s2sad.grad(s2sad.grad(powers))(0.5, 1.0, 3.0, 5.0) == 10.0
    assert s2sad.grad()(powers)(0.5, 1.0, 3.0) == 3.0


def test_within_differentiated_code() -> None:
    def slope(x: float, c: float) -> float:
        return s2sad.grad(powers)(x, c, c * x) * x

    check_program(slope, (0.5, 1.5), (0, 1))


def test_decorated_functions_have_the_signature_of_what_they_wrap() -> None:
    gradient = s2sad.grad(product, argnums=(0, "y"))
    assert list(inspect.signature(gradient).parameters) == ["x", "y"]
    assert gradient(3.0) == (8.0, 24.0)
    assert gradient(3.0, y=1.0) == (2.0, 12.0)
    assert s2sad.grad(product, argnums=-1)(3.0) == s2sad.grad(product, argnums=1)(3.0, y=2.0) == 24.0
    assert s2sad.grad(s2sad.grad(product), "y")(3.0) == 8.0
    assert "def wrapper_grad(x):" in s2sad.grad(product).source_for(3.0)
    check_program(product, (0.5, 1.5), (0, 1))
    check_second(product, (0.5, 1.5), (0, 1))


def test_methods_and_partials() -> None:
    assert s2sad.grad(Model().value, argnums=(0, 1))(2.0, 3.0) == (6.0, 4.0)
    assert s2sad.grad(Model().total, argnums=1)(2.0, 3.0) == 6.0
    assert s2sad.grad(functools.partial(powers, 0.5, scale=2.0))(1.0, 3.0) == 2.0


def test_the_source_for_some_arguments() -> None:
    assert "3.0" in s2sad.grad(powers).source_for(0.5, 1.0, 3.0) or "x" in s2sad.grad(powers).source_for(0.5)
    assert s2sad.jvp(powers).source_for(0.5, 1.0).startswith("def powers_jvp")


def test_it_pickles_and_shows_its_function() -> None:
    gradient = s2sad.grad(powers, argnums=1)
    assert repr(gradient) == "<grad of powers>"
    assert gradient.__name__ == "powers"
    assert pickle.loads(pickle.dumps(gradient))(0.5, 1.0, 3.0) == 1.0


def test_errors_are_pythons_own() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        s2sad.grad(powers)()
    with pytest.raises(s2sad.NonDifferentiableError, match="argnums=5"):
        s2sad.grad(powers, argnums=5)(np.ones(2), 1.0)


ANTOINE = """
def antoine(T, a, b, c):
    return 10 ** (a - b / (c + T))

def f(x):
    constants = [(6.0, 1200.0, 220.0), (6.2, 1300.0, 215.0)]
    T, turns = 60.0, 0
    while turns < 3:
        T = T + 1e-3 * sum(y * antoine(T, *p) for y, p in zip(x, constants))
        turns += 1
    return T
"""


def test_tuples_of_numbers_stay_known_when_they_are_passed_by_a_star() -> None:
    f = build(ANTOINE)
    x = np.array([0.4, 0.6])
    assert "call_star" not in s2sad.grad(f).source_for(x)
    check_program(f, (x,), (0,))
