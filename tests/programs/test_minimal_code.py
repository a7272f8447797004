"""What generated code leaves out: arrays for their shape alone, gradients nobody asked for, conjugates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

X, M = np.array([1.0, 2.0, 3.0]), np.arange(12.0).reshape(3, 4)


def mean_of_sine(x: Any) -> Any:
    return np.mean(np.sin(x))


def shifted(x: Any, b: Any) -> Any:
    return np.sum(x + b)


def mean_of_columns(x: Any) -> Any:
    return np.sum(np.mean(x, axis=0) ** 2)


def one_of_einsum(x: Any, y: Any) -> Any:
    return np.sum(np.einsum("ij,j->i", x, y))


@pytest.mark.parametrize(
    ("f", "args", "argnums", "line"),
    [
        (mean_of_sine, (X,), 0, "dx = 1.0 / x.size * np.cos(x)"),
        (shifted, (X, 2.0), 1, "db = 1.0 * x.size"),
        (mean_of_columns, (M,), 0, "/ reduced_size(x, 0), x, 0)"),
        (one_of_einsum, (M, np.ones(4)), 1, '"ij,j->i", (x, y), (1,))[1]'),
    ],
)
def test_nothing_is_computed_for_its_shape(f: Callable[..., Any], args: Any, argnums: int, line: str) -> None:
    gradient = s2sad.grad(f, argnums)
    assert line in gradient.source_for(*args)
    s2sad.check_grads(f, args, argnums=argnums)


def softmax(x: Any) -> Any:
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)


def shifted_by_mean(x: Any) -> Any:
    return x**2 - np.mean(x, axis=0)


def rectified(x: Any, b: Any) -> Any:
    return np.maximum(x @ np.ones((4, 4)) + b, 0)


def stored_over(x: Any, b: Any) -> Any:
    out = np.zeros_like(x)
    out[:, :] = np.sin(x)
    return out[:, :] * b


@pytest.mark.parametrize(
    ("f", "args", "lines"),
    [
        (
            softmax,
            (M,),
            ["de = dout - np.vecdot(dout, out)[:, None]", "dx = de * out"],
        ),
        (shifted_by_mean, (M,), ["dx = dout * 2 * x - np.sum(dout, axis=0) / x.shape[0]"]),
        (
            rectified,
            (M - 5, np.ones(4)),
            [
                "dout_1 = kept_where(out_3, halved_where(out_4, dout))",
                "db = np.sum(dout_1, axis=0)",
                "dx = dout_1 @ out_1.T",
            ],
        ),
        (stored_over, (M, 2.0), ["db = np.sum(dout_2 * out_1)", "dx = dout_2 * b * np.cos(x)"]),
    ],
)
def test_no_array_is_made_for_nothing(f: Callable[..., Any], args: Any, lines: list[str]) -> None:
    back = s2sad.vjp(f).source_for(*args).split("_bprop(dout")[1]
    found = [line.strip() for line in back.splitlines()]
    assert [line for line in found if "= " in line and "#" not in line] == lines
    s2sad.check_grads(f, args, argnums=tuple(range(len(args))))


def column_sums(x: Any, w: Any) -> Any:
    y = x[:, :2] * w[:2]
    z = y + x[:1, 1:3]
    return np.sum(z * 2.0, axis=0)


def test_bprop_holds_no_array_for_its_shape() -> None:
    forward, back = s2sad.vjp(column_sums).source_for(M, np.ones(4)).split("def column_sums_bprop")
    back = re.sub("#.*", "", back)
    kept = re.findall(r"(\w+) = like\((\w+)\)", forward)
    assert {array for _, array in kept} == {"y", "z"}
    assert all(shape in back and not re.search(rf"\b{array}\b", back) for shape, array in kept)
    s2sad.check_grads(column_sums, (M, np.ones(4)), argnums=(0, 1))


def factorised(a: Any) -> Any:
    a, n = a.copy(), a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def test_factors_are_read_again() -> None:
    a = np.eye(4) * 3.0 + np.arange(16.0).reshape(4, 4) / 10
    assert "trace" not in s2sad.vjp(factorised).source_for(a)
    s2sad.check_grads(factorised, (a,))


def overwritten(a: Any) -> Any:
    a = a.copy()
    for i in range(1, a.shape[0]):
        a[i, 0] *= a[i - 1, 0]
    a[0, 0] = a[3, 0] ** 2
    return a


def test_what_is_overwritten_is_kept() -> None:
    a = np.eye(4) * 3.0 + np.arange(16.0).reshape(4, 4) / 10 + 1
    assert "trace" in s2sad.vjp(overwritten).source_for(a)
    s2sad.check_grads(overwritten, (a,))


def test_magnitudes_of_real_numbers_have_no_conjugates() -> None:
    def f(x: Any) -> Any:
        return np.abs(x)

    assert "dout = dx * np.sign(x)" in s2sad.jvp(f).source_for(X)
    z = np.array([3 + 4j])
    np.testing.assert_allclose(s2sad.jvp(f)(z, np.array([1 + 1j]))[1], [1.4])


def backwards(x: Any) -> Any:
    return np.flip(np.sort(x))


def spread(x: Any) -> Any:
    return np.ptp(x)


def differences(x: Any, start: Any) -> Any:
    return np.diff(x, prepend=start)


@pytest.mark.parametrize(
    ("derivative", "args", "line"),
    [
        (s2sad.vjp(backwards), (X,), "np.flip(dout), np.argsort(np.argsort(x))"),
        (s2sad.jvp(spread), (X,), "np.sum(dx * range_shares(x, None))"),
        (s2sad.jvp(differences), (X, 0.5), "if start is None:"),
    ],
)
def test_defaults_and_what_is_known_are_not_written(derivative: Any, args: Any, line: str) -> None:
    assert line in derivative.source_for(*args)


def test_the_length_of_two_numbers_needs_no_array() -> None:
    def f(x: float, y: float) -> float:
        return math.hypot(x, y)

    assert "dx = x / (out + (out == 0))" in s2sad.grad(f, (0, 1)).source_for(3.0, 4.0)
    assert s2sad.grad(f, (0, 1))(0.0, 0.0) == (0.0, 0.0)


def test_gradients_of_numbers_among_others_are_items() -> None:
    def f(x: float, y: float) -> float:
        return math.hypot(x, y, 2.0)

    assert "dx = dout_1[0]\n" in s2sad.grad(f, (0, 1)).source_for(3.0, 4.0)


def stencil(a: Any, n: int) -> Any:
    u, v = a.copy(), a.copy()
    for _ in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u[1:-1] = 0.5 * (v[:-2] + v[2:])
    return np.sum(u)


def test_nothing_is_stored_that_is_not_read() -> None:
    """The sweep of a linear stencil is needed for its value alone."""
    gradient = s2sad.grad(stencil)
    assert "v[1:-1] = 0.5" not in gradient.source_for(np.ones(9), 2).replace("# v[", "")
    assert "du = np.ones_like(a)" in gradient.source_for(np.ones(9), 2)
    assert "    v[1:-1] = 0.5" in s2sad.value_and_grad(stencil).source_for(np.ones(9), 2)
    s2sad.check_grads(stencil, (np.linspace(0.0, 1.0, 9), 2), argnums=0)


def softmax_of_two_calls(x: Any) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


def test_nothing_is_computed_twice() -> None:
    source = s2sad.vjp(softmax_of_two_calls, argnums=0).source_for(M)
    assert [line for line in source.splitlines() if "np.exp" in line and "#" not in line] == [
        "    out_1 = np.exp(x)"
    ]


def differences(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def saturating(x: Any, w: Any) -> Any:
    return np.sum(1.0 / (1.0 + np.exp(-(w * x))))


def losses(z: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, z) - y * z)


@pytest.mark.parametrize(
    ("f", "args", "line"),
    [
        (differences, (X,), "dx[:-1] = -2.0 * (1.0 - out_1 + dout_1 * out_1)"),
        (saturating, (X, 2.0), "dx = out_2 * out_2 * out_1 * w"),
        (losses, (X, X), "dz = 1.0 / z.size * (expit(z) - y)"),
    ],
)
def test_arithmetic_is_short(f: Callable[..., Any], args: Any, line: str) -> None:
    assert line in s2sad.grad(f).source_for(*args)
    s2sad.check_grads(f, args, argnums=0)
