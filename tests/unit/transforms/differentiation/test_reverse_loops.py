"""Reverse mode of loops: what they carry, what they collect, and where elements go back to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.differentiation.reverse_loops import parallel_copies
from s2sad.transforms.trees.nodes import load
from tests.support.analysed import assert_derivative, stage
from tests.support.before_after import text_of
from tests.support.build import build
from tests.support.compare import check_program, check_second

V, M = np.arange(1.0, 4.0), np.ones((3, 3)) / 2 + np.eye(3)

PAIRS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "what is carried and what is collected": (
        "def f(x, c):\n    for i in range(3):\n        x = x * c\n    return x",
        """
        dx_2 = 1.0
        dc = 0.0
        for x_2 in trace[::-1]:
            # x = x * c
            dx_3 = dx_2 * c
            dc = dc + dx_2 * x_2
            dx_2 = dx_3
        return dx_2, dc
        """,
        (1.5, 2.0),
    ),
    "arrays are collected in place": (
        "def f(x, c):\n    for i in range(3):\n        x = np.sin(x * c)\n    return np.sum(x)",
        "dc = np.zeros_like(c)",
        (V, V),
    ),
    "elements go back to their place": (
        "def f(v, c):\n    s = c\n    for x in v:\n        s = s * x\n    return s",
        "dv[k] += dx",
        (V, 2.0),
    ),
    "of each sequence": (
        "def f(v, w):\n    s = 1.0\n    for a, b in zip(v, w):\n        s = s * a + b\n    return s",
        "dw[k] += ds_2",
        (V, V),
    ),
    "from behind when it was reversed": (
        "def f(v, c):\n    s = c\n    for x in reversed(v):\n        s = s * x + x\n    return s",
        "dx = ds_2 + ds_2 * s_2\ndv[~k] += dx",
        (V, 2.0),
    ),
    "numbered elements": (
        "def f(v, c):\n    s = c\n    for k, x in enumerate(v):\n        s = s * x + k\n    return s",
        "dv[k_2] += dx",
        (V, 2.0),
    ),
    "parts of elements": (
        "def f(m, c):\n    s = c\n    for a, b, d in m:\n        s = s * a + b\n    return s",
        "dm[k] += da, ds_2, 0.0",
        (M, 2.0),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_loops(name: str) -> None:
    text, expected, args = PAIRS[name]
    assert_derivative(text, expected, *args, wrt=(0, 1))


def test_the_adjoint_of_what_a_loop_overwrites_ends_there() -> None:
    text = "def f(x, n):\n    y = x * 2\n    for i in range(n):\n        y = x * i\n    return y * x"
    for n in (0, 3):
        check_program(build(text), (1.5, n), (0,))


def test_a_trace_of_nothing_gives_the_derivative_of_no_iteration() -> None:
    text = "def f(x, y):\n    while x < 0.0:\n        x = x * y\n    return x * y"
    check_program(build(text), (1.5, 2.0), (0, 1))


def test_what_becomes_active_in_the_body_is_carried_too() -> None:
    """`b` reaches the result by way of `a` two iterations later: its adjoint is found in a second round."""
    text = (
        "def f(x, n):\n    a = 1.0\n    b = 2.0\n    for i in range(n):\n        a = b * a\n"
        "        b = x * b\n    return a"
    )
    code = stage("differentiate", text, 1.5, 3)
    assert "    db_2 = 0.0\n" in code and "        db_2 = " in code
    for n in (0, 1, 2, 5):
        check_program(build(text), (1.5, n), (0,))


def test_a_while_test_that_is_differentiated() -> None:
    text = """
def f(x, y):
    s = 0.0
    while (r := x * y) > 1.0:
        s = s + r
        x = x / 2
    return s + r
"""
    check_program(build(text), (5.0, 2.0), (0, 1))


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ([("a", "b"), ("b", "c")], ["a = b", "b = c"]),
        ([("b", "c"), ("a", "b")], ["a = b", "b = c"]),
        ([("a", "b"), ("b", "a")], ["a, b = b, a"]),
        ([("a", "b"), ("b", "a"), ("c", "a")], ["c = a", "a, b = b, a"]),
        ([("a", "a"), ("b", "c")], ["b = c"]),
    ],
)
def test_copies_that_all_happen_at_once(copies: list[tuple[str, str]], expected: list[str]) -> None:
    code = parallel_copies([(target, load(source)) for target, source in copies])
    assert [text_of(s).strip() for s in code] == expected
    before = dict.fromkeys("abc", 0) | {n: k for k, n in enumerate("abc")}
    after = dict(before)
    exec("\n".join(map(text_of, code)), after)
    assert all(after[target] == before[source] for target, source in copies)


INDICES = {
    "in several steps": "k = 3 * i + j\ns += v[k] ** 2 * v[k - 1]",
    "a tuple": "k = i, j\ns += A[k] ** 2 * A[k]",
    "a tuple of arithmetic": "k, m = (i, j), (i - 1, (j + 1) % 3)\ns += A[k] ** 2 * A[m]",
    "of the outer loop": "k = i * i - 1\ns += v[k + j] ** 2 * v[k]",
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_are_computed_again(name: str) -> None:
    body = INDICES[name].replace("\n", "\n            ")
    f = build(
        "def f(A):\n    v = A.ravel()\n    s = 0.0\n"
        f"    for i in range(2):\n        for j in range(3):\n            {body}\n    return s"
    )
    check_program(f, (M,), (0,))
    check_second(f, (M,), (0,))
    assert "trace" not in s2sad.grad(f).source_for(M)


def test_indices_that_vary_are_collected() -> None:
    f = build(
        "def f(v):\n    s, k = 0.0, 1\n    for i in range(4):\n"
        "        k = (5 * k + i) % 3\n        s += v[k] ** 2\n    return s"
    )
    check_program(f, (V,), (0,))
    assert "trace.append(k)" in s2sad.grad(f).source_for(V)
