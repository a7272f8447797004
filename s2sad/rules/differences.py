"""Differences, gradients on grids, and the trapezoidal rule."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast
from .containers import filled
from .samples import A, given

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- differences


def undo_diff(d: Array, x: Array, n: int, axis: int) -> Array:
    """The transpose of `np.diff(x, n, axis)`."""
    if np.shape(x)[axis] <= n:
        return np.zeros_like(x)
    edges = [(0, 0)] * np.ndim(x)
    edges[axis] = (n, n)
    return (-1) ** n * np.diff(np.pad(d, edges), n, axis)


@bprop(undo_diff, "linear", sharing="fresh", samples=[given(A(3, 2), np.zeros((3, 4)), 2, -1)])
def undo_diff_(d, x, n, axis, out, dout):
    return np.diff(dout, n, axis), None


ENDS = [given(A(5), prepend=0.3), given(A(3, 4), 2, 0, A(2, 4), A(1, 4)), given(A(3), append=A(1))]


@bprop(np.diff, sharing={"n": "maybe"},
    samples=[given(A(5)), given(A(5, 3), 2, 0), given(A(2), 3), given(A(3), 0), *ENDS])
def diff(a, n=1, axis=-1, prepend=None, append=None, *, out, dout):
    if prepend is None and append is None:
        return undo_diff(dout, a, n, axis), None, None, None, None
    wide = undo_diff(dout, with_ends(a, prepend, append, axis), n, axis)
    da, dprepend, dappend = split_ends(wide, a, prepend, append, axis)
    return da, None, None, dprepend, dappend


@diff.jvp
def diff_jvp(n, axis, prepend, append, out, da, dprepend, dappend):
    if prepend is None and append is None:
        return np.diff(da, n, axis)
    return np.diff(with_ends(da, like_end(dprepend, prepend), like_end(dappend, append), axis), n, axis)


def like_end(dend: Any, end: Any) -> Any:
    """The tangent of the argument `prepend` or `append` of `np.diff`; None for None."""
    return None if end is None else filled(dend, end)


def as_end(end: Any, a: Array, axis: int) -> Array:
    """What is put before or behind `a`: a number stands for one all along the other axes."""
    if np.ndim(end):
        return end
    return np.broadcast_to(end, tuple(1 if i == axis % np.ndim(a) else n for i, n in enumerate(np.shape(a))))


def with_ends(a: Array, prepend: Any, append: Any, axis: int) -> Array:
    """`a` with `prepend` and `append` joined to it along `axis`."""
    if prepend is None:
        return np.concatenate([a, as_end(append, a, axis)], axis=axis)
    if append is None:
        return np.concatenate([as_end(prepend, a, axis), a], axis=axis)
    return np.concatenate([as_end(prepend, a, axis), a, as_end(append, a, axis)], axis=axis)


def split_ends(d: Array, a: Array, prepend: Any, append: Any, axis: int) -> Any:
    """The cotangents of `a`, `prepend` and `append` from that of `with_ends`."""
    before = 0 if prepend is None else np.shape(as_end(prepend, a, axis))[axis]
    stop = before + np.shape(a)[axis]
    d = np.moveaxis(d, axis, 0)
    da = unbroadcast(np.moveaxis(d[before:stop], 0, axis), a)
    dprepend = None if prepend is None else end_dx(np.moveaxis(d[:before], 0, axis), prepend)
    return da, dprepend, None if append is None else end_dx(np.moveaxis(d[stop:], 0, axis), append)


def end_dx(d: Array, end: Any) -> Any:
    """The cotangent of the argument `prepend` or `append`."""
    return unbroadcast(d, end) if np.ndim(end) else unbroadcast(np.sum(d), end)


@bprop(
    np.ediff1d,
    samples=[
        given(A(5)),
        given(A(2, 3), 1.5),
        given(A(3), A(2), 0.7),
        given(A(4), to_begin=A(1, 2)),
        given(A(1)),
    ],
)
def ediff1d(ary, to_end=None, to_begin=None, *, out, dout):
    if to_end is None and to_begin is None:
        return np.reshape(undo_diff(dout, np.ravel(ary), 1, 0), np.shape(ary)), None, None
    before = end_size(to_begin)
    stop = before + np.size(ary) - 1
    dary = np.reshape(undo_diff(dout[before:stop], np.ravel(ary), 1, 0), np.shape(ary))
    return dary, flat_end_dx(dout[stop:], to_end), flat_end_dx(dout[:before], to_begin)


@ediff1d.jvp
def ediff1d_jvp(to_end, to_begin, out, dary, dto_end, dto_begin):
    if to_end is None and to_begin is None:
        return np.ediff1d(dary)
    return np.ediff1d(dary, like_end(dto_end, to_end), like_end(dto_begin, to_begin))


def end_size(end: Any) -> int:
    """How many numbers are put before or behind a flat array."""
    return 0 if end is None else np.size(end)


nondifferentiable([end_size])


def flat_end_dx(d: Array, end: Any) -> Any:
    """The cotangent of the argument `to_begin` or `to_end` of `np.ediff1d`; None for None."""
    return None if end is None else unbroadcast(np.reshape(d, np.shape(end)), end)


# ---------------------------------------------------------------- gradients on a grid

# With slopes a, b over steps h, k on both sides of a point, the gradient is a + w (b - a), w = h / (h + k):
# that of the parabola through three points. At the ends it is the slope, or that of the nearest parabola.


def grid_axes(f: Array, axis: Any) -> tuple[int, ...]:
    """The axes along which `np.gradient` goes."""
    if axis is None:
        return tuple(range(np.ndim(f)))
    return tuple(a % np.ndim(f) for a in (axis if isinstance(axis, tuple) else (axis,)))


nondifferentiable([grid_axes])


def as_columns(row: Array, f: Array) -> Array:
    """A row shaped to multiply along the first axis of `f`."""
    return np.reshape(row, (-1,) + (1,) * (np.ndim(f) - 1))


def steps_along(x: Any, f: Array) -> Array:
    """The distances of points `x`, or points `x` apart, along the first axis of `f`."""
    row = np.diff(x) if np.ndim(x) else np.broadcast_to(x, (len(f) - 1,))
    return as_columns(row, f)


def gradient_change(f: Array, df: Array, x: Any, dx: Any, edge_order: int) -> Array:
    """The tangent of `np.gradient` along the first axis of `f`, with points or their distance `x`."""
    s, ds = steps_along(x, f), steps_along(dx, f)
    slopes = np.diff(f, axis=0) / s
    dslopes = (np.diff(df, axis=0) - slopes * ds) / s
    bend, dbend = slopes[1:] - slopes[:-1], dslopes[1:] - dslopes[:-1]
    w = s[:-1] / (s[:-1] + s[1:])
    dw = ((1 - w) * ds[:-1] - w * ds[1:]) / (s[:-1] + s[1:])
    inner = dslopes[:-1] + w * dbend + dw * bend
    first, last = dslopes[:1], dslopes[-1:]
    if edge_order == 2:
        first = first - w[:1] * dbend[:1] - dw[:1] * bend[:1]
        last = last + (1 - w[-1:]) * dbend[-1:] - dw[-1:] * bend[-1:]
    return np.concatenate([first, inner, last])


def gradient_parts(d: Array, f: Array, x: Any, edge_order: int) -> tuple[Array, Any]:
    """The cotangents of `f` and of `x` in `np.gradient` along the first axis of `f`."""
    s = steps_along(x, f)
    slopes = np.diff(f, axis=0) / s
    bend = slopes[1:] - slopes[:-1]
    w = s[:-1] / (s[:-1] + s[1:])
    dbend, dw = w * d[1:-1], bend * d[1:-1]
    if edge_order == 2:
        dbend = (
            dbend - pad_rows(w[:1] * d[:1], 0, len(w) - 1) + pad_rows((1 - w[-1:]) * d[-1:], len(w) - 1, 0)
        )
        dw = dw - pad_rows(bend[:1] * d[:1], 0, len(w) - 1) - pad_rows(bend[-1:] * d[-1:], len(w) - 1, 0)
    dslopes = pad_rows(d[:1], 0, len(slopes) - 1) + pad_rows(d[-1:], len(slopes) - 1, 0)
    dslopes = dslopes + pad_rows(d[1:-1] - dbend, 0, 1) + pad_rows(dbend, 1, 0)
    dh = dw / (s[:-1] + s[1:])
    ds = pad_rows((1 - w) * dh, 0, 1) - pad_rows(w * dh, 1, 0) - slopes * dslopes / s
    row = np.sum(np.reshape(ds, (len(slopes), -1)), axis=1)
    dx = undo_diff(row, x, 1, 0) if np.ndim(x) else np.sum(row)
    return undo_diff(dslopes / s, f, 1, 0), dx


def pad_rows(x: Array, before: int, after: int) -> Array:
    """`x` with rows of zeros before and after."""
    return np.pad(x, [(before, after)] + [(0, 0)] * (np.ndim(x) - 1))


def spacing(varargs: Any, k: int, default: float) -> Any:
    """What `np.gradient` was given for the axis of number `k` among those that it goes along."""
    if len(varargs) == 0:
        return default
    return varargs[0] if len(varargs) == 1 else varargs[k]


def gradient_grads(d: Any, f: Array, varargs: Any, axis: Any, edge_order: int) -> tuple[Array, Any]:
    """The cotangents of the values and of the points, or distances, of `np.gradient`."""
    axes = grid_axes(f, axis)
    df = np.zeros_like(f)
    found = [np.zeros_like(x, dtype=float) for x in varargs]
    for k in range(len(axes)):
        dk = d if len(axes) == 1 else d[k]
        if dk is not None:
            moved = np.moveaxis(f, axes[k], 0)
            part, dx = gradient_parts(
                np.moveaxis(dk, axes[k], 0), moved, spacing(varargs, k, 1.0), edge_order
            )
            df = df + np.moveaxis(part, 0, axes[k])
            if len(varargs) > 0:
                place = 0 if len(varargs) == 1 else k
                found[place] = found[place] + dx
    return unbroadcast(df, f), [unbroadcast(dx, x) for dx, x in zip(found, varargs, strict=True)]


def gradient_tangent(
    df: Array, dvarargs: Any, f: Array, varargs: Any, axis: Any, edge_order: int, out: Any
) -> Any:
    """The tangent of `np.gradient`, in its structure."""
    axes = grid_axes(f, axis)
    found = []
    for k in range(len(axes)):
        moved, dmoved = np.moveaxis(f, axes[k], 0), np.moveaxis(df, axes[k], 0)
        x, dx = spacing(varargs, k, 1.0), filled(spacing(dvarargs, k, 0.0), spacing(varargs, k, 0.0))
        found.append(np.moveaxis(gradient_change(moved, dmoved, x, dx, edge_order), 0, axes[k]))
    return broadcast_like(found[0] if len(axes) == 1 else tuple(found), out)


GRIDS = [
    given(A(5)),
    given(A(4, 3)),
    given(A(4, 3), axis=-1),
    given(A(2, 3), edge_order=1, axis=0),
    given(A(4, 5), edge_order=2),
    given(A(5), 0.7),
    given(A(4, 3), 0.7, 1.3),
    given(A(4, 3, 3), 0.5, axis=(2, 0)),
    given(A(3), np.array([0.0, 1.0, 2.5]), edge_order=2),
    given(A(4, 3), np.array([0.0, 0.5, 2.0, 2.2]), 0.5),
    given(A(4, dtype="float32"), 0.5),
    given(A(4, dtype="complex128")),
]


@bprop(np.gradient, samples=GRIDS)
def gradient(f, *varargs, axis=None, edge_order=1, out, dout):
    df, dvarargs = gradient_grads(dout, f, varargs, axis, edge_order)
    return df, dvarargs


@gradient.jvp
def gradient_jvp(f, *varargs, axis, edge_order, out, df, dvarargs):
    return gradient_tangent(df, dvarargs, f, varargs, axis, edge_order, out)


# ---------------------------------------------------------------- the trapezoidal rule


def step_shape(y: Array, axis: int) -> tuple[int, ...]:
    """The shape in which one step for each pair of neighbours along `axis` multiplies their means."""
    return (np.shape(y)[axis] - 1,) + (1,) * (np.ndim(y) - 1 - axis % np.ndim(y))


def other_axes(x: Array, axis: int) -> tuple[int, ...]:
    """All axes of `x` but one."""
    return tuple(i for i in range(np.ndim(x)) if i != axis % np.ndim(x))


nondifferentiable([step_shape, other_axes])


def steps_of(y: Array, x: Any, dx: Any, axis: int) -> Array:
    """The widths of the trapezoids under `y`, shaped to multiply means of neighbours along `axis`."""
    if x is None:
        return dx * np.ones_like(y, shape=step_shape(y, axis))
    if np.ndim(x) != 1:
        return np.diff(x, axis=axis)
    return np.reshape(np.diff(x), step_shape(y, axis))


def undo_neighbours(d: Array, y: Array, axis: int) -> Array:
    """The cotangent of `y` from that of the means of its neighbours along `axis`."""
    after, before = [(0, 0)] * np.ndim(y), [(0, 0)] * np.ndim(y)
    after[axis], before[axis] = (0, 1), (1, 0)
    return (np.pad(d, after) + np.pad(d, before)) / 2


def neighbours(y: Array, axis: int) -> Array:
    """The means of neighbours in `y` along `axis`."""
    y = np.moveaxis(y, axis, 0)
    return np.moveaxis((y[1:] + y[:-1]) / 2, 0, axis)


@bprop(undo_neighbours, "linear", sharing="fresh", samples=[given(A(3, 3), np.zeros((3, 4)), -1)])
def undo_neighbours_(d, y, axis, out, dout):
    return neighbours(dout, axis), None


def points_dx(dsteps: Array, x: Array, axis: int) -> Array:
    """The cotangent of the points of a trapezoid integral from that of its steps, broadcast as they were."""
    if np.ndim(x) != 1:
        return undo_diff(unbroadcast(dsteps, np.diff(x, axis=axis)), x, 1, axis)
    return undo_diff(unbroadcast(np.sum(dsteps, axis=other_axes(dsteps, axis)), x[1:]), x, 1, 0)


# In templates the points are `grid`: what would be the tangent of `x` is a parameter, too.
@bprop(
    np.trapezoid,
    "bilinear",
    samples=[
        given(A(5)),
        given(A(5), A(5)),
        given(A(3, 4), A(4)),
        given(A(3, 4), A(3), axis=0),
        given(A(3, 4), dx=0.7),
        given(A(3, 4), None, 1.3, 0),
        given(A(3, 4), A(3, 4)),
        given(A(3, 4), dx=A(3)),
        given(A(4, dtype="complex128"), dx=0.7),
    ],
)
def trapezoid(y, grid=None, dx=1.0, axis=-1, *, out, dout):
    wide = np.expand_dims(dout, axis)
    dy = unbroadcast(undo_neighbours(wide * steps_of(y, grid, dx, axis), y, axis), y)
    if grid is None:
        return dy, None, unbroadcast(wide * neighbours(y, axis), dx)
    return dy, points_dx(wide * neighbours(y, axis), grid, axis), None


@trapezoid.jvp
def trapezoid_jvp(y, grid, dx, axis, out, dy, dgrid, ddx):
    if grid is None:
        return np.trapezoid(dy, dx=dx, axis=axis) + np.trapezoid(y, dx=ddx, axis=axis)
    return np.trapezoid(dy, grid, axis=axis) + np.trapezoid(y, dgrid, axis=axis)
