"""`scipy.optimize`: roots and fixed points, by captured variables and arguments of the function.

The start and the options of a search do not affect its result: they have no derivative.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from ..primitives.record import bprop, nondifferentiable, refuse
from .constant import named
from .implicit import difference, first_value, implicit_adjoint, implicit_tangent, residual
from .results import cotangent, first, first_cotangent, first_tangent, tangents

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- for samples


def depressed(x: Any, p: Any, q: Any) -> Any:
    """x ** 3 + p x - q, which rises for p > 0."""
    return x**3 + p * x - q


def coupled(x: Array, a: Any, b: Any) -> Array:
    """Two equations in two unknowns."""
    return np.stack([a * x[0] + x[1] ** 3 - 1.0, x[1] - b * np.sin(x[0])])


def with_jacobian(x: Array, a: Any) -> Any:
    """A function that gives its derivative as well."""
    return x**3 - a, 3 * np.diag(x**2)


def contraction(x: Any, a: Any, b: Any) -> Any:
    """A function with one fixed point."""
    return a * np.cos(x) + b


def share(x: Array, a: Any) -> Array:
    """A function with one fixed point, each element of which depends on all of x."""
    return a * np.cos(np.sum(x)) * np.array([0.3, 0.2]) + 0.1 * x**2


# ---------------------------------------------------------------- roots with or without a report


def root_adjoint(dout: Any, f: Any, args: Any, out: Any, full_output: Any) -> Any:
    """The adjoints of a function and of its arguments, from that of a root."""
    return implicit_adjoint(residual, first_cotangent(dout, full_output), (f, first(out, full_output), args))


def root_tangent(changes: tuple[Any, Any], f: Any, args: Any, out: Any, full_output: Any) -> Any:
    """The tangent of a root, from those of the function and of its arguments."""
    dx = implicit_tangent(residual, changes, (f, first(out, full_output), args))
    return first_tangent(dx, out, full_output)


# ---------------------------------------------------------------- one number


BRACKETED = [(depressed, 0.0, 2.0, (1.5, 2.5)), (np.cos, 1.0, 2.0)]


@bprop(
    optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, lists=["args"], samples=BRACKETED,
    sharing="unknown",
)
def brentq(f, a, b, args=(), xtol=None, rtol=None, maxiter=None, full_output=False, disp=True, *, out, dout):
    df, dargs = root_adjoint(dout, f, args, out, full_output)
    return df, None, None, dargs


@brentq.jvp
def brentq_jvp(f, args, full_output, out, df, dargs):
    return root_tangent((df, dargs), f, args, out, full_output)


@bprop(optimize.toms748, sharing="unknown", lists=["args"], samples=BRACKETED)
def toms748(
    f, a, b, args=(), k=1, xtol=None, rtol=None, maxiter=None, full_output=False, disp=True, *, out, dout
):
    df, dargs = root_adjoint(dout, f, args, out, full_output)
    return df, None, None, dargs


@toms748.jvp
def toms748_jvp(f, args, full_output, out, df, dargs):
    return root_tangent((df, dargs), f, args, out, full_output)


@bprop(
    optimize.newton, sharing="unknown",
    lists=["args"],
    samples=[
        (depressed, 1.0, None, (1.5, 2.5)),
        ((depressed, np.array([0.7, 1.2])), {"args": (1.5, np.array([2.5, 3.0]))}),
    ],
)
def newton(
    func,
    x0,
    fprime=None,
    args=(),
    tol=None,
    maxiter=None,
    fprime2=None,
    x1=None,
    rtol=None,
    full_output=False,
    disp=True,
    *,
    out,
    dout,
):
    dfunc, dargs = root_adjoint(dout, func, args, out, full_output)
    return dfunc, None, None, dargs, None, None, None, None


@newton.jvp
def newton_jvp(func, args, full_output, out, dfunc, dargs):
    return root_tangent((dfunc, dargs), func, args, out, full_output)


@bprop(
    optimize.root_scalar, sharing="unknown",
    lists=["args"],
    parts=["root"],
    samples=[
        ((depressed, (1.5, 2.5)), {"bracket": (0.0, 2.0)}),
        ((depressed, (1.5, 2.5)), {"x0": 1.0, "x1": 1.2}),
    ],
)
def root_scalar(
    f,
    args=(),
    method=None,
    bracket=None,
    fprime=None,
    fprime2=None,
    x0=None,
    x1=None,
    xtol=None,
    rtol=None,
    maxiter=None,
    options=None,
    *,
    out,
    dout,
):
    df, dargs = implicit_adjoint(residual, cotangent(dout, "root", ("root",)), (f, out["root"], args))
    return df, dargs, None, None, None, None, None, None


@root_scalar.jvp
def root_scalar_jvp(f, args, out, df, dargs):
    return tangents({"root": implicit_tangent(residual, (df, dargs), (f, out["root"], args))}, out)


# ---------------------------------------------------------------- several numbers


@bprop(
    optimize.fsolve, sharing="unknown",
    lists=["args"],
    samples=[(coupled, np.array([0.5, 0.5]), (1.5, 0.7)), (depressed, 1.0, (1.5, 2.5))],
)
def fsolve(
    func,
    x0,
    args=(),
    fprime=None,
    full_output=0,
    col_deriv=0,
    xtol=None,
    maxfev=0,
    band=None,
    epsfcn=None,
    factor=None,
    diag=None,
    *,
    out,
    dout,
):
    dfunc, dargs = root_adjoint(dout, func, args, out, full_output)
    return dfunc, None, dargs, None


@fsolve.jvp
def fsolve_jvp(func, args, full_output, out, dfunc, dargs):
    return root_tangent((dfunc, dargs), func, args, out, full_output)


def root_program(jac: Any) -> Any:
    """What is zero at a root; with `jac=True` the user's function gives its derivative as well."""
    return first_value if jac is True else residual


