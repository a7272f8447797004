"""Differential equations and integrals in programs: both modes, twice, with what the functions close over;
what is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import s2sad
from s2sad.primitives.record import find_rule, refusal
from s2sad.transforms.errors import NonDifferentiableError, S2sadError
from tests.support.compare import check_program, check_second, is_sampled

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
TIMES = np.array([0.3, 1.0, 1.4])


def predator(t: Any, y: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.stack([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])


def by_arguments(p: Any, q: Any) -> Any:
    sol = integrate.solve_ivp(
        predator,
        (0.0, 1.5),
        np.array([1.0, 0.7]),
        t_eval=TIMES,
        args=(p, 0.4, q, 0.8),
        rtol=1e-11,
        atol=1e-12,
    )
    return sol.y


def by_closure(p: Any, q: Any) -> Any:
    def rhs(t: Any, y: Any) -> Any:
        return np.stack([y[1], p * (1 - y[0] ** 2) * y[1] - q * y[0]])

    sol = integrate.solve_ivp(
        rhs, (0.0, 1.5), np.array([1.0, 0.7]), method="DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-13
    )
    return np.sum(sol.y[:, -1] ** 2) + p * sol.y[0, 1]


def by_start(p: Any, q: Any) -> Any:
    sol = integrate.solve_ivp(lambda t, y: [y[1], -np.sin(y[0])], (0, 1), [p, q * p], rtol=1e-11, atol=1e-12)
    return sol.y[:, -1]


def by_end(p: Any, q: Any) -> Any:
    sol = integrate.solve_ivp(
        lambda t, y: np.cos(t * y) + q, (0.1 * q, p), np.array([0.5]), rtol=1e-11, atol=1e-12
    )
    return sol.y[0, -1] * sol.t[-1]


def by_times(p: Any, q: Any) -> Any:
    ts = np.stack([p * 0.2, p * 0.5])
    sol = integrate.solve_ivp(lambda t, y: np.cos(t * y) + q, (0.0, 2.0), np.array([0.5]), t_eval=ts, **TIGHT)
    return sol.y * sol.t


def stiff(p: Any, q: Any) -> Any:
    def rhs(t: Any, y: Any) -> Any:
        return np.stack([-50 * p * (y[0] - np.cos(t)), y[0] - q * y[1]])

    start, times = np.array([0.0, 1.0]), np.array([0.05, 0.1])
    return integrate.solve_ivp(rhs, (0.0, 0.1), start, "Radau", times, rtol=1e-7, atol=1e-8).y


def with_backward_differences(p: Any, q: Any) -> Any:
    sol = integrate.solve_ivp(
        lambda t, y: -p * y + np.sin(q * t), (0.0, 0.1), [q], "BDF", rtol=1e-7, atol=1e-8
    )
    return sol.y[0, -1]


def with_varying_orders(p: Any, q: Any) -> Any:
    sol = integrate.solve_ivp(
        lambda t, y: np.cos(t * y) + q, (p, 0.1 * q), np.array([0.5]), "LSODA", rtol=1e-12, atol=1e-13
    )
    return sol.y[0, -1] * sol.t[-1]


def by_columns(p: Any, q: Any) -> Any:
    def rhs(t: Any, y: Any) -> Any:
        return np.stack([y[1] * p, -y[0] * q])

    sol = integrate.solve_ivp(
        rhs, (0.0, 1.0), np.array([0.4, 1.0]), t_eval=TIMES[:2], vectorized=True, rtol=1e-11, atol=1e-12
    )
    return sol.y


def by_odeint(p: Any, q: Any) -> Any:
    y = integrate.odeint(
        lambda y, t, a: [y[1], -a * y[0] + np.cos(q * t)],
        [p, 0.3],
        np.array([0.0, 0.5, 1.1]),
        args=(p * q,),
        rtol=1e-11,
        atol=1e-12,
    )
    return y[1:] * p


def by_odeint_with_report(p: Any, q: Any) -> Any:
    y, report = integrate.odeint(
        lambda t, y: -p * y, q, [0.0, 0.5], full_output=True, tfirst=True, rtol=1e-12, atol=1e-13
    )
    if report["message"] != "Integration successful.":
        raise ValueError
    return y[-1, 0]


ODES = [
    by_arguments,
    by_closure,
    by_start,
    by_end,
    by_times,
    stiff,
    with_backward_differences,
    with_varying_orders,
    by_columns,
    by_odeint,
    by_odeint_with_report,
]


@pytest.mark.parametrize("f", ODES, ids=lambda f: f.__name__)
def test_solutions_of_differential_equations(f: Callable[..., Any]) -> None:
    check_program(f, (1.3, 0.9), (0, 1))
    if f is not stiff and is_sampled(f):  # which takes long; another implicit method is among the rest
        check_second(f, (1.3, 0.9), (0, 1))


@pytest.mark.parametrize("f", [by_closure, by_start, by_end, by_odeint], ids=lambda f: f.__name__)
def test_forward_over_reverse(f: Callable[..., Any]) -> None:
    check_second(f, (1.3, 0.9), (0, 1), over="forward")


def test_the_adjoint_can_be_asked_for_again() -> None:
    _, bprop = s2sad.vjp(by_closure)(1.3, 0.9)
    once = bprop(1.0)
    np.testing.assert_allclose(bprop(2.0), 2 * np.array(once), rtol=1e-14)
    assert bprop(1.0) == once


def test_the_results_within_the_steps_of_another_method() -> None:
    def f(k: Any) -> Any:
        return np.sum(integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], "LSODA", **TIGHT).y)

    def expected(k: Any) -> Any:
        ts = integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], "LSODA", **TIGHT).t
        return np.sum(-ts * np.exp(-k * ts))

    for derivative in (s2sad.grad(f), lambda k: s2sad.jvp(f)(k, 1.0)[1]):
        assert derivative(0.7) == pytest.approx(expected(0.7), rel=1e-8)


def test_single_precision_and_lists_stay() -> None:
    def f(y0: Any) -> Any:
        return np.sum(integrate.solve_ivp(lambda t, y: -y, (0, 1), y0).y[:, -1])

    found = s2sad.grad(f)(np.array([1.0, 2.0], np.float32))
    assert found.dtype == np.float32
    assert s2sad.grad(f)([1.0, 2.0]) == pytest.approx([np.exp(-1)] * 2, rel=1e-3)


def test_a_jacobian_of_the_start() -> None:
    def f(y0: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: np.stack([y[1], -y[0]]), (0, 1.5), y0, **TIGHT).y[:, -1]

    c, s = np.cos(1.5), np.sin(1.5)
    for jacobian in (s2sad.jacrev, s2sad.jacfwd):
        np.testing.assert_allclose(jacobian(f)(np.array([0.4, 0.7])), [[c, s], [-s, c]], atol=1e-9)


def test_a_bound_method_as_the_right_hand_side() -> None:
    class Decay:
        def rate(self, y: Any, t: float, k: float) -> Any:
            return -k * y

    def f(k: float) -> Any:
        return integrate.odeint(Decay().rate, 2.0, np.array([0.0, 1.0]), args=(k,))[-1, 0]

    assert s2sad.grad(f)(0.5) == pytest.approx(-2 * np.exp(-0.5), rel=1e-6)


def test_an_event_that_ends_the_integration_is_refused() -> None:
    def down(t: float, y: Any) -> Any:
        return y[0] - 0.5

    down.terminal = True  # type: ignore[attr-defined]

    def f(k: float) -> Any:
        return integrate.solve_ivp(lambda t, y: -k * y, (0, 5), np.array([1.0]), events=down).t[-1]

    for derivative in (s2sad.grad(f), lambda k: s2sad.jvp(f)(k, 1.0)):
        with pytest.raises(NonDifferentiableError, match="event"):
            derivative(0.7)


def test_the_times_of_events_have_no_derivative() -> None:
    def f(k: float) -> Any:
        sol = integrate.solve_ivp(
            lambda t, y: -k * y, (0, 5), np.array([1.0]), events=lambda t, y: y[0] - 0.5
        )
        return sol.t_events[0][0]

    with pytest.raises(NonDifferentiableError, match="t_events"):
        s2sad.grad(f)(0.7)


# ---------------------------------------------------------------- integrals


def over_arguments(p: Any, q: Any) -> Any:
    return integrate.quad(lambda t, a: np.exp(-a * t * t), 0.1, 1.2, (p * q,))[0]


def over_closure(p: Any, q: Any) -> Any:
    value, _ = integrate.quad(lambda t: np.sin(p * t) * q, q, 2.0 * p)
    return value * p


def improper(p: Any, q: Any) -> Any:
    return integrate.quad(lambda t: np.exp(-p * t * t) * q, -np.inf, np.inf)[0]


def nested(p: Any, q: Any) -> Any:
    return integrate.quad(lambda t: integrate.quad(lambda s: np.cos(s * t * p), 0.0, q)[0], 0.0, 1.0)[0]


def with_branches(p: Any, q: Any) -> Any:
    def f(t: Any) -> Any:
        return p * t if t < 0.5 else p * q * t * t

    return integrate.quad(f, 0.0, 1.0)[0] + integrate.quad(np.cos, p, q)[0]


def of_arrays(p: Any, q: Any) -> Any:
    return integrate.quad_vec(lambda t: np.stack([np.cos(p * t), q * t**2]), 0.1, q)[0]


SINGLE = [over_arguments, over_closure, improper, with_branches, of_arrays]


@pytest.mark.parametrize("f", SINGLE, ids=lambda f: f.__name__)
def test_integrals_of_functions(f: Callable[..., Any]) -> None:
    check_program(f, (1.3, 0.9), (0, 1))
    if is_sampled(f):
        check_second(f, (1.3, 0.9), (0, 1))


def twice(p: Any, q: Any) -> Any:
    return integrate.dblquad(lambda y, x, a: a * x * y, 0.0, p, lambda x: 0.2 * x, q, args=(p,))[0]


def in_ranges(p: Any, q: Any) -> Any:
    return integrate.nquad(lambda y, x: p * x * y, [lambda x: [0.2 * x, q], [0.0, p]])[0]


@pytest.mark.parametrize(
    ("f", "modes"),
    [(nested, "both"), (twice, "reverse"), (in_ranges, "forward")],
    ids=["nested", "twice", "in_ranges"],
)
def test_integrals_of_several_variables(f: Callable[..., Any], modes: str) -> None:
    p, q, h = 1.3, 0.9, 1e-5
    by_steps = [(f(p + h, q) - f(p - h, q)) / (2 * h), (f(p, q + h) - f(p, q - h)) / (2 * h)]
    if modes != "forward":  # `dblquad` calls `nquad`, and each takes seconds
        np.testing.assert_allclose(s2sad.grad(f, (0, 1))(p, q), by_steps, rtol=1e-8)
    if modes != "reverse":
        change = 0.7 * by_steps[0] - 0.4 * by_steps[1]
        assert s2sad.jvp(f)(p, q, 0.7, -0.4)[1] == pytest.approx(change, rel=1e-8)


def test_a_third_derivative_of_an_integral() -> None:
    def f(p: Any) -> Any:
        return integrate.quad(lambda t: np.exp(p * t), 0.0, 1.0)[0]

    expected = integrate.quad(lambda t: t**3 * np.exp(0.7 * t), 0.0, 1.0)[0]
    assert s2sad.grad(s2sad.grad(s2sad.grad(f)))(0.7) == pytest.approx(expected, rel=1e-8)


def test_an_infinite_end_is_not_moved() -> None:
    def f(a: Any) -> Any:
        return integrate.quad(lambda t: np.exp(-t), a, np.inf)[0]

    assert s2sad.grad(f)(0.7) == pytest.approx(-np.exp(-0.7), rel=1e-9)
    assert s2sad.grad(s2sad.grad(f))(0.7) == pytest.approx(np.exp(-0.7), rel=1e-9)


def test_gaussian_quadrature() -> None:
    def f(p: Any, q: Any) -> Any:
        return integrate.fixed_quad(lambda t, a: np.sin(a * t) * q, p, 2.0 * q, (p * q,), n=6)[0]

    check_program(f, (1.3, 0.9), (0, 1))
    if is_sampled(f):
        check_second(f, (1.3, 0.9), (0, 1))


def trapezoids(y: Any, x: Any) -> Any:
    return integrate.trapezoid(y, x) * integrate.trapezoid(y, dx=0.3)


def parabolas(y: Any, x: Any) -> Any:
    even = np.concatenate([y**2, x])
    return integrate.simpson(y, x=x) + integrate.simpson(even, dx=0.3)


def running(y: Any, x: Any) -> Any:
    return integrate.cumulative_trapezoid(y, x, initial=0) * y


def romberg(y: Any, x: Any) -> Any:
    return integrate.romb(y * x, dx=0.2)


@pytest.mark.parametrize("f", [trapezoids, parabolas, running, romberg], ids=lambda f: f.__name__)
def test_integrals_of_samples(f: Callable[..., Any]) -> None:
    y, x = np.array([1.0, 2.0, 0.5, 0.7, 1.1]), np.array([0.0, 0.5, 0.7, 1.2, 2.0])
    check_program(f, (y, x), (0, 1))
    check_second(f, (y, x), (0, 1))


def test_what_is_not_differentiated_says_why() -> None:
    def f(p: float) -> Any:
        return integrate.quad(lambda t: p * t, 0.0, 1.0, weight="cos", wvar=2.0)[0]

    with pytest.raises(S2sadError):
        s2sad.grad(f)(1.3)
    functions = {n for n in integrate.__all__ if callable(getattr(integrate, n))}
    unknown = [n for n in functions if (f := getattr(integrate, n)) and not find_rule(f) and not refusal(f)]
    warnings_and_classes = {n for n in unknown if isinstance(getattr(integrate, n), type)}
    assert set(unknown) - warnings_and_classes == {"dblquad", "tplquad"}  # which call nquad
