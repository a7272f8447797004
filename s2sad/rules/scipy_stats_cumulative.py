"""`scipy.stats`: distribution functions, their logarithms, and quantiles, of continuous distributions.

By their argument, location and scale, and by shapes where the derivative is elementary. What their
derivatives are made of is the density, for which `scipy_stats` and `scipy_stats_bounded` hold the rules.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ..primitives.record import bprop
from .samples import A, given
from .scipy_special import finite
from .scipy_special_erf import ROOT_TWO_PI, hazard

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- the normal distribution

SAMPLES = [given(A(4)), given(A(2, 3), A(3), A(low=0.5)), given(0.7, 0.2, 1.3),
           given(A(3, dtype="float32"), scale=1.5)]
QUANTILES = [given(A(4, low=0.2, high=0.8)), given(A(2, 3, low=0.2, high=0.8), A(3), A(low=0.5)),
             given(0.7, 0.2, 1.3)]


@bprop(stats.norm.cdf, "elementwise", samples=SAMPLES, widens=True)
def norm_cdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = dout * np.exp(-z ** 2 / 2) / (ROOT_TWO_PI * scale)
    return dz, -dz, -dz * z


@bprop(stats.norm.sf, "elementwise", samples=SAMPLES, widens=True)
def norm_sf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * np.exp(-z ** 2 / 2) / (ROOT_TWO_PI * scale)
    return dz, -dz, -dz * z


@bprop(stats.norm.logcdf, "elementwise", samples=SAMPLES, widens=True)
def norm_logcdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = dout * hazard(z) / scale
    return dz, -dz, -dz * z


@bprop(stats.norm.logsf, "elementwise", samples=SAMPLES, widens=True)
def norm_logsf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * hazard(-z) / scale
    return dz, -dz, -dz * z


@bprop(stats.norm.ppf, "elementwise", samples=QUANTILES, widens=True)
def norm_ppf(q, loc=0, scale=1, *, out, dout):
    z = (out - loc) / scale
    return dout * scale * ROOT_TWO_PI * np.exp(z ** 2 / 2), dout, dout * z


@bprop(stats.norm.isf, "elementwise", samples=QUANTILES, widens=True)
def norm_isf(q, loc=0, scale=1, *, out, dout):
    z = (out - loc) / scale
    return -dout * scale * ROOT_TWO_PI * np.exp(z ** 2 / 2), dout, dout * z


# ---------------------------------------------------------------- no shapes, one, two

def declare_plain(distribution: Any, samples: list[Any], quantiles: list[Any]) -> None:
    """Declares the rules of a distribution of location and scale alone."""
    pdf, logpdf = distribution.pdf, distribution.logpdf

    @bprop(distribution.cdf, "elementwise", samples=samples, widens=True)
    def cdf(x, loc=0, scale=1, *, out, dout):
        dx = dout * pdf(x, loc, scale)
        return dx, -dx, -dx * (x - loc) / scale

    @bprop(distribution.sf, "elementwise", samples=samples, widens=True)
    def sf(x, loc=0, scale=1, *, out, dout):
        dx = -dout * pdf(x, loc, scale)
        return dx, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logcdf, "elementwise", samples=samples, widens=True)
    def logcdf(x, loc=0, scale=1, *, out, dout):
        dx = dout * np.exp(logpdf(x, loc, scale) - finite(out))
        return dx, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logsf, "elementwise", samples=samples, widens=True)
    def logsf(x, loc=0, scale=1, *, out, dout):
        dx = -dout * np.exp(logpdf(x, loc, scale) - finite(out))
        return dx, -dx, -dx * (x - loc) / scale

    @bprop(distribution.ppf, "elementwise", samples=quantiles, widens=True)
    def ppf(q, loc=0, scale=1, *, out, dout):
        return dout / pdf(out, loc, scale), dout, dout * (out - loc) / scale

    @bprop(distribution.isf, "elementwise", samples=quantiles, widens=True)
    def isf(q, loc=0, scale=1, *, out, dout):
        return -dout / pdf(out, loc, scale), dout, dout * (out - loc) / scale


def shaped_samples(shape: Any) -> tuple[list[Any], list[Any]]:
    """Samples of arguments, and of probabilities, for distributions with one shape."""
    samples = [given(A(4, low=1.2), shape), given(A(2, 3, low=3.0, high=5.0), shape, A(3), A(low=0.5)),
               given(1.7, 2.5, 0.2, scale=1.3)]
    quantiles = [given(A(4, low=0.2, high=0.8), shape), given(0.7, 2.5, 0.2, scale=1.3),
                 given(A(2, 3, low=0.2, high=0.8), shape, A(3), A(low=0.5))]
    return samples, quantiles


def declare_shaped(distribution: Any, shape: float) -> None:
    """Declares the rules of a distribution with one shape, which the samples give this value."""
    pdf, logpdf = distribution.pdf, distribution.logpdf
    samples, quantiles = shaped_samples(shape)

    @bprop(distribution.cdf, "elementwise", refused=["a"], samples=samples, widens=True)
    def cdf(x, a, loc=0, scale=1, *, out, dout):
        dx = dout * pdf(x, a, loc, scale)
        return dx, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.sf, "elementwise", refused=["a"], samples=samples, widens=True)
    def sf(x, a, loc=0, scale=1, *, out, dout):
        dx = -dout * pdf(x, a, loc, scale)
        return dx, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logcdf, "elementwise", refused=["a"], samples=samples, widens=True)
    def logcdf(x, a, loc=0, scale=1, *, out, dout):
        dx = dout * np.exp(logpdf(x, a, loc, scale) - finite(out))
        return dx, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logsf, "elementwise", refused=["a"], samples=samples, widens=True)
    def logsf(x, a, loc=0, scale=1, *, out, dout):
        dx = -dout * np.exp(logpdf(x, a, loc, scale) - finite(out))
        return dx, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.ppf, "elementwise", refused=["a"], samples=quantiles, widens=True)
    def ppf(q, a, loc=0, scale=1, *, out, dout):
        return dout / pdf(out, a, loc, scale), None, dout, dout * (out - loc) / scale

    @bprop(distribution.isf, "elementwise", refused=["a"], samples=quantiles, widens=True)
    def isf(q, a, loc=0, scale=1, *, out, dout):
        return -dout / pdf(out, a, loc, scale), None, dout, dout * (out - loc) / scale


def declare_by_shape(distribution: Any, lag: Any) -> None:
    """Declares the rules of a distribution of which the derivative by its shape `a` is known, too: the
    density times `lag(z, a)`, minus how fast the quantile at `z` moves with it, at location 0 and scale 1.
    """
    pdf, logpdf = distribution.pdf, distribution.logpdf
    samples, quantiles = shaped_samples(A(low=1.5, high=2.5))

    @bprop(distribution.cdf, "elementwise", samples=samples, widens=True)
    def cdf(x, a, loc=0, scale=1, *, out, dout):
        z = (x - loc) / scale
        dx = dout * pdf(x, a, loc, scale)
        return dx, dx * scale * lag(z, a), -dx, -dx * z

    @bprop(distribution.sf, "elementwise", samples=samples, widens=True)
    def sf(x, a, loc=0, scale=1, *, out, dout):
        z = (x - loc) / scale
        dx = -dout * pdf(x, a, loc, scale)
        return dx, dx * scale * lag(z, a), -dx, -dx * z

    @bprop(distribution.logcdf, "elementwise", samples=samples, widens=True)
    def logcdf(x, a, loc=0, scale=1, *, out, dout):
        z = (x - loc) / scale
        dx = dout * np.exp(logpdf(x, a, loc, scale) - finite(out))
        return dx, dx * scale * lag(z, a), -dx, -dx * z

    @bprop(distribution.logsf, "elementwise", samples=samples, widens=True)
    def logsf(x, a, loc=0, scale=1, *, out, dout):
        z = (x - loc) / scale
        dx = -dout * np.exp(logpdf(x, a, loc, scale) - finite(out))
        return dx, dx * scale * lag(z, a), -dx, -dx * z

    @bprop(distribution.ppf, "elementwise", samples=quantiles, widens=True)
    def ppf(q, a, loc=0, scale=1, *, out, dout):
        z = (out - loc) / scale
        return dout / pdf(out, a, loc, scale), -dout * scale * lag(z, a), dout, dout * z

    @bprop(distribution.isf, "elementwise", samples=quantiles, widens=True)
    def isf(q, a, loc=0, scale=1, *, out, dout):
        z = (out - loc) / scale
        return -dout / pdf(out, a, loc, scale), -dout * scale * lag(z, a), dout, dout * z


def power_lag(z: Array, a: Array) -> Array:
    """That of distributions of powers: of `z ** a`."""
    positive = np.maximum(z, 0)
    return special.xlogy(positive, positive) / a


def log_normal_lag(z: Array, a: Array) -> Array:
    """That of the log-normal distribution: of `log(z) / a`."""
    return -power_lag(z, a)


def declare_of_two_shapes(distribution: Any, samples: list[Any]) -> None:
    """Declares the rules of a distribution with two shapes."""
    pdf, logpdf = distribution.pdf, distribution.logpdf

    @bprop(distribution.cdf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def cdf(x, a, b, loc=0, scale=1, *, out, dout):
        dx = dout * pdf(x, a, b, loc, scale)
        return dx, None, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.sf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def sf(x, a, b, loc=0, scale=1, *, out, dout):
        dx = -dout * pdf(x, a, b, loc, scale)
        return dx, None, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logcdf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def logcdf(x, a, b, loc=0, scale=1, *, out, dout):
        dx = dout * np.exp(logpdf(x, a, b, loc, scale) - finite(out))
        return dx, None, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.logsf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def logsf(x, a, b, loc=0, scale=1, *, out, dout):
        dx = -dout * np.exp(logpdf(x, a, b, loc, scale) - finite(out))
        return dx, None, None, -dx, -dx * (x - loc) / scale

    @bprop(distribution.ppf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def ppf(q, a, b, loc=0, scale=1, *, out, dout):
        return dout / pdf(out, a, b, loc, scale), None, None, dout, dout * (out - loc) / scale

    @bprop(distribution.isf, "elementwise", refused=["a", "b"], samples=samples, widens=True)
    def isf(q, a, b, loc=0, scale=1, *, out, dout):
        return -dout / pdf(out, a, b, loc, scale), None, None, dout, dout * (out - loc) / scale




POSITIVE = [given(A(4, low=0.2)), given(A(2, 3, low=3.0, high=5.0), A(3), A(low=0.5)), given(0.7, 0.2, 1.3)]

for _distribution in (stats.cauchy, stats.laplace, stats.logistic, stats.gumbel_r):
    declare_plain(_distribution, SAMPLES, QUANTILES)
for _distribution in (stats.expon, stats.halfnorm, stats.rayleigh):
    declare_plain(_distribution, POSITIVE, QUANTILES)
declare_plain(stats.uniform, [given(A(4, low=0.1, high=0.9)), given(0.7, 0.2, 1.3)], QUANTILES)
for _distribution in (stats.t, stats.gamma, stats.chi2, stats.invgamma):
    declare_shaped(_distribution, 2.5)
for _distribution in (stats.weibull_min, stats.pareto):
    declare_by_shape(_distribution, power_lag)
declare_by_shape(stats.lognorm, log_normal_lag)
declare_of_two_shapes(
    stats.beta, [given(A(4, low=0.2, high=0.8), 2.5, 1.5), given(0.7, 3.0, 0.5, 0.2, scale=1.3)])
