"""`scipy.stats`: densities on a part of the line, by their argument and all their parameters.

As in `scipy_stats`, each rule says the slope of the logarithm of the standard density at `z`. Where that
density is zero the result changes with nothing, and all gradients are zero.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from ..primitives.record import bprop
from .samples import A, given
from .scipy_special import quotient

Array = Any  # any type with NumPy's protocols


def inside(z: Array, out: Array, nowhere: float) -> Array:
    """The arguments, with one in the support in place of those outside of it, where `out` is `nowhere`."""
    return np.where(out > nowhere, z, 0.5)


NONE = [given(A(4, low=0.2)), given(A(2, 3), -3.0, A(3, low=0.5)), given(0.7, 0.2, 1.3)]
ONE = [given(A(4, low=0.2), 2.5), given(A(2, 3), A(3, low=0.5), -3.0, A(low=0.5)),
       given(0.7, 3.0, 0.2, scale=1.3)]
INTERVAL = [given(A(4, low=0.1, high=0.9), 0, 1.5),
            given(A(2, 3), A(3, low=-3.5, high=-2.5), A(low=6.5, high=7.0)), given(0.7, 0.2, 1.3)]
ABOVE_ONE = [given(A(4, low=1.2), 2.5), given(A(2, 3), A(3, low=0.5), -4.0, A(low=0.5)),
             given(0.7, 3.0, -1.2, scale=1.3)]
BETA = [given(A(4, low=0.2, high=0.8), 2.5, 1.5), given(0.7, 3.0, 0.5, 0.2, scale=1.3),
        given(A(2, 3), A(3, low=0.5), 2.0, -3.0, A(low=5.5, high=6.0))]


@bprop(stats.expon.logpdf, "elementwise", samples=NONE, widens=True)
def expon_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = np.where(out > -np.inf, dout, 0)
    return -d / scale, d / scale, d * (z - 1) / scale


@bprop(stats.expon.pdf, "elementwise", samples=NONE, widens=True)
def expon_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    return -d / scale, d / scale, d * (z - 1) / scale


@bprop(stats.halfnorm.logpdf, "elementwise", samples=NONE, widens=True)
def halfnorm_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = np.where(out > -np.inf, dout, 0)
    return -d * z / scale, d * z / scale, d * (z ** 2 - 1) / scale


@bprop(stats.halfnorm.pdf, "elementwise", samples=NONE, widens=True)
def halfnorm_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    return -d * z / scale, d * z / scale, d * (z ** 2 - 1) / scale


@bprop(stats.rayleigh.logpdf, "elementwise", samples=NONE, widens=True)
def rayleigh_logpdf(x, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (1 / z - z) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.rayleigh.pdf, "elementwise", samples=NONE, widens=True)
def rayleigh_pdf(x, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (1 / z - z) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.uniform.logpdf, "elementwise", samples=INTERVAL, widens=True)
def uniform_logpdf(x, loc=0, scale=1, *, out, dout):
    d = np.where(out > -np.inf, dout, 0)
    return None, None, -d / scale


@bprop(stats.uniform.pdf, "elementwise", samples=INTERVAL, widens=True)
def uniform_pdf(x, loc=0, scale=1, *, out, dout):
    d = dout * out
    return None, None, -d / scale


@bprop(stats.gamma.logpdf, "elementwise", samples=ONE, widens=True)
def gamma_logpdf(x, a, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (quotient(a - 1, z) - 1) / scale
    da = d * (np.log(z) - special.digamma(a))
    return dz, da, -dz, -dz * z - d / scale


@bprop(stats.gamma.pdf, "elementwise", samples=ONE, widens=True)
def gamma_pdf(x, a, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (quotient(a - 1, z) - 1) / scale
    da = d * (np.log(z) - special.digamma(a))
    return dz, da, -dz, -dz * z - d / scale


@bprop(stats.chi2.logpdf, "elementwise", samples=ONE, widens=True)
def chi2_logpdf(x, df, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (quotient(df / 2 - 1, z) - 0.5) / scale
    ddf = d * (np.log(z / 2) - special.digamma(df / 2)) / 2
    return dz, ddf, -dz, -dz * z - d / scale


@bprop(stats.chi2.pdf, "elementwise", samples=ONE, widens=True)
def chi2_pdf(x, df, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (quotient(df / 2 - 1, z) - 0.5) / scale
    ddf = d * (np.log(z / 2) - special.digamma(df / 2)) / 2
    return dz, ddf, -dz, -dz * z - d / scale


@bprop(stats.invgamma.logpdf, "elementwise", samples=ONE, widens=True)
def invgamma_logpdf(x, a, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (1 / z - a - 1) / z / scale
    da = -d * (np.log(z) + special.digamma(a))
    return dz, da, -dz, -dz * z - d / scale


@bprop(stats.invgamma.pdf, "elementwise", samples=ONE, widens=True)
def invgamma_pdf(x, a, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (1 / z - a - 1) / z / scale
    da = -d * (np.log(z) + special.digamma(a))
    return dz, da, -dz, -dz * z - d / scale


@bprop(stats.lognorm.logpdf, "elementwise", samples=ONE, widens=True)
def lognorm_logpdf(x, s, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = -d * (np.log(z) / s ** 2 + 1) / z / scale
    ds = d * ((np.log(z) / s) ** 2 - 1) / s
    return dz, ds, -dz, -dz * z - d / scale


@bprop(stats.lognorm.pdf, "elementwise", samples=ONE, widens=True)
def lognorm_pdf(x, s, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = -d * (np.log(z) / s ** 2 + 1) / z / scale
    ds = d * ((np.log(z) / s) ** 2 - 1) / s
    return dz, ds, -dz, -dz * z - d / scale


@bprop(stats.weibull_min.logpdf, "elementwise", samples=ONE, widens=True)
def weibull_min_logpdf(x, c, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (quotient(c - 1, z) - c * z ** (c - 1)) / scale
    dc = d * (1 / c + np.log(z) * (1 - z ** c))
    return dz, dc, -dz, -dz * z - d / scale


@bprop(stats.weibull_min.pdf, "elementwise", samples=ONE, widens=True)
def weibull_min_pdf(x, c, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (quotient(c - 1, z) - c * z ** (c - 1)) / scale
    dc = d * (1 / c + np.log(z) * (1 - z ** c))
    return dz, dc, -dz, -dz * z - d / scale


@bprop(stats.pareto.logpdf, "elementwise", samples=ABOVE_ONE, widens=True)
def pareto_logpdf(x, b, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = -d * (b + 1) / z / scale
    db = d * (1 / b - np.log(z))
    return dz, db, -dz, -dz * z - d / scale


@bprop(stats.pareto.pdf, "elementwise", samples=ABOVE_ONE, widens=True)
def pareto_pdf(x, b, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = -d * (b + 1) / z / scale
    db = d * (1 / b - np.log(z))
    return dz, db, -dz, -dz * z - d / scale


@bprop(stats.beta.logpdf, "elementwise", samples=BETA, widens=True)
def beta_logpdf(x, a, b, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, -np.inf)
    d = np.where(out > -np.inf, dout, 0)
    dz = d * (quotient(a - 1, z) - quotient(b - 1, 1 - z)) / scale
    common = special.digamma(a + b)
    da = d * (np.log(z) - special.digamma(a) + common)
    db = d * (np.log1p(-z) - special.digamma(b) + common)
    return dz, da, db, -dz, -dz * z - d / scale


@bprop(stats.beta.pdf, "elementwise", samples=BETA, widens=True)
def beta_pdf(x, a, b, loc=0, scale=1, *, out, dout):
    z = inside((x - loc) / scale, out, 0)
    d = dout * out
    dz = d * (quotient(a - 1, z) - quotient(b - 1, 1 - z)) / scale
    common = special.digamma(a + b)
    da = d * (np.log(z) - special.digamma(a) + common)
    db = d * (np.log1p(-z) - special.digamma(b) + common)
    return dz, da, db, -dz, -dz * z - d / scale
