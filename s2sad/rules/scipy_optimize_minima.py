"""`scipy.optimize`: minima, differentiated by captured variables and arguments of the objective.

A minimum is a root of the gradient, which is made of the function itself.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from .implicit import (
    first_stationarity,
    first_value,
    half_squares,
    minimum_adjoint,
    minimum_tangent,
    normal_equations,
    stationarity,
    value,
)
from .results import cotangent, tangents

Array = Any  # any type with NumPy's protocols


def minimum_programs(jac: Any, constraints: Any) -> Any:
    """The objective of a search, and the function that is zero at its minimum; refuses constraints."""
    if not isinstance(constraints, (tuple, list, dict)) or len(constraints):
        raise NonDifferentiableError(
            "the derivative of a minimum under constraints",
            why="where it is depends on the constraints that hold with equality",
            instead="eliminate the constraints, or solve the equations of Lagrange with scipy.optimize.root",
        )
    return (first_value, first_stationarity) if jac is True else (value, stationarity)


def square_programs(loss: Any, kwargs: Any) -> Any:
    """The same for least squares; refuses other losses, and arguments by name."""
    if loss != "linear" or kwargs:
        raise NonDifferentiableError(
            "the derivative of least squares with a loss function, or with `kwargs`",
            why="only plain sums of squares are differentiated",
            instead="call scipy.optimize.minimize with what is to be small, or close over the arguments",
        )
    return half_squares, normal_equations


nondifferentiable([minimum_programs, square_programs])

# ---------------------------------------------------------------- for samples


def valley(x: Array, a: Any, b: Any) -> Any:
    """A function of two numbers with one minimum."""
    return np.sum(np.cosh(x - a)) + b * np.prod(x**2)


def valley_slope(x: Array, a: Any, b: Any) -> Array:
    """The gradient of `valley`."""
    return np.sinh(x - a) + 2 * b * x[0] * x[1] * x[::-1]


def valley_curvature(x: Array, a: Any, b: Any) -> Array:
    """The Hessian of `valley`."""
    return np.diag(np.cosh(x - a) + 2 * b * x[::-1] ** 2) + 4 * b * x[0] * x[1] * (1 - np.eye(2))


def bowl(x: Any, a: Any, b: Any) -> Any:
    """A function of one number with one minimum, of value zero: its place is found to the last digit."""
    return (np.sinh(x - a) - b) ** 2


def basin(x: Array, a: Any, b: Any) -> Any:
    """As `bowl`, of two numbers."""
    return np.sum((np.sinh(x - a) - b * np.array([1.0, 0.5])) ** 2)


def basin_slope(x: Array, a: Any, b: Any) -> Array:
    """The gradient of `basin`."""
    return 2 * (np.sinh(x - a) - b * np.array([1.0, 0.5])) * np.cosh(x - a)


def deviations(x: Array, y: Array) -> Array:
    """What least squares make small."""
    return x[0] * np.exp(x[1] * np.array([0.0, 0.5, 1.0])) - y


# ---------------------------------------------------------------- the rules

MINIMUM = ("x", "fun")
TIGHT = {"ftol": 1e-30, "gtol": 1e-14}


@bprop(
    optimize.minimize, sharing="unknown",
    lists=["args"],
    parts=MINIMUM,
    samples=[
        (
            (valley, np.array([0.5, 0.6]), (1.5, 0.7)),
            {
                "method": "trust-exact",
                "jac": valley_slope,
                "hess": valley_curvature,
                "options": {"gtol": 1e-12},
            },
        ),
        (
            (basin, np.array([0.5, 0.6]), (1.5, 0.7)),
            {"method": "L-BFGS-B", "jac": basin_slope, "bounds": [(-3, 3), (None, 5)], "options": TIGHT},
        ),
    ],
)
def minimize(
    fun,
    x0,
    args=(),
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    constraints=(),
    tol=None,
    callback=None,
    options=None,
    *,
    out,
    dout,
):
    d = (cotangent(dout, "x", MINIMUM), cotangent(dout, "fun", MINIMUM))
    dfun, dargs = minimum_adjoint(minimum_programs(jac, constraints), d, (fun, out["x"], args))
    return dfun, None, dargs, None, None, None, None, None, None


@minimize.jvp
def minimize_jvp(fun, args, jac, constraints, out, dfun, dargs):
    dx, dvalue = minimum_tangent(minimum_programs(jac, constraints), (dfun, dargs), (fun, out["x"], args))
    return tangents({"x": dx, "fun": dvalue}, out)


@bprop(
    optimize.minimize_scalar, sharing="unknown",
    lists=["args"],
    parts=MINIMUM,
    samples=[
        ((bowl, None, None, (1.5, 0.7)), {"tol": 1e-12}),
        ((bowl, None, (-3.0, 3.0), (1.5, 0.7)), {"method": "bounded", "options": {"xatol": 1e-14}}),
    ],
)
def minimize_scalar(
    fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None, *, out, dout
):
    d = (cotangent(dout, "x", MINIMUM), cotangent(dout, "fun", MINIMUM))
    dfun, dargs = minimum_adjoint((value, stationarity), d, (fun, out["x"], args))
    return dfun, None, None, dargs


@minimize_scalar.jvp
def minimize_scalar_jvp(fun, args, out, dfun, dargs):
    dx, dvalue = minimum_tangent((value, stationarity), (dfun, dargs), (fun, out["x"], args))
    return tangents({"x": dx, "fun": dvalue}, out)


FIT = ("x", "cost")


@bprop(
    optimize.least_squares, sharing="unknown",
    lists=["args"],
    parts=FIT,
    samples=[
        (
            (deviations, np.array([0.5, 0.5])),
            {
                "args": (np.array([0.801, 1.079, 1.459]),),
                "jac": "cs",
                "xtol": 1e-15,
                "gtol": 1e-15,
                "ftol": None,
            },
        )
    ],
)
def least_squares(
    fun,
    x0,
    jac="2-point",
    bounds=None,
    method="trf",
    ftol=None,
    xtol=None,
    gtol=None,
    x_scale=None,
    loss="linear",
    f_scale=None,
    diff_step=None,
    tr_solver=None,
    tr_options=None,
    jac_sparsity=None,
    max_nfev=None,
    verbose=0,
    args=(),
    kwargs=None,
    callback=None,
    workers=None,
    *,
    out,
    dout,
):
    d = (cotangent(dout, "x", FIT), cotangent(dout, "cost", FIT))
    dfun, dargs = minimum_adjoint(square_programs(loss, kwargs), d, (fun, out["x"], args))
    return (
        dfun,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        dargs,
    )


@least_squares.jvp
def least_squares_jvp(fun, loss, args, kwargs, out, dfun, dargs):
    dx, dcost = minimum_tangent(square_programs(loss, kwargs), (dfun, dargs), (fun, out["x"], args))
    return tangents({"x": dx, "cost": dcost}, out)
