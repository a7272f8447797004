"""Rules that users write for their own functions and for functions without source."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import s2sad
from tests.support.compare import check_program, check_second

cube = operator.methodcaller("__pow__", 3)  # has no source


@s2sad.bprop(cube, "elementwise")
def cube_rule(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * 3 * x**2,)


def stable(x: Any) -> Any:
    return np.log(np.exp(x) + 1)


@s2sad.bprop(stable)
def stable_rule(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout / (1 + np.exp(-x)),)


@stable_rule.jvp
def stable_jvp(x, out, dx):  # type: ignore[no-untyped-def]
    return dx / (1 + np.exp(-x))


def of_both(x: Any, y: float) -> Any:
    return np.sum(cube(x) * stable(x)) * y


def test_both_modes_and_twice() -> None:
    x = np.array([0.5, 1.5, -0.7])
    check_program(of_both, (x, 1.3), (0, 1))
    check_second(of_both, (x, 1.3), (0, 1))


def test_the_rule_stands_in_the_source() -> None:
    source = s2sad.grad(of_both).source_for(np.ones(3), 1.0)
    assert "3 * x ** 2" in source
    assert "1 + np.exp(-x)" in source


def test_a_bare_function_with_a_rule() -> None:
    assert math.isclose(s2sad.grad(cube)(2.0), 12.0)


def transpose(v: Any) -> Any:
    return np.exp(v)


def ones_like(v: Any) -> Any:
    return 2 * v


def hyperbolic(x: Any) -> Any:
    return np.sinh(x)


@s2sad.bprop(hyperbolic)
def hyperbolic_rule(x, out, dout):  # type: ignore[no-untyped-def]
    return (-np.cosh(x) * transpose(-dout) * np.e,)


def square(x: Any) -> Any:
    return x * x


@s2sad.bprop(square)
def square_rule(x, out, dout):  # type: ignore[no-untyped-def]
    return (dout * ones_like(x),)


def of_rows(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += np.sum(hyperbolic(a[i]))
    return s


def of_square(a: Any) -> Any:
    return np.sum(square(a * 3.0))


def test_helpers_of_rules_are_known_by_what_they_are_and_not_by_name() -> None:
    a = np.array([[0.1, 0.5], [0.7, -0.3]])
    assert np.allclose(s2sad.grad(of_rows)(a), -np.cosh(a))
    assert np.allclose(s2sad.grad(of_square)(a), 18 * a)