nondifferentiable([root_program])
ROOT = ("x", "fun")  # at a root the function stays zero


@bprop(
    optimize.root, sharing="unknown",
    lists=["args"],
    parts=ROOT,
    samples=[
        ((coupled, np.array([0.5, 0.5]), (1.5, 0.7)), {"tol": 1e-12}),
        ((with_jacobian, np.array([1.5, 0.5]), (np.array([2.5, 0.7]),)), {"jac": True}),
        (
            (depressed, np.array([[0.7, 0.5]]), (1.5, np.array([2.5, 2.0]))),
            {"method": "krylov", "options": {"fatol": 1e-13, "xatol": 1e-13}},
        ),
    ],
)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None, *, out, dout):
    dx = cotangent(dout, "x", ROOT)
    dfun, dargs = implicit_adjoint(root_program(jac), dx, (fun, out["x"], args))
    return dfun, None, dargs, None, None, None, None, None


@root.jvp
def root_jvp(fun, args, jac, out, dfun, dargs):
    dx = implicit_tangent(root_program(jac), (dfun, dargs), (fun, out["x"], args))
    return tangents({"x": dx, "fun": np.zeros_like(out["fun"])}, out)


@bprop(
    optimize.fixed_point, sharing="unknown",
    lists=["args"],
    samples=[
        (contraction, 0.5, (0.7, 0.2)),
        (contraction, np.array([0.5, 0.3]), (np.array([0.7, 0.4]), 0.2)),
        ((share, np.array([0.5, 0.3])), {"args": (0.7,), "method": "iteration"}),
    ],
)
def fixed_point(func, x0, args=(), xtol=None, maxiter=None, method=None, *, out, dout):
    dfunc, dargs = implicit_adjoint(difference, dout, (func, out, args))
    return dfunc, None, dargs


@fixed_point.jvp
def fixed_point_jvp(func, args, out, dfunc, dargs):
    return implicit_tangent(difference, (dfunc, dargs), (func, out, args))


# ---------------------------------------------------------------- refused functions


refuse(
    named(
        optimize,
        """
    fmin fmin_bfgs fmin_cg fmin_cobyla fmin_l_bfgs_b fmin_ncg fmin_powell fmin_slsqp fmin_tnc fminbound brent
    golden
    """,
    ),
    "its older interface is not differentiated; use scipy.optimize.minimize or minimize_scalar",
)
refuse(
    named(
        optimize,
        """
    anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov
    """,
    ),
    "its older interface is not differentiated; use scipy.optimize.root with the method of this name",
)
refuse(named(optimize, "leastsq"), "use scipy.optimize.least_squares")
refuse(
    named(optimize, "basinhopping brute differential_evolution direct dual_annealing shgo"),
    "it searches among several minima; differentiate scipy.optimize.minimize from the place that it finds",
)
refuse(
    named(
        optimize,
        """
    linprog milp linear_sum_assignment quadratic_assignment lsq_linear nnls isotonic_regression
    """,
    ),
    "where its result is depends on the constraints that hold with equality",
)
refuse(
    named(optimize, "approx_fprime check_grad bracket line_search"),
    "its derivative is not known; use s2sad.grad",
)
