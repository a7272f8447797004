"""`scipy.special`: the gamma function and its kin, incomplete gamma and beta functions, and the distribution
functions made of them. These are differentiated by their last argument, not by their parameters.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..primitives.record import bprop, nondifferentiable
from .samples import A, given

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- gamma and beta functions

@bprop(special.gamma, "elementwise", domain=(0.5, 3.0))
def gamma(z, out, dout):
    return (dout * out * special.digamma(z),)


@bprop(special.gammaln, "elementwise", domain=(0.5, 3.0))
def gammaln(x, out, dout):
    return (dout * special.digamma(x),)


@bprop(special.loggamma, "elementwise", domain=(0.5, 3.0))
def loggamma(z, out, dout):
    return (dout * special.digamma(z),)


# Entire, with zeros at the poles of the gamma function, where its slope is found by reflection.
@bprop(special.rgamma, "elementwise", domain=(-2.4, 3.0))
def rgamma(z, out, dout):
    return (dout * rgamma_slope(z),)


def rgamma_slope(z: Array) -> Array:
    """The derivative of 1 / gamma(z)."""
    low = np.real(z) < 0.5
    left, right = np.where(low, z, 0), np.where(low, 1, z)
    angle = math.pi * left
    turned = np.cos(angle) - np.sin(angle) / math.pi * special.digamma(1 - left)
    reflected = special.gamma(1 - left) * turned
    return np.where(low, reflected, -special.digamma(right) * special.rgamma(right))


@bprop(special.digamma, "elementwise", samples=[
    given(A(4, low=0.5)), given(A(2, 2, low=-0.9, high=-0.1)), given(1.7),
    given(A(3, dtype="float32", low=0.5))])
def digamma(z, out, dout):
    return (dout * special.polygamma(1, z),)


@bprop(special.polygamma, "elementwise", refused=["n"], widens=True, samples=[
    given(0, A(3, low=0.5)), given(1, A(2, 2, low=0.5)), given(2, 1.7),
    given(np.array([1, 2]), A(3, 1, low=0.5))])
def polygamma(n, x, out, dout):
    return None, dout * special.polygamma(n + 1, x)


# The Hurwitz zeta function; by its first argument it is not differentiated.
@bprop(special.zeta, "elementwise", refused=["x"], widens=True, samples=[
    given(2.5, A(3, low=0.5)), given(3, 1.7), given(np.array([2.0, 3.0]), A(3, 1, low=0.5))])
def zeta(x, q=None, *, out, dout):
    if q is None:
        return None, None
    return None, -dout * x * special.zeta(x + 1, q)


@bprop(special.multigammaln, "elementwise", widens=True, samples=[
    given(A(3, low=2.5, high=4.0), 3), given(2.2, 2)])
def multigammaln(a, d, out, dout):
    return (dout * multidigamma(a, d),)


def multidigamma(a: Array, d: int) -> Array:
    """The derivative of the logarithm of the multivariate gamma function of dimension `d`."""
    total = special.digamma(a)
    for i in range(1, d):
        total = total + special.digamma(a - i / 2)
    return total


@bprop(special.beta, "elementwise", domain=(0.5, 3.0))
def beta(a, b, out, dout):
    common = special.digamma(a + b)
    return dout * out * (special.digamma(a) - common), dout * out * (special.digamma(b) - common)


@bprop(special.betaln, "elementwise", domain=(0.5, 3.0))
def betaln(a, b, out, dout):
    common = special.digamma(a + b)
    return dout * (special.digamma(a) - common), dout * (special.digamma(b) - common)


@bprop(special.poch, "elementwise", domain=(0.5, 3.0))
def poch(z, m, out, dout):
    end = special.digamma(z + m)
    return dout * out * (end - special.digamma(z)), dout * out * end


# Zero for negative arguments.
@bprop(special.factorial, "elementwise", slope="finite", widens=True,
       samples=[given(A(4)), given(1.7), given(-0.3)])
def factorial(n, exact=False, *, out, dout):
    return (dout * out * special.digamma(np.where(n < 0, 0, n) + 1),)


@bprop(special.binom, "elementwise", domain=((3.0, 4.0), (0.5, 2.0)))
def binom(x, y, out, dout):
    rest = special.digamma(x - y + 1)
    return dout * out * (special.digamma(x + 1) - rest), dout * out * (rest - special.digamma(y + 1))


# ---------------------------------------------------------------- incomplete gamma and beta functions

SHAPED: Any = {"refused": ["a"], "domain": ((0.5, 3.0), (0.5, 3.0))}


def gamma_density(a: Array, x: Array) -> Array:
    """The derivative of the lower incomplete gamma function by its upper bound."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def beta_density(a: Array, b: Array, x: Array) -> Array:
    """The derivative of the incomplete beta function by its upper bound."""
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


