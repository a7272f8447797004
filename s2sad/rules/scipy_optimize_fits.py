"""`scipy.optimize.curve_fit`: the parameters of a curve, by its data, their errors and what the curve closes
over.

They are where the sum of squares is least, so that its gradient is zero there: see `implicit`.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable
from .functional import pulled_back
from .implicit import implicit_adjoint, implicit_tangent
from .results import first_cotangent, first_tangent

Array = Any  # any type with NumPy's protocols


def half_deviations(call: tuple[Any, ...]) -> Any:
    """Half the sum of squares of a curve's deviations, each in units of its error."""
    f, p, (x, y, sigma) = call
    deviations = f(x, *p) - y
    return 0.5 * np.sum(np.square(deviations if sigma is None else deviations / sigma))


def balance(call: tuple[Any, ...]) -> Any:
    """The gradient of `half_deviations` by the parameters."""
    return pulled_back(half_deviations, 1.0, call)[1]


def balance_of(sigma: Any, loss: Any, nan_policy: Any) -> Any:
    """What is zero at the fitted parameters; refuses correlated errors, other losses, data left out."""
    if np.ndim(sigma) > 1 or loss != "linear" or nan_policy == "omit":
        raise NonDifferentiableError(
            "the derivative of a fit with correlated errors, with a loss function, or that leaves data out",
            why="only plain sums of squares are differentiated",
            instead="call scipy.optimize.minimize with what is to be small",
        )
    return balance


nondifferentiable([balance_of])


def swing(t: Array, height: Any, rate: Any) -> Array:
    """For samples: a curve that is linear in its parameters, so that they are found to the last digit."""
    return height * np.sin(t) + rate * t


def swing_slopes(t: Array, height: Any, rate: Any) -> Array:
    """The derivatives of `swing` by its parameters."""
    return np.stack([np.sin(t), t], axis=1)


DATA = (swing, np.array([0.2, 0.9, 2.0, 3.1]), np.array([0.5, 1.5, 1.4, 1.9]))


@bprop(
    optimize.curve_fit, sharing="unknown",
    parts=(0,),
    samples=[
        (DATA, {"p0": np.array([1.0, 1.0]), "jac": swing_slopes}),
        ((*DATA, None, np.array([0.5, 0.9, 0.7, 1.2])), {"jac": swing_slopes, "method": "trf"}),
    ],
)
def curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    check_finite=None,
    bounds=None,
    method=None,
    jac=None,
    *,
    full_output=False,
    nan_policy=None,
    loss="linear",
    ftol=None,
    xtol=None,
    gtol=None,
    maxfev=None,
    max_nfev=None,
    x_scale=None,
    out,
    dout,
):
    call = (f, out[0], (xdata, ydata, sigma))
    program = balance_of(sigma, loss, nan_policy)
    df, (dx, dy, dsigma) = implicit_adjoint(program, first_cotangent(dout, True), call)
    return df, dx, dy, None, dsigma


@curve_fit.jvp
def curve_fit_jvp(f, xdata, ydata, sigma, nan_policy, loss, out, df, dxdata, dydata, dsigma):
    call = (f, out[0], (xdata, ydata, sigma))
    program = balance_of(sigma, loss, nan_policy)
    return first_tangent(implicit_tangent(program, (df, (dxdata, dydata, dsigma)), call), out, True)
