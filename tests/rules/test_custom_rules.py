"""Rules that are called at run time: `custom_vjp`, `custom_jvp`, `Function`, `bprop` with residuals, and
`numerical`, in programs, in both modes, twice, and with mistakes in them.
"""

from __future__ import annotations

import doctest
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
import s2sad.custom_rules
import s2sad.testing.check_rule
from s2sad.primitives import record
from tests.support.compare import check_program, check_second

X, Y = np.array([0.5, 0.7, -0.4]), np.array([1.5, -0.3, 0.2])

# ---------------------------------------------------------------- rules


@s2sad.custom_vjp
def weighted(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def weighted_forward(x: Any, y: Any) -> Any:
    sine = np.sin(x)
    return np.sum(sine * y), (np.cos(x), sine, y)


def weighted_backward(residuals: Any, dout: Any) -> Any:
    cosine, sine, y = residuals
    return dout * cosine * y, dout * sine


weighted.defvjp(weighted_forward, weighted_backward)


@s2sad.custom_vjp(nondiff_argnums=(1,))
def power(x: Any, n: Any) -> Any:
    return x**n


power.defvjp(lambda x, n: (x**n, x), lambda n, x, dout: (dout * n * x ** (n - 1),))


@s2sad.custom_jvp
def product(x: Any, y: Any) -> Any:
    return np.sin(x) * y


@product.defjvp
def product_jvp(primals: Any, tangents: Any) -> Any:
    x, y = primals
    dx, dy = tangents
    return product(x, y), np.cos(x) * dx * y + np.sin(x) * dy


@s2sad.custom_jvp
def product_of_parts(x: Any, y: Any) -> Any:
    return np.sin(x) * y


product_of_parts.defjvps(
    lambda t, out, x, y: np.cos(x) * t * y, lambda t, out, x, y: np.sin(x) * t
)


@s2sad.custom_jvp(nondiff_argnums=0)
def applied(f: Any, x: Any) -> Any:
    return f(x) * 1.0


@applied.defjvp
def applied_jvp(f: Any, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return f(x) * 1.0, np.cos(x) * dx


class Weighted(s2sad.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(np.cos(x), np.sin(x))
        ctx.y = y
        return np.sum(np.sin(x) * y)

    @staticmethod
    def backward(ctx: Any, dout: Any) -> Any:
        cosine, sine = ctx.saved
        return dout * cosine * ctx.y, dout * sine


class ProductAndSum(s2sad.Function):
    """The sum is declared to carry no derivative."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        total = x + y
        ctx.mark_non_differentiable(total)
        return x * y, total

    @staticmethod
    def backward(ctx: Any, dproduct: Any, dtotal: Any) -> Any:
        x, y = ctx.saved_tensors
        return dproduct * y + dtotal, dproduct * x + dtotal


class Square(s2sad.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * x

    @staticmethod
    @s2sad.once_differentiable
    def backward(ctx: Any, dout: Any) -> Any:
        return 2 * ctx.x * dout


class Sum(s2sad.Function):
    """Any number of arguments."""

    @staticmethod
    def forward(ctx: Any, *xs: Any) -> Any:
        ctx.count = len(xs)
        return sum(xs)

    @staticmethod
    def backward(ctx: Any, dout: Any) -> Any:
        return (dout,) * ctx.count


def solution(A: Any, b: Any) -> Any:
    return np.linalg.solve(A, b)


def solution_forward(A: Any, b: Any) -> Any:
    out = np.linalg.solve(A, b)
    return out, (np.linalg.inv(A), out)


@s2sad.bprop(solution, forward=solution_forward)
def solution_backward(residuals: Any, dout: Any) -> Any:
    inverse, out = residuals
    db = inverse.T @ dout
    return -np.outer(db, out), db


def hyperbolic(x: Any, y: Any) -> Any:
    return np.sinh(x) * y


@s2sad.bprop(hyperbolic)
def hyperbolic_rule(x, y, out, dout):  # type: ignore[no-untyped-def]
    return np.cosh(x) * y * dout, np.sinh(x) * dout


cube = s2sad.numerical(operator.methodcaller("__pow__", 3))


# ---------------------------------------------------------------- programs


def in_a_loop(x: Any, y: Any) -> Any:
    for _ in range(3):
        x = x * weighted(x, y)
    return np.sum(x)


def of_many(x: Any, y: Any) -> Any:
    for k in range(2):
        x = product(x, y) + product_of_parts(y, x) + applied(np.sin, x) + power(x, 3) + power(y, n=2)
        if k:
            x = hyperbolic(x, y) * 0.1
    return np.sum(x)


def of_classes(x: Any, y: Any) -> Any:
    x = x * Weighted.apply(x, y)
    a, _total = ProductAndSum.apply(x, y)
    return np.sum(a * np.cos(a)) + Sum.apply(x[0], y[1], x[2])


def changed_in_place(x: Any, y: Any) -> Any:
    z = np.zeros(3)
    for i in range(3):
        v = product(x, y)
        v[i] = 1.0
        z[:] = z + v
        x = x * z
    return np.sum(z * x)


def of_functions(x: Any, y: Any) -> Any:
    total = 0.0
    for f in [weighted, Weighted.apply, lambda a, b: np.sum(product(a, b))]:
        total = total + f(x, y)
    return total


def solved(A: Any, b: Any) -> Any:
    for _ in range(2):
        b = np.sin(solution(A, b))
    return b


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (weighted, (X, Y)),
    (product, (0.5, 0.7)),
    (product_of_parts, (X, Y)),
    (hyperbolic, (0.5, 2.0)),
    (hyperbolic, (X, Y)),
    (in_a_loop, (X, Y)),
    (of_many, (X, Y)),
    (of_classes, (X, Y)),
    (changed_in_place, (X, Y)),
    (of_functions, (X, Y)),
    (solved, (np.array([[2.0, 0.3], [0.1, 3.0]]), np.array([1.0, 2.0]))),
    (Sum.apply, (0.5, 1.5, 2.5)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_both_modes_and_twice(f: Any, args: Any) -> None:
    if f is of_classes:  # its second result is declared constant, which differences do not know
        s2sad.check_grads(lambda x, y: ProductAndSum.apply(x, y)[0], args)
    else:
        s2sad.check_rule(f, *args)


def test_programs_of_the_corpus_style() -> None:
    check_program(in_a_loop, (X, Y), (0, 1))
    check_second(in_a_loop, (X, Y), (0, 1))


def test_classes_in_a_program() -> None:
    gradient = s2sad.grad(of_classes, (0, 1))(X, Y)

    def plain(x: Any, y: Any) -> Any:
        x = x * np.sum(np.sin(x) * y)
        a = x * y
        return np.sum(a * np.cos(a)) + x[0] + y[1] + x[2]

    for found, expected in zip(gradient, s2sad.grad(plain, (0, 1))(X, Y), strict=True):
        np.testing.assert_allclose(found, expected)
    _, tangent = s2sad.jvp(of_classes, (X, Y), (Y, X))
    assert tangent == pytest.approx(np.sum(gradient[0] * Y) + np.sum(gradient[1] * X))


def test_the_derivative_reads_as_a_call_of_the_rule() -> None:
    source = s2sad.grad(in_a_loop).source_for(X, Y)
    assert "x_1, weighted_bprop = weighted_fprop(x, y)" in source
    assert "dx = dx_2 + weighted_bprop(np.sum(dx * x))" in source


def test_a_result_that_carries_no_derivative() -> None:
    assert np.all(s2sad.grad(lambda x: np.sum(ProductAndSum.apply(x, Y)[1]))(X) == 0)
    assert np.all(s2sad.jvp(lambda x: ProductAndSum.apply(x, Y)[1], (X,), (Y,))[1] == 0)


def test_once_differentiable() -> None:
    assert s2sad.grad(Square.apply)(3.0) == 6.0
    for again in (s2sad.grad(s2sad.grad(Square.apply)), lambda x: s2sad.jvp(Square.apply, (x,), (1.0,))):
        with pytest.raises(s2sad.MissingRuleError, match="differentiable once only"):
            again(3.0)


def test_by_differences() -> None:
    assert s2sad.grad(lambda x: 2 * cube(x))(2.0) == pytest.approx(24.0)
    s2sad.check_grads(cube, (X,), order=1)
    with pytest.raises(s2sad.MissingRuleError, match="differences"):
        s2sad.hessian(cube)(2.0)


def test_differences_of_structures_and_of_complex_numbers() -> None:
    def plain(p: Any) -> Any:
        return np.exp(p["a"]) * p["b"][0] + p["b"][1]

    point = {"a": 0.5, "b": [X, 2.0]}
    found = s2sad.vjp(s2sad.numerical(plain), point)[1](X)[0]
    expected = s2sad.vjp(plain, point)[1](X)[0]
    assert found["a"] == pytest.approx(expected["a"]) and found["b"][1] == pytest.approx(expected["b"][1])
    np.testing.assert_allclose(found["b"][0], expected["b"][0], rtol=1e-8)
    s2sad.check_grads(s2sad.numerical(plain), (point,), order=1)

    def of_complex(z: Any) -> Any:
        return np.real(z * z * np.exp(z)) + np.imag(z)

    z = 1.2 + 0.3j
    assert s2sad.grad(s2sad.numerical(of_complex))(z) == pytest.approx(s2sad.grad(of_complex)(z))


# ---------------------------------------------------------------- arguments


def ruled(forward: Any, backward: Any, f: Any = lambda x: np.sin(x) * 2.0) -> Any:
    made = s2sad.custom_vjp(f)
    made.defvjp(forward, backward)
    return made


def sine_forward(x: Any) -> Any:
    return np.sin(x) * 2.0, np.cos(x)


def sine_backward(cosine: Any, dout: Any) -> Any:
    return (2 * cosine * dout,)


def test_defaults_keywords_and_partials() -> None:
    f = s2sad.custom_vjp(lambda x, y=2.0, *, n=3: x * y * n)
    f.defvjp(
        lambda x, y=2.0, *, n=3: (x * y * n, (x, y, n)),
        lambda r, dout: (dout * r[1] * r[2], dout * r[0] * r[2], None),
    )
    assert s2sad.grad(f)(2.0) == 6.0
    assert s2sad.grad(lambda x: f(x, n=5))(2.0) == 10.0
    assert s2sad.grad(lambda y: f(1.0, y=y))(2.0) == 3.0
    assert s2sad.jvp(lambda x: f(x, n=5), (2.0,), (1.0,)) == (20.0, 10.0)
    assert s2sad.grad(functools.partial(f, n=7))(2.0) == 14.0


def test_methods() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = w

        @s2sad.custom_vjp
        def value(self, x: Any) -> Any:
            return self.w * x

        value.defvjp(lambda self, x: (self.w * x, x), lambda x, dout: (None, dout * 100))

    model = Model(3.0)
    assert s2sad.grad(model.value)(2.0) == 100.0
    assert s2sad.grad(lambda x: model.value(x))(2.0) == 100.0
    assert s2sad.grad(lambda m, x: m.value(x), argnums=1)(model, 2.0) == 100.0


def test_structures_and_dtypes() -> None:
    of_list = ruled(
        lambda p: (p[0] * p[1], p), lambda p, d: ([d * p[1], d * p[0]],), lambda p: p[0] * p[1]
    )
    assert s2sad.vjp(of_list, [2.0, 3.0])[1](1.0) == ([3.0, 2.0],)
    narrow = ruled(sine_forward, lambda c, d: (2 * c.astype(float) * d,))
    assert s2sad.grad(lambda x: np.sum(narrow(x)))(X.astype(np.float32)).dtype == np.float32
    of_pair = ruled(
        lambda x: ((x * 1.0, x * x), x),
        lambda x, d: (d[0] + 2 * x * d[1],),
        lambda x: (x * 1.0, x * x),
    )
    s2sad.check_rule(lambda x: of_pair(x)[1] * of_pair(x)[0], X)
    s2sad.check_rule(lambda x: of_pair(x)[1], X)


def test_a_missing_gradient_is_zero() -> None:
    f = ruled(sine_forward, lambda c, d: (None,))
    assert np.array_equal(s2sad.grad(lambda x: np.sum(f(x)))(X), np.zeros(3))


def test_a_rule_that_is_given_later_counts() -> None:
    f = ruled(sine_forward, sine_backward)
    gradient = s2sad.grad(lambda x: f(x))
    assert gradient(0.0) == 2.0
    f.defvjp(sine_forward, lambda c, d: (7.0 * d,))
    assert gradient(0.0) == 7.0


def test_the_decorated_function_alone_has_the_rule() -> None:
    f = ruled(sine_forward, lambda c, d: (7.0 * d,))

    @functools.wraps(f)
    def wrapper(x: Any) -> Any:
        return x * x

    assert s2sad.grad(wrapper)(3.0) == 6.0

    def plain(x: Any) -> Any:
        return x * x

    s2sad.custom_vjp(plain).defvjp(lambda x: (x * x, None), lambda r, d: (d * 0.0,))
    assert s2sad.grad(plain)(3.0) == 6.0


def test_closures_of_the_same_code_have_their_own_rules() -> None:
    def made(factor: float) -> Any:
        def scaled(x: Any) -> Any:
            return factor * x

        f = s2sad.custom_vjp(scaled)
        f.defvjp(lambda x: (factor * x, None), lambda r, d: (d * factor,))
        return f

    def twice(f: Any, x: Any) -> Any:
        return f(f(x))

    for factor in (2.0, 3.0):
        f = made(factor)
        assert s2sad.grad(f)(1.0) == factor
        assert s2sad.grad(twice, argnums=1)(f, 1.0) == factor**2


def test_the_result_may_be_the_argument() -> None:
    f = ruled(lambda x: (x, None), lambda r, d: (d,), lambda x: x)

    def argument_changed(x: Any) -> Any:
        x = x * 2.0
        y = f(x)
        x[0] = 100.0
        return np.sum(y * y)

    def result_changed(x: Any) -> Any:
        x = x * 2.0
        y = f(x)
        y[0] = 100.0
        return np.sum(x * x)

    for program in (argument_changed, result_changed):
        value, gradient = s2sad.value_and_grad(program)(X)
        assert value == program(X)
        np.testing.assert_allclose(gradient, 8 * X * [0, 1, 1])


# ---------------------------------------------------------------- mistakes


def changes_cotangent(cosine: Any, dout: Any) -> Any:
    dout *= 2
    return (cosine * dout,)


def changes_residuals(cosine: Any, dout: Any) -> Any:
    cosine *= dout
    return (2 * cosine,)


def changes_argument(x: Any) -> Any:
    out, cosine = np.sin(x) * 2.0, np.cos(x)
    x *= 0
    return out, cosine


MISTAKES = [
    (sine_forward, lambda c, d: (np.ones(2),), r"shape \(2,\) as the gradient of `x`"),
    (sine_forward, lambda c, d: (1.0,), r"shape \(\) as the gradient of `x`"),
    (sine_forward, lambda c, d: (d, d), "returns 2 gradients, and it is to return a tuple of 1"),
    (sine_forward, lambda c, d: ("text",), "a str as the gradient"),
    (lambda x: np.sin(x) * 2, sine_backward, "a tuple of two"),
    (lambda x: (np.sum(x), x), sine_backward, "not what <lambda> itself returns"),
    (lambda x: (x, np.cos(x)), sine_backward, "one of its arguments, or a view of it"),
    (sine_forward, changes_cotangent, "a change in place of `dout`"),
    (sine_forward, changes_residuals, "a change in place of `cosine`"),
    (changes_argument, sine_backward, "a change in place of `x`"),
]


@pytest.mark.parametrize(("forward", "backward", "message"), MISTAKES)
def test_mistakes_are_named(forward: Any, backward: Any, message: str) -> None:
    f = ruled(forward, backward)
    x = X.copy()
    with pytest.raises(s2sad.S2sadError, match=message):
        s2sad.grad(lambda x: np.sum(f(x)))(x)
    assert np.array_equal(x, X)


def test_other_mistakes() -> None:
    f = ruled(sine_forward, lambda c, d: {}["missing"])
    with pytest.raises(KeyError, match="missing"):
        s2sad.grad(f)(1.0)
    with pytest.raises(s2sad.MissingRuleError, match="no derivative yet"):
        s2sad.grad(s2sad.custom_vjp(lambda x: x))(1.0)
    with pytest.raises(s2sad.NonDifferentiableError, match="`n` of power"):
        s2sad.grad(lambda n: power(2.0, n))(3.0)
    with pytest.raises(TypeError, match="for each argument"):
        product_of_parts.defjvps(lambda t, out, x, y: t)
    with pytest.raises(TypeError, match="static"):
        type("Wrong", (s2sad.Function,), {"forward": lambda ctx, x: x, "backward": lambda ctx, d: d})
    f = ruled(sine_forward, lambda c, d: (2 * c * d * d,))
    with pytest.raises(AssertionError, match="finite differences"):
        s2sad.check_rule(f, X, order=1)
    count = s2sad.custom_jvp(lambda x: 2.0 * x)
    count.defjvp(lambda primals, tangents: (2.0 * primals[0], np.ones(2)))
    with pytest.raises(s2sad.RuleError, match="tangent of the result"):
        s2sad.jvp(count, (X,), (X,))


def test_a_rule_made_in_the_function_is_refused() -> None:
    def f(x: Any) -> Any:
        g = s2sad.custom_vjp(lambda y: x * y)
        return g(x)

    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(2.0)


@pytest.mark.parametrize("module", [s2sad.custom_rules, s2sad.testing.check_rule, record])
def test_examples(module: Any) -> None:
    found = doctest.DocTestFinder().find(module, extraglobs={"s2sad": s2sad, "np": np})
    runner = doctest.DocTestRunner()
    for test in found:
        runner.run(test)
    assert runner.failures == 0 and runner.tries > 0
