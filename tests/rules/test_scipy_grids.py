"""Interpolators along a line and on grids, by their values and by places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import s2sad
from s2sad.transforms.errors import S2sadError
from tests.support.compare import check_program, check_second

X = np.array([0.0, 1.0, 2.5, 3.0, 4.0])
Y = X**2 + 0.3
GX, GY = np.array([0.0, 1.0, 2.5, 4.0]), np.array([-1.0, 0.5, 1.0, 2.0])
V = np.outer(GX, GY) + np.arange(16.0).reshape(4, 4) % 3
Q = np.array([0.3, 1.2, 2.7])
LINE = interpolate.interp1d(X, np.stack([Y, np.sin(Y)]), kind="cubic")
FALLING = interpolate.interp1d(X[::-1], Y)
GRID = interpolate.RegularGridInterpolator((GX[::-1], GY), V**2)


def linear(y: Any, q: Any) -> Any:
    return interpolate.interp1d(X, y)(q)


def cubic(y: Any, q: Any) -> Any:
    f = interpolate.interp1d(X, y, kind="cubic", bounds_error=False, fill_value="extrapolate")
    return f(q) * f(q * 0.9 + 2.0)


def nearest(y: Any, q: Any) -> Any:
    f = interpolate.interp1d(X, y, "nearest")
    return f(q) * q


def previous(y: Any, q: Any) -> Any:
    return interpolate.interp1d(X, y, "previous", fill_value="extrapolate")(q) * q


def filled(y: Any, q: Any) -> Any:
    return interpolate.interp1d(X[::-1], y, bounds_error=False, fill_value=2.0)(q + 1.6)


def of_rows(y: Any, q: Any) -> Any:
    return interpolate.interp1d(X, np.stack([y, y**2]), axis=1, kind="quadratic")(q)


def constant_line(y: Any, q: Any) -> Any:
    return LINE(q) * FALLING(q) * y[0]


def passed_on(y: Any, q: Any) -> Any:
    return squared(interpolate.interp1d(X, y, kind="quadratic"), q)


def squared(f: Any, q: Any) -> Any:
    return f(q) ** 2


def on_grid(v: Any, q: Any) -> Any:
    f = interpolate.RegularGridInterpolator((GX, GY), v)
    return f(np.stack([q, q * 0.4], -1)) * f((q * 0.5, q * 0.3))


def beyond_grid(v: Any, q: Any) -> Any:
    f = interpolate.RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=None)
    return f(np.stack([q + 3.1, q * 0.4], -1))


def off_grid(v: Any, q: Any) -> Any:
    f = interpolate.RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=1.5)
    return f(np.stack([q + 3.1, q * 0.4], -1), "nearest") * q + f(np.stack([q + 3.1, q * 0.4], -1))


def constant_grid(v: Any, q: Any) -> Any:
    return GRID(np.stack([q, q * 0.4], -1)) * v[0, 0]


def at_once(v: Any, q: Any) -> Any:
    return interpolate.interpn((GX, GY), v, np.stack([q, q * 0.4], -1))


def in_a_loop(v: Any, q: Any) -> Any:
    f = interpolate.RegularGridInterpolator((GX, GY), v)
    total = 0.0
    for k in range(len(q)):
        total = total + f((q[k], 0.3))
    return total


LINES = [linear, cubic, nearest, previous, filled, of_rows, constant_line, passed_on]
GRIDS = [on_grid, beyond_grid, off_grid, constant_grid, at_once, in_a_loop]


@pytest.mark.parametrize("f", [*LINES, *GRIDS], ids=lambda f: f.__name__)
def test_interpolators(f: Any) -> None:
    data = Y if f in LINES else V
    check_program(f, (data, Q), (0, 1))
    check_second(f, (data, Q), (0, 1))


def test_a_place_may_be_a_number() -> None:
    check_program(linear, (Y, 0.7), (0, 1))
    check_program(cubic, (Y, 0.7), (0, 1))


@pytest.mark.parametrize("mode", [s2sad.grad, s2sad.jacfwd])
def test_points_and_other_methods_are_refused(mode: Any) -> None:
    def by_points(x: Any) -> Any:
        return interpolate.interp1d(x, Y)(0.7) * 1.0

    def by_splines(v: Any) -> Any:
        return np.sum(interpolate.interpn((GX, GY), v, np.array([0.3, 0.2]), method="cubic"))

    def changed(y: Any) -> Any:
        y = y * 2.0
        f = interpolate.interp1d(X, y)
        y[1] = 7.0
        return f(0.7) + y[0]

    with pytest.raises(S2sadError, match="`x`"):
        mode(by_points)(X)
    np.testing.assert_allclose(mode(changed)(Y), [2 * 0.3 + 2, 2 * 0.7, 0, 0, 0])
    with pytest.raises(S2sadError, match="method='cubic'"):
        mode(by_splines)(V)
