"""Statements on arrays as loops: what they mean is what NumPy does, whatever meets and shares memory."""

from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.targets.array_types import Array, Number, type_of
from s2sad.targets.arrays_to_loops import with_loops

RNG = np.random.default_rng(0)
V, W, ROW = RNG.normal(size=6), RNG.normal(size=6), RNG.normal(size=4)
M, ONE_COLUMN, ONE = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 1)), RNG.normal(size=1)
TIED = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, 0.0]])


def lowered(text: str, *args: Any) -> tuple[str, list[str]]:
    """The function of this text with loops, and the texts of these."""
    function = ast.parse(dedent(text)).body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [a.arg for a in function.args.args]
    count = iter(range(99))
    variables = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    local = {*names, *(n.id for n in variables if isinstance(n.ctx, ast.Store))}

    def meaning(node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name not in local:
                return {"np": np, "abs": abs, "len": len}.get(name)
            case ast.Attribute(value=ast.Name(id="np"), attr=attr):
                return getattr(np, attr)
        return None

    given = dict(zip(names, map(type_of, args), strict=True))
    found = with_loops(function, given, meaning, lambda name: f"{name}{next(count)}")
    assert found is not None
    return ast.unparse(function), [loop.text for loop in found[0]]


def test_a_product_of_two_rows_of_vectors_is_a_loop() -> None:
    text, loops = lowered("def f(x, u):\n    return 2.0 * (np.array([x, -x]).T @ np.array([u, x]))", V, W)
    assert text == "def f(x, u):\n    part0 = loop1(u, x)\n    return part0" and len(loops) == 1
    text, loops = lowered("def f(x, u):\n    return np.array([x, x]).T @ np.array([u, x])", V, 1.0)
    assert "np.array" in text and not loops


def test_statements_share_a_loop_and_what_is_not_read_later_is_no_array() -> None:
    text, loops = lowered(
        """
        def f(x, k):
            a = np.exp(x)
            b = a * np.sqrt(k)
            return np.sum(b * b)
        """,
        V,
        2.0,
    )
    assert text == "def f(x, k):\n    part0 = np.sqrt(k)\n    part1 = loop2(part0, x)\n    return part1"
    assert loops == [
        dedent(
            """\
            def loop2(part0, x):
                length0_ = x.shape[0]
                part1 = 0.0
                for first0_ in range(0, length0_, 1024):
                    stop0_ = min(first0_ + 1024, length0_)
                    block_part1_ = 0.0
                    for i0_ in range(first0_, stop0_):
                        at_a_ = exp_(x[i0_])
                        at_b_ = (at_a_ * part0)
                        block_part1_ = plus_(block_part1_, (at_b_ * at_b_))
                    part1 += block_part1_
                return part1
            """
        )
    ]


def test_a_nest_of_loops_keeps_rows_of_what_is_read_in_another_loop() -> None:
    text, loops = lowered(
        """
        def f(x, y):
            d = x[:, None, :] - y
            s = np.sum(d * d, axis=2)
            t = np.min(s, axis=1)
            e = d * (s < t[:, None])[:, :, None]
            return np.sum(e, axis=0)
        """,
        M,
        M,
    )
    assert "loop" in text and len(loops) == 1
    assert "row_d_ = numpy_.empty((length2_, length0_,), numpy_.float64)" in loops[0]
    assert loops[0].partition("else:")[0].count("empty") == 3  # rows of two arrays, and the result


def test_slices_with_variable_bounds_are_loops_without_views() -> None:
    text, loops = lowered(
        """
        def f(a, b, i):
            row = a[i, :i]
            c = b.copy()
            c[:i] -= 2.0 * row
            return row @ c[:i]
        """,
        M,
        V,
        2,
    )
    assert "row" not in text
    assert "c[i0_] -= (2.0 * a[at0_, i0_])" in loops[0]
    assert "at0_ = place_(i, length0_)" in loops[0]


def test_a_stencil_is_read_before_it_is_stored() -> None:
    text, loops = lowered("def f(u):\n    u[1:-1] += 0.5 * (u[2:] - u[:-2])\n    return u\n", V)
    assert text == "def f(u):\n    part0 = loop1(u)\n    loop2(part0, u)\n    return u"
    assert "u[i0_ + 2] - u[i0_]" in loops[0] and "u[i0_ + 1] += part0[i0_]" in loops[1]


def test_lengths_that_are_sure_to_be_one_are_not_compared() -> None:
    _, loops = lowered("def f(x):\n    d = x[1:] - x[:-1]\n    return np.sum(d * d)\n", V)
    assert len(loops) == 1 and "else" not in loops[0]
    _, loops = lowered("def f(x, y):\n    return np.sum(x * y)\n", V, W)
    assert "if length0_ == length1_:" in loops[0] and "else:" in loops[0]


def test_an_array_that_gets_neighbours_is_added_to_once() -> None:
    text = """
        def f(x):
            d = np.exp(x[1:-1])
            a = np.zeros_like(x)
            a[:-2] += d
            a[2:] -= 2.0 * d
            return a
        """
    _, (loop,) = lowered(text, V)
    assert "a[i0_] += next_a_0_0_" in loop and "a[max(length0_ - 2, 0) + 1] += next_a_0_2_" in loop
    assert loop.count("a[") == 3  # here, and at two borders


def test_types() -> None:
    assert type_of(np.float64(1.0)) == Number("f") and type_of(M) == Array(2, "f")
    assert not isinstance(type_of(np.ones(2, np.float32)), Array)


def test_an_array_that_is_set_and_gets_neighbours_is_set_once() -> None:
    text = """
        def f(x):
            a = np.zeros_like(x)
            a[:-1] = x[1:]
            a[1:] -= x[:-1]
            return a
        """
    _, (loop,) = lowered(text, V)
    assert "a[i0_] = next_a_0_0_" in loop and loop.count("a[") == 2  # and at the border
    _, loops = lowered(text.replace("a[:-1]", "a[1:]").replace("a[1:] -=", "a[:-1] -="), V)
    assert len(loops) == 2  # what is added would be lost


# ---------------------------------------------------------------- against NumPy


def overlapping(x, k):
    a = x * 2
    a[1:] = a[:-1]
    a[::-1] *= a
    return np.sum(a * k)


def views_of_what_changes(x, k):
    a = x * 1.5
    tail = a[2:]
    a[:-2] += tail * k
    tail *= 2.0
    return np.sum(a * a)


def two_names(x, k):
    a = x * 1.0
    b = a
    b[1:] += k * a[:-1]
    return np.sum(a * b)


def exchanged(x, k):
    a, b = x * 1.0, x * k
    for _ in range(3):
        a[1:] = b[:-1] + a[1:]
        a, b = b, a
    return np.sum(a * b)


def renamed(x, k):
    a = x * k
    s = np.sum(a)
    a = a * a + s
    a = a - np.mean(a)
    return np.sum(a * x)


def shortened(x, k):
    b = x * k
    t = b * 2.0
    b = b[:2]
    return np.sum(t * x) * np.sum(b) + np.sum(t)


def shortened_in_a_loop(x, k):
    b, s = x * k, 0.0
    for _ in range(3):
        t = b * b
        b = b[1:]
        s += np.sum(t) * np.sum(b)
    return s


def carried(x, k):
    b = x * 1.0
    a = b
    for _ in range(3):
        a = b + 1
        b = k * a
    return np.sum(a * b)


def rebound(b, y, z):
    b = b * y
    c = b + z
    b = c * b
    return np.sum(b * c)


def of_the_turn_before(x, k):
    s, c = 0.0, x
    for i in range(3):
        y = x[: i + 1] * k
        if i > 0:
            s = s + np.sum(c * c) * np.sum(c)
        c = y * 2.0
    return s


def neighbours(x, k):
    a = np.zeros(6)
    a[:-2] += x[1:-1] * k
    a[1:-1] -= x[2:] * x[:-2]
    a[2:] += x[1:-1]
    b = np.ones(6)
    b[1:-1] = x[2:] * k
    b[2:] += x[:-2]
    b[1:] -= x[1:] * b[0]
    a *= b
    return np.sum(a * a) + np.sum(x[3:] * x[:-3] ** 2)


def of_few(x, k):
    return neighbours_of(x[:3] * k) + neighbours_of(x[:2] * k) + neighbours_of(x[:0])


def neighbours_of(x):
    return np.sum((x[2:] - 2.0 * x[1:-1] + x[:-2]) ** 2)


def one_name_twice(x, k):
    top = np.max(np.outer(x, x), axis=0)
    y = np.exp(np.outer(x, x) - top) * k
    top = np.max(x)
    for i in range(3):
        top = top * k
        if i == 1:
            continue
        row = y[i] * top
        y[i] = row * row
    row = y[0, 0] * top
    return np.sum(y) * row


def awkward_names(i0_, n0_):
    at_x_ = np.sin(i0_) * n0_
    np_ = at_x_ * at_x_
    sum_np_ = np.sum(np_)
    return sum_np_ * np.max(at_x_)


def products(x, y):
    return np.sum(x[:, None] * y + np.outer(x, y)) + np.sum((x[:3] * y[:3]).T)


def over_axes(m, row):
    a = m * row
    rows = np.sum(a, axis=1, keepdims=True)
    largest = s2sad.stop_gradient(np.max(a, axis=0)) + s2sad.stop_gradient(np.min(a, axis=1, keepdims=True))
    return np.sum(np.sum(a / (rows * rows + 1.0) * largest, axis=0)) + np.sum(np.mean(a, axis=1) ** 2)


def of_matrices(m, row):
    t = m.T * 2.0
    return np.sum(t[::-1, 1:] * row[:, None]) + np.sum(t[..., 0])


def chosen(x, k):
    a = np.where(x > 0.0, x * k, np.exp(x))
    return np.sum(np.maximum(a, 0.5) * np.abs(x)) + np.min(a)


def broadcast(x, y):
    a = x * y
    b = a + x
    b *= y
    b -= x
    return np.sum(b * b)


def signs(x, k):
    a = -x * +x
    return np.sum(+a * (+k) - (-a))


def of_flags(x, k):
    far = (x > k) & ~(x < -k)
    return np.sum(x * far)


def nearest(points, centers):
    distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(distances, axis=1)) + np.sum(np.max(distances, axis=0))


