"""What a store overwrites, a branch leaves out or `max` does not pick never reaches a gradient, whatever its
slope is.

Each program is compared with one that computes the same and has nothing infinite to begin with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2sad

X = np.array([0.0, 1.3, 4.2])
Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The programs themselves divide by zero."""
    with np.errstate(all="ignore"):
        yield


# ---------------------------------------------------------------- stores


def root(x: Any, there: float = 0.0) -> Any:
    """The root where `x` is positive, and a number elsewhere."""
    return np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), there)


def by_number(x: Any) -> Any:
    d = np.sqrt(x)
    d[0] = 2.0
    return d * x


def by_slice(x: Any) -> Any:
    d = np.sqrt(x) * 3
    d[:1] = 6.0
    return d / 3 * x


def by_list(x: Any) -> Any:
    d = np.sqrt(x)
    d[[0]] = 2.0
    return d * x


def by_places(x: Any) -> Any:
    d = np.sqrt(x)
    d[np.nonzero(x == 0)] = 2.0
    return d * x


def by_put(x: Any) -> Any:
    d = np.sqrt(x)
    np.put(d, np.flatnonzero(x == 0), 2.0)
    return d * x


def by_putmask(x: Any) -> Any:
    d = np.sqrt(x)
    np.putmask(d, x == 0, 2.0)
    return d * x


def by_place(x: Any) -> Any:
    d = np.sqrt(x)
    np.place(d, x == 0, [2.0])
    return d * x


def by_copyto(x: Any) -> Any:
    d = np.sqrt(x)
    np.copyto(d, 2.0, where=x == 0)
    return d * x


def by_ufunc(x: Any) -> Any:
    d = np.full_like(x, 2.0)
    np.sqrt(x, out=d, where=x > 0)
    return d * x


def in_a_loop(x: Any) -> Any:
    d = np.sqrt(x)
    for i in range(len(x)):
        if x[i] == 0:
            d[i] = 2.0
    return d * x


def in_a_while(x: Any) -> Any:
    d, i = np.sqrt(x), 0
    while i < 1:
        d[i] = 2.0
        i += 1
    return d * x


def in_a_branch(x: Any) -> Any:
    d = np.sqrt(x)
    if np.any(d == 0):
        d[0] = 2.0
    return d * x


def read_before(x: Any) -> Any:
    d = np.sqrt(x)
    e = d[1] - d[2]
    d[0] = 2.0
    return d * x + (e - d[1] + d[2])


def in_another_shape(x: Any) -> Any:
    d = np.sqrt(x).reshape(3, 1)
    d[0, 0] = 2.0
    return d.T[0] * x


def of_a_copy(x: Any) -> Any:
    d = np.sqrt(x)
    e = d.copy()
    e[0] = 2.0
    return e * x


def of_a_function(x: Any) -> Any:
    def patched(d: Any) -> Any:
        d[0] = 2.0
        return d

    return patched(np.sqrt(x)) * x


STORES = [
    by_number, by_slice, by_list, by_places, by_put, by_putmask, by_place, by_copyto, by_ufunc, in_a_loop,
    in_a_while, in_a_branch, read_before, in_another_shape, of_a_copy, of_a_function,
]  # fmt: skip


@pytest.mark.parametrize("f", STORES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_a_store_overwrites_never_reaches_the_gradient(f: Program, dtype: Any) -> None:
    x, w, v = X.astype(dtype), np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.0, -0.7], dtype)
    tolerance = {"rtol": 1e-12 if dtype is np.float64 else 1e-5}
    close = np.testing.assert_allclose

    def total(x: Any) -> Any:
        return np.sum(f(x) * w)

    def safely(x: Any) -> Any:
        return np.sum(root(x, 2.0) * x * w)

    close(f(x), root(x, 2.0) * x, **tolerance)
    expected = s2sad.grad(safely)(x)
    found = s2sad.grad(total)(x)
    close(found, expected, **tolerance)
    assert found.dtype == dtype and np.all(np.isfinite(found))
    close(s2sad.jvp(total)(x, v)[1], np.dot(expected, v), rtol=1e-5)
    close(s2sad.hvp(total)(x, v), s2sad.hvp(safely)(x, v), rtol=1e-5)
    _, bprop = s2sad.vjp(f)(x)
    close(bprop(w.astype(dtype))[0], expected, **tolerance)
    close(bprop(2 * w.astype(dtype))[0], 2 * expected, **tolerance)


