"""Data as Python expressions that make it again, to the last bit.

Contract: the expression reads `np` and builtins alone; None where there is no such expression.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["literal"]

MAX_NUMBERS = 10_000  # in one array or container


def literal(value: Any) -> str | None:
    """The expression for a value: a number, a text, an array of numbers, a container of these.

    >>> literal((1.0, float("inf"), np.array([1, 2])))
    "(1.0, float('inf'), np.array([1, 2], dtype='int64'))"
    """
    try:
        return _literal(value, MAX_NUMBERS, ())
    except _NoLiteral:
        return None


class _NoLiteral(Exception):
    """The value has no expression."""


def _literal(value: Any, limit: int, around: tuple[int, ...]) -> str:
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if kind is complex:
        return f"complex({_literal(value.real, 1, ())}, {_literal(value.imag, 1, ())})"
    if isinstance(value, np.dtype):
        return f"np.dtype({value.str!r})" if value.names is None and not value.hasobject else _refuse()
    if kind is np.ndarray or (isinstance(value, np.generic) and value.dtype.kind in "biufc"):
        return _array(value, limit)
    if kind in (range, slice):
        parts = (value.start, value.stop, value.step)
        return f"{kind.__name__}({', '.join(_literal(v, limit, around) for v in parts)})"
    if kind not in (tuple, list, dict, set, frozenset) or id(value) in around or len(value) > limit:
        _refuse()
    return _container(kind, value, limit, (*around, id(value)))


def _container(kind: type, value: Any, limit: int, around: tuple[int, ...]) -> str:
    if kind is dict:
        pairs = value.items()
        texts = [f"{_literal(k, limit, around)}: {_literal(v, limit, around)}" for k, v in pairs]
        return f"{{{', '.join(texts)}}}"
    texts = [_literal(v, limit, around) for v in value]
    if kind in (set, frozenset):
        inner = f"{{{', '.join(sorted(texts))}}}" if texts else ""
        return f"{kind.__name__}({inner})" if kind is frozenset or not texts else inner
    listed = ", ".join(texts)
    if kind is list:
        return f"[{listed}]"
    return f"({listed},)" if len(texts) == 1 else f"({listed})"


def _array(value: Any, limit: int) -> str:
    dtype = value.dtype
    if dtype.kind not in "biufc" or dtype.name in ("longdouble", "clongdouble", "float128", "complex256"):
        _refuse()
    if value.size > limit:
        _refuse()
    name = dtype.name if dtype.isnative else dtype.str
    items = _literal(value.tolist(), limit, ())
    if isinstance(value, np.generic):
        return f"np.{dtype.name}({items})" if dtype.kind != "b" else f"np.bool_({items})"
    if value.size == 0:
        return f"np.zeros({value.shape}, dtype={name!r})"
    order = ", order='F'" if value.flags.f_contiguous and not value.flags.c_contiguous else ""
    return f"np.array({items}, dtype={name!r}{order})"


def _refuse() -> Any:
    raise _NoLiteral
