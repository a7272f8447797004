"""The helpers that derivatives call at run time.

Contract: adjoints mirror values. The adjoint of a float is a float, of an array an array of its shape and
dtype, of a tuple, list, dict, named tuple or dataclass the same structure of adjoints. That of an integer is
a float, zero or not, as an item may be an integer now and a float then; users get None for it. Else None
stands for what is no number: a string, a function that was not called. Nothing here changes its arguments
but `add_at`. Each helper has a rule, so that derivatives can be differentiated again.

Arrays are only touched through NumPy functions that dispatch on them and through their own attributes.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, ItemsView, ValuesView
from typing import Any, NamedTuple

import numpy as np

from ..transforms.errors import NonDifferentiableError
from ..values.libraries import OUTLINES, has_dtype, is_lazy, library_of
from ..values.objects import dict_like, fields_of, has_operators, is_mirrored, is_plain, mirror
from .shadow_table import Adjoints

__all__ = [
    "add",
    "add_at",
    "broadcast_like",
    "check_number",
    "conform",
    "copy_adjoint",
    "like",
    "refuse_operators",
    "stop_gradient",
    "stored_alone",
    "take_at",
    "take_stored",
    "unbroadcast",
    "unit_cotangent",
    "unreduce",
    "zeros_like",
    "zeros_of",
]

FLOATING = frozenset("fc")


# ---------------------------------------------------------------- shapes


def unbroadcast(dx: Any, x: Any) -> Any:
    """`dx` summed over the axes along which `x` was broadcast, in the dtype of `x` (an integer `x` leaves
    the dtype alone).
    """
    if type(x) is float and type(dx) is float:
        return dx
    try:
        shape, dtype = x.shape, x.dtype
    except AttributeError:
        return _unbroadcast_number(dx, x)
    try:
        if dx.shape == shape and dx.dtype == dtype and (type(dx) is type(x) or is_alike(dx, x)):
            return dx if shape or isinstance(x, np.ndarray) else dx[()]
    except AttributeError:
        check_number(dx)
    refuse_others(dx, x)
    given = np.shape(dx)
    if given != shape:
        lead = len(given) - len(shape)
        if lead < 0 and shape[:-lead] == (1,) * -lead:  # which storing it into an array leaves out
            return unbroadcast(np.expand_dims(dx, (*range(-lead),)), x)
        if lead < 0:
            raise ValueError(f"a cotangent of shape {given} does not belong to an argument of shape {shape}")
        axes = (*range(lead), *(lead + i for i, n in enumerate(shape) if n == 1))
        dx = np.reshape(np.sum(dx, axis=axes, keepdims=True), shape)
    return _cast(dx, dtype, x)


def _unbroadcast_number(dx: Any, x: Any) -> Any:
    kind = type(x)
    if kind is type(dx) and (kind is float or kind is complex):
        return dx
    if kind is str or kind is bytes:
        return None
    check_number(x)
    check_number(dx)
    refuse_others(dx, x)
    total = np.sum(dx)
    library = library_of(total)
    if library is not None and not library.is_lazy:
        total = complex(total) if total.dtype.kind == "c" else float(total)
    elif library is not None:  # a number that is computed later
        return total if kind is complex else np.real(total)
    if kind is float:
        return float(total.real)
    return complex(total) if kind is complex else total


def broadcast_like(dx: Any, like: Any) -> Any:
    """A tangent broadcast to the shape, and cast to the dtype, of the result `like` that it belongs to;
    containers element by element.
    """
    try:
        shape, dtype = like.shape, like.dtype
    except AttributeError:
        if dx is None or like is None or isinstance(like, (str, bytes)):
            return None
        refuse_operators(like)
        return _unbroadcast_number(dx, like) if _is_number(like) else _mirror_pair(broadcast_like, dx, like)
    try:
        if dx.shape == shape and dx.dtype == dtype and (type(dx) is type(like) or is_alike(dx, like)):
            return dx
    except AttributeError:
        check_number(dx)
    refuse_others(dx, like)
    return _filled(like, dx) if np.shape(dx) != shape else _cast(dx, dtype, like)


class Like(NamedTuple):
    """The shape and dtype of an array: all that `unbroadcast` needs, so a trace holds this and not the array.
    For an array of another library also an empty one, to make arrays like it.
    """

    shape: tuple[int, ...]
    dtype: Any
    empty: Any = None


OUTLINES.add(Like)


def like(x: Any) -> Any:
    """The shape and dtype of an array; None for None, the value on a path that binds no array. An array that
    is not computed yet stays itself: it holds no more than that.
    """
    if type(x) is np.ndarray:
        return Like(x.shape, x.dtype)
    if is_lazy(x):
        return x
    return None if x is None else Like(x.shape, x.dtype, np.empty_like(x, shape=(0,)))


def zeros_of(like: Any) -> Any:
    """The zero adjoint of the array that a `Like` was made of."""
    if type(like) is not Like:
        return np.zeros_like(like)
    if like.empty is None:
        return np.zeros(like.shape, like.dtype)
    return np.zeros_like(like.empty, shape=like.shape)


def unreduce(dout: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The cotangent of a sum over `axis` of `x`, repeated along that axis: a new array like `x`."""
    if not hasattr(x, "shape"):
        return _unbroadcast_number(dout, x)
    if axis is not None and not keepdims and x.shape:
        dout = np.expand_dims(dout, axis)
    return _filled(x, dout)


