"""Checks the derivatives of a function against finite differences and against each other.

Derivatives are compared along random directions, with the real part of the sum of products (without
conjugation) as the pairing of cotangents and tangents: `<dout, J v>` must be `<J' dout, v>`, and `J v` the
extrapolated difference of the function's values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..derivatives.argnums import Argnums
from ..derivatives.derivative import Derivative
from ..derivatives.variadic import fixed, is_variadic
from ..runtime.border import at_border
from ..source.compiling import make_function
from ..source.forwarders import forwarder
from ..transforms.errors import NonDifferentiableError
from ..transforms.trees.program import Names, Scope
from ..values.libraries import refuse_libraries
from ..values.pytree import flatten, map_structure, moved_structure

__all__ = ["check_grads"]

Function = Callable[..., Any]
STEP = 4e-4  # of the differences: their error is of the order of its fourth power
MODES = ("fwd", "rev")


@at_border
def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    argnums: Argnums = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError if a derivative of `f` at `args`, up to this order, is wrong.

    By default all active arguments are differentiated, in forward ("fwd") and in reverse mode ("rev"), and so
    are the derivatives in turn. Tolerances are relative to the size of the compared values; by default 1e-6,
    and 1e-3 in single precision.

    >>> check_grads(lambda x, y: x * np.sin(y), (2.0, np.array([0.5, 1.5])))
    """
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown or not modes:
        raise ValueError(f"modes are among {MODES}, not {modes!r}")
    if not isinstance(args, Sequence):
        raise NonDifferentiableError(
            f"check_grads(f, args) takes a tuple of arguments, not {args!r}",
            instead="write check_grads(f, (x,))",
        )
    args = tuple(args)
    refuse_libraries(args, "a check of gradients", "check the function on NumPy's arrays")
    if argnums is None:
        argnums = tuple(k for k, x in enumerate(args) if flatten(x))
        if not argnums:
            raise NonDifferentiableError(
                "check_grads: no argument carries a derivative", instead="pass floats, or arrays of floats"
            )
    wrt = argnums if isinstance(argnums, tuple) else (argnums,)
    single = any(np.asarray(x).dtype.itemsize < (16 if np.iscomplexobj(x) else 8) for x in flatten(args))
    default = 1e-3 if single else 1e-6
    check = _Check(
        *_called(f, args),
        wrt,
        tuple(modes),
        default if rtol is None else rtol,
        default if atol is None else atol,
        np.random.default_rng(seed),
        getattr(f, "__qualname__", repr(f)),
    )
    check.run(order)


