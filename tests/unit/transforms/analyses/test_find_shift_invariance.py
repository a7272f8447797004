"""What is subtracted in exponents, and cancels, has no derivative; what does not cancel has its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program, check_second

X = np.array([[0.6, -1.2, 0.8, 0.1], [1.1, 0.4, -0.6, 0.9], [-0.2, 0.5, 0.7, 1.3]])
V = np.array([0.3, -1.2, 0.8, 0.1])
T = np.array([0.7, 1.9, 1.1, 0.8])


def softmax(x: Any) -> Any:
    m = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_of_columns(x: Any) -> Any:
    m = x.max(axis=0)
    e = np.exp(x - m)
    return np.sum((e / e.sum(axis=0)) ** 2, axis=1)


def softmax_of_rows(x: Any) -> Any:
    m = x.max(axis=1)
    e = np.exp(x - m[:, None])
    return e / e.sum(axis=1)[:, np.newaxis]


def log_sum_exp(x: Any) -> Any:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_mean_exp(x: Any) -> Any:
    m = np.mean(x, axis=1, keepdims=True)
    return np.log(np.exp(x - m).mean(axis=1)) + m[:, 0]


def log_softmax(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    shifted = x - m
    return np.sum(np.sin(shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))))


def tempered(x: Any, t: Any) -> Any:
    m = np.max(x)
    return t * np.log(np.sum(np.exp((x - m) / t))) + m


def negated(x: Any) -> Any:
    m = np.min(x)
    e = np.exp(-2.0 * (x - m))
    return m - np.log(np.sum(e)) / 2.0


def masked(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.where(x > 0, np.exp(x - m), 0.0)
    return e / np.sum(e, axis=1, keepdims=True)


def in_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        m = np.max(x[k])
        total = total + (m + np.log(np.sum(np.exp(x[k] - m)))) ** 2
    return total


def of_numbers(x: Any) -> Any:
    m = 2 * x[0]
    a, b = np.exp(x[0] - m), np.exp(x[1] - m)
    return a / (a + b)


def weighted(x: Any) -> Any:
    m = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - m)
    return np.sum(e * x, axis=-1, keepdims=True) / np.sum(e, axis=-1, keepdims=True)


def partial_likelihood(x: Any) -> Any:
    m = np.max(x)
    risk = np.log(np.cumsum(np.exp(x - m)[::-1])[::-1]) + m
    return np.sum((x - risk) ** 2)


def cumulated(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return np.cumsum(e, axis=1) / np.sum(e, axis=1, keepdims=True)


CANCELLING = [
    (partial_likelihood, (V,)),
    (cumulated, (X,)),
    (softmax, (X,)),
    (softmax_of_columns, (X,)),
    (softmax_of_rows, (X,)),
    (log_sum_exp, (V,)),
    (log_sum_exp, (X,)),
    (log_mean_exp, (X,)),
    (log_softmax, (X,)),
    (tempered, (V, 0.7)),
    (negated, (V,)),
    (masked, (X,)),
    (in_loop, (X,)),
    (of_numbers, (V,)),
    (weighted, (X,)),
]


def has_adjoint(f: Callable[..., Any], args: tuple[Any, ...], name: str = "m") -> bool:
    found = s2sad.vjp(f, argnums=tuple(range(len(args)))).source_for(*args)
    return re.search(rf"\bd{name}(_\d+)?\b", found) is not None


@pytest.mark.parametrize(("f", "args"), CANCELLING)
def test_what_cancels_has_no_adjoint(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert not has_adjoint(f, args)
    check_program(f, args, tuple(range(len(args))))


@pytest.mark.parametrize(("f", "args"), CANCELLING)
def test_second_derivatives(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check_second(f, args, tuple(range(len(args))))


def other_axis(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=0)


def cumulated_along_the_other(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return np.cumsum(e, axis=0) / np.sum(e, axis=1, keepdims=True)


def cumulated_flat(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return np.cumsum(e)[:3] / np.sum(e, axis=1)


def all_axes(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e)


def square(x: Any) -> Any:
    m = np.max(x[:3], axis=0)
    e = np.exp(x[:, :4] - m)
    return e[:3, :3] / np.sum(e[:3, :3], axis=0)[:, None]


def twice(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return e * e / np.sum(e, axis=1, keepdims=True)


def added(x: Any) -> Any:
    m = np.max(x)
    return np.log(np.sum(np.exp(x - m))) - m


def returned(x: Any) -> Any:
    m = np.max(x)
    e = np.exp(x - m)
    return e / np.sum(e), m


def with_one(x: Any) -> Any:
    m = np.max(x)
    return m + np.log(1 + np.sum(np.exp(x - m)))


def other_temperature(x: Any, t: Any) -> Any:
    m = np.max(x)
    return np.log(np.sum(np.exp((x - m) / t))) + m / t[0]


def temperatures(x: Any, t: Any) -> Any:
    m = np.max(x)
    e = np.exp((x - m) * t)
    return e / np.sum(e)


def floor(x: Any) -> Any:
    m = np.max(x)
    return np.maximum(np.exp(x - m), 0.3) / np.sum(np.exp(x - m))


def stored(x: Any) -> Any:
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    e[0] = x[0]
    return e / np.sum(e, axis=1, keepdims=True)


def changed(x: Any) -> Any:
    m = x[0] * 1.0
    e = np.exp(x - m)
    m[1] = 0.0
    f = np.exp(x - m)
    return e / np.sum(f, axis=0)


def in_a_branch(x: Any) -> Any:
    m = np.max(x)
    e = np.exp(x - m)
    if x[0, 0] > 0:
        e = 2 * e + 1
    return e / np.sum(e)


def carried(x: Any) -> Any:
    m = x[0, 0]
    total = 0.0
    for k in range(3):
        e = np.exp(x[k] - m)
        total = total + np.sum(e / np.sum(e)) * np.sum(e)
        m = e[1]
    return total


def captured(x: Any) -> Any:
    m = np.max(x)
    e = np.exp(x - m)

    def scaled(y: Any) -> Any:
        return y * e

    return scaled(x) / np.sum(e) ** 2


def cubed(x: Any) -> Any:
    m = np.mean(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return e**3 / np.sum(e, axis=1, keepdims=True) ** 2


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (other_axis, (X,)),
        (cumulated_along_the_other, (X,)),
        (cumulated_flat, (X,)),
        (all_axes, (X,)),
        (square, (X,)),
        (twice, (X,)),
        (added, (V,)),
        (returned, (V,)),
        (with_one, (V,)),
        (other_temperature, (V, T)),
        (temperatures, (V, T)),
        (floor, (V,)),
        (stored, (X,)),
        (changed, (X,)),
        (in_a_branch, (X,)),
        (carried, (X,)),
        (captured, (V,)),
        (cubed, (X,)),
    ],
)
def test_what_does_not_cancel_has_its_adjoint(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert has_adjoint(f, args)
    check_program(f, args, tuple(range(len(args))))


def test_ties_and_infinities_are_those_of_the_exact_derivative() -> None:
    x = np.array([[2.0, 2.0, -np.inf], [0.0, 1.0, 1.0]])
    out, bprop = s2sad.vjp(softmax)(x)
    dout = np.array([[1.0, 0.0, 5.0], [0.5, -1.0, 2.0]])
    expected = out * (dout - np.sum(dout * out, axis=1, keepdims=True))
    np.testing.assert_allclose(bprop(dout)[0], expected, rtol=1e-14)
