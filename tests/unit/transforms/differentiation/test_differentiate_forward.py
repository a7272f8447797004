"""Forward mode, statement by statement, before simplification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.analysed import assert_derivative, stage
from tests.support.build import build
from tests.support.compare import check_program

V = np.arange(1.0, 4.0)

PAIRS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "each statement with the tangent of what it assigns": (
        "def f(x, y):\n    a = x * y\n    return a * x",
        """
        a = x * y
        da = dx * y + dy * x
        out = a * x
        dout = da * x + dx * a
        return out, dout
        """,
        (1.5, 2.0),
    ),
    "branches": (
        "def f(x, y):\n    if x > y:\n        z = x * 2\n    else:\n        z = 3.0\n    return z * y",
        """
        if test_1:
            z = x * 2
            dz = dx * 2
            z_3 = z
            dz_3 = dz
        else:
            z_2 = 3.0
            z_3 = z_2
            dz_3 = 0.0
        """,
        (1.5, 2.0),
    ),
    "a loop keeps no trace": (
        "def f(x, y):\n    while x < 9.0:\n        x = x * y\n    return x",
        """
            x_3 = x_2 * y
            dx_3 = dx_2 * y + dy * x_2
            x_2 = x_3
            dx_2 = dx_3
        """,
        (1.5, 2.0),
    ),
    "a loop over a sequence runs over its tangent": (
        "def f(v, y):\n    s = y\n    for x in v:\n        s = s * x\n    return s",
        "for x, dx in zip(v, dv):",
        (V, 2.0),
    ),
    "over the tangents of those that have one": (
        "def f(v, y):\n    s = y\n    for k, x in enumerate(v):\n        s = s * x + k\n    return s",
        "s_1 = s_2 * x\nds_1 = ds_2 * x + dx * s_2",
        (V, 2.0),
    ),
    "stores": (
        "def f(x, y):\n    a = np.zeros(3)\n    a[0] = x\n    a[1] = 2.0\n    a[0] -= y\n"
        "    return np.sum(a * a)",
        """
        a[0] = x
        da[0] = dx
        a[1] = 2.0
        da[1] = 0
        a[0] -= y
        da[0] -= dy
        """,
        (1.5, 2.0),
    ),
    "containers": (
        "def f(x, y):\n    a = []\n    a.append(x)\n    a.append(3.0)\n    d = {'k': y}\n"
        "    n = len(d)\n    return a[0] * d['k'] * n",
        """
        da.append(dx)
        a.append(x)
        da.append(0.0)
        a.append(3.0)
        k = y
        dk = dy
        n = 1
        """,
        (1.5, 2.0),
    ),
    "parallel assignments read what was there before": (
        "def f(x, y):\n    for i in range(3):\n        x, y = y, x * y\n    return x",
        """
            y_3 = y_1
            dy_3 = dy_1
        """,
        (1.5, 2.0),
    ),
    "calls return both": (
        "def g(t, u):\n    return t * g(t / 2, u) if t > 1.0 else t * u\ndef f(x, y):\n"
        "    a = g(x, 3.0)\n    return a * y",
        "a, da = g_jvp(x, 3.0, dx)",
        (5.0, 2.0),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_statements(name: str) -> None:
    text, expected, args = PAIRS[name]
    assert_derivative(text, expected, *args, wrt=(0, 1), form="jvp")


def test_functions_that_capture_carry_tangents_by_name() -> None:
    text = "def f(x, y):\n    def g(t, k=y):\n        return t * x * k\n    return quad(g, 0.0, x)[0]"
    text = f"from scipy.integrate import quad\n{text}"
    assert '"k=": dy' in stage("differentiate", text, 1.5, 2.0, wrt=(0, 1), form="jvp")
    check_program(build(text), (1.5, 2.0), (0, 1))


def test_tangents_stand_behind_all_arguments() -> None:
    code = stage(
        "differentiate", "def f(x, n=2, y=3.0):\n    return x * y", 1.5, 2, 2.0, wrt=(0, 2), form="jvp"
    )
    assert code.startswith("def f_jvp(x, n, y, dx, dy):\n")


@pytest.mark.parametrize(("text", "zero"), [("2.0", "0.0"), ("np.ones(3)", "zeros_like(out)")])
def test_a_result_that_does_not_depend_on_the_arguments(text: str, zero: str) -> None:
    code = stage("differentiate", f"def f(x):\n    y = {text}\n    return y", 1.5, form="jvp")
    assert code.splitlines()[-1].startswith("    return") and code.endswith((f"{zero}\n", "zeros_like(y)\n"))


def test_what_is_not_active_has_no_tangent() -> None:
    code = stage("differentiate", "def f(x, y):\n    a = y * 2\n    return a * x", 1.5, 2.0, form="jvp")
    assert "da" not in code and "dy" not in code


def test_refused() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="the attribute `rate`"):
        jvp(build("def f(o):\n    return o.rate * 2"))({"a": 1.0}, {"a": 1.0})