def _filled(like: Any, value: Any) -> Any:
    """A new array like `like` (of its dtype, if that carries derivatives) that holds `value`, broadcast."""
    dtype = like.dtype
    if dtype.kind not in FLOATING:
        dtype = np.result_type(value)
    if dtype.kind == "f":
        value = np.real(value)
    zeros = _zeros_of_library(like, dtype)
    if zeros is not None:
        return (zeros + value).astype(dtype, copy=False)
    if isinstance(like, Like):
        filled = np.empty_like(value, dtype=dtype, shape=like.shape)
    else:
        filled = np.empty_like(like, dtype=dtype)
    if not isinstance(like, np.generic):
        filled[...] = value
        return filled
    return dtype.type(value)


def _zeros_of_library(like: Any, dtype: Any) -> Any:
    """A new array of zeros like one of another library; None for NumPy's and for numbers."""
    if isinstance(like, Like):
        return None if like.empty is None else np.zeros_like(like.empty, shape=like.shape, dtype=dtype)
    return None if library_of(like) is None else np.zeros_like(like, dtype=dtype)


def _cast(dx: Any, dtype: Any, x: Any) -> Any:
    """`dx` of the shape of `x`, in the dtype given: a scalar if `x` is one."""
    if dtype.kind not in FLOATING:
        return dx
    if dtype.kind == "f":
        dx = np.real(dx)
    if isinstance(x, np.generic) and not is_lazy(dx):
        return dtype.type(dx if library_of(dx) is None else complex(dx) if dtype.kind == "c" else float(dx))
    if library_of(dx) is None and (zeros := _zeros_of_library(x, dtype)) is not None:
        return zeros + dtype.type(dx)
    return dx.astype(dtype, copy=False) if hasattr(dx, "astype") else np.asarray(dx, dtype=dtype)


def is_alike(dx: Any, x: Any) -> bool:
    """Whether an adjoint is of the library of its value, or both are NumPy's or numbers."""
    return library_of(dx) == library_of(_array_of(x))


def _array_of(x: Any) -> Any:
    """The empty array in a `Like` of another library; other values as they are."""
    return x.empty if type(x) is Like else x


def refuse_others(dx: Any, x: Any) -> None:
    """Raises NonDifferentiableError for an adjoint of another library than its value; either may be a number,
    where the other is an array.
    """
    library, other = library_of(dx), library_of(_array_of(x))
    if library == other or (library is None and np.ndim(dx) == 0):
        return
    is_number = not isinstance(x, (np.ndarray, Like))
    if library is not None and other is None and is_number:
        return
    raise NonDifferentiableError(
        f"the gradient of a value of type {type(x).__name__} is computed as {type(dx).__name__}",
        why="arrays are not converted between libraries, nor computed before they are asked for",
        instead="pass all arrays and numbers that carry a derivative as arrays of one library",
    )


def _is_number(x: Any) -> bool:
    return isinstance(x, (float, complex, int)) or has_dtype(x)


def check_number(x: Any) -> None:
    """Raises NonDifferentiableError for a value that is neither a number nor an array."""
    if _is_number(x):
        return
    raise NonDifferentiableError(
        f"a derivative of numbers or arrays was asked of a value of type {type(x).__name__}",
        why="only floats, complex numbers and arrays of them are operands of differentiated arithmetic",
        instead="convert containers with np.array, or compute on their elements",
    )


def refuse_operators(x: Any) -> None:
    """Raises for an object with operators of its own: applied to tangents, they do not give tangents."""
    if has_operators(type(x)):
        check_number(x)


# ---------------------------------------------------------------- structures


