"""`scipy.integrate.solve_ivp` and `odeint`: by the start, the times, the arguments, and what the right-hand
side closes over.

The steps are found by solving once more where the solver does not report them.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sad.transforms.errors import NonDifferentiableError

from ..registry import bprop, nondifferentiable, refuse
from .constant import named
from .containers import filled, part_like
from .functional import pulled_back
from .implicit import changed
from .results import cotangent, first, first_cotangent, first_tangent, tangents
from .trajectories import slope, slopes, trajectory

Array = Any  # whatever implements NumPy's protocols

# ---------------------------------------------------------------- steps

EXPLICIT = {"RK23": integrate.RK23, "RK45": integrate.RK45, "DOP853": integrate.DOP853}
METHODS = {**EXPLICIT, "Radau": integrate.Radau, "BDF": integrate.BDF, "LSODA": integrate.LSODA}


def explicit(name: str) -> Any:
    """The coefficients of an explicit Runge-Kutta method; None for other methods."""
    found = EXPLICIT.get(name)
    return None if found is None else (found.A, found.B, found.C)


def ivp_steps(rhs: Any, out: Any, call: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The times of the steps of `solve_ivp`, the coefficients of its method, and which of the times are those
    of the results.
    """
    t_span, y0, method, t_eval, args = call
    if out["status"] < 0 or (out["status"] > 0 and t_eval is None):
        raise NonDifferentiableError(
            "the derivative of a solution of a differential equation",
            why="the integration failed" if out["status"] < 0 else "its last time is that of an event",
            instead="find the time of the event by scipy.optimize.brentq, and integrate up to there",
        )
    name = next((k for k, kind in METHODS.items() if method in (k, k.upper(), kind)), None)
    if name is None:
        raise NonDifferentiableError(f"the derivative of a solution by {method}", why="its steps are not known")
    if name == "LSODA":
        name = suited(rhs, y0, t_span, args, options)
        options = {k: options[k] for k in ("rtol", "atol", "max_step")}
    elif t_eval is None:
        return out["t"], explicit(name), np.arange(len(out["t"]))
    return solved_steps(rhs, y0, t_span, out["t"], args, name, options)


def odeint_steps(rhs: Any, y0: Any, ts: Array, args: Any, options: dict[str, Any]) -> Any:
    """The same for `odeint`, by the steps of another solver."""
    options = {"rtol": options["rtol"], "atol": options["atol"], "max_step": options["hmax"] or np.inf}
    options = {k: 1.49012e-8 if v is None else v for k, v in options.items()}
    ts = np.asarray(ts, float)
    span = ts[0], ts[-1]
    return solved_steps(rhs, y0, span, ts, args, suited(rhs, y0, span, args, options), options)


def suited(rhs: Any, y0: Any, span: Any, args: Any, options: dict[str, Any]) -> str:
    """A method with the accuracy that LSODA has with its many orders: an implicit one where that was stiff."""
    tolerances = {k: options[k] for k in ("rtol", "atol") if options[k] is not None}
    report = integrate.odeint(
        rhs_of_time(rhs, args), np.ravel(y0), np.array(span, float), full_output=True, tfirst=True,
        **{"rtol": 1e-3, "atol": 1e-6, **tolerances},
    )[1]
    return "Radau" if np.any(report["mused"] == 2) else "DOP853"


def solved_steps(rhs: Any, y0: Any, span: Any, ts: Array, args: Any, name: str, options: dict[str, Any]) -> Any:
    """The times of all steps up to the last result, the coefficients, and where the results are."""
    kept = {k: v for k, v in options.items() if v is not None}
    found = integrate.solve_ivp(rhs_of_time(rhs, args), span, np.ravel(y0), method=name, **kept)
    ahead = 1.0 if span[1] >= span[0] else -1.0
    times = ahead * np.unique(ahead * np.concatenate([found.t, ts]))
    times = times[ahead * times <= max(ahead * ts, default=ahead * span[0])]
    return times, explicit(name), np.searchsorted(ahead * times, ahead * ts)


