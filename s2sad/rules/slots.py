# mypy: allow-untyped-defs
"""The rules of reading and setting attributes and items as they stand; tested in programs, too."""

from __future__ import annotations

from types import SimpleNamespace

from ..primitives.record import bprop, nondifferentiable
from ..runtime.adjoints import add
from ..runtime.heap_adjoints import (
    cleared,
    closed,
    closed_at,
    gathered,
    opened,
    opened_at,
    parts_alone,
    parts_at,
    permuted,
    scattered,
    unpermuted,
)
from ..runtime.heap_keys import record_of_end
from ..runtime.object_graph import items_of
from ..runtime.slots import (
    append_item,
    born,
    clear_items,
    copy_items,
    delete_item,
    entered,
    entered_field,
    field_alone,
    field_at,
    field_whole,
    filled,
    get_field,
    get_item,
    held_field,
    held_item,
    held_items,
    hold_append,
    hold_clear,
    hold_delete,
    hold_field,
    hold_insert,
    hold_item,
    hold_order,
    hold_splice,
    insert_item,
    item_alone,
    item_at,
    item_whole,
    items_alone,
    items_at,
    keys_in,
    known,
    made_item,
    order_items,
    positions,
    read_items,
    read_rows,
    rows_alone,
    rows_at,
    set_field,
    set_item,
    splice_items,
    whole_field,
    whole_item,
    without_field,
    without_item,
)

nondifferentiable([held_field, held_item, held_items, keys_in, known, made_item, positions], pure=False)

BOX = SimpleNamespace(a=1.5)
LIST = [1.5, 0.5, 2.5]


@bprop(born, sharing="fresh", samples=[(None, [])], pure=False)
def born_(heap, x, out, dout):
    return dout, None


@born_.jvp
def born_jvp(out, dheap):
    return dheap


@bprop(filled, sharing="fresh", samples=[(None, [*LIST], items_of(LIST))], pure=False)
def filled_(heap, x, record, out, dout):
    return dout, gathered(dout, record, True), None


@filled_.jvp
def filled_jvp(record, out, dheap, dx):
    return add(dheap, scattered(dx, record, True))


@bprop(entered, sharing="fresh", samples=[(None, [*LIST], 1, 0.5, 0.5)], pure=False)
def entered_(heap, x, key, value, like, out, dout):
    return dout, None, None, item_at(dout, x, key, like), None


@entered_.jvp
def entered_jvp(x, key, like, out, dheap, dvalue):
    return add(without_item(dheap, x, key), item_whole(dvalue, x, key, like))


@bprop(entered_field, sharing="fresh", samples=[(None, BOX, "a", 0.5, 0.5)], pure=False)
def entered_field_(heap, x, name, value, like, out, dout):
    return dout, None, None, field_at(dout, x, name, like), None


@entered_field_.jvp
def entered_field_jvp(x, name, like, out, dheap, dvalue):
    return add(without_field(dheap, x, name), field_whole(dvalue, x, name, like))


@bprop(get_field, samples=[(None, BOX, "a")], pure=False)
def get_field_(heap, x, name, out, dout):
    return field_alone(dout, x, name), None, None


@get_field_.jvp
def get_field_jvp(x, name, out, dheap):
    return field_at(dheap, x, name, out)


@bprop(get_item, samples=[(None, LIST, 1)], pure=False)
def get_item_(heap, x, key, out, dout):
    return item_alone(dout, x, key), None, None


@get_item_.jvp
def get_item_jvp(x, key, out, dheap):
    return item_at(dheap, x, key, out)


@bprop(whole_field, samples=[(None, BOX, "a")], pure=False)
def whole_field_(heap, x, name, out, dout):
    return field_whole(dout, x, name, x), None, None


@whole_field_.jvp
def whole_field_jvp(x, name, out, dheap):
    return field_at(dheap, x, name, out)


@bprop(whole_item, samples=[(None, LIST, 1)], pure=False)
def whole_item_(heap, x, key, out, dout):
    return item_whole(dout, x, key, x), None, None


@whole_item_.jvp
def whole_item_jvp(x, key, out, dheap):
    return item_at(dheap, x, key, out)


@bprop(read_items, samples=[(None, LIST)], pure=False)
def read_items_(heap, x, out, dout):
    return items_alone(dout, x), None