def row_products(x, y):
    return np.sum(np.sqrt(1.0 + np.sum((x * x) * y, axis=1) ** 2) * np.sum(x * y, axis=-1))


def eliminated(a):
    a = a * 1.0
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        a[i, i:] -= a[i, :i] @ a[:i, i:]
        a[: i + 1, i] *= 0.5
    return np.sum(a * a)


def fitted(x, y):
    z = x @ (x.T @ (x * y[None, :])[:, 0])
    return np.sum(np.expand_dims(z, 1) * x - y) + np.sum(y @ (x * y).T)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((f, (V, 0.7)) for f in (overlapping, views_of_what_changes, two_names, exchanged, renamed)),
    *((f, (V, 0.7)) for f in (shortened, shortened_in_a_loop, carried, of_the_turn_before)),
    *((rebound, args) for args in ((ONE, V, ONE), (ONE, ONE, V), (M, ONE, ONE_COLUMN), (ROW, ROW, M))),
    *((f, (V, 0.7)) for f in (neighbours, of_few, one_name_twice)),
    (awkward_names, (V, 0.7)),
    (products, (V, W)),
    (over_axes, (M, ROW)),
    (over_axes, (M, ONE)),
    (of_matrices, (M, ROW)),
    (chosen, (V, 0.7)),
    (of_flags, (V, 0.1)),
    (signs, (V, 0.7)),
    *((nearest, args) for args in ((M, 2.0 * M), (M[:, :1], M[:1]), (TIED, TIED[:2]))),
    *((row_products, args) for args in ((M, M[::-1]), (M, ROW), (M[:0], ROW))),
    *((eliminated, (np.eye(k) * 4.0 + 0.3,)) for k in (0, 1, 4)),
    *((fitted, args) for args in ((M, ROW), (ONE_COLUMN, ONE), (M[:0], ROW))),
    (eliminated, (np.asfortranarray(np.eye(4) * 4.0 + 0.3)[::-1, ::-1],)),
    *((broadcast, args) for args in ((V, W), (M, ROW), (M, ONE_COLUMN), (ONE, V), (M, ONE))),
    (broadcast, (np.asfortranarray(M), M[::-1])),
    (broadcast, (V[:0], V[:0])),
]


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda c: getattr(c, "__name__", None))
def test_loops_do_what_numpy_does(f: Any, args: tuple[Any, ...]) -> None:
    argnums = tuple(range(len(args)))
    value, gradient = s2sad.value_and_grad(f, argnums=argnums, compile="numba")(*args)
    wanted, slopes = s2sad.value_and_grad(f, argnums=argnums)(*args)
    assert value == pytest.approx(wanted, rel=1e-12) and value == pytest.approx(f(*args), rel=1e-12)
    for found, slope in zip(gradient, slopes, strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-11, atol=1e-12)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="could not be broadcast"):
        s2sad.grad(broadcast, compile="numba")(V, ROW)
    with pytest.raises(ValueError, match="zero-size array"):
        s2sad.grad(awkward_names, compile="numba")(V[:0], 1.0)
