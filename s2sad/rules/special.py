"""Functions that derivatives of NumPy's and Python's own functions need and neither library has, with their
derivatives.

All are of a whole order, so that any of them differentiates into another.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import importlib
import math
from functools import cache
from typing import Any

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import unbroadcast
from .samples import A, given

Array = Any  # a number, or any type with NumPy's protocols

__all__ = ["bessel_i", "expit", "polygamma", "sinc_derivative", "where_finite"]

QUADRATURE = 400  # points: exact to rounding for what does not overflow
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)  # of even index


@cache
def _of_scipy() -> Any:
    """SciPy's logistic function of an array; None without SciPy."""
    try:
        return importlib.import_module("scipy.special").expit
    except ImportError:
        return None


def expit(x: Any) -> Any:
    """`1 / (1 + np.exp(-x))`, without overflow.

    >>> expit(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    if type(x) is np.ndarray and (known := _of_scipy()) is not None:
        return known(x)
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, 1.0) / (1.0 + small)


@bprop(expit, "elementwise", slope="finite", domain=(-2.0, 2.0), sharing="fresh")
def expit_(x, out, dout):
    return (dout * out * (1 - out),)


def sinc_derivative(x: Array, order: int) -> Array:
    """The derivative of this order of `np.sinc`, sin(pi x) / (pi x).

    From x f = sin(pi x) / pi, differentiated n times: x f_n + n f_(n-1) = pi^(n-1) sin(pi x + n pi / 2).
    That cancels near 0, where the Taylor series is summed instead.
    """
    near = np.abs(x) < 1
    return np.where(near, _sinc_series(np.where(near, x, 0), order),
                    _sinc_recurrence(np.where(near, 1, x), order))


def _sinc_series(x: Array, order: int) -> Array:
    total = x * 0
    for k in range(30, (order + 1) // 2 - 1, -1):
        total = total * x ** 2 + (-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k - order) / (2 * k + 1)
    return total * x if order % 2 else total


def _sinc_recurrence(x: Array, order: int) -> Array:
    value = np.sinc(x)
    for n in range(1, order + 1):
        value = (math.pi ** (n - 1) * np.sin(math.pi * x + n * math.pi / 2) - n * value) / x
    return value


@bprop(sinc_derivative, "elementwise", slope="finite",
       samples=[given(A(5), 1), given(A(3, 4), 2), given(0.0, 1), given(0.0, 2), given(A(), 3)])
def sinc_derivative_(x, order, out, dout):
    return (dout * sinc_derivative(x, order + 1),)


def bessel_i(x: Array, order: int) -> Array:
    """The modified Bessel function of the first kind of a whole order, for real x.

    The mean of exp(x cos t) cos(order t) over the circle, which equidistant points give to rounding.
    """
    t = (np.arange(QUADRATURE) + 0.5) * (math.pi / QUADRATURE)
    values = np.exp(np.expand_dims(x, -1) * np.cos(t)) * np.cos(order * t)
    return np.mean(values, axis=-1).astype(getattr(x, "dtype", float))[()]


@bprop(bessel_i, "elementwise", slope="finite",
       samples=[given(A(5), 1), given(A(3, 4, dtype="float32"), 2), given(0.0, 1), given(A(), 0)])
def bessel_i_(x, order, out, dout):
    return (dout * (bessel_i(x, order - 1) + bessel_i(x, order + 1)) / 2,)


def polygamma(order: int, x: Any) -> Any:
    """The derivative of this order of the digamma function, for real x.

    Shifted up by f(x) = f(x + 1) - (-1)^n n! / x^(n + 1) to where the asymptotic series converges to
    rounding.
    """
    sign = (-1) ** (order + 1)
    total = 0.0
    while x < 15 + order:
        total += sign * math.factorial(order) / x ** (order + 1)
        x = x + 1
    series = math.factorial(order) / (2 * x ** (order + 1))
    for k, bernoulli in enumerate(BERNOULLI, 1):
        series += bernoulli * math.factorial(2 * k + order - 1) / math.factorial(2 * k) / x ** (2 * k + order)
    series += -math.log(x) if order == 0 else math.factorial(order - 1) / x ** order
    return total + sign * series


@bprop(polygamma, samples=[(0, 1.3), (0, -0.7), (1, 2.2), (2, 40.0), (3, -1.4)])
def polygamma_(order, x, out, dout):
    return None, dout * polygamma(order + 1, x)


@polygamma_.jvp
def polygamma_jvp(order, x, out, dx):
    return dx * polygamma(order + 1, x)


def where_finite(dx: Array, x: Array) -> Array:
    """`dx` where `x` is finite, else 0; for each of the parts of a complex number."""
    if np.iscomplexobj(x):
        return np.where(np.isfinite(x.real), np.real(dx), 0) + 1j * np.where(np.isfinite(x.imag),
                                                                             np.imag(dx), 0)
    return np.where(np.isfinite(x), dx, 0)


@bprop(where_finite, "linear", samples=[
    given(A(3), np.array([1.0, np.nan, np.inf])),
    given(A(2, dtype="complex128"), np.array([1 + 2j, complex(1, np.nan)]))])
def where_finite_(dx, x, out, dout):
    return unbroadcast(where_finite(dout, x), dx), None
