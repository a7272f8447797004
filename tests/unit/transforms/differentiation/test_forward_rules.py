"""Forward mode of one operation, by the structure of its rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.analysed import assert_derivative, stage
from tests.support.build import build
from tests.support.compare import check_program

V, M = np.arange(1.0, 4.0), np.arange(1.0, 10.0).reshape(3, 3) + 9 * np.eye(3)

PAIRS: dict[str, tuple[str, str, tuple[Any, ...], tuple[int, ...]]] = {
    "elementwise: a term for each active operand": (
        "def f(x, y):\n    return np.arctan2(x, y)",
        "dout = dx * y / (y ** 2 + x ** 2) + -dy * x / (y ** 2 + x ** 2)",
        (V, V + 1),
        (),
    ),
    "elementwise: one operand of two": ("def f(x, y):\n    return x * y", "dout = dy * x", (V, V), (1,)),
    "elementwise: spread when no term has the result's shape": (
        "def f(x, y):\n    return x + y",
        "dout = broadcast_like(dx, out)",
        (2.5, V),
        (0,),
    ),
    "linear: the function itself, on the tangent": (
        "def f(v, m):\n    return np.roll(v, 1)",
        "dout = np.roll(dv, 1)",
        (V, M),
        (0,),
    ),
    "linear: in all of its arrays at once": (
        "def f(v, w):\n    return np.concatenate((v, w))",
        "dout_1 = dv, dw\nout = np.concatenate(out_1)\ndout = np.concatenate([dv, dw])",
        (V, V),
        (0, 1),
    ),
    "linear: with zeros for what is not active": (
        "def f(v, w):\n    return np.where(w > 2.0, v, w)",
        "dout = np.where(out_1, dv, 0)",
        (V, V.copy()),
        (0,),
    ),
    "bilinear: both terms": (
        "def f(m, v):\n    return m @ v",
        "dout = dm @ v + m @ dv",
        (M, V),
        (0, 1),
    ),
    "bilinear: the same operand twice": (
        "def f(m, v):\n    return m @ m",
        "dout = dm @ m + m @ dm",
        (M, V),
        (0,),
    ),
    "bilinear: methods": (
        "def f(m, v):\n    return m.dot(v)",
        "dout = dm.dot(v) + m.dot(dv)",
        (M, V),
        (0, 1),
    ),
    "explicit: without the terms of what is not active": (
        "def f(m, v):\n    return np.linalg.solve(m, v)",
        "else:\n    dout_1 = np.linalg.solve(m, dv)",
        (M, M + V),
        (1,),
    ),
    "explicit: with all": (
        "def f(m, v):\n    return np.linalg.solve(m, v)",
        "else:\n    dout_1 = np.linalg.solve(m, dv - dm @ out)",
        (M, M + V),
        (0, 1),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_structures(name: str) -> None:
    text, expected, args, wrt = PAIRS[name]
    assert_derivative(text, expected, *args, wrt=wrt or (0, 1), form="jvp")


def test_no_zeros_are_computed_with() -> None:
    code = stage(
        "differentiate", "def f(m, v):\n    return np.linalg.solve(m, v)", M, V, wrt=(1,), form="jvp"
    )
    assert "zeros" not in code


def test_an_array_that_is_changed_has_a_tangent_of_its_own() -> None:
    """`a + 1.0` is a new array; its tangent is that of `a`, and must not change with it."""
    text = "def f(x):\n    a = x * 2\n    b = a + 1.0\n    b[0] = 3.0\n    return np.sum(a * b)"
    assert "db = copy_adjoint(da)" in stage("differentiate", text, V, form="jvp")
    check_program(build(text), (V,), (0,))


def test_functions_without_derivative_have_no_tangent() -> None:
    code = stage(
        "differentiate",
        "def f(x):\n    k = np.argmax(x)\n    s = np.floor(x)\n    return x[k] * s",
        V,
        form="jvp",
    )
    assert "dk" not in code and "floor(dx" not in code
