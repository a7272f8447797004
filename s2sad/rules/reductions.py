"""Sums, means, products and extremes over axes; the same passing over NaN.

The number of elements that an element of the result stands for is `reduced_size(x, axis)`. At ties the
gradient of a maximum is shared evenly, also with an `initial` value.
Templates say the common calls first, and those with `where`, `initial` or `dtype` in one general form.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast, unreduce
from ..values.libraries import is_lazy
from .choices import kept_where
from .samples import A, given

__all__ = ["MASK", "or_inf", "product_of_others", "share_of_ties", "to_ties"]

Array = Any  # any type with NumPy's protocols

REDUCTIONS = [
    given(A(3, 4)),
    given(A(3, 4), axis=0),
    given(A(3, 4, 2), axis=(0, -1), keepdims=True),
    given(A(4), axis=-1),
    given(A()),
    given(A(2, 3, dtype="float32"), axis=1),
    given(A(2, 3, dtype="float32")),
    given(A(2, 3), keepdims=True),
]
MASK = np.array([[True, False, True, True], [False, True, True, False], [True, False, False, True]])
MASKED = [given(A(3, 4), where=MASK), given(A(3, 4), 1, keepdims=True, where=MASK)]
WIDENED = [given(A(3, 4, dtype="float32"), dtype=np.float64), given(A(3, 4, dtype="float32"), 0, np.float64)]
INITIAL = [given(A(3, 4), initial=0.7), given(A(3, 4), axis=1, initial=-0.3, where=MASK)]


def with_nan(*shape: int) -> Any:
    """A sample: numbers with some NaN, but not as the first along any axis."""

    def draw(rng: np.random.Generator) -> Array:
        x = A(*shape).draw(rng)
        return np.where((rng.random(shape) < 0.3) & (np.indices(shape).min(axis=0) > 0), np.nan, x)

    return draw


NAN = [given(with_nan(4, 5)), given(with_nan(4, 5), axis=1), given(with_nan(4, 5), 0, keepdims=True)]
NAN_MASK = np.array([[True, True, True, False]] * 2 + [[True, True, False, True]])
NAN_MASKED = [given(with_nan(3, 4), 1, where=NAN_MASK), given(with_nan(3, 4), where=NAN_MASK)]


# ---------------------------------------------------------------- helpers


def reduced_size(x: Array, axis: Any) -> int:
    """How many elements of `x` each element of a reduction over `axis` stands for."""
    if axis is None or np.ndim(x) == 0:
        return math.prod(np.shape(x))
    return math.prod(np.shape(x)[i] for i in (axis if isinstance(axis, tuple) else (axis,)))


def share_of_ties(
    x: Array, out: Array, axis: Any, keepdims: Any, initial: Any = None, where: Any = True
) -> Array:
    """For each element of `x` its share in `out`, a maximum or minimum over `axis`: 1, 1/k among k equal
    ones, else 0; real, as `x`. An `initial` value shares too; what `where` leaves out does not.
    """
    kept = out if keepdims or axis is None else np.expand_dims(out, axis)
    hit = are_ties(x, kept) & where
    count = np.sum(hit, axis=axis, keepdims=True)
    if initial is not None:
        count = count + (kept == initial)
    return (hit / np.maximum(count, 1)).astype(np.result_type(real_dtype(x), np.float16))


def real_dtype(x: Any) -> Any:
    """The dtype of real parts, also of Python's numbers."""
    return getattr(np.real(x), "dtype", np.float64)


def are_ties(x: Array, kept: Array) -> Array:
    """Which elements of `x` are the maximum or minimum that is kept of them; a NaN is its own maximum."""
    hit = x == kept
    if is_lazy(x):
        return hit | ((x != x) & (kept != kept))
    return hit | (x != x) if np.any(kept != kept) else hit


