# mypy: allow-untyped-defs
"""The helpers that reach into objects: linear, and each other's transposes."""

from __future__ import annotations

from types import SimpleNamespace

from ..primitives.record import bprop, nondifferentiable
from ..runtime.records import (
    callee_adjoint,
    callee_tangent,
    field_adjoint,
    field_tangent,
    refuse_held_object,
    snapshot_of,
)
from .samples import A, given

nondifferentiable([refuse_held_object], pure=False)

BOX = SimpleNamespace(a=1.5, b=0.5)


@bprop(
    snapshot_of,
    "linear",
    moves=True,
    sharing="unknown",
    pure=False,
    samples=[given(A(3)), given([A(2), (1.0, None)])],
)
def snapshot_of_(x, out, dout):
    return (dout,)


@bprop(field_adjoint, samples=[(1.5, BOX, "a")])
def field_adjoint_(d, x, name, out, dout):
    return field_tangent(dout, x, name), None, None


@bprop(getattr, sharing="unknown", samples=[(BOX, "a")])
def getattr_(x, name, out, dout):
    return field_adjoint(dout, x, name), None


@getattr_.jvp
def getattr_jvp(x, name, out, dx):
    return field_tangent(dx, x, name)


@field_adjoint_.jvp
def field_adjoint_jvp(x, name, out, dd):
    return field_adjoint(dd, x, name)


@bprop(field_tangent, samples=[(BOX, BOX, "a")])
def field_tangent_(dx, x, name, out, dout):
    return field_adjoint(dout, x, name), None, None


@field_tangent_.jvp
def field_tangent_jvp(x, name, out, ddx):
    return field_tangent(ddx, x, name)


@bprop(callee_adjoint, samples=[(1.5, BOX, "a")])
def callee_adjoint_(d, x, name, out, dout):
    return callee_tangent(dout, x, name), None, None


@callee_adjoint_.jvp
def callee_adjoint_jvp(x, name, out, dd):
    return callee_adjoint(dd, x, name)


@bprop(callee_tangent, samples=[(BOX, BOX, "a")])
def callee_tangent_(dx, x, name, out, dout):
    return callee_adjoint(dout, x, name), None, None


@callee_tangent_.jvp
def callee_tangent_jvp(x, name, out, ddx):
    return callee_tangent(ddx, x, name)
