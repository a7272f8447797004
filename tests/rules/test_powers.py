"""Powers of numbers: real ones have the derivatives of floats, and complex ones are not taken for such."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives.generator import Generator
from s2sad.runtime.real_power import ComplexPowerError, real_power
from tests.support.compare import check_program, check_second

# mypy: allow-untyped-defs


def root(x, y):
    a = 3.0 * x ** 0.5 + x
    return a * y / (1.0 + a) ** 0.25


def exponents(x, p):
    return x ** p + (x * p) ** -0.5 + 2.0 ** p + x ** 2 + x ** -3.0 + pow(x, p)


def in_loop(x, p):
    s = 0.0
    for v in x:
        s += v ** p + v ** 0.5
    return s


def by_method(x, method="root"):
    if method == "root":
        return helper(x, 0.5)
    return deep(x)


def helper(x, p):
    return (1.0 + x * x) ** p


def deep(x):
    return deeper(x) * 2.0


def deeper(x):
    return x ** 3


def magnitude(x, q):
    """The power of a negative number is complex here, and what is returned is real."""
    a = (-8.0 * x) ** (1 / 3)
    b = abs(a) ** 2.5 * q
    return (a * a * q).real + b


def magnitude_of_root(x):
    return abs(x ** 0.5)


def changing(x, a):
    a[0] = a[0] * x
    return abs((-x) ** 0.3) * a[0]


def outer(x):
    return called(x) + called(2.0 * x)


def called(x):
    s = 0.0
    for k in range(3):
        s += abs((-x) ** 0.3) * k
    return s


def taken_here(x):
    try:
        y = abs((-x) ** 0.3)
    except Exception:
        y = 3.0 * x
    return y * x


def root_of_negative(x):
    return (-x) ** 0.3


def taken_from_a_call(x):
    try:
        y = abs(root_of_negative(x))
    except:  # noqa: E722
        y = 3.0 * x
    return y * x


REAL: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (root, (0, 1), (2.0, 3.0)),
    (exponents, (0, 1), (1.7, 1.3)),
    (in_loop, (0, 1), (np.array([1.0, 2.0]), 1.5)),
    (by_method, (0,), (0.7, "root")),
    (by_method, (0,), (0.7, "cube")),
]


@pytest.mark.parametrize(("f", "wrt", "args"), REAL)
def test_real_powers(f: Any, wrt: tuple[int, ...], args: tuple[Any, ...]) -> None:
    check_program(f, args, wrt)
    check_second(f, args, wrt)
    source = s2sad.value_and_grad(f, wrt).source_for(*args)
    assert "unbroadcast" not in source
    assert "unit_cotangent" not in source


COMPLEX: list[tuple[Any, tuple[Any, ...]]] = [
    (magnitude, (1.3, 0.7)),
    (magnitude_of_root, (-4.0,)),
    (outer, (1.3,)),
    (taken_here, (1.3,)),
    (taken_from_a_call, (1.3,)),
]


@pytest.mark.parametrize(("f", "args"), COMPLEX)
def test_complex_powers(f: Any, args: tuple[Any, ...]) -> None:
    check_program(f, args, tuple(range(len(args))))
    check_second(f, args, tuple(range(len(args))))


def test_both_in_turn() -> None:
    g = s2sad.grad(magnitude)
    h = 1e-6
    for x in (-1.3, 1.3, -0.4, 0.4):
        expected = (magnitude(x + h, 0.7) - magnitude(x - h, 0.7)) / (2 * h)
        assert type(g(x, 0.7)) in (float, np.float64)
        np.testing.assert_allclose(g(x, 0.7), expected, rtol=1e-7)


def test_a_derivative_that_needs_no_value_is_not_taken_to_be_real() -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="complex"):
        s2sad.grad(lambda x: x ** 0.5)(-4.0)


def test_what_is_changed_is_not_changed_again() -> None:
    a = np.ones(2)
    with pytest.raises(ComplexPowerError, match="is complex") as caught:
        s2sad.grad(changing)(1.3, a)
    assert "abs((-x) ** 0.3)" in str(caught.value)
    np.testing.assert_array_equal(a, [1.3, 1.0])


def total(x, values):
    s = 0.0
    for v in values:
        s += abs((v * x) ** 0.5)
    return s


def with_noise(x, rng):
    return abs((-x) ** 0.3) + x * rng.normal()


ITEMS = iter([1.0, 2.0, 3.0])


def with_next(x):
    return next(ITEMS) * abs((-x) ** 0.3)


@pytest.mark.parametrize(
    ("f", "rest"), [(with_noise, (np.random.default_rng(0),)), (with_next, ())]
)
def test_what_cannot_be_run_again_is_refused(f: Any, rest: tuple[Any, ...]) -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="complex"):
        s2sad.value_and_grad(f)(1.3, *rest)


def test_what_can_be_run_again() -> None:
    value, gradient = s2sad.value_and_grad(total)(1.3, [1.0, -2.0])
    np.testing.assert_allclose(value, total(1.3, [1.0, -2.0]))
    np.testing.assert_allclose(gradient, value / 2.6)


@pytest.mark.parametrize("x", [2.25, -3.0, 3, -3, np.float64(-2.0), 1 + 2j, np.array([1.0, -4.0])])
@pytest.mark.parametrize("y", [2, -1, 0.5, 2.0, 1 - 1j])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_real_power(x: Any, y: Any) -> None:
    expected = operator.pow(x, y)
    if type(expected) is complex and complex not in (type(x), type(y)):
        with pytest.raises(ComplexPowerError):
            real_power(x, y)
    else:
        np.testing.assert_equal(real_power(x, y), expected)
        assert type(real_power(x, y)) is type(expected)


def test_what_is_called_in_untaken_branches_is_not_read() -> None:
    generator = Generator()
    s2sad.grad(by_method).generate_with(generator, (0.7,))
    read = {getattr(key, "__name__", "") for key in generator.forms.programs}
    assert {"by_method", "helper"} <= read
    assert not read & {"deep", "deeper"}
    generator = Generator()
    s2sad.grad(by_method).generate_with(generator, (0.7, "cube"))
    read = {getattr(key, "__name__", "") for key in generator.forms.programs}
    assert {"deep", "deeper"} <= read
    np.testing.assert_allclose(s2sad.grad(by_method)(0.7, "cube"), 6.0 * 0.7**2)
