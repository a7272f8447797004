"""Interpolation between points, and counts by number."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, conform, unbroadcast
from .containers import filled
from .indexing import untake
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- interpolation and counting


def cell_of(x: Array, xp: Array) -> Array:
    """For each of `x` the number of the interval of `xp` that it lies in, the outermost reaching outward."""
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)


def is_inside(x: Array, xp: Array) -> Array:
    """Whether `x` lies within the points, where interpolation is not constant."""
    return (x >= xp[0]) & (x <= xp[-1])


nondifferentiable([cell_of, is_inside])


def interpolation_slope(x: Array, xp: Array, fp: Array) -> Array:
    """The derivative of `np.interp(x, xp, fp)` by `x`; at a point that of the interval after it."""
    if len(xp) < 2:
        return np.zeros_like(x)
    i = cell_of(x, xp)
    xp, fp = np.asarray(xp), np.asarray(fp)
    return np.where(is_inside(x, xp), (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]), 0)


def interpolation_part(x: Array, xp: Array) -> Array:
    """How far, from 0 to 1, `x` has come from the point before it to the next."""
    i, xp = cell_of(x, xp), np.asarray(xp)
    return np.clip((x - xp[i]) / (xp[i + 1] - xp[i]), 0, 1)


def values_dx(d: Array, x: Array, xp: Array, fp: Array) -> Array:
    """The cotangent of the values `fp` in `np.interp(x, xp, fp)`."""
    if len(xp) < 2:
        return unbroadcast(np.reshape(d, (-1, 1)), fp)
    i = cell_of(x, xp)
    part = interpolation_part(x, xp)
    return untake((1 - part) * d, fp, i, 0, "raise") + untake(part * d, fp, i + 1, 0, "raise")


def points_dx(d: Array, x: Array, xp: Array, fp: Array) -> Array:
    """The cotangent of the points `xp` in `np.interp(x, xp, fp)`."""
    if len(xp) < 2:
        return np.zeros_like(xp)
    i = cell_of(x, xp)
    part = interpolation_part(x, xp)
    d = -d * interpolation_slope(x, xp, fp)
    return untake((1 - part) * d, xp, i, 0, "raise") + untake(part * d, xp, i + 1, 0, "raise")


@bprop(
    np.interp,
    samples=[
        given(np.array([-1.0, 0.3, 1.2, 2.9, 7.0]), np.array([0.0, 1.0, 2.5, 4.0]), A(4)),
        given(0.4, np.array([0.0, 1.0, 2.5]), A(3)),
        given(np.array([-1.0, 0.3, 1.2, 2.9, 7.0]), np.array([0.0, 1.0, 2.5, 4.0]), A(4), 0.7, 0.2),
        given(np.array([-1.0, 0.3, 7.0]), np.array([0.0, 1.0, 2.5, 4.0]), A(4), right=0.2),
        given(np.array([-1.3, 0.3, 1.2, 2.9, 7.0]), np.array([0.2, 4.0, 2.5]), A(3), period=5.0),
        given(np.array([-11.3, 0.3, 6.2]), np.array([-7.2, 4.0, 12.5]), A(3), None, None, 5.0),
        given(np.array([-1.3, 0.3, 1.2, 2.9, 7.0]), np.array([0.2, 4.0, 2.5]), A(3), period=-3.3),
    ],
)
def interp(x, xp, fp, left=None, right=None, period=None, *, out, dout):
    if period is not None:
        dx, dxp, dfp, dperiod = periodic_grads(dout, x, xp, fp, period)
        return dx, dxp, dfp, None, None, dperiod
    if left is not None or right is not None:
        inner = np.where(is_replaced(x, xp, left, right), 0, dout)
        dleft, dright = np.sum(np.where(x < xp[0], dout, 0)), np.sum(np.where(x > xp[-1], dout, 0))
        dx = unbroadcast(inner * interpolation_slope(x, xp, fp), x)
        dxp, dfp = points_dx(inner, x, xp, fp), values_dx(inner, x, xp, fp)
        return dx, dxp, dfp, conform(dleft, left), conform(dright, right), None
    dx = unbroadcast(dout * interpolation_slope(x, xp, fp), x)
    return dx, points_dx(dout, x, xp, fp), values_dx(dout, x, xp, fp), None, None, None


@interp.jvp
def interp_jvp(x, xp, fp, left, right, period, out, dx, dxp, dfp, dleft, dright, dperiod):
    if period is not None:
        return periodic_tangent(dx, filled(dxp, xp), filled(dfp, fp), dperiod, x, xp, fp, period)
    slope = interpolation_slope(x, xp, fp)
    change = slope * dx - slope * np.interp(x, xp, filled(dxp, xp)) + np.interp(x, xp, filled(dfp, fp))
    if left is not None or right is not None:
        inner = np.where(is_replaced(x, xp, left, right), 0, change)
        return inner + replaced_change(dleft, dright, x, xp, left, right)
    return change


def is_replaced(x: Array, xp: Array, left: Any, right: Any) -> Array:
    """Where `x` lies beyond the points, on a side for which there is a value of its own."""
    return ((x < xp[0]) & (left is not None)) | ((x > xp[-1]) & (right is not None))


def replaced_change(dleft: Any, dright: Any, x: Array, xp: Array, left: Any, right: Any) -> Any:
    """The tangent of what stands beyond the points."""
    change: Any = 0.0
    if left is not None:
        change = change + np.where(x < xp[0], filled(dleft, left), 0)
    if right is not None:
        change = change + np.where(x > xp[-1], filled(dright, right), 0)
    return change


def period_order(xp: Array, period: Any) -> Array:
    """The order of points within one period."""
    return np.argsort(xp % abs(period))


nondifferentiable([is_replaced, period_order])


def wrapped(values: Array, order: Array, step: Any) -> Array:
    """Values in order, with the last before them, a step lower, and the first behind, a step higher."""
    row = values[order]
    return np.concatenate([row[-1:] - step, row, row[:1] + step])


def unwrapped(d: Array, order: Array) -> Array:
    """The transpose of `wrapped`."""
    row = d[1:-1] + np.pad(d[-1:], (0, len(order) - 1)) + np.pad(d[:1], (len(order) - 1, 0))
    return row[np.argsort(order)]


def periodic_grads(d: Array, x: Array, xp: Array, fp: Array, period: Any) -> tuple[Any, Any, Any, Any]:
    """The cotangents of `np.interp` where points repeat after a period.

    Within the period a place is `x - period * (x // period)`, which a longer period moves back.
    """
    order, length = period_order(xp, period), abs(period)
    place, points = x % length, wrapped(xp % length, order, length)
    values = wrapped(fp, order, 0.0)
    dplace, dpoints = d * interpolation_slope(place, points, values), points_dx(d, place, points, values)
    dlength = np.sum(dpoints * wrapped(-(xp // length), order, 1.0)) - np.sum(dplace * (x // length))
    dfp = unwrapped(values_dx(d, place, points, values), order)
    dperiod = unbroadcast(dlength * np.sign(period), period)
    return unbroadcast(dplace, x), unbroadcast(unwrapped(dpoints, order), xp), unbroadcast(dfp, fp), dperiod


def periodic_tangent(
    dx: Any, dxp: Array, dfp: Array, dperiod: Any, x: Array, xp: Array, fp: Array, period: Any
) -> Array:
    """The tangent of `np.interp` where points repeat after a period."""
    order, length = period_order(xp, period), abs(period)
    place, points = x % length, wrapped(xp % length, order, length)
    slope = interpolation_slope(place, points, wrapped(fp, order, 0.0))
    dlength = filled(dperiod, period) * np.sign(period)
    dpoints = wrapped(dxp - xp // length * dlength, order, dlength)
    moved = dx - x // length * dlength - np.interp(place, points, dpoints)
    return slope * moved + np.interp(place, points, wrapped(dfp, order, 0.0))


@bprop(np.bincount, samples=[given(np.array([0, 2, 2, 1]), A(4)), given(np.array([0, 2]), A(2), minlength=5)])
def bincount(x, weights=None, minlength=0, *, out, dout):
    return None, unbroadcast(np.take(dout, x), weights)


@bincount.jvp
def bincount_jvp(x, minlength, out, dweights):
    return np.bincount(x, dweights, minlength)


def bins_of(a: Array, edges: Array, weights: Array) -> Array:
    """The bin of each number in a histogram, one more than there are for those outside; refuses complex
    weights.
    """
    if np.iscomplexobj(weights):
        raise NonDifferentiableError("the derivative of np.histogram by complex weights is not known")
    a = np.ravel(a)
    bins = np.minimum(np.searchsorted(edges, a, "right") - 1, len(edges) - 2)
    return np.where((a >= edges[0]) & (a <= edges[-1]), bins, len(edges) - 1)


nondifferentiable([bins_of])


def binned(weights: Array, bins: Array, edges: Array) -> Array:
    """The sum of the weights in each bin of a histogram."""
    return np.bincount(bins, np.ravel(weights), len(edges))[:-1]


def histogram_dweights(dout: Any, a: Array, weights: Array, density: Any, out: Any) -> Array:
    """The cotangent of the weights of a histogram."""
    heights, edges = out
    d = filled(dout[0], heights)
    bins = bins_of(a, edges, weights)
    if density:
        d = (d / np.diff(edges) - np.sum(d * heights)) / np.sum(binned(weights, bins, edges))
    return unbroadcast(np.reshape(np.take(np.append(d, 0.0), bins), np.shape(weights)), weights)


def histogram_tangent(dweights: Array, a: Array, weights: Array, density: Any, out: Any) -> Any:
    """The tangent of a histogram."""
    heights, edges = out
    bins = bins_of(a, edges, weights)
    d = binned(dweights, bins, edges)
    if density:
        total = np.sum(binned(weights, bins, edges))
        d = (d / np.diff(edges) - heights * np.sum(d)) / total
    return broadcast_like(d, heights), np.zeros_like(edges)


VALUES = np.array([0.1, 0.5, 0.9, 0.4, 1.7])
STEPS = "counts step where numbers cross from bin to bin; a histogram is differentiated by its weights"


@bprop(
    np.histogram,
    refused={"a": STEPS, "bins": STEPS, "range": STEPS},
    runs=False,
    sharing={"bins": "unknown"},  # these may be the edges
    samples=[
        given(VALUES, 3, None, None, A(5)),
        given(VALUES, 4, (0.2, 0.9), weights=A(5, low=0.5)),
        given(VALUES, np.array([0.1, 0.4, 1.7]), None, True, A(5, low=0.5)),
    ],
)
def histogram(a, bins=10, range=None, density=None, weights=None, *, out, dout):
    return None, None, None, None, histogram_dweights(dout, a, weights, density, out)


@histogram.jvp
def histogram_jvp(a, density, weights, out, dweights):
    return histogram_tangent(dweights, a, weights, density, out)
