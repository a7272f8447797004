"""The kinds of what recursive functions return: the least that their own calls give."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program, check_second


@functools.cache
def binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def of_counts(x: Any) -> Any:
    return sum(binomial(4, k) * x**k for k in range(5))


def power(x: Any, n: int) -> Any:
    if n == 0:
        return 1.0
    root = power(x, n // 2)
    return root * root * x if n % 2 else root * root


def of_powers(x: Any) -> Any:
    return power(x, 5)


def up(x: Any, n: int) -> Any:
    return x if n == 0 else down(x * 1.1, n - 1)


def down(x: Any, n: int) -> Any:
    return x * x if n == 0 else up(x * 0.9, n - 1)


def of_two(x: Any) -> Any:
    return up(x, 5)


def waves(a: Any, n: int) -> Any:
    return a if n == 0 else np.sin(waves(a, n - 1)) * a


def of_arrays(a: Any) -> Any:
    return np.sum(waves(a, 3))


def halves(f: Any, a: float, b: float, depth: int) -> Any:
    middle = (a + b) / 2
    if depth == 0:
        return (b - a) * f(middle)
    return halves(f, a, middle, depth - 1) + halves(f, middle, b, depth - 1)


def of_functions(x: Any) -> Any:
    return halves(lambda t: math.sin(t * x), 0.0, 1.0, 3)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (of_counts, 1.3), (of_powers, 1.3), (of_two, 1.3), (of_functions, 1.3),
        (of_arrays, np.array([0.3, 0.8])),
    ],
    ids=lambda p: getattr(p, "__name__", "x"),
)
def test_nothing_is_left_to_the_run(f: Callable[..., Any], x: Any) -> None:
    check_program(f, (x,), (0,))
    text = s2sad.grad(f).source_for(x)
    assert "unbroadcast" not in text and "refuse_other_array" not in text


def one_or_many(x: Any, n: int) -> Any:
    if n == 0:
        return np.array([x, x])
    return x if n == 1 else one_or_many(x, n - 1) * one_or_many(x, n - 2)


def of_several_kinds(x: Any) -> Any:
    return np.sum(one_or_many(x, 4))


def nested(x: Any, n: int) -> Any:
    return x if n == 0 else [nested(x * n, n - 1), x]


def flat(tree: Any) -> Any:
    return sum(flat(part) for part in tree) if isinstance(tree, list) else tree


def of_nested(x: Any) -> Any:
    return flat(nested(x, 3))


def rotated(x: Any, n: int) -> Any:
    return x if n == 0 else rotated(x, n - 1) * (1j if n == 2 else 1)


def of_complex(x: Any) -> Any:
    return abs(rotated(x, 4))


@pytest.mark.parametrize("f", [of_several_kinds, of_nested, of_complex], ids=lambda f: f.__name__)
def test_several_kinds_are_left_to_the_run(f: Callable[..., Any]) -> None:
    check_program(f, (1.3,), (0,))


class Style(Enum):
    EARLY = "early"
    LATE = "late"


class Claim:
    def __init__(self, strike: float, style: Style) -> None:
        self.strike, self.style, self.paid = strike, style, 0.0

    def pay(self, x: Any) -> Any:
        self.paid = self.paid + (x - self.strike if self.style is Style.EARLY else x * self.strike)
        return self.paid


def of_enumerations(x: Any) -> Any:
    claims = [Claim(0.1 * k, Style.EARLY if k % 2 else Style.LATE) for k in range(4)]
    total = 0.0
    for _ in range(2):
        for claim in claims:
            total = total + claim.pay(x * total + x) * claim.paid
    return total


def test_members_of_enumerations_are_plain() -> None:
    check_program(of_enumerations, (1.3,), (0,))
    assert "Shadows" in s2sad.grad(of_enumerations).source_for(1.3)


def merged(a: Any, b: Any) -> Any:
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + list(a[i:]) + list(b[j:])


def merge_sorted(a: Any) -> Any:
    if len(a) <= 1:
        return a
    middle = len(a) // 2
    return merged(merge_sorted(a[:middle]), merge_sorted(a[middle:]))


def of_sorted(x: Any) -> Any:
    return sum(value * (k + 1) for k, value in enumerate(merge_sorted(list(x))))


def determinant(rows: Any) -> Any:
    if len(rows) == 1:
        return rows[0][0]
    return sum(
        (-1) ** j * rows[0][j] * determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j in range(len(rows))
    )


def of_rows(x: Any) -> Any:
    return determinant([[x[0], x[1], 1.0], [x[2], 2.0, x[0]], [x[1] * x[0], x[2], 3.0]])


@pytest.mark.parametrize("f", [of_sorted, of_rows], ids=lambda f: f.__name__)
def test_lists_that_recursive_functions_return(f: Callable[..., Any]) -> None:
    x = np.array([0.7, 0.4, 1.3])
    check_program(f, (x,), (0,))
    check_second(f, (x,), (0,))


def scaled(x: Any, n: int) -> Any:
    return 1.0 if n == 0 else summed(x, n - 1) * np.ones(2)


def summed(x: Any, n: int) -> Any:
    found = scaled(x, n)
    return found * x if isinstance(found, float) else np.sum(found) * x


def of_tested_results(x: Any) -> Any:
    return summed(x, 3)


def test_what_is_found_on_the_way_decides_no_branch() -> None:
    check_program(of_tested_results, (1.3,), (0,))
