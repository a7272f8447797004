"""The methods of ufuncs of two arguments: reduce, accumulate, outer, reduceat.

Those of `add`, `multiply`, `maximum` and `minimum` are functions of NumPy by other names. Of the other
differentiable ufuncs `outer` is the ufunc itself on arrays with more axes.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import bprop, find_rule, is_nondifferentiable, nondifferentiable, refuse
from ..runtime import unbroadcast, unreduce
from .cumulative import cumprod_dx, cumprod_tangent, cumsum_dx
from .indexing import untake_along
from .reductions import MASK, product_of_others, share_of_ties
from .samples import A, given

Array = Any  # whatever implements NumPy's protocols


# ---------------------------------------------------------------- reduce

REDUCED = [
    given(A(3, 4)),
    given(A(3, 4), 1),
    given(A(3, 4), axis=None, keepdims=True),
    given(A(3, 4, 2), axis=(0, 2)),
    given(A(3, 4), where=MASK),
]
WIDENED = given(A(3, dtype="float32"), dtype=np.float64)


@bprop(np.add.reduce, "linear", samples=[*REDUCED, WIDENED])
def add_reduce(x, axis=0, dtype=None, *, keepdims=False, where=True, out, dout):
    if where is True:
        return (unreduce(dout, x, axis, keepdims),)
    return (np.where(where, unreduce(dout, x, axis, keepdims), 0),)


@bprop(np.multiply.reduce, samples=[*REDUCED, WIDENED])
def multiply_reduce(x, axis=0, dtype=None, *, keepdims=False, where=True, out, dout):
    if where is True:
        return (unreduce(dout, x, axis, keepdims) * product_of_others(x, axis),)
    others = product_of_others(np.where(where, x, 1), axis)
    return (np.where(where, unreduce(dout, x, axis, keepdims) * others, 0),)


@multiply_reduce.jvp
def multiply_reduce_jvp(x, axis=0, dtype=None, *, keepdims=False, where=True, out, dx):
    if where is True:
        return np.sum(dx * product_of_others(x, axis), axis=axis, keepdims=keepdims)
    others = product_of_others(np.where(where, x, 1), axis)
    return np.sum(dx * others, axis=axis, keepdims=keepdims, where=where)


@bprop(np.maximum.reduce, np.minimum.reduce, samples=[*REDUCED[:4], WIDENED])
def maximum_reduce(x, axis=0, dtype=None, *, keepdims=False, out, dout):
    return (unreduce(dout, x, axis, keepdims) * share_of_ties(x, out, axis, keepdims),)


@maximum_reduce.jvp
def maximum_reduce_jvp(x, axis=0, dtype=None, *, keepdims=False, out, dx):
    return np.sum(dx * share_of_ties(x, out, axis, keepdims), axis=axis, keepdims=keepdims)


@bprop(np.logaddexp.reduce, samples=[*REDUCED[:4], WIDENED])
def logaddexp_reduce(x, axis=0, dtype=None, *, keepdims=False, out, dout):
    return (unreduce(dout, x, axis, keepdims) * np.exp(x - unreduce(out, x, axis, keepdims)),)


@logaddexp_reduce.jvp
def logaddexp_reduce_jvp(x, axis=0, dtype=None, *, keepdims=False, out, dx):
    return np.sum(dx * np.exp(x - unreduce(out, x, axis, keepdims)), axis=axis, keepdims=keepdims)


# ---------------------------------------------------------------- accumulate

ACCUMULATED = [given(A(5)), given(A(3, 4)), given(A(3, 4), axis=-1), WIDENED]


@bprop(np.add.accumulate, "linear", samples=ACCUMULATED)
def add_accumulate(x, axis=0, dtype=None, *, out, dout):
    return (unbroadcast(cumsum_dx(dout, x, axis), x),)


@bprop(np.multiply.accumulate, samples=[*ACCUMULATED, given(np.array([2.0, 0.0, 3.0]))])
def multiply_accumulate(x, axis=0, dtype=None, *, out, dout):
    return (unbroadcast(cumprod_dx(dout, x, out, axis), x),)


@multiply_accumulate.jvp
def multiply_accumulate_jvp(x, axis=0, dtype=None, *, out, dx):
    return cumprod_tangent(x, dx, axis)


def leaders(x: Array, out: Array, axis: int) -> Array:
    """The place along `axis` of the element that each running maximum or minimum `out` is, the first of
    equal ones.
    """
    place = np.expand_dims(np.arange(np.shape(x)[axis]), tuple(range(1, np.ndim(x) - axis % np.ndim(x))))
    fresh = np.concatenate(
        [
            np.ones_like(np.take(x, [0], axis), dtype=bool),
            np.diff(out, axis=axis) != 0,
        ],
        axis=axis,
    )
    return np.maximum.accumulate(np.where(fresh, place, 0), axis)


nondifferentiable([leaders])


@bprop(np.maximum.accumulate, np.minimum.accumulate, samples=ACCUMULATED)
def maximum_accumulate(x, axis=0, dtype=None, *, out, dout):
    return (untake_along(dout, x, leaders(x, out, axis), axis),)


@maximum_accumulate.jvp
def maximum_accumulate_jvp(x, axis=0, dtype=None, *, out, dx):
    return np.take_along_axis(dx, leaders(x, out, axis), axis)


# ---------------------------------------------------------------- reduceat


def segment_of(x: Array, indices: Any, axis: int) -> tuple[Array, Array]:
    """Where the segments of `np.add.reduceat` start and stop; one that does not rise is of one element."""
    start = np.asarray(indices) % np.shape(x)[axis]
    stop = np.append(start[1:], np.shape(x)[axis])
    return start, np.maximum(stop, start + 1)


def segment_weights(x: Array, indices: Any, axis: int) -> Array:
    """One where an element (columns) is in a segment (rows)."""
    start, stop = segment_of(x, indices, axis)
    place = np.arange(np.shape(x)[axis])
    return ((place >= start[:, None]) & (place < stop[:, None])).astype(x.dtype)


nondifferentiable([segment_of, segment_weights])


NARROW = given(A(4, dtype="float32"), [0, 2], dtype=np.float64)


@bprop(
    np.add.reduceat,
    "linear",
    samples=[given(A(6), [0, 2, 4]), given(A(6), [0, 4, 1]), given(A(3, 4), np.array([0, 2]), 1), NARROW],
)
def add_reduceat(x, indices, axis=0, dtype=None, *, out, dout):
    weights = segment_weights(x, indices, axis)
    return (unbroadcast(np.moveaxis(np.tensordot(weights, dout, ((0,), (axis,))), 0, axis), x),)


# ---------------------------------------------------------------- outer


def spread_axes(x: Array, y: Array) -> Array:
    """`x` with an axis of length 1 for each of `y` behind its own."""
    return np.reshape(x, np.shape(x) + (1,) * np.ndim(y))


OUTER = [
    given(A(3, low=0.5), A(2, low=0.5)),
    given(A(2, 2, low=0.5), A(3, low=0.5)),
    given(A(2, low=0.5), 1.5),
]
OUTER_BY: list[Any] = [
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.maximum,
    np.minimum,
    np.power,
    np.hypot,
    np.arctan2,
]
OUTER_BY += [np.logaddexp, np.logaddexp2, np.fmax, np.fmin]


def declare_outer(ufunc: Any) -> None:
    """Declares the rule of `ufunc.outer` by that of the ufunc."""
    rule = find_rule(ufunc)
    assert rule is not None
    template = rule.template.function

    @bprop(ufunc.outer, samples=OUTER)
    def outer(A, B, *, out, dout):
        dA, dB = template(spread_axes(A, B), B, out, dout)
        return unspread(dA, A, B), unbroadcast(dB, B)

    @outer.jvp
    def outer_jvp(A, B, *, out, dA, dB):
        by_a = template(spread_axes(A, B), B, out, spread_axes(dA, B))
        by_b = template(spread_axes(A, B), B, out, dB)
        return by_a[0] + by_b[1]

    if ufunc in OF_VECTORS:
        outer.for_ranks(1, 1)(OF_VECTORS[ufunc])


def add_outer(A, B, *, out, dout):
    return np.sum(dout, axis=1), np.sum(dout, axis=0)


def subtract_outer(A, B, *, out, dout):
    return np.sum(dout, axis=1), -np.sum(dout, axis=0)


def multiply_outer(A, B, *, out, dout):
    return dout @ B, A @ dout


OF_VECTORS: dict[Any, Any] = {np.add: add_outer, np.subtract: subtract_outer, np.multiply: multiply_outer}


def unspread(d: Array, x: Array, y: Array) -> Any:
    """The cotangent of `x` from that of the result of an outer function of `x` and `y`."""
    return unbroadcast(np.reshape(unbroadcast(d, spread_axes(x, y)), np.shape(x)), x)


for _ufunc in OUTER_BY:
    declare_outer(_ufunc)


# ---------------------------------------------------------------- the others

_METHODS = ("reduce", "accumulate", "outer", "reduceat")
for _each in {f for f in vars(np).values() if isinstance(f, np.ufunc)}:
    refuse([_each.at], "it changes its first argument in place; write `a[index] += values`, or a loop")
    if is_nondifferentiable(_each):
        nondifferentiable(getattr(_each, name) for name in _METHODS)
    else:
        _methods = [getattr(_each, name) for name in _METHODS]
        refuse(
            [f for f in _methods if find_rule(f) is None], "its derivative is not known; write the loop out"
        )
