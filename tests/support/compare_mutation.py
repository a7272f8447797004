"""What it means for the derivative of a function that may change its arguments to be right.

The run is the function's own: results and arguments after it, bit for bit. Then the reverse and the forward
derivative are compared with differences and with each other. Results are what the function returns, or,
with `outputs`, the parameters of these names as their arrays are after the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

import s2sad
from tests.support.compare import (
    EVERY_FORM,
    assert_close,
    assert_like,
    assert_same,
    dot,
    magnitude,
    map_leaves,
    number_of,
    random_like,
    tolerance,
)

__all__ = ["check_changing", "check_changing_second", "numeric_tangent", "run"]

Function = Callable[..., Any]
Structure = Any
STEP = 4e-4


def run(f: Function, args: tuple[Any, ...], outputs: tuple[str, ...]) -> Structure:
    """The results of a run, which changes the arguments."""
    names = list(inspect.signature(f).parameters) if outputs else []
    result = f(*args)
    if not outputs:
        return result
    return tuple(args[names.index(name)] for name in outputs)


def moved(
    args: tuple[Any, ...], wrt: tuple[int, ...], tangents: tuple[Any, ...], step: float
) -> tuple[Any, ...]:
    """Copies of the arguments, moved along the tangents; what is one object stays one."""
    copies = list(deepcopy(args))

    def move(x: Any, t: Any) -> Any:
        if isinstance(x, np.ndarray):
            if np.issubdtype(x.dtype, np.inexact):
                x += np.asarray(step * t, x.dtype)
            return x
        if isinstance(x, (list, tuple)):
            return type(x)([move(u, v) for u, v in zip(x, t, strict=True)])
        if isinstance(x, dict):
            return {k: move(x[k], t[k]) for k in x}
        return x + step * t if t is not None else x

    for i, t in zip(wrt, tangents, strict=True):
        copies[i] = move(copies[i], t)
    return tuple(copies)


def central(
    f: Function,
    args: tuple[Any, ...],
    wrt: tuple[int, ...],
    tangents: Any,
    step: float,
    outputs: tuple[str, ...],
) -> Structure:
    """The central difference of the results along the tangents."""
    ahead, behind = (deepcopy(run(f, moved(args, wrt, tangents, h), outputs)) for h in (step, -step))
    return map_leaves(lambda u, v: (np.asarray(u) - np.asarray(v)) / (2 * step), ahead, behind)


def numeric_tangent(
    f: Function, args: tuple[Any, ...], wrt: tuple[int, ...], tangents: Any, outputs: tuple[str, ...] = ()
) -> Structure | None:
    """The results' change along the tangents, by extrapolated differences; None if they do not converge."""
    coarse = central(f, args, wrt, tangents, STEP, outputs)
    fine = central(f, args, wrt, tangents, STEP / 2, outputs)
    gap = magnitude(map_leaves(lambda u, v: u - v, fine, coarse))
    if not gap <= 1e-4 * max(1.0, magnitude(fine)):
        return None
    return map_leaves(lambda u, v: u + (u - v) / 3, fine, coarse)


def keywords(wrt: tuple[int, ...], outputs: tuple[str, ...]) -> dict[str, Any]:
    return {"argnums": wrt, **({"outputs": outputs} if outputs else {})}


def check_changing(
    f: Function, args: tuple[Any, ...], wrt: tuple[int, ...], outputs: tuple[str, ...] = (), seed: int = 0
) -> None:
    """Both modes on one program that may change its arguments.

    Also: bprop called twice gives the same, with another cotangent the multiple of it, and changes nothing;
    of half of the programs `grad` agrees with it, of all where S2SAD_EXAMPLES is set.
    """
    after = deepcopy(args)
    expected = deepcopy(run(f, after, outputs))
    inputs = tuple(args[i] for i in wrt)
    rng = np.random.default_rng(seed)
    tangents = tuple(random_like(x, rng) for x in inputs)
    cotangent = random_like(expected, rng)
    loose = tolerance(inputs, expected)
    numeric = numeric_tangent(f, args, wrt, tangents, outputs)
    assert numeric is not None, "the program is not smooth here"

    given_args = deepcopy(args)
    out, bprop = s2sad.vjp(f, **keywords(wrt, outputs))(*given_args)
    assert_same(out, expected)
    assert_same(given_args, after)
    given = deepcopy(cotangent)
    gradients = deepcopy(bprop(given))
    assert_same(given, cotangent)
    assert_like(gradients, inputs, "bprop")
    assert_same(bprop(given), gradients)
    assert_same(given, cotangent)
    assert_same(given_args, after)
    assert_same(out, expected)
    third = bprop(map_leaves(lambda u: (2 * u).astype(u.dtype) if hasattr(u, "dtype") else 2 * u, cotangent))
    assert_close(third, map_leaves(lambda u: 2 * u, gradients), 1e-12 * loose, "bprop of twice the cotangent")

    pairing = dot(cotangent, numeric)
    scale = max(1.0, magnitude(cotangent) * magnitude(numeric), magnitude(gradients) * magnitude(tangents))
    found = dot(gradients, tangents)
    # The differences' own rounding is that of the arguments' precision.
    assert abs(found - pairing) <= (1e-6 if loose == 1.0 else 1e-2) * scale, (
        f"bprop against differences: {found!r} is not {pairing!r}; gradients {gradients!r}"
    )

    given_args = deepcopy(args)
    out, tangent = s2sad.jvp(f, **keywords(wrt, outputs))(*given_args, *tangents)
    assert_same(out, expected)
    assert_same(given_args, after)
    assert_like(tangent, expected, "jvp")
    assert_close(tangent, numeric, 1e-6 if loose == 1.0 else 1e-2, "jvp against differences")
    forward = dot(cotangent, tangent)
    assert abs(forward - found) <= min(1e-9 * loose, 1e-4) * scale, (
        f"<dout, J v> = {forward!r}, <J' dout, v> = {found!r}"
    )

    if isinstance(expected, (float, np.floating)) and not outputs and (EVERY_FORM or number_of(f) % 2 == 0):
        given_args = deepcopy(args)
        gradient = s2sad.grad(f, argnums=wrt)(*given_args)
        assert_same(given_args, after)
        unit = map_leaves(lambda u: u / cotangent, gradients)
        assert_close(gradient, unit, 1e-11 * loose, "grad against bprop")


def check_changing_second(
    f: Function, args: tuple[Any, ...], wrt: tuple[int, ...], seed: int = 0, may_be_rough: bool = False
) -> None:
    """Forward over reverse of a program that returns a number, against differences of the gradient; where it
    `may_be_rough`, differences may fail to tell.
    """
    after = deepcopy(args)
    f(*after)
    gradient = s2sad.grad(f, argnums=wrt)
    rng = np.random.default_rng(seed)
    tangents = tuple(random_like(args[i], rng) for i in wrt)
    expected = gradient(*deepcopy(args))
    numeric = numeric_tangent(gradient, args, wrt, tangents)
    given_args = deepcopy(args)
    out, product = s2sad.jvp(gradient, argnums=wrt)(*given_args, *tangents)
    assert_same(out, expected)
    assert_same(given_args, after)
    if numeric is None and may_be_rough:
        return
    assert numeric is not None, "the gradient is not smooth here"
    assert_close(product, numeric, 1e-6, "jvp of grad against differences")
