"""The rules of the helpers in `s2sad.runtime.adjoints`, so that derivatives can be differentiated again.

All are linear in the adjoints that they take; the transpose of each is another. Of the values that say
where, or of what shape, the result is, it does not depend: their gradient is None.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime import adjoints as runtime
from ..runtime.adjoints import (
    add_at,
    broadcast_like,
    conform,
    copy_adjoint,
    stored_alone,
    take_at,
    take_stored,
    unbroadcast,
    unreduce,
    zeros_like,
)
from ..runtime.broadcasting import contracted, fitted
from ..runtime.builtin_reductions import extremum_adjoint, extremum_tangent, gather, spread
from ..runtime.shapes import check_shapes
from .samples import A, given

FITTING = [
    given(A(2, 3), np.zeros(3)), given(A(2, 3), np.zeros((2, 1))), given(A(2, 3), 0.0), given(1.5, 0.0),
    given(A(2, 3, dtype="complex128"), np.zeros(3)), given(A(3), np.zeros(3, "float32"))]


@bprop(unbroadcast, "linear", like=1, like_number=True, odd=True, sharing="maybe", shape_only=(1,),
    likeness=True, samples=FITTING)
def unbroadcast_(dx, x, out, dout):
    return broadcast_like(dout, dx), None


@bprop(conform, "linear", like=1, like_number=True, sharing="maybe", shape_only=(1,), likeness=True,
    samples=[*FITTING, given([A(2, 3), 1.0], [np.zeros(3), 0.0])])
def conform_(dx, x, out, dout):
    return broadcast_like(dout, dx), None


@bprop(broadcast_like, "linear", like=1, shape_only=(1,), samples=[
    given(A(3), np.zeros((2, 3))), given(A(2, 1), np.zeros((2, 3))), given(1.5, np.zeros(3)), given(1.5, 0.0),
    given(A(3), np.zeros((2, 3), "complex128")), given((A(3), 1.0), (np.zeros((2, 3)), np.zeros(2)))])
def broadcast_like_(dx, like, out, dout):
    return conform(dout, dx), None


@bprop(fitted, "linear", like=1, odd=True, shape_only=(1,), likeness=True, samples=[
    given(A(3, 4), np.zeros(4)), given(A(3, 1), np.zeros(4)), given(A(4), np.zeros((3, 4))),
    given(A(2, 1, 4), np.zeros((1, 3, 1))), given(A(2, 3), np.zeros((2, 3), "float32"))])
def fitted_(dx, x, out, dout):
    return fitted(dout, dx), None


@bprop(contracted, like=2, odd=True, sharing="fresh", shape_only=(2,), likeness=True, samples=[
    given(A(3, 4), A(4), np.zeros(4)), given(A(3, 1), A(4), np.zeros(4)), given(A(4), A(4), np.zeros((3, 4))),
    given(A(2, 1, 4), A(3, 1), np.zeros((1, 3, 1))), given(A(2, 1), A(1, 1), np.zeros((2, 3))),
    given(A(2, 3, dtype="float32"), A(3, dtype="float32"), np.zeros((2, 1), "float32"))])
def contracted_(a, b, x, out, dout):
    return contracted(dout, b, a), contracted(dout, a, b), None


@contracted_.jvp
def contracted_jvp(a, b, x, out, da, db):
    return contracted(da, b, x) + contracted(a, db, x)


@bprop(unreduce, "linear", like=1, odd=True, sharing="fresh", shape_only=(1,), likeness=True, samples=[
    given(A(), np.zeros((2, 3))), given(A(3), np.zeros((2, 3)), 0),
    given(A(2, 1), np.zeros((2, 3)), -1, True),
    given(A(3), np.zeros((2, 3, 4)), (0, 2)), given(1.5, 0.0), given(1.5, np.zeros(3, "float32"))])
def unreduce_(d, x, axis=None, keepdims=False, *, out, dout):
    return unbroadcast(np.sum(dout, axis=axis, keepdims=keepdims), d), None


@bprop(runtime.add, "linear", samples=[
    given(A(3), A(3)), given(0.0, A(3)), given([A(2), (1.0, None)], [A(2), (2.0, None)]),
    given({"a": 1.0}, {"a": 2.0})])
def add(a, b, out, dout):
    return conform(dout, a), conform(dout, b)


@bprop(copy_adjoint, "linear", moves=True, like=0, sharing="fresh",
       samples=[given(A(3)), given([A(2), (1.0, None)])])
def copy_adjoint_(x, out, dout):
    return (dout,)


@bprop(take_at, "linear", like=2, like_number=True, sharing="fresh", shape_only=(2,), likeness=True, samples=[
    given(A(4), 1, 0.0), given(A(4, 3), slice(1, 3), np.zeros(3)),
    given(A(4), np.array([1, 1, 0]), np.zeros(3)),
    given([A(2), A(3)], 1, np.zeros(3)), given((1.0, 2.0), -1, 0.0), given(A(4), slice(None), 0.0)])
def take_at_(da, index, v, out, dout):
    return add_at(zeros_like(da), index, dout), None, None


REPEATED = np.array([1, 1, 0])


@bprop(take_stored, "linear", sharing="fresh", shape_only=(2,), likeness=True, samples=[
    given(A(4), REPEATED, np.zeros(3)), given(A(4), REPEATED, 0.0), given(A(4), 1, 0.0),
    given(A(4, 3), (slice(1, 3), REPEATED), np.zeros((2, 1)))], like=2, like_number=True)
def take_stored_(da, index, v, out, dout):
    return stored_alone(da, index, dout), None, None


@bprop(stored_alone, sharing="fresh", samples=[
    given(np.zeros(4), REPEATED, A(3)), given(np.zeros(4), REPEATED, 1.5), given(np.zeros(4), 1, 1.5)])
def stored_alone_(da, index, v, out, dout):
    return None, None, take_stored(dout, index, v)


@stored_alone_.jvp
def stored_alone_jvp(da, index, out, dv):
    return stored_alone(da, index, dv)


@bprop(spread, "linear",
       samples=[given(1.5, [0.0, 0.0]), given(A(2, 3), (np.zeros(3), np.zeros((2, 3)))),
                given(A(3), np.zeros((4, 3)))])
def spread_(d, xs, out, dout):
    return gather(dout, d), None


@bprop(gather, "linear",
       samples=[given([1.0, 2.0], 0.0), given((A(3), A(2, 3)), np.zeros((2, 3))),
                given(A(4, 3), np.zeros(3))])
def gather_(dxs, total, out, dout):
    return spread(dout, dxs), None


@bprop(extremum_adjoint, "linear",
       samples=[(1.5, (2.0, 3.0), 3.0), (1.5, ([2.0, 3.0],), 2.0), (1.5, (2.0, 2.0, 1.0), 2.0)])
def extremum_adjoint_(d, operands, extremum, out, dout):
    return extremum_tangent(dout, operands, extremum), None, None


@bprop(extremum_tangent, "linear",
       samples=[((0.5, 1.5), (2.0, 3.0), 3.0), (([0.5, 1.5],), ([2.0, 3.0],), 2.0)])
def extremum_tangent_(tangents, operands, extremum, out, dout):
    return extremum_adjoint(dout, operands, extremum), None, None


# In place: the adjoint of the buffer goes on being the adjoint of the buffer.
@bprop(add_at, "linear", moves=True, like=0, updates=True, pure=False, sharing="unknown", samples=[
    given(A(4), 1, 0.5), given(A(4), slice(1, 3), 0.5), given(A(4), np.array([1, 1, 0]), A(3)),
    given([A(2), A(3)], 1, A(3)),
    given((1.0, 2.0), -1, 0.5), given({"a": 1.0}, "a", 0.5),
    given(A(3, 2), (slice(None), [0, 1, 1]), A(3, 3))])
def add_at_(da, index, v, out, dout):
    return dout, None, take_at(dout, index, v)


nondifferentiable([runtime.like])
nondifferentiable([zeros_like], shape_only=(0,))
nondifferentiable([runtime.zeros_of], like=0, shape_only=(0,), likeness=True)
nondifferentiable([check_shapes], shape_only=(0, 1), pure=False)  # it raises
nondifferentiable([runtime.unit_cotangent], pure=False)  # it refuses what has no gradient