def rhs_of_time(rhs: Any, args: Any) -> Any:
    """The right-hand side as a function of time and state."""
    return lambda t, y: slope(rhs, t, y, args)


nondifferentiable([ivp_steps, odeint_steps])


# ---------------------------------------------------------------- for samples


def swing(t: float, y: Array, rate: Any) -> Array:
    """A pendulum that is pushed."""
    return np.stack([y[1], -rate * np.sin(y[0]) + 0.3 * np.cos(2 * t)])


def reaction(y: Array, t: float, fast: Any, slow: Any) -> Array:
    """Two species, one of which vanishes."""
    return np.stack([-fast * y[0] * y[1], fast * y[0] * y[1] - slow * y[1]])


# ---------------------------------------------------------------- derivatives


def form_of(vectorized: bool) -> str:
    """How `solve_ivp` calls a right-hand side."""
    return "columns" if vectorized else "time first"


def form_of_odeint(tfirst: bool) -> str:
    """How `odeint` calls a right-hand side."""
    return "time first" if tfirst else "state first"


def at_first(t: Array) -> Array:
    """One for the first of some times, zero for the others."""
    return np.asarray(np.arange(len(t)) == 0, float)


nondifferentiable([form_of, form_of_odeint, at_first])


def number(d: Any) -> Any:
    """A tangent of a number, zero for None."""
    return 0.0 if d is None else d


def times_tangent(dt_span: Any, dt_eval: Any, t_eval: Any, ts: Array) -> Array:
    """The tangents of the times of results: those asked for, or the steps, of which the first and the last are
    given.
    """
    if t_eval is not None:
        return np.asarray(filled(dt_eval, t_eval), dtype=float)
    if dt_span is None:
        return np.zeros(len(ts))
    return at_first(ts) * number(dt_span[0]) + at_first(ts)[::-1] * number(dt_span[1])


def state(y0: Any) -> Array:
    """A start as solvers take it: a vector, in double precision."""
    y = np.ravel(np.asarray(y0))
    return y.astype(complex if np.iscomplexobj(y) else float)


def state_tangent(dy0: Any, y0: Any) -> Array:
    """The tangent of a start."""
    return state(filled(dy0, y0))


def solution_adjoint(dy: Array, call: tuple[Any, ...]) -> Any:
    """The adjoints of the right-hand side, of the start and of the arguments, from that of the results."""
    (drhs, _), dy0, dargs, _ = pulled_back(trajectory, dy, call)
    return drhs, dy0, dargs


def along(dy: Array, f: Array) -> Any:
    """The cotangent of a time, from that of a state and its slope there."""
    return np.real(np.sum(dy * f, axis=-1))


def span_adjoint(t_span: Any, start: Any, stop: Any) -> Any:
    """The cotangent of a time span."""
    return part_like(np.stack([start, stop]), t_span)


PARTS = ("t", "y")


@bprop(integrate.solve_ivp, lists=True, parts=PARTS, samples=[
    ((swing, (0, 1), np.array([0.4, 0.9])), {"args": (0.7,), "rtol": 0.1, "first_step": 0.25, "max_step": 0.25}),
    ((swing, (0.2, 1.5), np.array([0.4, 0.9]), "DOP853", np.array([0.5, 1.1])), {"args": (0.7,), "rtol": 1e-12, "atol": 1e-13}),
    ((swing, (0.2, -0.5), [0.4, 0.9], "Radau", [0.1, -0.2, -0.4]), {"args": (0.7,), "rtol": 1e-10, "atol": 1e-11}),
    ((swing, (0.2, 0.6), [0.4, 0.9], "LSODA", [0.3, 0.5]), {"args": (0.7,), "rtol": 1e-12, "atol": 1e-13}),
])
def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
              args=None, *, jac=None, rtol=None, atol=None, max_step=None, first_step=None, min_step=None,
              jac_sparsity=None, lband=None, uband=None, out, dout):
    rhs = (fun, form_of(vectorized))
    options = {"rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step, "jac": jac,
               "min_step": min_step, "jac_sparsity": jac_sparsity, "lband": lband, "uband": uband}
    found = ivp_steps(rhs, out, (t_span, y0, method, t_eval, args), options)
    dy = np.transpose(cotangent(dout, "y", PARTS))
    dfun, dstart, dargs = solution_adjoint(dy, (rhs, state(y0), args, found))
    dt = cotangent(dout, "t", PARTS) + along(dy, slopes(rhs, out["t"], np.transpose(out["y"]), args))
    before = -along(dstart, slope(rhs, t_span[0], state(y0), args))
    dy0 = part_like(dstart, y0)
    if t_eval is None:
        return dfun, span_adjoint(t_span, before + dt[0], dt[-1]), dy0, None, None, None, None, None, dargs, None
    dspan = span_adjoint(t_span, before, np.zeros_like(before))
    return dfun, dspan, dy0, None, part_like(dt, t_eval), None, None, None, dargs, None


