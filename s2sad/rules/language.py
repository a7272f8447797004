# mypy: allow-untyped-defs
"""What makes sequences and dicts of others, and the helpers that the passes write calls of."""

from __future__ import annotations

from collections import OrderedDict, deque

from ..primitives.record import bprop, nondifferentiable
from ..runtime.containers import (
    as_given,
    copied_lists,
    default_adjoint,
    dict_adjoint,
    dict_copy,
    dict_get,
    dict_items,
    dict_keys,
    dict_tangent,
    dict_values,
    get_adjoint,
    items_adjoint,
    items_tangent,
    kept_items,
    last_given,
    last_tangents,
    list_copy,
    listed_tangent,
    picked,
    placed,
    restored_items,
    sorting,
    tangent_of_dict,
    transposed_adjoint,
    transposed_tangent,
    united,
    united_adjoint,
    united_tangent,
    values_adjoint,
    values_tangent,
)
from ..transforms.trees.helpers import (
    gives_items_lazily,
    has_views_of_dict,
    is_among,
    is_mapping,
    is_not_among,
    is_sequence,
    merged,
    order_of,
    place_of_max,
    place_of_min,
    refuse_iterator,
    refuse_repeated,
    refuse_views,
    transposed,
)
from .samples import A, given

nondifferentiable([refuse_iterator, refuse_repeated, refuse_views], pure=False, writes=())
nondifferentiable(
    [gives_items_lazily, is_among, is_not_among, has_views_of_dict, is_mapping, is_sequence]
)
nondifferentiable([list.index, list.count, tuple.index, tuple.count])
nondifferentiable([order_of, place_of_max, place_of_min, sorting, dict_keys])

# ---------------------------------------------------------------- sequences


@bprop(deque, samples=[given([])])
def deque_(x=(), maxlen=None, *, out, dout):
    return last_given(dout, x), None


@deque_.jvp
def deque_jvp(out, dx):
    return last_tangents(dx, out)


@bprop(list, list_copy, sharing="elements", samples=[given([A(2), 1.5]), given([])])
def list_(x=(), *, out, dout):
    return (as_given(dout, x),)


@bprop(copied_lists, "linear", sharing="elements", samples=[given([[1.5, 0.5], [2.5]])])
def copied_lists_(x, out, dout):
    return (dout,)


@list_.for_rows(list)
def list_of_floats(x=(), *, out, dout):
    return (dout,)


@list_.jvp
def list_jvp(out, dx):
    return listed_tangent(dx, out)


@bprop(tuple, sharing="elements", samples=[given([A(2), 1.5]), given((1.5, A(3))), given(A(3))])
def tuple_(x=(), *, out, dout):
    return (as_given(dout, x),)


@tuple_.jvp
def tuple_jvp(out, dx):
    return tuple(listed_tangent(dx, out))


@bprop(as_given, samples=[given([A(2), 1.5], (0.0, 0.0)), given([1.5, 2.5], [0.0, 0.0])])
def as_given_(parts, x, out, dout):
    return listed_tangent(dout, parts), None


@as_given_.jvp
def as_given_jvp(x, out, dparts):
    return as_given(dparts, x)


@bprop(last_given, samples=[given([0.5, 2.5], [1.5, 0.0, 0.0])])
def last_given_(parts, x, out, dout):
    return last_tangents(dout, parts), None


@last_given_.jvp
def last_given_jvp(x, out, dparts):
    return last_given(dparts, x)


@bprop(last_tangents, sharing="elements", samples=[given([1.5, 0.5, 2.5], [0.0, 0.0])])
def last_tangents_(dx, out_, out, dout):
    return last_given(dout, dx), None


@last_tangents_.jvp
def last_tangents_jvp(out, ddx):
    return last_tangents(ddx, out)


@bprop(listed_tangent, sharing="elements", samples=[given((A(2), 1.5), [0.0, 0.0])])
def listed_tangent_(dx, out_, out, dout):
    return as_given(dout, dx), None


@listed_tangent_.jvp
def listed_tangent_jvp(out, ddx):
    return listed_tangent(ddx, out)


@bprop(sorted, sharing="elements",
    samples=[given([1.5, -0.5, 0.7]), given((1.5, -0.5, 0.7), key=lambda rng: abs, reverse=True)])
def sorted_(xs, *, key=None, reverse=False, out, dout):
    return as_given(placed(dout, sorting(xs, key, reverse)), xs), None, None


