"""Functions that caches, compilers and dispatchers stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import joblib
import numba
import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

A = np.array([0.5, 1.5])


class Square:
    def __init__(self, side: Any) -> None:
        self.side = side


@functools.singledispatch
def size(x: Any) -> Any:
    return x * 2.0


@size.register(list)
def _(x: Any) -> Any:
    return sum(v * v for v in x)


@size.register(np.ndarray)
def _(x: Any) -> Any:
    return np.sum(x**3)


@size.register
def _(x: Square) -> Any:
    return x.side**2


@numba.njit
def compiled(x: Any) -> Any:
    return x * x * 3.0


def plain(x: Any) -> Any:
    return np.sum(x**2)


remembered = joblib.Memory(None).cache(plain)
cached = functools.lru_cache(lambda x: x**2)


def doubled(f: Callable[..., Any]) -> Any:
    @functools.wraps(f)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        return 2.0 * f(*args, **keywords)

    return wrapper


@doubled
def wrapped(x: Any, y: float = 1.5) -> Any:
    return np.sum(x * y)


def of_all(x: Any) -> Any:
    kept = remembered(x) + cached(x[0]) + wrapped(x, y=2.5)
    return size(x) * size([x[0], x[1]]) + np.sum(compiled(x)) + kept


def of_unknown(x: Any, functions: Any) -> Any:
    total = 0.0
    for f in functions:
        total = total + np.sum(f(x))
    return total


def of_object(x: Any) -> Any:
    return size(Square(x[0])) + size(x[1])


@pytest.mark.parametrize("f", [size, compiled, wrapped, remembered])
def test_bare(f: Any) -> None:
    def total(x: Any) -> Any:
        return np.sum(f(x))

    check_program(total, (A,), (0,))
    expected = s2sad.vjp(total)(A)[1](1.0)[0]
    out, bprop = s2sad.vjp(f, argnums=0)(A)
    np.testing.assert_allclose(bprop(np.ones_like(out)[()]), expected)


def test_in_a_program() -> None:
    check_program(of_all, (A,), (0,))
    check_program(of_object, (A,), (0,))
    assert "sum" in s2sad.grad(of_all).source_for(A) or "np" in s2sad.grad(of_all).source_for(A)


def test_where_only_the_run_knows_them() -> None:
    check_program(lambda x: of_unknown(x, [size, compiled, remembered, wrapped]), (A,), (0,))


def test_the_class_of_the_argument_chooses() -> None:
    slope = s2sad.grad(size)
    assert slope(2.0) == 2.0
    np.testing.assert_array_equal(slope(A), 3 * A**2)
    assert slope([1.0, 2.0]) == [2.0, 4.0]
    assert slope(Square(3.0)).side == 6.0


def test_a_dispatcher_of_an_argument_of_unknown_class_is_refused() -> None:
    def f(x: Any, make: Any) -> Any:
        return np.sum(size(make(x)))

    with pytest.raises(s2sad.UnsupportedSyntaxError):
        s2sad.grad(f)(A, lambda x: [x[0], x[1]])


def test_the_compiled_function_may_be_decorated() -> None:
    @s2sad.grad
    @numba.njit
    def f(x: float) -> float:
        return x**3

    assert f(2.0) == 12.0


def test_a_rule_for_a_wrapper_comes_first() -> None:
    @functools.lru_cache
    def f(x: float) -> float:
        return x**3

    @s2sad.bprop(f, "elementwise")
    def f_rule(x, out, dout):  # type: ignore[no-untyped-def]
        return (dout * 100.0,)

    assert s2sad.grad(f)(2.0) == 100.0
    assert s2sad.grad(lambda x: f(x) + x)(2.0) == 101.0


def test_a_replaced_call_of_a_class_is_noticed() -> None:
    class Scaled:
        def __init__(self, a: float) -> None:
            self.a = a

        def __call__(self, x: float) -> float:
            return self.a * x * x

    scaled = Scaled(2.0)
    reverse, forward = s2sad.vjp(scaled), s2sad.jvp(scaled)
    made = {
        "grad": s2sad.grad(scaled),
        "of a partial": s2sad.grad(functools.partial(scaled)),
        "second": s2sad.grad(s2sad.grad(scaled)),
        "hessian": s2sad.hessian(scaled),
        "jacobian": s2sad.jacobian(scaled),
        "within": s2sad.grad(lambda x: scaled(x)),
        "nested": s2sad.grad(lambda x: s2sad.grad(scaled)(x)),
        "vjp": lambda x: reverse(x)[1](1.0)[0],
        "jvp": lambda x: forward(x, 1.0)[1],
    }
    for _ in range(3):  # then recognised
        assert {n: float(f(3.0)) for n, f in made.items()} == {
            n: 4.0 if n in ("second", "hessian", "nested") else 12.0 for n in made
        }
    Scaled.__call__ = lambda self, x: self.a * x**3  # type: ignore[method-assign]
    assert {n: float(f(3.0)) for n, f in made.items()} == {
        n: 36.0 if n in ("second", "hessian", "nested") else 54.0 for n in made
    }


def test_a_replaced_call_with_stars_is_noticed() -> None:
    class Product:
        def __call__(self, *xs: float) -> float:
            return xs[0] * xs[1]

    gradient = s2sad.grad(Product())
    assert gradient(2.0, 3.0) == 3.0
    Product.__call__ = lambda self, *xs: xs[0] * xs[1] ** 2  # type: ignore[method-assign]
    assert gradient(2.0, 3.0) == 9.0

    def added(*xs: float) -> float:
        return xs[0] + xs[1]

    def multiplied(*xs: float) -> float:
        return xs[0] * xs[1]

    gradient = s2sad.grad(added)
    assert gradient(2.0, 3.0) == 1.0
    added.__code__ = multiplied.__code__
    assert gradient(2.0, 3.0) == 3.0


def test_replaced_code_is_noticed_by_a_derivative_of_a_derivative() -> None:
    def square(x: float) -> float:
        return x**2

    def cube(x: float) -> float:
        return x**3

    second = s2sad.grad(s2sad.grad(square))
    assert [second(2.0) for _ in range(3)] == [2.0] * 3
    square.__code__ = cube.__code__
    assert second(2.0) == 12.0
