"""Attempts among changes of objects: what their bodies make is gone after an exception."""

import math
from collections.abc import Callable

import pytest

import s2sad


class Store:
    def __init__(self, x: float) -> None:
        self.stock = x

    def logs(self, x: float, n: int) -> float:
        values = []
        for k in range(n):
            values.append(math.log(x - 0.3 * k))
        return sum(values) * self.stock


def logs_or_else(x: float) -> float:
    stores, total = [Store(x), Store(x * x)], 0.0
    for n in (2, 6):
        try:
            total = total + stores[n % 2].logs(x, n)
        except ValueError:
            total = total - stores[0].stock * x
            stores[0].stock = total * x
    return total + stores[0].stock


def stores_before_an_exception(x: float) -> float:
    stores = [Store(x), Store(x * x)]
    for store in stores:
        try:
            for k in range(6):
                store.stock = store.stock * math.log(x - 0.3 * k)
        except ValueError:
            pass
    return stores[0].stock


def lists_with_names_after_the_try(x: float) -> float:
    stores, found, total = [Store(x), Store(x * x)], [1.0], 0.0
    for n in (2, 6):
        try:
            values: list[float] = []
            found = values
            for k in range(n):
                values.append(math.log(x - 0.2 * k) * stores[0].stock)
        except ValueError:
            total = total + len(found)
        stores[n % 2].stock = sum(found) * x
    return total + stores[0].stock * stores[1].stock


def test_lists_that_a_try_makes_are_gone_after_an_exception() -> None:
    difference = (logs_or_else(1.3 + 1e-6) - logs_or_else(1.3 - 1e-6)) / 2e-6
    assert s2sad.grad(logs_or_else)(1.3) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("f", [stores_before_an_exception, lists_with_names_after_the_try])
def test_changes_that_are_seen_after_an_exception_are_refused(f: Callable[[float], float]) -> None:
    for derivative in (s2sad.grad(f), lambda x: s2sad.jvp(f)(x, 1.0)):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="in a loop or branch of a `try`"):
            derivative(1.3)


class Checked:
    def __init__(self, value: float) -> None:
        self.value, self.total = value, 2.0 * value

    def grow(self, factor: float) -> float:
        if factor < 1.2:
            raise ValueError(factor)
        self.total = self.total * factor + 1.0
        return self.total


def lists_made_beside_changes(x: float) -> float:
    parts, total = [Checked(x), Checked(x * x), Checked(0.2 * x)], 1.0
    for part in parts:
        try:
            total = part.grow(sum(p.total for p in parts) * 0.3 * part.value)
        except ValueError:
            total = total * 0.5 * x
    return total * sum(p.total for p in parts)


def test_lists_made_in_a_try_beside_changes() -> None:
    difference = (lists_made_beside_changes(1.3 + 1e-6) - lists_made_beside_changes(1.3 - 1e-6)) / 2e-6
    assert s2sad.grad(lists_made_beside_changes)(1.3) == pytest.approx(difference, rel=1e-6)
