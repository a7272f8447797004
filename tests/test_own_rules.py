"""Rules that users write for their own functions and for functions without source."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import s2sad
from tests.compare import check_program, check_second

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
