"""Views with axes of length one put in, or turned around: their adjoints are views of sums, no buffers."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program, check_second

A, B = np.random.default_rng(3).uniform(0.2, 1.2, (3, 3)), np.array([0.4, -0.9, 1.3])

TURN = "        s += np.sum(np.tanh(A * b[:, None] + k))\n"
BODIES = {
    "a column": "return np.sum((A + b[:, None]) ** 2)",
    "by name": "return np.sum(np.tanh(A * b[:, np.newaxis]))",
    "a row": "return np.sum(np.tanh(A * b[None, :]))",
    "the first axis alone": "return np.sum(np.tanh(A * b[None]))",
    "turned around": "return np.sum(np.tanh(A * b[::-1]) * b[::-1, None] * A[:, ::-1])",
    "turned around twice": "c = b[::-1]\n    d = c[::-1] * A\n    return np.sum(d * b) + c[0] * b[1]",
    "turned around and stored into": "c = A * b\n    d = c[::-1]\n    d[0] = b\n    return np.sum(c ** 3)",
    "turned and written later": "c = A + b\n    d = c[::-1] * b\n    c[0] = b\n    return np.sum(c * d)",
    "sums of what comes": "return np.sum(np.log(np.cumsum((b ** 2)[::-1])[::-1]) * b)",
    "sums of what comes in rows": "return np.sum(np.cumsum(A[:, ::-1], axis=1)[:, ::-1] ** 2 * b)",
    "dots": "return np.sum(np.sin(A) * b[..., None])",
    "two axes": "return np.sum(np.sin(A[:, None, :, None]) * b)",
    "both ways": "return np.sum(np.tanh(A * b[:, None] * b[None, :]))",
    "read twice": "c = b[:, None]\n    return np.sum(A * c) + np.sum(c ** 3) + np.sum(b * b)",
    "in a loop": f"s = 0.0\n    for k in range(3):\n{TURN}    return s",
    "never run": f"s = np.sum(b)\n    for k in range(0):\n{TURN}    return s",
    "beside elements": "return np.sum(A * b[:, None]) * b[0] + b[1] ** 2",
    "stored into": "c = b * 1.0\n    d = c[:, None]\n    d *= A[:, :1]\n    return np.sum(c * b)",
    "written later": "c = b * 1.0\n    d = c[:, None] * A\n    c[0] = A[0, 0]\n    return np.sum(d * c)",
    "not spread": "return np.sum(np.sin(b[:, None]))",
    "a branch": "c = b[:, None] if A[0, 0] > 0 else A\n    return np.sum(np.sin(c))",
    "a choice": "return np.sum(np.where(A > 0.6, b[:, None], b) * A)",
    "a slice besides": "return np.sum(A[:, 1:] * b[:, None]) + np.sum(A[:2] * b[:2, None])",
}


@pytest.mark.parametrize("name", BODIES)
def test_all_orders(name: str) -> None:
    f = build(f"def f(A, b):\n    {BODIES[name]}\n")
    check_program(f, (A, B), (0, 1))
    check_second(f, (A, B), (0, 1))


def test_the_code() -> None:
    f = build(f"def f(A, b):\n    {BODIES['a column']}\n")
    assert s2sad.grad(f, argnums=1).source_for(A, B) == """\
def f_grad(A, b):
    # return np.sum((A + b[:, None]) ** 2)
    db = np.sum(2.0 * (A + b[:, None]), axis=1)
    return db
"""


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 3)])
def test_empty_and_short(shape: tuple[int, int]) -> None:
    f = build(f"def f(A, b):\n    {BODIES['a column']}\n")
    b = np.ones(shape[0])
    found = s2sad.grad(f, argnums=1)(np.ones(shape), b)
    np.testing.assert_array_equal(found, np.full(shape[0], 4.0 * shape[1]))


def test_the_gradient_is_the_callers() -> None:
    f = build("def f(b):\n    return b[:, None]\n")
    _, pull = s2sad.vjp(f)(B)
    d = np.ones((3, 1))
    (first,) = pull(d)
    first += 1.0
    np.testing.assert_array_equal(d, np.ones((3, 1)))
    np.testing.assert_array_equal(pull(d)[0], np.ones(3))
