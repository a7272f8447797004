"""What a program does besides computing its result is done in its derivative, too, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2sad


class Counting(dict[str, float]):
    """A dict whose `get` counts."""

    def get(self, key: str, default: Any = None) -> Any:
        self[key] = self[key] + 1.0
        return self[key]


def skipping_one(x: float, batches: Iterator[float]) -> float:
    for _ in batches:
        break
    return x * next(batches)


def in_two_loops(x: float, batches: Iterator[float]) -> float:
    for batch in batches:
        if batch > 2:
            break
    total = 0.0
    for batch in batches:
        total += batch * x
    return total


def some_unused(x: float, batches: Iterator[float]) -> float:
    pairs = zip(batches, range(2), strict=False)
    _ = list(pairs)
    return x * sum(batches)


def unpacked(x: float, batches: Iterator[float]) -> float:
    both = zip(batches, (1, 2, 3), strict=False)
    (_, _), (_, _), (_, _) = both
    return x * next(batches)


def with_get(x: float, counting: Counting) -> float:
    _ = counting.get("a")
    return x * counting.get("a")


def batches() -> Iterator[float]:
    return iter([1.0, 3.0, 5.0, 7.0, 11.0])


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (skipping_one, batches),
        (in_two_loops, batches),
        (some_unused, batches),
        (unpacked, batches),
        (with_get, lambda: Counting(a=1.0)),
    ],
)
def test_what_is_taken_or_counted_is_gone(
    function: Callable[..., float], argument: Callable[[], Any]
) -> None:
    expected = function(1.0, argument())
    assert s2sad.grad(function)(1.0, argument()) == expected
    value, tangent = s2sad.jvp(lambda x: function(x, argument()))(1.0, 1.0)
    assert (value, tangent) == (expected, expected)
    value, pullback = s2sad.vjp(function, argnums=0)(1.0, argument())
    assert (value, pullback(1.0)) == (expected, expected)


def test_a_loop_over_an_array_that_nothing_reads_is_left_out() -> None:
    def f(x: np.ndarray) -> float:
        last = 0.0
        for element in x:
            last = element
        del last
        return np.sum(x)  # type: ignore[no-any-return]

    assert "for" not in s2sad.grad(f).source_for(np.ones(3))
