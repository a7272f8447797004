"""The kinds of results of elementwise functions: operators, ufuncs, `np.where`, functions of numbers.

Contract: as in result_kinds. The dtype is that of results for arrays of one element; the lengths follow from
the rules of broadcasting; functions of scalars are tried on several values, since Python's `**` depends on
them.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Sequence
from functools import reduce
from itertools import product, zip_longest
from typing import Any

import numpy as np

from ..runtime.real_power import real_power
from .abstract_eval import quietly, stand_ins
from .abstraction import kind_of
from .join import join_all
from .lattice import NUMERIC, UNKNOWN, Array, Dim, Kind, Literal, Numeric, Scalar, Sym, Tuple, widen

__all__ = ["CROSSING", "ELEMENTWISE", "broadcast_dims", "cross_kind", "elementwise_kind"]

CROSSING = frozenset({np.cross, np.linalg.cross})  # functions of vectors with two or three components

_CONVERSIONS = frozenset({float, int, bool, complex}) | {
    f
    for name, f in [*vars(math).items(), *vars(cmath).items()]
    if callable(f) and name not in ("fsum", "prod", "dist", "sumprod")
}
ELEMENTWISE: frozenset[Any] = _CONVERSIONS | {
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    real_power,
    operator.lshift,
    operator.rshift,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.neg,
    operator.pos,
    operator.abs,
    operator.invert,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    np.where,
    np.clip,
    abs,
    pow,
    round,
    divmod,
}
# Functions that would take long for large integers.
_GROWING = frozenset(
    {
        operator.pow,
        real_power,
        operator.lshift,
        pow,
        np.power,
        np.left_shift,
        math.pow,
        math.ldexp,
        np.ldexp,
        math.factorial,
        math.comb,
        math.perm,
    }
)
_VALUES: dict[str, tuple[Any, ...]] = {
    "f": (0.5, -1.5, 0.0, 2.0),
    "i": (2, 0, -3),
    "u": (2, 0),
    "b": (True, False),
    "c": (0.5 + 1j, -2.0 + 0j),
}
_MAX_TRIALS = 1024


def elementwise_kind(function: Any, args: tuple[Kind, ...]) -> Kind:
    """The kind of `function(*args)`, where all arguments are broadcast."""
    scalars = tuple(Scalar("number") if isinstance(k, Numeric) else k for k in args)
    if scalars != args:
        made = elementwise_kind(function, scalars)
        return made if function in _CONVERSIONS else _loosened(made)
    match args:
        case [Array(_, dims), *others] if function is np.where:  # which asks only whether it is zero
            args = (Array("bool", dims), *others)
        case [Scalar(), *others] if function is np.where:
            args = (Scalar("bool"), *others)
    arrays = [k for k in args if isinstance(k, Array)]
    trials = _trials(function, args)
    if trials is None:
        return UNKNOWN
    results = []
    with quietly():
        for values in trials:
            try:
                results.append(function(*values))
            except Exception:  # undefined for these values
                continue
    return _common(results, arrays, any(map(_is_open, args)) and function not in _CONVERSIONS)


def _is_open(kind: Kind) -> bool:
    """Whether the kind has so many dtypes that not all were tried."""
    return isinstance(kind, (Scalar, Array)) and kind.dtype in ("number", None)


def _loosened(kind: Kind) -> Kind:
    """The kind of a result where an argument that was tried as a scalar may also be an array."""
    match kind:
        case Tuple(items):
            return Tuple(tuple(map(_loosened, items)))
        case Scalar() | Numeric():
            return NUMERIC
        case Array(_, tuple(dims)) if dims:
            return Array(None, None)
        case Array():
            return NUMERIC
    return UNKNOWN


def _trials(function: Any, args: tuple[Kind, ...]) -> list[tuple[Any, ...]] | None:
    choices = [_choices(function, k) for k in args]
    if not all(choices):
        return None
    if math.prod(map(len, choices)) > _MAX_TRIALS:
        choices = [c[::2] if len(c) > 4 else c for c in choices]
    return list(product(*choices)) if math.prod(map(len, choices)) <= _MAX_TRIALS else None


def _choices(function: Any, kind: Kind) -> list[Any]:
    """Values of the kind to try; none for a kind that is no operand."""
    match kind:
        case Literal(int() as n) if function in _GROWING and abs(n) > 64:
            return _choices(function, widen(kind))
        case Literal(value) if value is None or isinstance(value, (int, float, complex)):
            return [value]
        case Scalar():
            return [t(v) for t in stand_ins(kind) for v in _VALUES[np.dtype(t).kind]]
        case Array(_, dims):
            rank = 1 if dims is None else len(dims)
            return [np.ones((1,) * rank, dtype) for dtype in stand_ins(kind)]
    return []


def _common(results: Sequence[Any], arrays: Sequence[Array], open_dtype: bool) -> Kind:
    types = set(map(type, results))
    if types == {tuple}:
        return Tuple(tuple(_common(column, arrays, open_dtype) for column in zip(*results, strict=True)))
    if types == {np.ndarray}:
        dtypes = {r.dtype.name for r in results}
        if not all(r.dtype.kind in "biufc" for r in results):
            return UNKNOWN
        dtype = dtypes.pop() if len(dtypes) == 1 and (not open_dtype or dtypes == {"bool"}) else None
        if any(k.dims is None for k in arrays):
            return Array(dtype, None) if any(k.dims for k in arrays) else NUMERIC
        return Array(dtype, broadcast_dims([k.dims for k in arrays if k.dims is not None]))
    kinds = [kind_of(r, "") for r in results]
    if not kinds or not all(isinstance(k, (Scalar, Array)) for k in kinds):
        return UNKNOWN
    made = join_all(kinds)
    if isinstance(made, Scalar) and open_dtype and made.dtype != "bool":
        return Scalar("number")
    return made


def broadcast_dims(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """The lengths of the result of broadcasting that has succeeded.

    >>> broadcast_dims([(None, 1), (Sym("n", 0, True),)])
    (None, Sym(name='n', offset=0, not_one=True, large=False))
    """
    columns = zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    return tuple(reduce(_broadcast, column) for column in columns)[::-1]


def _broadcast(a: Dim, b: Dim) -> Dim:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    # a length that is not one is the result's: the other one is equal to it or one
    return next((d for d in (a, b) if isinstance(d, Sym) and d.not_one), None)


def cross_kind(args: tuple[Kind, ...]) -> Kind:
    """The kind of a cross product; unknown unless the vectors of one operand surely have three components:
    else it may have an axis less.

    >>> cross_kind((Array("float64", (None, Sym("=3", 0, True))), Array("float64", (Sym("n"),))))
    Array(dtype='float64', dims=(None, Sym(name='=3', offset=0, not_one=True, large=False)))
    """
    match args:
        case Array(first, tuple(a)), Array(second, tuple(b)) if a and b:
            three = next((dim for dim in (a[-1], b[-1]) if isinstance(dim, Sym) and dim.number == 3), None)
            if three is not None:
                spatial = Array(first, (*a[:-1], three)), Array(second, (*b[:-1], three))
                return elementwise_kind(np.multiply, spatial)
    return UNKNOWN
