"""The methods of ufuncs of two arguments: reduce, accumulate, outer, reduceat.

Those of `add`, `multiply`, `maximum` and `minimum` are functions of NumPy by other names. Of the other
differentiable ufuncs `outer` is the ufunc itself on arrays with more axes, and the others go element by
element: they are also written in Python here, and their derivatives are those of these programs.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, find_rule, is_nondifferentiable, nondifferentiable, refuse
from ..runtime.adjoints import unbroadcast, unreduce
from .cumulative import cumprod_dx, cumprod_tangent, cumsum_dx
from .functional import pulled_back, pushed_forward
from .indexing import untake_along
from .reductions import MASK, product_of_others, share_of_ties
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- reduce

REDUCED = [
    given(A(3, 4)),
    given(A(3, 4), 1),
    given(A(3, 4), axis=None, keepdims=True),
    given(A(3, 4, 2), axis=(0, 2)),
    given(A(3, 4), where=MASK),
]
WIDENED = given(A(3, dtype="float32"), dtype=np.float64)
STARTED = [given(A(3, 4), initial=0.5), given(A(3, 4), 1, initial=0.5, where=MASK)]


@bprop(np.add.reduce, samples=[*REDUCED, WIDENED, *STARTED])
def add_reduce(x, axis=0, dtype=None, *, keepdims=False, initial=0, where=True, out, dout):
    dx = unreduce(dout, x, axis, keepdims)
    if where is True:
        return dx, None, None, None, unbroadcast(dout, initial)
    return np.where(where, dx, 0), None, None, None, unbroadcast(dout, initial)


@add_reduce.jvp
def add_reduce_jvp(axis, dtype, keepdims, where, out, dx, dinitial):
    return np.sum(dx, axis=axis, dtype=dtype, keepdims=keepdims, where=where) + dinitial


@bprop(np.multiply.reduce, samples=[*REDUCED, WIDENED, *STARTED])
def multiply_reduce(x, axis=0, dtype=None, *, keepdims=False, initial=1, where=True, out, dout):
    dinitial = unbroadcast(dout * np.prod(x, axis=axis, keepdims=keepdims, where=where), initial)
    d = unreduce(dout * initial, x, axis, keepdims)
    if where is True:
        return d * product_of_others(x, axis), None, None, None, dinitial
    return np.where(where, d * product_of_others(np.where(where, x, 1), axis), 0), None, None, None, dinitial


@multiply_reduce.jvp
def multiply_reduce_jvp(x, axis, keepdims, initial, where, out, dx, dinitial):
    others = product_of_others(np.where(where, x, 1), axis)
    by_x = initial * np.sum(dx * others, axis=axis, keepdims=keepdims, where=where)
    return by_x + dinitial * np.prod(x, axis=axis, keepdims=keepdims, where=where)


@bprop(np.maximum.reduce, np.minimum.reduce, samples=[*REDUCED[:4], WIDENED])
def maximum_reduce(x, axis=0, dtype=None, *, keepdims=False, out, dout):
    shares = share_of_ties(x, out, axis, keepdims)
    return (unreduce(dout, x, axis, keepdims) * shares,)


@maximum_reduce.for_picks
def picked_by_maximum(x, axis=0, dtype=None, *, keepdims=False, out, dout):
    return (share_of_ties(x, out, axis, keepdims),)


@maximum_reduce.jvp
def maximum_reduce_jvp(x, axis, keepdims, out, dx):
    shares = share_of_ties(x, out, axis, keepdims)
    return np.sum(np.where(shares, dx * shares, 0), axis=axis, keepdims=keepdims)


@bprop(np.logaddexp.reduce, samples=[*REDUCED[:4], WIDENED])
def logaddexp_reduce(x, axis=0, dtype=None, *, keepdims=False, out, dout):
    return (unreduce(dout, x, axis, keepdims) * np.exp(x - unreduce(out, x, axis, keepdims)),)


@logaddexp_reduce.jvp
def logaddexp_reduce_jvp(x, axis, keepdims, out, dx):
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
def multiply_accumulate_jvp(x, axis, out, dx):
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
def maximum_accumulate_jvp(x, axis, out, dx):
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


# ---------------------------------------------------------------- of all other ufuncs


def accumulated(call: tuple[Any, ...]) -> Array:
    """`ufunc.accumulate(x, axis)`."""
    ufunc, x, axis = call
    rows = np.moveaxis(x, axis, 0)
    total = rows[0]
    found = [total]
    for k in range(1, len(rows)):
        total = ufunc(total, rows[k])
        found.append(total)
    return np.moveaxis(np.stack(found), 0, axis)


def reduced(call: tuple[Any, ...]) -> Array:
    """`ufunc.reduce(x, axis, keepdims=keepdims)`."""
    ufunc, x, axis, keepdims = call
    whole = np.ravel(x) if axis is None else x
    found = np.take(accumulated((ufunc, whole, 0 if axis is None else axis)), -1, 0 if axis is None else axis)
    if not keepdims:
        return found
    return np.reshape(found, (1,) * np.ndim(x)) if axis is None else np.expand_dims(found, axis)


def reduced_at(call: tuple[Any, ...]) -> Array:
    """`ufunc.reduceat(x, indices, axis)`."""
    ufunc, x, indices, axis = call
    rows = np.moveaxis(x, axis, 0)
    start, stop = segment_of(x, indices, axis)
    found = []
    for k in range(len(start)):
        total = rows[start[k]]
        for j in range(start[k] + 1, stop[k]):
            total = ufunc(total, rows[j])
        found.append(total)
    return np.moveaxis(np.stack(found), 0, axis)


ALONG = [given(A(4, low=0.5)), given(A(3, 2, low=0.5), -1)]
# Not those whose result depends on the order in which NumPy goes, which is not said: `power`, `arctan2`.
FOLDED = [np.subtract, np.divide, np.hypot, np.logaddexp2, np.fmax, np.fmin]
SEGMENTS = [given(A(6, low=0.5), [0, 2, 1]), given(A(3, 4, low=0.5), np.array([0, 2]), 1)]


def declare_reduce(ufunc: Any) -> None:
    """Declares the rule of `ufunc.reduce`, along one axis or all of an array."""

    @bprop(ufunc.reduce, samples=[*ALONG, given(A(3, 2, low=0.5), keepdims=True)])
    def reduce(x, axis=0, *, keepdims=False, out, dout):
        _, dx, _, _ = pulled_back(reduced, dout, (ufunc, x, axis, keepdims))
        return (dx,)

    @reduce.jvp
    def reduce_jvp(x, axis, keepdims, out, dx):
        return pushed_forward(reduced, (None, dx, None, None), (ufunc, x, axis, keepdims))


def declare_accumulate(ufunc: Any) -> None:
    """Declares the rule of `ufunc.accumulate`."""

    @bprop(ufunc.accumulate, samples=ALONG)
    def accumulate(x, axis=0, *, out, dout):
        _, dx, _ = pulled_back(accumulated, dout, (ufunc, x, axis))
        return (dx,)

    @accumulate.jvp
    def accumulate_jvp(x, axis, out, dx):
        return pushed_forward(accumulated, (None, dx, None), (ufunc, x, axis))


def declare_reduceat(ufunc: Any) -> None:
    """Declares the rule of `ufunc.reduceat`."""

    @bprop(ufunc.reduceat, samples=SEGMENTS)
    def reduceat(x, indices, axis=0, *, out, dout):
        _, dx, _, _ = pulled_back(reduced_at, dout, (ufunc, x, indices, axis))
        return (dx,)

    @reduceat.jvp
    def reduceat_jvp(x, indices, axis, out, dx):
        return pushed_forward(reduced_at, (None, dx, None, None), (ufunc, x, indices, axis))


for _ufunc in FOLDED:
    declare_reduce(_ufunc)
for _ufunc in [*FOLDED, np.logaddexp]:
    declare_accumulate(_ufunc)
for _ufunc in [*FOLDED, np.logaddexp, np.multiply, np.maximum, np.minimum]:
    declare_reduceat(_ufunc)


# ---------------------------------------------------------------- without a rule

_METHODS = ("reduce", "accumulate", "outer", "reduceat")
for _each in {f for f in vars(np).values() if isinstance(f, np.ufunc)}:
    refuse([_each.at], "it changes its first argument in place; write `a[index] += values`, or a loop")
    if is_nondifferentiable(_each) and "dd->d" not in _each.types:
        nondifferentiable(getattr(_each, name) for name in _METHODS)
    elif is_nondifferentiable(_each):
        nondifferentiable([_each.outer])
        refuse(
            [getattr(_each, name) for name in _METHODS if name != "outer"],
            "its result may be an element as it is; write the loop out",
        )
    else:
        _methods = [getattr(_each, name) for name in _METHODS]
        refuse(
            [f for f in _methods if find_rule(f) is None], "its derivative is not known; write the loop out"
        )
