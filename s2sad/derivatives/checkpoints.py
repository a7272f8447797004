"""Checkpoints: calls and loops that the reverse sweep runs again.

Contract: `checkpoint(f)` calls `f`, and `run_steps` the steps of a loop. Both are lifted to plain functions,
whose captured variables are arguments, and these have a rule: its forward part keeps the arguments (of a loop
the snapshots), its backward part runs the function again. Differentiated once more they are what they are
without checkpoints.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

from ..analysis.primitive_table import CALLS_FIRST
from ..kinds.abstraction import kinds_of
from ..primitives.record import bprop, nondifferentiable, stands_in
from ..runtime.border import at_border
from ..runtime.checkpoints import Steps, check_again, check_states, checkpointed, run_steps
from ..source.compiling import make_function
from ..source.fixed_arity import has_stars
from ..transforms.errors import UnsupportedSyntaxError
from ..transforms.trees.program import Names, Scope, identifier
from ..values.custom_rule import CustomRule, give_rule
from .closure_conversion import CALLED, Lifted, cached, lift, moved
from .derivative import Derivative
from .dynamic_calls import _is_differentiable
from .rerunnable import is_repeatable
from .unwrap import bound_like, refuse_uncallable

__all__ = ["Checkpoint", "checkpoint", "checkpointed"]


@at_border
def checkpoint(f: Any) -> Any:
    """A function like `f`, of which the reverse sweep keeps the arguments and the result alone: it runs `f`
    again, and so keeps the intermediate values of one call at a time. Usable as a decorator.

    Shapes, errors and derivatives of all orders are those of `f`. `f` must give the same result when it is
    run again; if it does not, as with random numbers, NonDifferentiableError is raised.

    >>> @checkpoint
    ... def layer(x):
    ...     return np.tanh(np.sin(x) * 2.0)
    >>> print(f"{s2sad.grad(lambda x: layer(layer(x)))(0.1):.6f}")
    3.230319
    """
    is_plain = isinstance(f, FunctionType) and not f.__closure__ and not f.__code__.co_kwonlyargcount
    if is_plain and not has_stars(f):
        return _rerun(f)
    refuse_uncallable(f)
    return Checkpoint(f)


class Checkpoint:
    """A checkpointed callable; it is called as the callable is."""

    def __init__(self, f: Any) -> None:
        self.primal = f
        self.__name__ = self.__qualname__ = type(f).__name__  # of an object, or a partial application
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(f, name):
                setattr(self, name, getattr(f, name))

        self.__signature__ = inspect.signature(f)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.primal(*args, **keywords)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """A call as one of a plain function with a rule."""
        call = lift(self.primal, args, keywords)
        return replace(call, function=cached((call.function, "checkpoint"), lambda: _rerun(call.function)))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return bound_like(self.primal, self, instance, owner)

    def __repr__(self) -> str:
        return f"<checkpoint of {getattr(self.primal, '__qualname__', self.primal)}>"


def _rerun(f: FunctionType) -> FunctionType:
    """A function like `f`, with positional parameters, whose rule runs it again in the reverse sweep."""
    code, name = f.__code__, identifier(f.__name__)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = Names([*parameters, name])
    listed = ", ".join(parameters)
    own, out, dout, kept, pull, again = map(names.fresh, ("f", "out", "dout", "kept", "bprop", "again"))
    fprop, push, check = map(names.fresh, ("f_fprop", "f_jvp", "check_again"))
    tangents = [names.fresh(f"d{p}") for p in parameters]
    bindings: dict[str, Any] = {own: f, check: check_again}

    def made(suffix: str, given: str, *lines: str) -> FunctionType:
        text = f"def {name}{suffix}({given}):\n" + "".join(f"    {line}\n" for line in lines)
        return make_function(text, f"{name}{suffix}", Scope({}), bindings, like=f)

    passed = [p if k < code.co_argcount else f"{p}={p}" for k, p in enumerate(parameters)]
    call = f"return {own}({', '.join(passed)})"
    function, plain = made("", listed, call), made("", listed, call)
    function.__defaults__ = f.__defaults__
    bindings |= {own: plain, fprop: _unchecked(plain, "vjp"), push: _unchecked(plain, "jvp")}
    forward = made("_forward", listed, f"{out} = {own}({listed})", f"return {out}, ({out}, {listed})")
    backward = made(
        "_backward",
        f"{kept}, {dout}",
        f"{out}, {listed} = {kept}",
        f"{again}, {pull} = {fprop}({listed})",
        f"{check}({again}, {out}, {f.__qualname__!r})",
        f"return {pull}({dout})",
    )
    pushed = ", ".join([*parameters, *tangents])
    tangent = made("_push", pushed, f"return {push}({pushed})")
    give_rule(CustomRule(function, f.__qualname__, forward, backward, tangent, is_own=True))
    return function


def _unchecked(f: FunctionType, form: str, positions: tuple[int, ...] | None = None) -> Derivative:
    return Derivative(f, form, positions, is_linked=True)


# ---------------------------------------------------------------- loops


def _lift_steps(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """`run_steps(step, items, snapshots, state)` as a call of a plain function with a rule."""
    step, items, snapshots, state = args
    items = items if hasattr(items, "__getitem__") and hasattr(items, "__len__") else list(items)
    call = lift(step, (items[0] if len(items) else 0, *state), {})
    names = call.function.__code__.co_varnames[: len(call.values)]
    if len(items) and not is_repeatable(call.function, kinds_of(call.values, names)):
        raise UnsupportedSyntaxError(
            "a checkpointed loop whose body may do something else when it is run again",
            why="the reverse sweep runs it again: it may not draw random numbers, nor change other objects",
            instead="draw before the loop, and keep what changes in variables; or leave out checkpointed",
        )
    passed = [call.arguments[k] for k in range(1 + len(state))]
    captured = [k for k in range(len(call.values)) if k not in passed]
    places = [*captured, *passed]  # of captured variables, item and state among the arguments of a step
    order = tuple(places.index(k) for k in range(len(places)))
    key = (call.function, "steps", order, len(captured))
    function = cached(key, lambda: _steps(call.function, order, len(captured)))
    arguments: dict[Any, Any] = {
        0: moved(call.own, {k: 2 + place for place, k in enumerate(captured)}),
        1: 0,
        2: None,
        3: tuple(2 + len(captured) + k for k in range(len(state))),
    }
    values = (items, snapshots, *(call.values[k] for k in captured), *state)
    return Lifted(function, values, None, arguments)


def _steps(step: FunctionType, order: tuple[int, ...], count: int) -> FunctionType:
    """The loop over a step as a function of items, snapshots, `count` captured variables, and the state."""
    derivatives: dict[tuple[int, ...], Derivative] = {}
    item = order.index(count)

    def pull(values: tuple[Any, ...]) -> tuple[tuple[int, ...], Derivative]:
        positions = tuple(k for k, x in enumerate(values) if k != item and _is_differentiable(x))
        if positions not in derivatives:
            derivatives[positions] = _unchecked(step, "vjp", positions)
        return positions, derivatives[positions]

    given = [f"c{k}" for k in range(count)]
    state = [f"s{k}" for k in range(len(order) - 1 - count)]
    parameters = ", ".join(["items", "snapshots", *given, *state])
    captured, carried = "".join(f"{c}, " for c in given), "".join(f"{x}, " for x in state)
    names = [*given, "item", *state]
    name = f"{identifier(step.__name__)}_loop"

    def made(suffix: str, listed: str, *lines: str, **bindings: Any) -> FunctionType:
        text = f"def {name}{suffix}({listed}):\n" + "".join(f"    {line}\n" for line in lines)
        return make_function(text, f"{name}{suffix}", Scope({}), bindings)

    one = f"    {carried}= step({', '.join(names[k] for k in order)})"
    loop = ("for item in items:", one, f"return ({carried})")
    steps = Steps(step, pull, order, count)
    function, plain = made("", parameters, *loop, step=step), made("_plain", parameters, *loop, step=step)
    swept = f"return steps.swept(items, snapshots, ({captured}), ({carried}))"
    forward = made("_forward", parameters, swept, steps=steps)
    backward = made(
        "_backward", "sweep, dout", "return (None, None, *steps.reversed(sweep, dout))", steps=steps
    )
    # To differentiate these two again:
    kept = ", ".join(["list(items)", "snapshots", *given, *state])
    whole = made("_forward", parameters, f"return plain({parameters}), ({kept})", plain=plain)
    pulls = ("_, bprop = plain_fprop(*kept)", "return bprop(dout)")
    back = made("_backward", "kept, dout", *pulls, plain_fprop=_unchecked(plain, "vjp"))
    stands_in(forward)(whole)
    stands_in(backward)(back)
    pushed = ", ".join([parameters, *(f"d{x}" for x in (*given, *state))])
    tangents = ", ".join([parameters, "None", "None", *(f"d{x}" for x in (*given, *state))])
    push = made("_push", pushed, f"return plain_jvp({tangents})", plain_jvp=_unchecked(plain, "jvp"))
    give_rule(
        CustomRule(function, "a checkpointed loop", forward, backward, push, frozenset({0, 1}), is_own=True)
    )
    return function


# The adjoint and the tangent of a checkpointed function are those of the function.
@bprop(checkpoint, samples=[(abs,)])
def checkpoint_rule(f, out, dout):  # type: ignore[no-untyped-def]
    return (dout,)


@checkpoint_rule.jvp
def checkpoint_jvp(out, df):  # type: ignore[no-untyped-def]
    return df


nondifferentiable([check_again, check_states], pure=False)
CALLED[run_steps] = _lift_steps
CALLS_FIRST.add(run_steps)
