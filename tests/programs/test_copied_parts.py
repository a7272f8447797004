"""What a copy of an object has that is known at run time only: refused, never left out."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs.copies import Fitted


class Cached:
    def __init__(self, w: Any) -> None:
        self.w = w

    @functools.cached_property
    def total(self) -> Any:
        return np.sum(self.w)


@dataclass
class CachedData:
    w: Any

    @functools.cached_property
    def total(self) -> Any:
        return np.sum(self.w)


def cached(x: Any) -> Any:
    p = Cached(x)
    a = p.total
    c = copy.copy(p)
    c.w = x * 3
    return c.total * a


def cached_in_a_list(x: Any) -> Any:
    p = CachedData(x)
    a = p.total
    c = copy.deepcopy([p])[0]
    c.w = x * 3
    return c.total * a


def cached_by_assignment(x: Any) -> Any:
    p = Cached(x)
    p.total = x[0] * x[1]
    return copy.copy(p).total


def linked(x: Any) -> Any:
    a = Fitted(x)
    a.link_to([x[1]])
    b = copy.deepcopy(a)
    b.link[0] = x[2] * 2
    return a.link[0] * b.link[0]


def linked_in_a_branch(x: Any) -> Any:
    a = Fitted(x)
    if x[2] > 0:
        a.link_to(Fitted(x * 2))
    b = copy.deepcopy(a)
    b.link.weights[0] = x[1]
    return np.sum(a.link.weights) * b.link.weights[0]


@pytest.mark.parametrize(
    "f", [cached, cached_in_a_list, cached_by_assignment, linked, linked_in_a_branch]
)
def test_copies_are_refused_or_right(f: Callable[[Any], Any]) -> None:
    x = np.array([0.7, -0.4, 1.1])
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    try:
        value, found = s2sad.value_and_grad(f)(x)
    except s2sad.S2sadError:
        return
    assert value == pytest.approx(f(x))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
