"""Arrays made from numbers: filled, spaced evenly, casts, windows, Vandermonde matrices."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast
from .containers import filled
from .samples import A, given
from .shaping import cast_back, cast_like
from .special import bessel_i

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- filled with numbers


@bprop(
    np.full,
    samples=[
        given((2, 3), 1.5),
        given((2, 3), A(3)),
        given(2, A(), np.float32),
        given((2, 3), A(3), order="F"),
    ],
)
def full(shape, fill_value, dtype=None, order="C", *, out, dout):
    return None, cast_back(dout, fill_value)


@full.jvp
def full_jvp(out, dfill_value):
    return cast_like(np.broadcast_to(dfill_value, np.shape(out)), out)


@bprop(
    np.full_like, data=2, shape_only=(0,),
    samples=[
        given(np.zeros((2, 3)), 1.5),
        given(np.zeros((2, 3), np.float32), A(3)),
        given(np.zeros(3), A(2), np.float32, shape=(3, 2)),
        given(np.zeros((2, 3)), A(3), order="C"),
    ],
)
def full_like(a, fill_value, dtype=None, order="K", *, shape=None, out, dout):
    return None, cast_back(dout, fill_value)


@full_like.jvp
def full_like_jvp(out, dfill_value):
    return cast_like(np.broadcast_to(dfill_value, np.shape(out)), out)


# ---------------------------------------------------------------- spaced evenly


def parts_of_way(out: Array, num: int, endpoint: bool, axis: int) -> Array:
    """How far, from 0 to 1, each of `num` numbers has come, shaped to multiply `out` along `axis`."""
    shape = [1] * np.ndim(out)
    shape[axis] = num
    return np.reshape(np.linspace(0, 1, num, endpoint), shape)


def steps_count(num: int, endpoint: bool) -> float:
    """How many steps `np.linspace` makes; its step is NaN where it makes none."""
    count = num - 1 if endpoint else num
    return count if count > 0 else np.nan


nondifferentiable([parts_of_way, steps_count])


def ends_grads(d: Array, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Any, Any]:
    """The cotangents of where evenly spaced numbers start and stop."""
    part = parts_of_way(d, num, endpoint, axis)
    dstart, dstop = np.sum(d * (1 - part), axis=axis), np.sum(d * part, axis=axis)
    return unbroadcast(dstart, start), unbroadcast(dstop, stop)


def linspace_grads(d: Any, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Any, Any]:
    """The cotangents of the ends of `np.linspace` that also returns its step."""
    dvalues, dstep = d
    if dvalues is None:
        dstart, dstop = 0.0, 0.0
    else:
        dstart, dstop = ends_grads(dvalues, start, stop, num, endpoint, axis)
    if dstep is not None:
        dstep = dstep / steps_count(num, endpoint)
        dstart, dstop = dstart - unbroadcast(dstep, start), dstop + unbroadcast(dstep, stop)
    return dstart, dstop


SPACED = [
    given(0.5, 2.0),
    given(0.5, 2.0, 4),
    given(A(3), 2.0, 4, endpoint=False),
    given(A(2), A(2), num=1),
    given(A(2), A(3, 1), 4, axis=-1),
    given(0.5, 2.0, 4, dtype=np.float32),
]


@bprop(
    np.linspace, samples=[*SPACED, given(0.5, 2.0, 4, retstep=True), given(A(2), 3.0, 3, False, True, axis=1)]
)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, out, dout):
    if retstep:
        dstart, dstop = linspace_grads(dout, start, stop, num, endpoint, axis)
        return dstart, dstop
    dstart, dstop = ends_grads(dout, start, stop, num, endpoint, axis)
    return dstart, dstop


@linspace.jvp
def linspace_jvp(start, stop, num, endpoint, retstep, dtype, axis, out, dstart, dstop):
    if retstep:
        return linspace_tangent(filled(dstart, start), filled(dstop, stop), num, endpoint, axis, out)
    if dtype is not None:
        return cast_like(
            np.linspace(filled(dstart, start), filled(dstop, stop), num, endpoint, axis=axis), out
        )
    return np.linspace(filled(dstart, start), filled(dstop, stop), num, endpoint, axis=axis)


def linspace_tangent(dstart: Any, dstop: Any, num: int, endpoint: bool, axis: int, out: Any) -> Any:
    """The tangent of `np.linspace` that also returns its step."""
    change = np.linspace(dstart, dstop, num, endpoint, axis=axis)
    return change, broadcast_like((dstop - dstart) / steps_count(num, endpoint), out[1])


def across(x: Any, axis: int) -> Any:
    """A number for each row of evenly spaced numbers, shaped to multiply them."""
    return np.expand_dims(x, axis) if np.ndim(x) else x


@bprop(across, "linear", samples=[given(A(2), 1), given(1.5, 0)])
def across_(x, axis, out, dout):
    return (np.reshape(dout, np.shape(x)),)


def exponents(start: Any, stop: Any, num: int, endpoint: bool, base: Any, axis: int) -> Array:
    """The logarithms that `np.logspace` spaces evenly, of the shape of its result."""
    return np.linspace(start + 0.0 * base, stop + 0.0 * base, num, endpoint, axis=axis)


@bprop(
    np.logspace,
    samples=[
        *SPACED,
        given(0.5, 2.0, 4, base=2.5),
        given(0.1, 1.3, 3, base=A(2, low=1.5)),
        given(A(2), 1.3, 3, base=A(2, low=1.5), axis=1),
    ],
)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, out, dout):
    dstart, dstop = ends_grads(dout * out * np.log(across(base, axis)), start, stop, num, endpoint, axis)
    powers = exponents(start, stop, num, endpoint, base, axis)
    return dstart, dstop, None, None, unbroadcast(np.sum(dout * out * powers, axis=axis) / base, base)


@logspace.jvp
def logspace_jvp(start, stop, num, endpoint, base, axis, out, dstart, dstop, dbase):
    dpowers = exponents(filled(dstart, start), filled(dstop, stop), num, endpoint, base, axis)
    by_base = exponents(start, stop, num, endpoint, base, axis) * across(dbase, axis) / across(base, axis)
    return broadcast_like(out * (dpowers * np.log(across(base, axis)) + by_base), out)


@bprop(
    np.geomspace,
    samples=[
        given(0.5, 2.0, 4),
        given(A(2, low=0.5), 3.0, 4, endpoint=False),
        given(A(2, low=0.5), A(3, 1, low=0.5), 4, axis=-1),
        given(0.5, 2.0, 4, dtype=np.float32),
        given(-1.5, -0.2, 3),
        given(1.0 + 0.5j, 0.3 + 1j, 4),
    ],
)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, out, dout):
    dstart, dstop = ends_grads(dout * out, 0.0 * start * stop, 0.0 * start * stop, num, endpoint, axis)
    return unbroadcast(dstart / start, start), unbroadcast(dstop / stop, stop)


@geomspace.jvp
def geomspace_jvp(start, stop, num, endpoint, axis, out, dstart, dstop):
    change = np.linspace(np.divide(dstart, start), np.divide(dstop, stop), num, endpoint, axis=axis)
    return broadcast_like(out * change, out)


def arange_parts(start: Any, stop: Any, step: Any, out: Array) -> tuple[Array, Array]:
    """The derivatives of `np.arange` by its start and by its step; its stop only sets the length."""
    return (np.zeros_like(out) if stop is None else np.ones_like(out)), np.arange(len(out), dtype=out.dtype)


nondifferentiable([arange_parts])


@bprop(
    np.arange, samples=[given(0.5, 3.0, 0.7), given(4.2), given(0.5, 3.1), given(0.5, 3.1, dtype=np.float32)]
)
def arange(start, stop=None, step=1, *, dtype=None, out, dout):
    by_start, by_step = arange_parts(start, stop, step, out)
    return unbroadcast(np.sum(dout * by_start), start), None, unbroadcast(np.sum(dout * by_step), step)


@arange.jvp
def arange_jvp(start, stop, step, out, dstart, dstep):
    by_start, by_step = arange_parts(start, stop, step, out)
    return dstart * by_start + dstep * by_step


# ---------------------------------------------------------------- casts


@bprop(
    np.float64,
    np.float32,
    np.float16,
    np.longdouble,
    np.clongdouble,
    np.complex64,
    np.complex128,
    "linear", sharing="maybe",
    samples=[given(1.5), given(A()), given(A(3))],
)
def cast(x, *, out, dout):
    return (cast_back(dout, x),)


@bprop(np.vander, samples=[given(A(3)), given(A(3), 5, increasing=True)])
def vander(x, N=None, increasing=False, *, out, dout):
    return (np.sum(dout * vander_slope(x, N, increasing), axis=-1),)


@vander.jvp
def vander_jvp(x, N, increasing, out, dx):
    return np.expand_dims(dx, -1) * vander_slope(x, N, increasing)


def vander_slope(x: Array, count: int | None, increasing: bool) -> Array:
    """The derivative of each row of a Vandermonde matrix with respect to its number."""
    power = np.arange(len(x) if count is None else count)
    power = power if increasing else power[::-1]
    return power * np.expand_dims(x, -1) ** np.maximum(power - 1, 0)


# ---------------------------------------------------------------- windows


def ellipse(count: int) -> Array:
    """The heights of a half circle over points spaced evenly."""
    return np.sqrt(np.maximum(1 - np.linspace(-1, 1, count) ** 2, 0)) if count > 1 else np.ones(count)


nondifferentiable([ellipse])


@bprop(np.kaiser, runs=False, samples=[given(6, 8.6), given(5, 0.7)])
def kaiser(M, beta, out, dout):
    return None, unbroadcast(dout * kaiser_slope(M, beta, out), beta)


@kaiser.jvp
def kaiser_jvp(M, beta, out, dbeta):
    return dbeta * kaiser_slope(M, beta, out)


def kaiser_slope(count: int, beta: Any, out: Array) -> Array:
    """The derivative of a Kaiser window, i0(beta h) / i0(beta) with the heights h of a half circle."""
    h = ellipse(count)
    return (h * bessel_i(beta * h, 1) - out * bessel_i(np.asarray(beta), 1)) / bessel_i(np.asarray(beta), 0)
