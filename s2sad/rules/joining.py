"""Functions of several arrays: concatenate, stack, split, and arrays made of lists."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.record import bprop, nondifferentiable
from .containers import (
    along_row,
    as_column,
    as_operand,
    filled,
    nested_like,
    part_like,
    split_like,
    unstack_like,
)
from .samples import A, given
from .shaping import cast_like, made_into

Array = Any  # any type with NumPy's protocols

PARTS = [
    given([A(2, 3), A(1, 3)]),
    given((A(2, 3), A(2, 3))),
    given([A(2, 3), A(2, 3, dtype="float32")]),
    given(A(2, 2, 3)),
]


# Along which axis arrays are joined, and how many axes what they become has: see `Rule.joins`.

Joined = tuple[int, int] | None


def concatenated(ranks: list[int], axis: int | None, dtype: Any, casting: Any) -> Joined:
    rank = ranks[0]
    if axis is None or dtype is not None or rank == 0 or {*ranks} != {rank}:
        return None
    return axis % rank, rank


def stacked(ranks: list[int], axis: int, dtype: Any, casting: Any) -> Joined:
    rank = ranks[0] + 1
    return (axis % rank, rank) if dtype is None and {*ranks} == {ranks[0]} else None


def side_by_side(ranks: list[int], dtype: Any, casting: Any) -> Joined:
    if max(ranks) > 1:
        return concatenated(ranks, 1, dtype, casting)
    return (0, 1) if dtype is None else None


def on_top(ranks: list[int], dtype: Any, casting: Any) -> Joined:
    if {*ranks} <= {1, 2}:
        return (0, 2) if dtype is None else None
    return concatenated(ranks, 0, dtype, casting)


def as_columns(ranks: list[int]) -> Joined:
    return (1, 2) if {*ranks} <= {1, 2} else concatenated(ranks, 1, None, None)


def in_depth(ranks: list[int]) -> Joined:
    return (2, 3) if {*ranks} <= {2, 3} else concatenated(ranks, 2, None, None)


def array_of(ranks: list[int], dtype: Any, *options: Any) -> Joined:
    return stacked(ranks, 0, dtype, None)


WIDENED = [given([A(2, dtype="float32"), A(2, dtype="float32")], dtype=np.float64)]
NARROWED = [given([A(2), A(2)], dtype=np.float32, casting="unsafe")]


@bprop(
    np.concatenate,
    joins=concatenated,
    samples=[
        *PARTS,
        given([A(2, 3), A(2, 1)], axis=1),
        given([A(2, 3), A(4)], axis=None),
        given([[1.0, 2.0], A(3)]),
        *WIDENED,
        *NARROWED,
    ],
)
def concatenate(arrays, axis=0, *, dtype=None, casting="same_kind", out, dout):
    return (split_like(dout, arrays, axis),)


@concatenate.jvp
def concatenate_jvp(arrays, axis, dtype, out, darrays):
    if dtype is None:
        return np.concatenate(filled(darrays, arrays), axis=axis)
    return cast_like(np.concatenate(filled(darrays, arrays), axis=axis), out)


@bprop(
    np.stack,
    joins=stacked,
    samples=[
        *PARTS[1:],
        given([A(3), A(3)], axis=-1),
        given([1.0, 2.0, 3.0]),
        given([2.0, A()]),
        *WIDENED,
        *NARROWED,
    ],
)
def stack(arrays, axis=0, *, dtype=None, casting="same_kind", out, dout):
    return (unstack_like(dout, arrays, axis),)


@stack.jvp
def stack_jvp(arrays, axis, dtype, out, darrays):
    if dtype is None:
        return np.stack(filled(darrays, arrays), axis=axis)
    return cast_like(np.stack(filled(darrays, arrays), axis=axis), out)


@bprop(
    np.vstack, joins=on_top, samples=[*PARTS, given([A(3), A(2, 3)]), given([1.0, 2.0]), *WIDENED, *NARROWED]
)
def vstack(tup, *, dtype=None, casting="same_kind", out, dout):
    return (split_like(dout, tup, 0, np.atleast_2d),)


@vstack.jvp
def vstack_jvp(tup, dtype, out, dtup):
    if dtype is None:
        return np.vstack(filled(dtup, tup))
    return cast_like(np.vstack(filled(dtup, tup)), out)


@bprop(
    np.hstack,
    joins=side_by_side,
    samples=[
        given([A(3), A(2)]),
        given((A(2, 3), A(2, 1))),
        given([1.0, A(2)]),
        given(A(2, 3)),
        *WIDENED,
        *NARROWED,
    ],
)
def hstack(tup, *, dtype=None, casting="same_kind", out, dout):
    if np.ndim(out) == 1:
        return (split_like(dout, tup, 0, along_row),)
    return (split_like(dout, tup, 1),)


@hstack.jvp
def hstack_jvp(tup, dtype, out, dtup):
    if dtype is None:
        return np.hstack(filled(dtup, tup))
    return cast_like(np.hstack(filled(dtup, tup)), out)


@bprop(np.dstack, joins=in_depth, samples=[given([A(3), A(3)]), given((A(2, 3), A(2, 3, 2)))])
def dstack(tup, *, out, dout):
    return (split_like(dout, tup, 2, np.atleast_3d),)


@dstack.jvp
def dstack_jvp(tup, *, out, dtup):
    return np.dstack(filled(dtup, tup))


@bprop(np.column_stack, joins=as_columns, samples=[given([A(3), A(3)]), given((A(3, 2), A(3)))])
def column_stack(tup, *, out, dout):
    return (split_like(dout, tup, 1, as_column),)


@column_stack.jvp
def column_stack_jvp(tup, *, out, dtup):
    return np.column_stack(filled(dtup, tup))


@bprop(
    np.append,
    lists=True,
    samples=[
        given(A(3), A(2)),
        given(A(2, 3), A(2)),
        given(A(2, 3), A(1, 3), axis=0),
        given(A(3), 1.5),
        given(A(3), [1.5, 2.0]),
    ],
)
def append(arr, values, axis=None, *, out, dout):
    darr, dvalues = split_like(dout, (arr, values), axis)
    return darr, dvalues


@append.jvp
def append_jvp(arr, values, axis, out, darr, dvalues):
    return np.append(filled(darr, arr), filled(dvalues, values), axis)


# ---------------------------------------------------------------- arrays of lists

NESTED = [
    given(A(2, 3)),
    given([1.0, 2.0]),
    given([[1.0, 2.0], [3.0, 4.0]]),
    given([A(2), A(2)]),
    given(1.5),
    given(A(3), dtype=np.float32),
    given((1.0, 2, A())),
]


@bprop(
    np.array, sharing={"copy": "maybe"},
    joins=array_of,
    samples=[
        *NESTED,
        given(A(2, 3), order="F"),
        given(A(3), copy=True, ndmin=2, subok=True),
        given([A(2), A(2)], ndmin=4),
    ],
)
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, out, dout):
    if ndmin == 0:
        return (nested_like(dout, object),)
    return (nested_like(np.reshape(dout, np.shape(object)), object),)


@array.for_rows(list)
def array_of_list(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, out, dout):
    return (list(dout),)


@array.for_rows(tuple)
def array_of_tuple(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, out, dout):
    return (tuple(dout),)


@array.jvp
def array_jvp(object, out, dobject):
    return np.reshape(cast_like(np.array(filled(dobject, made_into(object, out))), out), np.shape(out))


@bprop(
    np.asarray,
    np.asanyarray,
    np.asarray_chkfinite, sharing="maybe",
    joins=array_of,
    samples=[*NESTED, given(A(2, 3), order="F")],
)
def asarray(a, dtype=None, order=None, *, copy=None, out, dout):
    return (nested_like(dout, a),)


@asarray.for_rows(list)
def asarray_of_list(a, dtype=None, order=None, *, copy=None, out, dout):
    return (list(dout),)


@asarray.for_rows(tuple)
def asarray_of_tuple(a, dtype=None, order=None, *, copy=None, out, dout):
    return (tuple(dout),)


@asarray.jvp
def asarray_jvp(a, out, da):
    return cast_like(np.array(filled(da, made_into(a, out))), out)


@bprop(as_operand, sharing="maybe", samples=[given([A(), 1.5]), given(A(2)), given(1.5)])
def as_operand_(x, *, out, dout):
    dx = dout
    if isinstance(x, (list, tuple)):
        dx = nested_like(dout, x)
    return (dx,)


@as_operand_.jvp
def as_operand_jvp(x, out, dx):
    dout = dx
    if isinstance(x, (list, tuple)):
        dout = cast_like(np.array(filled(dx, made_into(x, out))), out)
    return dout


@bprop(np.fromiter, lists=True, samples=[given([A(), A(), A()], float), given((A(), A(), A()), "float64", 2)])
def fromiter(iter, dtype, count=-1, *, out, dout):
    rest = np.zeros(len(iter) - len(dout), dout.dtype)
    return (nested_like(np.concatenate([dout, rest]), iter),)


@fromiter.jvp
def fromiter_jvp(iter, count, out, diter):
    return np.fromiter(filled(diter, iter), out.dtype, count)


# ---------------------------------------------------------------- blocks


def numbered(arrays: Any, start: int) -> tuple[Any, int]:
    """The arrays of a nested list with the numbers of their elements, from `start`, in their places; and the
    number that comes next.
    """
    if not isinstance(arrays, list):
        size = np.size(arrays)
        return np.reshape(np.arange(start, start + size), np.shape(arrays)), start + size
    found = []
    for item in arrays:
        labels, start = numbered(item, start)
        found.append(labels)
    return found, start


def places_in_block(arrays: Any) -> Array:
    """Where in the flat result of `np.block` the elements of the arrays stand, one array after the other."""
    return np.argsort(np.ravel(np.block(numbered(arrays, 0)[0])))


nondifferentiable([numbered, places_in_block])


def unblock(d: Array, arrays: Any) -> Any:
    """The cotangents of the arrays that `np.block` put together, in nested lists as they were."""
    return shared_out(np.ravel(d)[places_in_block(arrays)], arrays, 0)[0]


def shared_out(row: Array, arrays: Any, start: int) -> tuple[Any, int]:
    """A row of numbers from `start` on as arrays like those in nested lists; and where the row goes on."""
    if not isinstance(arrays, list):
        stop = start + np.size(arrays)
        return part_like(row[start:stop], arrays), stop
    found = []
    for item in arrays:
        part, start = shared_out(row, item, start)
        found.append(part)
    return found, start


@bprop(unblock, samples=[given(A(2, 3), [[np.zeros((2, 2)), np.zeros((2, 1))]])])
def unblock_(d, arrays, out, dout):
    return np.block(filled(dout, arrays)), None


@unblock_.jvp
def unblock_jvp(arrays, out, dd):
    return unblock(dd, arrays)


@bprop(
    np.block,
    lists=True,
    samples=[
        given([[A(2, 2), A(2, 1)], [A(1, 2), A(1, 1)]]),
        given([A(2), A(3), 1.5]),
        given([[A(2)], [A(2)]]),
        given(A(2, 3)),
        given([[A(2, 2), A(2, 1, dtype="float32")], [A(1, 3)]]),
    ],
)
def block(arrays, out, dout):
    return (unblock(dout, arrays),)


@block.jvp
def block_jvp(arrays, out, darrays):
    return np.block(filled(darrays, arrays))


# ---------------------------------------------------------------- splitting


@bprop(np.split, np.array_split, "linear", sharing="view",
    samples=[given(A(6), 3), given(A(2, 5), [1, 3], axis=1)])
def split(x, indices_or_sections, axis=0, *, out, dout):
    return (np.concatenate(filled(dout, out), axis=axis),)


@bprop(np.hsplit, "linear", sharing="view", samples=[given(A(6), 3), given(A(2, 6), 2)])
def hsplit(x, indices_or_sections, *, out, dout):
    return (np.hstack(filled(dout, out)),)


@bprop(np.vsplit, "linear", sharing="view", samples=[given(A(4, 3), 2)])
def vsplit(x, indices_or_sections, *, out, dout):
    return (np.concatenate(filled(dout, out)),)


@bprop(np.dsplit, "linear", sharing="view", samples=[given(A(2, 3, 4), 2)])
def dsplit(x, indices_or_sections, *, out, dout):
    return (np.concatenate(filled(dout, out), axis=2),)


if hasattr(np, "unstack"):

    @bprop(np.unstack, "linear", sharing="view", samples=[given(A(2, 3)), given(A(2, 3), axis=-1)])
    def unstack(x, *, axis=0, out, dout):
        return (np.stack(filled(dout, out), axis=axis),)
