"""Updates of items by values that calls compute are the updates that the user wrote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program

A = np.array([[0.4, 0.9, -0.3], [1.2, -0.7, 0.8]])
X = np.array([0.3, -0.5, 1.1])


def by_closure(a: Any, x: Any) -> Any:
    b = a * 2.0

    def force(t: Any) -> Any:
        return np.sin(x * t) * x

    for t in range(len(b)):
        b[t] += force(t + 1)
        b[t] *= force(0.5)
    return np.sum(b * b)


def by_number(a: Any, x: Any) -> Any:
    def rate(k: Any) -> Any:
        return x[k] * x[0]

    y = x * 1.0
    for k in range(3):
        y[k] -= rate(k)
        y[0] /= 1.0 + rate(k) ** 2
    return np.sum(y) * np.sum(a)


def changing_callee(a: Any, x: Any) -> Any:
    b = a * 2.0

    def bump(t: Any) -> Any:
        b[t] = b[t] * 3.0
        return x

    for t in range(len(b)):
        b[t] += bump(t)
    return np.sum(b * b)


def item_read_too(a: Any, x: Any) -> Any:
    b = a * 2.0

    def scaled(t: Any) -> Any:
        return b[t] * x

    for t in range(len(b)):
        b[t] += scaled(t)
    return np.sum(b * b)


@pytest.mark.parametrize("f", [by_closure, by_number, changing_callee, item_read_too])
def test_updates_by_calls(f: Any) -> None:
    check_program(f, (A, X), (0, 1))
    s2sad.check_grads(f, (A, X), order=2, argnums=(0, 1))


def test_the_update_is_one_statement() -> None:
    source = s2sad.grad(by_closure, argnums=(0, 1)).source_for(A, X)
    assert "b[t] += " in source and "[...]" not in source
    assert "[...]" in s2sad.grad(changing_callee, argnums=(0, 1)).source_for(A, X)


def test_what_is_read_before_a_change_is_not_copied() -> None:
    def f(a: Any, x: Any) -> Any:
        def square(t: Any) -> Any:
            return (x - t) ** 2

        b = a * 2.0
        for t in range(2):
            b[t] += square(t)
        return np.sum(b * a)

    source = s2sad.vjp(f).source_for(A, X)
    assert "copy" not in source.split("_bprop(dout")[1]
    s2sad.check_grads(f, (A, X), order=2)