@solve_ivp.jvp
def solve_ivp_jvp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
                  args=None, *, jac=None, rtol=None, atol=None, max_step=None, first_step=None, min_step=None,
                  jac_sparsity=None, lband=None, uband=None, out, dfun, dt_span, dy0, dt_eval, dargs):
    rhs = (fun, form_of(vectorized))
    options = {"rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step, "jac": jac,
               "min_step": min_step, "jac_sparsity": jac_sparsity, "lband": lband, "uband": uband}
    found = ivp_steps(rhs, out, (t_span, y0, method, t_eval, args), options)
    dstart = state_tangent(dy0, y0) - slope(rhs, t_span[0], state(y0), args) * number(dt_span[0])
    dt = times_tangent(dt_span, dt_eval, t_eval, out["t"])
    dy = changed(trajectory, ((dfun, None), dstart, dargs, None), (rhs, state(y0), args, found))
    moved = slopes(rhs, out["t"], np.transpose(out["y"]), args) * dt[:, None]
    return tangents({"t": dt, "y": np.transpose(dy + moved)}, out)


@bprop(integrate.odeint, lists=True, samples=[
    ((reaction, np.array([1.5, 0.3]), np.array([0.0, 0.5, 1.2])), {"args": (0.7, 1.1), "rtol": 1e-12, "atol": 1e-13}),
    ((swing, [0.4, 0.9], np.array([1.0, 0.5, 0.2])), {"args": (0.7,), "tfirst": True, "rtol": 1e-12, "atol": 1e-13})])
def odeint(func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None, atol=None,
           tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12, mxords=5, printmessg=0,
           tfirst=False, *, out, dout):
    rhs = (func, form_of_odeint(tfirst))
    ys = first(out, full_output)
    dy = first_cotangent(dout, full_output)
    found = odeint_steps(rhs, y0, t, args, {"rtol": rtol, "atol": atol, "hmax": hmax})
    dfunc, dstart, dargs = solution_adjoint(dy, (rhs, state(y0), args, found))
    before = along(dstart, slope(rhs, t[0], state(y0), args))
    dt = along(dy, slopes(rhs, t, ys, args)) - before * at_first(t)
    return dfunc, part_like(dstart, y0), part_like(dt, t), dargs, None


@odeint.jvp
def odeint_jvp(func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None, atol=None,
               tcrit=None, h0=0.0, hmax=0.0, hmin=0.0, ixpr=0, mxstep=0, mxhnil=0, mxordn=12, mxords=5,
               printmessg=0, tfirst=False, *, out, dfunc, dy0, dt, dargs):
    rhs = (func, form_of_odeint(tfirst))
    ys = first(out, full_output)
    found = odeint_steps(rhs, y0, t, args, {"rtol": rtol, "atol": atol, "hmax": hmax})
    dts = np.asarray(filled(dt, t))
    dstart = state_tangent(dy0, y0) - slope(rhs, t[0], state(y0), args) * dts[0]
    dy = changed(trajectory, ((dfunc, None), dstart, dargs, None), (rhs, state(y0), args, found))
    return first_tangent(dy + slopes(rhs, t, ys, args) * dts[:, None], out, full_output)


refuse(named(integrate, "ode complex_ode solve_bvp RK23 RK45 DOP853 Radau BDF LSODA"),
       "only the solutions of solve_ivp and odeint are differentiated")