def test_diagonals() -> None:
    def f(x: Any) -> Any:
        d = np.sqrt((x[:, None] - x) ** 2)
        np.fill_diagonal(d, 1.0)
        d[0, 2] = d[2, 0] = 1.0
        return np.sum(1 / d)

    close = np.testing.assert_allclose
    a, b = 1 / (X[1] - X[0]) ** 2, 1 / (X[2] - X[1]) ** 2
    close(s2sad.grad(f)(X), [2 * a, -2 * a + 2 * b, -2 * b], rtol=1e-12)
    assert np.all(np.isfinite(s2sad.hessian(f)(X)))


def pairs(x: Any) -> Any:
    r = np.sqrt((x[:, None] - x) ** 2)
    return np.sum(1 / r[np.triu_indices(3, 1)])


def pairs_safely(x: Any) -> Any:
    a, b, c = x[1] - x[0], x[2] - x[0], x[2] - x[1]
    return 1 / a + 1 / b + 1 / c


def largest(x: Any) -> Any:
    return np.max(np.sqrt(x)) + np.max(np.sqrt(x) * np.ones((2, 1)), axis=1)[0] + np.nanmax(np.sqrt(x - 1))


def largest_safely(x: Any) -> Any:
    return 2 * np.sqrt(x[2]) + np.sqrt(x[2] - 1)


def divided_where(x: Any) -> Any:
    return np.sum(np.divide(x, np.sqrt(x), out=np.zeros_like(x), where=x > 0))


def divided_where_safely(x: Any) -> Any:
    return np.sum(np.sqrt(x[1:]))


PICKS = [(pairs, pairs_safely), (largest, largest_safely), (divided_where, divided_where_safely)]


@pytest.mark.parametrize(("f", "safe"), PICKS, ids=[f.__name__ for f, _ in PICKS])
def test_what_was_not_picked_never_reaches_the_gradient(f: Program, safe: Program) -> None:
    close = np.testing.assert_allclose
    close(f(X), safe(X), rtol=1e-12)
    expected = s2sad.grad(safe)(X)
    close(s2sad.grad(f)(X), expected, rtol=1e-12)
    for k, v in enumerate(np.eye(3)):
        close(s2sad.jvp(f)(X, v)[1], expected[k], rtol=1e-12)
    close(s2sad.hessian(f)(X), s2sad.hessian(safe)(X), rtol=1e-12, atol=1e-14)


def test_what_is_read_before_it_is_overwritten_stays_visible() -> None:
    def f(x: Any) -> Any:
        d = np.sqrt(x)
        first = d[0] + 0.0
        d[0] = 1.0
        return np.sum(d) + first

    def g(x: Any) -> Any:
        d = np.sqrt(x)
        total = 0.0
        for i in range(2):
            total = total + d[i]
            d[i] = 1.0
        return total + np.sum(d)

    for function in (f, g):
        assert s2sad.grad(function)(X)[0] == np.inf


def test_code_without_infinite_slopes_has_no_masks() -> None:
    def f(x: Any) -> Any:
        d = np.sin(x) * 2
        d[0] = x[1]
        return np.sum(d)

    source = s2sad.grad(f).source_for(X)
    assert "places_at" not in source and "where" not in source


# ---------------------------------------------------------------- numbers


def chosen_by_branch(x: float) -> float:
    d = math.sqrt(x)
    return d if d > 0 else 2 * x


def replaced(x: float) -> float:
    d = math.sqrt(x)
    if d == 0:
        d = 1.0
    return 2 * x / d


def by_early_return(x: float) -> float:
    d = x**0.5
    if d < 1e-9:
        return 2 * x
    return d


def nested_branches(x: float) -> float:
    d = math.sqrt(x)
    if x >= 0:
        if d > 0:
            return d
        return 2 * x
    return -x


