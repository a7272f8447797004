"""`scipy.special`: error functions and the normal distribution."""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..primitives.record import bprop

Array = Any  # any type with NumPy's protocols

FAR = 50.0  # from where the asymptotic series are exact to rounding and differences are not
ROOT_PI = math.sqrt(math.pi)
ERF_SLOPE = 2 / ROOT_PI  # that of `erf` at 0
ROOT_TWO_PI = math.sqrt(2 * math.pi)


@bprop(special.erf, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erf(z, out, dout):
    return (dout * ERF_SLOPE * np.exp(-z ** 2),)


@bprop(special.erfc, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erfc(x, out, dout):
    return (-dout * ERF_SLOPE * np.exp(-x ** 2),)


@bprop(special.erfi, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erfi(z, out, dout):
    return (dout * ERF_SLOPE * np.exp(z ** 2),)


# The slopes of these are differences of nearly equal numbers far out on the real axis, where
# sum (2n + 1)!! q^n is what remains of them, with q = -1/(2 x^2) or 1/(2 x^2).
def far_series(x: Array, sign: int) -> Array:
    """`sum (2n + 1)!! q^n / x^2` with `q = sign / (2 x^2)`, for large `x`; finite for all."""
    y = np.where(np.abs(x) > FAR, x, FAR) ** -2.0
    q = sign * y / 2
    return y * (1 + q * (3 + q * (15 + q * 105)))


def erfcx_slope(x: Array) -> Array:
    """The derivative of the scaled complementary error function."""
    near = 2 * x * special.erfcx(x) - 2 / ROOT_PI
    return np.where(np.real(x) > FAR, -far_series(x, -1) / ROOT_PI, near).astype(np.asarray(near).dtype)[()]


def dawsn_slope(x: Array) -> Array:
    """The derivative of Dawson's integral."""
    near = 1 - 2 * x * special.dawsn(x)
    far = (np.abs(x) > FAR) & (np.imag(x) == 0)
    return np.where(far, -far_series(x, 1) / 2, near).astype(np.asarray(near).dtype)[()]


@bprop(special.erfcx, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erfcx(x, out, dout):
    return (dout * erfcx_slope(x),)


@bprop(erfcx_slope, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erfcx_slope_(x, out, dout):
    return (dout * 2 * (special.erfcx(x) + x * out),)


@bprop(special.dawsn, "elementwise", slope="finite", domain=(-2.0, 2.0))
def dawsn(x, out, dout):
    return (dout * dawsn_slope(x),)


@bprop(dawsn_slope, "elementwise", slope="finite", domain=(-2.0, 2.0))
def dawsn_slope_(x, out, dout):
    return (-dout * 2 * (special.dawsn(x) + x * out),)


@bprop(special.wofz, "elementwise", widens=True, domain=(-2.0, 2.0))
def wofz(z, out, dout):
    return (dout * (2j / ROOT_PI - 2 * z * out),)


@bprop(special.erfinv, "elementwise", domain=(-0.8, 0.8))
def erfinv(y, out, dout):
    return (dout / ERF_SLOPE * np.exp(out ** 2),)


@bprop(special.erfcinv, "elementwise", domain=(0.2, 1.8))
def erfcinv(y, out, dout):
    return (-dout / ERF_SLOPE * np.exp(out ** 2),)


@bprop(special.ndtr, "elementwise", slope="finite", domain=(-2.0, 2.0))
def ndtr(x, out, dout):
    return (dout * np.exp(-x ** 2 / 2) / ROOT_TWO_PI,)


@bprop(special.ndtri, "elementwise", domain=(0.2, 0.8))
def ndtri(y, out, dout):
    return (dout * ROOT_TWO_PI * np.exp(out ** 2 / 2),)


def hazard(x: Array) -> Array:
    """The density of the normal distribution over the probability of what lies below: neither underflows."""
    return math.sqrt(2 / math.pi) / special.erfcx(-x / math.sqrt(2))


@bprop(hazard, "elementwise", slope="finite", domain=(-2.0, 2.0))
def hazard_(x, out, dout):
    return (-dout * out * (x + out),)


@bprop(special.log_ndtr, "elementwise", slope="finite", domain=(-2.0, 2.0))
def log_ndtr(x, out, dout):
    return (dout * hazard(x),)


@bprop(special.ndtri_exp, "elementwise", domain=(-3.0, -0.2))
def ndtri_exp(y, out, dout):
    return (dout / hazard(out),)


# Owen, "Tables for computing bivariate normal probabilities" (1956).
@bprop(special.owens_t, "elementwise", domain=(-2.0, 2.0))
def owens_t(h, a, out, dout):
    dh = -dout * np.exp(-h ** 2 / 2) * special.erf(a * h / math.sqrt(2)) / (2 * ROOT_TWO_PI)
    return dh, dout * np.exp(-h ** 2 * (1 + a ** 2) / 2) / (2 * math.pi * (1 + a ** 2))
