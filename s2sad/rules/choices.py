"""Functions that choose, for each element, one of several arrays: select, choose; and masks in derivatives.

Their gradients are those of `np.where`, so that nothing reaches an array where another one was chosen. (What
`np.where` and the extremes of two arrays are is with the other elementwise functions.)
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, part_like, regroup
from .samples import A, given

Array = Any  # any type with NumPy's protocols

__all__ = ["halved_where", "kept_where", "places_at", "reaching", "where_each", "zero_kept", "zeroed_where"]

MANY = 512  # elements, from which on it pays to look at bits
BITS = {np.dtype(t): np.dtype(f"i{np.dtype(t).itemsize}") for t in ("float16", "float32", "float64")}


def kept_where(mask: Array, x: Array) -> Array:
    """`np.where(mask, x, 0)`; of many numbers by their bits, several times as fast where the mask follows no
    pattern.

    >>> kept_where(np.array([True, False, True]), np.array([1.0, np.inf, 3.0]))
    array([1., 0., 3.])
    """
    if _is_large(mask, x):
        return _bits_where((~mask).view(np.int8) - np.int8(1), x)
    return np.where(mask, x, 0)


def zeroed_where(mask: Array, x: Array) -> Array:
    """`np.where(mask, 0, x)`, as `kept_where`."""
    if _is_large(mask, x):
        return _bits_where(-(~mask).view(np.int8), x)
    return np.where(mask, 0, x)


def _bits_where(ones: Any, x: Any) -> Any:
    """The bits of `x` where the integers `ones` are -1, in which all bits are set, else none."""
    shape = x.shape if x.shape == ones.shape else np.broadcast_shapes(x.shape, ones.shape)
    result = np.empty_like(x, shape=shape)
    np.bitwise_and(x.view(BITS[x.dtype]), ones, out=result.view(BITS[x.dtype]))
    return result


def _is_large(mask: Any, x: Any) -> bool:
    """Whether these are NumPy arrays, of truth values and of floating-point numbers, and many."""
    are_arrays = type(mask) is np.ndarray and type(x) is np.ndarray
    return are_arrays and mask.size >= MANY and mask.dtype == bool and x.dtype in BITS


def halved_where(mask: Array, x: Array) -> Array:
    """`np.where(mask, x / 2, x)`, which is `x` itself where the mask, of the same shape, holds nowhere."""
    is_all = type(x) is type(mask) is np.ndarray and x.shape == mask.shape and not mask.any()
    return x if is_all else np.where(mask, x / 2, x)


def zero_kept(d: Any, x: Any) -> Any:
    """`x`, which is `d` times a slope, with zero for NaN where `d` is zero: the slope is infinite there.

    >>> zero_kept(np.array([0.0, 1.0]), np.array([np.nan, np.nan]))
    array([ 0., nan])
    """
    lost = np.isnan(x)
    return np.where(lost & (d == 0), 0, x)[()] if lost.any() else x


KEPT = [
    given(np.array([True, False, True]), A(3)),
    given(np.array([[True], [False]]), A(2, 3)),
    given(np.array([True, False]), A(3, 1, dtype="complex128")),
    given(np.arange(MANY) % 3 == 0, A(MANY)),
    given(np.arange(MANY).reshape(-1, 2) % 3 == 0, A(2, dtype="float32")),
]


@bprop(kept_where, "elementwise", slope="finite", sharing="fresh", samples=KEPT)
def kept_where_(mask, x, out, dout):
    return None, np.where(mask, dout, 0)


@bprop(zeroed_where, "elementwise", slope="finite", sharing="fresh", samples=KEPT)
def zeroed_where_(mask, x, out, dout):
    return None, np.where(mask, 0, dout)


@bprop(zero_kept, "elementwise", slope="finite", selects=True,
    samples=[given(np.array([0.0, 1.0]), A(2)), given(0.0, 1.5)])
def zero_kept_(d, x, out, dout):
    return None, np.where(np.isnan(x) & (d == 0), 0, dout)


@bprop(halved_where, "elementwise", slope="finite", samples=[*KEPT, given(np.array([False, False]), A(2))])
def halved_where_(mask, x, out, dout):
    return None, halved_where(mask, dout)


def reaching(mask: Any, x: Any) -> Any:
    """Which elements of `x` take part in those that `mask` chooses of a result that `x` was broadcast to; to
    be broadcast to the shape of `x`.

    >>> reaching(np.array([[True, False], [False, False]]), np.ones((2, 1)))
    array([[ True],
           [False]])
    """
    shape, given = np.shape(x), np.shape(mask)
    lead = max(len(given) - len(shape), 0)
    sizes = shape[len(shape) - len(given) + lead :]
    single = [lead + i for i, n in enumerate(sizes) if n == 1]
    reduced = np.any(mask, axis=tuple(single), keepdims=True) if single else mask
    return np.any(reduced, axis=tuple(range(lead))) if lead else reduced


def places_at(x: Array, index: Any) -> Array:
    """Which elements of an array an index selects.

    >>> places_at(np.ones(3), slice(1, None))
    array([False,  True,  True])
    """
    found = np.zeros(np.shape(x), dtype=bool)
    found[index] = True
    return found


nondifferentiable([places_at])
nondifferentiable([reaching], shape_only=(1,))


def where_each(conditions: Any, d: Array, choices: Any) -> Any:
    """For each of several arrays, or numbers, `np.where(condition, d, 0)`, summed over the axes along which
    it was broadcast.
    """
    parts = [
        part_like(unbroadcast(np.where(condition, d, 0), np.asarray(x)), x)
        for condition, x in zip(conditions, choices, strict=True)
    ]
    return regroup(parts, choices)


@bprop(
    where_each,
    samples=[
        given([np.array([True, False, False])], A(3), [np.zeros(3)]),
        given([np.array([True, False]), np.array([False, True])], A(2), (np.zeros(1), 1.5)),
    ],
)
def where_each_(conditions, d, choices, out, dout):
    return None, np.select(conditions, filled(dout, choices)), None


@where_each_.jvp
def where_each_jvp(conditions, choices, out, dd):
    return where_each(conditions, dd, choices)


def first_true(conditions: Any, out: Array) -> list[Array]:
    """For each of several conditions where it is the first that holds, broadcast like `out`."""
    left = np.broadcast_to(True, np.shape(out))
    found = []
    for condition in conditions:
        found.append(left & condition)
        left = left & np.logical_not(condition)
    return found


def none_true(conditions: Any, out: Array) -> Array:
    """Where none of several conditions holds, broadcast like `out`."""
    return np.broadcast_to(np.logical_not(np.any(np.broadcast_arrays(*conditions), axis=0)), np.shape(out))


@bprop(
    np.select, runs=False,
    lists=["choicelist"],
    samples=[
        given([np.array([True, False, False]), np.array([True, True, False])], [A(3), A()], A(3)),
        given([np.array([True, False, False])], [A(3)]),
        given([np.array([[True], [False]]), np.array([True, True, False])], [A(3), A(2, 1)], A()),
    ],
)
def select(condlist, choicelist, default=0, *, out, dout):
    ddefault = unbroadcast(np.where(none_true(condlist, out), dout, 0), default)
    return None, where_each(first_true(condlist, out), dout, choicelist), ddefault


@select.jvp
def select_jvp(condlist, choicelist, default, out, dchoicelist, ddefault):
    return np.select(condlist, filled(dchoicelist, choicelist), filled(ddefault, default))


def chosen_by(a: Array, count: int, mode: str, out: Array) -> list[Array]:
    """Where `np.choose(a, ...)` makes its first choice, its second and so on, broadcast like `out`."""
    if mode != "raise":
        a = np.mod(a, count) if mode == "wrap" else np.clip(a, 0, count - 1)
    return [np.broadcast_to(np.equal(a, k), np.shape(out)) for k in range(count)]


nondifferentiable([first_true, none_true, chosen_by])


@bprop(
    np.choose,
    lists=True,
    samples=[
        given(np.array([0, 2, 1, 2]), [A(4), A(4), A(4)]),
        given(np.array([[0], [1]]), (A(3), A())),
        given(np.array([0, 1, 0]), A(2, 3)),
        given(np.array([-1, 5, 0]), [A(3), A(3)], mode="clip"),
        given(np.array([-1, 5, 0]), [A(3), 1.5], mode="wrap"),
    ],
)
def choose(a, choices, *, mode="raise", out, dout):
    return None, where_each(chosen_by(a, len(choices), mode, out), dout, choices)


@choose.jvp
def choose_jvp(a, choices, mode, out, dchoices):
    return np.choose(a, filled(dchoices, choices), mode=mode)
