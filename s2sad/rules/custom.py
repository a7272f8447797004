"""The rules of the helpers for rules of the user's, so that their derivatives can be differentiated again."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import add
from ..runtime.custom_rules import (
    as_tuple,
    check_forward,
    check_pair,
    cotangent_at,
    gradient_of,
    marks_of,
    outline,
    pairing,
    placed_gradient,
    scaled,
    tangent_of,
    unmarked,
    zero_tangent,
)

GRADIENTS = (1.5, np.array([0.5, -1.0]))


@bprop(gradient_of, "linear", samples=[(GRADIENTS, 1, 2, np.zeros(2), "f", "x"), (2.5, 0, 1, 1.0, "f", "x")])
def gradient_of_(gradients, k, count, x, name, parameter, out, dout):
    return placed_gradient(gradients, k, dout), None, None, None, None, None


@bprop(placed_gradient, samples=[(GRADIENTS, 1, np.array([2.0, 3.0])), (2.5, 0, 1.5)])
def placed_gradient_(gradients, k, dx, out, dout):
    count = 1
    if type(gradients) is tuple:
        count = len(gradients)
    return None, None, gradient_of(dout, k, count, dx, "", "")


@placed_gradient_.jvp
def placed_gradient_jvp(gradients, k, out, ddx):
    return placed_gradient(gradients, k, ddx)


@bprop(tangent_of, "linear", samples=[(np.array([0.5, -1.0]), np.zeros(2), "f"), (2.5, 1.0, "f")])
def tangent_of_(tangent, result, name, out, dout):
    return dout, None, None


@bprop(as_tuple, "linear", samples=[(GRADIENTS, 2, "f"), (2.5, 1, "f")])
def as_tuple_(gradients, count, name, out, dout):
    if type(gradients) is tuple:
        return dout, None, None
    return dout[0], None, None


@bprop(pairing, "bilinear", samples=[(GRADIENTS, (2.0, np.ones(2))), (1j, 2.0 + 1j)])
def pairing_(a, b, out, dout):
    return scaled(a, b, dout), scaled(b, a, dout)


@bprop(scaled, shape_only=(0,), samples=[(GRADIENTS, (2.0, np.ones(2)), 1.5), ({"a": 1.0}, {"a": 2.0}, 0.5)])
def scaled_(a, b, number, out, dout):
    return None, scaled(b, dout, number), pairing(dout, b)


@scaled_.jvp
def scaled_jvp(a, b, number, out, db, dnumber):
    return add(scaled(a, db, number), scaled(a, b, dnumber))


@bprop(cotangent_at, "linear", samples=[(GRADIENTS, 1, 2, "f"), (2.5, 0, 1, "f")])
def cotangent_at_(dresults, k, count, name, out, dout):
    return placed_gradient(dresults, k, dout), None, None, None


@bprop(unmarked, "linear", samples=[((1.5, np.zeros(2)), 2), (2.5, 0), (2.5, 1)])
def unmarked_(dresults, marks, out, dout):
    return unmarked(dout, marks), None


nondifferentiable([outline, zero_tangent], shape_only=(0,))
nondifferentiable([marks_of])
nondifferentiable([check_forward, check_pair], pure=False)
