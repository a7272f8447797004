"""`a.flat`: what is stored into it is stored into the array; what is read of it is the array in one row."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program, check_second

PROGRAMS = {
    "an element": "y = x * 1.0\ny.flat[2] = x[0, 0] * x[1, 1]\nreturn np.sum(y * y)",
    "of its own": "y = x.copy()\ny.flat[-1] = y.flat[0] * y.flat[1]\ny.flat[-2] -= y.flat[-1]\n"
    "return np.max(y.flat[:]) + np.sum(y * y)",
    "slices": "y = x * 1.0\ny.flat[1:4] = x.flat[0:3] * 2\nreturn np.sum(y * y * y)",
    "a slice is a copy": "y = x * 1.0\nv = y.flat[1:4]\ny[0, 1] = 7.0\nv[1] = 3.0\n"
    "return np.sum(v * y.flat[2:5])",
    "a mask": "y = x.copy()\ny.flat[x.flat[:] > 0.5] = x[0, 0] ** 2\nreturn np.sum(y * y)",
    "positions": "y = np.zeros((3, 2))\nv = y.T\nv.flat[[0, 3]] = x[0, :2]\nv.flat[3] += x[1, 2]\n"
    "return np.sum(y * y * x.T)",
    "all of a transpose": "y = x.T * 1.0\ny.flat = np.arange(6.0) * x[0, 1]\nreturn np.sum(y * x.T)",
    "held": "y = x * 1.0\nf = y.flat\nf[0] = x[1, 1] ** 2\ny[0, 1] = x[0, 0]\nreturn f[1] * f[0] * y[1, 2]",
    "a loop": "s = 0.0\nfor v in x.flat:\n    s = s + v * v * s + v\nreturn s",
    "a loop over two": "s = 0.0\nfor a, b in zip(x.flat, x.T.flat):\n    s += a * b * b\nreturn s",
    "counted": "s = 0.0\nfor i, v in enumerate(x.flat):\n    if v > 0.6:\n        s += i * v * v\nreturn s",
    "a loop that fills": "y = np.zeros(6)\nz = x[0].copy()\nfor i, v in enumerate(x.flat):\n"
    "    y[i] = v * v\n    z *= v\nreturn np.sum(y * y) + np.sum(z)",
    "comprehensions": "return sum(v * v for v in x.flat) * len([v for v in x.flat if v > 0.5])",
    "as a whole": "a = np.array(x.flat)\nn = x.flat.copy()\nn[0] = x[1, 1] ** 2\n"
    "return np.sum(a ** 3) * np.max(x.flat) * max(x.flat) * np.sum(n) + len(x.flat)",
    "unpacked": "a, b, *c, d = x.flat\ny = x.copy()\np, q, *_ = y.flat\ny[0, 0] = 5.0\n"
    "return a * b * sum(c) * d * p * q + sum([*x.flat])",
    "a list, then a change": "y = x.T.copy()\nl = list(y.flat)\ny[0, 0] = 5.0\nn = np.array(y.flat)\n"
    "n[0] *= l[0]\n"
    "return np.sum(n * n) * l[1]",
    "of a part": "y = x.copy()\nd = y[:, ::2]\nd.flat[1] = x[0, 1] * 3\nd.ravel()[0] = 100.0\n"
    "return np.sum(y * y)",
    "`flatten` is a copy": "n = x.flatten()\nn[0] = x[1, 1] ** 2\nreturn np.sum(n * n) * np.sum(x)",
}
X = np.array([[0.7, 0.55, 1.1], [0.4, 0.95, 0.8]])


@pytest.mark.parametrize("name", PROGRAMS)
def test_flat(name: str) -> None:
    f = build("def f(x):\n    " + PROGRAMS[name].replace("\n", "\n    "))
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))


CHANGING = {
    "the element": "for i, v in enumerate(y.flat):\n    y.flat[i] = v * i",
    "one element": "for v in y.flat:\n    y[0, 0] = v * v",
    "all of it": "for v in y.flat:\n    y *= v",
    "what is still to come": "for i, v in enumerate(y.flat):\n    if i < 5:\n        y.flat[i + 1] *= v",
    "by a function": "for v in y.flat:\n    put(y, v)",
    "by a view": "z = y.T\nfor v in y.flat:\n    z[1] *= v",
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_loop_that_changes_what_it_reads(name: str) -> None:
    f = build(
        "def put(a, v):\n    a[1, 1] = v * v\n"
        "def f(x):\n    y = x.T.copy()\n    "
        + CHANGING[name].replace("\n", "\n    ")
        + "\n    return np.sum(y * y)"
    )
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))


COUNTED = "def f(x):\n    y = x * 1.0\n    for i, v in enumerate({}):\n        {}\n    return np.sum(y)"


def test_an_element_is_stored_as_one() -> None:
    f = build(COUNTED.format("y.flat", "y.flat[i] = v * v"))
    source = s2sad.grad(f).source_for(X)
    assert "places = flat_places(y, i)" in source and "] += " in source and "add_at" not in source


def test_a_loop_that_counts_otherwise_and_changes_is_refused() -> None:
    f = build(COUNTED.format("y.flat, 1", "y *= v"))
    with pytest.raises(s2sad.S2sadError, match="flat"):
        s2sad.grad(f)(X)


def test_an_index_out_of_range_raises_as_it_does() -> None:
    f = build(
        "def f(x):\n    try:\n        return x.flat[6] * 2.0\n"
        "    except IndexError:\n        return x.flat[-6] * 3.0"
    )
    assert np.array_equal(s2sad.grad(f)(X), [[3.0, 0, 0], [0, 0, 0]])
    with pytest.raises(IndexError, match="out of bounds"):
        s2sad.grad(lambda x: x.flat[-7])(X)


def test_flatten_is_written_as_a_copy() -> None:
    f = build("def f(x):\n    n = x.flatten()\n    n[0] = 2.0\n    return np.sum(n * n)")
    assert "is_view" not in s2sad.grad(f).source_for(X)
