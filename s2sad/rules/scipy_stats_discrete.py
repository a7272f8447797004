"""`scipy.stats`: probabilities of whole numbers, by the parameters of their distributions.

Where a number has no probability nothing changes with the parameters, and all gradients are zero.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ..primitives.record import bprop
from .samples import A, given
from .scipy_special import finite, quotient

COUNTS = np.array([0, 1, 2, 3])
CHANCE: Any = {"low": 0.2, "high": 0.8}
RATES = [given(COUNTS, 1.7), given(COUNTS, A(2, 1, low=0.5)), given(2, 0.9), given(np.array([2.0, 0.0]), 1.7)]
CHANCES = [given(COUNTS, 5, 0.3), given(COUNTS, 3, A(2, 1, **CHANCE)), given(2, 4, 0.6)]


@bprop(stats.poisson.logpmf, "elementwise", widens=True, refused=["k"], samples=RATES)
def poisson_logpmf(k, mu, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (quotient(k, mu) - 1)


@bprop(stats.poisson.pmf, "elementwise", widens=True, refused=["k"], samples=RATES)
def poisson_pmf(k, mu, out, dout):
    return None, dout * out * (quotient(k, mu) - 1)


@bprop(stats.binom.logpmf, "elementwise", widens=True, refused=["k", "n"], samples=CHANCES)
def binom_logpmf(k, n, p, out, dout):
    return None, None, np.where(out > -np.inf, dout, 0) * (quotient(k, p) - quotient(n - k, 1 - p))


@bprop(stats.binom.pmf, "elementwise", widens=True, refused=["k", "n"], samples=CHANCES)
def binom_pmf(k, n, p, out, dout):
    return None, None, dout * out * (quotient(k, p) - quotient(n - k, 1 - p))


TRIALS = [given(np.array([0, 1, 1, 0]), 0.3), given(1, 0.6), given(np.array([0, 1]), A(3, 1, **CHANCE))]


@bprop(stats.bernoulli.logpmf, "elementwise", widens=True, refused=["k"], samples=TRIALS)
def bernoulli_logpmf(k, p, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (quotient(k, p) - quotient(1 - k, 1 - p))


@bprop(stats.bernoulli.pmf, "elementwise", widens=True, refused=["k"], samples=TRIALS)
def bernoulli_pmf(k, p, out, dout):
    return None, dout * out * (quotient(k, p) - quotient(1 - k, 1 - p))


LENGTHS = [given(COUNTS + 1, 0.3), given(2, 0.6)]


@bprop(stats.geom.logpmf, "elementwise", widens=True, refused=["k"], samples=LENGTHS)
def geom_logpmf(k, p, out, dout):
    return None, np.where(out > -np.inf, dout, 0) * (1 / p - quotient(k - 1, 1 - p))


@bprop(stats.geom.pmf, "elementwise", widens=True, refused=["k"], samples=LENGTHS)
def geom_pmf(k, p, out, dout):
    return None, dout * out * (1 / p - quotient(k - 1, 1 - p))


WAITING = [given(COUNTS, 2.5, 0.3), given(COUNTS, A(2, 1, low=0.5), A(2, 1, **CHANCE)), given(2, 4.0, 0.6)]


@bprop(stats.nbinom.logpmf, "elementwise", widens=True, refused=["k"], samples=WAITING)
def nbinom_logpmf(k, n, p, out, dout):
    d, count = np.where(out > -np.inf, dout, 0), np.maximum(k, 0)
    dn = d * (special.digamma(count + n) - special.digamma(n) + np.log(p))
    return None, dn, d * (n / p - quotient(k, 1 - p))


@bprop(stats.nbinom.pmf, "elementwise", widens=True, refused=["k"], samples=WAITING)
def nbinom_pmf(k, n, p, out, dout):
    d, count = dout * out, np.maximum(k, 0)
    dn = d * (special.digamma(count + n) - special.digamma(n) + np.log(p))
    return None, dn, d * (n / p - quotient(k, 1 - p))


# ---------------------------------------------------------------- distribution functions
#
# What these change with a parameter is a probability, too; they go on between whole numbers as they are.

def poisson_slope(k: Any, mu: Any) -> Any:
    """The derivative of the distribution function by the rate."""
    return -stats.poisson.pmf(np.floor(k), mu)


def bernoulli_slope(k: Any, p: Any) -> Any:
    """The derivative of the distribution function by the chance."""
    return -stats.bernoulli.pmf(np.floor(k), np.zeros_like(p))


def geom_slope(k: Any, p: Any) -> Any:
    """The derivative of the distribution function by the chance."""
    return np.floor(k) * stats.geom.pmf(np.floor(k), p) / p


def binom_slope(k: Any, n: Any, p: Any) -> Any:
    """The derivative of the distribution function by the chance."""
    return -n * stats.binom.pmf(np.floor(k), np.maximum(n - 1, 0), p)


def nbinom_slope(k: Any, n: Any, p: Any) -> Any:
    """The derivative of the distribution function by the chance."""
    return (n + np.floor(k)) * stats.nbinom.pmf(np.floor(k), n, p) / p


def declare_of_one(distribution: Any, slope: Any, samples: list[Any]) -> None:
    """Declares the distribution functions of a distribution with one parameter."""
    @bprop(distribution.cdf, "elementwise", widens=True, refused=["k"], samples=samples)
    def cdf(k, p, out, dout):
        return None, dout * slope(k, p)

    @bprop(distribution.sf, "elementwise", widens=True, refused=["k"], samples=samples)
    def sf(k, p, out, dout):
        return None, -dout * slope(k, p)

    @bprop(distribution.logcdf, "elementwise", widens=True, refused=["k"], samples=samples)
    def logcdf(k, p, out, dout):
        return None, dout * slope(k, p) * np.exp(-finite(out))

    @bprop(distribution.logsf, "elementwise", widens=True, refused=["k"], samples=samples)
    def logsf(k, p, out, dout):
        return None, -dout * slope(k, p) * np.exp(-finite(out))


def declare_of_two(distribution: Any, slope: Any, samples: list[Any]) -> None:
    """Declares the distribution functions of a distribution with two parameters, by the second."""
    @bprop(distribution.cdf, "elementwise", widens=True, refused=["k", "n"], samples=samples)
    def cdf(k, n, p, out, dout):
        return None, None, dout * slope(k, n, p)

    @bprop(distribution.sf, "elementwise", widens=True, refused=["k", "n"], samples=samples)
    def sf(k, n, p, out, dout):
        return None, None, -dout * slope(k, n, p)

    @bprop(distribution.logcdf, "elementwise", widens=True, refused=["k", "n"], samples=samples)
    def logcdf(k, n, p, out, dout):
        return None, None, dout * slope(k, n, p) * np.exp(-finite(out))

    @bprop(distribution.logsf, "elementwise", widens=True, refused=["k", "n"], samples=samples)
    def logsf(k, n, p, out, dout):
        return None, None, -dout * slope(k, n, p) * np.exp(-finite(out))


BETWEEN = np.array([0.5, 1.0, 2.9])

declare_of_one(stats.poisson, poisson_slope, [*RATES[:3], given(BETWEEN, 1.7)])
declare_of_one(stats.bernoulli, bernoulli_slope, [given(np.array([0.0, 0.5]), 0.3), given(0, 0.6)])
declare_of_one(stats.geom, geom_slope, [*LENGTHS, given(BETWEEN + 1, 0.3)])
declare_of_two(stats.binom, binom_slope, [given(COUNTS, 5, 0.3), given(2, 4, 0.6), given(BETWEEN, 4, 0.6)])
declare_of_two(stats.nbinom, nbinom_slope, [*WAITING, given(BETWEEN, 2.5, 0.3)])
