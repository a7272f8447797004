"""Functions of NumPy that call functions: along axes, over axes, piecewise, on grids, element by element.

Each is also written in Python here; its derivative is that of the Python program, in which the function that
is called is read, with what it closes over, like a user's own.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.provided import provided
from ..primitives.record import Rule, bprop, for_instances, nondifferentiable, refuse
from ..primitives.template import Template

Array = Any  # any type with NumPy's protocols


def fprop_of(f: Any, keys: Any = None, own: bool = False) -> Any:
    """The reverse derivative of any callable, as `dynamic_calls` gives it: that stands on the rules."""
    return provided("fprop_of")(f, own, keys)


def jvp_of(f: Any, change: Any, changes: Any) -> Any:
    """The forward derivative of any callable, as `dynamic_calls` gives it."""
    return provided("jvp_of")(f, change, changes)


# The tangent and the adjoint of a function are those of what it closes over, and its derivative closes over
# the same.
@bprop(fprop_of, samples=[(abs,)])
def fprop_of_(f, keys=None, own=False, *, out, dout):
    return (dout,)


@fprop_of_.jvp
def fprop_of_jvp(out, df):
    return df


def parts_of(d: Any) -> Any:
    """The adjoint of the derivative of a function: in three parts; None when it has none."""
    return d if isinstance(d, tuple) else (None, None, None)


@bprop(parts_of, samples=[((1.5, None, {0: 2.5}),)])
def parts_of_(d, out, dout):
    return (dout,)


@parts_of_.jvp
def parts_of_jvp(out, dd):
    return dd


@bprop(jvp_of, samples=[(abs, None, {})])
def jvp_of_(f, change, changes, out, dout):
    df, dchange, dchanges = parts_of(dout)
    return df, dchange, dchanges


@jvp_of_.jvp
def jvp_of_jvp(out, df, dchange, dchanges):
    return df, dchange, dchanges


def pulled_back(program: Any, d: Any, args: tuple[Any, ...]) -> Any:
    """The cotangents of the arguments, which a Python program takes in a tuple."""
    _, bprop_ = fprop_of(program)(args)
    _, dargs = bprop_(d)
    return dargs[0]


def pushed_forward(program: Any, tangents: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The tangent of the result of a Python program, from those of its arguments in a tuple."""
    return jvp_of(program, None, {0: tangents})(args)[1]


def called(f: Any, x: Any, more: Any) -> Any:
    """`f(x, *more)`; a call of arguments that are written one by one costs less."""
    if len(more) == 0:
        return f(x)
    if len(more) == 1:
        return f(x, more[0])
    if len(more) == 2:
        return f(x, more[0], more[1])
    return f(x, *more)


# ---------------------------------------------------------------- along one axis


def along_axis(call: tuple[Any, ...]) -> Array:
    """`np.apply_along_axis(func1d, axis, arr, *args)`."""
    func1d, axis, arr, args = call
    rows = np.moveaxis(arr, axis, -1)
    found = []
    for place in np.ndindex(np.shape(rows)[:-1]):
        found.append(np.asarray(called(func1d, rows[place], args)))
    stacked = np.reshape(np.stack(found), np.shape(rows)[:-1] + np.shape(found[0]))
    return np.moveaxis(stacked, moved_from(arr, stacked), moved_to(arr, stacked, axis))


def moved_from(arr: Array, stacked: Array) -> tuple[int, ...]:
    """The axes of the function's own results."""
    return tuple(range(np.ndim(arr) - 1, np.ndim(stacked)))


def moved_to(arr: Array, stacked: Array, axis: int) -> tuple[int, ...]:
    """Where the axes of the function's own results stand: from the axis that it was applied along."""
    count = np.ndim(stacked) - np.ndim(arr) + 1
    return tuple(range(axis % np.ndim(arr), axis % np.ndim(arr) + count))


nondifferentiable([moved_from, moved_to])


def share_of_square(row: Array) -> Array:
    """For samples: the squares of numbers as parts of the sum of them all."""
    return row * row / np.sum(row * row)


def weighted_power(row: Array, power: float) -> Array:
    """For samples: a number for each row."""
    return np.sum(row**power)


@bprop(
    np.apply_along_axis,
    lists=["args"],
    samples=[
        (np.sum, 0, np.array([[1.0, 2.0, 4.0], [0.5, 0.3, 0.2]])),
        (share_of_square, 1, np.array([[1.0, 2.0, 4.0], [0.5, 0.3, 0.2]])),
        (weighted_power, -1, np.array([[1.0, 2.0], [0.5, 0.3]]), 2.5),
        (np.diag, 0, np.array([[1.0, 2.0], [0.5, 0.3]])),
    ],
)
def apply_along_axis(func1d, axis, arr, *args, out, dout):
    dfunc1d, _, darr, dargs = pulled_back(along_axis, dout, (func1d, axis, arr, args))
    return dfunc1d, None, darr, dargs


@apply_along_axis.jvp
def apply_along_axis_jvp(func1d, axis, arr, *args, out, dfunc1d, darr, dargs):
    return pushed_forward(along_axis, (dfunc1d, None, darr, dargs), (func1d, axis, arr, args))


# ---------------------------------------------------------------- over axes


def over_axes(call: tuple[Any, ...]) -> Array:
    """`np.apply_over_axes(func, a, axes)`."""
    func, a, axes = call
    for axis in listed_axes(a, axes):
        found = func(a, axis)
        a = found if np.ndim(found) == np.ndim(a) else np.expand_dims(found, axis)
    return a