@sorted_.jvp
def sorted_jvp(xs, key, reverse, out, dxs):
    return picked(listed_tangent(dxs, out), sorting(xs, key, reverse))


@bprop(placed, samples=[given([1.5, A(2), 0.7], [2, 0, 1])])
def placed_(parts, order, out, dout):
    return picked(dout, order), None


@placed_.jvp
def placed_jvp(order, out, dparts):
    return placed(dparts, order)


@bprop(picked, samples=[given([1.5, A(2), 0.7], [2, 0, 1])])
def picked_(parts, order, out, dout):
    return placed(dout, order), None


@picked_.jvp
def picked_jvp(order, out, dparts):
    return picked(dparts, order)


@bprop(
    transposed,
    samples=[given([[1.5, A(2)], (0.5, A(2), 2.5)]), given(A(2, 3)), given([[1.5, 2], [0.5, 3]])],
)
def transposed_(rows, strict=False, *, out, dout):
    return (transposed_adjoint(dout, rows),)


@transposed_.jvp
def transposed_jvp(out, drows):
    return transposed_tangent(drows, out)


@bprop(transposed_adjoint, samples=[given([(1.5, 0.5), (2.5, 3.5)], [[0.0, 0.0], (0.0, 0.0, 0.0)])])
def transposed_adjoint_(d, rows, out, dout):
    return transposed_tangent(dout, d), None


@transposed_adjoint_.jvp
def transposed_adjoint_jvp(rows, out, dd):
    return transposed_adjoint(dd, rows)


@bprop(transposed_tangent, samples=[given([[1.5, 0.5], (2.5, 3.5, 4.5)], [(0.0, 0.0), (0.0, 0.0)])])
def transposed_tangent_(drows, out_, out, dout):
    return transposed_adjoint(dout, drows), None


@transposed_tangent_.jvp
def transposed_tangent_jvp(out, ddrows):
    return transposed_tangent(ddrows, out)


# ---------------------------------------------------------------- dicts


@bprop(dict, OrderedDict, sharing="elements", samples=[given({"a": 1.5}), given([("a", 1.5), ("b", 0.5)])])
def dict_(x=(), *, out, dout):
    return (dict_adjoint(dout, x),)


@dict_.jvp
def dict_jvp(x, out, dx):
    return dict_tangent(dx, out, x)


@bprop(dict_adjoint, samples=[given({"a": 1.5}, {"a": 0.5})])
def dict_adjoint_(d, x, out, dout):
    return dict_tangent(dout, d, x), None


@dict_adjoint_.jvp
def dict_adjoint_jvp(x, out, dd):
    return dict_adjoint(dd, x)


@bprop(dict_tangent, sharing="elements", samples=[given({"a": 1.5}, {"a": 0.5}, {"a": 0.5})])
def dict_tangent_(dx, out_, x, out, dout):
    return dict_adjoint(dout, x), None, None


@dict_tangent_.jvp
def dict_tangent_jvp(x, out, ddx):
    return dict_tangent(ddx, out, x)


@bprop(dict_copy, sharing="elements", samples=[given({"a": 1.5})])
def dict_copy_(x, out, dout):
    return (dict_adjoint(dout, x),)


@dict_copy_.jvp
def dict_copy_jvp(out, dx):
    return dict(dx)


@bprop(dict_items, sharing="live", samples=[given({1: 1.5, 2: 0.5})])
def dict_items_(x, out, dout):
    return (items_adjoint(dout, x),)


@dict_items_.jvp
def dict_items_jvp(out, dx):
    return items_tangent(dx)


@bprop(items_adjoint, samples=[given([(None, 1.5)], {"a": 0.5})])
def items_adjoint_(parts, x, out, dout):
    return items_tangent(dout), None


@items_adjoint_.jvp
def items_adjoint_jvp(x, out, dparts):
    return items_adjoint(dparts, x)


@bprop(items_tangent, sharing="elements", samples=[given({"a": 1.5})])
def items_tangent_(dx, out, dout):
    return (items_adjoint(dout, dx),)


@items_tangent_.jvp
def items_tangent_jvp(out, ddx):
    return items_tangent(ddx)


@bprop(dict_values, sharing="live", samples=[given({"a": 1.5, "b": 0.5})])
def dict_values_(x, out, dout):
    return (values_adjoint(dout, x),)


@dict_values_.jvp
def dict_values_jvp(out, dx):
    return values_tangent(dx)


