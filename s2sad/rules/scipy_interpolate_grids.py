"""`scipy.interpolate`: `interp1d`, `RegularGridInterpolator` and `interpn`, by their values and by places.

What is interpolated is linear in the values. It is also written in Python here, and the derivative is that of
this program; where a fill value stands there is none. An interpolator that is made within a differentiated
function is, there, a function that closes over its values.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import Rule, bprop, for_instances, nondifferentiable, stands_in
from ..primitives.template import Template
from ..runtime.adjoints import unbroadcast, zeros_like
from .functional import pulled_back, pushed_forward
from .interpolation import cell_of
from .samples import A, given

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- on a grid


def listed(xi: Any, count: int) -> Any:
    """Places in rows of `count` coordinates."""
    if isinstance(xi, tuple):
        return np.reshape(np.stack(np.broadcast_arrays(*xi), axis=-1), (-1, count))
    return np.reshape(xi, (-1, count))


def cells(places: Array, grid: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """For each coordinate of each place the number of its cell, where that starts, and how wide it is."""
    found = np.stack([cell_of(x, g) for x, g in zip(places.T, grid, strict=True)])
    starts = np.stack([np.asarray(g)[i] for i, g in zip(found, grid, strict=True)])
    return found, starts, np.stack([np.diff(g)[i] for i, g in zip(found, grid, strict=True)])


def corners(count: int) -> list[Array]:
    """The corners of a cell, each as a column of zeros and ones."""
    return [np.array(c)[:, None] for c in itertools.product((0, 1), repeat=count)]


def at_corner(found: Array, corner: Array) -> tuple[Array, ...]:
    """The indices of a corner of cells."""
    return tuple(found + corner)


def is_filled(places: Array, grid: tuple[Array, ...], fill_value: Any, count: int) -> Array:
    """Where a fill value stands, with axes of length 1 for those of each value."""
    beyond = [(x < g[0]) | (x > g[-1]) for x, g in zip(places.T, grid, strict=True)]
    mask = np.any(beyond, axis=0) & (fill_value is not None)
    return np.reshape(mask, (-1,) + (1,) * count)


def rising(grid: tuple[Array, ...]) -> tuple[Array, ...]:
    """The points along each axis in rising order."""
    return tuple(map(np.sort, grid))


def falling_axes(grid: tuple[Array, ...]) -> tuple[int, ...]:
    """The axes along which the points fall."""
    return tuple(k for k, g in enumerate(grid) if g[-1] < g[0])


def is_nearest(method: str) -> bool:
    """Whether a method takes one of the values; refuses those that go through splines."""
    if method not in ("linear", "nearest", "slinear"):
        raise NonDifferentiableError(
            f"interpolation on a grid with method={method!r} is not differentiated",
            instead='use the method "linear", or interpolate along one axis after the other',
        )
    return method == "nearest"


nondifferentiable([cells, corners, at_corner, is_filled, rising, falling_axes, is_nearest])


def on_grid(call: tuple[Any, ...]) -> Array:
    """`interpn(grid, values, xi, method, fill_value=fill_value)`, of this shape."""
    grid, values, xi, method, fill_value, shape = call
    values, grid = np.flip(values, falling_axes(grid)), rising(grid)
    count = len(grid)
    places = listed(xi, count)
    found, starts, widths = cells(places, grid)
    part = (np.transpose(places) - starts) / widths
    if is_nearest(method):
        total = values[at_corner(found, part > 0.5)]
    else:
        total = 0.0
        for corner in corners(count):
            weight = np.prod(np.where(corner, part, 1.0 - part), axis=0)
            weight = np.reshape(weight, (-1,) + (1,) * (np.ndim(values) - count))
            total = total + weight * values[at_corner(found, corner)]
    beyond = is_filled(places, grid, fill_value, np.ndim(values) - count)
    return np.reshape(np.where(beyond, 0.0, total), shape)


GRID = (np.array([0.0, 1.0, 2.5, 4.0]), np.array([-1.0, 0.5, 1.0]))
PLACES = np.array([[0.3, 0.1], [2.1, -0.7], [3.9, 0.8]])
ON_GRID = [
    given(GRID, A(4, 3), PLACES),
    given(GRID, A(4, 3, 2), PLACES),
    given(GRID, A(4, 3), (np.array([[0.3], [1.7]]), np.array([0.2, 0.9]))),
    given((GRID[0][::-1], GRID[1]), A(4, 3), PLACES, "nearest"),
    given((GRID[0],), A(4), np.array([-0.5, 0.2, 1.9, 4.6]), bounds_error=False, fill_value=None),
    given(GRID, A(4, 3), PLACES + np.array([0.0, 0.25]), bounds_error=False, fill_value=0.5),
]


@bprop(interpolate.interpn, lists=["points", "xi"], refused=["points", "fill_value"], samples=ON_GRID)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan, *, out, dout):
    call = (points, values, xi, method, fill_value, np.shape(out))
    _, dvalues, dxi, _, _, _ = pulled_back(on_grid, dout, call)
    return None, dvalues, dxi


@interpn.jvp
def interpn_jvp(points, values, xi, method, fill_value, out, dvalues, dxi):
    call = (points, values, xi, method, fill_value, np.shape(out))
    return pushed_forward(on_grid, (None, dvalues, dxi, None, None, None), call)


class Made:
    """An interpolator with its data."""

    def __init__(self, make: Callable[[Array], Any], points: Any, values: Array) -> None:
        self.make, self.points, self.values, self.f = make, points, values, make(values)

    def of(self, values: Array) -> Any:
        """The interpolator of these values, which mostly are its own."""
        return self.f if values is self.values else self.make(values)


def points_of(made: Made) -> Any:
    """The points, as they were given."""
    return made.points


def method_of(made: Made, method: Any) -> Any:
    """How values on a grid are interpolated."""
    return made.f.method if method is None else method


def fill_value_of(made: Made) -> Any:
    """What stands beyond the points."""
    return beyond(made.f)


def beyond(f: Any) -> Any:
    """What stands beyond the points of an interpolator."""
    return "extrapolate" if getattr(f, "_extrapolate", False) else f.fill_value


nondifferentiable([points_of, method_of, fill_value_of])


def made_grid(points: Any, values: Any, method: str, bounds_error: bool, fill_value: Any) -> Made:
    """An interpolator, as a constant."""

    def make(values: Array) -> Any:
        return interpolate.RegularGridInterpolator(points, values, method, bounds_error, fill_value)

    return Made(make, points, values)


@bprop(made_grid, refused=["points", "fill_value"], samples=[(GRID, np.ones((4, 3)), "linear", True, 0.0)])
def made_grid_(points, values, method, bounds_error, fill_value, out, dout):
    return None, None


@made_grid_.jvp
def made_grid_jvp(out, dpoints, dvalues):
    return None


def grid_values(made: Made, xi: Any, values: Array, method: Any) -> Array:
    """What an interpolator, which was made of these values, is at some places."""
    return made.of(values)(xi, method)


@bprop(
    grid_values,
    samples=[given(made_grid(GRID, np.ones((4, 3)), "linear", True, 0.0), PLACES, np.ones((4, 3)), None)],
)
def grid_values_(made, xi, values, method, out, dout):
    call = (points_of(made), values, xi, method_of(made, method), fill_value_of(made), np.shape(out))
    _, dvalues, dxi, _, _, _ = pulled_back(on_grid, dout, call)
    return zeros_like(made), dxi, dvalues


@grid_values_.jvp
def grid_values_jvp(made, xi, values, method, out, dxi, dvalues):
    call = (points_of(made), values, xi, method_of(made, method), fill_value_of(made), np.shape(out))
    return pushed_forward(on_grid, (None, dvalues, dxi, None, None, None), call)


@stands_in(interpolate.RegularGridInterpolator)
def regular_grid(points, values, method="linear", bounds_error=True, fill_value=np.nan):
    """The interpolator as a function of places."""
    made = made_grid(points, values, method, bounds_error, fill_value)

    def evaluate(xi, method=None):
        return grid_values(made, xi, values, method)

    return evaluate


@for_instances(interpolate.RegularGridInterpolator)
def grid_rule(f: Any) -> Rule:
    """The rule of an interpolator that is a constant."""
    grid, values = f.grid, f.values

    def call(xi, method=None, *, out, dout):
        arguments = (grid, values, xi, method or f.method, f.fill_value, np.shape(out))
        return (pulled_back(on_grid, dout, arguments)[2],)

    def call_jvp(xi, method=None, *, out, dxi):
        arguments = (grid, values, xi, method or f.method, f.fill_value, np.shape(out))
        return pushed_forward(on_grid, (None, np.zeros_like(values), dxi, None, None, None), arguments)

    return Rule("grid", (f,), None, Template(call), Template(call_jvp), lists=frozenset({"xi"}))


# ---------------------------------------------------------------- along a line


def order_of(kind: Any) -> int | None:
    """The degree of the spline that a kind of `interp1d` is; None for those that take one of the values."""
    degree = (
        kind if isinstance(kind, int) else {"linear": 1, "slinear": 1, "quadratic": 2, "cubic": 3}.get(kind)
    )
    return degree or None


def chosen(x: Array, places: Array, kind: Any) -> Array:
    """The numbers of the values that `interp1d` takes at some places."""
    ends = (0, len(x) - 1)
    numbers = interpolate.interp1d(x, np.arange(len(x)), kind or "zero", bounds_error=False, fill_value=ends)
    return np.rint(numbers(places)).astype(int)


def unit_spline(x: Array, order: int) -> Any:
    """The splines that are one at one of the points and zero at all others."""
    return interpolate.make_interp_spline(x, np.diag(np.ones_like(x, dtype=float)), order)


def is_replaced(x: Array, places: Array, fill_value: Any) -> Array:
    """Where a fill value stands."""
    extrapolates = isinstance(fill_value, str)
    return ((places < np.min(x)) | (places > np.max(x))) & (not extrapolates)


def placed_axes(places: Array, y: Array, axis: int) -> tuple[list[int], list[int]]:
    """Where the axes of places stand in front, and where in the result."""
    count = np.ndim(places)
    return list(range(count)), list(range(axis % np.ndim(y), axis % np.ndim(y) + count))


def in_order(x: Array) -> Array:
    """The numbers of the points in rising order."""
    return np.argsort(x, kind="mergesort")


nondifferentiable([order_of, chosen, unit_spline, is_replaced, placed_axes, in_order])


def on_line(call: tuple[Any, ...]) -> Array:
    """`interp1d(x, y, kind, axis, fill_value=fill_value)(places)`."""
    x, y, places, kind, axis, fill_value = call
    rows, x = np.moveaxis(y, axis, 0)[in_order(x)], rising((x,))[0]
    flat, width = np.ravel(places), (1,) * (np.ndim(y) - 1)
    order = order_of(kind)
    if order is None:
        found = rows[chosen(x, flat, kind)]
    elif order == 1:
        (i,), (start,), (step,) = cells(flat[:, None], (x,))
        part = np.reshape((flat - start) / step, (-1, *width))
        found = (1.0 - part) * rows[i] + part * rows[i + 1]
    else:
        found = np.tensordot(unit_spline(x, order)(flat), rows, 1)
    found = np.where(np.reshape(is_replaced(x, flat, fill_value), (-1, *width)), 0.0, found)
    front, behind = placed_axes(places, y, axis)
    return np.moveaxis(np.reshape(found, np.shape(places) + np.shape(rows)[1:]), front, behind)


def made_line(x: Any, y: Any, kind: Any, axis: int, bounds_error: Any, fill_value: Any) -> Made:
    """An interpolator, as a constant."""
    points = np.array(x)

    def make(y: Array) -> Any:
        return interpolate.interp1d(points, y, kind, axis, True, bounds_error, fill_value)

    return Made(make, points, y)


ROW, INNER = np.array([0.0, 1.0, 2.5, 4.0]), np.array([0.3, 2.1, 3.2])


@bprop(
    made_line,
    refused=["x", "fill_value"],
    samples=[(ROW, np.ones(4), "linear", -1, None, np.nan)],
)
def made_line_(x, y, kind, axis, bounds_error, fill_value, out, dout):
    return None, None


@made_line_.jvp
def made_line_jvp(out, dx, dy):
    return None


def line_values(made: Made, places: Array, y: Array, kind: Any, axis: int) -> Array:
    """What an interpolator, which was made of the values `y`, is at some places."""
    return made.of(y)(places)


def line_sample(kind: Any, *shape: int, axis: int = -1) -> Any:
    """For samples: the arguments of `line_values`."""
    y = np.ones(shape)
    return given(made_line(ROW, y, kind, axis, None, np.nan), INNER, y, kind, axis)


@bprop(
    line_values,
    samples=[line_sample("cubic", 4), line_sample("linear", 2, 4), line_sample("nearest", 4, 3, axis=0)],
)
def line_values_(made, places, y, kind, axis, out, dout):
    call = (points_of(made), y, places, kind, axis, fill_value_of(made))
    _, dy, dplaces, _, _, _ = pulled_back(on_line, dout, call)
    return zeros_like(made), unbroadcast(dplaces, places), dy


@line_values_.jvp
def line_values_jvp(made, places, y, kind, axis, out, dplaces, dy):
    call = (points_of(made), y, places, kind, axis, fill_value_of(made))
    return pushed_forward(on_line, (None, dy, dplaces, None, None, None), call)


@stands_in(interpolate.interp1d)
def line(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    """The interpolator as a function of places."""
    values = y if assume_sorted and not copy else np.array(y)
    made = made_line(x, values, kind, axis, bounds_error, fill_value)

    def evaluate(places):
        return line_values(made, places, values, kind, axis)

    return evaluate


@for_instances(interpolate.interp1d)
def line_rule(f: Any) -> Rule:
    """The rule of an interpolator that is a constant."""
    x, y, axis = f.x, f.y, f.axis
    kind = f._spline.k if f._kind == "spline" else f._kind
    fill_value = beyond(f)

    def call(places, *, out, dout):
        dplaces = pulled_back(on_line, dout, (x, y, places, kind, axis, fill_value))[2]
        return (unbroadcast(dplaces, places),)

    def call_jvp(places, *, out, dplaces):
        tangents = (None, np.zeros_like(y), dplaces, None, None, None)
        return pushed_forward(on_line, tangents, (x, y, places, kind, axis, fill_value))

    return Rule("line", (f,), None, Template(call), Template(call_jvp))