def listed_axes(a: Array, axes: Any) -> list[int]:
    """The axes, none negative, in a list."""
    return [int(axis) % np.ndim(a) for axis in np.ravel(axes)]


nondifferentiable([listed_axes])


CUBE = np.array([[[1.0, 2.0, 4.0], [0.5, 0.3, 0.2]], [[-1.0, 0.7, 1.4], [0.1, 2.3, -0.2]]])


@bprop(
    np.apply_over_axes,
    samples=[(np.sum, CUBE, [0, 2]), (np.cumsum, CUBE, 1), (np.max, CUBE, (0, -1))],
)
def apply_over_axes(func, a, axes, out, dout):
    dfunc, da, _ = pulled_back(over_axes, dout, (func, a, axes))
    return dfunc, da, None


@apply_over_axes.jvp
def apply_over_axes_jvp(func, a, axes, out, dfunc, da):
    return pushed_forward(over_axes, (dfunc, da, None), (func, a, axes))


# ---------------------------------------------------------------- by conditions


def by_conditions(call: tuple[Any, ...]) -> Array:
    """`np.piecewise(x, condlist, funclist, *args)`."""
    x, condlist, funclist, args = call
    x = np.asarray(x)
    conditions = all_conditions(x, condlist, len(funclist))
    y = np.zeros_like(x)
    for k in range(len(funclist)):
        f = funclist[k]
        y[conditions[k]] = called(f, x[conditions[k]], args) if callable(f) else f
    return y


def all_conditions(x: Array, condlist: Any, count: int) -> Array:
    """The masks of `np.piecewise`, with that of the remaining elements if there is one more function."""
    one = np.ndim(condlist) == 0 or (np.ndim(x) != 0 and np.ndim(condlist[0]) == 0)
    masks = np.asarray([condlist] if one else condlist, dtype=bool)
    if len(masks) == count - 1:
        masks = np.concatenate([masks, np.logical_not(np.any(masks, axis=0, keepdims=True))])
    return masks


nondifferentiable([all_conditions])

POINTS = np.array([-1.5, -0.2, 0.3, 1.7])


@bprop(
    np.piecewise, runs=False,
    lists=["funclist", "args"],
    samples=[
        (POINTS, [POINTS < 0, POINTS >= 0], [np.sin, share_of_square]),
        (POINTS, [POINTS < 0, POINTS > 1], [-1.5, np.exp, 0.5]),
        (POINTS, POINTS < 0, [np.cos]),
        (POINTS, [POINTS > 0], [weighted_power, 1.5], 2.5),
    ],
)
def piecewise(x, condlist, funclist, *args, out, dout):
    dx, _, dfunclist, dargs = pulled_back(by_conditions, dout, (x, condlist, funclist, args))
    return dx, None, dfunclist, dargs


@piecewise.jvp
def piecewise_jvp(x, condlist, funclist, *args, out, dx, dfunclist, dargs):
    return pushed_forward(by_conditions, (dx, None, dfunclist, dargs), (x, condlist, funclist, args))


# ---------------------------------------------------------------- on a grid


def on_grid(call: tuple[Any, ...]) -> Any:
    """`np.fromfunction(function, shape, dtype=dtype)`."""
    function, shape, dtype = call
    return function(*np.indices(shape, dtype=dtype))


def distance(i: Array, j: Array) -> Array:
    """For samples: a number for each place of a grid."""
    return np.sqrt(i * i + j + 1.5)


@bprop(np.fromfunction, samples=[(distance, (2, 3)), ((distance, (2, 3)), {"dtype": np.float32})])
def fromfunction(function, shape, *, dtype=float, out, dout):
    dfunction, _, _ = pulled_back(on_grid, dout, (function, shape, dtype))
    return dfunction, None


@fromfunction.jvp
def fromfunction_jvp(function, shape, dtype, out, dfunction):
    return pushed_forward(on_grid, (dfunction, None, None), (function, shape, dtype))


# ---------------------------------------------------------------- element by element


def elementwise(call: tuple[Any, ...]) -> Array:
    """`np.vectorize(f)(*args)`."""
    f, args = call
    shape = common_shape(args)
    rows = [np.ravel(np.broadcast_to(x, shape)) for x in args]
    found = []
    for k in range(len(rows[0])):
        found.append(called(f, rows[0][k], [row[k] for row in rows[1:]]))
    return np.reshape(np.stack(found), shape)


def common_shape(args: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape to which arrays are broadcast against each other."""
    return np.broadcast_shapes(*map(np.shape, args))


nondifferentiable([common_shape])


@for_instances(np.vectorize)
def vectorized(function: Any) -> Rule | None:
    """The rule of a vectorised function of numbers; None for one with a signature or excluded arguments."""
    if function.signature is not None or function.excluded:
        return None
    f = function.pyfunc

    def call(*args, out, dout):
        _, dargs = pulled_back(elementwise, dout, (f, args))
        return (dargs,)

    def call_jvp(*args, out, dargs):
        return pushed_forward(elementwise, (None, dargs), (f, args))

    return Rule("vectorized", (function,), None, Template(call), Template(call_jvp))


refuse(
    [np.vectorize],
    "what it makes would be a constant; make it outside of the function, or write the loop out",
)
