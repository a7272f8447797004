"""Compiled derivatives: what interpreted ones give, and refusals where Numba has no code."""

from __future__ import annotations

import importlib
import math
import pickle
import types
import zlib
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.targets import numba_target
from tests.support.compare import assert_like, assert_same

RNG = np.random.default_rng(0)
GRID = types.SimpleNamespace(__name__="grid")
Pair = namedtuple("Pair", "a b")
scale = 2.0
weights = (1.5, np.array([1.0, -2.0, 0.5]))


def rosenbrock(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def stencil(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def piecewise(u, k):
    if u > 0:
        return u * math.sin(k * u)
    return -u


def calls(x, k):
    s = 0.0
    for i in range(5):
        s += piecewise(x - 0.1 * i, k)
    return s


def perceptron(layers, x):
    h = x
    for w, b in layers[:-1]:
        h = np.tanh(h @ w + b)
    w, b = layers[-1]
    return np.mean((h @ w + b) ** 2)


def of_dict(p, x):
    return np.sum(np.tanh(p["w"] @ x + p["b"]) ** 2)


def of_pair(p, x):
    return p.a * np.sum(x) + math.exp(p.b)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    name: str = "layer"


class Model:
    def __init__(self, k: float, layer: Layer) -> None:
        self.k, self.layer, self.steps = k, layer, 3

    def loss(self, x: np.ndarray) -> np.ndarray:
        for _ in range(self.steps):
            x = np.tanh(self.layer.w @ x + self.layer.b)
        return self.k * np.sum(x)


def of_object(model, x):
    return model.loss(x) + model.k


def broadcast(x, y):
    return np.sum(x * y + x)


def largest(x):
    return np.max(x) * np.sum(x)


def complex_energy(z):
    return np.sum(np.abs(z) ** 2 + (z * z).real)


LAYERS = [(RNG.normal(size=(4, 4)), RNG.normal(size=4)), (RNG.normal(size=(4, 4)), RNG.normal(size=4))]
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (rosenbrock, (RNG.normal(size=7),), 0),
    (newton, (2.0,), 0),
    (stencil, (RNG.normal(size=9), 3), 0),
    (calls, (0.3, 2.0), (0, 1)),
    (perceptron, (LAYERS, RNG.normal(size=(3, 4))), (0, 1)),
    (of_dict, ({"w": RNG.normal(size=(3, 4)), "b": RNG.normal(size=3)}, RNG.normal(size=4)), 0),
    (of_pair, (Pair(1.5, 0.5), RNG.normal(size=3)), (0, 1)),
    (of_object, (Model(0.7, Layer(RNG.normal(size=(3, 3)), RNG.normal(size=3))), RNG.normal(size=3)), (0, 1)),
    (broadcast, (RNG.normal(size=(3, 4)), RNG.normal(size=4)), (0, 1)),
    (largest, (np.array([1.0, 3.0, 3.0]),), 0),
    (complex_energy, (RNG.normal(size=3) + 1j * RNG.normal(size=3),), 0),
]


def assert_alike(compiled: Any, interpreted: Any) -> None:
    """The same structure and the same numbers, to the rounding of a sum taken in another order."""
    assert_like(compiled, interpreted, "the compiled result")
    for a, b in zip(leaves(compiled), leaves(interpreted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        x = list(x.values())
    if hasattr(x, "__dict__"):
        x = [v for v in vars(x).values() if not isinstance(v, str)]
    if x is None:
        return []
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize(("f", "args", "argnums"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_value_and_gradient(f: Any, args: tuple[Any, ...], argnums: Any) -> None:
    compiled = s2sad.value_and_grad(f, argnums=argnums, compile="numba")
    kept = pickle.loads(pickle.dumps(args))
    assert_alike(compiled(*args), s2sad.value_and_grad(f, argnums=argnums)(*args))
    assert_same(args, kept)


def test_a_tangent_and_a_second_derivative() -> None:
    x, v = RNG.normal(size=5), RNG.normal(size=5)
    assert_alike(s2sad.jvp(rosenbrock, compile="numba")(x, v), s2sad.jvp(rosenbrock)(x, v))
    gradient = s2sad.grad(rosenbrock)
    assert_alike(s2sad.jvp(gradient, compile="numba")(x, v), s2sad.jvp(gradient)(x, v))
    assert s2sad.grad(s2sad.grad(newton, compile="numba"))(2.0) == s2sad.grad(s2sad.grad(newton))(2.0)


# ---------------------------------------------------------------- what is outside of the function


def outside(x):
    return scale * x * x + weights[0] * np.sum(weights[1] * x)


def test_data_outside_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = s2sad.grad(outside, compile="numba")
    assert gradient(3.0) == pytest.approx(12.0 - 0.75)
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert gradient(3.0) == pytest.approx(30.0 - 0.75)
    weights[1][0] += 1.0
    try:
        assert gradient(3.0) == pytest.approx(30.0 + 0.75)
    finally:
        weights[1][0] -= 1.0


def test_constants_of_other_modules_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = types.ModuleType("grid")
    grid.dx = 0.5  # type: ignore[attr-defined]
    monkeypatch.setitem(globals(), "grid", grid)
    gradient = s2sad.grad(on_grid, compile="numba")
    assert gradient(2.0) == 2.0
    grid.dx = 3.0  # type: ignore[attr-defined]
    assert gradient(2.0) == 12.0


def on_grid(x):
    return grid.dx * x * x  # noqa: F821


def test_cells_are_read_at_each_call() -> None:
    k = 2.0

    def f(x):
        return k * x * x

    gradient = s2sad.grad(f, compile="numba")
    assert gradient(3.0) == 12.0
    k = 3.0
    assert gradient(3.0) == 18.0


# ---------------------------------------------------------------- errors and refusals


def element(x, k):
    return x[k] * x[k]


def quotient(x, y):
    return x / y


def test_bounds_and_divisions_are_checked() -> None:
    with pytest.raises(IndexError):
        s2sad.grad(element, compile="numba")(np.ones(3), 3)
    with pytest.raises(ZeroDivisionError):
        s2sad.grad(quotient, compile="numba")(1.0, 0.0)
    assert s2sad.grad(quotient, compile="numba", fastmath=True)(1.0, 0.0) == math.inf


def chosen(x, mask):
    return np.sum(x[mask] ** 2)


def cleared(x, mask):
    y = x.copy()
    for _ in range(2):
        y[mask] = 0.0
    return np.sum(y * x)


@pytest.mark.parametrize("f", [chosen, cleared])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_masks_of_another_length(f: Any, count: int) -> None:
    mask = np.arange(count) < 1
    compiled, interpreted = s2sad.grad(f, compile="numba"), s2sad.grad(f)
    if count == 2:
        assert_alike(compiled(np.ones(2), mask), interpreted(np.ones(2), mask))
        return
    for gradient in (compiled, interpreted):
        with pytest.raises(IndexError, match="boolean index did not match"):
            gradient(np.ones(2), mask)


def scaled(x, n):
    return np.sum(x * 2**n) * 3 ** (n * n)


def test_powers_of_integers() -> None:
    compiled = s2sad.grad(scaled, compile="numba")
    assert_alike(compiled(np.ones(2), 3), s2sad.grad(scaled)(np.ones(2), 3))
    for n, why in ((-2, "negative power"), (70, "larger than 64 bits")):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match=why):
            compiled(np.ones(2), n)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def raising(x):
    with np.errstate(all="raise"):
        return np.sum(np.log(x))


count = 0


def counting(x):
    global count
    count += 1
    return x * count


def of_parts(x):
    parts = [[x[0]]]
    for k in range(len(x)):
        parts = [*parts, [x[k] * 2.0]]
    return np.sum(parts[1][0])


@pytest.mark.parametrize(
    ("f", "args", "line", "why"),
    [
        (power, (2.0, 3), "return x * power(x, n - 1)", "`power_fprop` does not compile"),
        (raising, (np.ones(3),), "with np.errstate", "it holds `with`"),
        (counting, (2.0,), "count += 1", "it sets `count`"),
        (of_parts, (np.ones(2),), "parts", ""),
    ],
)
def test_what_does_not_compile_is_refused(f: Any, args: tuple[Any, ...], line: str, why: str) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError) as caught:
        s2sad.grad(f, compile="numba")(*args)
    assert why in caught.value.why and caught.value.where is not None
    assert line in caught.value.where.text and caught.value.where.filename == __file__


def of_lists(x):
    a = [x[0], x[1]]
    b = list(a) + list(a)
    return b[0] * b[2] * b[1]


def test_what_numba_means_otherwise() -> None:
    x = np.array([0.5, 2.0, 3.0, 4.0])
    assert_alike(s2sad.grad(of_lists, compile="numba")(x), s2sad.grad(of_lists)(x))


# ---------------------------------------------------------------- statements that are interpreted


def reshaped(x, n):
    return np.sum(x[::2].reshape(n, 1) ** 2)


def contracted(x):
    return np.einsum("ij,ij->", x, x) * 2.0


def stacked(x):
    s = 0.0
    for i in range(len(x)):
        s = s + np.sum(np.stack([x, x * x], axis=1)[i] ** 2)
    return s


def joined(x):
    return np.sum(np.concatenate([x, x * x]) ** 2)


def at_repeated_places(x, i):
    return np.sum(x[i, 0] ** 2) + np.sum(x[:, i] ** 2) + np.sum(x[i, 1:] ** 3) + np.sum(x[i, i])


def of_masks(x):
    return np.sum(x[x > 0] ** 2) + np.sum(x[:, x[0] > 0])


def largest_of_rows(x):
    return np.sum(np.max(x, axis=1) * x[:, 0]) + np.sum(np.sort(x, axis=0)[0] ** 2)


SQUARE = RNG.normal(size=(3, 3))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (reshaped, (RNG.normal(size=4), 2)),
        *((f, (SQUARE,)) for f in (contracted, stacked, joined, of_masks, largest_of_rows)),
        (at_repeated_places, (SQUARE, np.array([0, 2, 2, 0]))),
    ],
)
def test_what_numba_has_no_code_for_is_interpreted(f: Any, args: tuple[Any, ...]) -> None:
    compiled, interpreted = s2sad.value_and_grad(f, compile="numba"), s2sad.value_and_grad(f)
    assert_alike(compiled(*args), interpreted(*args))


def test_errors_of_interpreted_statements_are_pythons() -> None:
    with pytest.raises(IndexError):
        s2sad.grad(at_repeated_places, compile="numba")(SQUARE, np.array([0, 3]))


def squeezed(x):
    return np.sum(np.squeeze(np.stack([x, x * x], axis=1)) ** 2)


def test_a_rank_that_depends_on_lengths() -> None:
    gradient = s2sad.grad(squeezed, compile="numba")
    assert_alike(gradient(np.ones(3)), s2sad.grad(squeezed)(np.ones(3)))


def first_of(pair):
    return pair[0] * 2.0


def test_objects_without_a_type_are_refused() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="an object that Numba has no type for"):
        s2sad.jvp(first_of, argnums=0, compile="numba")((2.0, {1: 2.0}), (1.0, {1: 0.0}))


