"""`vmap` of functions and derivatives, beside loops over the calls."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import grad, jvp, value_and_grad, vmap
from s2sad.transforms.errors import NonDifferentiableError, UnsupportedSyntaxError

RNG = np.random.default_rng(0)
X, Y, W, A = RNG.normal(size=(5, 4)), RNG.normal(size=5), RNG.normal(size=4), RNG.normal(size=(4, 4))
MANY = RNG.normal(size=(5, 3, 3)) + 3 * np.eye(3)
ROWS = RNG.normal(size=(5, 3, 2))


def loss(w: Any, x: Any, y: Any) -> Any:
    p = 1 / (1 + np.exp(-(w @ x)))
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def steps(x: Any, n: int = 3) -> Any:
    total = 0.0
    out = np.zeros_like(x)
    for k in range(n):
        total = total + x[k] * np.exp(-total)
        out[k] += total * x[-1]
        out[:2] *= x[:2]
    return out * total


def swapped(x: Any) -> Any:
    y = x * 2.0
    first = y[0]
    y[0] = y[1]
    y[1] = first
    return y


def over_rows(points: Any) -> Any:
    total = 0.0
    for u, v in points:
        total = total + u * v - v
    return total


def over_pairs(x: Any, rows: Any) -> Any:
    total = 0.0
    for k, (w, row) in enumerate(zip(x[:3], rows, strict=True)):
        total = total + k * w * row
    return total


def of_numbers(x: Any) -> Any:
    z = cmath.sqrt(x) * cmath.exp(1j * x)
    return math.sin(x) * math.hypot(x, 2.0) + max(x, 0.1) - min(x, 0.2) + z.real + abs(x) ** 0.5


def polynomial(x: Any) -> Any:
    return sum(c * x**k for k, c in enumerate([1.0, 2.0, 3.0]))


def power(x: Any, n: int) -> Any:
    return 1.0 if n == 0 else x * power(x, n - 1)


def recorded(x: Any) -> Any:
    kept = []
    for k in range(3):
        kept.append((0.0 if k else 1.0, x * k))
    return np.stack([a + b for a, b in kept])


def seen_by_another_name(x: Any) -> Any:
    y = np.arange(4.0)
    z = y[1:]
    z += x[1:]
    y[0] = 5.0
    return y * z.sum()


def joined(x: Any, flag: bool = True) -> Any:
    y = np.ones(4)
    z = x * 2.0
    if flag:
        z = y
    y[0] = 5.0
    return z * x


def of_lists(x: Any) -> Any:
    items = [0.0, 1.0]
    same = items
    for v in x:
        items.append(v * items[-1] + 1.0)
    same[0] = 7.0
    return items[0] + sum(items)


def long(x: Any, y: float) -> Any:
    """More statements than are put in."""
    total = x * 0.0
    for k in range(3):
        total = total * y if y > 0.5 else total + y
        total = np.sin(total) + x * k
        total = np.cos(total) - x * k
        total = total * total + 1.0
        total = total / (1.0 + x * x)
        total = np.exp(-total) * x
        total = total + np.tanh(x)
        total = total * 2.0 - x
        total = np.sin(total) + x
        total = total * total - x
        total = np.tanh(total) * y
        total = np.sqrt(1.0 + total * total)
        total = np.cos(total) * 3.0
        total = total + 0.1 * x
        total = np.exp(-total * total)
        total = total / (1.0 + total)
        total = np.sin(total) * x + y
    return total, 2 * y


def linked(x: Any) -> Any:
    found, level = long(x, 0.7)
    if level > 1:
        found = found * level
    return found + long(x[0], 0.2)[0]


def in_blocks(x: Any, n: int = 2) -> Any:
    total = np.zeros(5)
    for _ in range(n):
        total = total + x
    if n > 1:
        total[0] = x[1]
    return total


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    def predict(self, x: Any) -> Any:
        return np.tanh(self.w @ x)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (lambda w, x: w @ x, (W, X), (None, 0)),
    (lambda a, x: np.tanh(a @ x) @ a, (A, X), (None, 0)),
    (lambda a, b: a @ b, (MANY, MANY), 0),
    (lambda a, b: a @ b[0], (MANY, MANY), 0),
    (lambda a, b: b[0] @ a, (MANY, MANY), 0),
    (lambda x, y: x @ y, (X, X[::-1]), 0),
    (lambda x, y: x * y + np.sum(x), (X.T.copy(), Y), (1, 0)),
    (lambda a, y: a * y + a.mean(axis=0), (MANY, Y), 0),
    (lambda x, y: np.outer(x, y) + y, (X, X), 0),
    (lambda a, x: np.einsum("ij,j->i", a, x[:3]), (MANY, X), 0),
    (lambda a: (a.T, a.reshape(-1)[:4], a.sum(axis=-1), a.max()), (MANY,), 0),
    (lambda a: (a.ravel(), np.linalg.slogdet(a)[1], np.linalg.qr(a)[1]), (MANY,), 0),
    (lambda a: np.linalg.solve(a, a[0]) * np.linalg.det(a), (MANY,), 0),
    (lambda a: np.concatenate([a[0], a[1, :2]]) + np.sort(a[2])[0], (MANY,), 0),
    (lambda a: a[[0, 2]] * a[1:, [1]], (MANY[:, :, :2],), 0),
    (lambda x: np.where(x > 0, x * 2, np.cumsum(x)), (X,), 0),
    (lambda k, x: x[k] * k, (np.array([1, 3, 0]), W), (0, None)),
    (steps, (X,), 0),
    (swapped, (X,), 0),
    (seen_by_another_name, (X,), 0),
    (joined, (X,), 0),
    (of_lists, (X,), 0),
    (over_rows, (ROWS,), 0),
    (over_pairs, (X, MANY), 0),
    (of_numbers, (Y,), 0),
    (polynomial, (Y,), 0),
    (recorded, (X,), 0),
    (lambda x: power(x, 4), (Y,), 0),
    (Model(A).predict, (X,), 0),
    (linked, (X,), 0),
    (in_blocks, (X,), 1),
    (grad(lambda x: np.sum(in_blocks(x) ** 2)), (X,), 1),
    (grad(loss), (W, X, (Y > 0) * 1.0), (None, 0, 0)),
    (value_and_grad(loss, argnums=(0, 1)), (W, X, (Y > 0) * 1.0), (None, 0, 0)),
    (grad(lambda x: np.sum(steps(x))), (X,), 0),
    (vmap(lambda a, b: a * b + 1, in_axes=(None, 0)), (Y, W), (0, None)),
]


@pytest.mark.parametrize(("f", "args", "in_axes"), FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_vmap_is_a_loop_over_the_calls(f: Any, args: tuple[Any, ...], in_axes: Any) -> None:
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    count = next(a.shape[k] for a, k in zip(args, axes, strict=True) if k is not None)
    pairs = list(zip(args, axes, strict=True))
    results = [f(*(a if k is None else np.take(a, n, k) for a, k in pairs)) for n in range(count)]
    for out_axes in (0, -1):
        assert_stacked(vmap(f, in_axes=in_axes, out_axes=out_axes)(*args), results, out_axes)


def assert_stacked(found: Any, results: list[Any], axis: int) -> None:
    if isinstance(results[0], tuple):
        for part, expected in zip(found, zip(*results, strict=True), strict=True):
            assert_stacked(part, list(expected), axis)
        return
    np.testing.assert_allclose(found, np.stack(results, axis), rtol=1e-12, atol=1e-14)


def test_code_is_that_of_whole_arrays() -> None:
    per_example = vmap(grad(loss), in_axes=(None, 0, 0))
    source = per_example.source_for(W, X, (Y > 0) * 1.0)
    assert "x @ w" in source
    assert "[:, None] * x" in source
    assert "for " not in source


def test_derivatives_of_vmap() -> None:
    forward = vmap(lambda w, x: np.tanh(w @ x), in_axes=(None, 0))
    expected = grad(lambda w: np.sum(np.tanh(X @ w)))(W)
    np.testing.assert_allclose(grad(lambda w: np.sum(forward(w, X)))(W), expected)
    np.testing.assert_allclose(grad(lambda w: np.sum(vmap(lambda x: np.tanh(w @ x))(X)))(W), expected)
    v = np.arange(4.0)
    np.testing.assert_allclose(jvp(forward, argnums=0)(W, X, v)[1], (1 - np.tanh(X @ W) ** 2) * (X @ v))


def test_vmap_is_a_decorator() -> None:
    @vmap(in_axes={"x": 1})
    def total(x: Any, scale: float = 2.0) -> Any:
        return scale * x.sum()

    assert total(np.ones((2, 3))).tolist() == [4.0, 4.0, 4.0]
    assert total(np.ones((2, 3)), scale=1.0).tolist() == [2.0, 2.0, 2.0]


def branching(x: float) -> float:
    return x if x > 0 else 2 * x


def storing(x: Any, out: Any) -> Any:
    out[0] = x
    return out.sum()


def told(x: float) -> Any:
    print(f"{x:.2f}")
    return x


@pytest.mark.parametrize(
    ("f", "args", "in_axes", "what"),
    [
        (branching, (Y,), 0, "a branch that the values of the batch decide"),
        (storing, (Y, W), (0, None), "a change of what is held outside|a change of an argument"),
        (told, (Y,), 0, "a call for its effect|a text with values"),
    ],
)
def test_what_differs_from_call_to_call_is_refused_by_line(
    f: Any, args: tuple[Any, ...], in_axes: Any, what: str
) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=what) as met:
        vmap(f, in_axes=in_axes)(*args)
    assert met.value.where is not None
    assert met.value.where.filename == __file__


@pytest.mark.parametrize(
    ("args", "in_axes"),
    [
        ((W, list(X)), (None, 0)), ((W, X), 0), ((W, X, 1.0), 0), ((1.0, X), 0), ((W, X[:0]), (None, 0)),
        ((W, X), None),
    ],
)
def test_arguments_that_do_not_fit(args: Any, in_axes: Any) -> None:
    with pytest.raises((NonDifferentiableError, TypeError)):
        vmap(lambda w, x: w @ x, in_axes=in_axes)(*args)
    with pytest.raises(NonDifferentiableError):
        vmap(lambda w: w, in_axes=(0, 0))
    with pytest.raises(NonDifferentiableError):
        vmap(lambda w: w, in_axes={"v": 0})


def test_lengths_are_compared_in_each_call() -> None:
    both = vmap(lambda x, y: x * y)
    both(Y, Y)
    for _ in range(2):
        with pytest.raises((NonDifferentiableError, ValueError)):
            both(Y, Y[:1])


def test_vmap_is_public() -> None:
    assert "vmap" in s2sad.__all__


COUNTER = {"calls": 0}
LOG: list[float] = []


def counting(x: Any) -> Any:
    COUNTER["calls"] += 1
    return x * 2.0


def logging(x: Any) -> Any:
    LOG.append(1.0)
    return x * 2.0


def drawing(x: Any) -> Any:
    return x * np.random.default_rng().normal()


def popping(x: Any) -> Any:
    kept = [x, 2.0, 3.0 * x]
    return kept.pop() + kept[0]


@pytest.mark.parametrize("f", [counting, logging, drawing])
def test_what_each_call_would_do_is_refused(f: Any) -> None:
    with pytest.raises(UnsupportedSyntaxError):
        vmap(f)(Y)
    assert COUNTER["calls"] == 0
    assert not LOG


def test_what_a_function_makes_may_change() -> None:
    np.testing.assert_allclose(vmap(popping)(Y), 4 * Y)


def seen_through_views(x: Any, way: int) -> Any:
    a = np.ones((3, 3))
    b = [a[:], a.T, [a, a][0], a.reshape(9).reshape(3, 3)][way] if way < 4 else a
    a[0] = 5.0
    if way > 8:
        b = x
    return b * 1.0 + x


def on_one_path(x: Any, w: Any) -> Any:
    a = np.ones((3, 3))
    b = a[:]
    a[0] = 5.0
    if w[0] < 0:
        b = x
    return b * 1.0


def through_a_loop(x: Any, w: Any) -> Any:
    a = np.zeros((3, 3))
    kept = a.T
    out = np.zeros((3, 3))
    for k in range(3):
        a[k] = k + w[0]
        out = out + kept
        kept = kept if k < 1 else x
    return out


def stored_with_more_axes(x: Any) -> Any:
    c = np.zeros((3, 3))
    c[:] = x[None]
    return c


@pytest.mark.parametrize("f", [on_one_path, through_a_loop])
def test_views_of_what_changes_are_refused_or_right(f: Any) -> None:
    try:
        found = vmap(f, in_axes=(0, None))(MANY, np.ones(3))
    except UnsupportedSyntaxError:
        return
    assert_stacked(found, [f(a, np.ones(3)) for a in MANY], 0)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a.sum(axis=-3),
        lambda a: a[0].mean(axis=(-1, -2)),
        lambda a: np.cumsum(a[0], axis=-2),
        lambda a: np.concatenate([a[0], a[1]], axis=-2),
        lambda a: np.stack([a[0], a[1]], axis=-3),
        lambda a: np.transpose(a[0], (1, 0)),
        lambda a: a[0, 0] @ a,
        lambda a: np.linalg.inv(a * 0.0),
    ],
)
def test_errors_are_those_of_one_call(f: Any) -> None:
    with pytest.raises((ValueError, UnsupportedSyntaxError)) as met:
        vmap(f)(MANY)
    assert not isinstance(met.value, s2sad.InternalError)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a.flatten("F"),
        lambda a: np.reshape(a, (9,), "F"),
        lambda a: np.linalg.lstsq(a, a[0])[0],
        lambda a: a[a > 0],
        lambda a: a[0][np.argmax(a[1]) :],
        lambda a: seen_through_views(a, 0),
        lambda a: seen_through_views(a, 1),
        lambda a: seen_through_views(a, 2),
        lambda a: seen_through_views(a, 3),
        stored_with_more_axes,
    ],
)
def test_what_is_refused_or_right(f: Any) -> None:
    try:
        found = vmap(f)(MANY)
    except UnsupportedSyntaxError:
        return
    assert_stacked(found, list(map(f, MANY)), 0)
