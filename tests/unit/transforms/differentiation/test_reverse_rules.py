"""Reverse mode of one operation: what rules and linked derivatives add to the adjoints of operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.transforms.errors import MissingRuleError
from tests.support.analysed import assert_derivative, stage
from tests.support.build import build
from tests.support.compare import check_program

V, M = np.arange(1.0, 4.0), np.arange(1.0, 7.0).reshape(2, 3)
W = V / 2 + 1

PAIRS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "the same shape needs nothing": (
        "def f(x, y):\n    a = x * y\n    return np.sum(a * a)",
        "dx = da * y\ndy = da * x",
        (V, V),
    ),
    "literals need nothing": (
        "def f(x, y):\n    a = x * 2\n    return np.sum(a * a * y)",
        "da = dout_1 * a * 2\n# a = x * 2\ndx = da * 2",
        (V, V),
    ),
    "a number is summed over all elements": (
        "def f(x, y):\n    a = x * y\n    return np.sum(a * a)",
        "dx = np.vdot(da, y)\ndy = da * x",
        (2.0, V),
    ),
    "a column is summed along the rows": (
        "def f(x, y):\n    a = x * y\n    return np.sum(a * a)",
        "dx = np.vecdot(da, y)[:, None]\ndy = da * x",
        (np.ones((2, 1)), np.ones((2, 3))),
    ),
    "a row is summed over the rows": (
        "def f(x, y):\n    a = x * y\n    return np.sum(a * a)",
        "dx = np.sum(da * y, axis=0)\ndy = da * x",
        (V, M),
    ),
    "what kinds leave open is guarded": (
        "def f(x, y):\n    a = x[1:] * y[:2]\n    return np.sum(a * a)",
        "da_1 = unbroadcast(da * a_2, a_1)\nda_2 = unbroadcast(da * a_1, a_2)",
        (V, V),
    ),
    "a sum over all elements leaves one number for all": (
        "def f(x, y):\n    return np.sum(x) * y",
        "# return np.sum(x) * y\ndout_1 = 1.0 * y\ndy = 1.0 * out_1\nreturn np.full_like(x, dout_1), dy",
        (V, 2.0),
    ),
    "which elementwise rules spread": (
        "def f(x, y):\n    return np.sum(np.exp(x) * y)",
        "dout_1 = 1.0 * y\ndy = 1.0 * out_1",
        (V, V),
    ),
    "a call of a known function runs its fprop and its bprop": (
        "def g(t, u):\n    return t * g(t / 2, u) if t > 1.0 else t * u\ndef f(x, y):\n"
        "    a = g(x, 3.0)\n    return a * y",
        'a, g_bprop = g_fprop(x, 3.0)\nout = a * y',
        (5.0, 2.0),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_contributions(name: str) -> None:
    text, expected, args = PAIRS[name]
    assert_derivative(text, expected, *args, wrt=(0, 1))


def test_only_the_gradients_that_are_wanted_are_asked_for() -> None:
    text = (
        "def g(t, u):\n    return t * g(t / 2, u) if t > 1.0 else t * u\ndef f(x, y):\n"
        "    return g(x, u=3.0) * y"
    )
    code = stage("differentiate", text, 5.0, 2.0)
    assert "dx = g_bprop(dout_1)\n" in code and "dy" not in code


def test_what_only_the_run_knows_is_asked_there() -> None:
    text = "def f(x, y, g):\n    return g(x, 2.0, k=y)"
    expected = """
    out, g_bprop = fprop_of(g, keys=(0, "k"))(x, 2.0, k=y)
    dout = unit_cotangent(out)
    # return g(x, 2.0, k=y)
    dfunction_1, dargs_1 = g_bprop(dout)
    dx = dargs_1[0]
    dy = dargs_1["k"]
    """
    assert_derivative(text, expected, 5.0, 2.0, lambda t, c, k: t * c * k, wrt=(0, 1))


def test_the_object_of_a_method_has_an_adjoint_too() -> None:
    f = build("def f(o, x):\n    return o['g'](x)")
    scale = 2.0
    closure = {"g": lambda v: scale * np.sin(v)}
    assert "own=True" in stage("differentiate", "def f(o, x):\n    g = o['g']\n    return g(x)", closure, 1.0)
    check_program(f, (closure, 1.0), (1,))
    check_program(f, ({"g": np.sin}, 1.0), (1,))


def test_functions_without_derivative_add_nothing() -> None:
    text = "def f(x, y):\n    k = np.argmax(x)\n    return x[k] * y"
    assert_derivative(text, "# return x[k] * y\ndout_1 = 1.0 * y\ndy = 1.0 * out_1\n", V, 2.0, wrt=(0, 1))


def test_a_function_without_rule_and_source_is_refused() -> None:
    f = build("def f(x):\n    return helper(x)", helper=np.frompyfunc(abs, 1, 1))
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(2.0)
    assert "bprop" in caught.value.instead and caught.value.where is not None and caught.value.where.line == 2


def test_elementwise_gradients_are_summed_where_sizes_turn_out_to_be_one() -> None:
    """The kinds are the same for all of these: an axis of length one is known, any other is not."""
    f = build("def f(x, y):\n    return np.sum(np.arctan2(x[1:], y[:2]))")
    for x, y in ((V, W), (V[:2], V), (V, W[:1])):
        check_program(f, (x, y), (0, 1))
