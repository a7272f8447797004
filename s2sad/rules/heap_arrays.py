# mypy: allow-untyped-defs
"""The rules of the helpers that change arrays which objects hold; tested in programs, too."""

from __future__ import annotations

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import add
from ..runtime.heap import heap_replace
from ..runtime.heap_adjoints import held_alone, held_part, without_held
from ..runtime.heap_arrays import (
    holders_of,
    is_array,
    item_cleared,
    item_stored,
    item_taken,
    note_outside,
    with_item,
)
from .samples import A, given

nondifferentiable([is_array])
nondifferentiable([holders_of, note_outside], pure=False)

LIST = [1.5, 0.5, 2.5]


@bprop(heap_replace, sharing="fresh", samples=[(None, 1.5, ((LIST, 1),))], pure=False)
def heap_replace_(heap, value, holders, out, dout):
    return without_held(dout, holders), held_part(dout, value, holders), None


@heap_replace_.jvp
def heap_replace_jvp(value, holders, out, dheap, dvalue):
    return add(without_held(dheap, holders), held_alone(dvalue, value, holders))


@bprop(held_part, "linear", samples=[(None, 1.5, ((LIST, 1),))])
def held_at_(d, value, holders, out, dout):
    return held_alone(dout, value, holders), None, None


@bprop(held_alone, "linear", samples=[(1.5, 1.5, ())])
def held_alone_(dvalue, value, holders, out, dout):
    return held_part(dout, value, holders), None, None


@bprop(without_held, "linear", samples=[(None, ((LIST, 1),))])
def without_held_(d, holders, out, dout):
    return without_held(dout, holders), None


@bprop(with_item, sharing="fresh", samples=[given(A(3), 1, 0.5), given(A(3, 2), [0, 0], A(2, 2))])
def with_item_(x, index, value, out, dout):
    return item_cleared(dout, index), None, item_taken(dout, index, value)


@with_item_.jvp
def with_item_jvp(x, index, out, dx, dvalue):
    return add(item_cleared(dx, index), item_stored(dvalue, index, x))


@bprop(item_cleared, "linear", sharing="maybe", samples=[given(A(3), 1)])
def item_cleared_(dx, index, out, dout):
    return item_cleared(dout, index), None


@bprop(item_taken, "linear", sharing="fresh", samples=[given(A(3), 1, 0.5)])
def item_taken_(dx, index, value, out, dout):
    return item_stored(dout, index, dx), None, None


@bprop(item_stored, "linear", sharing="fresh", samples=[given(0.5, 1, A(3))])
def item_stored_(dvalue, index, x, out, dout):
    return item_taken(dout, index, dvalue), None, None
