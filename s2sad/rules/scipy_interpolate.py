"""`scipy.interpolate`: splines that are constants, by where they are evaluated."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ..primitives.record import Rule, bprop, for_instances, nondifferentiable, refuse
from ..primitives.template import Template
from ..runtime.adjoints import unbroadcast
from .constant import named
from .samples import A, given

Array = Any  # any type with NumPy's protocols

SPLINES = [
    *named(
        interpolate,
        "PPoly BPoly BSpline CubicSpline CubicHermiteSpline PchipInterpolator Akima1DInterpolator",
    ),
]
UNIVARIATE = [*named(interpolate, "UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline")]


def other_axes(out: Array, x: Array, axis: int) -> tuple[int, ...]:
    """The axes of the results that are not those of the places, which stand from `axis` on."""
    start = axis % (np.ndim(out) - np.ndim(x) + 1)
    return tuple(k for k in range(np.ndim(out)) if not start <= k < start + np.ndim(x))


nondifferentiable([other_axes])


def spline_rule(f: Any) -> Rule:
    """The rule of a spline, which is called with places and the order of a derivative."""
    axis = f.axis

    def call(x, nu=0, extrapolate=None, *, out, dout):
        along = np.sum(dout * f(x, nu + 1, extrapolate), axis=other_axes(out, x, axis))
        return (unbroadcast(along, x),)

    def call_jvp(x, nu=0, extrapolate=None, *, out, dx):
        return f(x, nu + 1, extrapolate) * np.expand_dims(dx, other_axes(out, x, axis))

    return Rule("spline", (f,), None, Template(call), Template(call_jvp))


def univariate_rule(f: Any) -> Rule:
    """The rule of a spline of FITPACK."""

    def call(x, nu=0, ext=None, *, out, dout):
        return (unbroadcast(dout * f(x, nu + 1, ext), x),)

    def call_jvp(x, nu=0, ext=None, *, out, dx):
        return f(x, nu + 1, ext) * dx

    return Rule("univariate_spline", (f,), None, Template(call), Template(call_jvp))


for _kind in SPLINES:
    for_instances(_kind)(spline_rule)
for _kind in UNIVARIATE:
    for_instances(_kind)(univariate_rule)

KNOTS = interpolate.splrep(np.linspace(-2.5, 2.5, 9), np.sin(np.linspace(-2.5, 2.5, 9)))


@bprop(
    interpolate.splev,
    lists=["tck"],
    refused=["tck"],
    samples=[given(A(4), KNOTS), given(A(2, 3), KNOTS, 1), given(0.3, KNOTS)],
)
def splev(x, tck, der=0, ext=0, *, out, dout):
    return unbroadcast(dout * interpolate.splev(x, tck, der + 1, ext), x), None


@splev.jvp
def splev_jvp(x, tck, der, ext, out, dx):
    return interpolate.splev(x, tck, der + 1, ext) * dx


MAKERS = "make_interp_spline make_lsq_spline make_smoothing_spline splrep"
refuse(
    [*SPLINES, *UNIVARIATE, *named(interpolate, MAKERS)],
    "splines are constants here, and one of data that are differentiated is none: make it outside of the "
    "function, or use np.interp",
)
OTHERS = """
    interp2d BarycentricInterpolator KroghInterpolator RBFInterpolator Rbf
    griddata LinearNDInterpolator NearestNDInterpolator CloughTocher2DInterpolator RectBivariateSpline
    SmoothBivariateSpline LSQBivariateSpline bisplev bisplrep splprep spalde splint sproot AAA
    FloaterHormannInterpolator NdPPoly NdBSpline barycentric_interpolate krogh_interpolate pchip_interpolate
    lagrange pade
    """
refuse(
    named(interpolate, OTHERS),
    "its derivative is not known; use a spline that is made outside of the function, such as CubicSpline",
)
