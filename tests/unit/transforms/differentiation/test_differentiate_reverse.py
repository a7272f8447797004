"""Reverse mode, statement by statement, before simplification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from s2sad import grad, vjp
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.analysed import assert_derivative, stage
from tests.support.build import build
from tests.support.compare import check_program

V = np.arange(1.0, 4.0)
PRODUCT = "def f(x, y):\n    a = x * y\n    return a * x"

PAIRS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "statements are walked from the last to the first": (
        PRODUCT,
        """
        # return a * x
        da = 1.0 * x
        dx = 1.0 * a
        # a = x * y
        dx_2 = dx + da * y
        dy = da * x
        return dx_2, dy
        """,
        (1.5, 2.0),
    ),
    "both arms end with the same adjoints": (
        """
def f(x, y):
    if x > y:
        z = x * y
    else:
        z = x
    return z
""",
        """
            dx_2 = dx
            dy_2 = dy
        else:
            dx_2 = 1.0
            dy_2 = 0.0
        """,
        (2.0, 1.0),
    ),
    "a renaming adds nothing": (
        "def f(v, w):\n    a = v * 2\n    b = a\n    return np.sum(a * b)",
        """
        # b = a
        da_2 = da + db
        """,
        (V, V),
    ),
    "the parts of a tuple go on to where they came from": (
        "def f(x, y):\n    t = x * y, y\n    a, b = t\n    return a * b",
        """
        da = 1.0 * b
        db = 1.0 * a
        # t = x * y, y
        dx = da * y
        dy = db + da * x
        """,
        (1.5, 2.0),
    ),
    "a parallel assignment": (
        "def f(x, y):\n    x, y = y, x * y\n    return x * y * y",
        """
        # x, y = y, x * y
        dx = dy_3 * y
        dy = dx_2 + dy_3 * x
        """,
        (1.5, 2.0),
    ),
    "what is unpacked of a vector of floats is a vector again": (
        "def f(v, x):\n    a, b, c = v\n    return a * b * c * x",
        """
        # a, b, c = v
        dv = np.array([da, db, dc])
        """,
        (V, 2.0),
    ),
    "reading an item adds in place": (
        "def f(v, w):\n    a = v[1:]\n    b = v[0]\n    return np.sum(a * b * w)",
        """
        # a = v[1:]
        dv[1:] += da
        """,
        (V, V[:2]),
    ),
    "stores take what they put there": (
        "def f(x, y):\n    a = np.zeros(3)\n    a[0] = x\n    a[1] += y\n    return np.sum(a * a)",
        """
        # a[1] += y
        dy = da[1]
        # a[0] = x
        dx = da[0]
        da[0] = 0
        """,
        (1.5, 2.0),
    ),
    "appends pop": (
        "def f(x, y):\n    a = []\n    a.append(x)\n    a.append(y)\n    return a[0] * a[1]",
        """
        # a.append(y)
        dy = da.pop()
        # a.append(x)
        dx = da.pop()
        """,
        (1.5, 2.0),
    ),
    "a value that is overwritten later is kept where it is read": (
        "def f(x, y):\n    a = np.zeros(3)\n    a[0] = x\n    s = np.sum(a * a)\n"
        "    a[0] = y\n    return s + a[0]",
        """
        a_1 = a.copy()
        s_1 = a_1 * a_1
        """,
        (1.5, 2.0),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_statements(name: str) -> None:
    text, expected, args = PAIRS[name]
    assert_derivative(text, expected, *args, wrt=(0, 1))


FORMS = {
    "grad": "    dy = da * x\n    return dx_2, dy\n",
    "value_and_grad": "    dy = da * x\n    return out, (dx_2, dy)\n",
    "vjp": "        dy = da * x\n        return dx_2, dy\n    return out, f_bprop\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_shapes_that_one_walk_yields(form: str) -> None:
    assert stage("differentiate", PRODUCT, 1.5, 2.0, wrt=(0, 1), form=form).endswith(FORMS[form])


def test_one_gradient_is_no_tuple_and_an_unused_argument_has_zero() -> None:
    text = "def f(x, y):\n    return x * x"
    assert stage("differentiate", text, 1.5, V).endswith("return dx\n")
    assert stage("differentiate", text, 1.5, V, wrt=(1,)).endswith("return (np.zeros_like(y),)\n")


def test_code_without_adjoints_is_not_differentiated() -> None:
    text = "def f(x, n):\n    k = n * 2\n    unused = np.exp(x)\n    return x * k"
    assert "# k" not in (code := stage("differentiate", text, 1.5, 2)) and "# unused" not in code


def test_bprop_keeps_the_globals_that_fprop_saw() -> None:
    text = "def f(v):\n    return v[K] * v[0]"
    f = build(text, K=1)
    _, bprop = vjp(f)(V)
    f.__globals__["K"] = 2
    np.testing.assert_array_equal(np.ravel(bprop(1.0)), [V[1], V[0], 0.0])


def test_nested_functions_have_adjoints_by_captured_name() -> None:
    text = """
from scipy.integrate import quad
def f(x, y):
    def g(t, k=y):
        return t * x * k
    return quad(g, 0.0, x)[0]
"""
    code = stage("differentiate", text, 1.5, 2.0, wrt=(0, 1))
    assert '"k="' in code
    check_program(build(text), (1.5, 2.0), (0, 1))


@pytest.mark.parametrize(
    ("text", "args", "what"),
    [
        ("def f(o):\n    return o.rate * o.rate", ({"a": 1.0},), "the attribute `rate`"),
        ("def f(x):\n    s = {x, 2.0}\n    return len(s) * max(s)", (1.0,), "a set of values"),
    ],
)
def test_refused(text: str, args: tuple[Any, ...], what: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=what) as caught:
        grad(build(text))(*args)
    assert caught.value.where is not None and caught.value.where.line == 2


def scaled(x: Any, n: int) -> Any:
    if n == 0:
        return np.sin(x), x, np.cos(x)
    a, b, c = scaled(x, n - 1)
    return a * c, b * np.inf, c


def test_items_that_nothing_reads_have_no_cotangent() -> None:
    """An infinite factor of theirs makes no NaN of the others' gradient."""

    def f(x: Any) -> Any:
        a, _, c = scaled(x, 2)
        return np.sum(a * c)

    assert "scaled_bprop((da, None, dc))" in grad(f).source_for(V)
    assert_allclose(grad(f)(V), np.cos(V) ** 4 - 3 * np.sin(V) ** 2 * np.cos(V) ** 2)
    _, bprop = vjp(f)(V)
    assert_allclose(bprop(1.0)[0], grad(f)(V))
