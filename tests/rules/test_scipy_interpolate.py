"""Splines in programs, by where they are evaluated; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import s2sad
from s2sad.transforms.errors import S2sadError
from tests.support.compare import check_program, check_second

X = np.linspace(-2.5, 2.5, 12)
Y = np.sin(X) + 0.1 * X**2
WIDE = np.stack([Y, np.cos(X)], axis=1)
SPLINES: dict[str, Any] = {
    "cubic": interpolate.CubicSpline(X, Y),
    "clamped": interpolate.CubicSpline(X, Y, bc_type="clamped"),
    "pchip": interpolate.PchipInterpolator(X, Y),
    "akima": interpolate.Akima1DInterpolator(X, Y),
    "b-spline": interpolate.make_interp_spline(X, Y, k=5),
    "hermite": interpolate.CubicHermiteSpline(X, Y, np.cos(X)),
    "fitpack": interpolate.InterpolatedUnivariateSpline(X, Y),
}


@pytest.mark.parametrize("name", SPLINES)
@pytest.mark.parametrize("x", [np.array([-1.3, 0.2, 1.9]), np.array([[0.3], [-0.7]]), 0.8], ids=np.shape)
def test_splines_by_their_places(name: str, x: Any) -> None:
    spline = SPLINES[name]

    def f(x: Any) -> Any:
        return spline(x * 1.1) ** 2

    check_program(f, (x,), (0,))
    if name not in ("pchip", "akima"):
        check_second(f, (x,), (0,))


@pytest.mark.parametrize("axis", [0, 1])
def test_splines_of_several_values(axis: int) -> None:
    spline = interpolate.CubicSpline(X, WIDE if axis == 0 else WIDE.T, axis=axis)

    def f(x: Any) -> Any:
        return spline(x) * spline(x, 1)

    for x in (np.array([-1.3, 0.2, 1.9]), np.array([[0.3], [-0.7]]), 0.8):
        check_program(f, (x,), (0,))
        check_second(f, (x,), (0,))


def test_a_spline_as_a_coefficient() -> None:
    tck = interpolate.splrep(X, Y)
    slope = SPLINES["cubic"].derivative()

    def f(a: Any, x: Any) -> Any:
        return np.sum(a * interpolate.splev(x, tck) + slope(a * x))

    check_program(f, (1.2, np.array([-1.3, 0.2, 1.9])), (0, 1))


def test_single_precision_stays() -> None:
    def f(x: Any) -> Any:
        return np.sum(SPLINES["cubic"](x))

    assert s2sad.grad(f)(np.array([0.5, 1.5], np.float32)).dtype == np.float32


def test_splines_of_what_is_differentiated_are_refused() -> None:
    def f(y: Any) -> Any:
        return interpolate.CubicSpline(X, y)(0.3)

    for derivative in (s2sad.grad(f), lambda y: s2sad.jvp(f)(y, y)):
        with pytest.raises(S2sadError, match="outside of the function"):
            derivative(Y)
