"""`scipy.special`: exponential and logistic functions, normalised exponentials, error functions and normal
distributions, integrals of exponentials and circular functions, entropies, penalties.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast, unreduce
from .containers import filled
from .samples import A, given

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- exponentials, logarithms, degrees

@bprop(special.expm1, "elementwise", slope="finite", domain=(-2.0, 2.0))
def expm1(x, out, dout):
    return (dout * (out + 1),)


@bprop(special.log1p, "elementwise", domain=(-0.5, 2.0))
def log1p(x, out, dout):
    return (dout / (1 + x),)


@bprop(special.exp2, "elementwise", slope="finite", domain=(-2.0, 2.0))
def exp2(x, out, dout):
    return (dout * out * math.log(2),)


@bprop(special.exp10, "elementwise", slope="finite", domain=(-2.0, 2.0))
def exp10(x, out, dout):
    return (dout * out * math.log(10),)


@bprop(special.cbrt, "elementwise", domain=(0.5, 2.0))
def cbrt(x, out, dout):
    return (dout / (3 * out ** 2),)


@bprop(special.powm1, "elementwise", domain=(0.5, 2.0))
def powm1(x, y, out, dout):
    return dout * y * x ** (y - 1), dout * (out + 1) * np.log(x)


@bprop(special.cosm1, "elementwise", slope="finite", domain=(-2.0, 2.0))
def cosm1(x, out, dout):
    return (-dout * np.sin(x),)


@bprop(special.sindg, "elementwise", slope="finite", domain=(-90.0, 90.0))
def sindg(x, out, dout):
    return (np.radians(dout) * special.cosdg(x),)


@bprop(special.cosdg, "elementwise", slope="finite", domain=(-90.0, 90.0))
def cosdg(x, out, dout):
    return (-np.radians(dout) * special.sindg(x),)


@bprop(special.tandg, "elementwise", domain=(-60.0, 60.0))
def tandg(x, out, dout):
    return (np.radians(dout) * (1 + out ** 2),)


@bprop(special.cotdg, "elementwise", domain=(30.0, 60.0))
def cotdg(x, out, dout):
    return (-np.radians(dout) * (1 + out ** 2),)


# (exp(x) - 1) / x is Kummer's function 1F1(1; 2; x), which has derivatives of every order at 0.
@bprop(special.exprel, "elementwise", slope="finite", domain=(-2.0, 2.0))
def exprel(x, out, dout):
    return (dout * special.hyp1f1(2, 3, x) / 2,)


@bprop(special.lambertw, "elementwise", refused=["k"], widens=True,
       samples=[given(A(3, low=0.5)), given(A(2, dtype="complex128")), given(-0.2, -1), given(0.0)])
def lambertw(z, k=0, tol=1e-8, *, out, dout):
    return (dout * np.exp(-out) / (1 + out),)


@bprop(special.wrightomega, "elementwise", domain=(-2.0, 2.0))
def wrightomega(z, out, dout):
    return (dout * out / (1 + out),)


# ---------------------------------------------------------------- logistic function, normalised exponentials

@bprop(special.expit, "elementwise", slope="finite", domain=(-2.0, 2.0))
def expit(x, out, dout):
    return (dout * out * (1 - out),)


@bprop(special.logit, "elementwise", domain=(0.2, 0.8))
def logit(x, out, dout):
    return (dout / (x * (1 - x)),)


@bprop(special.log_expit, "elementwise", slope="finite", domain=(-2.0, 2.0))
def log_expit(x, out, dout):
    return (dout * special.expit(-x),)


ALONG = [given(A(4)), given(A(2, 3), axis=1), given(A(2, 3, 2), axis=(0, -1)), given(A(2, 3)),
         given(A(2, 3, dtype="float32"), axis=0)]


@bprop(special.softmax, runs=True, samples=ALONG)
def softmax(x, axis=None, *, out, dout):
    return (unbroadcast(out * (dout - np.sum(dout * out, axis=axis, keepdims=True)), x),)


@softmax.jvp
def softmax_jvp(axis, out, dx):
    return unbroadcast(out * (dx - np.sum(dx * out, axis=axis, keepdims=True)), out)


@bprop(special.log_softmax, runs=True, samples=ALONG)
def log_softmax(x, axis=None, *, out, dout):
    return (unbroadcast(dout - np.exp(out) * np.sum(dout, axis=axis, keepdims=True), x),)


@log_softmax.jvp
def log_softmax_jvp(axis, out, dx):
    return unbroadcast(dx - np.sum(np.exp(out) * dx, axis=axis, keepdims=True), out)


def finite(out: Array) -> Array:
    """A logarithm, and 0 for that of zero: what divides nothing into shares."""
    return np.where(np.isfinite(out), out, 0)


@bprop(special.logsumexp, runs=True, samples=[
    *ALONG, given(A()), given(A(2, 3), axis=1, keepdims=True), given(A(2, 3), 1, A(3, low=0.5)),
    given(A(4), b=A(4, low=0.5)), given(A(2, 2, dtype="complex128"), 0)])
def logsumexp(a, axis=None, b=None, keepdims=False, *, out, dout):
    if b is None and axis is None:
        return dout * np.exp(a - finite(out)), None, None
    if b is None:
        kept = unreduce(finite(out), a, axis, keepdims)
        return unreduce(dout, a, axis, keepdims) * np.exp(a - kept), None, None
    wide = a + 0 * b
    shares = unreduce(dout, wide, axis, keepdims) * np.exp(a - unreduce(finite(out), wide, axis, keepdims))
    return unbroadcast(shares * b, a), None, unbroadcast(shares, b)


@logsumexp.jvp
def logsumexp_jvp(a, axis, b, keepdims, out, da, db):
    if b is None:
        shares = np.exp(a - unreduce(finite(out), a, axis, keepdims))
        return np.sum(da * shares, axis=axis, keepdims=keepdims)
    shares = np.exp(a - unreduce(finite(out), a + 0 * b, axis, keepdims))
    return np.sum((da * b + db) * shares, axis=axis, keepdims=keepdims)


# ---------------------------------------------------------------- integrals

@bprop(special.expi, "elementwise", domain=(0.5, 2.0))
def expi(x, out, dout):
    return (dout * np.exp(x) / x,)


@bprop(special.exp1, "elementwise", domain=(0.5, 2.0))
def exp1(z, out, dout):
    return (-dout * np.exp(-z) / z,)


# The function of order -1, which is the derivative of that of order 0, is elementary.
@bprop(special.expn, "elementwise", refused=["n"], samples=[
    given(2, A(3, low=0.5)), given(np.array([0, 1, 3]), A(3, low=0.5)), given(1, 0.7)])
def expn(n, x, out, dout):
    before = np.where(n == 0, np.exp(-x) * (1 + 1 / x) / x, special.expn(np.maximum(n - 1, 0), x))
    return None, -dout * before


# log(z) / (1 - z), without a quotient of zeros at 1.
@bprop(special.spence, "elementwise", samples=[
    given(A(3, low=0.5)), given(1.0), given(A(2, 2, dtype="float32", low=0.5))])
def spence(z, out, dout):
    return (-dout / special.exprel(np.log(z)),)


PAIR = [given(A(3, low=0.5)), given(0.7), given(A(2, 2, dtype="float32", low=0.5))]


def quotient(x: Array, y: Array) -> Array:
    """`x / y`, and 0 where both are 0."""
    return x / np.where((x == 0) & (y == 0), 1, y)


# Of the second of these integrals the slope at 0 is infinite, which is not to reach the first one's.
@bprop(special.sici, samples=PAIR)
def sici(x, out, dout):
    d = filled(dout, out)
    return (unbroadcast(d[0] * np.sinc(x / math.pi) + quotient(d[1] * np.cos(x), x), x),)


@sici.jvp
def sici_jvp(x, out, dx):
    return unbroadcast(dx * np.sinc(x / math.pi), out[0]), unbroadcast(dx * np.cos(x) / x, out[1])


def sinhc(x: Array) -> Array:
    """`sinh(x) / x`: exp(-x) times the exponential function relative to 2 x, which is finite at 0; as that of
    -x where `exp(2 x)` would overflow first.
    """
    x = np.where(x > 0, -x, x)
    return np.exp(-x) * special.exprel(2 * x)


@bprop(special.shichi, samples=PAIR)
def shichi(x, out, dout):
    d = filled(dout, out)
    return (unbroadcast(d[0] * sinhc(x) + quotient(d[1] * np.cosh(x), x), x),)


@shichi.jvp
def shichi_jvp(x, out, dx):
    return unbroadcast(dx * sinhc(x), out[0]), unbroadcast(dx * np.cosh(x) / x, out[1])


@bprop(special.fresnel, samples=[*PAIR, given(A(2, dtype="complex128"))])
def fresnel(z, out, dout):
    d = filled(dout, out)
    angle = math.pi / 2 * z ** 2
    return (unbroadcast(d[0] * np.sin(angle) + d[1] * np.cos(angle), z),)


@fresnel.jvp
def fresnel_jvp(z, out, dz):
    angle = math.pi / 2 * z ** 2
    return unbroadcast(dz * np.sin(angle), out[0]), unbroadcast(dz * np.cos(angle), out[1])


# ---------------------------------------------------------------- entropies, penalties, transformations

# Where both arguments are zero, so are these functions, and the gradient of the second argument.
@bprop(special.xlogy, "elementwise", domain=(0.5, 2.0))
def xlogy(x, y, out, dout):
    return special.xlogy(dout, y), dout * quotient(x, y)


@bprop(special.xlog1py, "elementwise", domain=(0.5, 2.0))
def xlog1py(x, y, out, dout):
    return special.xlog1py(dout, y), dout * quotient(x, 1 + y)


@bprop(special.entr, "elementwise", domain=(0.5, 2.0))
def entr(x, out, dout):
    return (-dout * (np.log(x) + 1),)


@bprop(special.rel_entr, "elementwise", domain=(0.5, 2.0))
def rel_entr(x, y, out, dout):
    return dout * (np.log(x / y) + 1), -dout * quotient(x, y)


@bprop(special.kl_div, "elementwise", domain=(0.5, 2.0))
def kl_div(x, y, out, dout):
    return dout * np.log(x / y), dout * (1 - quotient(x, y))


@bprop(special.huber, "elementwise", slope="finite", domain=((0.5, 1.0), (-2.0, 2.0)))
def huber(delta, r, out, dout):
    return dout * np.maximum(np.abs(r) - delta, 0), dout * np.clip(r, -delta, delta)


@bprop(special.pseudo_huber, "elementwise", domain=((0.5, 1.0), (-2.0, 2.0)))
def pseudo_huber(delta, r, out, dout):
    ddelta = dout * (out / delta) ** 2 / (delta + out / delta)
    return ddelta, dout * r / (1 + out / delta ** 2)


# With t = log(x) the transformation is t exprel(lmbda t), so its derivative by lmbda is t^2 exprel'(lmbda t).
def transformed_by_power(t: Array, lmbda: Array) -> Array:
    """The derivative by `lmbda` of (exp(lmbda t) - 1) / lmbda, also at 0."""
    return t ** 2 * special.hyp1f1(2, 3, lmbda * t) / 2


@bprop(special.boxcox, "elementwise", domain=((0.5, 2.0), (-1.0, 1.0)))
def boxcox(x, lmbda, out, dout):
    return dout * x ** (lmbda - 1), dout * transformed_by_power(np.log(x), lmbda)


@bprop(special.boxcox1p, "elementwise", domain=((-0.5, 2.0), (-1.0, 1.0)))
def boxcox1p(x, lmbda, out, dout):
    return dout * (1 + x) ** (lmbda - 1), dout * transformed_by_power(np.log1p(x), lmbda)


@bprop(special.inv_boxcox, "elementwise", domain=((-0.5, 0.5), (-1.0, 1.0)))
def inv_boxcox(y, lmbda, out, dout):
    dy = dout * out ** (1 - lmbda)
    return dy, -dy * transformed_by_power(np.log(out), lmbda)


@bprop(special.inv_boxcox1p, "elementwise", domain=((-0.5, 0.5), (-1.0, 1.0)))
def inv_boxcox1p(y, lmbda, out, dout):
    dy = dout * (1 + out) ** (1 - lmbda)
    return dy, -dy * transformed_by_power(np.log1p(out), lmbda)
