"""The functions of `math`, for real numbers. What is of Python floats alone stays free of NumPy."""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
import sys

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import zeros_like
from ..runtime.builtin_reductions import gather, spread
from .containers import filled, nested_like
from .reductions import product_of_others
from .special import polygamma

# ---------------------------------------------------------------- roots, exponentials, logarithms

@bprop(math.sqrt, "elementwise", domain=(0.5, 2.0))
def sqrt(x, out, dout):
    return (dout / (2 * out),)


@bprop(math.cbrt, "elementwise", domain=(-2.0, -0.5))
def cbrt(x, out, dout):
    return (dout / (3 * out ** 2),)


@bprop(math.exp, "elementwise", slope="finite", scaling="exp", domain=(-2.0, 2.0))
def exp(x, out, dout):
    return (dout * out,)


@bprop(math.exp2, "elementwise", slope="finite", domain=(-2.0, 2.0))
def exp2(x, out, dout):
    return (dout * out * math.log(2),)


@bprop(math.expm1, "elementwise", slope="finite", domain=(-2.0, 2.0))
def expm1(x, out, dout):
    return (dout * (out + 1),)


@bprop(math.pow, "elementwise", domain=(0.5, 2.0))
def pow_(x, y, out, dout):
    return dout * y * x ** (y - (y != 0)), dout * out * math.log(x + (x == 0))


@bprop(math.log, "elementwise", scaling="log", samples=[(1.7,), (1.7, 2.5)])
def log(x, base=None, /, *, out, dout):
    if base is None:
        return dout / x, None
    return dout / (x * math.log(base)), -dout * out / (base * math.log(base))


@bprop(math.log2, "elementwise", domain=(0.5, 2.0))
def log2(x, out, dout):
    return (dout / (x * math.log(2)),)


@bprop(math.log10, "elementwise", domain=(0.5, 2.0))
def log10(x, out, dout):
    return (dout / (x * math.log(10)),)


@bprop(math.log1p, "elementwise", domain=(-0.5, 2.0))
def log1p(x, out, dout):
    return (dout / (1 + x),)


# ---------------------------------------------------------------- circular and hyperbolic functions

@bprop(math.sin, "elementwise", slope="finite", domain=(-3.0, 3.0))
def sin(x, out, dout):
    return (dout * math.cos(x),)


@bprop(math.cos, "elementwise", slope="finite", domain=(-3.0, 3.0))
def cos(x, out, dout):
    return (-dout * math.sin(x),)


@bprop(math.tan, "elementwise", slope="finite", domain=(-1.0, 1.0))
def tan(x, out, dout):
    return (dout * (1 + out ** 2),)


@bprop(math.asin, "elementwise", domain=(-0.8, 0.8))
def asin(x, out, dout):
    return (dout / math.sqrt(1 - x ** 2),)


@bprop(math.acos, "elementwise", domain=(-0.8, 0.8))
def acos(x, out, dout):
    return (-dout / math.sqrt(1 - x ** 2),)


@bprop(math.atan, "elementwise", slope="finite", domain=(-0.8, 0.8))
def atan(x, out, dout):
    return (dout / (1 + x ** 2),)


@bprop(math.atan2, "elementwise", domain=(0.5, 2.0))
def atan2(y, x, out, dout):
    return dout * x / (x ** 2 + y ** 2), -dout * y / (x ** 2 + y ** 2)


@bprop(math.sinh, "elementwise", slope="finite", domain=(-2.0, 2.0))
def sinh(x, out, dout):
    return (dout * math.cosh(x),)


@bprop(math.cosh, "elementwise", slope="finite", domain=(-2.0, 2.0))
def cosh(x, out, dout):
    return (dout * math.sinh(x),)


@bprop(math.tanh, "elementwise", slope="finite", domain=(-1.0, 1.0))
def tanh(x, out, dout):
    return (dout * (1 - out ** 2),)


@bprop(math.asinh, "elementwise", slope="finite", domain=(-0.8, 0.8))
def asinh(x, out, dout):
    return (dout / math.sqrt(x ** 2 + 1),)


@bprop(math.acosh, "elementwise", domain=(1.5, 3.0))
def acosh(x, out, dout):
    return (dout / math.sqrt(x ** 2 - 1),)


@bprop(math.atanh, "elementwise", domain=(-0.8, 0.8))
def atanh(x, out, dout):
    return (dout / (1 - x ** 2),)


@bprop(math.degrees, "elementwise", slope="constant", domain=(-3.0, 3.0))
def degrees(x, out, dout):
    return (math.degrees(dout),)


@bprop(math.radians, "elementwise", slope="constant", domain=(-180.0, 180.0))
def radians(x, out, dout):
    return (math.radians(dout),)


# ---------------------------------------------------------------- error and gamma functions

