"""Covariances and correlations."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import broadcast_like, unbroadcast
from .matrices import adjoint, diagonal_matrices, transposed
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def in_rows(m: Array, rowvar: bool) -> Array:
    """Variables as rows of observations."""
    rows = np.atleast_2d(m)
    return rows if rowvar or np.shape(rows)[0] == 1 else transposed(rows)


def stacked(m: Array, y: Any, rowvar: bool) -> Array:
    """The variables of `m`, and below them those of `y`."""
    if y is None:
        return in_rows(m, rowvar)
    return np.concatenate([in_rows(m, rowvar), in_rows(y, rowvar)])


def from_rows(d: Array, m: Array, rowvar: bool) -> Array:
    """The cotangent of variables from that of their rows."""
    wide = np.shape(np.atleast_2d(m))
    return unbroadcast(np.reshape(d if rowvar or wide[0] == 1 else transposed(d), np.shape(m)), m)


def observation_weights(rows: Array, fweights: Any, aweights: Any) -> Array:
    """How much each observation counts."""
    weights = np.ones(np.shape(rows)[1])
    if fweights is not None:
        weights = weights * fweights
    return weights if aweights is None else weights * np.asarray(aweights)


def covariance_scale(w: Array, bias: bool, ddof: Any, aweights: Any) -> Any:
    """What the weighted sum of products of deviations is divided by."""
    if ddof is None:
        ddof = 0 if bias else 1
    total = np.sum(w)
    if ddof == 0 or aweights is None:
        return total - ddof
    return total - ddof * np.sum(w * aweights) / total


def centred(rows: Array, w: Array) -> Array:
    """Rows less their weighted means."""
    return rows - np.expand_dims(rows @ w / np.sum(w), -1)


def as_square(d: Array, n: int) -> Array:
    """The cotangent of a covariance matrix, also of that of one variable, which is a number."""
    return np.reshape(d, (n, n))


def as_result(change: Array, out: Array) -> Array:
    """The tangent of a covariance matrix, also of that of one variable, which is a number."""
    return np.sum(change) if np.ndim(out) == 0 else change


def covariance_grads(
    d: Array, m: Array, y: Any, rowvar: bool, bias: bool, ddof: Any, fweights: Any, aweights: Any
) -> tuple[Array, Any, Any]:
    """The cotangents of the variables and of the weights of `np.cov`."""
    rows = stacked(m, y, rowvar)
    w = observation_weights(rows, fweights, aweights)
    x = centred(rows, w)
    d = as_square(d, np.shape(rows)[0])
    half = d / covariance_scale(w, bias, ddof, aweights)
    drows = w * (half @ np.conj(x) + np.conj(transposed(half) @ x))
    n = np.shape(in_rows(m, rowvar))[0]
    dm = from_rows(drows[:n], m, rowvar)
    dy = None if y is None else from_rows(drows[n:], y, rowvar)
    return dm, dy, None if aweights is None else aweights_dx(d, x, w, bias, ddof, fweights, aweights)


def scale_slope(w: Array, dw: Array, bias: bool, ddof: Any, aweights: Array) -> Array:
    """For each observation what the scale of covariances changes by with its weight in `aweights`; `dw` is
    what `w` changes by.
    """
    if ddof is None:
        ddof = 0 if bias else 1
    total = np.sum(w)
    return dw * (1 - ddof * (2 * aweights - np.sum(w * aweights) / total) / total)


def aweights_dx(d: Array, x: Array, w: Array, bias: bool, ddof: Any, fweights: Any, aweights: Any) -> Array:
    """The cotangent of the weights in `np.cov`; `x` are the deviations, `d` that of the covariances."""
    a = np.asarray(aweights)
    dw = observation_weights(x, fweights, None)
    scale = covariance_scale(w, bias, ddof, a)
    products = np.real(np.sum(x * (d @ np.conj(x)), axis=0))
    share = np.sum(w * products) / scale
    return unbroadcast((dw * products - share * scale_slope(w, dw, bias, ddof, a)) / scale, aweights)


def aweights_change(
    da: Array, x: Array, w: Array, bias: bool, ddof: Any, fweights: Any, aweights: Any
) -> Array:
    """The tangent of `np.cov` from that of the weights; `x` are the deviations."""
    a = np.asarray(aweights)
    dw = observation_weights(x, fweights, None)
    scale = covariance_scale(w, bias, ddof, a)
    share = np.sum(scale_slope(w, dw, bias, ddof, a) * da) / scale
    return (x * (dw * da - share * w)) @ adjoint(x) / scale


def covariance_tangent(
    dm: Array,
    dy: Any,
    da: Any,
    m: Array,
    y: Any,
    rowvar: bool,
    bias: bool,
    ddof: Any,
    fweights: Any,
    aweights: Any,
) -> Array:
    """The tangent of `np.cov` as a matrix."""
    rows, change = stacked(m, y, rowvar), stacked(dm, dy, rowvar)
    w = observation_weights(rows, fweights, aweights)
    x = centred(rows, w)
    half = (change * w) @ adjoint(x)
    moved = (half + adjoint(half)) / covariance_scale(w, bias, ddof, aweights)
    if aweights is None or da is None:
        return moved
    return moved + aweights_change(da, x, w, bias, ddof, fweights, aweights)


VARIABLES = [
    given(A(3, 5)),
    given(A(5)),
    given(A(5), A(5)),
    given(A(5, 2), A(5), False),
    given(A(5, 2), rowvar=False),
    given(A(2, 4), A(3, 4)),
    given(A(2, 4, dtype="complex128")),
]
WEIGHTED = [
    given(A(2, 5), bias=True),
    given(A(2, 5), ddof=2),
    given(A(2, 4), fweights=np.array([1, 3, 2, 1])),
    given(A(2, 4), aweights=np.array([0.5, 1.0, 2.0, 0.7])),
    given(A(2, 4), A(4), True, False, 2, None, A(4, low=0.3)),
    given(A(4), bias=True, aweights=A(4, low=0.3)),
    given(A(2, 4, dtype="complex128"), aweights=A(4, low=0.3)),
    given(
        A(2, 4), None, True, True, fweights=np.array([1, 3, 2, 1]), aweights=np.array([0.5, 1.0, 2.0, 0.7])
    ),
    given(A(2, 4, dtype="float32"), dtype=np.float32),
]


@bprop(np.cov, samples=[*VARIABLES, *WEIGHTED])
def cov(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None, out, dout
):
    dm, dy, da = covariance_grads(dout, m, y, rowvar, bias, ddof, fweights, aweights)
    return dm, dy, None, None, None, None, da


@cov.jvp
def cov_jvp(m, y, rowvar, bias, ddof, fweights, aweights, out, dm, dy, daweights):
    change = covariance_tangent(dm, dy, daweights, m, y, rowvar, bias, ddof, fweights, aweights)
    return broadcast_like(as_result(change, out), out)


# ---------------------------------------------------------------- correlations


def correlation_dcov(d: Array, c: Array) -> Array:
    """The cotangent of the covariances `c` from that of the correlations."""
    c = np.atleast_2d(c)
    d = np.reshape(d, np.shape(c))
    s = np.sqrt(np.real(np.diagonal(c)))
    dc = d / (np.expand_dims(s, 1) * s)
    shares = np.real(dc * c)
    return dc - diagonal_matrices((np.sum(shares, axis=0) + np.sum(shares, axis=1)) / (2 * s * s))


def correlation_change(dc: Array, c: Array) -> Array:
    """The tangent of the correlations from that of the covariances `c`."""
    c = np.reshape(c, np.shape(dc))
    s = np.sqrt(np.real(np.diagonal(c)))
    shrink = np.real(np.diagonal(dc)) / (2 * s * s)
    return (dc - c * (np.expand_dims(shrink, 1) + shrink)) / (np.expand_dims(s, 1) * s)


@bprop(np.corrcoef, samples=[*VARIABLES, given(A(3, 5, dtype="float32"), dtype=np.float64)])
def corrcoef(x, y=None, rowvar=True, *, dtype=None, out, dout):
    dc = correlation_dcov(dout, np.cov(x, y, rowvar))
    dx, dy, _ = covariance_grads(dc, x, y, rowvar, False, None, None, None)
    return dx, dy


@corrcoef.jvp
def corrcoef_jvp(x, y, rowvar, out, dx, dy):
    dc = covariance_tangent(dx, dy, None, x, y, rowvar, False, None, None, None)
    return broadcast_like(as_result(correlation_change(dc, np.cov(x, y, rowvar)), out), out)