def _mirror(f: Callable[[Any], Any], x: Any) -> Any:
    """The container `x` with `f` applied to each element, a list for a deque and for a view of a dict; None
    for other values.
    """
    match x:
        case tuple():
            items = [f(v) for v in x]
            return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
        case list() | deque() | ValuesView() | ItemsView():
            return [f(v) for v in x]
        case dict():
            return dict_like(x, {k: f(v) for k, v in x.items()})
    return _mirror_object(f, x) if is_mirrored(x) else None


_open = threading.local()  # `around` are the objects whose attributes are looked at


def _mirror_object(f: Callable[[Any], Any], x: Any) -> Any:
    """The adjoint of an object, from `f` of each attribute; None where all attributes are inactive, and for
    an object inside of itself.
    """
    around = _open.__dict__.setdefault("around", set())
    if id(x) in around:
        return None
    around.add(id(x))
    try:
        values = {name: f(v) for name, v in fields_of(x).items()}
    finally:
        around.discard(id(x))
    return None if all(v is None for v in values.values()) else mirror(x, values)


def _mirror_pair(f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Like `_mirror`, for two containers of the same structure."""
    match a, b:
        case (list(), list()) | (tuple(), tuple()) if len(a) == len(b):
            items = [f(x, y) for x, y in zip(a, b, strict=True)]
            if isinstance(b, list):
                return items
            return type(b)._make(items) if hasattr(b, "_make") else tuple(items)
        case dict(), dict():
            return dict_like(b, {k: f(a.get(k), b.get(k)) for k in {**a, **b}})
    if is_plain(type(a)) and is_plain(type(b)):
        left, right = fields_of(a), fields_of(b)
        return mirror(b, {k: f(left.get(k), right.get(k)) for k in {**left, **right}})
    check_number(a)
    check_number(b)
    raise NonDifferentiableError(
        f"adjoints of different structures: {type(a).__name__} and {type(b).__name__}",
        why="the adjoint of a value has the value's own structure",
    )


def zeros_like(x: Any) -> Any:
    """The zero adjoint of a value: the same structure, with floats for integers; None in the place of what is
    no number.
    """
    if type(x) is float:
        return 0.0
    if type(x) is Like or hasattr(type(x), "tocsr"):  # sparse matrices are constant
        return None
    if has_dtype(x):
        dtype = x.dtype
        if dtype.kind not in "fciub":
            return None
        if isinstance(x, np.generic):
            return x.dtype.type(0) if dtype.kind in FLOATING else 0.0
        if dtype.kind not in FLOATING:  # small integers are to widen no floats that they meet
            dtype = np.result_type(dtype, np.float32)
        return np.zeros_like(x, dtype=dtype)
    if isinstance(x, (int, float, complex)):
        return 0j if isinstance(x, complex) else 0.0
    if type(x) is Adjoints:
        return Adjoints()
    empty = getattr(type(x), "empty_adjoint", None)  # of a table of the heap's adjoints
    return _mirror(zeros_like, x) if empty is None else empty(x)


def copy_adjoint(x: Any) -> Any:
    """A copy of an adjoint that shares nothing with it."""
    return x.copy() if isinstance(x, np.ndarray) else _copied(x)


def _copied(x: Any) -> Any:
    if has_dtype(x):
        return x if isinstance(x, np.generic) else x.copy()
    mirrored = _mirror(copy_adjoint, x)
    return x if mirrored is None else mirrored


def add(a: Any, b: Any) -> Any:
    """The sum of two adjoints of one value; None is zero. The result may be one of them."""
    if a is None:
        return b
    if b is None:
        return a
    if type(a) is np.ndarray or type(a) is float:
        check_number(b)
        return a + b
    if _is_number(a) and _is_number(b):
        return a + b
    plus = getattr(type(a), "plus_adjoint", None)
    return _mirror_pair(add, a, b) if plus is None else plus(a, b, add)


def add_at(da: Any, index: Any, v: Any) -> Any:
    """Adds `v` to `da[index]` in place and returns `da`; for a tuple, which cannot change, a new one."""
    if isinstance(da, np.ndarray):
        if v is None:
            return da
        if _repeats(index):
            np.add.at(da, index, v)
        else:
            da[index] += v
        return da
    match da:
        case list() if isinstance(index, slice) and v is None:
            return da
        case list() if isinstance(index, slice):
            for i, dv in zip(range(*index.indices(len(da))), v, strict=True):
                da[i] = add(da[i], dv)
        case list():
            da[index] = add(da[index], v)
        case dict():
            da[index] = add(da[index], v)
        case tuple():
            items = add_at(list(da), index, v)
            return type(da)._make(items) if hasattr(da, "_make") else tuple(items)
        case _ if v is None:
            return da
        case float() | complex() | np.generic() if _has_no_axes(index):  # of a number: `x[None]`
            return unbroadcast(v, da) + da
        case _ if has_dtype(da):  # an array of another library
            refuse_repeats(da, index)
            da[index] += v
        case _:
            raise NonDifferentiableError(
                "an element with a derivative was read from a value that carries none",
                why="it is neither an array of numbers nor a container: an array of objects, perhaps",
                instead="use a list, or an array of floats",
            )
    return da


def _has_no_axes(index: Any) -> bool:
    """Whether an index picks nothing, as `()`, `None` and `...` do."""
    return index is None or index is ... or (isinstance(index, tuple) and all(map(_has_no_axes, index)))


def _repeats(index: Any) -> bool:
    """Whether an index may name one element twice, as arrays and sequences of integers can."""
    return any(map(_is_list, index)) if isinstance(index, tuple) else _is_list(index)


def _is_list(index: Any) -> bool:
    """Whether a part of an index names places one by one."""
    if index is None or index is Ellipsis or isinstance(index, (int, slice, range, np.integer)):
        return False
    shape = getattr(index, "shape", None)
    if shape is None:
        index = np.asarray(index)
        shape = index.shape
    return len(shape) > 0 and np.dtype(index.dtype).kind != "b"


def refuse_repeats(x: Any, index: Any) -> None:
    """Raises for places in an array of another library that may be one place: which value of several stays
    there, and what of their sum, is that library's to say.
    """
    if not isinstance(x, np.ndarray) and _repeats(index):
        raise NonDifferentiableError(
            f"elements of an array of type {type(x).__name__} are read or written by a list of indices",
            why="an index may be there twice: only of NumPy's arrays it is known what becomes of sums then",
            instead="index by integers, slices or a mask; or use NumPy's arrays",
        )


def take_at(da: Any, index: Any, v: Any) -> Any:
    """What the adjoint `da` holds at `index`, as the adjoint of a value `v` that was added there: a copy."""
    return conform(copy_adjoint(da[index]), v)


def take_stored(da: Any, index: Any, v: Any) -> Any:
    """What the adjoint `da` holds at `index`, as the adjoint of a value `v` that was stored there.

    Of the values that are stored into one element, all but the last are lost: their adjoint is zero.
    """
    if not _repeats(index):
        return take_at(da, index, v)
    refuse_repeats(da, index)
    taken = da[index]
    numbers = np.arange(taken.size).reshape(taken.shape)
    last = np.empty_like(da, dtype=numbers.dtype)
    last[index] = numbers
    return conform(np.where(last[index] == numbers, taken, 0), v)


def stored_alone(da: Any, index: Any, v: Any) -> Any:
    """Zeros like `da` into which `v` was stored at `index`."""
    refuse_repeats(da, index)
    stored = zeros_like(da)
    stored[index] = v
    return stored


def conform(dx: Any, x: Any) -> Any:
    """The cotangent of a sum that `x` took part in, as an adjoint of `x`: `unbroadcast`, also in
    containers.
    """
    if x is None or dx is None:
        return None
    if hasattr(type(dx), "plus_adjoint"):  # a table, whose entries are those of their own values
        return dx
    return unbroadcast(dx, x) if _is_number(x) else _mirror_pair(conform, dx, x)


# ---------------------------------------------------------------- results


def unit_cotangent(out: Any) -> Any:
    """The cotangent 1.0 of a result that is a real number, or an array of one; what else a function returns
    has no gradient.
    """
    if type(out) is float:
        return 1.0
    dtype = getattr(out, "dtype", None) or (np.asarray(out).dtype if _is_number(out) else None)
    kind = getattr(dtype, "kind", "")
    if kind == "f" and math.prod(np.shape(out)) == 1:
        return np.ones_like(out)[()]
    shown, instead = f"a value of type {_type_name(out)}", "return one number, or use vjp"
    if kind == "f":
        shown = f"an array of shape {np.shape(out)}"
        instead = "reduce it to one number, or use jacobian or vjp"
    elif kind == "c":
        shown = f"a complex value of type {_type_name(out)}"
        instead = "take a real function of it, such as np.abs, or use vjp: it multiplies by f'(x) as it is"
    elif kind in ("i", "u", "b"):
        instead = "return a float: integers and booleans carry no derivative"
    elif out is None:
        shown, instead = "None", "end it, on every path, with `return` and one number"
    raise NonDifferentiableError(
        f"the function returned {shown}", why="a gradient is that of one real number", instead=instead
    )


def _type_name(x: Any) -> str:
    return str(x.dtype) if has_dtype(x) else type(x).__name__


def stop_gradient(x: Any) -> Any:
    """The argument itself, as a constant to derivatives.

    >>> s2sad.grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return x
