"""Weighted means, variances and covariances.

Where a standard deviation is zero its gradient is zero.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast, unreduce
from .reductions import (
    MASKED,
    NAN,
    NAN_MASKED,
    REDUCTIONS,
    WIDENED,
    counted,
    is_known,
    or_inf,
    reduced_size,
    with_nan,
)
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- averages


@bprop(
    np.average,
    samples=[
        given(A(3, 4)),
        given(A(3, 4), axis=1, weights=A(3, 4, low=0.5)),
        given(A(3, 4), weights=A(3, 4, low=0.5)),
        given(A(3, 4), 0, A(3, low=0.5), keepdims=True),
        given(A(3, 4), 0, A(3, low=0.5), returned=True),
        given(A(3, 4, 2), (0, 2), A(3, 2, low=0.5)),
        given(A(3, 4, 2), (2, 0), A(2, 3, low=0.5), True),
        given(A(3, 4), 1, returned=True),
    ],
)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False, out, dout):
    if weights is None and not returned:
        return unreduce(dout / reduced_size(a, axis), a, axis, keepdims), None, None
    da, dweights = average_grads(dout, a, weights, out, axis, keepdims, returned)
    return da, None, dweights


@average.jvp
def average_jvp(a, axis, weights, returned, keepdims, out, da, dweights):
    if weights is None and not returned:
        return np.mean(da, axis=axis, keepdims=keepdims)
    return average_tangent(da, dweights, a, weights, out, axis, keepdims, returned)


def average_grads(
    d: Any, a: Array, weights: Any, out: Any, axis: Any, keepdims: Any, returned: bool
) -> tuple[Array, Any]:
    """The cotangents of the numbers and the weights of `np.average`."""
    dmean, dtotal = d if returned else (d, None)
    mean = out[0] if returned else out
    dmean = np.zeros_like(mean) if dmean is None else dmean
    if weights is None:
        return unreduce(dmean / reduced_size(a, axis), a, axis, keepdims), None
    wide = along_axes(weights, a, axis)
    total = np.sum(np.broadcast_to(wide, np.shape(a)), axis=axis, keepdims=True)
    share = unreduce(dmean, a, axis, keepdims) / total
    dwide = share * (a - unreduce(mean, a, axis, keepdims))
    if dtotal is not None:
        dwide = dwide + unreduce(dtotal, a, axis, keepdims)
    return unbroadcast(share * wide, a), undo_along_axes(unbroadcast(dwide, wide), weights, a, axis)


def average_tangent(
    da: Array, dweights: Any, a: Array, weights: Any, out: Any, axis: Any, keepdims: Any, returned: bool
) -> Any:
    """The tangent of `np.average`, in its structure."""
    mean = out[0] if returned else out
    if weights is None:
        change = np.mean(da, axis=axis, keepdims=keepdims)
        return change, np.zeros_like(mean)
    wide, dwide = along_axes(weights, a, axis), along_axes(dweights, a, axis)
    total = np.sum(np.broadcast_to(wide, np.shape(a)), axis=axis, keepdims=keepdims)
    moved = da * wide + (a - unreduce(mean, a, axis, keepdims)) * dwide
    change = np.sum(moved, axis=axis, keepdims=keepdims) / total
    if returned:
        dtotal = np.sum(np.broadcast_to(dwide, np.shape(a)), axis=axis, keepdims=keepdims)
        return change, broadcast_like(dtotal, out[1])
    return change


def axes_of(x: Array, axis: Any) -> tuple[int, ...]:
    """The axes that a reduction goes over, none negative."""
    if axis is None:
        return tuple(range(np.ndim(x)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % np.ndim(x) for a in axes)


def rank_order(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that sorts `axes`."""
    return tuple(sorted(range(len(axes)), key=lambda i: axes[i]))