@bprop(values_adjoint, samples=[given([1.5, A(2)], {"a": 0.5, "b": 0.5})])
def values_adjoint_(parts, x, out, dout):
    return values_tangent(dout), None


@values_adjoint_.jvp
def values_adjoint_jvp(x, out, dparts):
    return values_adjoint(dparts, x)


@bprop(values_tangent, sharing="elements", samples=[given({"a": 1.5})])
def values_tangent_(dx, out, dout):
    return (values_adjoint(dout, dx),)


@values_tangent_.jvp
def values_tangent_jvp(out, ddx):
    return values_tangent(ddx)


@bprop(merged, sharing="elements", samples=[given({"a": 1.5, "b": A(2)}, {"a": 0.5, "c": A(3)})])
def merged_(x, y, out, dout):
    return kept_items(dout, x, y), kept_items(dout, y, {})


@merged_.jvp
def merged_jvp(x, y, out, dx, dy):
    return merged(tangent_of_dict(dx, x), tangent_of_dict(dy, y))


@bprop(tangent_of_dict, sharing="elements", samples=[given({"a": 1.5}, {"a": 0.5})])
def tangent_of_dict_(dx, x, out, dout):
    return dict_adjoint(dout, dx), None


@tangent_of_dict_.jvp
def tangent_of_dict_jvp(x, out, ddx):
    return tangent_of_dict(ddx, x)


@bprop(kept_items, samples=[given({"a": 1.5, "b": A(2)}, {"a": 0.5, "b": A(2)}, {"a": 1})])
def kept_items_(d, x, y, out, dout):
    return restored_items(dout, d, y), None, None


@kept_items_.jvp
def kept_items_jvp(x, y, out, dd):
    return kept_items(dd, x, y)


@bprop(restored_items, samples=[given({"a": 1.5, "b": A(2)}, {"a": 0.5, "b": A(2)}, {"a": 1})])
def restored_items_(d, like, y, out, dout):
    return kept_items(dout, d, y), None, None


@restored_items_.jvp
def restored_items_jvp(like, y, out, dd):
    return restored_items(dd, like, y)


@bprop(dict_get, samples=[given({"a": 1.5}, "a"), given({"a": 1.5}, "b", 0.5)])
def dict_get_(x, key, default=None, *, out, dout):
    return get_adjoint(dout, x, key), None, default_adjoint(dout, x, key, default)


@dict_get_.jvp
def dict_get_jvp(key, out, dx, ddefault):
    return dict_get(dx, key, ddefault)


@bprop(get_adjoint, samples=[given(1.5, {"a": 0.5, "b": 0.7}, "a")])
def get_adjoint_(d, x, key, out, dout):
    return dict_get(dout, key), None, None


@get_adjoint_.jvp
def get_adjoint_jvp(x, key, out, dd):
    return get_adjoint(dd, x, key)


@bprop(default_adjoint, samples=[given(1.5, {"a": 0.5}, "b", 0.5)])
def default_adjoint_(d, x, key, default, out, dout):
    return default_adjoint(dout, x, key, d), None, None, None


@default_adjoint_.jvp
def default_adjoint_jvp(x, key, default, out, dd):
    return default_adjoint(dd, x, key, default)


@bprop(united, sharing="elements", samples=[given({"a": 1.5, "b": A(2)}, {"a": 0.5, "c": A(3)})])
def united_(x, y, out, dout):
    return united_adjoint(dout, x, y), united_adjoint(dout, y, {})


@united_.jvp
def united_jvp(x, y, out, dx, dy):
    return united_tangent(dx, dy, x, y)


@bprop(united_adjoint, samples=[given({"a": 1.5, "b": 0.5}, {"a": 0.5}, {"b": 0.5})])
def united_adjoint_(d, x, y, out, dout):
    return restored_items(dout, d, y), None, None


@united_adjoint_.jvp
def united_adjoint_jvp(x, y, out, dd):
    return united_adjoint(dd, x, y)


@bprop(united_tangent, samples=[given({"a": 1.5}, {"b": 0.5}, {"a": 0.5}, {"b": 0.5})])
def united_tangent_(dx, dy, x, y, out, dout):
    return united_adjoint(dout, x, y), united_adjoint(dout, y, {}), None, None


@united_tangent_.jvp
def united_tangent_jvp(x, y, out, ddx, ddy):
    return united_tangent(ddx, ddy, x, y)