def the_larger(x: float) -> float:
    return max(math.sqrt(x) - 1, 2 * x)


def the_largest(x: float) -> float:
    return max(math.sqrt(x) - 1, 2 * x, -2.0)


def of_a_display(x: float) -> float:
    return max([math.sqrt(x) - 1, 2 * x])


def the_smaller(x: float) -> float:
    return min(math.sqrt(x) + 1, 2 * x)


def in_loops(x: float) -> float:
    total = 0.0
    for v in (x, 2 * x):
        r = math.sqrt(v)
        total += v / r if r else v
    return total * 2 / 3


NUMBERS = [
    chosen_by_branch, replaced, by_early_return, nested_branches, the_larger, the_largest, of_a_display,
    the_smaller, in_loops,
]  # fmt: skip


@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_what_numbers_were_not_chosen_never_reaches_the_gradient(f: Program) -> None:
    value = s2sad.grad(f)(0.0)
    assert type(value) is float and value == pytest.approx(2.0)
    assert s2sad.jvp(f)(0.0, 1.0)[1] == pytest.approx(2.0)
    assert s2sad.value_and_grad(f)(0.0) == (f(0.0), value)
    if f is not in_loops:  # a trace is one list of all that its iterations leave
        assert math.isfinite(s2sad.hessian(f)(0.0))
    h = 1e-6
    assert s2sad.grad(f)(1.7) == pytest.approx((f(1.7 + h) - f(1.7 - h)) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("choose", [max, min])
def test_builtin_extremes_of_numbers(choose: Any) -> None:
    def of_two(a: Any, b: Any) -> Any:
        return choose(a * b, b)

    def of_three(a: Any, b: Any, c: Any) -> Any:
        return choose(a * b, b, c) * a

    for a, b in ((0.5, 2.0), (1.5, 2.0), (-0.5, 2.0)):
        for f, args in ((of_two, (a, b)), (of_three, (a, b, 1.7))):
            h, k = 1e-6, range(len(args))
            found = s2sad.grad(f, tuple(k))(*args)
            for i in k:
                more, less = (tuple(v + s * (j == i) for j, v in enumerate(args)) for s in (h, -h))
                slope = (f(*more) - f(*less)) / (2 * h)
                assert found[i] == pytest.approx(slope, abs=1e-7)
                assert s2sad.jvp(f, argnums=i)(*args, 1.0)[1] == pytest.approx(slope, abs=1e-7)
    assert s2sad.grad(of_two, (0, 1))(1.0, 2.0) == (1.0, 1.0)  # equal ones share evenly
    assert s2sad.grad(of_three, (0, 1, 2))(1.0, 2.0, 2.0) == pytest.approx((2 / 3 + 2, 2 / 3, 1 / 3))


def test_infinite_factors_that_were_not_picked() -> None:
    """A ray that misses a slab, as code for intersections has it."""

    def near(a: float, o: float, inv: float, b: float) -> float:
        return max((a - o) * inv, b)

    assert s2sad.grad(near, (0, 1, 2, 3))(2.0, 2.5, math.inf, 3.0) == (0.0, 0.0, 0.0, 1.0)
    assert s2sad.grad(near, 0)(2.0, 2.5, 3.0, -7.0) == 3.0


def test_nan_that_was_picked_stays_visible() -> None:
    assert math.isnan(s2sad.grad(lambda x: max(x * x, 1.0))(math.nan))
    assert math.isnan(s2sad.grad(lambda x: x * x if not x < 0 else 0.0)(math.nan))


def test_poles_of_special_functions_at_what_nothing_reads() -> None:
    special = pytest.importorskip("scipy.special")

    def partly_read(x: Any) -> Any:
        y = special.gammaln(x) + special.k0(x) + special.entr(x)
        z = 1 / x
        return np.sum(y[1:] * x[1:]) + np.sum(special.digamma(x)[1:] * (z * z)[1:])

    found, away = s2sad.grad(partly_read)(X), s2sad.grad(partly_read)(np.where(X == 0, 0.7, X))
    assert found[0] == 0
    np.testing.assert_array_equal(found[1:], away[1:])