@bprop(math.erf, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erf(x, out, dout):
    return (dout * 2 / math.sqrt(math.pi) * math.exp(-x ** 2),)


@bprop(math.erfc, "elementwise", slope="finite", domain=(-2.0, 2.0))
def erfc(x, out, dout):
    return (-dout * 2 / math.sqrt(math.pi) * math.exp(-x ** 2),)


@bprop(math.gamma, "elementwise", domain=(-0.9, -0.1))
def gamma(x, out, dout):
    return (dout * out * polygamma(0, x),)


@bprop(math.lgamma, "elementwise", domain=(0.5, 30.0))
def lgamma(x, out, dout):
    return (dout * polygamma(0, x),)


# ---------------------------------------------------------------- magnitudes, remainders, parts

# A truth value counts as 1: the sign of x is that of `copysign(1, x)`, and 0 at 0.
@bprop(math.fabs, "elementwise", slope="finite", domain=(-2.0, 2.0))
def fabs(x, out, dout):
    return (dout * math.copysign(x != 0, x),)


@bprop(math.copysign, "elementwise", slope="finite", domain=(-2.0, 2.0))
def copysign(x, y, out, dout):
    return dout * math.copysign(x != 0, x) * math.copysign(1, y), None


@bprop(math.nextafter, "elementwise", slope="finite", domain=(-2.0, 2.0))
def nextafter(x, y, out, dout):
    return dout, None


@bprop(math.fmod, math.remainder, "elementwise", domain=((-3.9, -3.1), (0.8, 0.95)))
def fmod(x, y, out, dout):
    return dout, dout * (out - x) / y


@bprop(math.modf, samples=[(1.7,), (-2.2,)])
def modf(x, out, dout):
    return (dout[0],)


@modf.jvp
def modf_jvp(out, dx):
    return dx, zeros_like(out[1])


@bprop(math.frexp, samples=[(2.7,), (-0.2,)])
def frexp(x, out, dout):
    return (math.ldexp(dout[0], -out[1]),)


@frexp.jvp
def frexp_jvp(out, dx):
    return math.ldexp(dx, -out[1]), None


@bprop(math.ldexp, "elementwise", slope="finite", samples=[(1.3, 4), (-0.7, -2)])
def ldexp(x, i, out, dout):
    return math.ldexp(dout, i), None


# ---------------------------------------------------------------- of several numbers

def planar_hypot(x, y):
    """`math.hypot` of two numbers."""
    return math.hypot(x, y)


# Where the result is 0 there is no slope, and the quotient is 0 / 1.
@bprop(planar_hypot, "elementwise", slope="finite", samples=[(3.0, 4.0), (-1.0, 0.5)])
def hypot_of_two(x, y, out, dout):
    return dout * x / (out + (out == 0)), dout * y / (out + (out == 0))


@bprop(math.hypot, samples=[(3.0, 4.0), (1.0, -2.0, 0.5), (1.5,)])
def hypot(*coordinates, out, dout):
    return (nested_like(dout / (out + (out == 0)) * np.array(coordinates), coordinates),)


@hypot.jvp
def hypot_jvp(*coordinates, out, dcoordinates):
    dx = np.array(filled(dcoordinates, coordinates))
    return float(np.sum(np.array(coordinates) * dx)) / (out + (out == 0))


@bprop(math.dist, samples=[((1.0, 2.0), [0.5, -1.0]), ([3.0], [1.0])])
def dist(p, q, out, dout):
    dp = dout / (out + (out == 0)) * (np.array(p) - np.array(q))
    return nested_like(dp, p), nested_like(-dp, q)


@dist.jvp
def dist_jvp(p, q, out, dp, dq):
    dx = np.array(filled(dp, p)) - np.array(filled(dq, q))
    return float(np.sum((np.array(p) - np.array(q)) * dx)) / (out + (out == 0))


@bprop(math.fsum, samples=[([1.0, 2.5, -1.0],), ((0.5, 2),)])
def fsum(xs, out, dout):
    return (spread(dout, xs),)


@fsum.jvp
def fsum_jvp(out, dxs):
    return gather(dxs, out)


@bprop(math.prod, sharing="unknown",
    samples=[([1.0, 2.5, -1.0],), ((0.5, 0.0, 3.0),), (([1.5, 2.0],), {"start": 0.5})])
def prod(xs, *, start=1, out, dout):
    return nested_like(dout * start * product_of_others(np.array(xs), None), xs), dout * math.prod(xs)


@prod.jvp
def prod_jvp(xs, start, out, dxs, dstart):
    change = np.sum(product_of_others(np.array(xs), None) * np.array(filled(dxs, xs)))
    return float(start * change + dstart * math.prod(xs))


if sys.version_info >= (3, 12):
    @bprop(math.sumprod, samples=[([1.0, 2.5], [0.5, -1.0])])
    def sumprod(p, q, out, dout):
        return nested_like(dout * np.array(q), p), nested_like(dout * np.array(p), q)

    @sumprod.jvp
    def sumprod_jvp(p, q, out, dp, dq):
        return float(np.sum(np.array(filled(dp, p)) * np.array(q) + np.array(p) * np.array(filled(dq, q))))


if sys.version_info >= (3, 13):
    @bprop(math.fma, "elementwise", domain=(-2.0, 2.0))
    def fma(x, y, z, out, dout):
        return dout * y, dout * x, dout


nondifferentiable([
    math.ceil, math.floor, math.trunc, math.comb, math.factorial, math.gcd, math.isclose, math.isfinite,
    math.isinf, math.isnan, math.isqrt, math.lcm, math.perm, math.ulp,
])
