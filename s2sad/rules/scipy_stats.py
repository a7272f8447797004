"""`scipy.stats`: densities on the whole line, by their argument and all their parameters.

With `z` the standardised argument, a density of location and scale is g(z) / scale: each rule says the slope
of log(g) at `z`, and by the shapes that g has.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from scipy import special, stats

from ..primitives.record import bprop
from .samples import A, given

# Density functions have no complex forms, and often go on for complex numbers all the same: these are samples
# rather than domains.
SAMPLES = [given(A(4)), given(A(2, 3), A(3), A(low=0.5)), given(0.7, 0.2, 1.3),
           given(A(3, dtype="float32"), scale=1.5)]
SHAPED = [given(A(4), 2.5), given(A(2, 3), A(3, low=0.5), A(3), A(low=0.5)),
          given(0.7, 3.0, 0.2, scale=1.3)]


@bprop(stats.norm.logpdf, "elementwise", samples=SAMPLES, widens=True)
def norm_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    return -dout * z / scale, dout * z / scale, dout * (z ** 2 - 1) / scale


@bprop(stats.norm.pdf, "elementwise", samples=SAMPLES, widens=True)
def norm_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    return -d * z / scale, d * z / scale, d * (z ** 2 - 1) / scale


@bprop(stats.cauchy.logpdf, "elementwise", samples=SAMPLES, widens=True)
def cauchy_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * 2 * z / (1 + z ** 2) / scale
    return dz, -dz, -dz * z - dout / scale


@bprop(stats.cauchy.pdf, "elementwise", samples=SAMPLES, widens=True)
def cauchy_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    dz = -d * 2 * z / (1 + z ** 2) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.laplace.logpdf, "elementwise", samples=SAMPLES, widens=True)
def laplace_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * np.sign(z) / scale
    return dz, -dz, -dz * z - dout / scale


@bprop(stats.laplace.pdf, "elementwise", samples=SAMPLES, widens=True)
def laplace_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    dz = -d * np.sign(z) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.logistic.logpdf, "elementwise", samples=SAMPLES, widens=True)
def logistic_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * np.tanh(z / 2) / scale
    return dz, -dz, -dz * z - dout / scale


@bprop(stats.logistic.pdf, "elementwise", samples=SAMPLES, widens=True)
def logistic_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    dz = -d * np.tanh(z / 2) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.gumbel_r.logpdf, "elementwise", samples=SAMPLES, widens=True)
def gumbel_r_logpdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = dout * (np.exp(-z) - 1) / scale
    return dz, -dz, -dz * z - dout / scale


@bprop(stats.gumbel_r.pdf, "elementwise", samples=SAMPLES, widens=True)
def gumbel_r_pdf(x, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    dz = d * (np.exp(-z) - 1) / scale
    return dz, -dz, -dz * z - d / scale


@bprop(stats.t.logpdf, "elementwise", samples=SHAPED, widens=True)
def t_logpdf(x, df, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    dz = -dout * (df + 1) * z / (df + z ** 2) / scale
    gap = special.digamma((df + 1) / 2) - special.digamma(df / 2)
    ddf = dout * (gap - np.log1p(z ** 2 / df) + (z ** 2 - 1) / (df + z ** 2)) / 2
    return dz, ddf, -dz, -dz * z - dout / scale


@bprop(stats.t.pdf, "elementwise", samples=SHAPED, widens=True)
def t_pdf(x, df, loc=0, scale=1, *, out, dout):
    z = (x - loc) / scale
    d = dout * out
    dz = -d * (df + 1) * z / (df + z ** 2) / scale
    gap = special.digamma((df + 1) / 2) - special.digamma(df / 2)
    ddf = d * (gap - np.log1p(z ** 2 / df) + (z ** 2 - 1) / (df + z ** 2)) / 2
    return dz, ddf, -dz, -dz * z - d / scale
