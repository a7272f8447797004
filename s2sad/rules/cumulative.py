"""Cumulative sums and products, also those that skip NaN."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast
from .reductions import with_nan
from .samples import A, given

Array = Any  # any type with NumPy's protocols

ALONG = [given(A(5)), given(A(3, 4)), given(A(3, 4), axis=0), given(A(3, 4), axis=-1)]
WIDENED = [given(A(3, 4, dtype="float32"), 1, np.float64)]
NAN = [given(with_nan(3, 4)), given(with_nan(3, 4), axis=1)]


# ---------------------------------------------------------------- cumulative sums


@bprop(np.cumsum, "linear", scaling="cumsum", samples=[*ALONG, *WIDENED])
def cumsum(x, axis=None, dtype=None, *, out, dout):
    if dtype is not None:
        return (unbroadcast(cumsum_dx(dout, x, axis), x),)
    if axis is None:
        return (np.reshape(np.cumsum(dout[::-1])[::-1], np.shape(x)),)
    return (np.flip(np.cumsum(np.flip(dout, axis), axis), axis),)


@cumsum.for_ranks(1)
def cumsum_of_vector(x, axis=None, dtype=None, *, out, dout):
    if dtype is not None:
        return (unbroadcast(cumsum_dx(dout, x, axis), x),)
    return (np.cumsum(dout[::-1])[::-1],)


def cumsum_dx(d: Array, x: Array, axis: Any) -> Array:
    """The transpose of `np.cumsum`."""
    if axis is None or np.ndim(x) == 0:
        return np.reshape(np.cumsum(d[::-1])[::-1], np.shape(x))
    return np.flip(np.cumsum(np.flip(d, axis), axis), axis)


@bprop(np.nancumsum, samples=[*NAN, *WIDENED])
def nancumsum(a, axis=None, dtype=None, *, out, dout):
    return (np.where(np.isnan(a), 0, unbroadcast(cumsum_dx(dout, a, axis), a)),)


@nancumsum.jvp
def nancumsum_jvp(a, axis, dtype, out, da):
    return np.cumsum(np.where(np.isnan(a), 0, da), axis, dtype)


def after_first(d: Array, axis: Any, include_initial: bool) -> Array:
    """What follows the initial value of a cumulation along `axis`, when it is included."""
    if not include_initial:
        return d
    return np.moveaxis(np.moveaxis(d, only_axis(axis), 0)[1:], 0, only_axis(axis))


CUMULATIVE = [given(A(5)), given(A(3, 4), axis=0), given(A(3, 4), axis=-1, include_initial=True)]
CUMULATIVE += [given(A(4), include_initial=True), given(A(3, dtype="float32"), dtype=np.float64)]

if hasattr(np, "cumulative_sum"):

    @bprop(np.cumulative_sum, "linear", samples=CUMULATIVE)
    def cumulative_sum(x, *, axis=None, dtype=None, include_initial=False, out, dout):
        return (unbroadcast(cumsum_dx(after_first(dout, axis, include_initial), x, axis), x),)


# ---------------------------------------------------------------- cumulative products


def cumprod_dx(d: Array, x: Array, out: Array, axis: Any) -> Array:
    """The cotangent of `x` where `out` is its cumulative product and `d` the cotangent of that; exact at
    zeros too.
    """
    if axis is None or np.ndim(x) == 0:
        return np.reshape(cumprod_dx(d, np.reshape(x, (-1,)), out, 0), np.shape(x))
    if np.all(x != 0):
        return np.flip(np.cumsum(np.flip(d * out, axis), axis), axis) / x
    x, d = np.moveaxis(x, axis, 0), np.moveaxis(d, axis, 0)
    before = np.concatenate([np.ones_like(x[:1]), np.cumprod(x[:-1], axis=0)])
    tails = []
    tail = np.zeros_like(d[0])
    after = np.concatenate([x[1:], np.ones_like(x[:1])])
    for k in range(len(x) - 1, -1, -1):
        tail = d[k] + after[k] * tail
        tails.append(tail)
    return np.moveaxis(before * np.stack(tails[::-1]), 0, axis)


def cumprod_tangent(x: Array, dx: Array, axis: Any) -> Array:
    """The tangent of the cumulative product of `x`."""
    if axis is None or np.ndim(x) == 0:
        return cumprod_tangent(np.reshape(x, (-1,)), np.reshape(dx, (-1,)), 0)
    x, dx = np.moveaxis(x, axis, 0), np.moveaxis(dx, axis, 0)
    product, tangent = np.ones_like(x[0]), np.zeros_like(x[0])
    tangents = []
    for k in range(len(x)):
        tangent = tangent * x[k] + product * dx[k]
        product = product * x[k]
        tangents.append(tangent)
    return np.moveaxis(np.stack(tangents), 0, axis)


CUMPROD_ZEROS = [given(np.array([[2.0, 0.0, 3.0, 0.0, 1.0]]), axis=1), given(np.array([2.0, 0.0, 3.0]))]


@bprop(np.cumprod, samples=[*ALONG, *CUMPROD_ZEROS, *WIDENED])
def cumprod(a, axis=None, dtype=None, *, out, dout):
    if dtype is not None:
        return (unbroadcast(cumprod_dx(dout, a, out, axis), a),)
    return (cumprod_dx(dout, a, out, axis),)


@cumprod.jvp
def cumprod_jvp(a, axis, dtype, out, da):
    if dtype is not None:
        return broadcast_like(cumprod_tangent(a, da, axis), out)
    return cumprod_tangent(a, da, axis)


@bprop(np.nancumprod, samples=[*NAN, *WIDENED])
def nancumprod(a, axis=None, dtype=None, *, out, dout):
    da = cumprod_dx(dout, np.where(np.isnan(a), 1, a), out, axis)
    return (np.where(np.isnan(a), 0, unbroadcast(da, a)),)


@nancumprod.jvp
def nancumprod_jvp(a, axis, out, da):
    change = cumprod_tangent(np.where(np.isnan(a), 1, a), np.where(np.isnan(a), 0, da), axis)
    return broadcast_like(change, out)


def only_axis(axis: Any) -> Any:
    """The axis of a cumulation: that of a row need not be said."""
    return 0 if axis is None else axis


nondifferentiable([only_axis])

if hasattr(np, "cumulative_prod"):

    @bprop(np.cumulative_prod, samples=CUMULATIVE)
    def cumulative_prod(x, *, axis=None, dtype=None, include_initial=False, out, dout):
        rest, products = after_first(dout, axis, include_initial), after_first(out, axis, include_initial)
        return (unbroadcast(cumprod_dx(rest, x, products, only_axis(axis)), x),)

    @cumulative_prod.jvp
    def cumulative_prod_jvp(x, axis, out, dx):
        return cumulative_tangent(cumprod_tangent(x, dx, only_axis(axis)), out, axis)


def cumulative_tangent(change: Array, out: Array, axis: Any) -> Array:
    """The tangent of a cumulation `out`, zero for an initial value, from that of what follows."""
    axis = only_axis(axis)
    extra = np.shape(out)[axis] - np.shape(change)[axis]
    widths = [(0, 0)] * np.ndim(out)
    widths[axis] = (extra, 0)
    return broadcast_like(np.pad(change, widths), out)
