# mypy: allow-untyped-defs
"""The rules of the helpers that read and change what objects hold.

Adjoints by places are tested in programs, and as transposes in `tests/programs/test_shared_objects.py`.
"""

from __future__ import annotations

from types import SimpleNamespace

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import add, zeros_like
from ..runtime.heap import (
    heap_admit,
    heap_append,
    heap_clear,
    heap_constant,
    heap_copy,
    heap_delete,
    heap_element,
    heap_enter,
    heap_get,
    heap_insert,
    heap_number,
    heap_object,
    heap_order,
    heap_set,
    heap_splice,
    heap_view,
    new_heap,
)
from ..runtime.heap_adjoints import (
    cleared,
    closed,
    closed_at,
    gathered,
    gathered_as,
    item_adjoint,
    item_part,
    opened,
    opened_at,
    own_part,
    part_alone,
    part_at,
    parts_alone,
    parts_at,
    permuted,
    scattered,
    unpermuted,
    without_part,
    without_parts,
)
from ..runtime.heap_keys import (
    arrays_of,
    check_same,
    counter_of,
    has_key,
    holds_attribute,
    indexed,
    is_full,
    key_of,
    key_of_insert,
    key_of_item,
    keys_of,
    last_key,
    order_of_heap,
    order_of_pop,
    order_of_push,
    order_of_reverse,
    order_of_rotation,
    order_of_sort,
    order_without,
    record_of_end,
    record_of_slice,
    same_length,
)
from ..runtime.object_graph import (
    arguments_of,
    change_set,
    check_function,
    check_members,
    check_number,
    is_set,
    items_of,
    mapped,
    outer_object,
    places_of,
    plain_number,
    reference,
    set_element,
    set_items,
    the_list,
    the_set,
)
from .samples import A, given

nondifferentiable(
    [
        arguments_of,
        check_function,
        check_members,
        check_number,
        arrays_of,
        check_same,
        counter_of,
        has_key,
        set_element,
        set_items,
        change_set,
        is_set,
        holds_attribute,
        heap_constant,
        heap_object,
        is_full,
        indexed,
        items_of,
        key_of,
        key_of_insert,
        key_of_item,
        keys_of,
        last_key,
        mapped,
        new_heap,
        outer_object,
        order_of_heap,
        order_of_pop,
        order_of_push,
        order_of_reverse,
        order_of_rotation,
        order_of_sort,
        order_without,
        places_of,
        record_of_end,
        record_of_slice,
        reference,
        same_length,
        the_list,
        the_set,
    ],
    pure=False,
)


# ---------------------------------------------------------------- reading and changing


BOX = SimpleNamespace(a=1.5, b=0.5)
LIST = [1.5, 0.5, 2.5]
END = record_of_end(LIST, [0.5, 1.0])
NUMBER = places_of(1.5)


@bprop(plain_number, "linear", samples=[(1.5,)])
def plain_number_(x, out, dout):
    return (dout,)


@bprop(heap_view, samples=[(None, 1.5, NUMBER), (None, BOX, places_of(BOX))], pure=False)
def heap_view_(heap, x, record, out, dout):
    return scattered(dout, record), own_part(dout, record), None


@heap_view_.jvp
def heap_view_jvp(record, out, dheap, dx):
    return add(gathered(dheap, record), own_part(dx, record))


@bprop(heap_copy, samples=[(None, 1.5, NUMBER), (None, LIST, places_of(LIST))], pure=False)
def heap_copy_(heap, x, record, deep=False, *, out, dout):
    return scattered(dout, record), own_part(dout, record), None, None


@heap_copy_.jvp
def heap_copy_jvp(record, out, dheap, dx):
    return add(gathered(dheap, record), own_part(dx, record))


@bprop(heap_enter, sharing="fresh", objects=True, samples=[(None, 1.5, NUMBER)], pure=False)
def heap_enter_(heap, x, record, own=True, *, out, dout):
    return without_parts(dout, record), gathered(dout, record, True), None, None


@heap_enter_.jvp
def heap_enter_jvp(record, out, dheap, dx):
    return add(without_parts(dheap, record), scattered(dx, record, True))


@bprop(heap_admit, sharing="fresh", samples=[(None, 1.5)], pure=False)
def heap_admit_(heap, x, out, dout):
    return dout, None


@heap_admit_.jvp
def heap_admit_jvp(out, dheap):
    return dheap


@bprop(heap_element, samples=[(None, (1.5, 0.5), 1), given(None, A(3), 1)], pure=False)
def heap_element_(heap, x, key, out, dout):
    return part_alone(dout, indexed(x), key, out), item_adjoint(dout, x, key), None


@heap_element_.jvp
def heap_element_jvp(x, key, out, dheap, dx):
    return add(part_at(dheap, indexed(x), key, out), item_part(dx, x, key))


@bprop(
    heap_get,
    heap_number,
    samples=[(None, (1.5, 0.5), 1), given(None, A(3), 1), given(None, A(2, 3), "T", True)],
    pure=False,
)
def heap_get_(heap, x, key, is_field=False, *, out, dout):
    return part_alone(dout, x, key, out), item_adjoint(dout, x, key), None, None


@heap_get_.jvp
def heap_get_jvp(x, key, out, dheap, dx):
    return add(part_at(dheap, x, key, out), item_part(dx, x, key))


@bprop(heap_set, sharing="fresh", samples=[(None, LIST, 1, 0.5)], pure=False)
def heap_set_(heap, x, key, value, is_field=False, *, out, dout):
    return without_part(dout, x, key), None, None, part_at(dout, x, key, value), None