@read_items_.jvp
def read_items_jvp(x, out, dheap):
    return items_at(dheap, x, out)


@bprop(read_rows, samples=[(None, [LIST, [0.3]])], pure=False)
def read_rows_(heap, rows, out, dout):
    return rows_alone(dout, rows), None


@read_rows_.jvp
def read_rows_jvp(rows, out, dheap):
    return rows_at(dheap, rows, out)


@bprop(set_field, sharing="fresh", samples=[(None, SimpleNamespace(a=1.5), "a", 0.5, 0.5)], pure=False)
def set_field_(heap, x, name, value, like, out, dout):
    return without_field(dout, x, name), None, None, field_at(dout, x, name, like), None


@set_field_.jvp
def set_field_jvp(x, name, like, out, dheap, dvalue):
    return add(without_field(dheap, x, name), field_whole(dvalue, x, name, like))


@bprop(set_item, sharing="fresh", samples=[(None, [*LIST], 1, 0.5, 0.5)], pure=False)
def set_item_(heap, x, key, value, like, out, dout):
    return without_item(dout, x, key), None, None, item_at(dout, x, key, like), None


@set_item_.jvp
def set_item_jvp(x, key, like, out, dheap, dvalue):
    return add(without_item(dheap, x, key), item_whole(dvalue, x, key, like))


@bprop(append_item, sharing="fresh", samples=[(None, [*LIST], 3, 0.5, 0.5)], pure=False)
def append_item_(heap, x, key, value, like, out, dout):
    return without_item(dout, x, key), None, None, item_at(dout, x, key, like), None


@append_item_.jvp
def append_item_jvp(x, key, like, out, dheap, dvalue):
    return add(without_item(dheap, x, key), item_whole(dvalue, x, key, like))


@bprop(copy_items, samples=[(None, {"a": 1.5})], pure=False)
def copy_items_(heap, x, out, dout):
    return items_alone(dout, x), None


@copy_items_.jvp
def copy_items_jvp(x, out, dheap):
    return items_at(dheap, x, out)


# ---------------------------------------------------------------- items that move


@bprop(insert_item, sharing="fresh", samples=[(None, [*LIST], 1, 0.5, 0.5)], pure=False)
def insert_item_(heap, x, key, value, like, out, dout):
    return closed(dout, x, key), None, None, item_at(dout, x, key, like), None


@insert_item_.jvp
def insert_item_jvp(x, key, like, out, dheap, dvalue):
    return add(without_item(opened(dheap, x, key), x, key), item_whole(dvalue, x, key, like))


@bprop(delete_item, sharing="fresh", samples=[(None, [*LIST], 1)], pure=False)
def delete_item_(heap, x, key, out, dout):
    return opened(dout, x, key), None, None


@delete_item_.jvp
def delete_item_jvp(x, key, out, dheap):
    return closed(dheap, x, key)


@bprop(clear_items, sharing="fresh", samples=[(None, [*LIST])], pure=False)
def clear_items_(heap, x, out, dout):
    return cleared(dout, x), None


@clear_items_.jvp
def clear_items_jvp(x, out, dheap):
    return cleared(dheap, x)


@bprop(order_items, sharing="fresh", samples=[(None, [*LIST], [2, 0, 1])], pure=False)
def order_items_(heap, x, order, out, dout):
    return unpermuted(dout, x, order), None, None


@order_items_.jvp
def order_items_jvp(x, order, out, dheap):
    return permuted(dheap, x, order)


@bprop(
    splice_items,
    sharing="fresh",
    samples=[(None, [*LIST], [0.5, 1.0], record_of_end(LIST, [0.5, 1.0]))],
    pure=False,
)
def splice_items_(heap, x, items, record, out, dout):
    return closed_at(dout, x, record), None, parts_at(dout, record), None


@splice_items_.jvp
def splice_items_jvp(x, record, out, dheap, ditems):
    return add(opened_at(dheap, x, record), parts_alone(ditems, record))


# ---------------------------------------------------------------- objects, whose adjoints stay


@bprop(hold_field, sharing="fresh", samples=[(None, SimpleNamespace(a=[]), "a", [])], pure=False)
def hold_field_(heap, x, name, value, out, dout):
    return dout, None, None, None


