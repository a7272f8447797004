"""Calls that once had a wrong derivative, or none: operands given by name, what a function returns, what it
changes when it is run often.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import MissingRuleError, NonDifferentiableError, UnsupportedSyntaxError
from tests.programs.test_stores import X, Y, program
from tests.support.build import build
from tests.support.compare import check_program, check_second

BY_NAME = {
    "a reduction": "return np.sum(a=x * y, axis=0) ** 2",
    "a linear function": "return np.sum(np.fft.fftshift(x=x * x) * y)",
    "a linear function, the operand last": "return np.sum(np.repeat(repeats=2, a=x * y) ** 2)",
    "a linear function and a constant": "c = np.ones(2)\nreturn np.sum(np.append(arr=x * y, values=c) ** 2)",
    "a linear function and a number": "return np.sum(np.append(arr=x * y, values=2.0) ** 2)",
    "a bilinear function": "return np.trapezoid(y * x, x=np.cumsum(x * x)) ** 2",
    "a bilinear function, the other way round": "return np.sum(np.outer(b=x, a=y) * np.outer(x, y) ** 2)",
    "a function with a template of its own": "return np.sum(np.angle(z=x + 1j * y) * x)",
    "padding": "return np.sum(np.pad(pad_width=1, array=x * y, mode='reflect') ** 3)",
    "a method": "return np.sum(x.dot(b=y) * x.repeat(repeats=2)[1:5])",
    "numbers that may not be finite": "return np.sum(np.nan_to_num(x=x * y) ** 2)",
}


@pytest.mark.parametrize("name", BY_NAME)
def test_operands_by_name(name: str) -> None:
    f = build(program(BY_NAME[name]))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


def scaled(k: int, x: Any, b: float = 1.0, c: Any = 0.0) -> Any:
    return k * x + k * c


@s2sad.bprop(scaled, "linear", samples=[((2, 1.0), {})])
def scaled_rule(k, x, b=1.0, c=0.0, *, out, dout):  # type: ignore[no-untyped-def]
    return None, dout * k, None, dout * k


def turned(v: Any, axis: Any, dtype: Any) -> Any:
    return np.cross(v, axis) * dtype


@s2sad.bprop(turned, samples=[((np.ones(3), np.arange(3.0), 2.0), {})])
def turned_rule(v, axis, dtype, out, dout):  # type: ignore[no-untyped-def]
    return np.cross(axis, dout) * dtype, np.cross(dout, v) * dtype, np.sum(dout * np.cross(v, axis))


def test_parameters_of_a_user_named_as_numpys() -> None:
    def f(v: Any, axis: Any, dtype: Any) -> Any:
        return np.sum(turned(v, axis, dtype) ** 2)

    s2sad.check_grads(f, (np.array([0.5, 1.0, 2.0]), np.array([1.5, 0.3, -1.0]), 0.7), order=1, modes=["rev"])


SCALED = {
    "both": "scaled(k=2, x=x * y, c=y * y)",
    "a number": "scaled(k=2, x=x * y, c=5.0)",
    "numbers before it": "scaled(3, 1.5, c=x * y)",
    "a constant": "scaled(3, x * y, c=len(y))",
    "a variable that is none": "scaled(3, x * y, c=n)",
}


@pytest.mark.parametrize("name", SCALED)
def test_operands_of_a_linear_rule_behind_others(name: str) -> None:
    f = build(program(f"n = 2.5\nreturn np.sum({SCALED[name]} ** 3)"), scaled=scaled)
    check_program(f, (X, Y), (0, 1))


WITHOUT_A_RULE = {
    "a power of a norm": "np.linalg.norm(np.ones(3), ord=q)",
    "degrees of freedom": "np.var(np.arange(3.0), ddof=q)",
    "what stands for NaN": "np.nan_to_num(np.array([np.nan, 1.0]), nan=q)[0]",
}


@pytest.mark.parametrize("name", WITHOUT_A_RULE)
def test_arguments_by_name_whose_derivative_is_not_known_are_refused(name: str) -> None:
    f = build(f"def f(q):\n    return {WITHOUT_A_RULE[name]}\n")
    for transform in (s2sad.grad(f), s2sad.jacfwd(f)):
        with pytest.raises(MissingRuleError, match="does not cover a derivative"):
            transform(1.5)


RETURNED = {
    "nothing": "y = x * x",
    "None": "return None",
    "text": "return str(x)",
    "an integer": "return int(x)",
    "a list": "return [1.0]",
    "an array": "return np.zeros(2)",
}


@pytest.mark.parametrize("name", RETURNED)
def test_results_that_are_no_numbers_and_do_not_depend_on_the_argument(name: str) -> None:
    f = build(f"def f(x):\n    {RETURNED[name]}\n")
    for transform in (s2sad.grad, s2sad.value_and_grad):
        with pytest.raises(NonDifferentiableError, match="the function returned"):
            transform(f)(2.0)


def test_a_constant_has_the_gradient_zero() -> None:
    assert s2sad.grad(build("def f(x):\n    return 2.0\n"))(1.0) == 0.0


STOPPED = {
    "the result is changed": "a = x * 1.0\nc = s2sad.stop_gradient(a)\nc[0] = 5.0\nreturn np.sum(a * x)",
    "the argument is changed": "a = x * 1.0\nc = s2sad.stop_gradient(a)\na[0] = y[0]\nreturn np.sum(a * c)",
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_stop_gradient_returns_is_its_argument(name: str) -> None:
    f = build(program(STOPPED[name]), s2sad=s2sad)
    for transform in (s2sad.grad(f), s2sad.vjp(f), s2sad.jacfwd(f)):
        with pytest.raises(UnsupportedSyntaxError, match="may be a part of"):
            transform(X, Y)


def test_a_copy_of_what_stop_gradient_returns() -> None:
    text = program("a = x * 1.0\nc = s2sad.stop_gradient(a).copy()\na[0] = 2.0\nreturn np.sum(a * c)")
    f = build(text, s2sad=s2sad)
    np.testing.assert_array_equal(s2sad.grad(f)(X, Y), [0.0, *X[1:]])


class Counting:
    def __init__(self) -> None:
        self.runs = 0

    def loss(self, x: Any) -> Any:
        self.runs += 1
        return np.sum(x * x) * self.runs


def changing(x: Any, c: Any) -> Any:
    c[0] += 1.0
    return x * x * c[0]


def appending(x: Any, items: list[float]) -> Any:
    items.append(2.0)
    return np.sum(x * x) * len(items)


@pytest.mark.parametrize("transform", [s2sad.jacobian, s2sad.jacfwd, s2sad.jacrev])
def test_jacobians_change_an_argument_once(transform: Any) -> None:
    c = np.zeros(1)
    np.testing.assert_array_equal(transform(changing)(X, c), np.diag(2 * X))
    assert c == [1.0]


def test_hessians_change_an_argument_once() -> None:
    counting, items = Counting(), [1.0]
    np.testing.assert_array_equal(s2sad.hessian(counting.loss)(X), 2 * np.eye(4))
    np.testing.assert_array_equal(s2sad.hessian(appending)(X, items), 4 * np.eye(4))
    assert counting.runs == 1
    assert items == [1.0, 2.0]


def test_a_closure_that_counts_its_runs() -> None:
    f = build("""