@bprop(special.gammainc, "elementwise", **SHAPED)
def gammainc(a, x, out, dout):
    return None, dout * gamma_density(a, x)


@bprop(special.gammaincc, "elementwise", **SHAPED)
def gammaincc(a, x, out, dout):
    return None, -dout * gamma_density(a, x)


@bprop(special.gammaincinv, "elementwise", refused=["a"], domain=((0.5, 3.0), (0.2, 0.8)))
def gammaincinv(a, y, out, dout):
    return None, dout / gamma_density(a, out)


@bprop(special.gammainccinv, "elementwise", refused=["a"], domain=((0.5, 3.0), (0.2, 0.8)))
def gammainccinv(a, y, out, dout):
    return None, -dout / gamma_density(a, out)


BETA: Any = {"refused": ["a", "b"], "domain": ((0.5, 3.0), (0.5, 3.0), (0.2, 0.8))}


@bprop(special.betainc, "elementwise", **BETA)
def betainc(a, b, x, out, dout):
    return None, None, dout * beta_density(a, b, x)


@bprop(special.betaincc, "elementwise", **BETA)
def betaincc(a, b, x, out, dout):
    return None, None, -dout * beta_density(a, b, x)


@bprop(special.betaincinv, "elementwise", **BETA)
def betaincinv(a, b, y, out, dout):
    return None, None, dout / beta_density(a, b, out)


@bprop(special.betainccinv, "elementwise", **BETA)
def betainccinv(a, b, y, out, dout):
    return None, None, -dout / beta_density(a, b, out)


# ---------------------------------------------------------------- distribution functions

def student_density(df: Array, t: Array) -> Array:
    """The density of Student's distribution."""
    return np.exp(-(df + 1) / 2 * np.log1p(t ** 2 / df) - special.betaln(df / 2, 0.5)) / np.sqrt(df)


@bprop(special.stdtr, "elementwise", refused=["df"], domain=((1.0, 4.0), (-2.0, 2.0)))
def stdtr(df, t, out, dout):
    return None, dout * student_density(df, t)


@bprop(special.stdtrit, "elementwise", refused=["df"], domain=((1.0, 4.0), (0.2, 0.8)))
def stdtrit(df, p, out, dout):
    return None, dout / student_density(df, out)


@bprop(special.chdtr, "elementwise", refused=["v"], domain=((1.0, 4.0), (0.5, 3.0)))
def chdtr(v, x, out, dout):
    return None, dout * gamma_density(v / 2, x / 2) / 2


@bprop(special.chdtrc, "elementwise", refused=["v"], domain=((1.0, 4.0), (0.5, 3.0)))
def chdtrc(v, x, out, dout):
    return None, -dout * gamma_density(v / 2, x / 2) / 2


@bprop(special.gdtr, "elementwise", refused=["b"], domain=(0.5, 2.0))
def gdtr(a, b, x, out, dout):
    density = gamma_density(b, a * x)
    return dout * x * density, None, dout * a * density


@bprop(special.gdtrc, "elementwise", refused=["b"], domain=(0.5, 2.0))
def gdtrc(a, b, x, out, dout):
    density = gamma_density(b, a * x)
    return -dout * x * density, None, -dout * a * density


nondifferentiable([special.gammasgn])
