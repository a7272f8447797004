"""Views of which only the run knows the rank, or that NumPy lets nobody write into, while arrays change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_second
from tests.support.compare_mutation import check_changing, check_changing_second

X = np.random.default_rng(3).uniform(0.3, 1.2, size=(2, 3))

PROGRAMS = {
    "a diagonal that is read while the array changes": """
def f(x):
    y = x * 1.0
    v = np.diagonal(y)
    y[1, 1] = x[0, 0] ** 2
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "an element of a row that may be a number": """
def f(x):
    y = x * 1.0
    v = y[:1].squeeze()
    v[0] = v[0] * 2.0 + x[0, 1]
    y[1, 1] = x[0, 0] ** 2
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "one that is updated": """
def f(x):
    y = x * 1.0
    v = np.squeeze(y[0:1, :])
    v[1] *= x[0, 0]
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "rows that are": """
def f(x):
    y = np.stack([x, x * 2])
    v = y[:2].squeeze()
    r = v[0]
    q = r * r
    v[1] *= x[0, 0]
    v[0] = v[1] ** 2 * v[0]
    return np.sum(v * v * v * q) + np.sum(y * y)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_views(name: str) -> None:
    f = build(PROGRAMS[name])
    check_changing(f, (X,), (0,))
    check_changing_second(f, (X,), (0,))
    check_second(f, (X,), (0,))


MESH = """
def f(x):
    columns, rows = np.ix_(x[0], x[1])
    which = np.ix_([0, 1], [1, 2])
    return np.sum(columns * rows ** 2) + np.sum(x[which] ** 2)
"""


def test_an_open_mesh_of_floats() -> None:
    f = build(MESH)
    check_changing(f, (X,), (0,))
    check_second(f, (X,), (0,))


@pytest.mark.parametrize(
    "value", ["np.frombuffer(y)", "np.from_dlpack(y)", "np.floor_divide.accumulate(x[0])"]
)
def test_what_hands_values_on_without_a_rule_is_refused(value: str) -> None:
    f = build(f"def f(x):\n    y = x * 1.0\n    return np.sum({value}) + np.sum(y)")
    with pytest.raises(s2sad.S2sadError, match="no rule"):
        s2sad.grad(f)(X)


def test_an_array_that_is_popped_is_the_one_that_was_put_in() -> None:
    f = build(
        "def f(x):\n    y = x * 1.0\n    rows = [y[0], y[1]]\n"
        "    rows.pop()[...] = x[0]\n    return np.sum(y * y)"
    )
    try:
        found = s2sad.grad(f)(X)
    except s2sad.S2sadError:
        return
    np.testing.assert_allclose(found, [4 * X[0], 0 * X[1]])


RESULTS = """
def f(x, make):
    a = x * 2.0
    held = make(a)
    a[1, 1] = x[0, 0] ** 2
    return np.sum(held[-1] ** 3) + np.sum(a[0])
"""


@pytest.mark.parametrize(
    "make",
    [np.ravel, np.transpose, lambda a: a[:, 1:], lambda a: a + 1.0, lambda a: [a], lambda a: (1, a[:])],
)
def test_the_tangent_of_a_dynamic_result_is_a_view_where_the_result_is_one(make: Any) -> None:
    f = build(RESULTS)
    dx = np.cos(X)
    up, down = f(X + 1e-6 * dx, make), f(X - 1e-6 * dx, make)
    np.testing.assert_allclose(s2sad.jvp(f, (X, make), (dx,), argnums=(0,))[1], (up - down) / 2e-6, rtol=1e-6)


def test_a_tangent_that_is_no_view_though_the_result_is_one() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="shares memory with an argument"):
        s2sad.jvp(build(RESULTS), (X, lambda a: (a, a + 1.0)), (X,), argnums=(0,))


def test_tangents_in_another_memory_layout() -> None:
    f = build("def f(x):\n    v = x.T.ravel()\n    x[0, 1] = 2.0\n    return np.sum(v**2)\n")
    x = np.asfortranarray(X)
    dout = [s2sad.jvp(f, (x.copy("K"),), (dx,))[1] for dx in (x, np.ascontiguousarray(x))]
    assert dout[0] == dout[1] == 2 * (np.sum(x**2) - x[0, 1] ** 2)
