"""Roots, fixed points and minima in programs: both modes, twice, with what the functions close over; what is
refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import s2sad
from s2sad.primitives.record import find_rule, refusal
from s2sad.transforms.errors import NonDifferentiableError, S2sadError
from tests.support.compare import (
    assert_close,
    check_program,
    check_second,
    directions,
    is_sampled,
    numeric_jvp,
    scalarised,
)

BRACKETING = [optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748]


def cubic(x: Any, p: Any, q: Any) -> Any:
    return x**3 + p * x - q


def closing_over_all(p: Any, q: Any) -> Any:
    def g(x: Any) -> Any:
        return x**3 + p * x - q

    return p * optimize.brentq(g, 0.0, 3.0)


def closing_over_one(p: Any, q: Any) -> Any:
    return p * optimize.brentq(lambda x, a: x**3 + a * x - q, 0.0, 3.0, args=p)


def one_argument_constant(p: Any, q: Any) -> Any:
    return q * optimize.brentq(cubic, 0.0, 3.0, (p, 2.5))


def with_report(p: Any, q: Any) -> Any:
    x, report = optimize.brentq(lambda x: cubic(x, p, q), 0.0, 3.0, full_output=True)
    if not report.converged:
        raise ValueError
    return x * x


def as_result(p: Any, q: Any) -> Any:
    found = optimize.root_scalar(cubic, args=(p, q), bracket=(0.0, 3.0))
    if not found.converged:
        raise ValueError(found.flag)
    return found.root ** 2 + p


def twice(p: Any, q: Any) -> Any:
    outer = optimize.brentq(
        lambda y: y + optimize.brentq(lambda x: x**3 + p * x - y, -3.0, 3.0) - q, 0.0, 4.0
    )
    return np.sin(outer)


def in_a_loop(p: Any, q: Any) -> Any:
    total = 0.0
    for k in range(3):
        total += optimize.brentq(lambda x, k=k: x**3 + p * x - q - k, 0.0, 3.0)
    return total


def each_of_several(p: Any, q: Any) -> Any:
    return np.sum(optimize.newton(lambda x: x**3 + p * x - np.stack([q, q + p]), np.array([0.5, 0.7])) ** 2)


def system(p: Any, q: Any) -> Any:
    def g(x: Any) -> Any:
        return np.stack([p * x[0] + x[1] ** 3 - 1.0, x[1] - q * np.sin(x[0])])

    x = optimize.fsolve(g, np.array([0.5, 0.5]), xtol=1e-13)
    return np.sum(x * np.array([1.0, 2.0]))


def system_with_report(p: Any, q: Any) -> Any:
    x, _, status, message = optimize.fsolve(lambda x: x**3 + p * x - q, 0.5, full_output=True, xtol=1e-11)
    if status != 1:
        raise ValueError(message)
    return x[0] * p


def system_with_jacobian(p: Any, q: Any) -> Any:
    def g(x: Any) -> Any:
        return x**3 + p * x - q, np.diag(3 * x**2 + p)

    found = optimize.root(g, np.array([0.5, 0.7]), jac=True, tol=1e-10)
    return np.sum(found.x ** 2) if found.success else 0.0 * p


def fixed(p: Any, q: Any) -> Any:
    return p * optimize.fixed_point(lambda x: np.cos(q * x) / p, 0.5, xtol=1e-14)


def smallest(p: Any, q: Any) -> Any:
    def f(x: Any) -> Any:
        return np.sum(np.cosh(x - p)) + q * np.prod(x) ** 2

    found = optimize.minimize(
        f, np.array([0.5, 0.6]), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-18}
    )
    return found.fun + 0.1 * q


def smallest_of_one(p: Any, q: Any) -> Any:
    found = optimize.minimize_scalar(lambda x: (np.sinh(x) - p / q) ** 2 + q, tol=1e-13)
    return found.x * found.fun


def fitted(p: Any, q: Any) -> Any:
    t = np.array([0.0, 0.5, 1.0])
    found = optimize.least_squares(lambda x: x[0] + x[1] * t - p * np.exp(q * t), np.zeros(2), xtol=1e-15)
    return found.x[1] * found.cost


PROGRAMS = [
    closing_over_all,
    closing_over_one,
    one_argument_constant,
    with_report,
    as_result,
    twice,
    in_a_loop,
    each_of_several,
    system,
    system_with_report,
    system_with_jacobian,
    fixed,
    smallest,
    smallest_of_one,
    fitted,
]
# Second derivatives of minima are third ones of the function, with changes in place that are refused.
ONCE = (fitted, smallest)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_found_is_differentiated(f: Callable[..., Any]) -> None:
    check_program(f, (1.5, 0.9), (0, 1))
    if f not in ONCE and is_sampled(f):
        check_second(f, (1.5, 0.9), (0, 1))


@pytest.mark.parametrize("find", BRACKETING, ids=lambda f: f.__name__)
def test_bracketing_searches(find: Callable[..., Any]) -> None:
    def f(p: Any, q: Any) -> Any:
        return find(cubic, 0.0, 3.0, args=(p, q)) ** 2

    check_program(f, (1.5, 0.9), (0, 1))
    check_second(f, (1.5, 0.9), (0, 1))


def test_where_the_search_starts_makes_no_difference() -> None:
    def f(a: float, b: float) -> Any:
        return optimize.brentq(cubic, a, b, (1.5, 0.9))

    assert s2sad.grad(f, (0, 1))(0.0, 3.0) == (0.0, 0.0)


def test_the_adjoint_can_be_asked_for_again() -> None:
    _, bprop = s2sad.vjp(system)(1.5, 0.9)
    once, doubled = bprop(1.0), bprop(2.0)
    assert bprop(1.0) == once
    np.testing.assert_allclose(doubled, 2 * np.array(once), rtol=1e-14)


def test_single_precision_stays() -> None:
    def f(p: Any) -> Any:
        return np.sum(optimize.newton(lambda x: x**3 + x - p, p, tol=1e-6))

    p = np.array([1.5, 2.5], np.float32)
    assert s2sad.grad(f)(p).dtype == np.float32


def test_roots_of_complex_functions() -> None:
    def f(z: Any) -> Any:
        return optimize.newton(lambda x: x**2 + 1 - z, 0.3 + 1.1j)

    out, dout = s2sad.jvp(f)(0.5 + 0.2j, 1.0 + 0j)
    assert dout == pytest.approx(1 / (2 * out), rel=1e-8)


# ---------------------------------------------------------------- refusals


def refused(f: Callable[..., Any], x: float, reason: str) -> None:
    for derivative in (s2sad.grad(f), lambda x: s2sad.jvp(f)(x, 1.0)):
        with pytest.raises(NonDifferentiableError, match=reason):
            derivative(x)


def test_a_multiple_root_has_no_derivative() -> None:
    refused(lambda p: optimize.brentq(lambda x: x**3 - p * 0.0, -1.0, 1.0), 1.5, "multiple root")


def test_what_is_no_root_has_no_derivative() -> None:
    refused(
        lambda p: optimize.brentq(lambda x: np.sign(x - 0.3) + 0.1 * (x - p), -1.0, 1.0),
        0.2,
        "has not converged",
    )

    def unfinished(p: float) -> Any:
        return optimize.root(lambda x: x**3 + p * x - 5.0, 0.0, options={"maxfev": 2})["x"][0]

    refused(unfinished, 1.5, "has not converged")


def test_a_minimum_at_a_bound_has_no_derivative() -> None:
    def f(p: float) -> Any:
        return optimize.minimize(lambda x: np.sum((x - p) ** 2), np.array([0.5]), bounds=[(0.0, 1.0)])["x"][0]

    assert s2sad.grad(f)(0.7) == pytest.approx(1.0)
    refused(f, 1.5, "at a bound")


def test_constraints_are_refused() -> None:
    def f(p: float) -> Any:
        equal = {"type": "eq", "fun": lambda x: x[0] - 1.0}
        return optimize.minimize(lambda x: np.sum((x - p) ** 2), np.array([0.5]), constraints=equal)["x"][0]

    refused(f, 0.7, "constraints")


def test_how_a_root_was_found_has_no_derivative() -> None:
    def f(p: float) -> Any:
        return optimize.root(lambda x: x**3 + p * x - 5.0, 1.0)["r"][0]

    refused(f, 1.5, "'r' of a result")


def test_what_is_not_differentiated_says_why() -> None:
    def f(p: float) -> Any:
        return optimize.fminbound(lambda x: (x - p) ** 2, 0.0, 1.0)

    with pytest.raises(S2sadError, match="minimize_scalar"):
        s2sad.grad(f)(0.5)
    known = {
        "linprog_verbose_callback",
        "rosen",
        "rosen_der",
        "rosen_hess",
        "rosen_hess_prod",
        "show_options",
    }
    functions = {n for n in optimize.__all__ if callable(getattr(optimize, n)) and n[0].islower()} - known
    unknown = [n for n in functions if (f := getattr(optimize, n)) and not find_rule(f) and not refusal(f)]
    assert not unknown


# ---------------------------------------------------------------- fits

PLACES, VALUES = np.array([0.0, 0.5, 1.0, 1.7]), np.array([1.52, 1.05, 0.81, 0.44])
EXACT: dict[str, Any] = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def slopes(t: Any, a: Any, b: Any) -> Any:
    return np.stack([np.exp(-b * t), -t * a * np.exp(-b * t)], axis=1)


def by_errors(y: Any, s: Any) -> Any:
    return optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t), PLACES, y, [1.0, 1.0], s, jac=slopes, **EXACT
    )[0]


def by_what_the_curve_closes_over(y: Any, c: Any) -> Any:
    p, _ = optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t) + c * t, PLACES, y, np.array([1.0, 1.0]), jac=slopes, **EXACT
    )
    return p * c


def test_fitted_curves() -> None:
    errors = np.array([0.1, 0.3, 0.2, 0.4])
    check_program(by_errors, (VALUES, errors), (0, 1))
    check_program(by_what_the_curve_closes_over, (VALUES, 0.1), (0, 1))
    args = VALUES, 0.1
    gradient = s2sad.grad(scalarised(by_what_the_curve_closes_over, args), (0, 1))
    along = directions(args, (0, 1), 0)
    numeric = numeric_jvp(gradient, args, (0, 1), along, 1e-2)  # smaller steps show where the fit stops
    product = s2sad.jvp(gradient, argnums=(0, 1))(*args, *along)[1]
    assert_close(product, numeric, 1e-6, "jvp of grad against finite differences")


def test_a_straight_line_fits_as_polyfit_finds_it() -> None:
    def line(y: Any) -> Any:
        return optimize.curve_fit(lambda t, a, b: a * t + b, PLACES, y)[0]

    expected = s2sad.jacobian(lambda y: np.polyfit(PLACES, y, 1))(VALUES)
    np.testing.assert_allclose(s2sad.jacobian(line)(VALUES), expected, atol=1e-7)


@pytest.mark.parametrize("keywords", [{"loss": "soft_l1", "method": "trf"}, {"sigma": np.eye(4)}])
def test_other_fits_are_refused(keywords: Any) -> None:
    def f(y: Any) -> Any:
        return optimize.curve_fit(lambda t, a: a * t, PLACES, y, [1.0], **keywords)[0][0]

    with pytest.raises(S2sadError):
        s2sad.grad(f)(VALUES)


def test_the_errors_of_fitted_parameters_have_no_derivative() -> None:
    with pytest.raises(NonDifferentiableError, match="of a result"):
        s2sad.grad(lambda y: optimize.curve_fit(lambda t, a: a * t, PLACES, y)[1][0, 0])(VALUES)


def hessian_of_rosenbrock(x: Any) -> Any:
    return 1e-3 * optimize.rosen_hess(x)


def test_the_hessian_of_rosenbrocks_function() -> None:
    for x in (np.array([0.3, 1.4, 2.0, 0.7]), np.array([0.3, 1.4])):
        check_program(hessian_of_rosenbrock, (x,), (0,))
        check_second(hessian_of_rosenbrock, (x,), (0,))
    assert np.array_equal(s2sad.vjp(hessian_of_rosenbrock)([1, 2, 3])[0], hessian_of_rosenbrock([1, 2, 3]))
