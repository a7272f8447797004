"""The kind of a primitive's result: what `find_kinds` asks for at every call.

Contract: `call_kind` contains every result that the call may return when it succeeds. Elementwise functions
follow the rules of broadcasting, functions of sizes and of containers their own; others are run on stand-ins.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from . import runtime, updates
from .conversions import dict_copy, dict_get, dict_items, dict_values
from .kind_broadcasting import ELEMENTWISE, elementwise_kind
from .kind_execution import execute
from .kind_sizes import SIZED, sized_kind
from .kind_structure import adjoint_kind, attribute_kind, element_kind, size_of
from .kinds import (
    UNKNOWN,
    Array,
    Dict,
    Kind,
    Likeness,
    List,
    Literal,
    Nothing,
    Numeric,
    Record,
    Scalar,
    Sparse,
    Sym,
    Tuple,
    join,
    join_all,
    widen,
)
from .rules.methods import compress_method, reshape_method, to_list
from .rules.places import at_mask
from .sparse import kind_with_sparse, makes_sparse

__all__ = ["call_kind"]

Function = Callable[..., Any]

_IN_PLACE = {
    getattr(operator, f"i{name}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")
}
_IN_PLACE |= {operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor}
_ALWAYS_BOOL = frozenset(
    {
        operator.is_,
        operator.is_not,
        operator.not_,
        operator.contains,
        operator.truth,
        isinstance,
        issubclass,
        callable,
        hasattr,
        all,
        any,
        np.isscalar,
    }
)
# Functions that return what they were given, or something just like it, when that is an array.
_LIKE_ARRAY: dict[Any, int] = {
    np.zeros_like: 0,
    np.ones_like: 0,
    np.empty_like: 0,
    np.copy: 0,
    runtime.copy_adjoint: 0,
    runtime.add_at: 0,
    runtime.take_at: 2,
    runtime.take_stored: 2,
    updates.own_tangent: 0,
    runtime.unbroadcast: 1,
    runtime.conform: 1,
    runtime.broadcast_like: 1,
    runtime.unreduce: 1,
}

_MIRRORING = frozenset({runtime.zeros_like, runtime.copy_adjoint, runtime.add_at})
_OF_NUMBERS = frozenset({runtime.unbroadcast, runtime.conform, runtime.take_at, runtime.take_stored})

# Functions whose result's shape and dtype do not depend on the values of their first n arguments.
_ALL = 99
_DATA: dict[Any, int] = dict.fromkeys(
    (
        np.sum,
        np.mean,
        np.prod,
        np.max,
        np.min,
        np.any,
        np.all,
        np.std,
        np.var,
        np.argmax,
        np.argmin,
        np.cumsum,
        np.cumprod,
        np.nansum,
        np.median,
        np.transpose,
        np.ravel,
        np.squeeze,
        np.expand_dims,
        np.swapaxes,
        np.moveaxis,
        np.concatenate,
        np.stack,
        np.vstack,
        np.hstack,
        np.dstack,
        np.column_stack,
        np.copy,
        np.array,
        np.asarray,
        np.ascontiguousarray,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.flip,
        np.fliplr,
        np.flipud,
        np.sort,
        np.argsort,
        np.diag,
        np.diagonal,
        np.trace,
        np.tril,
        np.triu,
        np.diff,
        np.atleast_1d,
        np.atleast_2d,
        np.atleast_3d,
        np.real,
        np.imag,
        np.count_nonzero,
        np.linalg.norm,
        np.ptp,
    ),
    1,
)
_DATA |= dict.fromkeys(
    (
        np.dot,
        np.matmul,
        operator.matmul,
        np.vdot,
        np.inner,
        np.outer,
        np.tensordot,
        np.kron,
        np.full_like,
        np.roll,
        np.take,
        np.round,
        np.around,
        np.searchsorted,
        np.array_equal,
        np.append,
        np.linalg.solve,
    ),
    2,
)
_DATA |= dict.fromkeys((np.interp, np.einsum, np.isclose, np.allclose), _ALL)
# Functions whose result's shape or dtype depends on values, even on those of floats: nothing is said of them.
_VALUE_DEPENDENT = frozenset(
    {
        np.nonzero,
        np.flatnonzero,
        np.argwhere,
        np.extract,
        np.compress,
        np.trim_zeros,
        np.unique,
        np.union1d,
        np.intersect1d,
        np.setdiff1d,
        np.setxor1d,
        np.roots,
        np.poly,
        np.polyadd,
        np.polysub,
        np.polymul,
        np.polydiv,
        np.real_if_close,
        np.linalg.eig,
        np.linalg.eigvals,
        np.linalg.lstsq,
        np.repeat,
        np.histogram,
        np.histogram_bin_edges,
        np.histogram2d,
        np.histogramdd,
        np.select,
        np.piecewise,
        np.where,
        np.hamming,
        np.hanning,
        np.bartlett,
        np.blackman,
        np.kaiser,
        np.ndarray.nonzero,
        np.ndarray.compress,
        np.ndarray.repeat,
        np.ndarray.item,
        np.ndarray.tolist,
        compress_method,
        to_list,
    }
)
_FULL_REDUCTIONS = frozenset(
    {
        np.sum,
        np.mean,
        np.prod,
        np.max,
        np.min,
        np.std,
        np.var,
        np.any,
        np.all,
        np.linalg.norm,
        np.median,
        np.nansum,
        np.count_nonzero,
    }
)
# Where functions live that look at nothing but the values of their arguments. Of SciPy, whose functions often
# return what depends on values, only ufuncs are run.
_MODULES = frozenset({"numpy", "numpy.linalg", "numpy.fft", "math", runtime.__name__})
_FUNCTION_TYPES = (FunctionType, BuiltinFunctionType, MethodDescriptorType, type(np.sum))
_PLAIN_TYPES = frozenset({float, int, bool, complex, *np.sctypeDict.values()})
_MAX_LITERAL = 64  # larger integers could ask for large results


def call_kind(
    function: Any,
    args: Sequence[Kind],
    keywords: Mapping[str, Kind],
    pure: Callable[[Any], bool],
) -> Kind:
    """The kind of `function(*args, **keywords)`. Only functions that `pure` allows are ever run.

    >>> call_kind(operator.mul, [Scalar("float"), Array("float64", (None,))], {}, lambda f: True)
    Array(dtype='float64', dims=(None,))
    """
    if any(isinstance(k, Nothing) for k in (*args, *keywords.values())):
        return UNKNOWN
    if any(isinstance(k, Sparse) for k in args) or makes_sparse(function):
        return kind_with_sparse(function, args)
    try:
        return _call_kind(function, tuple(args), tuple(keywords.items())) if pure(function) else UNKNOWN
    except TypeError:  # an object that does not hash
        return UNKNOWN


@lru_cache(maxsize=8192)
def _call_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function in _ALWAYS_BOOL:
        return Scalar("bool")
    if function in SIZED:
        return sized_kind(function, args, dict(keywords), _executed_kind)
    if not keywords:
        found = _structural_kind(function, args)
        if found is not None:
            return found
        if function in _IN_PLACE:
            return args[0] if isinstance(args[0], Array) else _call_kind(_IN_PLACE[function], args, ())
        if _is_elementwise(function, len(args)):
            return elementwise_kind(function, args)
    return _executed_kind(function, args, keywords)


def _is_elementwise(function: Any, count: int) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None and count == function.nin
    return function in ELEMENTWISE and (function is not np.where or count == 3)


def _structural_kind(function: Any, args: tuple[Kind, ...]) -> Kind | None:
    """The kind that a function on containers, on sizes, or on arrays of any rank returns; None for others."""
    like = args[_LIKE_ARRAY[function]] if _LIKE_ARRAY.get(function, len(args)) < len(args) else None
    like = like.array if isinstance(like, Likeness) else like
    if isinstance(like, Array) and like.dtype is not None and like.dtype.startswith(("float", "complex")):
        return like
    if like == Scalar("float") and function in _OF_NUMBERS:
        return like
    match args:
        case [_, Array() as x] if function is updates.stored_in:
            return x
        case [Array() as x] if function is runtime.like:
            return Likeness(x)
        case [(Tuple() | List() | Dict()) as x, *_] if function in _MIRRORING:
            return adjoint_kind(x)
        case [Array(_, dims), Array(dtype)] if function is updates.cast_like:
            return Array(dtype, dims)
        case [_, Array(_, dims)] if function is updates.mask_like:
            return Array("bool", dims)
        case [Array(dtype), _] if function is at_mask:
            return Array(dtype, (None,))
        case [Array() as x, *shape] if function is reshape_method and shape:
            lengths = shape[0] if len(shape) == 1 else Tuple(tuple(shape))
            return sized_kind(np.reshape, (x, lengths), {}, execute)
        case [Array(_, tuple((first, *_)))] if function is len:
            return size_of(first)
        case [Tuple(items)] if function is len:
            return Literal(len(items))
        case [_] if function is len:
            return Scalar("int")
        case [Record(cls)] if function is type:
            return Literal(cls)
        case [Array()] if function in (np.shape, np.size, np.ndim):
            return attribute_kind(args[0], function.__name__)
        case [Scalar("int", Sym() as size), Literal(int() as n)] if function in (operator.add, operator.sub):
            return _moved(size, n if function is operator.add else -n)
        case [Tuple(xs), Tuple(ys)] if function in (operator.add, operator.iadd, operator.concat):
            return Tuple(xs + ys)
        case [List(_, x), List(_, y)] if function in (operator.add, operator.iadd, operator.concat):
            return List(None, join(x, y))
        case [List(_, x), (Scalar("int") | Literal(int()))] if function in (operator.mul, operator.imul):
            return List(None, x)
        case [Tuple(items)] if function is tuple:
            return Tuple(items)
        case [Dict(pairs)] if function is dict_items:
            values = join_all([v for _, v in pairs]) if pairs else UNKNOWN
            return List(None, Tuple((element_kind(args[0]), values)))
        case [Dict(pairs)] if function is dict_values:
            return List(None, join_all([v for _, v in pairs]) if pairs else UNKNOWN)
        case [Dict() as x] if function in (dict, dict_copy):
            return x
        case [Dict(pairs), Literal(key), *_] if function is dict_get and key in dict(pairs):
            return next(kind for k, kind in pairs if k == key)
        case [x] if function in (list, sorted):
            return List(None, element_kind(x))
        case [x] if function is sum:
            return _summed(x)
        case _ if function in (max, min):
            return _chosen(args)
        case [Array(dtype, None)] if function in _FULL_REDUCTIONS:
            return _call_kind(function, (Array(dtype, (Sym("any", 0, True),)),), ())
        case [Numeric()] if function in _FULL_REDUCTIONS:
            return Scalar("number")
        case [(Literal() | Scalar()), (Literal() | Scalar())] if function in (operator.eq, operator.ne):
            return Scalar("bool")
    return None


def _moved(size: Sym, by: int) -> Kind:
    """The int `n + by` where `n` is a length."""
    if by > 0 and size.offset < 0:
        return Scalar("int")
    return Scalar("int", Sym(size.name, size.offset + by, size.offset + by >= 2))


def _summed(kind: Kind) -> Kind:
    """`sum(values)`: 0, to which one value after the other is added."""
    zero: Kind = Literal(0)
    if isinstance(kind, Tuple):
        return reduce(lambda a, b: _call_kind(operator.add, (a, b), ()), kind.items, zero)
    element, total = element_kind(kind), zero
    for _ in range(6):
        larger = join(total, _call_kind(operator.add, (total, element), ()))
        if larger is total:
            return total
        total = larger
    return UNKNOWN


def _chosen(args: tuple[Kind, ...]) -> Kind:
    """Python's `max` and `min` return one of their arguments, or an element of the only one."""
    kinds = [element_kind(args[0])] if len(args) == 1 else args
    return join_all(kinds) if all(isinstance(widen(k), (Scalar, Numeric)) for k in kinds) else UNKNOWN


