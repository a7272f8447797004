"""`scipy.ndimage`: filters, which multiply what lies around each element with weights.

Beyond the edges an array goes on as `np.pad` goes on in the mode that `MODES` names, so that the transpose of
a filter is a filter of the cotangent, with zeros around it, and then the transpose of this padding.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, signal

from ..primitives.record import bprop, nondifferentiable, refuse
from ..runtime.adjoints import unbroadcast
from .constant import named
from .padding import unpad
from .samples import A, given

Array = Any  # any type with NumPy's protocols

MODES: Any = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}


def margins(weights: Array, origin: Any) -> list[tuple[int, int]]:
    """How many elements before and behind one its neighbourhood reaches, along each axis."""
    origins = np.broadcast_to(origin, (np.ndim(weights),)).tolist()
    return [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(np.shape(weights), origins, strict=True)]


def behind_and_before(weights: Array) -> list[tuple[int, int]]:
    """The zeros around a cotangent from which every neighbourhood that reaches into it is seen."""
    return [(n - 1 - n // 2, n // 2) for n in np.shape(weights)]


def along(weights: Array, x: Array, axis: int) -> Array:
    """Weights in a row, to lie along an axis of `x`."""
    return np.expand_dims(weights, tuple(k for k in range(np.ndim(x)) if k != axis % np.ndim(x)))


def convolved_origin(weights: Array, origin: Any) -> list[int]:
    """The origin of the correlation that a convolution with these weights backwards is."""
    origins = np.broadcast_to(origin, (np.ndim(weights),)).tolist()
    return [-o - (n % 2 == 0) for n, o in zip(np.shape(weights), origins, strict=True)]


nondifferentiable([margins, behind_and_before, convolved_origin])


def correlate_dx(d: Array, x: Array, weights: Array, mode: str, origin: Any) -> Array:
    """The cotangent of the array in `ndimage.correlate`."""
    wide = np.pad(d, behind_and_before(weights))
    wide = ndimage.correlate(wide, np.flip(weights), mode="constant")
    return unpad(wide, x, margins(weights, origin), MODES[mode])


def correlate_dweights(d: Array, x: Array, weights: Array, mode: str, cval: Any, origin: Any) -> Array:
    """The cotangent of the weights in `ndimage.correlate`."""
    widths = margins(weights, origin)
    if MODES[mode] == "constant":
        wide = np.pad(x, widths, constant_values=cval)
    else:
        wide = np.pad(x, widths, MODES[mode])
    return unbroadcast(signal.correlate(wide, d, "valid"), weights)


# ---------------------------------------------------------------- with given weights

WEIGHTED = [
    given(A(5, 4), A(3, 3)),
    given(A(5, 4), A(2, 3), mode="constant", cval=1.5),
    given(A(6), A(4), mode="nearest", origin=1),
    given(A(6), A(4), mode="mirror", origin=-2),
    given(A(4, 5), A(3, 2), mode="wrap", origin=(1, -1)),
    given(A(3), A(7), mode="reflect"),
]
ROWS = [
    given(A(5, 4), A(3)),
    given(A(5, 4), A(2), 0, mode="constant", cval=1.5),
    given(A(6), A(4), mode="nearest", origin=1),
    given(A(4, 2), A(3), axis=0, mode="mirror", origin=-1),
]


@bprop(ndimage.correlate, samples=WEIGHTED)
def correlate(input, weights, *, mode="reflect", cval=0.0, origin=0, out, dout):
    dx = correlate_dx(dout, input, weights, mode, origin)
    return dx, correlate_dweights(dout, input, weights, mode, cval, origin)


@correlate.jvp
def correlate_jvp(input, weights, mode, cval, origin, out, dinput, dweights):
    by_input = ndimage.correlate(dinput, weights, mode=mode, origin=origin)
    return by_input + ndimage.correlate(input, dweights, mode=mode, cval=cval, origin=origin)


@bprop(ndimage.convolve, samples=WEIGHTED)
def convolve(input, weights, *, mode="reflect", cval=0.0, origin=0, out, dout):
    backwards, place = np.flip(weights), convolved_origin(weights, origin)
    dweights = np.flip(correlate_dweights(dout, input, backwards, mode, cval, place))
    return correlate_dx(dout, input, backwards, mode, place), dweights


@convolve.jvp
def convolve_jvp(input, weights, mode, cval, origin, out, dinput, dweights):
    by_input = ndimage.convolve(dinput, weights, mode=mode, origin=origin)
    return by_input + ndimage.convolve(input, dweights, mode=mode, cval=cval, origin=origin)


@bprop(ndimage.correlate1d, samples=ROWS)
def correlate1d(input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0, out, dout):
    row = along(weights, input, axis)
    place = row_origin(input, axis, origin)
    dweights = correlate_dweights(dout, input, row, mode, cval, place)
    return correlate_dx(dout, input, row, mode, place), np.reshape(dweights, np.shape(weights))


@correlate1d.jvp
def correlate1d_jvp(input, weights, axis, mode, cval, origin, out, dinput, dweights):
    by_input = ndimage.correlate1d(dinput, weights, axis, mode=mode, origin=origin)
    return by_input + ndimage.correlate1d(input, dweights, axis, mode=mode, cval=cval, origin=origin)


@bprop(ndimage.convolve1d, samples=ROWS)
def convolve1d(input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0, out, dout):
    row = along(np.flip(weights), input, axis)
    place = row_origin(input, axis, convolved_origin(weights, origin)[0])
    dweights = correlate_dweights(dout, input, row, mode, cval, place)
    return correlate_dx(dout, input, row, mode, place), np.flip(np.reshape(dweights, np.shape(weights)))


@convolve1d.jvp
def convolve1d_jvp(input, weights, axis, mode, cval, origin, out, dinput, dweights):
    by_input = ndimage.convolve1d(dinput, weights, axis, mode=mode, origin=origin)
    return by_input + ndimage.convolve1d(input, dweights, axis, mode=mode, cval=cval, origin=origin)


def row_origin(x: Array, axis: int, origin: int) -> list[int]:
    """The origin of weights that lie along one axis."""
    return [origin if k == axis % np.ndim(x) else 0 for k in range(np.ndim(x))]


# ---------------------------------------------------------------- one axis after the other


def each_axis(x: Array, axes: Any, *options: Any) -> list[tuple[Any, ...]]:
    """The axes of a filter, each with its options; an option is one value for all axes or one for each."""
    chosen = range(np.ndim(x)) if axes is None else np.atleast_1d(axes).tolist()
    lists = [o if isinstance(o, (list, tuple, np.ndarray)) else [o] * len(chosen) for o in options]
    return list(zip([a % np.ndim(x) for a in chosen], *lists, strict=True))


nondifferentiable([row_origin, each_axis])


def uniform_dx(d: Array, x: Array, size: Any, mode: Any, origin: Any, axes: Any) -> Array:
    """The cotangent of the array in `ndimage.uniform_filter`."""
    for axis, n, how, place in each_axis(x, axes, size, mode, origin)[::-1]:
        row = along(np.ones_like(np.real(d), shape=n) / n, x, axis)
        d = correlate_dx(d, x, row, how, row_origin(x, axis, place))
    return unbroadcast(d, x)


@bprop(
    ndimage.uniform_filter,
    samples=[
        given(A(6)),
        given(A(5, 4), (2, 3), mode="nearest"),
        given(A(5, 4), 4, mode=("wrap", "mirror"), origin=(1, -1)),
        given(A(5, 4), 3, mode="constant", cval=1.5),
        given(A(5, 4), 2, axes=(1,)),
    ],
)
def uniform_filter(input, size=3, *, mode="reflect", cval=0.0, origin=0, axes=None, out, dout):
    return (uniform_dx(dout, input, size, mode, origin, axes),)


@uniform_filter.jvp
def uniform_filter_jvp(size, mode, origin, axes, out, dinput):
    return ndimage.uniform_filter(dinput, size, mode=mode, origin=origin, axes=axes)


@bprop(
    ndimage.uniform_filter1d,
    samples=[
        given(A(6), 3),
        given(A(5, 4), 2, 0, mode="nearest", origin=-1),
        given(A(5), 3, mode="constant", cval=1.0),
    ],
)
def uniform_filter1d(input, size, axis=-1, *, mode="reflect", cval=0.0, origin=0, out, dout):
    return (uniform_dx(dout, input, size, mode, origin, axis),)


@uniform_filter1d.jvp
def uniform_filter1d_jvp(size, axis, mode, origin, out, dinput):
    return ndimage.uniform_filter1d(dinput, size, axis, mode=mode, origin=origin)


refuse(
    named(
        ndimage,
        "map_coordinates affine_transform geometric_transform rotate shift zoom spline_filter "
        "spline_filter1d",
    ),
    "SciPy interpolates by compiled code; for numbers between the points of a grid, "
    "scipy.interpolate.RegularGridInterpolator is differentiated",
)
refuse(
    named(
        ndimage,
        "median_filter rank_filter percentile_filter minimum_filter maximum_filter minimum_filter1d "
        "maximum_filter1d generic_filter generic_filter1d",
    ),
    "SciPy compares by compiled code; compare np.lib.stride_tricks.sliding_window_view along its last axes",
)
