"""`scipy.integrate.solve_ivp` and `odeint`: by the start, the times, the arguments, and what the right-hand
side closes over.

The derivative is that of the solver's steps: see `trajectories`.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from ..primitives.record import bprop, nondifferentiable, refuse
from .constant import named
from .containers import filled, part_like
from .functional import fprop_of, jvp_of
from .implicit import tupled
from .results import cotangent, first_cotangent, first_tangent, tangents
from .scipy_integrate_steps import form_of, form_of_odeint, ivp_steps, odeint_steps
from .trajectories import RADAU, TRAJECTORIES

Array = Any  # any type with NumPy's protocols

# ---------------------------------------------------------------- for samples


def swing(t: float, y: Array, rate: Any) -> Array:
    """A pendulum that is pushed."""
    return np.stack([y[1], -rate * np.sin(y[0]) + 0.3 * np.cos(2 * t)])


def reaction(y: Array, t: float, fast: Any, slow: Any) -> Array:
    """Two species, one of which vanishes."""
    return np.stack([-fast * y[0] * y[1], fast * y[0] * y[1] - slow * y[1]])


# ---------------------------------------------------------------- derivatives


def state(y0: Any) -> Array:
    """A start as solvers take it: a vector, in double precision."""
    y = np.ravel(np.asarray(y0))
    return y.astype(complex if np.iscomplexobj(y) else float)


def state_tangent(dy0: Any, y0: Any) -> Array:
    """The tangent of a start."""
    return state(filled(dy0, y0))


def program_of(form: str, found: Any) -> Any:
    """The solution as a program."""
    return TRAJECTORIES[form, "implicit" if found.tableau is RADAU else "explicit"]


nondifferentiable([program_of])


def solution_adjoint(dy: Array, rhs: Any, start: Array, args: Any, times: Array, found: Any) -> Any:
    """The adjoints of the right-hand side, of the start and of the arguments, from that of the results."""
    fun, form = rhs
    _, _, tableau, places = found
    _, bprop_ = fprop_of(program_of(form, found), (0, 1, 2))(fun, start, tupled(args), times, tableau, places)
    _, d = bprop_(dy)
    return d[0], d[1], as_passed(d[2], args)


def times_adjoint(dy: Array, rhs: Any, start: Array, args: Any, times: Array, found: Any) -> Array:
    """The adjoint of the times of the steps."""
    fun, form = rhs
    _, _, tableau, places = found
    _, bprop_ = fprop_of(program_of(form, found), (3,))(fun, start, tupled(args), times, tableau, places)
    _, d = bprop_(dy)
    return d[3]


def solution_tangent(tangents: Any, rhs: Any, start: Array, args: Any, times: Array, found: Any) -> Array:
    """The tangent of the results."""
    fun, form = rhs
    dfun, dstart, dargs, dtimes = tangents
    _, _, tableau, places = found
    changes = {0: dfun, 1: dstart, 2: None if dargs is None else tupled(dargs), 3: dtimes}
    return jvp_of(program_of(form, found), None, changes)(fun, start, tupled(args), times, tableau, places)[1]


def as_passed(d: Any, args: Any) -> Any:
    """The adjoint of the arguments, which may be one that is in no tuple."""
    if args is None:
        return None
    return d if isinstance(args, tuple) else d[0]


# ---------------------------------------------------------------- times


def times_of(start: Any, ts: Any, found: Any) -> Array:
    """The times of the steps, from those of the start and of the results (or of the end)."""
    between, order, _, _ = found
    return np.take(np.concatenate([np.reshape(start, (1,)), np.ravel(ts), between]), order)


def times_tangent(dstart: Any, dts: Any, found: Any) -> Array:
    """The tangents of the times of the steps."""
    between, order, _, _ = found
    return np.take(np.concatenate([np.reshape(dstart, (1,)), np.ravel(dts), 0.0 * between]), order)


def end_tangent(dt_span: Any, k: int) -> Any:
    """The tangent of an end of a time span, zero for None."""
    if dt_span is None:
        return 0.0
    return 0.0 if dt_span[k] is None else dt_span[k]


# ---------------------------------------------------------------- the rules


PARTS = ("t", "y")


@bprop(
    integrate.solve_ivp, sharing="unknown",
    lists=True,
    parts=PARTS,
    samples=[
        (
            (swing, (0, 1), np.array([0.4, 0.9])),
            {"args": (0.7,), "rtol": 0.1, "first_step": 0.25, "max_step": 0.25},
        ),
        (
            (swing, (0.2, 1.5), np.array([0.4, 0.9]), "DOP853", np.array([0.5, 1.1])),
            {"args": (0.7,), "rtol": 1e-12, "atol": 1e-13},
        ),
        (
            (swing, (0.2, -0.5), [0.4, 0.9], "Radau", [0.1, -0.2, -0.4]),
            {"args": (0.7,), "rtol": 1e-10, "atol": 1e-11},
        ),
        (
            (swing, (0.2, 0.6), [0.4, 0.9], "LSODA", [0.3, 0.5]),
            {"args": (0.7,), "rtol": 1e-12, "atol": 1e-13},
        ),
    ],
)
def solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    vectorized=False,
    args=None,
    *,
    jac=None,
    rtol=None,
    atol=None,
    max_step=None,
    first_step=None,
    min_step=None,
    jac_sparsity=None,
    lband=None,
    uband=None,
    out,
    dout,
):
    rhs = (fun, form_of(vectorized))
    options = {
        "rtol": rtol,
        "atol": atol,
        "max_step": max_step,
        "first_step": first_step,
        "jac": jac,
        "min_step": min_step,
        "jac_sparsity": jac_sparsity,
        "lband": lband,
        "uband": uband,
    }
    found = ivp_steps(rhs, out, (t_span, y0, method, t_eval, args), options)
    dy = np.transpose(cotangent(dout, "y", PARTS))
    dt = cotangent(dout, "t", PARTS)
    if t_eval is None:
        times = times_of(t_span[0], t_span[1], found)
        dfun, dstart, dargs = solution_adjoint(dy, rhs, state(y0), args, times, found)
        dtimes = dt + np.take(times_adjoint(dy, rhs, state(y0), args, times, found), found.places)
        dspan = part_like(np.stack([dtimes[0], dtimes[-1]]), t_span)
        return dfun, dspan, part_like(dstart, y0), None, None, None, None, None, dargs, None
    times = times_of(t_span[0], t_eval, found)
    dfun, dstart, dargs = solution_adjoint(dy, rhs, state(y0), args, times, found)
    dtimes = times_adjoint(dy, rhs, state(y0), args, times, found)
    dspan = part_like(np.stack([dtimes[0], 0.0 * dtimes[0]]), t_span)
    dt_eval = part_like(dt + np.take(dtimes, found.places), t_eval)
    return dfun, dspan, part_like(dstart, y0), None, dt_eval, None, None, None, dargs, None


@solve_ivp.jvp
def solve_ivp_jvp(
    fun,
    t_span,
    y0,
    method,
    t_eval,
    vectorized,
    args,
    jac,
    rtol,
    atol,
    max_step,
    first_step,
    min_step,
    jac_sparsity,
    lband,
    uband,
    out,
    dfun,
    dt_span,
    dy0,
    dt_eval,
    dargs,
):
    rhs = (fun, form_of(vectorized))
    options = {
        "rtol": rtol,
        "atol": atol,
        "max_step": max_step,
        "first_step": first_step,
        "jac": jac,
        "min_step": min_step,
        "jac_sparsity": jac_sparsity,
        "lband": lband,
        "uband": uband,
    }
    found = ivp_steps(rhs, out, (t_span, y0, method, t_eval, args), options)
    dstart = state_tangent(dy0, y0)
    if t_eval is None:
        times = times_of(t_span[0], t_span[1], found)
        dtimes = times_tangent(end_tangent(dt_span, 0), end_tangent(dt_span, 1), found)
        dy = solution_tangent((dfun, dstart, dargs, dtimes), rhs, state(y0), args, times, found)
        return tangents({"t": np.take(dtimes, found.places), "y": np.transpose(dy)}, out)
    times = times_of(t_span[0], t_eval, found)
    dts = np.asarray(filled(dt_eval, t_eval), dtype=float)
    dtimes = times_tangent(end_tangent(dt_span, 0), dts, found)
    dy = solution_tangent((dfun, dstart, dargs, dtimes), rhs, state(y0), args, times, found)
    return tangents({"t": dts, "y": np.transpose(dy)}, out)


@bprop(
    integrate.odeint,
    lists=True,
    samples=[
        (
            (reaction, np.array([1.5, 0.3]), np.array([0.0, 0.5, 1.2])),
            {"args": (0.7, 1.1), "rtol": 1e-12, "atol": 1e-13},
        ),
        (
            (swing, [0.4, 0.9], np.array([1.0, 0.5, 0.2])),
            {"args": (0.7,), "tfirst": True, "rtol": 1e-12, "atol": 1e-13},
        ),
    ],
)
def odeint(
    func,
    y0,
    t,
    args=(),
    Dfun=None,
    col_deriv=0,
    full_output=0,
    ml=None,
    mu=None,
    rtol=None,
    atol=None,
    tcrit=None,
    h0=0.0,
    hmax=0.0,
    hmin=0.0,
    ixpr=0,
    mxstep=0,
    mxhnil=0,
    mxordn=12,
    mxords=5,
    printmessg=0,
    tfirst=False,
    *,
    out,
    dout,
):
    rhs = (func, form_of_odeint(tfirst))
    dy = first_cotangent(dout, full_output)
    found = odeint_steps(rhs, y0, t, args, {"rtol": rtol, "atol": atol, "hmax": hmax})
    times = times_of(t[0], t, found)
    dfunc, dstart, dargs = solution_adjoint(dy, rhs, state(y0), args, times, found)
    dt = results_adjoint(times_adjoint(dy, rhs, state(y0), args, times, found), found)
    return dfunc, part_like(dstart, y0), part_like(dt, t), dargs, None


@odeint.jvp
def odeint_jvp(func, y0, t, args, full_output, rtol, atol, hmax, tfirst, out, dfunc, dy0, dt, dargs):
    rhs = (func, form_of_odeint(tfirst))
    found = odeint_steps(rhs, y0, t, args, {"rtol": rtol, "atol": atol, "hmax": hmax})
    times = times_of(t[0], t, found)
    dts = np.asarray(filled(dt, t), dtype=float)
    dtimes = times_tangent(dts[0], dts, found)
    dstart = state_tangent(dy0, y0)
    dy = solution_tangent((dfunc, dstart, dargs, dtimes), rhs, state(y0), args, times, found)
    return first_tangent(dy, out, full_output)


def results_adjoint(dtimes: Array, found: Any) -> Array:
    """The adjoints of the times of results; the first time is the start."""
    dt = np.take(dtimes, found.places)
    return np.concatenate([np.expand_dims(dt[0] + dtimes[0], 0), dt[1:]])


refuse(
    named(integrate, "ode complex_ode solve_bvp RK23 RK45 DOP853 Radau BDF LSODA"),
    "only the solutions of solve_ivp and odeint are differentiated",
)