def test_single_precision_is_refused() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="not compiled for a ndarray of dtype float32"):
        s2sad.grad(rosenbrock, compile="numba")(np.ones(3, np.float32))


def test_numba_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name == ".numba_helpers":
            raise ModuleNotFoundError("No module named 'numba'", name="numba")
        return found(name, package)

    numba_target.helpers.cache_clear()
    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(s2sad.NonDifferentiableError, match=r"pip install s2sad\[numba\]"):
        s2sad.grad(newton, compile="numba")(2.0)


# ---------------------------------------------------------------- being an object


@s2sad.grad(compile="numba")
def cubed(x):
    return x * x * x


def test_a_method_of_an_object() -> None:
    model = Model(0.7, Layer(np.eye(3), np.ones(3)))
    x = np.array([0.1, 0.2, 0.3])
    gradient = s2sad.grad(model.loss, compile="numba")
    assert_alike(gradient(x), s2sad.grad(model.loss)(x))
    model.k, model.steps = 1.5, 1
    assert_alike(gradient(x), s2sad.grad(model.loss)(x))


def test_it_is_a_derivative_like_others() -> None:
    assert cubed(2.0) == 12.0 and cubed(x=2.0) == 12.0
    assert pickle.loads(pickle.dumps(cubed))(2.0) == 12.0
    assert "def cubed_grad(x):" in cubed.source_for(2.0)