def to_ties(dout: Array, x: Array, out: Array, axis: Any, keepdims: Any = False) -> Array:
    """The cotangent of `x` from that of its maximum or minimum `out` over `axis`, which equal ones share."""
    if not keepdims and np.ndim(x):
        dout, out = np.expand_dims(dout, axis), np.expand_dims(out, axis)
    hit = are_ties(x, out)
    if is_lazy(x) or np.count_nonzero(hit) != math.prod(np.shape(out)):
        share = dout / np.maximum(np.sum(hit, axis=axis, keepdims=True), 1)
        dout = share.astype(np.result_type(dout))
    return kept_where(hit, dout)


def share_of_initial(x: Array, out: Array, axis: Any, keepdims: Any, initial: Any, where: Any) -> Array:
    """The share of the `initial` value in `out`, a maximum or minimum over `axis`."""
    kept = out if keepdims or axis is None else np.expand_dims(out, axis)
    hits = np.sum(((x == kept) | (x != x)) & where, axis=axis, keepdims=keepdims)
    return ((out == initial) / (1 + hits)).astype(real_dtype(x))


def counted(x: Array, axis: Any, keepdims: Any, where: Any) -> Array:
    """How many elements of `x` over `axis` are where `where` holds."""
    if where is True:
        return reduced_size(x, axis)
    return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims)


def is_known(x: Array, where: Any) -> Array:
    """Where `x` is not NaN, of what `where` holds."""
    return np.logical_not(np.isnan(x)) & where


nondifferentiable([share_of_ties, share_of_initial, is_known, real_dtype, are_ties])
nondifferentiable([reduced_size, counted], shape_only=(0,))


def or_inf(x: Array) -> Array:
    """`x` with infinity for zero, so that a quotient by it is zero."""
    return np.where(x == 0, np.inf, x)


@bprop(or_inf, "elementwise", slope="finite", domain=(0.5, 2.0))
def or_inf_(x, out, dout):
    return (np.where(x == 0, 0, dout),)


def product_of_others(x: Array, axis: Any) -> Array:
    """For each element of `x` the product of all others along `axis`; exact, with all its derivatives, also
    where elements are zero.
    """
    if isinstance(x, (list, tuple)):
        x = np.array(x)
    if is_divisor(x):
        return np.prod(x, axis=axis, keepdims=True) / x
    if np.ndim(x) == 0:
        return np.ones_like(x)
    if axis is None:
        return np.reshape(product_along_first(np.reshape(x, (-1,))), np.shape(x))
    if not isinstance(axis, tuple):
        return np.moveaxis(product_along_first(np.moveaxis(x, axis, 0)), 0, axis)
    front = tuple(range(len(axis)))
    moved = np.moveaxis(x, axis, front)
    flat = np.reshape(moved, merged_shape(moved, len(axis)))
    return np.moveaxis(np.reshape(product_along_first(flat), np.shape(moved)), front, axis)


def is_divisor(x: Array) -> bool:
    """Whether quotients by `x`, and the differences that their derivatives are, lose but a few digits."""
    if is_lazy(x):
        return False
    size = np.abs(x)
    return bool(np.all(size > 1e-6 * np.max(size, initial=0)))


def merged_shape(x: Array, count: int) -> tuple[int, ...]:
    """The shape of `x` with its first `count` axes made one."""
    return (-1, *np.shape(x)[count:])


nondifferentiable([is_divisor, merged_shape])


