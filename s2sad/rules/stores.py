# mypy: allow-untyped-defs
"""Templates with the stores of NumPy's functions that write to an array.

Their lines are inlined in place of the calls. Each takes the array that is written to first, and may have a
simpler form for a number.
"""

from __future__ import annotations

import operator

import numpy as np

from ..primitives.record import stores, stores_at
from ..runtime.mutation import mask_like
from .places import (
    along_axis_places,
    at_mask,
    cycled,
    diagonal_places,
    flat_places,
    numbers_at,
    shape_at,
    turns_of,
)

__all__ = ["copyto", "copyto_masked", "fill", "set_all_flat", "set_flat"]


@stores(np.ndarray.fill)
def fill(a, value):
    a[...] = value


def set_masked(a, mask, value):
    """Of a number; also of `np.copyto`."""
    chosen = mask_like(mask, a)
    a[chosen] = value


@stores(np.copyto)
def copyto(dst, src):
    dst[...] = src


@stores(of_number=set_masked)
def copyto_masked(dst, where, src):
    chosen = mask_like(where, dst)
    dst[chosen] = at_mask(src, chosen)


@stores(np.putmask, of_number=set_masked)
def putmask(a, mask, values):
    chosen = mask_like(mask, a)
    spread = cycled(values, a.shape)
    a[chosen] = spread[chosen]


@stores(np.place, of_number=set_masked)
def place(arr, mask, vals):
    chosen = mask_like(mask, arr)
    arr[chosen] = cycled(vals, np.count_nonzero(chosen))


def put_number(a, ind, v, mode="raise"):
    places = flat_places(a, np.ravel(ind), mode)
    a[places] = v


@stores(np.put, np.ndarray.put, of_number=put_number)
def put(a, ind, v, mode="raise"):
    places = flat_places(a, np.ravel(ind), mode)
    a[places] = cycled(v, np.size(ind))


def set_flat_number(a, index, value):
    places = flat_places(a, index)
    a[places] = value


@stores(of_number=set_flat_number)  # `a.flat[index] = value`
def set_flat(a, index, value):
    places = flat_places(a, index)
    a[places] = cycled(value, np.shape(places[0]))


@stores(of_number=fill)  # `a.flat = value`
def set_all_flat(a, value):
    a[...] = cycled(value, a.shape)


@stores(operator.setitem, np.ndarray.__setitem__)
def set_item(a, index, value):
    a[index] = value


def fill_diagonal_number(a, val, wrap=False):
    places = diagonal_places(a, wrap)
    a[places] = val


@stores(np.fill_diagonal, of_number=fill_diagonal_number)
def fill_diagonal(a, val, wrap=False):
    places = diagonal_places(a, wrap)
    a[places] = cycled(val, len(places[0]))


@stores(np.put_along_axis)
def put_along_axis(arr, indices, values, axis=-1):
    places = along_axis_places(arr, indices, axis)
    arr[places] = values


# Those that round alike for one element and for many.
@stores_at(np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin)
def combine_at(a, ind, v, ufunc):
    """`ufunc.at(a, ind, v)`: elements that are hit several times have one turn after the other."""
    numbers = numbers_at(a, ind)
    spread = at_mask(v, np.ones(shape_at(a, ind), dtype=bool))
    turns = turns_of(numbers)
    for k in range(np.max(turns, initial=-1) + 1):
        now = np.flatnonzero(turns == k)
        places = flat_places(a, numbers[now])
        a[places] = ufunc(np.take(a, numbers[now]), np.take(spread, now))


@stores_at(np.negative, np.absolute, np.square)
def apply_at(a, ind, ufunc):
    """`ufunc.at(a, ind)`"""
    numbers = numbers_at(a, ind)
    turns = turns_of(numbers)
    for k in range(np.max(turns, initial=-1) + 1):
        now = np.flatnonzero(turns == k)
        places = flat_places(a, numbers[now])
        a[places] = ufunc(np.take(a, numbers[now]))
