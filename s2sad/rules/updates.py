# mypy: allow-untyped-defs
"""The rules of the helpers for augmented assignments."""

from __future__ import annotations

import operator

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import conform
from ..runtime.deep_copies import refuse_parts_held_twice
from ..runtime.mutation import (
    add_parts,
    captured_alone,
    captured_part,
    cast_like,
    held_at,
    kept,
    mask_like,
    of_elements,
    of_operand,
    of_same_dtype,
    of_sequence,
    outer_array,
    own_tangent,
    pack_like,
    recorded,
    refuse_element,
    refuse_elements,
    refuse_held,
    refuse_held_twice,
    refuse_key,
    refuse_lookup,
    refuse_new_key,
    refuse_no_array,
    refuse_no_list,
    refuse_no_pair,
    refuse_other_array,
    refuse_overlap,
    refuse_shared,
    repeated,
    shares_alike,
    stored_in,
    times_repeated,
    with_zeros,
    without_integers,
    writable,
    zero_item,
)
from .samples import A, given


@bprop(
    stored_in,
    "linear", sharing="maybe", shape_only=(1,),
    samples=[given(A(3), np.zeros(3)), given(A(3), np.zeros(3, "float32")), given(1.5, 0.0)],
)
def stored_in_(value, x, out, dout):
    return conform(dout, value), None


@bprop(cast_like, "linear", sharing="stored",
    samples=[given(A(3), np.zeros(3)), given(A(3), np.zeros(3, "float32"))])
def cast_like_(value, x, out, dout):
    return conform(dout, value), None


@bprop(of_same_dtype, "linear", moves=True, sharing="stored", samples=[given(A(3), np.zeros(3))])
def of_same_dtype_(value, x, out, dout):
    return dout, None


@bprop(
    pack_like,
    samples=[given(np.zeros(2), 1.5, 2.5), given(np.zeros((2, 3)), A(3), A(3)), given((0.0, 0.0), 1.5, 2.5)],
)
def pack_like_(x, *parts, out, dout):
    return None, dout


@pack_like_.jvp
def pack_like_jvp(x, *parts, out, dparts):
    return pack_like(x, *dparts)


@bprop(operator.concat, "linear", sharing="elements",
    samples=[given((1.5, 2.5), (A(2),)), given([1.5], [2.5, A(3)])])
def concat(x, y, out, dout):
    return dout[: len(x)], dout[len(x) :]


NUMBERS = "a list or a tuple times what carries a derivative: `*` repeats it; for a product of "
NUMBERS += "numbers take an array, `np.array(x)`"


@bprop(repeated, "linear", sharing="elements",
    refused={"count": NUMBERS}, samples=[given((1.5, 2.5), 3), given([A(2)], 2)])
def repeated_(x, count, out, dout):
    return (add_parts(dout, x),)


@bprop(times_repeated, "linear", sharing="elements",
    refused={"count": NUMBERS}, samples=[given(3, (1.5, 2.5)), given(2, [A(2)])])
def times_repeated_(count, x, out, dout):
    return None, add_parts(dout, x)


GUARDS = [
    refuse_element, refuse_elements, refuse_held, refuse_held_twice, refuse_key, refuse_lookup,
    refuse_new_key, refuse_no_array,
    refuse_no_list, refuse_no_pair, refuse_other_array, refuse_overlap, refuse_parts_held_twice,
    refuse_shared,
]
nondifferentiable(GUARDS, pure=False)
nondifferentiable([shares_alike], pure=False)  # it refuses
nondifferentiable([held_at, mask_like, zero_item])  # the first only lends its shape
nondifferentiable([outer_array], like=0)  # the derivative is that of the stored values
nondifferentiable([recorded], like=0)  # what holds it is not read


@bprop(of_elements, "linear", samples=[given([1.5, 2.5], [1.0, 2.0]), given({"a": 1.5}, {"a": 1.0})])
def of_elements_(dx, x, out, dout):
    return of_sequence(dout, dx, x), None


@bprop(of_sequence, "linear", samples=[given([1.5, 2.5], [1.0, 2.0], [1.0, 2.0])])
def of_sequence_(d, dx, x, out, dout):
    return of_elements(dout, x), None, None


@bprop(writable, "linear", like=0, sharing="view", samples=[given(A(3))])
def writable_(view, out, dout):
    return (dout,)


@bprop(kept, "linear", moves=True, like=0, sharing="fresh",
       samples=[given(A(3)), given([A(2), (1.0, None)])])
def kept_(x, out, dout):
    return (dout,)


@bprop(own_tangent, "linear", like=0, samples=[given(A(3), np.zeros(3)), given([A(2)], [np.zeros(2)])])
def own_tangent_(dx, x, out, dout):
    return dout, None


SHARED = ({"a": 1.5, "b": A(2)}, "a")


@bprop(captured_part, "linear", shape_only=(2,), samples=[given(*SHARED, 0.0), given(None, "a", 0.0)])
def captured_part_(d, key, x, out, dout):
    return captured_alone(dout, d, key), None, None


@bprop(captured_alone, "linear", samples=[given(2.5, *SHARED)])
def captured_alone_(dx, d, key, out, dout):
    return captured_part(dout, key, dx), None, None


@bprop(of_operand, "linear", samples=[given(1.5, 0.5), given(A(3), A(3))])
def of_operand_(dx, x, out, dout):
    return of_operand(dout, x), None


@bprop(without_integers, "linear", samples=[given([1.5, 0.0, A(3)], [0.5, 3, A(3)])])
def without_integers_(dx, x, out, dout):
    return with_zeros(dout, x), None


@bprop(with_zeros, "linear", samples=[given([1.5, 0.0, A(3)], [0.5, 3, A(3)])])
def with_zeros_(dx, x, out, dout):
    return without_integers(dout, x), None
