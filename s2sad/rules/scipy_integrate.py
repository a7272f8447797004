"""`scipy.integrate`: integrals of samples."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from ..primitives.record import bprop, find_rule, nondifferentiable, refuse
from ..runtime.adjoints import unbroadcast
from .constant import named
from .functional import pulled_back
from .implicit import changed
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- of samples


def widths(y: Array, x: Any, dx: Any, axis: int) -> Any:
    """The distances between samples, shaped to multiply what lies between neighbours along `axis`."""
    if x is None:
        return dx
    return np.diff(x, axis=axis) if np.ndim(x) > 1 else np.reshape(np.diff(x), lying_along(y, axis))


def lying_along(y: Array, axis: int) -> tuple[int, ...]:
    """The shape of a vector that lies along an axis of `y`."""
    shape = [1] * np.ndim(y)
    shape[axis] = -1
    return tuple(shape)


nondifferentiable([lying_along])


def between(y: Array, axis: int) -> Array:
    """The means of neighbours."""
    count = np.shape(y)[axis]
    return (np.take(y, np.arange(1, count), axis) + np.take(y, np.arange(count - 1), axis)) / 2


def running_trapezoids(call: tuple[Any, ...]) -> Array:
    """`cumulative_trapezoid(y, x, dx, axis, initial)`."""
    y, x, dx, axis, initial = call
    sums = np.cumsum(widths(y, x, dx, axis) * between(y, axis), axis=axis)
    if initial is None:
        return sums
    return np.concatenate([0.0 * np.take(y, np.arange(1), axis) + initial, sums], axis=axis)


def parabolas(call: tuple[Any, ...]) -> Any:
    """`simpson(y, x=x, dx=dx, axis=axis)`: the last of an odd number of steps is Cartwright's."""
    y, x, dx, axis = call
    count = np.shape(y)[axis]
    if count == 2:
        return np.sum(widths(y, x, dx, axis) * between(y, axis), axis=axis)
    h = widths(y, x, dx, axis) * np.ones((count - 1, *[1] * (np.ndim(y) - 1 - axis % np.ndim(y))))
    first = np.arange(0, count - 2, 2)
    h0, h1 = np.take(h, first, axis), np.take(h, first + 1, axis)
    y0, y1, y2 = np.take(y, first, axis), np.take(y, first + 1, axis), np.take(y, first + 2, axis)
    both = h0 + h1
    sums = y0 * (2 - h1 / h0) + y1 * both * both / (h0 * h1) + y2 * (2 - h0 / h1)
    total = np.sum(both / 6 * sums, axis=axis)
    if count % 2 == 0:
        a, b = np.take(h, -2, axis), np.take(h, -1, axis)
        y0, y1, y2 = np.take(y, -3, axis), np.take(y, -2, axis), np.take(y, -1, axis)
        total = total + (2 * b * b + 3 * a * b) / (6 * (a + b)) * y2
        total = total + (b * b + 3 * a * b) / (6 * a) * y1 - b * b * b / (6 * a * (a + b)) * y0
    return total


# In templates the places of samples are `grid`: what would be the tangent of `x` is a parameter, too.
GRID = np.array([0.0, 0.4, 0.7, 1.3, 1.9])
SAMPLES = [
    given(A(5), GRID),
    given(A(2, 5), None, dx=0.3),
    given(A(5, 2), GRID, axis=0),
    given(A(2, 5), np.stack([GRID, 2 * GRID])),
    given(A(4), dx=0.7),
    given(A(2), GRID[:2]),
    given(A(5, dtype="float32")),
]


_rule = find_rule(np.trapezoid)
assert _rule is not None and _rule.jvp_template is not None
_own = bprop(integrate.trapezoid, "bilinear", runs=True, samples=SAMPLES)(_rule.template.function)
_own.jvp(_rule.jvp_template.function)


# Places are passed by keyword to some releases, and by position to others: they are tested in programs.
@bprop(
    integrate.simpson, runs=True,
    samples=[given(A(2, 5), dx=0.3), given(A(4), dx=0.7), given(A(6, 2), axis=0, dx=0.2), given(A(2))],
)
def simpson(y, grid=None, dx=1.0, axis=-1, *, out, dout):
    dy, dgrid, ddx, _ = pulled_back(parabolas, dout, (y, grid, dx, axis))
    return dy, dgrid, ddx


@simpson.jvp
def simpson_jvp(y, grid, dx, axis, out, dy, dgrid, ddx):
    return changed(parabolas, (dy, dgrid, ddx, None), (y, grid, dx, axis))


@bprop(
    integrate.cumulative_trapezoid, runs=True,
    samples=[*SAMPLES, given(A(5), GRID, initial=0), given(A(2, 5), axis=0, initial=0)],
)
def cumulative_trapezoid(y, grid=None, dx=1.0, axis=-1, initial=None, *, out, dout):
    dy, dgrid, ddx, _, _ = pulled_back(running_trapezoids, dout, (y, grid, dx, axis, initial))
    return dy, dgrid, ddx


@cumulative_trapezoid.jvp
def cumulative_trapezoid_jvp(y, grid, dx, axis, initial, out, dy, dgrid, ddx):
    return changed(running_trapezoids, (dy, dgrid, ddx, None, None), (y, grid, dx, axis, initial))


def romberg_weights(y: Array, axis: int) -> Array:
    """The weights of samples in `romb` of step one, shaped to multiply them."""
    count = np.shape(y)[axis]
    shape = [1] * np.ndim(y)
    shape[axis] = count
    return np.reshape(integrate.romb(np.eye(count), axis=0), shape)


nondifferentiable([romberg_weights])


@bprop(integrate.romb, runs=True, samples=[given(A(5)), given(A(2, 9), 0.3), given(A(5, 2), 1.5, axis=0)])
def romb(y, dx=1.0, axis=-1, show=False, *, out, dout):
    d = np.expand_dims(dout, axis) * romberg_weights(y, axis)
    return unbroadcast(d * dx, y), unbroadcast(np.sum(d * y), dx)


@romb.jvp
def romb_jvp(y, dx, axis, out, dy, ddx):
    weights = romberg_weights(y, axis)
    return np.sum(weights * dy, axis=axis) * dx + np.sum(weights * y, axis=axis) * ddx


refuse(named(integrate, "cumulative_simpson newton_cotes"), "use scipy.integrate.cumulative_trapezoid")