def counting():
    runs = [0]
    def f(x):
        runs[0] += 1
        return np.sum(x * x) * runs[0]
    return f, runs
""")
    loss, runs = f()
    np.testing.assert_array_equal(s2sad.hessian(loss)(X), 2 * np.eye(4))
    assert runs == [1]


def test_derivatives_by_empty_arrays() -> None:
    empty = np.zeros((0, 2))
    assert s2sad.hessian(lambda x: np.sum(x * x))(empty).shape == (0, 2, 0, 2)
    assert s2sad.jacfwd(lambda x: x.T @ x)(empty).shape == (2, 2, 0, 2)


@pytest.mark.parametrize("u, v", [(2, 2), (2, 3), (3, 2)])
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_cross_products_in_the_plane_are_refused(u: int, v: int) -> None:
    f = build(program(f"return np.sum(np.cross(x[:{u}], y[:{v}]) ** 2)"))
    with pytest.raises((NonDifferentiableError, ValueError), match=r"two components|3-dimensional"):
        s2sad.grad(f)(X, Y)  # newer releases of NumPy refuse them themselves


def test_methods_of_functions_whose_result_is_not_used() -> None:
    f = build(program("t = np.multiply.outer(x, y)\nu = np.add.reduce(x)\nreturn np.sum(x * y)"))
    assert "outer" not in s2sad.grad(f).source_for(X, Y)
    check_second(f, (X, Y), (0, 1))


def test_attributes_of_an_object_that_is_run_again() -> None:
    state = SimpleNamespace(k=1.0)

    def f(x: Any, s: Any) -> Any:
        s.k = s.k * 2.0
        s.new = s.k
        return np.sum(x * x) * s.new

    np.testing.assert_allclose(s2sad.hessian(f)(X, state), 4.0 * np.eye(4))
    assert vars(state) == {"k": 2.0, "new": 2.0}  # as after one run


def turning(x: Any) -> Any:
    return {"a": np.exp(1j * x[0]) * x, "b": x[1] ** 2}


@pytest.mark.parametrize("transform", [s2sad.jacobian, s2sad.jacfwd, s2sad.jacrev])
def test_jacobians_of_complex_results_by_real_arguments(transform: Any) -> None:
    found, wave = transform(turning)(X), np.exp(1j * X[0])
    expected = wave * np.eye(4) + np.outer(1j * wave * X, [1, 0, 0, 0])
    np.testing.assert_allclose(found["a"], expected)
    np.testing.assert_array_equal(found["b"], [0, 2 * X[1], 0, 0])
    assert found["b"].dtype == float


def test_a_jacobian_of_a_complex_result_by_reverse_mode_is_not_differentiated() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(s2sad.jacrev(lambda v: np.exp(1j * v))(x)) ** 2)

    with pytest.raises(NonDifferentiableError, match="jacfwd"):
        s2sad.grad(f)(X)


@pytest.mark.parametrize("f", [np.sin, lambda x: np.sin(x)])
def test_elementwise_derivatives_of_elementwise_derivatives(f: Any) -> None:
    third = s2sad.elementwise_grad(s2sad.elementwise_grad(s2sad.elementwise_grad(f)))
    np.testing.assert_allclose(third(X), -np.cos(X))


def drawing(x: Any, rng: Any) -> Any:
    return x * rng.normal() * np.random.randn() * random.random()


@pytest.mark.parametrize("transform", [s2sad.jacobian, s2sad.jacfwd, s2sad.jacrev])
@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_jacobians_draw_random_numbers_once(transform: Any, source: Any) -> None:
    np.random.seed(3)
    random.seed(4)
    expected = drawing(1.0, source(5))
    following = np.random.randn(), random.random()
    np.random.seed(3)
    random.seed(4)
    np.testing.assert_allclose(transform(drawing)(X, source(5)), expected * np.eye(4), rtol=1e-12)
    assert (np.random.randn(), random.random()) == following


def test_what_runs_more_than_once_needs_more_than_an_iterator() -> None:
    def f(x: Any, items: Any) -> Any:
        for v in items:
            x = x * v
        return x

    for transform in (s2sad.jacobian, s2sad.jacfwd):
        with pytest.raises(NonDifferentiableError, match="iterator"):
            transform(f)(X, iter([2.0, 3.0]))
        np.testing.assert_array_equal(transform(f)(X, [2.0, 3.0]), 6.0 * np.eye(4))


class Chain:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def __call__(self, t: Any) -> Any:
        return self.second(self.first(t))


def test_a_derivative_of_an_object_that_holds_functions_with_variables_is_refused() -> None:
    def f(x: float) -> Any:
        chain = Chain(lambda u: u * x + np.sin(u), lambda t: t**2 * x)
        return s2sad.grad(chain)(x)

    for transform in (s2sad.grad, s2sad.hessian):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="a Chain that holds the function"):
            transform(f)(1.3)
