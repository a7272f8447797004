"""Infinite slopes of Python's floats: the error says which of the user's statements has no finite one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad


def in_between(x: float, y: float) -> float:
    a = y * 2
    r = math.sqrt(x)  # here
    s = math.log(y) * r
    return 3 * s + a


def of_a_power(x: float, y: float) -> float:
    z = x * y
    return z**0.5 + y  # here


def in_a_branch(x: float, y: float) -> float:
    z = x * 2
    if z > -y:
        t = math.asin(z + 1.0)  # here
        return t * 2
    return z


def root(v: float) -> float:
    return math.sqrt(v)  # here


def called(x: float, y: float) -> float:
    z = x + 0.0
    return root(z) * y


def recursive(x: float, y: float) -> float:
    return math.sqrt(x) if y < 0 else recursive(x, y - 1)  # here


def in_a_loop(x: float, y: float) -> float:
    s = y
    for i in range(2):
        s += math.sqrt(x * i)  # here
    return s


def of_two(x: float, y: float) -> float:
    return math.atan2(x, y - y)  # here


PROGRAMS = [in_between, of_a_power, in_a_branch, called, recursive, in_a_loop, of_two]
FORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: s2sad.grad(f)(0.0, 0.5),
    "value_and_grad": lambda f: s2sad.value_and_grad(f)(0.0, 0.5),
    "vjp": lambda f: s2sad.vjp(f)(0.0, 0.5)[1](1.0),
    "jvp": lambda f: s2sad.jvp(f, argnums=0)(0.0, 0.5, 1.0),
    "reverse twice": lambda f: s2sad.grad(lambda x: s2sad.grad(f)(x, 0.5))(0.0),
    "forward over reverse": lambda f: s2sad.jvp(lambda x: s2sad.grad(f)(x, 0.5))(0.0, 1.0),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("form", FORMS)
def test_the_error_says_which_statement_has_no_finite_slope(f: Any, form: str) -> None:
    with pytest.raises(s2sad.InfiniteSlopeError, match="slope") as caught:
        FORMS[form](f)
    error = caught.value
    assert isinstance(error, ZeroDivisionError) and error.why and error.instead
    assert error.where is not None and error.where.filename == __file__
    lines, start = inspect.getsourcelines(root if f is called else f)
    marked = start + next(k for k, line in enumerate(lines) if "# here" in line)
    assert error.where.line == marked, str(error)


def inverse(x: float) -> float:
    return 1 / x


def of_an_inverse(x: float) -> float:
    return math.sqrt(x) * inverse(x)


def remainder(x: float, n: int = 0) -> float:
    return x * (5 % n)


@pytest.mark.parametrize("f", [inverse, of_an_inverse, remainder])
def test_what_the_function_itself_raises_stays_what_it_is(f: Any) -> None:
    for derivative in (s2sad.grad(f), s2sad.value_and_grad(f), s2sad.vjp(f)):
        with pytest.raises(ZeroDivisionError) as caught:
            derivative(0.0)
        assert type(caught.value) is ZeroDivisionError
    with pytest.raises(ZeroDivisionError) as caught:
        s2sad.jvp(f)(0.0, 1.0)
    assert type(caught.value) is ZeroDivisionError


def test_who_takes_exceptions_of_arithmetic_goes_on() -> None:
    slope = s2sad.grad(root)

    def step(x: float, y: float) -> float:
        try:
            d = slope(x)
        except ZeroDivisionError:
            d = 1.0
        return d * y

    assert step(0.0, 3.0) == 3.0
    assert s2sad.grad(step, argnums=1)(0.0, 3.0) == 1.0


def test_numbers_of_numpy_have_infinite_slopes() -> None:
    with np.errstate(divide="ignore"):
        assert s2sad.grad(lambda x: np.sqrt(x))(np.float64(0.0)) == np.inf
        assert s2sad.grad(lambda x: np.log(x + 1.0))(np.array(-1.0)) == np.inf