@heap_set_.jvp
def heap_set_jvp(x, key, value, out, dheap, dvalue):
    return add(without_part(dheap, x, key), part_alone(dvalue, x, key, value))


@bprop(heap_append, sharing="fresh", samples=[(None, LIST, 3, 0.5)], pure=False)
def heap_append_(heap, x, key, value, out, dout):
    return without_part(dout, x, key), None, None, part_at(dout, x, key, value)


@heap_append_.jvp
def heap_append_jvp(x, key, value, out, dheap, dvalue):
    return add(dheap, part_alone(dvalue, x, key, value))


@bprop(heap_insert, sharing="fresh", samples=[(None, LIST, 1, 0.5)], pure=False)
def heap_insert_(heap, x, key, value, out, dout):
    return closed(dout, x, key), None, None, part_at(dout, x, key, value)


@heap_insert_.jvp
def heap_insert_jvp(x, key, value, out, dheap, dvalue):
    return add(opened(dheap, x, key), part_alone(dvalue, x, key, value))


@bprop(heap_splice, sharing="fresh", samples=[(None, [*LIST], [0.5, 1.0], END)], pure=False)
def heap_splice_(heap, x, items, record, out, dout):
    return closed_at(dout, x, record), None, parts_at(dout, record), None


@heap_splice_.jvp
def heap_splice_jvp(x, record, out, dheap, ditems):
    return add(opened_at(dheap, x, record), parts_alone(ditems, record))


@bprop(heap_delete, sharing="fresh", samples=[(None, LIST, 1)], pure=False)
def heap_delete_(heap, x, key, is_field=False, *, out, dout):
    return opened(dout, x, key), None, None, None


@heap_delete_.jvp
def heap_delete_jvp(x, key, out, dheap):
    return closed(dheap, x, key)


@bprop(heap_clear, sharing="fresh", samples=[(None, LIST)], pure=False)
def heap_clear_(heap, x, out, dout):
    return cleared(dout, x), None


@heap_clear_.jvp
def heap_clear_jvp(x, out, dheap):
    return cleared(dheap, x)


@bprop(heap_order, sharing="fresh", samples=[(None, LIST, [2, 0, 1])], pure=False)
def heap_order_(heap, x, order, out, dout):
    return unpermuted(dout, x, order), None, None


@heap_order_.jvp
def heap_order_jvp(x, order, out, dheap):
    return permuted(dheap, x, order)


# ---------------------------------------------------------------- their adjoints


@bprop(part_at, "linear", like=3, like_number=True, samples=[(None, LIST, 1, 0.5)])
def part_at_(d, x, key, value, out, dout):
    return part_alone(dout, x, key, value), None, None, None


@bprop(part_alone, "linear", samples=[(1.5, LIST, 1, BOX)])
def part_alone_(dvalue, x, key, value, out, dout):
    return part_at(dout, x, key, value), None, None, None


@bprop(parts_at, "linear", samples=[(None, END)])
def parts_at_(d, record, out, dout):
    return parts_alone(dout, record), None


@bprop(parts_alone, "linear", samples=[([], NUMBER)])
def parts_alone_(dvalues, record, out, dout):
    return parts_at(dout, record), None


@bprop(without_part, "linear", samples=[(None, LIST, 1)])
def without_part_(d, x, key, out, dout):
    return without_part(dout, x, key), None, None


@bprop(item_adjoint, "linear", samples=[given(1.5, A(3), 1)])
def item_adjoint_(dvalue, x, key, out, dout):
    return add(item_part(dout, x, key), zeros_like(dvalue)), None, None


@bprop(item_part, "linear", samples=[given(A(3), A(3), 1)])
def item_part_(dx, x, key, out, dout):
    return item_adjoint(dout, x, key), None, None


@bprop(own_part, "linear", samples=[(1.5, NUMBER)])
def own_part_(dx, record, out, dout):
    return own_part(dout, record), None


@bprop(gathered, "linear", samples=[(None, NUMBER)])
def gathered_(d, record, once=False, *, out, dout):
    return scattered(dout, record, once), None, None


@bprop(scattered, "linear", samples=[(1.5, NUMBER)])
def scattered_(dx, record, once=False, *, out, dout):
    return gathered_as(dout, record, once, dx), None, None


@bprop(gathered_as, "linear", samples=[(None, NUMBER, False, None)])
def gathered_as_(d, record, once, like, out, dout):
    return scattered(dout, record, once), None, None, None


@bprop(without_parts, "linear", samples=[(None, NUMBER)])
def without_parts_(d, record, out, dout):
    return without_parts(dout, record), None


@bprop(opened, "linear", samples=[(None, LIST, 1)])
def opened_(d, x, key, out, dout):
    return closed(dout, x, key), None, None


@bprop(closed, "linear", samples=[(None, LIST, 1)])
def closed_(d, x, key, out, dout):
    return opened(dout, x, key), None, None


@bprop(opened_at, "linear", samples=[(None, LIST, END)])
def opened_at_(d, x, record, out, dout):
    return closed_at(dout, x, record), None, None


@bprop(closed_at, "linear", samples=[(None, LIST, END)])
def closed_at_(d, x, record, out, dout):
    return opened_at(dout, x, record), None, None


@bprop(cleared, "linear", samples=[(None, BOX)])
def cleared_(d, x, out, dout):
    return cleared(dout, x), None


@bprop(permuted, "linear", samples=[(None, LIST, [2, 0, 1])])
def permuted_(d, x, order, out, dout):
    return unpermuted(dout, x, order), None, None


@bprop(unpermuted, "linear", samples=[(None, LIST, [2, 0, 1])])
def unpermuted_(d, x, order, out, dout):
    return permuted(dout, x, order), None, None

