"""`scipy.signal`: convolutions and correlations of any number of dimensions, and digital filters."""
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from ..primitives.record import bprop, nondifferentiable, refuse
from ..runtime.adjoints import unbroadcast
from .constant import named
from .containers import filled
from .padding import to_ends, unpad
from .samples import A, given

Array = Any  # any type with NumPy's protocols

nondifferentiable([signal.square])  # it is 1 or -1

# ---------------------------------------------------------------- convolutions

def margins(d: Array, x: Array, y: Array, mode: str) -> list[tuple[int, int]]:
    """How many elements of a full convolution of `x` with `y` lie before and behind what `mode` keeps."""
    found = []
    for kept, n, m in zip(np.shape(d), np.shape(x), np.shape(y), strict=True):
        before = {"full": 0, "same": (m - 1) // 2, "same, ahead": m // 2, "valid": min(n, m) - 1}[mode]
        found.append((before, n + m - 1 - kept - before))
    return found


nondifferentiable([margins])


def whole(d: Array, x: Array, y: Array, mode: str) -> Array:
    """The cotangent of the full convolution, from that of the part that is kept."""
    return d if mode == "full" else np.pad(d, margins(d, x, y, mode))


PAIRS = [given(A(5), A(3)), given(A(5), A(3), "same"), given(A(6), A(4), "valid"), given(A(2), A(5), "same"),
         given(A(2), A(5), "valid"), given(A(4, 5), A(2, 3)), given(A(4, 5), A(2, 2), "same"),
         given(A(4, 5), A(3, 2), mode="valid"), given(A(5, dtype="float32"), A(3, dtype="float32")),
         given(A(4, dtype="complex128"), A(2, dtype="complex128"))]


@bprop(signal.convolve, "bilinear", runs=True, samples=[*PAIRS, given(A(5), A(3), "same", "direct")])
def convolve(x, y, mode="full", method="auto", *, out, dout):
    if mode == "full":
        dx = signal.convolve(dout, np.flip(y), "valid", method=method)
        return unbroadcast(dx, x), unbroadcast(signal.convolve(dout, np.flip(x), "valid", method=method), y)
    d = whole(dout, x, y, mode)
    dx = signal.convolve(d, np.flip(y), "valid", method=method)
    return unbroadcast(dx, x), unbroadcast(signal.convolve(d, np.flip(x), "valid", method=method), y)


@bprop(signal.fftconvolve, "bilinear", runs=True, samples=PAIRS)
def fftconvolve(x, y, mode="full", *, out, dout):
    if mode == "full":
        dx = signal.fftconvolve(dout, np.flip(y), "valid")
        return unbroadcast(dx, x), unbroadcast(signal.fftconvolve(dout, np.flip(x), "valid"), y)
    d = whole(dout, x, y, mode)
    dx = signal.fftconvolve(d, np.flip(y), "valid")
    return unbroadcast(dx, x), unbroadcast(signal.fftconvolve(d, np.flip(x), "valid"), y)


@bprop(signal.oaconvolve, "bilinear", runs=True, samples=PAIRS)
def oaconvolve(x, y, mode="full", *, out, dout):
    if mode == "full":
        dx = signal.oaconvolve(dout, np.flip(y), "valid")
        return unbroadcast(dx, x), unbroadcast(signal.oaconvolve(dout, np.flip(x), "valid"), y)
    d = whole(dout, x, y, mode)
    dx = signal.oaconvolve(d, np.flip(y), "valid")
    return unbroadcast(dx, x), unbroadcast(signal.oaconvolve(d, np.flip(x), "valid"), y)


# Beyond the edges `x` goes on: as in `np.pad`, after which only what lies within counts.
BEYOND = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap",
          "symm": "symmetric", "symmetric": "symmetric"}


def beyond(boundary: str) -> Any:
    """What `np.pad` calls a boundary."""
    return BEYOND[boundary]


def reach(y: Array) -> list[tuple[int, int]]:
    """How far beyond the edges a full convolution with `y` looks."""
    return [(m - 1, m - 1) for m in np.shape(y)]


