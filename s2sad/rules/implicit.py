"""Derivatives of implicit functions: x as a function of p, where g(x, p) = 0.

With J the derivative of g by x, dx = -inverse(J) dg, where dg is the change of g by what p has changed
(Dieudonné, Foundations of Modern Analysis, 10.2.1). How x was found plays no part; but it has to be a root,
and J regular there: elsewhere the derivative is refused.

A `program` takes `(f, x, args)`, the user's function and all that it is called with, and gives g.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import nondifferentiable
from ..runtime.adjoints import add, zeros_like
from .functional import called, fprop_of, pulled_back, pushed_forward

__all__ = [
    "changed",
    "difference",
    "first_stationarity",
    "first_value",
    "half_squares",
    "implicit_adjoint",
    "implicit_tangent",
    "minimum_adjoint",
    "minimum_tangent",
    "normal_equations",
    "residual",
    "stationarity",
    "tupled",
    "value",
]

Array = Any  # any type with NumPy's protocols
Call = tuple[Any, Any, Any]

FAR = 1e-3  # the largest relative Newton step at a point that counts as a root


# ---------------------------------------------------------------- functions that are zero at x


def tupled(args: Any) -> Any:
    """The extra arguments as SciPy reads them: a value that is no tuple is the only one, None is none."""
    if args is None:
        return ()
    return args if isinstance(args, tuple) else (args,)


def value(call: Call) -> Any:
    """The user's function at x; a list of numbers is an array."""
    f, x, args = call
    found = called(f, x, tupled(args))
    return np.array(found) if isinstance(found, list) else found


def residual(call: Call) -> Any:
    """What is zero at a root of a function."""
    return value(call)


def difference(call: Call) -> Any:
    """What is zero at a fixed point of a function."""
    return value(call) - call[1]


def stationarity(call: Call) -> Any:
    """What is zero at a minimum of a function: its gradient."""
    return pulled_back(value, 1.0, call)[1]


def first_value(call: Call) -> Any:
    """The first result of the user's function, where it gives its derivative as well."""
    return value(call)[0]


def first_stationarity(call: Call) -> Any:
    """The gradient of the first result of the user's function."""
    return pulled_back(first_value, 1.0, call)[1]


def half_squares(call: Call) -> Any:
    """What least squares make small."""
    return 0.5 * np.sum(np.square(value(call)))


def normal_equations(call: Call) -> Any:
    """The gradient of half the sum of squares."""
    return pulled_back(half_squares, 1.0, call)[1]


# ---------------------------------------------------------------- derivatives of x


def implicit_adjoint(program: Any, d: Any, call: Call) -> Any:
    """The adjoints of the function and of the arguments, from that of x."""
    g, bprop_ = fprop_of(program)(call)
    jacobian = jacobian_of(g, bprop_, call[1])
    check_root(g, jacobian, call[1])
    df, _, dargs = adjoint_of_call(bprop_, solved(transposed(jacobian), d))
    return df, dargs


def implicit_tangent(program: Any, tangents: tuple[Any, ...], call: Call) -> Any:
    """The tangent of x, from those of the function and of the arguments."""
    df, dargs = tangents
    change = changed(program, (df, None, dargs), call)
    g, bprop_ = fprop_of(program)(call)
    jacobian = jacobian_of(g, bprop_, call[1])
    check_root(g, jacobian, call[1])
    return np.reshape(solved(jacobian, change), np.shape(call[1]))[()]


def adjoint_of_call(bprop_: Any, d: Any) -> Any:
    """The adjoints of the parts of a call."""
    _, dargs = bprop_(d)
    return dargs[0]


def jacobian_of(g: Any, bprop_: Any, x: Any) -> Any:
    """The derivative of g, as a vector, by x, as a vector; of one number by one number it is a number."""
    if np.ndim(x) == 0:
        found = adjoint_of_call(bprop_, one_like(g))[1]
    else:
        rows = []
        for direction in directions(g):
            rows.append(np.ravel(adjoint_of_call(bprop_, direction)[1]))
        found = np.stack(rows)
    return found


def minimum_adjoint(programs: tuple[Any, Any], d: Any, call: Call) -> Any:
    """The adjoints of the function and of the arguments, from those of a minimum's place and value: the
    second does not change with the first.
    """
    objective, gradient = programs
    df, dargs = implicit_adjoint(gradient, d[0], call)
    df_2, _, dargs_2 = pulled_back(objective, d[1], call)
    return add(df, df_2), add(dargs, dargs_2)


def minimum_tangent(programs: tuple[Any, Any], tangents: tuple[Any, ...], call: Call) -> Any:
    """The tangents of a minimum's place and value."""
    objective, gradient = programs
    df, dargs = tangents
    return implicit_tangent(gradient, tangents, call), changed(objective, (df, None, dargs), call)


def changed(program: Any, tangents: tuple[Any, ...], call: tuple[Any, ...]) -> Any:
    """The tangent of g, from those of the parts of the call; None is none."""
    return pushed_forward(program, (*map(zero_for_none, tangents, call),), call)


def zero_for_none(d: Any, x: Any) -> Any:
    """A tangent of x, zero where there is none."""
    return zeros_like(x) if d is None else d


def transposed(jacobian: Any) -> Any:
    """The transpose of a derivative, which may be a number."""
    return jacobian if np.ndim(jacobian) == 0 else np.transpose(jacobian)


def solved(jacobian: Any, d: Any) -> Any:
    """What takes `-d` away, to first order."""
    if np.ndim(jacobian) == 0:
        return -d / jacobian
    return np.reshape(np.linalg.solve(jacobian, -np.ravel(d)), np.shape(d))


def one_like(x: Any) -> Any:
    """One, as the number x is."""
    return 1.0 if isinstance(x, float) else np.ones_like(x)[()]


def directions(x: Array) -> Array:
    """The unit vectors of the form of x."""
    return np.reshape(np.eye(np.size(x), dtype=x.dtype), (np.size(x), *np.shape(x)))


def check_root(g: Any, jacobian: Any, x: Any) -> None:
    """Raises NonDifferentiableError where x is no root, or one with a singular derivative."""
    try:
        with np.errstate(all="ignore"):
            step = g / jacobian if np.ndim(x) == 0 else np.linalg.solve(jacobian, np.ravel(g))
        known = bool(np.all(np.isfinite(step)))
    except (ZeroDivisionError, np.linalg.LinAlgError):
        known = False
    if not known:
        raise NonDifferentiableError(
            "the derivative of a root by what the function depends on",
            why="the derivative of the function is zero or singular there, as at a multiple root",
            instead="look for a simple root",
        )
    if np.any(np.abs(np.ravel(step)) > FAR * (1 + np.abs(np.ravel(x)))):
        raise NonDifferentiableError(
            "the derivative of a root, or of a minimum, of a function",
            why="what was found is none: the search has not converged, or has ended at a bound",
            instead="start nearer to it, allow for more iterations, or take what is at its bound as constant",
        )


nondifferentiable([one_like, directions])
nondifferentiable([check_root], pure=False)