@dataclass(frozen=True)
class _Check:
    """A function to check at `args`, with respect to `wrt`; `name` describes it in messages."""

    f: Function
    args: tuple[Any, ...]
    wrt: tuple[int | str, ...]
    modes: tuple[str, ...]
    rtol: float
    atol: float
    rng: np.random.Generator
    name: str
    level: int = 1

    def run(self, order: int) -> None:
        if order < self.level:
            return
        push, pull = Derivative(self.f, "jvp", self.wrt), Derivative(self.f, "vjp", self.wrt)
        positions = push.positions
        out = self.f(*deepcopy(self.args))
        tangents = tuple(_random_like(self.args[k], self.rng) for k in positions)
        dout = _random_like(out, self.rng)
        forward = reverse = None
        if "fwd" in self.modes:
            forward = self.forward(push, out, tangents)
        if "rev" in self.modes:
            reverse = self.reverse(pull, positions, out, tangents, dout)
        if forward is not None and reverse is not None:
            there, back = _pairing(dout, forward), _pairing(reverse, tangents)
            size = _norm(dout) * _norm(forward) + _norm(reverse) * _norm(tangents)
            if not abs(there - back) <= 1e-3 * (self.rtol * size + self.atol):
                self.fail("the modes", push, f"<dout, J v> is {there!r}, <J' dout, v> is {back!r}")
        if "fwd" in self.modes:
            self.deeper(push, (*self.args, *tangents), "jvp").run(order)
        if "rev" in self.modes:
            self.deeper(_pullback(pull, len(self.args)), (*self.args, dout), "vjp").run(order)

    def deeper(self, f: Function, args: tuple[Any, ...], transform: str) -> _Check:
        positions = Derivative(self.f, "vjp", self.wrt).positions
        return replace(
            self, f=f, args=args, wrt=positions, name=f"{transform} of {self.name}", level=self.level + 1
        )

    def forward(self, push: Derivative, out: Any, tangents: tuple[Any, ...]) -> Any:
        found, change = push(*deepcopy(self.args), *tangents)
        self.expect_same(found, out, "fwd", push)
        error = self.compare(change, self.difference(push.positions, tangents), out)
        if error:
            alone = [k for k in range(len(tangents)) if self.forward_error(push, out, _only(k, tangents))]
            self.fail("fwd", push, f"the tangent and finite differences disagree: {error}", alone)
        return change

    def forward_error(self, push: Derivative, out: Any, tangents: tuple[Any, ...]) -> str:
        _, change = push(*deepcopy(self.args), *tangents)
        return self.compare(change, self.difference(push.positions, tangents), out)

    def reverse(
        self, pull: Derivative, positions: tuple[int, ...], out: Any, tangents: tuple[Any, ...], dout: Any
    ) -> Any:
        found, bprop = pull(*deepcopy(self.args))
        self.expect_same(found, out, "rev", pull)
        gradients = bprop(dout)
        for k, gradient in zip(positions, gradients, strict=True):
            wrong = _unlike(gradient, self.args[k])
            if wrong:
                self.fail("rev", pull, wrong, [positions.index(k)])
        alone = []
        for k, tangent in enumerate(tangents):
            expected = _pairing(dout, self.difference(positions, _only(k, tangents)))
            value = _pairing(gradients[k], tangent)
            size = _norm(gradients[k]) * _norm(tangent) + abs(expected)
            if not abs(value - expected) <= self.rtol * size + self.atol + self.noise(out) * _norm(dout):
                alone.append((k, f"<gradient, v> is {value!r}, by finite differences {expected!r}"))
        if alone:
            self.fail("rev", pull, alone[0][1], [k for k, _ in alone])
        return gradients

    def difference(self, positions: tuple[int, ...], tangents: tuple[Any, ...]) -> Any:
        """The derivative along the tangents: central differences of two steps, extrapolated."""

        def central(step: float) -> Any:
            ends = []
            for signed in (step, -step):
                moved = list(deepcopy(self.args))
                for k, tangent in zip(positions, tangents, strict=True):
                    moved[k] = moved_structure(lambda x, t, s=signed: _moved(x, t, s), moved[k], tangent)
                ends.append(self.f(*moved))
            return map_structure(lambda a, b: _difference(a, b, step), *ends)

        return map_structure(
            lambda fine, coarse: None if fine is None else fine + (fine - coarse) / 3,
            central(STEP / 2),
            central(STEP),
        )

    def noise(self, out: Any) -> float:
        """The error of the differences from rounding in the function's values."""
        return 64 * float(np.finfo(float).eps) * _norm(out) / STEP

    def compare(self, found: Any, expected: Any, out: Any) -> str:
        """How two structures of numbers differ; empty when they agree."""
        a, b = flatten(found), flatten(expected)
        if len(a) != len(b):
            return f"{len(a)} numbers or arrays instead of {len(b)}"
        limit = self.rtol * max(_norm(found), _norm(expected)) + self.atol + self.noise(out)
        for x, y in zip(a, b, strict=True):
            if np.shape(x) != np.shape(y):
                return f"shape {np.shape(x)} instead of {np.shape(y)}"
            if not np.all(np.abs(x - y) <= limit):
                return f"{x!r} instead of {y!r}"
        return ""

    def expect_same(self, found: Any, out: Any, mode: str, derivative: Derivative) -> None:
        pairs = zip(flatten(found), flatten(out), strict=True)
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
            self.fail(mode, derivative, f"the value changed: {found!r} instead of {out!r}")

    def fail(self, mode: str, derivative: Derivative, what: str, wrong: Sequence[int] = ()) -> None:
        names = [derivative.parameters[derivative.positions[k]] for k in wrong]
        by = f", by {', '.join(f'`{name}`' for name in names)}" if names else ""
        raise AssertionError(f"check_grads of {self.name}: order {self.level}, {mode}{by}: {what}")