nondifferentiable([beyond, reach])


def from_fill(value: Any, x: Array, y: Array, mode: str, boundary: str) -> Array:
    """The part of a convolution with `y` that comes from the value around `x`."""
    return signal.convolve2d(np.zeros_like(x), y, mode, boundary, value)


@bprop(from_fill, "bilinear", samples=[given(1.5, A(4, 3), A(2, 3), "same", "fill")])
def from_fill_(value, x, y, mode, boundary, out, dout):
    found = convolution_grads(dout, np.zeros_like(x), y, mode, boundary, value)
    return found[2], None, found[1]


def convolution_grads(d: Array, x: Array, y: Array, mode: str, boundary: str, value: Any) -> Any:
    """The cotangents of `x`, `y` and the value around `x` in a convolution."""
    d = whole(d, x, y, mode)
    if mode == "valid":
        dx = unbroadcast(signal.convolve2d(d, np.flip(y), "valid"), x)
        dy = unbroadcast(signal.convolve2d(d, np.flip(x), "valid"), y)
        return dx, dy, np.zeros_like(value, dtype=float)
    dwide = signal.convolve2d(d, np.flip(y))
    dx = unpad(dwide, x, reach(y), beyond(boundary))
    wide = padded_by(x, y, boundary, value)
    dy = unbroadcast(signal.convolve2d(np.flip(wide), d, "valid"), y)
    if beyond(boundary) == "constant":
        return unbroadcast(dx, x), dy, to_ends(dwide, x, reach(y), "constant", value)
    return unbroadcast(dx, x), dy, np.zeros_like(value, dtype=float)


def padded_by(x: Array, y: Array, boundary: str, value: Any) -> Array:
    """`x` extended beyond its edges as a convolution with `y` reads it."""
    if beyond(boundary) == "constant":
        return np.pad(x, reach(y), constant_values=value)
    return np.pad(x, reach(y), beyond(boundary))


EDGES = [given(A(4, 5), A(2, 3), "full", "wrap"), given(A(4, 5), A(2, 3), "same", "symm"),
         given(A(2, 3), A(4, 4), "same", "wrap"), given(A(2, 1), A(4, 2), boundary="symm"),
         given(A(4, 5), A(3, 2), "same", "fill", 1.5), given(A(4, 5), A(3, 2), fillvalue=1.5),
         given(A(4, 5), A(3, 2), "valid", "fill", 1.5),
         given(A(3, 3, dtype="complex128"), A(2, 2, dtype="complex128"), "same", "wrap")]


# Not bilinear where a value fills what lies around, which the forward template takes into account.
@bprop(signal.convolve2d, "bilinear", samples=[*PAIRS[5:8], *EDGES])
def convolve2d(x, y, mode="full", boundary="fill", fillvalue=0, *, out, dout):
    if boundary == "fill" and isinstance(fillvalue, int) and fillvalue == 0:
        d = whole(dout, x, y, mode)
        dx = signal.convolve2d(d, np.flip(y), "valid")
        return unbroadcast(dx, x), unbroadcast(signal.convolve2d(d, np.flip(x), "valid"), y), None, None, None
    dx, dy, dvalue = convolution_grads(dout, x, y, mode, boundary, fillvalue)
    return dx, dy, None, None, dvalue


@convolve2d.jvp
def convolve2d_jvp(x, y, mode, boundary, fillvalue, out, dx, dy, dfillvalue):
    if boundary == "fill" and isinstance(fillvalue, int) and fillvalue == 0:
        return signal.convolve2d(dx, y, mode) + signal.convolve2d(x, dy, mode)
    moved = signal.convolve2d(dx, y, mode, boundary) + signal.convolve2d(x, dy, mode, boundary, fillvalue)
    return moved + from_fill(dfillvalue, x, y, mode, boundary)


def middle_ahead(mode: str) -> str:
    """The mode that gives the later of two middles, as `correlate2d` does."""
    return "same, ahead" if mode == "same" else mode


nondifferentiable([middle_ahead])


