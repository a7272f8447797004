"""Division of polynomials. It is also written in Python here, and its derivative is that of this program."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop
from .functional import pulled_back, pushed_forward
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def division(call: tuple[Any, ...]) -> tuple[Array, Array]:
    """`np.polydiv(u, v)`, with the last `count` coefficients of the remainder: those in front are zero."""
    u, v, count = call
    v = np.atleast_1d(v)
    rest = np.atleast_1d(u) + 0.0 * v[0]
    lost, found = np.zeros_like(rest), []
    for _ in range(len(rest) - len(v) + 1):
        factor = rest[0] / v[0]
        found.append(factor)
        rest = np.concatenate([rest[1 : len(v)] - factor * v[1:], rest[len(v) :]])
    quotient = np.stack(found) if found else np.zeros_like(rest[:1])
    return quotient, np.concatenate([lost, rest])[-count:]


@bprop(
    np.polydiv, runs=False,
    samples=[given(A(4), A(2)), given(A(3), A(3)), given(A(2), A(3)), given(A(3), A(1)), given(A(4), 0.7)],
)
def polydiv(u, v, out, dout):
    du, dv, _ = pulled_back(division, dout, (u, v, len(out[1])))
    return du, dv


@polydiv.jvp
def polydiv_jvp(u, v, out, du, dv):
    return pushed_forward(division, (du, dv, None), (u, v, len(out[1])))
