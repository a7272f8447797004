"""SciPy's layer over the array libraries: conversions of arguments in its functions."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from scipy._lib import _array_api as dispatch

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import unbroadcast
from .containers import filled, nested_like
from .samples import A, given

__all__: list[str] = []

NUMPY = dispatch.array_namespace(np.zeros(1))


def promoted_adjoint(d: Any, args: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """The cotangents of the arrays that were given one dtype, and perhaps one shape."""
    parts = filled(d, out)
    pairs = zip((parts,) if len(args) == 1 else parts, args, strict=True)
    return tuple([nested_like(p, x) if isinstance(x, (list, tuple)) else unbroadcast(p, x) for p, x in pairs])


def promoted_tangent(dargs: Any, args: tuple[Any, ...], out: Any) -> Any:
    """The tangent of what arrays became that were given one dtype, and perhaps one shape."""
    parts = [np.asarray(d) for d in filled(dargs, args)]
    if len(args) == 1:
        return promoted_part(parts[0], out)
    return tuple([promoted_part(p, y) for p, y in zip(parts, out, strict=True)])


def promoted_part(d: Any, y: Any) -> Any:
    return np.broadcast_to(d.astype(np.result_type(y), copy=False), np.shape(y))[()]


@bprop(
    promoted_adjoint,
    samples=[
        given(A(2), (np.zeros(2),), np.zeros(2)),
        given((A(2, 3), A(2, 3)), (np.zeros(3), 0.0), (np.zeros((2, 3)),) * 2),
    ],
)
def promoted_adjoint_(d, args, result, out, dout):
    return promoted_tangent(dout, args, result), None, None


@promoted_adjoint_.jvp
def promoted_adjoint_jvp(args, result, out, dd):
    return promoted_adjoint(dd, args, result)


@bprop(
    promoted_tangent,
    samples=[
        given((A(2),), (np.zeros(2),), np.zeros(2)),
        given((A(3), 1.5), (np.zeros(3), 0.0), (np.zeros((2, 3)),) * 2),
    ],
)
def promoted_tangent_(dargs, args, result, out, dout):
    return promoted_adjoint(dout, args, result), None, None


@promoted_tangent_.jvp
def promoted_tangent_jvp(args, result, out, ddargs):
    return promoted_tangent(ddargs, args, result)


if hasattr(dispatch, "xp_promote"):  # since SciPy 1.16

    @bprop(
        dispatch.xp_promote, sharing="unknown",
        samples=[
            given(A(3), xp=NUMPY),
            given([1.5, 0.5], xp=NUMPY, force_floating=True),
            given(A(3), 1.5, xp=NUMPY),
            given(A(3), A(2, 1), xp=NUMPY, broadcast=True),
        ],
    )
    def xp_promote(*args, broadcast=False, force_floating=False, xp, out, dout):
        return (promoted_adjoint(dout, args, out),)

    @xp_promote.jvp
    def xp_promote_jvp(*args, out, dargs):
        return promoted_tangent(dargs, args, out)

    nondifferentiable([dispatch.xp_result_type])