# A convolution with the second array backwards and conjugated.
@bprop(signal.correlate, "bilinear", runs=True, samples=[*PAIRS, given(A(5), A(3), "same", "direct")])
def correlate(x, y, mode="full", method="auto", *, out, dout):
    d = whole(dout, x, y, mode)
    dy = np.conj(np.flip(signal.convolve(d, np.flip(x), "valid", method=method)))
    return unbroadcast(signal.convolve(d, np.conj(y), "valid", method=method), x), unbroadcast(dy, y)


@bprop(signal.correlate2d, "bilinear", samples=[*PAIRS[5:8], *EDGES])
def correlate2d(x, y, mode="full", boundary="fill", fillvalue=0, *, out, dout):
    if boundary == "fill" and isinstance(fillvalue, int) and fillvalue == 0:
        d = whole(dout, x, y, middle_ahead(mode))
        dy = np.conj(np.flip(signal.convolve2d(d, np.flip(x), "valid")))
        dx = unbroadcast(signal.convolve2d(d, np.conj(y), "valid"), x)
        return dx, unbroadcast(dy, y), None, None, None
    turned = np.conj(np.flip(y))
    dx, dy, dvalue = convolution_grads(dout, x, turned, middle_ahead(mode), boundary, fillvalue)
    return dx, np.conj(np.flip(dy)), None, None, dvalue


@correlate2d.jvp
def correlate2d_jvp(x, y, mode, boundary, fillvalue, out, dx, dy, dfillvalue):
    if boundary == "fill" and isinstance(fillvalue, int) and fillvalue == 0:
        return signal.correlate2d(dx, y, mode) + signal.correlate2d(x, dy, mode)
    moved = signal.correlate2d(dx, y, mode, boundary) + signal.correlate2d(x, dy, mode, boundary, fillvalue)
    zeros = np.zeros_like(x)
    return moved + signal.correlate2d(zeros, y, mode, boundary, filled(dfillvalue, fillvalue))


# ---------------------------------------------------------------- filters

def all_pole(a: Array, x: Array, axis: int) -> Array:
    """`x` through the filter that only feeds back."""
    return signal.lfilter(np.ones_like(a, shape=1), a, x, axis)


def lagged_products(d: Array, x: Array, c: Array, axis: int) -> Array:
    """For each coefficient in `c`, of lag 0, 1, ..., the sum of products of `d` with `x` so much before."""
    d, x = np.moveaxis(d, axis, -1), np.moveaxis(x, axis, -1)
    n = np.shape(x)[-1]
    sums = []
    for lag in range(np.size(c)):
        sums.append(np.sum(d[..., lag:] * x[..., :max(n - lag, 0)]))
    return unbroadcast(np.reshape(np.stack(sums), np.shape(c)), c)


# By a y = b x: what goes back through the filter runs backwards in time.
@bprop(signal.lfilter, runs=True, samples=[
    given(A(3), np.array([1.5, 0.3, -0.2]), A(6)), given(A(2), np.array([1.0]), A(2, 5)),
    given(A(4), np.array([2.0, 0.5]), A(5, 2), axis=0), given(A(4), np.array([2.0, 0.5]), A(3))])
def lfilter(b, a, x, axis=-1, *, out, dout):
    dx = np.flip(signal.lfilter(b, a, np.flip(dout, axis), axis), axis)
    db = lagged_products(dout, all_pole(a, x, axis), b, axis)
    return db, -lagged_products(dout, all_pole(a, out, axis), a, axis), unbroadcast(dx, x)


@lfilter.jvp
def lfilter_jvp(b, a, x, axis, out, db, da, dx):
    changed = signal.lfilter(b, a, dx, axis) + signal.lfilter(db, a, x, axis)
    return changed - signal.lfilter(da, a, out, axis)


refuse(
    named(signal, "medfilt medfilt2d order_filter"),
    "SciPy sorts by compiled code; use np.median of np.lib.stride_tricks.sliding_window_view",
)
refuse(
    named(signal, "welch periodogram csd coherence spectrogram"),
    "its source calls much of SciPy; write it out with np.fft.rfft of the windowed segments",
)
