# mypy: allow-untyped-defs
"""NumPy's functions that write into an array, as stores: what they mean for differentiation.

Their lines are put in the place of the calls. Each takes the array that is written to first.
"""

from __future__ import annotations

import numpy as np

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

__all__ = [
    "apply_at",
    "combine_at",
    "copyto",
    "copyto_masked",
    "fill",
    "fill_diagonal",
    "fill_diagonal_number",
    "place",
    "put",
    "put_along_axis",
    "put_number",
    "putmask",
    "set_all_flat",
    "set_flat",
    "set_flat_number",
    "set_item",
    "set_masked",
]


def copyto(dst, src):
    dst[...] = src


def fill(a, value):
    a[...] = value


def set_masked(a, mask, value):
    """Of a number; also of `np.copyto`."""
    chosen = mask_like(mask, a)
    a[chosen] = value


def copyto_masked(dst, where, src):
    chosen = mask_like(where, dst)
    dst[chosen] = at_mask(src, chosen)


def putmask(a, mask, values):
    chosen = mask_like(mask, a)
    spread = cycled(values, a.shape)
    a[chosen] = spread[chosen]


def place(arr, mask, vals):
    chosen = mask_like(mask, arr)
    arr[chosen] = cycled(vals, np.count_nonzero(chosen))


def put(a, ind, v, mode="raise"):
    places = flat_places(a, np.ravel(ind), mode)
    a[places] = cycled(v, np.size(ind))


def put_number(a, ind, v, mode="raise"):
    places = flat_places(a, np.ravel(ind), mode)
    a[places] = v


def set_flat(a, index, value):
    places = flat_places(a, index)
    a[places] = cycled(value, np.shape(places[0]))


def set_flat_number(a, index, value):
    places = flat_places(a, index)
    a[places] = value


def set_all_flat(a, value):
    a[...] = cycled(value, a.shape)


def set_item(a, index, value):
    a[index] = value


def fill_diagonal(a, val, wrap=False):
    places = diagonal_places(a, wrap)
    a[places] = cycled(val, len(places[0]))


def fill_diagonal_number(a, val, wrap=False):
    places = diagonal_places(a, wrap)
    a[places] = val


def put_along_axis(arr, indices, values, axis=-1):
    places = along_axis_places(arr, indices, axis)
    arr[places] = values


def combine_at(a, ind, v, ufunc):
    """`ufunc.at(a, ind, v)`: elements that are hit several times have one turn after the other."""
    numbers = numbers_at(a, ind)
    spread = at_mask(v, np.ones(shape_at(a, ind), dtype=bool))
    turns = turns_of(numbers)
    for k in range(np.max(turns, initial=-1) + 1):
        now = np.flatnonzero(turns == k)
        places = flat_places(a, numbers[now])
        a[places] = ufunc(np.take(a, numbers[now]), np.take(spread, now))


def apply_at(a, ind, ufunc):
    """`ufunc.at(a, ind)`"""
    numbers = numbers_at(a, ind)
    turns = turns_of(numbers)
    for k in range(np.max(turns, initial=-1) + 1):
        now = np.flatnonzero(turns == k)
        places = flat_places(a, numbers[now])
        a[places] = ufunc(np.take(a, numbers[now]))