def _called(f: Function, args: tuple[Any, ...]) -> tuple[Function, tuple[Any, ...]]:
    """A function without optional parameters, and the arguments with defaults filled in."""
    if is_variadic(f):
        f = fixed(f, args, {}).function
    if not isinstance(f, (FunctionType, MethodType, partial, Derivative)):
        return f, args
    parameters = list(inspect.signature(f).parameters.values())
    rest = parameters[len(args) :]
    binds = f.is_dynamic if isinstance(f, Derivative) else not isinstance(f, FunctionType)
    if not binds and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in rest):
        return f, (*args, *(p.default for p in rest if p.default is not p.empty))
    given = [p.replace(default=p.empty) for p in parameters[: len(args)]]
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in given):
        return f, args
    callee = Names(p.name for p in given).fresh("called")
    name = f"{getattr(f, '__name__', 'f')}_of_given"
    return forwarder(name, inspect.Signature(given), callee, "", {callee: f}), args


def _pullback(pull: Derivative, count: int) -> Function:
    """`(arguments, cotangent) -> gradients`, as a function that can be differentiated."""
    names = ", ".join(f"x{k}" for k in range(count))
    text = f"def pullback({names}, dout):\n    out, bprop = pull({names})\n    return bprop(dout)\n"
    return make_function(text, "pullback", Scope({}), {"pull": pull})


def _only(k: int, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents with all but one zero."""
    return tuple(
        t if i == k else map_structure(lambda x: None if x is None else x * 0, t)
        for i, t in enumerate(tangents)
    )


def _carries(x: Any) -> bool:
    return bool(flatten(x))


def _random_like(x: Any, rng: np.random.Generator) -> Any:
    """A structure of random numbers like `x`, with None for inactive parts."""

    def leaf(v: Any) -> Any:
        if not _carries(v):
            return None
        drawn: Any = rng.standard_normal(np.shape(v))
        if np.iscomplexobj(v):
            drawn = drawn + 1j * rng.standard_normal(np.shape(v))
        if isinstance(v, np.ndarray):
            return np.asarray(drawn, dtype=v.dtype)
        return v.dtype.type(drawn) if hasattr(v, "dtype") else type(v)(drawn)

    return map_structure(leaf, x)


def _moved(x: Any, tangent: Any, step: float) -> Any:
    """`x + step * tangent`, in double precision."""
    if tangent is None or not _carries(x):
        return x
    if not hasattr(x, "dtype"):
        return x + step * tangent
    wide = np.result_type(x, np.float64)
    moved = np.asarray(x, dtype=wide) + step * np.asarray(tangent, dtype=wide)
    return moved[()] if isinstance(x, np.generic) else np.asarray(moved)


def _difference(a: Any, b: Any, step: float) -> Any:
    return (a - b) / (2 * step) if _carries(a) else None


def _pairing(a: Any, b: Any) -> float:
    return sum(
        float(np.sum(np.multiply(x, y, dtype=complex)).real)
        for x, y in zip(flatten(a), flatten(b), strict=True)
    )


def _norm(x: Any) -> float:
    return float(np.sqrt(sum(float(np.sum(np.abs(v) ** 2)) for v in flatten(x))))


def _unlike(gradient: Any, x: Any) -> str:
    """How a gradient is not shaped like its argument; empty when it is."""
    a, b = flatten(gradient), flatten(x)
    if len(a) != len(b):
        return f"the gradient {gradient!r} has not the structure of the argument {x!r}"
    for g, v in zip(a, b, strict=True):
        if np.shape(g) != np.shape(v) or np.asarray(g).dtype != np.asarray(v).dtype:
            return (
                f"a gradient of shape {np.shape(g)} and dtype {np.asarray(g).dtype}, "
                f"of an argument of shape {np.shape(v)} and dtype {np.asarray(v).dtype}"
            )
    return ""