def _executed_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function in _VALUE_DEPENDENT or not _is_known(function) or {"out", "where"} & dict(keywords).keys():
        return UNKNOWN
    data = _ALL if isinstance(function, (type, np.ufunc)) else _DATA.get(function, 0)
    if all(_is_harmless(k) for k in args[:data]) and all(
        _is_settled(k) for k in [*args[data:], *(k for _, k in keywords)]
    ):
        return execute(function, args, keywords)
    return UNKNOWN


def _is_known(function: Any) -> bool:
    """Whether a function is of a library that is known to look at nothing but its arguments' values."""
    if isinstance(function, np.ufunc):
        return any("O" not in signature for signature in function.types)  # others call Python functions
    if isinstance(function, type):
        return issubclass(function, np.generic)
    if not isinstance(function, _FUNCTION_TYPES):
        return False
    if function in (round, operator.matmul) or getattr(function, "__objclass__", None) is np.ndarray:
        return True
    module = getattr(function, "__module__", None) or ""
    return module in _MODULES or module.startswith(f"{__package__}.rules.")


def _is_harmless(kind: Kind) -> bool:
    """Whether a stand-in can be made that calls nothing."""
    match kind:
        case Literal(value):
            return not callable(value) or (isinstance(value, type) and value in _PLAIN_TYPES)
        case Tuple(items) | List(tuple() as items, _):
            return all(map(_is_harmless, items))
        case List(_, element):
            return _is_harmless(element)
        case Dict(pairs):
            return all(_is_harmless(k) for _, k in pairs)
    return isinstance(kind, (Scalar, Array))


def _is_settled(kind: Kind) -> bool:
    """Whether the kind leaves no integer or truth value open, which could be an axis, a count or an index."""
    match kind:
        case Literal(int() as n):
            return abs(n) <= _MAX_LITERAL
        case Scalar(dtype) | Array(dtype):
            return dtype is not None and dtype.startswith(("float", "complex", "longdouble", "clongdouble"))
        case Tuple(items) | List(tuple() as items, _):
            return all(map(_is_settled, items))
        case List(_, element):
            return _is_settled(element)
        case Dict(pairs):
            return all(_is_settled(k) for _, k in pairs)
    return _is_harmless(kind)
