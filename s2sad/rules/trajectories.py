"""Derivatives of solutions of ordinary differential equations: those of Runge-Kutta steps over given times.

A solver chooses its steps by looking at values. Over these steps a solution is a plain program, and its
derivative that of this program (Bock: Recent advances in parameter identification techniques for ODE, 1983).
For explicit methods the steps are the solver's own. Where an equation may be stiff they are those of Radau
IIA of order 5 (Hairer, Wanner: Solving Ordinary Differential Equations II, IV.8); the slopes within such a
step solve equations, and have the derivative of an implicit function.

The program is written around the user's right-hand side, so that this is a call of a known function in it.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from s2sad.transforms.errors import NonDifferentiableError
from s2sad.transforms.trees.program import Scope, identifier

from ..primitives.provided import provided
from ..primitives.record import bprop, nondifferentiable
from ..source.compiling import make_function
from .functional import fprop_of
from .implicit import implicit_adjoint, implicit_tangent, jacobian_of, solved

__all__ = ["RADAU", "TRAJECTORIES"]

Array = Any  # any type with NumPy's protocols
Lifted = Any  # of s2sad.derivatives.closure_conversion, which stands on the rules

EXPLICIT = """def {name}({values}state, times, tableau, places):
    weights, nodes = tableau
    states = [state]
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        stages = np.outer(np.ones(len(weights)), state)
        for j in range(len(nodes)):
            t = times[k] + nodes[j] * h
            y = np.take(stages, j, axis=0)
            stages = stages + h * np.outer(weights[:, j], {slope})
        state = stages[-1]
        states.append(state)
    return np.stack(states)[places]
"""

IMPLICIT = """def {name}({values}state, times, tableau, places):
    weights, nodes = tableau
    states = [state]
    for k in range(len(times) - 1):
        h = times[k + 1] - times[k]
        slopes = slopes_of_step(equations, (times[k], h, tableau), ({values}state,))
        state = state + h * np.dot(weights[-1], slopes)
        states.append(state)
    return np.stack(states)[places]
"""

EQUATIONS = """def equations(call):
    (start, h, tableau), slopes, ({values}state,) = call
    weights, nodes = held(tableau)
    found = []
    for j in range(len(nodes)):
        t = start + nodes[j] * h
        y = state + h * np.dot(weights[j], slopes)
        found.append({slope})
    return slopes - np.stack(found)
"""

FORMS = {"time first": ("t", "y"), "state first": ("y", "t"), "columns": ("t", "np.expand_dims(y, 1)")}


class Trajectory:
    """The states, by rows, at some of the times of all steps: called with the right-hand side, the state at
    the first time, the arguments that follow time and state, the times, the coefficients of the method,
    and the places among the times.
    """

    def __init__(self, form: str, text: str) -> None:
        self._form, self._text = form, text

    def __call__(self, *args: Any) -> Array:
        call = self.lift_call(args, {})
        return call.function(*call.values)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """A call as one of a plain function that calls the function behind the right-hand side."""
        lift, lifted_once, moved_layout = map(provided, ("lift", "lifted_once", "moved_layout"))
        fun, y, more, times, tableau, places = args
        first = {"t": times[0], "y": y, "np.expand_dims(y, 1)": y[:, None]}
        inner = lift(fun, (*(first[name] for name in FORMS[self._form]), *more), {})
        taken = {inner.arguments[k]: FORMS[self._form][k] for k in range(2)}
        kept = [k for k in range(len(inner.values)) if k not in taken]
        names = [taken.get(k, f"x{k}") for k in range(len(inner.values))]
        function = lifted_once(
            (self, inner.function, tuple(names)), lambda: self._made(inner.function, names, kept)
        )
        values = (*(inner.values[k] for k in kept), y, times, tableau, places)
        moved = {k: position for position, k in enumerate(kept)}
        layouts = {0: moved_layout(inner.own, moved), 1: len(kept), 3: len(kept) + 1, 4: None, 5: None}
        layouts[2] = tuple(moved_layout(inner.arguments[k + 2], moved) for k in range(len(more)))
        return replace(inner, function=function, values=values, own=None, arguments=layouts)

    def _made(self, rhs: FunctionType, names: list[str], kept: list[int]) -> FunctionType:
        values = "".join(f"x{k}, " for k in kept)
        slope = f"np.ravel(np.asarray(rhs({', '.join(names)})))"
        bindings: dict[str, Any] = {"np": np, "rhs": rhs, "held": held, "slopes_of_step": slopes_of_step}
        if self._text is IMPLICIT:
            text = EQUATIONS.format(values=values, slope=slope)
            bindings["equations"] = make_function(text, "equations", Scope({}), bindings)
        name = f"{identifier(rhs.__name__)}_trajectory"
        return make_function(
            self._text.format(name=name, values=values, slope=slope), name, Scope({}), bindings
        )


TRAJECTORIES = {
    (form, kind): Trajectory(form, text)
    for form in FORMS
    for kind, text in (("explicit", EXPLICIT), ("implicit", IMPLICIT))
}


def held(x: Any) -> Any:
    """What is taken as constant."""
    return x


nondifferentiable([held])


# ---------------------------------------------------------------- implicit steps

ROOT = np.sqrt(6)
RADAU = (
    np.array(
        [
            [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
            [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
            [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
        ]
    ),
    np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0]),
)


def slopes_of_step(equations: Any, step: Any, values: Any) -> Array:
    """The slopes within a step, by rows, by Newton's method; the state at its start is the last of `values`.

    Raises NonDifferentiableError where this does not converge.
    """
    slopes = np.zeros((len(step[2][1]), len(values[-1])), np.asarray(values[-1]).dtype)
    size, known = np.inf, None
    for _ in range(50):
        if known is None:
            g, bprop_ = fprop_of(equations)((step, slopes, values))
            known = jacobian_of(g, bprop_, slopes)
        else:
            g = equations((step, slopes, values))
        change = solved(known, g)
        slopes = slopes + change
        before, size = size, float(np.max(np.abs(change), initial=0.0))
        scale = float(np.max(np.abs(slopes), initial=0.0))
        if size <= 1e-15 * scale or before <= 1e-12 * scale:
            return slopes
        if size > 0.05 * before:
            known = None
    raise NonDifferentiableError(
        "the derivative of a solution of a differential equation",
        why="the equations of a step of the implicit method were not solved",
        instead="ask for smaller tolerances, or for an explicit method",
    )


def two_equations(call: Any) -> Array:
    """For samples: the slopes of a step of a linear equation."""
    (_, h, (weights, _)), slopes, (rate, state) = call
    return slopes + rate * (state + h * np.dot(weights, slopes))


@bprop(slopes_of_step, samples=[(two_equations, (0.0, 0.1, RADAU), (0.7, np.array([1.5, 0.3])))])
def slopes_of_step_(equations, step, values, out, dout):
    dstep, dvalues = implicit_adjoint(equations, dout, (step, out, values))
    return None, dstep, dvalues


@slopes_of_step_.jvp
def slopes_of_step_jvp(equations, step, values, out, dstep, dvalues):
    return implicit_tangent(equations, (dstep, dvalues), (step, out, values))
