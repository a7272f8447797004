"""The rules of the transforms themselves: `grad(g)(x)` within a differentiated function, where `g` may be
active.

The adjoint and the tangent of `grad(g)` as a function are those of `g`: both depend on the same free
variables.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .analysis.primitive_table import CALLS_FIRST
from .api import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from .derivatives.closure_conversion import CALLED, Lifted, lift
from .derivatives.star_calls import layouts_at
from .primitives.record import bprop, nondifferentiable


@bprop(
    grad,
    value_and_grad,
    vjp,
    jvp,
    jacobian,
    jacfwd,
    jacrev,
    hessian,
    hvp,
    elementwise_grad,
    vmap,
    samples=[(abs,)],
)
def transform(f, *args, out, dout, **options):
    return (dout,)


@transform.jvp
def transform_jvp(f, out, df):
    return df


def _lift_vjp(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """`vjp(f, *primals)`, which is `vjp(f)(*primals)`."""
    f, *primals = args
    call = lift(vjp(f, **keywords), tuple(primals), {})
    arguments: dict[int | str, Any] = {0: call.own, **{k + 1: call.arguments[k] for k in range(len(primals))}}
    return replace(call, own=None, arguments=arguments)


def _lift_jvp(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """`jvp(f, primals, tangents)`, which is `jvp(f)(*primals, *tangents)`."""
    given = dict(zip(("f", "primals", "tangents", "argnums"), args, strict=False)) | dict(keywords)
    f, primals, tangents = given.pop("f"), tuple(given.pop("primals")), tuple(given.pop("tangents"))
    call = lift(jvp(f, **given), (*primals, *tangents), {})
    of = {
        "f": call.own,
        "primals": layouts_at(call, 0, len(primals)),
        "tangents": layouts_at(call, len(primals), len(primals) + len(tangents)),
    }
    names = [("f", "primals", "tangents")[k] for k in range(min(len(args), 3))]
    return replace(
        call,
        own=None,
        arguments={**{k: of[n] for k, n in enumerate(names)}, **{k: of[k] for k in keywords if k in of}},
    )


CALLED.update({vjp: _lift_vjp, jvp: _lift_jvp})
CALLS_FIRST.update((vjp, jvp))
nondifferentiable([stop_gradient], sharing="unknown")
