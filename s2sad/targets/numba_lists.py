"""Numba's implementations of the helpers for lists and tuples, of numbers or of arrays of one type.

Importing this module imports Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ..rules import containers as of_lists
from ..runtime import adjoints, builtin_reductions, containers, mutation
from .arrays_of_lists import array_of, joined_of
from .numba_helpers import compiles, is_number

__all__: list[str] = []

SEQUENCES = (types.List, types.UniTuple)


def is_float(t: Any) -> bool:
    """Whether a number or array carries a derivative."""
    return isinstance(getattr(t, "dtype", t), (types.Float, types.Complex))


def is_leaf(t: Any) -> bool:
    return is_number(t) or isinstance(t, types.Array)


# ---------------------------------------------------------------- tangents and gradients of users


@compiles(mutation.of_operand)
def of_operand(dx: Any, x: Any) -> Any:
    return (lambda dx, x: dx) if is_leaf(x) or isinstance(x, types.BaseTuple) else None


@compiles(mutation.without_integers)
def without_integers(dx: Any, x: Any) -> Any:
    own = mutation.without_integers
    if isinstance(x, types.BaseTuple):
        scope: dict[str, Any] = {"own": own}
        parts = "".join(f"own(dx[{k}], x[{k}]), " for k in range(len(x)))
        exec(f"def without(dx, x):\n    return ({parts})\n", scope)
        return scope["without"]
    if isinstance(x, types.List):
        return lambda dx, x: [own(dx[k], x[k]) for k in range(len(x))]
    return (lambda dx, x: dx) if is_float(x) else (lambda dx, x: None)


# ---------------------------------------------------------------- sums, `max` and `min`


@compiles(builtin_reductions.gather)
def gather(dxs: Any, out: Any) -> Any:
    if not (isinstance(dxs, SEQUENCES) and is_leaf(dxs.dtype) and is_leaf(out)):
        return None
    own = adjoints.broadcast_like

    def summed(dxs: Any, out: Any) -> Any:
        total = own(0.0, out)
        for dx in dxs:
            total = total + own(dx, out)
        return total

    return summed


@compiles(builtin_reductions.spread)
def spread(dout: Any, xs: Any) -> Any:
    if not (isinstance(xs, types.List) and is_leaf(xs.dtype) and is_float(xs.dtype)):
        return None
    own = adjoints.unbroadcast
    return lambda dout, xs: [own(dout, x) for x in xs]


@compiles(builtin_reductions.extremal)
def extremal(xs: Any, out: Any) -> Any:
    if isinstance(xs, (types.List, types.UniTuple)) and is_number(xs.dtype):
        return lambda xs, out: [x == out for x in xs]
    if isinstance(xs, types.BaseTuple) and all(map(is_number, xs)):
        scope: dict[str, Any] = {}
        tests = ", ".join(f"xs[{k}] == out" for k in range(len(xs)))
        exec(f"def extremal(xs, out):\n    return [{tests}]\n", scope)
        return scope["extremal"]
    return None


@compiles(builtin_reductions.extremum_adjoint)
def extremum_adjoint(dout: Any, operands: Any, out: Any) -> Any:
    is_one = isinstance(operands, types.BaseTuple) and len(operands) == 1
    xs = operands[0] if is_one else None
    if not (isinstance(xs, types.List) and isinstance(xs.dtype, types.Float) and is_real_number(dout, out)):
        return None

    def of_list(dout: Any, operands: Any, out: Any) -> Any:
        count = 0
        for x in operands[0]:
            count += x == out
        share = dout / count
        return ([share if x == out else share * 0.0 for x in operands[0]],)

    return of_list


def is_real_number(*found: Any) -> bool:
    return all(isinstance(t, types.Float) for t in found)


@compiles(builtin_reductions.how_many)
def how_many(chosen: Any) -> Any:
    return lambda chosen: sum(chosen)


# ---------------------------------------------------------------- lists made of something else


@compiles(containers.listed_tangent)
def listed_tangent(dx: Any, out: Any) -> Any:
    if isinstance(out, types.List) and isinstance(dx, (types.List, types.UniTuple, types.Array)):
        return lambda dx, out: list(dx)
    if isinstance(out, types.BaseTuple) and isinstance(dx, types.BaseTuple) and len(dx) == len(out):
        return lambda dx, out: dx
    return None


@compiles(containers.as_given)
def as_given(parts: Any, x: Any) -> Any:
    if not (isinstance(parts, types.List) and is_leaf(parts.dtype)):
        return None
    if isinstance(x, types.Array) and is_float(x):

        def of_array(parts: Any, x: Any) -> Any:
            dx = np.zeros_like(x)
            for k in range(len(parts)):
                dx[k] = parts[k]
            return dx

        return of_array
    return (lambda parts, x: parts.copy()) if isinstance(x, types.List) else None


@compiles(mutation.pack_like)
def pack_like(x: Any, *parts: Any) -> Any:
    if not all(map(is_leaf, parts)):
        return None
    scope: dict[str, Any] = {"np": np}
    if isinstance(x, types.Array) and is_float(x):
        stores = "".join(f"    packed[{k}] = parts[{k}]\n" for k in range(len(parts)))
        text = f"def packed(x, *parts):\n    packed = np.zeros_like(x)\n{stores}    return packed\n"
    elif isinstance(x, types.List) and len(set(parts)) == 1:
        listed = ", ".join(f"parts[{k}]" for k in range(len(parts)))
        text = f"def packed(x, *parts):\n    return [{listed}]\n"
    elif isinstance(x, types.BaseTuple):
        text = "def packed(x, *parts):\n    return parts\n"
    else:
        return None
    exec(text, scope)
    return scope["packed"]


@compiles(mutation.refuse_no_list)
def refuse_no_list(x: Any) -> Any:
    return (lambda x: None) if isinstance(x, types.List) else None


# ---------------------------------------------------------------- arrays of lists


def is_first(axis: Any) -> bool:
    return isinstance(axis, types.IntegerLiteral) and axis.literal_value == 0


def are_parts(d: Any, arrays: Any) -> bool:
    """Whether a list holds arrays with the dtype of the array `d`."""
    is_list = isinstance(arrays, types.List) and isinstance(arrays.dtype, types.Array)
    return is_list and isinstance(d, types.Array) and d.dtype == arrays.dtype.dtype


@compiles(of_lists.unstack_like)
def unstack_like(d: Any, arrays: Any, axis: Any) -> Any:
    if not (are_parts(d, arrays) and is_first(axis)):
        return None
    return lambda d, arrays, axis: [d[k].copy() for k in range(d.shape[0])]


@compiles(of_lists.split_like)
def split_like(d: Any, arrays: Any, axis: Any) -> Any:
    if not (are_parts(d, arrays) and is_first(axis)):
        return None

    def parts(d: Any, arrays: Any, axis: Any) -> Any:
        found = []
        start = 0
        for x in arrays:
            found.append(d[start : start + x.shape[0]].copy())
            start += x.shape[0]
        return found

    return parts


@compiles(of_lists.nested_like)
def nested_like(d: Any, x: Any) -> Any:
    if not isinstance(d, types.Array):
        return None
    scope: dict[str, Any] = {"own": adjoints.unbroadcast}

    def text(t: Any, value: str, part: str, rank: int) -> str | None:
        if is_leaf(t):
            if rank and not isinstance(t, types.Array):
                return None
            if isinstance(getattr(t, "dtype", t), (types.Integer, types.Boolean)):
                return "None"
            return f"own({part}, {value})"
        if not rank:
            return None
        if isinstance(t, types.List):
            k = f"k{rank}"
            inner = text(t.dtype, f"{value}[{k}]", f"{part}[{k}]", rank - 1)
            return None if inner is None else f"[{inner} for {k} in range(len({value}))]"
        if isinstance(t, types.BaseTuple):
            parts = [text(of, f"{value}[{k}]", f"{part}[{k}]", rank - 1) for k, of in enumerate(t)]
            return None if None in parts else f"({''.join(f'{p}, ' for p in parts)})"
        return None

    found = text(x, "x", "d", d.ndim)
    if found is None:
        return None
    exec(f"def nested_like(d, x):\n    return {found}\n", scope)
    return scope["nested_like"]


@compiles(of_lists.table_of)
def table_of(rows: Any) -> Any:
    is_nested = isinstance(rows, types.List) and isinstance(rows.dtype, types.List)
    if not is_nested or not is_number(rows.dtype.dtype):
        return None

    def table(rows: Any) -> Any:
        out = np.empty((len(rows), len(rows[0]) if len(rows) else 0))
        for i in range(out.shape[0]):
            if len(rows[i]) != out.shape[1]:
                raise NotImplementedError("the rows of a table differ in length")
            for j in range(out.shape[1]):
                out[i, j] = rows[i][j]
        return out

    return table


@compiles(of_lists.filled)
def filled(d: Any, values: Any) -> Any:
    return (lambda d, values: d) if d == values and isinstance(d, types.List) else None


@compiles(mutation.stored_in)
def stored_in(value: Any, x: Any) -> Any:
    if is_number(x):
        return lambda value, x: value
    arrays = isinstance(value, types.Array) and isinstance(x, types.Array)
    if not arrays or value.dtype != x.dtype or value.ndim != x.ndim:
        return None

    def checked(value: Any, x: Any) -> Any:
        if value.shape != x.shape:
            raise ValueError("an in-place result of another shape does not fit into an array")
        return value

    return checked


@compiles(mutation.cast_like)
def cast_like(value: Any, x: Any) -> Any:
    arrays = isinstance(value, types.Array) and isinstance(x, types.Array)
    return (lambda value, x: value) if arrays and value.dtype == x.dtype else None


@compiles(array_of)
def of_list(items: Any) -> Any:
    if not isinstance(items, types.List) or isinstance(items.dtype, types.Undefined):
        return None
    if is_number(items.dtype):
        dtype = np.dtype(str(items.dtype))

        def of_numbers(items: Any) -> Any:
            out = np.empty(len(items), dtype)
            for k in range(len(items)):
                out[k] = items[k]
            return out

        return of_numbers
    if not isinstance(items.dtype, types.Array) or items.dtype.ndim == 0:
        return None
    dtype = np.dtype(str(items.dtype.dtype))

    def of_arrays(items: Any) -> Any:
        if len(items) == 0:
            raise NotImplementedError("an array of no arrays has other axes")
        out = np.empty((len(items), *items[0].shape), dtype)
        for k in range(len(items)):
            if items[k].shape != items[0].shape:
                raise ValueError("all input arrays must have the same shape")
            out[k] = items[k]
        return out

    return of_arrays


@compiles(joined_of)
def joined(items: Any) -> Any:
    if not (isinstance(items, types.List) and isinstance(items.dtype, types.Array) and items.dtype.ndim):
        return None
    dtype = np.dtype(str(items.dtype.dtype))

    def of_arrays(items: Any) -> Any:
        if len(items) == 0:
            raise ValueError("need at least one array to concatenate")
        count = 0
        for part in items:
            if part.shape[1:] != items[0].shape[1:]:
                raise ValueError("all the input array dimensions but the first one must match")
            count += part.shape[0]
        out = np.empty((count, *items[0].shape[1:]), dtype)
        start = 0
        for part in items:
            out[start : start + part.shape[0]] = part
            start += part.shape[0]
        return out

    return of_arrays