@hold_field_.jvp
def hold_field_jvp(x, out, dheap):
    return dheap


@bprop(hold_item, hold_insert, sharing="fresh", samples=[(None, [[], []], 1, [])], pure=False)
def hold_item_(heap, x, key, value, out, dout):
    return dout, None, None, None


@hold_item_.jvp
def hold_item_jvp(x, out, dheap):
    return dheap


@bprop(hold_splice, sharing="fresh", samples=[(None, [], [[]], record_of_end([], [[]]))], pure=False)
def hold_splice_(heap, x, items, record, out, dout):
    return dout, None, None, None


@hold_splice_.jvp
def hold_splice_jvp(x, out, dheap):
    return dheap


@bprop(hold_append, sharing="fresh", samples=[(None, [[]], [])], pure=False)
def hold_append_(heap, x, value, out, dout):
    return dout, None, None


@hold_append_.jvp
def hold_append_jvp(x, out, dheap):
    return dheap


@bprop(hold_delete, sharing="fresh", samples=[(None, [[], []], 1)], pure=False)
def hold_delete_(heap, x, key, out, dout):
    return dout, None, None


@hold_delete_.jvp
def hold_delete_jvp(x, out, dheap):
    return dheap


@bprop(hold_order, sharing="fresh", samples=[(None, [[], []], [1, 0])], pure=False)
def hold_order_(heap, x, order, out, dout):
    return dout, None, None


@hold_order_.jvp
def hold_order_jvp(x, out, dheap):
    return dheap


@bprop(hold_clear, sharing="fresh", samples=[(None, [[]])], pure=False)
def hold_clear_(heap, x, out, dout):
    return dout, None


@hold_clear_.jvp
def hold_clear_jvp(x, out, dheap):
    return dheap


# ---------------------------------------------------------------- their adjoints


@bprop(field_at, "linear", like=3, like_number=True, samples=[(None, BOX, "a", 0.5)])
def field_at_(d, x, name, like, out, dout):
    return field_alone(dout, x, name), None, None, None


@bprop(item_at, "linear", like=3, like_number=True, samples=[(None, LIST, 1, 0.5)])
def item_at_(d, x, key, like, out, dout):
    return item_alone(dout, x, key), None, None, None


@bprop(field_alone, "linear", samples=[(1.5, BOX, "a")])
def field_alone_(dvalue, x, name, out, dout):
    return field_at(dout, x, name, dvalue), None, None


@bprop(item_alone, "linear", samples=[(1.5, LIST, 1)])
def item_alone_(dvalue, x, key, out, dout):
    return item_at(dout, x, key, dvalue), None, None


@bprop(field_whole, "linear", samples=[(1.5, BOX, "a", 0.0)])
def field_whole_(dvalue, x, name, like, out, dout):
    return field_at(dout, x, name, dvalue), None, None, None


@bprop(item_whole, "linear", samples=[(1.5, LIST, 1, 0.0)])
def item_whole_(dvalue, x, key, like, out, dout):
    return item_at(dout, x, key, dvalue), None, None, None


@bprop(items_at, "linear", like=2, samples=[(None, LIST, LIST)])
def items_at_(d, x, like, out, dout):
    return items_alone(dout, x), None, None


@bprop(items_alone, "linear", samples=[([1.5, 0.5, 1.0], LIST)])
def items_alone_(dvalues, x, out, dout):
    return items_at(dout, x, dvalues), None


@bprop(rows_at, "linear", like=2, samples=[(None, [LIST, [0.3]], [LIST, [0.3]])])
def rows_at_(d, rows, like, out, dout):
    return rows_alone(dout, rows), None, None


@bprop(rows_alone, "linear", samples=[([[1.5, 0.5, 1.0], [0.2]], [LIST, [0.3]])])
def rows_alone_(dvalues, rows, out, dout):
    return rows_at(dout, rows, dvalues), None


@bprop(without_field, "linear", samples=[(None, BOX, "a")])
def without_field_(d, x, name, out, dout):
    return without_field(dout, x, name), None, None


@bprop(without_item, "linear", samples=[(None, LIST, 1)])
def without_item_(d, x, key, out, dout):
    return without_item(dout, x, key), None, None
