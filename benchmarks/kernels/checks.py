"""What it means for a derivative of a kernel to be right: the same run, and agreement with differences."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

import s2sad

from .declare import Kernel

__all__ = [
    "Adjoint",
    "Arrays",
    "adjoint_by_s2sad",
    "check_adjoint",
    "check_tangent",
]

Arrays = tuple[Any, ...]
# Runs the kernel on the arguments; gives the outputs, and the function from their cotangents to those of the
# active arguments.
Adjoint = Callable[..., tuple[Arrays, Callable[..., Arrays]]]
STEP = 2e-4


def as_tuple(x: Any) -> Arrays:
    return x if isinstance(x, tuple) else (x,)


def keywords(kernel: Kernel) -> dict[str, Any]:
    """What the transforms of s2sad are told of a kernel."""
    return {"argnums": kernel.active, **({"outputs": kernel.outputs} if kernel.outputs else {})}


def adjoint_by_s2sad(kernel: Kernel) -> Adjoint:
    """The adjoint that s2sad generates for the kernel as it is."""
    derivative = s2sad.vjp(kernel.function, **keywords(kernel))

    def adjoint(*args: Any) -> tuple[Arrays, Callable[..., Arrays]]:
        out, bprop = derivative(*args)

        def bprop_of_each(*douts: Any) -> Arrays:
            gradients: Arrays = bprop(douts if isinstance(out, tuple) else douts[0])
            return gradients

        return as_tuple(out), bprop_of_each

    return adjoint


def positions(kernel: Kernel) -> dict[str, int]:
    """The positions of the parameters."""
    code = kernel.function.__code__
    return {name: k for k, name in enumerate(code.co_varnames[: code.co_argcount])}


def run(kernel: Kernel, args: Arrays) -> Arrays:
    """The outputs of the kernel itself, which changes the arguments."""
    result = kernel.function(*args)
    place = positions(kernel)
    return tuple(args[place[name]] for name in kernel.outputs) if kernel.outputs else as_tuple(result)


def normal_like(arrays: Arrays, rng: np.random.Generator) -> Arrays:
    return tuple(rng.standard_normal(np.shape(x))[()] for x in arrays)


def product(a: Arrays, b: Arrays) -> float:
    return float(sum(np.sum(np.multiply(u, v)) for u, v in zip(a, b, strict=True)))


def size(arrays: Arrays) -> float:
    return float(np.sqrt(sum(np.sum(np.square(x)) for x in arrays)))


def numeric_tangent(kernel: Kernel, args: Arrays, tangents: Arrays) -> Arrays:
    """The change of the outputs along tangents of the active arguments: extrapolated central differences."""
    place = positions(kernel)

    def moved(step: float) -> Arrays:
        there = list(deepcopy(args))
        for name, tangent in zip(kernel.active, tangents, strict=True):
            there[place[name]] = there[place[name]] + step * tangent
        return run(kernel, tuple(there))

    def central(h: float) -> Arrays:
        return tuple((u - v) / (2 * h) for u, v in zip(moved(h), moved(-h), strict=True))

    return tuple(f + (f - c) / 3 for f, c in zip(central(STEP / 2), central(STEP), strict=True))


def assert_same(found: Arrays, wanted: Arrays, what: str) -> None:
    """Raises AssertionError unless all numbers are the same, bit for bit."""
    for u, v in zip(found, wanted, strict=True):
        a, b = np.asarray(u), np.asarray(v)
        same = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        assert same, f"{what} differ from the kernel's own"


def draw(kernel: Kernel) -> tuple[Arrays, Arrays, Arrays, Arrays, Arrays]:
    """Small arguments; the outputs of a run, the arguments after it; tangents, and cotangents."""
    args = kernel.arguments()
    after = deepcopy(args)
    outputs = deepcopy(run(kernel, after))
    rng = np.random.default_rng(1)
    place = positions(kernel)
    tangents = normal_like(tuple(args[place[name]] for name in kernel.active), rng)
    return args, outputs, after, tangents, normal_like(outputs, rng)


# What a kernel did not choose, as the distance of a body from itself, may have infinite slopes.
quietly = np.errstate(divide="ignore", invalid="ignore")


@quietly
def check_adjoint(kernel: Kernel, adjoint: Adjoint) -> None:
    """Raises AssertionError where an adjoint contradicts the kernel, on its small arguments."""
    args, outputs, after, tangents, douts = draw(kernel)
    given, kept = deepcopy(args), deepcopy(douts)
    found, bprop = adjoint(*given)
    assert_same(found, outputs, "outputs")
    assert_same(given, after, "arguments after the run")
    gradients = deepcopy(bprop(*douts))
    assert_same(douts, kept, "cotangents after the call of bprop")
    assert_same(bprop(*douts), gradients, "gradients of a second call of bprop")
    double = bprop(*(2 * d for d in douts))
    gap = size(tuple(u - 2 * v for u, v in zip(double, gradients, strict=True)))
    assert gap <= 1e-12 * max(1.0, size(gradients)), "bprop is not linear"
    assert_same(given, after, "arguments after the call of bprop")
    place = positions(kernel)
    for name, gradient in zip(kernel.active, gradients, strict=True):
        wanted = np.shape(args[place[name]])
        assert np.shape(gradient) == wanted, f"the gradient of {name} has not its shape"
    numeric = numeric_tangent(kernel, args, tangents)
    forward, reverse = product(douts, numeric), product(gradients, tangents)
    scale = max(1.0, size(douts) * size(numeric), size(gradients) * size(tangents))
    assert abs(forward - reverse) <= 1e-8 * scale, f"<dout, J v> is {forward}, <J' dout, v> is {reverse}"


@quietly
def check_tangent(kernel: Kernel) -> None:
    """Raises AssertionError where forward mode contradicts the kernel, on its small arguments."""
    args, outputs, after, tangents, _ = draw(kernel)
    given = deepcopy(args)
    out, tangent = s2sad.jvp(kernel.function, **keywords(kernel))(*given, *tangents)
    assert_same(as_tuple(out), outputs, "outputs of forward mode")
    assert_same(given, after, "arguments after forward mode")
    numeric = numeric_tangent(kernel, args, tangents)
    gap = size(tuple(u - v for u, v in zip(as_tuple(tangent), numeric, strict=True)))
    assert gap <= 1e-7 * max(1.0, size(numeric)), f"the tangents differ from differences by {gap}"