# ---------------------------------------------------------------- blocks and lists


def silent(x):
    total = 0.0
    for k in range(3):
        try:
            with np.errstate(divide="ignore", invalid="warn"):
                total += np.sum(np.log(x) * k)
        finally:
            k += 1
    return total * k


def stacked(x, n):
    ys, zs = [], []
    for _ in range(n):
        x = np.sin(x) * x
        ys.append(x)
        zs.append(x[1:])
    return np.sum(np.stack(ys) ** 2) + np.sum(np.concatenate(zs) ** 3) + np.sum(np.array([v * v for v in x]))


def extremes(x, y):
    return max(x, y) * 2.0 - min(x, y, 0.1) + sum([x, y, x * y])


def extended(x, y):
    items = [x, y]
    items.extend([x * y, y * y])
    items.extend(items)
    a, b, *_ = items
    return items[2] * items[-1] + sum(items) * a * b


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (silent, (np.array([0.5, 2.0]),)),
        (stacked, (np.array([0.5, 2.0, 1.5]), 3)),
        *((extremes, args) for args in ((1.7, -0.4), (-1.7, 0.4), (0.5, 0.5))),
        (extended, (0.8, 1.3)),
    ],
)
def test_blocks_and_lists(f: Any, args: tuple[Any, ...]) -> None:
    argnums = tuple(k for k, a in enumerate(args) if not isinstance(a, int))
    compiled = s2sad.value_and_grad(f, argnums, compile="numba")
    assert_alike(compiled(*args), s2sad.value_and_grad(f, argnums)(*args))