def product_along_first(x: Array) -> Array:
    """The product of all others along the first axis: what stands before, times what stands after."""
    one = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate([one, x[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([one, x[:0:-1]]), axis=0)[::-1]
    return before * after


# ---------------------------------------------------------------- sums and means


@bprop(np.sum, odd=True, scaling="sum", samples=[*REDUCTIONS, *MASKED, *WIDENED, *INITIAL])
def sum_(a, axis=None, dtype=None, *, initial=0, keepdims=False, where=True, out, dout):
    if where is not True:
        dinitial = unbroadcast(dout, initial)
        return np.where(where, unreduce(dout, a, axis, keepdims), 0), None, None, dinitial
    if keepdims:
        return unreduce(dout, a, axis, keepdims), None, None, unbroadcast(dout, initial)
    if axis is None:
        return unreduce(dout, a), None, None, unbroadcast(dout, initial)
    return unreduce(dout, a, axis), None, None, unbroadcast(dout, initial)


@sum_.for_uniform
def sum_of_all(a, axis=None, dtype=None, *, initial=0, keepdims=False, out, dout):
    return (dout,)


@sum_.for_spread
def sum_over_axes(a, axis=None, dtype=None, *, initial=0, keepdims=False, out, dout):
    if keepdims or axis == 0:
        return (dout,)
    return (np.expand_dims(dout, axis),)


@sum_.jvp
def sum_jvp(axis, dtype, keepdims, where, out, da, dinitial):
    if where is not True or dtype is not None:
        return np.sum(da, axis=axis, dtype=dtype, keepdims=keepdims, where=where) + dinitial
    if keepdims:
        return np.sum(da, axis=axis, keepdims=keepdims) + dinitial
    if axis is None:
        return np.sum(da) + dinitial
    return np.sum(da, axis=axis) + dinitial


@bprop(np.mean, "linear", scaling="mean", samples=[*REDUCTIONS, *MASKED, *WIDENED])
def mean(x, axis=None, dtype=None, *, keepdims=False, where=True, out, dout):
    if where is not True:
        return (np.where(where, unreduce(dout / counted(x, axis, keepdims, where), x, axis, keepdims), 0),)
    if keepdims:
        return (unreduce(dout / reduced_size(x, axis), x, axis, keepdims),)
    if axis is None:
        return (unreduce(dout / reduced_size(x, None), x),)
    return (unreduce(dout / reduced_size(x, axis), x, axis),)


@mean.for_uniform
def mean_of_all(x, axis=None, dtype=None, *, keepdims=False, out, dout):
    return (dout / x.size,)


@mean.for_spread
def mean_over_axes(x, axis=None, dtype=None, *, keepdims=False, out, dout):
    n = reduced_size(x, axis)
    if isinstance(axis, int) is True:
        n = x.shape[axis]
    if keepdims or axis == 0:
        return (dout / n,)
    return (np.expand_dims(dout / n, axis),)


@bprop(np.nansum, samples=[*NAN, *NAN_MASKED, *WIDENED, given(with_nan(3, 4), initial=0.7)])
def nansum(a, axis=None, dtype=None, *, initial=0, keepdims=False, where=True, out, dout):
    dinitial = unbroadcast(dout, initial)
    if where is True:
        return np.where(np.isnan(a), 0, unreduce(dout, a, axis, keepdims)), None, None, dinitial
    return np.where(is_known(a, where), unreduce(dout, a, axis, keepdims), 0), None, None, dinitial


@nansum.jvp
def nansum_jvp(a, axis, dtype, keepdims, where, out, da, dinitial):
    if where is True and dtype is None:
        return np.sum(np.where(np.isnan(a), 0, da), axis=axis, keepdims=keepdims) + dinitial
    return np.sum(da, axis=axis, dtype=dtype, keepdims=keepdims, where=is_known(a, where)) + dinitial


@bprop(np.nanmean, samples=[*NAN, *NAN_MASKED, *WIDENED])
def nanmean(a, axis=None, dtype=None, *, keepdims=False, where=True, out, dout):
    known = is_known(a, where)
    return (np.where(known, unreduce(dout / counted(a, axis, keepdims, known), a, axis, keepdims), 0),)


@nanmean.jvp
def nanmean_jvp(a, axis, dtype, keepdims, where, out, da):
    return np.mean(da, axis=axis, dtype=dtype, keepdims=keepdims, where=is_known(a, where))


# ---------------------------------------------------------------- products

ZEROS = [
    given(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), axis=1),
    given(np.array([[1.0, 0.0, 2.0], [1.0, 3.0, 4.0]])),
    given(np.array([[[1.0, 0.0], [2.0, 4.0]]]), axis=(0, 2)),
]


@bprop(np.prod, samples=[*REDUCTIONS, *ZEROS, *MASKED, *WIDENED, *INITIAL])
def prod(a, axis=None, dtype=None, *, initial=1, keepdims=False, where=True, out, dout):
    if dtype is None and where is True and initial == 1:
        if axis is None:
            return dout * product_of_others(a, axis), None, None, unbroadcast(dout * out, initial)
        da = unreduce(dout, a, axis, keepdims) * product_of_others(a, axis)
        return da, None, None, unbroadcast(dout * out, initial)
    chosen = np.where(where, a, 1)
    da = unreduce(dout * initial, a, axis, keepdims) * product_of_others(chosen, axis)
    dinitial = unbroadcast(dout * np.prod(chosen, axis=axis, keepdims=keepdims), initial)
    return np.where(where, da, 0), None, None, dinitial


@prod.jvp
def prod_jvp(a, axis, dtype, initial, keepdims, where, out, da, dinitial):
    if dtype is None and where is True and initial == 1:
        change = np.sum(da * product_of_others(a, axis), axis=axis, keepdims=keepdims)
        return change + out * dinitial
    chosen = np.where(where, a, 1)
    terms = da * product_of_others(chosen, axis)
    change = np.sum(terms, axis=axis, dtype=dtype, keepdims=keepdims, where=where) * initial
    return change + np.prod(chosen, axis=axis, dtype=dtype, keepdims=keepdims) * dinitial


@bprop(np.nanprod, samples=[*NAN, *NAN_MASKED, *WIDENED, given(with_nan(3, 4), initial=0.7)])
def nanprod(a, axis=None, dtype=None, *, initial=1, keepdims=False, where=True, out, dout):
    known = is_known(a, where)
    chosen = np.where(known, a, 1)
    da = unreduce(dout * initial, a, axis, keepdims) * product_of_others(chosen, axis)
    dinitial = unbroadcast(dout * np.prod(chosen, axis=axis, keepdims=keepdims), initial)
    return np.where(known, da, 0), None, None, dinitial


@nanprod.jvp
def nanprod_jvp(a, axis, dtype, initial, keepdims, where, out, da, dinitial):
    known = is_known(a, where)
    chosen = np.where(known, a, 1)
    terms = da * product_of_others(chosen, axis)
    change = np.sum(terms, axis=axis, dtype=dtype, keepdims=keepdims, where=known) * initial
    return change + np.prod(chosen, axis=axis, dtype=dtype, keepdims=keepdims) * dinitial


# ---------------------------------------------------------------- extremes

EXTREMES = [given(A(3, 4), initial=0.1), given(A(3, 4), 1, initial=-0.3, where=MASK)]
TIES = np.array([[1, 3, 3], [2, 2, 0]])
TIED = [given(np.array([[1.0, 3.0], [2.0, 2.0]]), axis=1, initial=5.0)]


@bprop(np.max, np.amax, np.min, np.amin, samples=[*REDUCTIONS, *EXTREMES, *TIED])
def max_(a, axis=None, *, initial=None, keepdims=False, where=True, out, dout):
    if initial is not None:
        shares = share_of_ties(a, out, axis, keepdims, initial, where)
        own = share_of_initial(a, out, axis, keepdims, initial, where)
        return unreduce(dout, a, axis, keepdims) * shares, None, unbroadcast(dout * own, initial)
    if where is not True:
        shares = share_of_ties(a, out, axis, keepdims, initial, where)
        return unreduce(dout, a, axis, keepdims) * shares, None, None
    if axis is None:
        shares = share_of_ties(a, out, axis, keepdims)
        return dout * shares, None, None
    return to_ties(dout, a, out, axis, keepdims), None, None


@max_.for_picks
def picked_by_max(a, axis=None, *, initial=None, keepdims=False, where=True, out, dout):
    if initial is not None or where is not True:
        return (share_of_ties(a, out, axis, keepdims, initial, where),)
    return (share_of_ties(a, out, axis, keepdims),)


@bprop(
    to_ties,
    "linear",
    samples=[
        given(A(2, 1), TIES, TIES.max(1, keepdims=True), 1, True),
        given(A(3), TIES, TIES.max(0), 0),
        given(A(2, dtype="float32"), TIES, TIES.max(-1), (-1,)),
    ],
)
def to_ties_(d, x, out_of_x, axis, keepdims=False, *, out, dout):
    shares = share_of_ties(x, out_of_x, axis, keepdims)
    return unbroadcast(np.sum(dout * shares, axis=axis, keepdims=keepdims), d), None, None


@max_.jvp
def max_jvp(a, axis, initial, keepdims, where, out, da, dinitial):
    if initial is not None:
        shares = share_of_ties(a, out, axis, keepdims, initial, where)
        own = share_of_initial(a, out, axis, keepdims, initial, where)
        return np.sum(np.where(shares, da * shares, 0), axis=axis, keepdims=keepdims) + dinitial * own
    if where is not True:
        shares = share_of_ties(a, out, axis, keepdims, initial, where)
        return np.sum(np.where(shares, da * shares, 0), axis=axis, keepdims=keepdims)
    shares = share_of_ties(a, out, axis, keepdims)
    return np.sum(np.where(shares, da * shares, 0), axis=axis, keepdims=keepdims)


@bprop(
    np.nanmax,
    np.nanmin,
    samples=[*NAN, given(with_nan(3, 4), 1, initial=0.1, where=NAN_MASK), given(with_nan(3, 4), initial=9.0)],
)
def nanmax(a, axis=None, *, initial=None, keepdims=False, where=True, out, dout):
    shares = share_of_ties(a, out, axis, keepdims, initial, is_known(a, where))
    da = unreduce(dout, a, axis, keepdims) * shares
    if initial is None:
        return da, None, None
    own = share_of_initial(a, out, axis, keepdims, initial, is_known(a, where))
    return da, None, unbroadcast(dout * own, initial)


@nanmax.for_picks
def picked_by_nanmax(a, axis=None, *, initial=None, keepdims=False, where=True, out, dout):
    return (share_of_ties(a, out, axis, keepdims, initial, is_known(a, where)),)


@nanmax.jvp
def nanmax_jvp(a, axis, initial, keepdims, where, out, da, dinitial):
    shares = share_of_ties(a, out, axis, keepdims, initial, is_known(a, where))
    change = np.where(shares, da * shares, 0)
    if initial is None:
        return np.sum(change, axis=axis, keepdims=keepdims)
    own = share_of_initial(a, out, axis, keepdims, initial, is_known(a, where))
    return np.sum(change, axis=axis, keepdims=keepdims) + dinitial * own


@bprop(np.ptp, samples=REDUCTIONS)
def ptp(a, axis=None, *, keepdims=False, out, dout):
    if axis is None:
        return (dout * range_shares(a, axis),)
    return (unreduce(dout, a, axis, keepdims) * range_shares(a, axis),)


@ptp.jvp
def ptp_jvp(a, axis, keepdims, out, da):
    return np.sum(da * range_shares(a, axis), axis=axis, keepdims=keepdims)


def range_shares(x: Array, axis: Any) -> Array:
    """For each element of `x` the derivative of the range, maximum less minimum, over `axis`."""
    high, low = np.max(x, axis=axis, keepdims=True), np.min(x, axis=axis, keepdims=True)
    return share_of_ties(x, high, axis, True) - share_of_ties(x, low, axis, True)


nondifferentiable([range_shares])
