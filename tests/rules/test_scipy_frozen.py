"""Distributions with given parameters: made within a differentiated function, or outside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import s2sad
from s2sad.transforms.errors import S2sadError
from tests.support.compare import check_program, check_second

FIXED = stats.norm(0.2, 1.5)


def of_another(p: Any, q: Any) -> Any:
    return FIXED.logpdf(p) * FIXED.cdf(q)


def by_position_and_name(p: Any, q: Any) -> Any:
    return stats.norm(p, scale=q).logpdf(0.3)


def used_more_than_once(p: Any, q: Any) -> Any:
    d = stats.gamma(p, scale=q)
    return np.sum(d.logpdf(np.array([0.3, 0.7]) * p)) + d.pdf(0.7)


def discrete(p: Any, q: Any) -> Any:
    return stats.binom(5, q / 2).logpmf(2) * p


def of_arrays(p: Any, q: Any) -> Any:
    return stats.norm(np.array([0.1, 0.2]) * p, q).sf(p)


def in_a_branch(p: Any, q: Any) -> Any:
    d = stats.norm(p) if p > q else stats.norm(q, p)
    return d.logpdf(p * q)


def in_a_loop(p: Any, q: Any) -> Any:
    total = 0.0
    for d in [stats.norm(p, q), stats.expon(scale=q), stats.cauchy(p)]:
        total = total + d.logpdf(1.7)
    return total


def passed_on(p: Any, q: Any) -> Any:
    return likelihood(stats.norm(p, q))


def likelihood(d: Any) -> Any:
    return np.sum(d.logpdf(np.array([0.3, 1.1])))


@pytest.mark.parametrize(
    "f",
    [
        of_another,
        by_position_and_name,
        used_more_than_once,
        discrete,
        of_arrays,
        in_a_branch,
        in_a_loop,
        passed_on,
    ],
    ids=lambda f: f.__name__,
)
def test_frozen_distributions(f: Callable[..., Any]) -> None:
    check_program(f, (0.7, 1.2), (0, 1))
    check_second(f, (0.7, 1.2), (0, 1))


def test_one_of_another_support_has_no_rule() -> None:
    half = type(stats.norm)(a=0.0)
    with pytest.raises(S2sadError):
        s2sad.grad(lambda x: half.logpdf(x))(0.3)


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(S2sadError):
        s2sad.grad(lambda s: stats.norm(0.0, s).entropy())(0.3)
    with pytest.raises(S2sadError):
        s2sad.grad(lambda s: stats.uniform(0.0, s).support()[1])(0.3)