@pytest.mark.parametrize("x", [(1.7, -0.4), (0.5, 0.5), (-2.0, 3.0)])
def test_tangents_of_extremes(x: Any) -> None:
    assert_alike(*(s2sad.jvp(extremes, **options)(*x, 0.3, 0.7) for options in ({"compile": "numba"}, {})))


def unknown(x, flag):
    if flag:
        return zlib.adler32(x)
    return x * x


def test_a_refusal_that_is_deferred() -> None:
    gradient = s2sad.grad(unknown, compile="numba")
    assert gradient(3.0, False) == 6.0
    with pytest.raises(s2sad.MissingRuleError, match=r"`zlib.adler32` has no rule") as caught:
        gradient(3.0, True)
    assert caught.value.where is not None and "zlib.adler32" in caught.value.where.text


# ---------------------------------------------------------------- forward mode of stores


def swept(u, n):
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] * u[i + 1])
    return np.sum(u * u)


@pytest.mark.parametrize("transform", [s2sad.jacfwd, s2sad.jacrev, s2sad.jacobian, s2sad.hessian])
def test_jacobians_of_a_function_that_changes_its_argument(transform: Any) -> None:
    u = RNG.normal(size=5)
    results = []
    for options in ({"compile": "numba"}, {}):
        given = u.copy()
        results.append((transform(swept, **options)(given, 2), given))
    assert_alike(*results)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_tangent_has_the_layout_of_the_argument(layout: Any) -> None:
    a, da = (np.array(RNG.normal(size=(3, 4)), order=layout) for _ in range(2))
    results = [
        s2sad.jvp(first_doubled, argnums=0, **options)(a.copy(order="K"), da.copy(order="C"))
        for options in ({"compile": "numba"}, {})
    ]
    assert_alike(*results)


def first_doubled(a):
    row = a[0]
    row *= 2.0
    for k in range(len(row)):
        a[1, k] = row[k] * a[2, k]
    return np.sum(a * a)


def stretched(x, y):
    return np.sum(x * y) * x


def test_the_gradient_of_an_array_without_axes_has_none() -> None:
    results = [
        s2sad.vjp(stretched, **options)(np.array(0.8), np.ones(3))[1](1.0)
        for options in ({"compile": "numba"}, {})
    ]
    assert_alike(*results)
    assert np.shape(results[0][0]) == ()