def places(x: Array, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `x` with length 1 for all axes but these."""
    return tuple(n if i in axes else 1 for i, n in enumerate(np.shape(x)))


nondifferentiable([axes_of, rank_order, places])


def along_axes(weights: Array, x: Array, axis: Any) -> Array:
    """The weights of an average, reshaped to broadcast against `x`: they have its shape or its lengths along
    the axes that it is taken over, in their order.
    """
    if np.shape(weights) == np.shape(x):
        return weights
    axes = axes_of(x, axis)
    return np.reshape(np.transpose(weights, rank_order(axes)), places(x, axes))


def undo_along_axes(d: Array, weights: Array, x: Array, axis: Any) -> Array:
    """The transpose of `along_axes`."""
    if np.shape(weights) == np.shape(x):
        return d
    axes = axes_of(x, axis)
    lengths = tuple(np.shape(x)[i] for i in sorted(axes))
    return np.transpose(np.reshape(d, lengths), rank_order(rank_order(axes)))


@bprop(
    along_axes,
    "linear",
    samples=[
        given(A(3), np.zeros((3, 4)), 0),
        given(A(3, 4), np.zeros((3, 4)), None),
        given(A(4, 3), np.zeros((3, 2, 4)), (2, 0)),
    ],
)
def along_axes_(weights, x, axis, out, dout):
    return undo_along_axes(dout, weights, x, axis), None, None


@bprop(undo_along_axes, "linear", samples=[given(A(3, 1, 4), np.zeros((4, 3)), np.zeros((3, 2, 4)), (2, 0))])
def undo_along_axes_(d, weights, x, axis, out, dout):
    return along_axes(dout, x, axis), None, None, None


# ---------------------------------------------------------------- variances


def deviation(x: Array, axis: Any) -> Array:
    """The conjugate of `x` less its mean over `axis`."""
    return np.conj(x - np.mean(x, axis=axis, keepdims=True))


def deviation_from(x: Array, mean: Any, axis: Any, where: Any) -> Array:
    """The conjugate of `x` less the `mean` given, or else less its own over `axis`; zero where `where` does
    not hold.
    """
    if mean is None:
        mean = np.mean(x, axis=axis, keepdims=True, where=where)
    return np.conj(np.where(where, x - mean, 0))


def freedom(x: Array, axis: Any, keepdims: Any, ddof: Any, correction: Any, where: Any) -> Array:
    """The degrees of freedom of a variance: how many numbers it is of, less a correction."""
    return counted(x, axis, keepdims, where) - (ddof if correction is None else correction)


nondifferentiable([freedom])

SPREAD = [*REDUCTIONS[:4], given(A(3, 4), axis=1, ddof=1), given(A(3, dtype="complex128"))]
SPREAD += [*MASKED, *WIDENED, given(A(3, 4), axis=1, correction=1.5)]
SPREAD += [given(A(3, 4), 1, mean=A(3, 1)), given(A(3, 4), mean=0.3), given(A(2, 3, dtype="float32"))]


@bprop(np.var, samples=SPREAD)
def var(
    a, axis=None, dtype=None, *, mean=None, ddof=0, keepdims=False, where=True, correction=None, out, dout
):
    if mean is not None:
        da = variance_dx(
            dout, a, mean, axis, keepdims, freedom(a, axis, keepdims, ddof, correction, where), where
        )
        return da, None, None, unbroadcast(-da, mean)
    if where is not True or dtype is not None or correction is not None:
        n = freedom(a, axis, keepdims, ddof, correction, where)
        return variance_dx(dout, a, mean, axis, keepdims, n, where), None, None, None
    if axis is None and ddof == 0:
        return dout * 2 / reduced_size(a, None) * deviation(a, axis), None, None, None
    if axis is None:
        return dout * 2 / (reduced_size(a, None) - ddof) * deviation(a, axis), None, None, None
    n = reduced_size(a, axis)
    if isinstance(axis, int) is True:
        n = np.shape(a)[axis]
    if (ddof == 0) is not True:
        n = n - ddof
    d = dout * 2 / n
    if keepdims or (axis == 0) is True:
        return d * deviation(a, axis), None, None, None
    return np.expand_dims(d, axis) * deviation(a, axis), None, None, None


@var.jvp
def var_jvp(a, axis, dtype, mean, ddof, keepdims, where, correction, out, da, dmean):
    if mean is not None:
        n = freedom(a, axis, keepdims, ddof, correction, where)
        return variance_tangent(da - dmean, a, mean, axis, keepdims, n, where, out)
    if where is not True or dtype is not None or correction is not None:
        n = freedom(a, axis, keepdims, ddof, correction, where)
        return variance_tangent(da, a, mean, axis, keepdims, n, where, out)
    return (
        np.sum(np.real(deviation(a, axis) * da), axis=axis, keepdims=keepdims)
        * 2
        / (reduced_size(a, axis) - ddof)
    )


def variance_dx(d: Array, a: Array, mean: Any, axis: Any, keepdims: Any, n: Array, where: Any) -> Array:
    """The cotangent of the numbers `a` of a variance with `n` degrees of freedom."""
    return unreduce(2 * d / n, a, axis, keepdims) * deviation_from(a, mean, axis, where)


def variance_tangent(
    da: Array, a: Array, mean: Any, axis: Any, keepdims: Any, n: Array, where: Any, out: Array
) -> Array:
    """The tangent of a variance with `n` degrees of freedom, where `da` is that of the deviations."""
    products = np.real(deviation_from(a, mean, axis, where) * da)
    return broadcast_like(2 * np.sum(products, axis=axis, keepdims=keepdims) / n, out)


@bprop(np.std, samples=SPREAD)
def std(
    a, axis=None, dtype=None, *, mean=None, ddof=0, keepdims=False, where=True, correction=None, out, dout
):
    if mean is not None:
        n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, where)
        da = variance_dx(dout, a, mean, axis, keepdims, n, where)
        return da, None, None, unbroadcast(-da, mean)
    if where is not True or dtype is not None or correction is not None:
        n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, where)
        return variance_dx(dout, a, mean, axis, keepdims, n, where), None, None, None
    if axis is None and ddof == 0:
        return dout / (or_inf(out) * reduced_size(a, None)) * deviation(a, axis), None, None, None
    if axis is None:
        return dout / (or_inf(out) * (reduced_size(a, None) - ddof)) * deviation(a, axis), None, None, None
    n = reduced_size(a, axis)
    if isinstance(axis, int) is True:
        n = np.shape(a)[axis]
    if (ddof == 0) is not True:
        n = n - ddof
    d = dout / (or_inf(out) * n)
    if keepdims or (axis == 0) is True:
        return d * deviation(a, axis), None, None, None
    return np.expand_dims(d, axis) * deviation(a, axis), None, None, None


@std.jvp
def std_jvp(a, axis, dtype, mean, ddof, keepdims, where, correction, out, da, dmean):
    if mean is not None:
        n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, where)
        return variance_tangent(da - dmean, a, mean, axis, keepdims, n, where, out)
    if where is not True or dtype is not None or correction is not None:
        n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, where)
        return variance_tangent(da, a, mean, axis, keepdims, n, where, out)
    total = np.sum(np.real(deviation(a, axis) * da), axis=axis, keepdims=keepdims)
    return total / (or_inf(out) * (reduced_size(a, axis) - ddof))


SPREAD_NAN = [*NAN, *NAN_MASKED, given(with_nan(3, 4), 1, ddof=1), given(with_nan(3, 4), 1, mean=A(3, 1))]
SPREAD_NAN += [given(A(3, 4, dtype="float32"), 0, np.float64), given(with_nan(3, 4), correction=1)]


@bprop(np.nanvar, samples=SPREAD_NAN)
def nanvar(
    a, axis=None, dtype=None, *, mean=None, ddof=0, keepdims=False, where=True, correction=None, out, dout
):
    known = is_known(a, where)
    n = freedom(a, axis, keepdims, ddof, correction, known)
    da = variance_dx(dout, np.where(known, a, 0), mean, axis, keepdims, n, known)
    if mean is None:
        return da, None, None, None
    return da, None, None, unbroadcast(-da, mean)


@nanvar.jvp
def nanvar_jvp(a, axis, mean, ddof, keepdims, where, correction, out, da, dmean):
    known = is_known(a, where)
    n = freedom(a, axis, keepdims, ddof, correction, known)
    if mean is None:
        change = np.where(known, da, 0)
        return variance_tangent(change, np.where(known, a, 0), mean, axis, keepdims, n, known, out)
    change = np.where(known, da - dmean, 0)
    return variance_tangent(change, np.where(known, a, 0), mean, axis, keepdims, n, known, out)


@bprop(np.nanstd, samples=SPREAD_NAN)
def nanstd(
    a, axis=None, dtype=None, *, mean=None, ddof=0, keepdims=False, where=True, correction=None, out, dout
):
    known = is_known(a, where)
    n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, known)
    da = variance_dx(dout, np.where(known, a, 0), mean, axis, keepdims, n, known)
    if mean is None:
        return da, None, None, None
    return da, None, None, unbroadcast(-da, mean)


@nanstd.jvp
def nanstd_jvp(a, axis, mean, ddof, keepdims, where, correction, out, da, dmean):
    known = is_known(a, where)
    n = 2 * or_inf(out) * freedom(a, axis, keepdims, ddof, correction, known)
    if mean is None:
        change = np.where(known, da, 0)
        return variance_tangent(change, np.where(known, a, 0), mean, axis, keepdims, n, known, out)
    change = np.where(known, da - dmean, 0)
    return variance_tangent(change, np.where(known, a, 0), mean, axis, keepdims, n, known, out)
