"""Elementwise functions of NumPy: exponentials, circular and hyperbolic functions, complex parts, choices.

Templates say nothing of broadcasting or dtypes: the transforms add that. Complex derivatives follow one
convention: a cotangent is multiplied by f'(x), without conjugation, and a real part is taken where an
argument is real.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..primitives.record import Sharing, bprop
from ..runtime.adjoints import broadcast_like, unbroadcast
from .choices import halved_where
from .samples import A, given, since
from .special import bessel_i, expit, sinc_derivative, where_finite

# ---------------------------------------------------------------- roots, exponentials, logarithms

@bprop(np.sqrt, "elementwise", domain=(0.5, 2.0))
def sqrt(x, out, dout):
    return (dout / (2 * out),)


@bprop(np.cbrt, "elementwise", domain=(-2.0, -0.5))
def cbrt(x, out, dout):
    return (dout / (3 * out ** 2),)


@bprop(np.exp, "elementwise", slope="finite", scaling="exp", domain=(-2.0, 2.0))
def exp(x, out, dout):
    return (dout * out,)


@bprop(np.exp2, "elementwise", slope="finite", domain=(-2.0, 2.0))
def exp2(x, out, dout):
    return (dout * out * math.log(2),)


@bprop(np.expm1, "elementwise", slope="finite", domain=(-2.0, 2.0))
def expm1(x, out, dout):
    return (dout * (out + 1),)


@bprop(np.log, "elementwise", scaling="log", domain=(0.5, 2.0))
def log(x, out, dout):
    return (dout / x,)


@bprop(np.log2, "elementwise", domain=(0.5, 2.0))
def log2(x, out, dout):
    return (dout / (x * math.log(2)),)


@bprop(np.log10, "elementwise", domain=(0.5, 2.0))
def log10(x, out, dout):
    return (dout / (x * math.log(10)),)


@bprop(np.log1p, "elementwise", domain=(-0.5, 2.0))
def log1p(x, out, dout):
    return (dout / (1 + x),)


@bprop(np.logaddexp, "elementwise", slope="finite", domain=(-2.0, 2.0))
def logaddexp(x, y, out, dout):
    return dout * expit(x - y), dout * expit(y - x)


@bprop(np.logaddexp2, "elementwise", slope="finite", domain=(-2.0, 2.0))
def logaddexp2(x, y, out, dout):
    return dout * np.exp2(x - out), dout * np.exp2(y - out)


# ---------------------------------------------------------------- circular and hyperbolic functions

@bprop(np.sin, "elementwise", slope="finite", domain=(-3.0, 3.0))
def sin(x, out, dout):
    return (dout * np.cos(x),)


@bprop(np.cos, "elementwise", slope="finite", domain=(-3.0, 3.0))
def cos(x, out, dout):
    return (-dout * np.sin(x),)


@bprop(np.tan, "elementwise", slope="finite", domain=(-1.0, 1.0))
def tan(x, out, dout):
    return (dout * (1 + out ** 2),)


# Two roots, and the sign taken last: on their branch cuts, complex numbers are on the side that the zeros of
# their imaginary parts tell.
@bprop(np.arcsin, "elementwise", domain=(-0.8, 0.8))
def arcsin(x, out, dout):
    return (dout / (np.sqrt(-(x - 1)) * np.sqrt(-(-x - 1))),)


@arcsin.for_reals
def arcsin_of_reals(x, out, dout):
    return (dout / np.sqrt(1 - x ** 2),)


@bprop(np.arccos, "elementwise", domain=(-0.8, 0.8))
def arccos(x, out, dout):
    return (-dout / (np.sqrt(-(x - 1)) * np.sqrt(-(-x - 1))),)


@arccos.for_reals
def arccos_of_reals(x, out, dout):
    return (-dout / np.sqrt(1 - x ** 2),)


@bprop(np.arctan, "elementwise", slope="finite", domain=(-0.8, 0.8))
def arctan(x, out, dout):
    return (dout / (1 + x ** 2),)


@bprop(np.arctan2, "elementwise", domain=(0.5, 2.0))
def arctan2(y, x, out, dout):
    return dout * x / (x ** 2 + y ** 2), -dout * y / (x ** 2 + y ** 2)


# A truth value counts as 1: at the origin, where there is no slope, the quotient is 0 / 1.
@bprop(np.hypot, "elementwise", slope="finite", domain=(-2.0, 2.0))
def hypot(x, y, out, dout):
    return dout * x / (out + (out == 0)), dout * y / (out + (out == 0))


@bprop(np.sinh, "elementwise", slope="finite", domain=(-2.0, 2.0))
def sinh(x, out, dout):
    return (dout * np.cosh(x),)


@bprop(np.cosh, "elementwise", slope="finite", domain=(-2.0, 2.0))
def cosh(x, out, dout):
    return (dout * np.sinh(x),)


@bprop(np.tanh, "elementwise", slope="finite", domain=(-1.0, 1.0))
def tanh(x, out, dout):
    return (dout * (1 - out ** 2),)


@bprop(np.arcsinh, "elementwise", slope="finite", domain=(-0.8, 0.8))
def arcsinh(x, out, dout):
    return (dout / np.sqrt(x ** 2 + 1),)


# Two roots: that of x ** 2 - 1 is another branch in half of the complex plane.
@bprop(np.arccosh, "elementwise", domain=(1.5, 3.0))
def arccosh(x, out, dout):
    return (dout / (np.sqrt(x - 1) * np.sqrt(x + 1)),)


@bprop(np.arctanh, "elementwise", domain=(-0.8, 0.8))
def arctanh(x, out, dout):
    return (dout / (1 - x ** 2),)


@bprop(np.degrees, np.rad2deg, "elementwise", slope="constant", domain=(-3.0, 3.0))
def degrees(x, out, dout):
    return (np.degrees(dout),)


@bprop(np.radians, np.deg2rad, "elementwise", slope="constant", domain=(-180.0, 180.0))
def radians(x, out, dout):
    return (np.radians(dout),)


@bprop(np.unwrap, "elementwise", slope="finite", samples=[
    given(A(5)), given(A(3, 4), axis=0), given(A(5), 4.0), given(A(5, low=-9.0, high=9.0), period=3.0)])
def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi, out, dout):
    return (dout,)


@bprop(np.sinc, "elementwise", slope="finite", domain=(-2.0, 2.0))
def sinc(x, out, dout):
    return (dout * sinc_derivative(x, 1),)


@bprop(np.i0, "elementwise", slope="finite", domain=(-3.0, 3.0))
def i0(x, out, dout):
    return (dout * bessel_i(x, 1),)


# ---------------------------------------------------------------- parts of complex numbers

def conjugate_sharing(operation: Any) -> Sharing:
    """The method gives a real array itself, the function a copy."""
    return "fresh" if getattr(operation.node, "args", ()) else "maybe"


@bprop(np.conjugate, "elementwise", slope="finite", sharing=conjugate_sharing, domain=(-2.0, 2.0))
def conjugate(x, out, dout):
    return (np.conj(dout),)


@conjugate.for_reals
def conjugate_reals(x, out, dout):
    return (dout,)


# The result is real for all arguments, so these rules call `unbroadcast` themselves.
@bprop(np.real, "linear", sharing="maybe", domain=(-2.0, 2.0))
def real(x, out, dout):
    return (unbroadcast(dout, x),)


@real.for_reals
def real_reals(x, out, dout):
    return (dout,)


@bprop(np.imag, "linear", sharing="unknown", steady=True, domain=(-2.0, 2.0))
def imag(x, out, dout):
    return (unbroadcast(-1j * dout, x),)


@imag.for_reals
def imag_reals(x, out, dout):
    return (None,)


@bprop(np.angle, samples=[
    given(A(3, dtype="complex128")), given(A(3)), given(A(3, dtype="complex128"), deg=True)])
def angle(z, deg=False, *, out, dout):
    if deg:
        return (unbroadcast(-1j * np.degrees(dout) / z, z),)
    return (unbroadcast(-1j * dout / z, z),)


@angle.jvp
def angle_jvp(z, deg, out, dz):
    if deg:
        return np.degrees(np.imag(dz / z))
    return np.imag(dz / z)


@angle.for_reals
def angle_reals(z, deg=False, *, out, dout):
    return (None,)


# The result is real where the parts that would be lost are small, so this says `unbroadcast` itself.
@bprop(np.real_if_close, moves=True, runs=False, sharing="unknown", samples=[
    given(A(3)), given(A(3, dtype="complex128")), given(A(3, dtype="complex128"), tol=10)])
def real_if_close(a, tol=100, *, out, dout):
    return (unbroadcast(dout, a),)


@real_if_close.jvp
def real_if_close_jvp(out, da):
    return broadcast_like(da, out)


# ---------------------------------------------------------------- choices

@bprop(np.where, "elementwise", slope="finite", runs=False, scaling="where", samples=[
    given(np.array([True, False, True]), A(3), A(3)), given(np.array([[True], [False]]), A(3), A()),
    given(True, 1.5, A(2)),
    given(np.array([True, False]), A(2, dtype="complex128"), 0.5),
    given(np.array([1, 0]), A(2, dtype="float32"), A(2))])
def where(condition, x, y, out, dout):
    return None, np.where(condition, dout, 0), np.where(condition, 0, dout)


# Equal arguments share the cotangent evenly.
@bprop(np.maximum, "elementwise", slope="finite", domain=(-2.0, 2.0))
def maximum(x, y, out, dout):
    return (
        np.where(x >= y, halved_where(x == y, dout), 0),
        np.where(y >= x, halved_where(x == y, dout), 0),
    )


@bprop(np.minimum, "elementwise", slope="finite", domain=(-2.0, 2.0))
def minimum(x, y, out, dout):
    return (
        np.where(x <= y, halved_where(x == y, dout), 0),
        np.where(y <= x, halved_where(x == y, dout), 0),
    )


# These pass over NaN, which no comparison says: the one that was chosen is equal to the result.
@bprop(np.fmax, np.fmin, "elementwise", slope="finite", domain=(-2.0, 2.0))
def fmax(x, y, out, dout):
    return (
        np.where(x == out, halved_where(x == y, dout), 0),
        np.where(y == out, halved_where(x == y, dout), 0),
    )


# As the minimum of `a_max` and the maximum of `a_min` and `a`; a bound may be None, which is equal to
# nothing.
@bprop(np.clip, "elementwise", slope="finite", samples=[
    given(A(6), -0.5, 0.5), given(A(6), None, 0.5), given(A(6), 0.1, None), given(A(2, 3), A(3), A(2, 1)),
    given(A(), 0.5, -0.5),
    *since("2.1", given(A(5), min=-0.5), given(A(2, 3), min=A(3), max=0.9)),
    given(0.3, -0.5, 0.5), given(A(5, dtype="float32"), A(5, dtype="float32"), 0.7)])
def clip(a, a_min=None, a_max=None, *, min=None, max=None, out, dout):
    if min is None and max is not None:
        da = np.where(a == out, halved_where(a == max, dout), 0)
        return da, None, None, None, np.where(max == out, halved_where(a == max, dout), 0)
    if min is not None and max is None:
        da = np.where(a == out, halved_where(a == min, dout), 0)
        return da, None, None, np.where(min == out, halved_where(a == min, dout), 0), None
    if min is not None or max is not None:
        da = np.where(a == out, halved_where((a == min) | (a == max), dout), 0)
        dmin = np.where(min == out, halved_where((a == min) | (min == max), dout), 0)
        dmax = np.where(max == out, halved_where((a == max) | (min == max), dout), 0)
        return da, None, None, dmin, dmax
    if a_max is None:
        da = np.where(a == out, halved_where(a == a_min, dout), 0)
        return da, np.where(a_min == out, halved_where(a == a_min, dout), 0), None, None, None
    if a_min is None:
        da = np.where(a == out, halved_where(a == a_max, dout), 0)
        return da, None, np.where(a_max == out, halved_where(a == a_max, dout), 0), None, None
    da = np.where(a == out, halved_where((a == a_min) | (a == a_max), dout), 0)
    da_min = np.where(a_min == out, halved_where((a == a_min) | (a_min == a_max), dout), 0)
    da_max = np.where(a_max == out, halved_where((a == a_max) | (a_min == a_max), dout), 0)
    return da, da_min, da_max, None, None


@bprop(np.nan_to_num, "elementwise", slope="finite", sharing={"copy": "maybe"}, writes={"copy": (0,)},
       samples=[
    given(np.array([1.0, np.nan, np.inf, -2.0])),
    given(np.array([1.0 + 2j, complex(np.nan, 1.0), complex(1.0, np.inf)])),
    given(np.array([1.0, np.nan, np.inf, -np.inf]), nan=2.0, posinf=9.0, neginf=-9.0)])
def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None, out, dout):
    return (where_finite(dout, x),)


@nan_to_num.for_reals
def nan_to_num_reals(x, *, nan=0.0, posinf=None, neginf=None, out, dout):
    return (np.where(np.isfinite(x), dout, 0),)
