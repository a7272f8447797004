"""Which functions may be run on stand-ins, and with which arguments, to learn the kind of what they return.

A function is run when it is of a library that is known to look at nothing but the values of its arguments,
and when what decides the shape and dtype of its result is known: arguments that are only data may be any.
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from ..rules.index_tricks import columns, rows
from ..rules.methods import compress_method, to_list
from ..runtime import adjoints as runtime
from ..runtime import builtin_reductions as sequences
from .abstract_eval import execute
from .lattice import UNKNOWN, Array, Dict, Kind, List, Literal, Scalar, Tuple
from .scipy_facts import has_known_shape

__all__ = ["executed_kind"]

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
_DATA |= dict.fromkeys((rows, columns, np.interp, np.einsum, np.isclose, np.allclose), _ALL)
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
# Where functions live that look at nothing but the values of their arguments. Of SciPy, whose functions often
# return what depends on values, only ufuncs and those that are listed are run.
_RULES = f"{__name__.partition('.')[0]}.rules."
_MODULES = frozenset({"numpy", "numpy.linalg", "numpy.fft", "math", "scipy._lib._array_api"}) | {
    runtime.__name__,
    sequences.__name__,
}
_FUNCTION_TYPES = (FunctionType, BuiltinFunctionType, MethodDescriptorType, type(np.sum))
_PLAIN_TYPES = frozenset({float, int, bool, complex, *np.sctypeDict.values()})
_MAX_LITERAL = 64  # larger integers could ask for large results


def executed_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    """The kind of a call that may be run on stand-ins; of any other it is unknown."""
    if function in _VALUE_DEPENDENT or not _is_known(function) or {"out", "where"} & dict(keywords).keys():
        return UNKNOWN
    if function is np.take or function is np.ndarray.take:  # "wrap" in an axis of length 0 never ends
        keywords = tuple((k, Literal("clip") if k == "mode" else v) for k, v in keywords)
        args = args[:3]
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
        return has_known_shape(function)
    if function in (round, operator.matmul) or getattr(function, "__objclass__", None) is np.ndarray:
        return True
    module = getattr(function, "__module__", None) or ""
    is_known = module in _MODULES or module.startswith(_RULES)
    return is_known or has_known_shape(function)


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
