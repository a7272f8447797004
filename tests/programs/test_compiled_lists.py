"""Compiled derivatives of functions of lists: the same results as interpreted ones, or a refusal."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs.test_compiled_programs import leaves
from tests.support.compare import assert_like

# mypy: allow-untyped-defs
# ruff: noqa: B905, RUF007 (programs as people write them)

A = np.arange(1.0, 4.0)
COLUMN = np.arange(12.0).reshape(3, 4)[:, 1] / 10


@dataclass
class Point:
    x: float
    v: float


def squares(xs):
    return sum(x * x for x in xs)


def picked(xs, i):
    return xs[i] * xs[0]


def through_layers(ws, x):
    for w in ws:
        x = np.tanh(w * x)
    return np.sum(x)


def of_pairs(ps):
    s = 0.0
    for w, b in ps:
        s += np.sum(w) * b
    w, b = ps[-1]
    return s * np.sum(w * w) + len(ps)


def of_dicts(ps):
    s = 0.0
    for p in ps:
        s += p["a"] * p["b"] ** 2
    return s


def ragged(rows):
    s = 0.0
    for row in rows:
        for v in row:
            s += v * v * len(row)
    return s


def shorter(xs, ys):
    return sum(x * y for x, y in zip(xs, ys))


def backwards(xs):
    s = 0.0
    for k, x in enumerate(reversed(xs)):
        s = s * x + k * x
    return s


def neighbours(xs):
    return sum(p * q for p, q in zip(xs[:-1], xs[1:])) + sum(xs[::2]) * xs[-1]


def joined(xs, ys):
    zs = xs + ys
    zs[0] = zs[1] * 2.0
    return sum(z * z for z in zs) + xs[0]


def copied(xs):
    ys = list(xs)
    ys[0] *= 3.0
    zs = xs.copy()
    zs.append(4.0 * xs[1])
    return sum(ys) * xs[0] + sum(z * z for z in zs)


def moved(ps, n):
    for _ in range(n):
        ps = [Point(p.x + 0.1 * p.v, p.v - 0.1 * p.x) for p in ps]
    return sum(p.x * p.v for p in ps)


def exchanged(x, n):
    p = Point(x, 1.0)
    for _ in range(n):
        p = Point(v=p.x * 2.0, x=p.v)
    return p.x * p.v


def rows_of_arguments(x, n):
    t = [list(x) for _ in range(n)]
    t[0][0] *= 2.0
    return t[0][0] * t[1][0] * len(t) * len(t[0])


def aliases_of_rows(x, n):
    t = [[0.0] * n for _ in range(n)]
    first = t[0]
    for i in range(n):
        row = t[i]
        row[i] = x * i
        first[i] = row[i] + x
    s = 0.0
    for row in t:
        for c in row:
            s += c * c
    return s * t[-1][0]


POINT = Point(1.0, 2.0)
SAME: dict[str, tuple[Any, Any, list[tuple[Any, ...]]]] = {
    "other lengths": (squares, 0, [([1.0, 2.0, 3.0],), ([1.0],), ([1.0, 2.0, 3.0, 4.0],)]),
    "other numbers": (squares, 0, [([1.0, 2.0],), ([np.float64(2.0)],)]),
    "indices": (picked, 0, [([1.0, 2.0, 3.0], 2), ([1.0, 2.0], -2)]),
    "arrays": (through_layers, (0, 1), [([A, A], A), ([A, COLUMN], COLUMN), ([A], A), ([A, 2.0], A)]),
    "views backwards": (through_layers, (0, 1), [([A, COLUMN[::-1], A[::-1].copy()], COLUMN)]),
    "other ranks": (through_layers, (0, 1), [([A, A[None]], A)]),
    "pairs": (of_pairs, 0, [([(A, 1.0), (COLUMN, 2.0)],), ([(A, 1.0)],), ([(A, 1.0), (2.0, 2.0)],)]),
    "dicts": (of_dicts, 0, [([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}],), ([{"b": 3.0, "a": 4.0}],)]),
    "rows": (ragged, 0, [([[1.0], [], [2.0, 3.0]],), ([[1.0, 2.0]],)]),
    "zip": (shorter, (0, 1), [([1.0, 2.0], [3.0]), ([1.0], A)]),
    "reversed": (backwards, 0, [([1.0, 2.0, 3.0],), ([1.0],)]),
    "slices": (neighbours, 0, [([1.0, 2.0, 3.0, 4.0],), ([1.0],)]),
    "sums of lists": (joined, (0, 1), [([1.0, 2.0], [3.0]), ([1.0], [3.0])]),
    "copies": (copied, 0, [([1.0, 2.0],)]),
    "objects": (moved, 0, [([Point(1.0, 2.0), Point(3.0, 4.0)], 3), ([Point(1.0, 2.0)], 0)]),
    "an object twice": (moved, 0, [([POINT, POINT], 3)]),
    "fields in another order": (exchanged, 0, [(1.5, 3), (1.5, 0)]),
    "tables": (rows_of_arguments, 0, [(A, 3), ([1.0, 2.0], 2)]),
    "rows of tables": (aliases_of_rows, 0, [(2.0, 3), (2.0, 1)]),
}


def assert_alike(found, expected):
    assert_like(found, expected, "compiled")
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        if b is not None:  # 1 - tanh(x)**2 rounds to 1e-16
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("name", SAME)
def test_the_same(name: str) -> None:
    f, wrt, calls = SAME[name]
    compiled, interpreted = s2sad.grad(f, wrt, compile="numba"), s2sad.grad(f, wrt)
    for args in calls:
        given = copy.deepcopy(args)
        assert_alike(compiled(*given), interpreted(*copy.deepcopy(args)))
        for a, b in zip(leaves(given), leaves(args), strict=True):
            np.testing.assert_equal(a, b)


def test_jvp_and_vjp() -> None:
    pairs = [(A, 1.0), (COLUMN, 2.0)]
    assert_alike(s2sad.jvp(of_pairs, compile="numba")(pairs, pairs), s2sad.jvp(of_pairs)(pairs, pairs))

    def scaled(xs, y):
        return [x * y for x in xs]

    for xs in ([1.0, 2.0], [3.0]):
        out, bprop = s2sad.vjp(scaled, argnums=(0, 1), compile="numba")(xs, 3.0)
        expected, own = s2sad.vjp(scaled, argnums=(0, 1))(xs, 3.0)
        assert_alike(out, expected)
        for _ in range(2):
            assert_alike(bprop(xs), own(xs))


def test_indices_out_of_bounds() -> None:
    compiled = s2sad.grad(picked, compile="numba")
    compiled([1.0, 2.0, 3.0], 2)
    for args in (([1.0], 2), ([1.0, 2.0], -3)):
        with pytest.raises(IndexError):
            compiled(*args)


def set_item(xs, y):
    xs[0] = xs[0] * y
    return sum(xs) * xs[0]


def set_in_rows(t, y):
    for row in t:
        row[0] = row[0] * y
    return sum(r[0] * r[1] for r in t)


def array_set_in(ws):
    w = ws[0]
    w[0] = w[1] * 2.0
    return np.sum(ws[1] * ws[0])


def one_row(x, n):
    row = [0.0] * n
    t = [row for _ in range(n)]
    t[0][1] = x
    return t[1][1] * x


def row_set_afterwards(x, n):
    t = []
    for _ in range(n):
        row = [0.0] * n
        t.append(row)
    row[0] = x * x
    return t[n - 1][0] * x


def triangle(x, n):
    t = [[1.0] * (i + 1) for i in range(n)]
    for i in range(1, n):
        for j in range(1, i):
            t[i][j] = t[i - 1][j - 1] + x * t[i - 1][j]
    return t[n - 1][1]


def array_in_a_table(x, n):
    t = [[0.0] * n for _ in range(n)]
    t[0][0] = np.array([x, x])
    return np.sum(t[0][0] * x)


def rows_exchanged(x, n):
    t = [[1.0 * i] * n for i in range(n)]
    t[0], t[1] = t[1], t[0]
    t[0][1] = x
    return t[0][0] * x + t[0][1] * t[1][1]


def table_passed_on(x, n):
    t = [[0.0] * n for _ in range(n)]
    other = [t, t]
    t[0][0] = x
    return other[1][0][0] * x


REFUSED: list[tuple[Any, tuple[Any, ...]]] = [
    (set_item, ([1.0, 2.0], 3.0)),
    (set_in_rows, ([[1.0, 2.0], [3.0, 4.0]], 3.0)),
    (array_set_in, ([A, COLUMN.copy()],)),
    (one_row, (2.0, 3)),
    (row_set_afterwards, (2.0, 3)),
    (triangle, (2.0, 4)),
    (array_in_a_table, (2.0, 2)),
    (rows_exchanged, (2.0, 3)),
    (table_passed_on, (2.0, 3)),
    (squares, ([1.0, 2],)),
    (ragged, ([[1.0], [2]],)),
    (of_pairs, ([(A, 1.0), (COLUMN, 2)],)),
]


@pytest.mark.parametrize(("f", "args"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_refused(f: Any, args: tuple[Any, ...]) -> None:
    with pytest.raises(s2sad.S2sadError, match="compile"):
        s2sad.grad(f, compile="numba")(*copy.deepcopy(args))
