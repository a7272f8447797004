"""Decides which functions may be run on stand-ins to find the kind of their result.

Contract: a function is run only if it reads nothing but its arguments, and if the arguments that decide the
shape and dtype of its result are known; arguments that are only data may be of any value.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from ..primitives.record import fact, find_rule
from ..runtime import adjoints as runtime
from ..runtime import broadcasting
from ..runtime import builtin_reductions as sequences
from ..transforms.analyses.template_slots import differentiable_slots
from .abstract_eval import execute
from .lattice import UNKNOWN, Array, Dict, Kind, List, Literal, Scalar, Tuple

__all__ = ["executed_kind", "is_known"]

_ALL = 99
# The modules of functions that read nothing but their arguments. In SciPy the type of a result often depends
# on values: only ufuncs, distributions, and functions that are declared so are run.
_RULES = f"{__name__.partition('.')[0]}.rules."
_MODULES = frozenset({"numpy", "numpy.linalg", "numpy.fft", "math", "cmath", "scipy._lib._array_api"}) | {
    runtime.__name__,
    broadcasting.__name__,
    sequences.__name__,
}
_FUNCTION_TYPES = (FunctionType, BuiltinFunctionType, MethodDescriptorType, type(np.sum))
_PLAIN_TYPES = frozenset({float, int, bool, complex, *np.sctypeDict.values()})
_MAX_LITERAL = 64  # larger integers could ask for large results


def executed_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    """The kind of the result of a call that may be run on stand-ins; Unknown for other calls."""
    if not is_known(function) or {"out", "where"} & dict(keywords).keys():
        return UNKNOWN
    if function is np.take or function is np.ndarray.take:  # "wrap" on an axis of length 0 never ends
        keywords = tuple((k, Literal("clip") if k == "mode" else v) for k, v in keywords)
        args = args[:3]
    data = _ALL if isinstance(function, (type, np.ufunc)) else _data_of(function)
    if all(_is_harmless(k) for k in args[:data]) and all(
        _is_settled(k) for k in [*args[data:], *(k for _, k in keywords)]
    ):
        return execute(function, args, keywords)
    return UNKNOWN


@lru_cache(maxsize=1024)
def _data_of(function: Any) -> int:
    """The number of leading arguments whose values do not affect the result's shape and dtype."""
    count, rule = fact(function, "data"), find_rule(function)
    if count is not None or rule is None:
        return count or 0
    slots = differentiable_slots(rule.template)
    leading = next(k for k in range(len(slots) + 1) if k not in slots)
    return _ALL if leading > rule.template.positional else leading


def is_known(function: Any) -> bool:
    """Whether a function reads nothing but its arguments, and its result's shape and dtype do not depend on
    data.
    """
    runs: bool | None = fact(function, "runs")
    if runs is not None:
        return runs
    if isinstance(function, np.ufunc):
        return any("O" not in signature for signature in function.types)  # others call Python functions
    if isinstance(function, type):
        return issubclass(function, np.generic)
    if function in (round, operator.matmul) or getattr(function, "__objclass__", None) is np.ndarray:
        return True
    module = getattr(function, "__module__", None) or ""
    if module.startswith(("scipy.stats", "scipy.special")):
        return find_rule(function) is not None
    return isinstance(function, _FUNCTION_TYPES) and (module in _MODULES or module.startswith(_RULES))


def _is_harmless(kind: Kind) -> bool:
    """Whether a stand-in can be made without calls of user code."""
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
    """Whether the kind has no unknown integer or boolean, which could be an axis, a count or an index."""
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
