"""Views that are only read are made where they are read, after what they are of was changed."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import S2sadError
from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program, check_second

X, M = np.array([0.5, -0.7, 1.2]), np.random.default_rng(3).uniform(0.5, 1.5, (3, 3))

PROGRAMS = {
    "read after a change": "w = np.broadcast_to(a, (3, 3)); a[1] = x[0]; return np.sum(w * m)",
    "read before and after": (
        "w = np.broadcast_to(a, (3, 3)); t = np.sum(w * m); a[1] = t; return np.sum(w * m) * t"
    ),
    "of a view": "w = np.broadcast_to(a[:, None], (3, 3)); a *= x[0]; return np.sum(w ** 2)",
    "a part of it": "w = np.broadcast_to(a, (3, 3)); v = w[1:, 0]; a[0] = x[1]; return np.sum(v * v)",
    "stored elsewhere": (
        "w = np.broadcast_to(a, (3, 3)); b = np.zeros((3, 3)); a[0] = x[1]; b[...] = w; b[0] += w[1]\n"
        "    return np.sum(b ** 2)"
    ),
    "in a loop": (
        "w = np.broadcast_to(a, (2, 3)); t = 0.0\n    for i in range(3):\n"
        "        t = t + np.sum(np.sin(w)); a[i] = t\n    return t"
    ),
    "of what each iteration makes": (
        "t = 0.0\n    for i in range(3):\n        b = m[i] * x; w = np.broadcast_to(b, (2, 3)); b[0] = t\n"
        "        t = t + np.sum(w ** 2)\n    return t"
    ),
    "on one path": (
        "w = np.broadcast_to(a, (2, 3))\n    if x[0] > 0:\n        a[1] = x[2]\n    return np.sum(np.sin(w))"
    ),
    "in a function": "w = np.broadcast_to(a, (3, 3)); g = lambda: np.sum(w); a[1] = x[0]; return g() ** 2",
    "the imaginary part": "z = a + 1j * x; w = np.imag(z); z[0] = x[1] * 2j; return np.sum(w * x)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_views_that_are_read(name: str) -> None:
    f = build(f"def f(x, m):\n    a = x * x\n    {PROGRAMS[name]}\n")
    check_program(f, (X, M), (0, 1))
    check_second(f, (X, M), (0, 1))


def test_where_they_are_made() -> None:
    text = "def f(x, m):\n    a = x * x\n    w = np.broadcast_to(a, (3, 3))\n    a[1] = x[0]\n"
    text += "    return np.sum(w * m)\n"
    assert "    a[1] = a_1\n    w_2 = np.broadcast_to(a, " in stage("lower_augmented", text, X, M)


REFUSED = [
    "w = np.einsum('ii->i', m); w[0] = x[1]; return np.sum(m)",  # written to
    "w = np.broadcast_to(a, (3, 3)); h = [w]; a[1] = x[0]; return np.sum(h[0])",  # held elsewhere
]


@pytest.mark.parametrize("body", REFUSED)
def test_others_are_refused(body: str) -> None:
    f = build(f"def f(x, m):\n    m = m * 1.0\n    a = x * x\n    {body}\n")
    with pytest.raises(S2sadError):
        s2sad.grad(f, argnums=(0, 1))(X, M)
