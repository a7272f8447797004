"""`scipy.signal`: filters in sections, forwards and backwards, smoothing, and what takes a trend away.

Those that treat the ends of a signal in a way of their own are also written in Python here, and their
derivatives are those of these programs.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .functional import pulled_back, pushed_forward
from .samples import A, given

Array = Any  # any type with NumPy's protocols

SECTIONS = signal.butter(4, 0.3, output="sos")
SHORT = np.array([1.0, 0.4, -0.2])


# What goes back through a filter runs backwards in time.
@bprop(
    signal.sosfilt, runs=True,
    refused=["sos"],
    samples=[given(SECTIONS, A(6)), given(SECTIONS, A(4, 2), axis=0), given(SECTIONS, A(2, 3))],
)
def sosfilt(sos, x, axis=-1, *, out, dout):
    return None, unbroadcast(np.flip(signal.sosfilt(sos, np.flip(dout, axis), axis), axis), x)


@sosfilt.jvp
def sosfilt_jvp(sos, axis, out, dx):
    return signal.sosfilt(sos, dx, axis)


# A projection: its matrix is symmetric.
@bprop(
    signal.detrend,
    "linear",
    samples=[given(A(5)), given(A(4, 3), 0), given(A(6), type="constant"), given(A(8), bp=[3])],
)
def detrend(data, axis=-1, type="linear", bp=0, *, out, dout):
    return (unbroadcast(signal.detrend(dout, axis, type, bp), data),)


# ---------------------------------------------------------------- forwards and backwards


def extended(x: Array, axis: int, padtype: Any, edge: int) -> Array:
    """A signal, with what the filter finds before and behind it."""
    widths = [(edge, edge) if k == axis % np.ndim(x) else (0, 0) for k in range(np.ndim(x))]
    if padtype is None or edge == 0:
        return x
    if padtype == "constant":
        return np.pad(x, widths, "edge")
    return np.pad(x, widths, "reflect", reflect_type=padtype)


def edge_of(padtype: Any, padlen: Any, taps: int, method: str = "pad") -> int:
    """By how much a signal is extended on each side; refuses to look for a state to start from instead."""
    if method != "pad":
        raise NonDifferentiableError(
            f"signal.filtfilt with method={method!r} is not differentiated", instead='use method="pad"'
        )
    if padtype is None:
        return 0
    return 3 * taps if padlen is None else padlen


def taps_of(sos: Array) -> int:
    """The length of the filter that sections make, without the zeros at its end."""
    return 2 * len(sos) + 1 - min(int(np.sum(sos[:, 2] == 0)), int(np.sum(sos[:, 5] == 0)))


nondifferentiable([edge_of, taps_of])


# The state that a filter starts from is that after the first value for ever: it is the filter of what differs
# from this value, and of the value what a constant becomes.
def both_ways(call: tuple[Any, ...]) -> Array:
    """`signal.filtfilt(b, a, x, axis, padtype, padlen)`."""
    b, a, x, axis, padtype, edge = call
    gain = np.sum(b) / np.sum(a)
    y = extended(x, axis, padtype, edge)
    for _ in range(2):
        first = np.take(y, [0], axis)
        y = np.flip(signal.lfilter(b, a, y - first, axis) + gain * first, axis)
    return np.take(y, np.arange(edge, edge + np.shape(x)[axis]), axis)


def sections_both_ways(call: tuple[Any, ...]) -> Array:
    """`signal.sosfiltfilt(sos, x, axis, padtype, padlen)`."""
    sos, x, axis, padtype, edge = call
    gain = np.prod(np.sum(sos[:, :3], axis=1) / np.sum(sos[:, 3:], axis=1))
    y = extended(x, axis, padtype, edge)
    for _ in range(2):
        first = np.take(y, [0], axis)
        rest = y - first
        for k in range(len(sos)):
            rest = signal.lfilter(sos[k, :3], sos[k, 3:], rest, axis)
        y = np.flip(rest + gain * first, axis)
    return np.take(y, np.arange(edge, edge + np.shape(x)[axis]), axis)


@bprop(
    signal.filtfilt,
    samples=[
        given(A(2), np.array([1.0, 0.3]), A(9)),
        given(A(3), SHORT, A(12, 2), axis=0, padtype="even", padlen=4),
        given(A(2), SHORT, A(11), padtype="constant"),
        given(A(2), np.array([2.0, 0.3]), A(2, 5), padtype=None),
    ],
)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", *, out, dout):
    edge = edge_of(padtype, padlen, max(len(b), len(a)), method)
    db, da, dx, _, _, _ = pulled_back(both_ways, dout, (b, a, x, axis, padtype, edge))
    return db, da, dx


@filtfilt.jvp
def filtfilt_jvp(b, a, x, axis, padtype, padlen, method, out, db, da, dx):
    edge = edge_of(padtype, padlen, max(len(b), len(a)), method)
    return pushed_forward(both_ways, (db, da, dx, None, None, None), (b, a, x, axis, padtype, edge))


def sosfiltfilt_dx(d: Array, sos: Array, x: Array, axis: int, padtype: Any, padlen: Any) -> Array:
    """The cotangent of the signal in `signal.sosfiltfilt`."""
    edge = edge_of(padtype, padlen, taps_of(sos))
    return pulled_back(sections_both_ways, d, (sos, x, axis, padtype, edge))[1]


@bprop(
    sosfiltfilt_dx,
    "linear",
    refused=["sos"],
    samples=[given(A(18), SECTIONS, np.zeros(18), -1, "odd", None)],
)
def sosfiltfilt_dx_(d, sos, x, axis, padtype, padlen, out, dout):
    return unbroadcast(signal.sosfiltfilt(sos, dout, axis, padtype, padlen), d), None, None


@bprop(
    signal.sosfiltfilt,
    refused=["sos"],
    samples=[given(SECTIONS, A(18)), given(SECTIONS, A(7, 2), axis=0, padtype="even", padlen=3)],
)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None, *, out, dout):
    return None, sosfiltfilt_dx(dout, sos, x, axis, padtype, padlen)


@sosfiltfilt.jvp
def sosfiltfilt_jvp(sos, axis, padtype, padlen, out, dx):
    return signal.sosfiltfilt(sos, dx, axis, padtype, padlen)


# ---------------------------------------------------------------- Savitzky and Golay's

BEYOND: Any = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


def smoothing_rows(like: Array, window: int, order: int, deriv: int, delta: float) -> Array:
    """The weights of the numbers in a window, for each place in it."""
    if window % 2 == 0:
        raise NonDifferentiableError(
            "signal.savgol_filter with a window of even length is not differentiated",
            instead="use one of odd length",
        )
    unit = np.diag(np.ones_like(np.real(like), shape=window, dtype=float))
    return signal.savgol_filter(unit, window, order, deriv, delta, axis=0)


nondifferentiable([smoothing_rows])


def smoothed(call: tuple[Any, ...]) -> Array:
    """`signal.savgol_filter` with weights for the places in a window."""
    x, rows, axis, mode = call
    window = len(rows)
    half = window // 2
    x = np.moveaxis(x, axis, -1)
    if mode == "interp":
        inner = np.lib.stride_tricks.sliding_window_view(x, window, axis=-1) @ rows[half]
        head, tail = x[..., :window] @ rows[:half].T, x[..., -window:] @ rows[half + 1 :].T
        return np.moveaxis(np.concatenate([head, inner, tail], axis=-1), -1, axis)
    wide = np.pad(x, [(0, 0)] * (np.ndim(x) - 1) + [(half, half)], BEYOND[mode])
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(wide, window, axis=-1) @ rows[half], -1, axis)


def savgol_dx(
    d: Array, x: Array, window: int, order: int, deriv: int, delta: float, axis: int, mode: str
) -> Array:
    """The cotangent of the signal in `signal.savgol_filter`."""
    rows = smoothing_rows(d, window, order, deriv, delta)
    return pulled_back(smoothed, d, (x, rows, axis, mode))[0]


@bprop(savgol_dx, "linear", samples=[given(A(9), np.zeros(9), 5, 2, 0, 1.0, -1, "interp")])
def savgol_dx_(d, x, window, order, deriv, delta, axis, mode, out, dout):
    return unbroadcast(signal.savgol_filter(dout, window, order, deriv, delta, axis, mode), d), None


@bprop(
    signal.savgol_filter,
    samples=[
        given(A(9), 5, 2),
        given(A(7, 2), 5, 3, 1, 0.5, axis=0),
        given(A(6), 5, 2, mode="mirror"),
        given(A(6), 5, 2, mode="nearest"),
        given(A(6), 3, 1, mode="constant", cval=1.5),
        given(A(2, 6), 3, 1, mode="wrap"),
    ],
)
def savgol_filter(
    x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0, *, out, dout
):
    return (savgol_dx(dout, x, window_length, polyorder, deriv, delta, axis, mode),)


@savgol_filter.jvp
def savgol_filter_jvp(window_length, polyorder, deriv, delta, axis, mode, out, dx):
    return signal.savgol_filter(dx, window_length, polyorder, deriv, delta, axis, mode)
