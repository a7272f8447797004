"""Orders and order statistics: sort, partition, median, quantiles, and the same passing over NaN.

Equal elements share the derivative of a quantile evenly. NaN has no part in it, so that one rule serves
functions that pass over NaN and those that do not.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast, unreduce
from .indexing import untake
from .samples import A, given, since
from .shaping import cast_back

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- sorting


@bprop(
    np.sort,
    samples=[
        given(A(5)),
        given(A(3, 4), axis=0),
        given(A(2, 3), None, "stable"),
        given(A(5), stable=True),
        *since("2.5", given(A(5), descending=True), given(A(2, 3), None, descending=False)),
    ],
)
def sort(a, axis=-1, kind=None, *, stable=None, descending=None, out, dout):
    if descending is not None and axis is None:
        return (np.reshape(dout[destinations(a, out, axis)], np.shape(a)),)
    if descending is not None:
        return (np.take_along_axis(dout, destinations(a, out, axis), axis),)
    if axis is None:
        return (np.reshape(dout[np.argsort(np.argsort(a, None))], np.shape(a)),)
    return (np.take_along_axis(dout, np.argsort(np.argsort(a, axis), axis), axis),)


@sort.jvp
def sort_jvp(a, axis, descending, out, da):
    if descending is not None and axis is None:
        return np.reshape(da, (-1,))[sources(a, out, axis)]
    if descending is not None:
        return np.take_along_axis(da, sources(a, out, axis), axis)
    if axis is None:
        return np.reshape(da, (-1,))[np.argsort(a, None)]
    return np.take_along_axis(da, np.argsort(a, axis), axis)


@bprop(
    np.sort_complex, samples=[given(A(2, 3)), given(A(4, dtype="complex128")), given(A(3, dtype="float32"))]
)
def sort_complex(a, out, dout):
    return (cast_back(np.take_along_axis(dout, np.argsort(np.argsort(a, -1), -1), -1), a),)


@sort_complex.jvp
def sort_complex_jvp(a, out, da):
    return broadcast_like(np.take_along_axis(da, np.argsort(a, -1), -1), out)


def sources(a: Array, out: Array, axis: int | None) -> Array:
    """For each element of `out`, the elements of `a` in another order along `axis`, the place in `a` that it
    comes from.
    """
    a = np.ravel(a) if axis is None else a
    axis = 0 if axis is None else axis
    ranks = np.argsort(np.argsort(out, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(np.argsort(a, axis=axis, kind="stable"), ranks, axis=axis)


def destinations(a: Array, out: Array, axis: int | None) -> Array:
    """For each element of `a`, along `axis`, its place in `out`, which holds the same in another order."""
    return np.argsort(sources(a, out, axis), axis=0 if axis is None else axis)


nondifferentiable([sources, destinations])


@bprop(
    np.partition,
    samples=[
        given(A(6), 2),
        given(A(3, 4), (1, 2), axis=0),
        given(A(2, 3), 4, axis=None),
        given(A(6), 2, kind="introselect"),
    ],
)
def partition(a, kth, axis=-1, kind="introselect", *, out, dout):
    if axis is None:
        return (np.reshape(dout[destinations(a, out, axis)], np.shape(a)),)
    return (np.take_along_axis(dout, destinations(a, out, axis), axis),)


@partition.jvp
def partition_jvp(a, axis, out, da):
    if axis is None:
        return np.reshape(da, (-1,))[sources(a, out, axis)]
    return np.take_along_axis(da, sources(a, out, axis), axis)


def first_places(ar: Array, out: Any, axis: int | None, equal_nan: bool, sorted: bool) -> Array:
    """Where the elements that `np.unique` made `out` of stand first: in the flat array, or along an axis."""
    index = np.unique(ar, return_index=True, axis=axis, equal_nan=equal_nan)[1]
    if sorted or axis is not None:
        return index
    return index[np.searchsorted(np.ravel(ar)[index], out[0] if isinstance(out, tuple) else out)]


nondifferentiable([first_places])

FLAGS = {"return_index": True, "return_inverse": True, "return_counts": True}


@bprop(
    np.unique,
    samples=[
        given(A(5)),
        given(A(3, 4), **FLAGS),
        given(A(3, 4), return_counts=True, axis=1),
        given(A(3, 4), axis=0, equal_nan=False),
        *since("2.3", given(A(9), sorted=False), given(A(9), return_counts=True, sorted=False)),
    ],
)
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True,
    sorted=True, out, dout
):
    if return_index or return_inverse or return_counts:
        return (untake(dout[0], ar, first_places(ar, out, axis, equal_nan, sorted), axis, "raise"),)
    return (untake(dout, ar, first_places(ar, out, axis, equal_nan, sorted), axis, "raise"),)


@unique.jvp
def unique_jvp(ar, return_index, return_inverse, return_counts, axis, equal_nan, sorted, out, dar):
    if return_index or return_inverse or return_counts:
        return taken_first(dar, first_places(ar, out, axis, equal_nan, sorted), axis, out)
    return np.take(dar, first_places(ar, out, axis, equal_nan, sorted), axis)


def taken_first(d: Array, index: Array, axis: int | None, out: Any) -> Any:
    """The tangent of all results of `np.unique`: what stands at the index, and none of places and counts."""
    return np.take(d, index, axis), *(None for _ in out[1:])


@bprop(taken_first, samples=[given(A(4), np.array([2, 0]), 0, (np.ones(2), np.array([1, 3])))])
def taken_first_(d, index, axis, out_, out, dout):
    return untake(dout[0], d, index, axis, "raise"), None, None


@taken_first_.jvp
def taken_first_jvp(index, axis, out_, out, dd):
    return taken_first(dd, index, axis, out_)


# ---------------------------------------------------------------- quantiles


def positions(counts: Array, q: float, method: Any) -> Array:
    """Where among so many sorted elements, counted from 0, a quantile lies: the quantile of the places."""
    found = np.zeros(np.shape(counts))
    for n in np.unique(counts):
        found[counts == n] = np.quantile(np.arange(n), q, method=method) if n else 0
    return found


# How many numbers a quantile passes from 0 to 1, less their count, by methods that go between them.
RATES = {
    "linear": -1.0,
    "hazen": 0.0,
    "interpolated_inverted_cdf": 0.0,
    "median_unbiased": 1 / 3,
    "normal_unbiased": 1 / 4,
    "weibull": 1.0,
}


def step_at(x: Array, q: float, method: str) -> tuple[Array, Array, Array]:
    """The places, in the sorted rows of `x`, of the elements that a quantile lies between, or comes to as it
    grows; and how fast it passes from the one to the next.
    """
    counts = np.sum(np.logical_not(np.isnan(x)), axis=-1, keepdims=True)
    place = positions(counts, q, method)
    below = np.clip(np.floor(place), 0, np.maximum(counts - 2, 0)).astype(int)
    moves = (counts > 1) & ((method == "linear") | ((place > 0) & (place < counts - 1)))
    rate = np.where(moves & (method in RATES), counts + RATES.get(method, 0.0), 0.0)
    return below, np.minimum(below + 1, np.maximum(counts - 1, 0)), rate


def one_quantile_share_slopes(x: Array, q: float, method: str) -> Array:
    """What `one_quantile_shares` changes by with `q`."""
    below, above, rate = step_at(x, q, method)
    ordered = np.sort(x, axis=-1)
    slopes = 0.0
    for weight, index in ((-rate, below), (rate, above)):
        hit = x == np.take_along_axis(ordered, index, -1)
        slopes = slopes + weight * hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1)
    return slopes


def one_quantile_shares(x: Array, q: float, method: str) -> Array:
    """The derivative of one quantile of the rows of `x`, without NaN; equal elements share it."""
    counts = np.sum(np.logical_not(np.isnan(x)), axis=-1, keepdims=True)
    place = positions(counts, q, method)
    below, above = np.floor(place).astype(int), np.ceil(place).astype(int)
    ordered = np.sort(x, axis=-1)
    part = place - below
    shares = 0.0
    for weight, index in ((1 - part, below), (part, above)):
        hit = x == np.take_along_axis(ordered, index, -1)
        shares = shares + weight * hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1)
    return shares


def as_rows(x: Array, axis: Any) -> Array:
    """`x` with the axes that are reduced last and made one."""
    axes = tuple(range(np.ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    return np.reshape(moved, (*np.shape(moved)[: np.ndim(x) - len(axes)], -1))


def from_rows(rows: Array, x: Array, axis: Any) -> Array:
    """Undoes `as_rows`: an array like `x`."""
    axes = tuple(range(np.ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    last = tuple(range(-len(axes), 0))
    return np.moveaxis(np.reshape(rows, np.shape(np.moveaxis(x, axes, last))), last, axes)


def quantile_shares(x: Array, q: Any, axis: Any, method: str, values: Array, weights: Any) -> Array:
    """The derivatives of the quantiles `values` of `x` over `axis`: for each (in front) an array like `x`."""
    rows = as_rows(x, axis)
    if weights is None:
        shares = [one_quantile_shares(rows, p, method) for p in np.ravel(q)]
    else:  # one of the elements
        shares = []
        for each in np.reshape(values, (np.size(q), *np.shape(rows)[:-1])):
            hit = rows == np.expand_dims(each, -1)
            shares.append(hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1))
    return np.stack([from_rows(s, x, axis).astype(getattr(x, "dtype", float)) for s in shares])


def quantile_share_slopes(x: Array, q: Any, axis: Any, method: str, weights: Any) -> Array:
    """What `quantile_shares` change by with `q`; those of weighted elements do not."""
    if weights is not None:
        return np.zeros_like(x, shape=(np.size(q), *np.shape(x)))
    rows = as_rows(x, axis)
    slopes = [one_quantile_share_slopes(rows, p, method) for p in np.ravel(q)]
    return np.stack([from_rows(s, x, axis).astype(getattr(x, "dtype", float)) for s in slopes])


nondifferentiable([quantile_share_slopes, step_at])


@bprop(
    quantile_shares,
    samples=[
        given(A(2, 7), 0.43, 1, "linear", A(2), None),
        given(A(3, 4), A(2, 1, low=0.2, high=0.8), (0, 1), "weibull", A(2, 1), None),
    ],
)
def quantile_shares_(x, q, axis, method, values, weights, out, dout):
    along = np.sum(dout * quantile_share_slopes(x, q, axis, method, weights), axis=each_axis(x))
    return None, unbroadcast(np.reshape(along, np.shape(q)), q), None, None, None, None


@quantile_shares_.jvp
def quantile_shares_jvp(x, q, axis, method, weights, out, dq):
    slopes = quantile_share_slopes(x, q, axis, method, weights)
    return slopes * np.reshape(dq, (-1,) + (1,) * np.ndim(x))


def each_axis(x: Array) -> tuple[int, ...]:
    """The axes of `x` where another stands in front of them."""
    return tuple(range(1, np.ndim(x) + 1))


nondifferentiable([each_axis])


def quantile_slopes(x: Array, q: Any, axis: Any, method: str, out: Array, weights: Any) -> Array:
    """The derivatives of the quantiles `out` by `q`, in their shape; from the right where it has two."""
    if weights is not None:
        return np.zeros_like(out)
    ordered = np.sort(as_rows(x, axis), axis=-1)
    slopes = []
    for p in np.ravel(q):
        below, above, rate = step_at(ordered, p, method)
        step = np.take_along_axis(ordered, above, -1) - np.take_along_axis(ordered, below, -1)
        slopes.append(rate * step)
    return np.reshape(np.stack(slopes), np.shape(out))


def quantile_dq(d: Array, x: Array, q: Any, axis: Any, method: str, out: Array, weights: Any) -> Any:
    """The cotangent of `q` from that of the quantiles `out`."""
    each = np.reshape(d * quantile_slopes(x, q, axis, method, out, weights), (np.size(q), -1))
    return unbroadcast(np.reshape(np.sum(each, axis=1), np.shape(q)), q)


def along_q(dq: Any, q: Any, values: Array) -> Array:
    """A tangent of `q` in a shape that broadcasts to that of the quantiles `values`."""
    return np.reshape(dq, np.shape(q) + (1,) * (np.ndim(values) - np.ndim(q)))


@bprop(along_q, "linear", samples=[given(A(2), A(2), A(2, 3))])
def along_q_(dq, q, values, out, dout):
    return np.reshape(dout, np.shape(q)), None


def quantile_dx(d: Array, x: Array, q: Any, axis: Any, keepdims: Any, shares: Array) -> Array:
    """The cotangent of `x` from that of its quantiles."""
    if np.ndim(q) == 0:
        return unreduce(d, x, axis, keepdims) * shares[0]
    each = np.reshape(d, (np.size(q), *np.shape(d)[np.ndim(q) :]))
    return sum([unreduce(each[k], x, axis, keepdims) * shares[k] for k in range(np.size(q))])


def quantile_tangent(dx: Array, q: Any, axis: Any, keepdims: Any, shares: Array, out: Array) -> Array:
    """The tangent of quantiles from that of the elements."""
    if np.ndim(q) == 0:
        return np.sum(dx * shares[0], axis=axis, keepdims=keepdims)
    changes = [np.sum(dx * share, axis=axis, keepdims=keepdims) for share in shares]
    return np.reshape(np.stack(changes), np.shape(out))


ORDER = [given(A(5)), given(A(3, 4), axis=1), given(A(2, 3, 2), axis=(0, 2), keepdims=True)]


@bprop(np.median, np.nanmedian, samples=ORDER)
def median(a, axis=None, *, keepdims=False, out, dout):
    return (unreduce(dout, a, axis, keepdims) * quantile_shares(a, 0.5, axis, "linear", out, None)[0],)


@median.jvp
def median_jvp(a, axis, keepdims, out, da):
    shares = quantile_shares(a, 0.5, axis, "linear", out, None)[0]
    return np.sum(da * shares, axis=axis, keepdims=keepdims)


CONTINUOUS = ("interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased")
PICKING = ("lower", "higher", "midpoint", "nearest", "inverted_cdf", "closest_observation")


def quantiles(scale: int) -> list[Any]:
    """Samples of numbers and places: the places are parts of `scale`."""
    methods = [given(A(2, 7), 0.43 * scale, 1, method=m) for m in (*CONTINUOUS, *PICKING)]
    return [
        *methods,
        given(A(5), 0.3 * scale),
        given(A(3, 4), 0.81 * scale, axis=1),
        given(A(2, 6), 0.25 * scale, 1, keepdims=True),
        given(A(3, 5), np.array([0.2, 0.7]) * scale, axis=1),
        given(A(3, 5), np.array([[0.2], [0.7]]) * scale, axis=(0, 1), keepdims=True),
        given(A(5), 0.3 * scale, weights=A(5, low=0.1), method="inverted_cdf"),
    ]


@bprop(np.quantile, np.nanquantile, samples=quantiles(1))
def quantile(a, q, axis=None, *, method="linear", keepdims=False, weights=None, out, dout):
    shares = quantile_shares(a, q, axis, method, out, weights)
    da = quantile_dx(dout, a, q, axis, keepdims, shares)
    return da, quantile_dq(dout, a, q, axis, method, out, weights), None, None, None, None


@quantile.jvp
def quantile_jvp(a, q, axis, method, keepdims, weights, out, da, dq):
    shares = quantile_shares(a, q, axis, method, out, weights)
    moved = quantile_tangent(da, q, axis, keepdims, shares, out)
    return moved + quantile_slopes(a, q, axis, method, out, weights) * along_q(dq, q, out)


@bprop(np.percentile, np.nanpercentile, samples=quantiles(100))
def percentile(a, q, axis=None, *, method="linear", keepdims=False, weights=None, out, dout):
    part = np.divide(q, 100)
    da = quantile_dx(dout, a, q, axis, keepdims, quantile_shares(a, part, axis, method, out, weights))
    dpart = quantile_dq(dout, a, part, axis, method, out, weights)
    return da, unbroadcast(np.divide(dpart, 100), q), None, None, None, None


@percentile.jvp
def percentile_jvp(a, q, axis, method, keepdims, weights, out, da, dq):
    part = np.divide(q, 100)
    shares = quantile_shares(a, part, axis, method, out, weights)
    moved = quantile_tangent(da, q, axis, keepdims, shares, out)
    return moved + quantile_slopes(a, part, axis, method, out, weights) * along_q(dq, q, out) / 100

