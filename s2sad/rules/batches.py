"""The rules of the helpers in `s2sad.runtime.batches`, so that batched code can be differentiated."""
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.batches import broadcast_each, reduce_each, replicate, same_length
from .samples import A, given

SHAPES = [given(A(2, 3), np.zeros(3)), given(A(2, 3, 4), np.zeros(4)), given(A(2, 3), 1.5)]


@bprop(replicate, "linear", sharing="fresh", samples=[given(1.5, 3), given(A(2), 3), given(A(2, 2), 1)])
def replicate_(x, count, out, dout):
    return np.sum(dout, axis=0), None


@bprop(reduce_each, "linear", sharing="maybe", shape_only=(1,), samples=SHAPES)
def reduce_each_(dx, x, out, dout):
    return broadcast_each(dout, dx[0]), None


@bprop(broadcast_each, "linear", sharing="maybe", shape_only=(1,), samples=[
    given(A(2, 3), np.zeros(3)), given(A(2, 3), np.zeros((4, 3))), given(A(2), np.zeros(3))])
def broadcast_each_(dx, like, out, dout):
    return reduce_each(dout, dx[0]), None


nondifferentiable([same_length], pure=False)  # it raises
