"""The steps that the solvers of `scipy.integrate` take, found by solving once more where they are not
reported.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import nondifferentiable
from .implicit import tupled
from .trajectories import RADAU

__all__ = ["Steps", "form_of", "form_of_odeint", "ivp_steps", "odeint_steps"]

Array = Any  # any type with NumPy's protocols

EXPLICIT = {"RK23": integrate.RK23, "RK45": integrate.RK45, "DOP853": integrate.DOP853}
METHODS = {**EXPLICIT, "Radau": integrate.Radau, "BDF": integrate.BDF, "LSODA": integrate.LSODA}


class Steps(NamedTuple):
    """The times of a solution's steps are its start, the times of the results, and those `between` them,
    taken in `order`; `tableau` has the coefficients of the method, `places` says which of the times are those
    of results. Where no times were asked for, the end of the time span stands for those of the results.
    """

    between: Array
    order: Array
    tableau: tuple[Array, Array]
    places: Array


def coefficients(name: str) -> tuple[Array, Array]:
    """The weights of a method, those of its result in the last row, and its nodes."""
    if name not in EXPLICIT:
        return RADAU
    method = EXPLICIT[name]
    weights = np.zeros((len(method.C) + 1, len(method.C)))
    weights[:-1, : method.A.shape[1]] = method.A
    weights[-1] = method.B
    return weights, method.C


def form_of(vectorized: bool) -> str:
    """How `solve_ivp` calls a right-hand side."""
    return "columns" if vectorized else "time first"


def form_of_odeint(tfirst: bool) -> str:
    """How `odeint` calls a right-hand side."""
    return "time first" if tfirst else "state first"


def ivp_steps(rhs: Any, out: Any, call: tuple[Any, ...], options: dict[str, Any]) -> Steps:
    """Those of `solve_ivp`."""
    t_span, y0, method, t_eval, args = call
    if out["sol"] is not None:
        raise NonDifferentiableError(
            "the derivative of a solution with dense_output=True",
            why="its values between the steps have no known derivative",
            instead="say the times, `t_eval=[0.5]`, and read `y`",
        )
    if args is not None and not isinstance(args, tuple):
        raise NonDifferentiableError(
            "arguments of a right-hand side that are in no tuple",
            why="how they are passed on depends on their number",
            instead="pass a tuple: `args=(*k,)`",
        )
    if out["status"] < 0 or (out["status"] > 0 and t_eval is None):
        raise NonDifferentiableError(
            "the derivative of a solution of a differential equation",
            why="the integration failed" if out["status"] < 0 else "its last time is that of an event",
            instead="find the time of the event by scipy.optimize.brentq, and integrate up to there",
        )
    name = next((k for k, kind in METHODS.items() if method in (k, k.upper(), kind)), None)
    if name is None:
        raise NonDifferentiableError(
            f"the derivative of a solution by {method}", why="its steps are not known"
        )
    is_own = name != "LSODA"  # whose orders vary: steps of another method, which end at its times too
    if not is_own:
        name = suited(rhs, y0, t_span, args, options)
        options = {k: options[k] for k in ("rtol", "atol", "max_step")}
    if t_eval is not None:
        return solved_steps(rhs, y0, t_span, out["t"], args, name, options)
    ts = np.asarray(out["t"], float)
    inner = ts[1:-1]
    if not is_own:
        more = solved_steps(rhs, y0, t_span, ts, args, name, options).between
        inner = np.union1d(inner, more)[:: 1 if ts[-1] >= ts[0] else -1]
    places = np.flatnonzero(np.isin([ts[0], *inner, ts[-1]], ts))[: len(ts)]
    return Steps(inner, np.array([0, *range(2, len(inner) + 2), 1]), coefficients(name), places)


def odeint_steps(rhs: Any, y0: Any, ts: Array, args: Any, options: dict[str, Any]) -> Steps:
    """Those of `odeint`, by another solver."""
    options = {"rtol": options["rtol"], "atol": options["atol"], "max_step": options["hmax"] or np.inf}
    options = {k: 1.49012e-8 if v is None else v for k, v in options.items()}
    ts = np.asarray(ts, float)
    span = ts[0], ts[-1]
    return solved_steps(rhs, y0, span, ts, args, suited(rhs, y0, span, args, options), options)


def suited(rhs: Any, y0: Any, span: Any, args: Any, options: dict[str, Any]) -> str:
    """A method as accurate as LSODA with its many orders: an implicit one where that found it stiff."""
    tolerances = {k: options[k] for k in ("rtol", "atol") if options[k] is not None}
    report = integrate.odeint(
        rhs_of_time(rhs, args),
        np.ravel(y0),
        np.array(span, float),
        full_output=True,
        tfirst=True,
        **{"rtol": 1e-3, "atol": 1e-6, **tolerances},
    )[1]
    return "Radau" if np.any(report["mused"] == 2) else "DOP853"


def solved_steps(
    rhs: Any, y0: Any, span: Any, ts: Array, args: Any, name: str, options: dict[str, Any]
) -> Steps:
    """The steps with the results among their ends."""
    kept = {k: v for k, v in options.items() if v is not None}
    found = integrate.solve_ivp(rhs_of_time(rhs, args), span, np.ravel(y0), method=name, **kept).t
    ahead = 1.0 if span[1] >= span[0] else -1.0
    between = found[1:][ahead * found[1:] < max(ahead * ts, default=-np.inf)]
    between = np.setdiff1d(between, ts)
    order = np.argsort(ahead * np.concatenate([ts, between]), kind="stable")
    places = 1 + np.argsort(order, kind="stable")[: len(ts)]
    return Steps(between, np.concatenate([[0], 1 + order]), coefficients(name), places)


def rhs_of_time(rhs: Any, args: Any) -> Any:
    """The right-hand side as a function of time and state."""
    fun, form = rhs
    if form == "state first":
        return lambda t, y: fun(y, t, *tupled(args))
    if form == "columns":
        return lambda t, y: np.ravel(fun(t, y[:, None], *tupled(args)))
    return lambda t, y: fun(t, y, *tupled(args))


nondifferentiable([form_of, form_of_odeint, ivp_steps, odeint_steps])
