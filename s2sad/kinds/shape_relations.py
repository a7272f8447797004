"""Relations of shapes that decide how a cotangent is unbroadcast and which zero starts an adjoint.

Contract: an answer other than the run-time guard holds for all values of the kinds, of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal as OneOf

from .lattice import (
    NOT_ONE,
    REALS,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    EnumMember,
    Foreign,
    Indices,
    Kind,
    Likeness,
    List,
    Literal,
    Nothing,
    Random,
    Record,
    Reference,
    Scalar,
    Set,
    Sparse,
    Sym,
    Text,
    Tuple,
    as_numpy,
    widen,
)

__all__ = [
    "UnbroadcastPlan",
    "ZeroPlan",
    "is_constant",
    "is_differentiable",
    "is_mask_of",
    "lends_shape",
    "may_misfit",
    "unbroadcast_plan",
    "zero_plan",
]

_ANY: frozenset[Dim] = frozenset({None})  # unknown lengths
UnbroadcastPlan = OneOf["none", "sum", "guard"] | tuple[OneOf["axes", "kept"], tuple[int, ...]]
ZeroPlan = OneOf["0.0", "array", "zeros_like"]


def unbroadcast_plan(x: Kind, out: Kind, others: Sequence[Kind] | None = None) -> UnbroadcastPlan:
    """How a cotangent of `out` becomes one of `x`, an operand of the elementwise operation with result `out`;
    `others` are the kinds of the other operands, if known.

    "none": it is one. "sum": its sum. ("axes", axes): the sum over these leading axes. ("kept", axes): the
    sum over these axes with keepdims. "guard": shapes are dynamic, `unbroadcast` compares them.

    >>> row, matrix = Array("float64", (Sym("n", 0, True),)), Array("float64", (None, Sym("n", 0, True)))
    >>> unbroadcast_plan(row, matrix)
    ('axes', (0,))
    """
    if isinstance(out, Foreign) and not isinstance(x, Foreign):
        return "guard"
    if isinstance(x, Foreign) and x.array.dims == () and isinstance(out, Foreign):  # a sum is an array, too
        if x.array.dtype != out.array.dtype or not _is_inexact(str(x.array.dtype)) or out.array.dims is None:
            return "guard"
        return "sum" if out.array.dims else "none"
    x, out = as_numpy(widen(x)), as_numpy(widen(out))
    match x, out:
        case Scalar(a), Scalar(b):
            same = a == b or (_is_python_real(a) and _is_python_real(b))
            return "none" if same and a != "number" else "guard"
        case Scalar(a), Array(b, _):
            # the gradient of a Python float is made of float64; a float32 sum would have to be converted
            same = (_is_python_real(a) and b == "float64") or (a == "complex" and b == "complex128")
            return "sum" if same or (a == b and _is_inexact(a)) else "guard"
        case Array(str(a), tuple(xs)), Array(b, tuple(outs)) if xs and a == b and _is_inexact(a):
            extra = len(outs) - len(xs)
            if _is_part(xs, outs, others):
                return ("axes", tuple(range(extra))) if extra else "none"
            single = tuple(k for k, dim in enumerate(xs) if dim == 1)
            if extra == 0 and single and _is_part(_without(xs, single), _without(outs, single), None):
                return "kept", single
    return "guard"  # 0-d arrays too: results computed from them are no arrays


def lends_shape(x: Kind, out: Kind, others: Sequence[Kind]) -> bool:
    """Whether `x`, an operand of the elementwise operation with result `out`, is an array of the same shape.
    """
    match as_numpy(x), as_numpy(out):
        case Array(_, tuple(xs)), Array(_, tuple(outs)):
            return len(xs) == len(outs) > 0 and _is_part(xs, outs, others)
    return False


def may_misfit(kinds: Sequence[Kind], contracted: bool) -> bool:
    """Whether arrays of these kinds may have last axes of different lengths, of which broadcasting stretches
    none; `contracted` says that it stretches none, as they are the vectors of an inner product.
    """
    shapes = [k.dims for k in map(widen, kinds) if isinstance(k, Array) and k.dims]
    if len(shapes) != len(kinds):
        return False
    axes = list(zip(*(shape[::-1] for shape in shapes), strict=False))
    if not contracted and not all(isinstance(d, Sym) and d.not_one for axis in axes for d in axis):
        return False
    return any(d is None or d is NOT_ONE or d != axis[0] for axis in axes for d in axis[1:])


def _without(dims: tuple[Dim, ...], axes: tuple[int, ...]) -> tuple[Dim, ...]:
    return tuple(dim for k, dim in enumerate(dims) if k not in axes)


def _is_part(xs: tuple[Dim, ...], outs: tuple[Dim, ...], others: Sequence[Kind] | None) -> bool:
    """Whether the axes of an operand are the last ones of the result, none of them stretched."""
    extra = len(outs) - len(xs)
    return extra >= 0 and all(map(_is_unstretched, xs, outs[extra:], _lengths(others, len(outs))[extra:]))


def is_mask_of(mask: Kind, x: Kind) -> bool:
    """Whether `np.where(mask, 1.0, 0.0)` surely has the shape and dtype of an `x`."""
    match as_numpy(mask), as_numpy(x):
        case Array(_, tuple(masks)), Array("float64", tuple(xs)):
            return len(masks) == len(xs) and all(map(_is_unstretched, masks, xs))
    return False


def _is_unstretched(x: Dim, out: Dim, others: frozenset[Dim] = _ANY) -> bool:
    """Whether an axis of an operand is as long as the result's, given that the operation succeeded; `others`
    are the lengths of the axis in the other operands.
    """
    if (x is not None and x is out) or x == out == 1 or (isinstance(x, Sym) and x.not_one):
        return True
    return others <= {1} or (x is not None and others <= {1, x})


def _lengths(kinds: Sequence[Kind] | None, rank: int) -> list[frozenset[Dim]]:
    """For each axis of the broadcast result, the lengths that values of these kinds have there."""
    shapes: list[tuple[Dim, ...]] = []
    for kind in (UNKNOWN,) if kinds is None else map(widen, kinds):
        match as_numpy(kind):
            case Array(_, tuple(dims)):
                shapes.append((1,) * (rank - len(dims)) + dims)
            case Scalar():
                continue
            case _:
                return [_ANY] * rank
    return [frozenset(shape[axis] for shape in shapes) for axis in range(rank)]


def _is_python_real(dtype: str) -> bool:
    return dtype in REALS


@cache
def _is_inexact(dtype: str) -> bool:
    return dtype.startswith(("float", "complex", "longdouble", "clongdouble")) or dtype == "real"


def zero_plan(x: Kind) -> ZeroPlan:
    """The zero cotangent of an `x`: a literal, `np.zeros_like`, or the helper that looks at the value."""
    match as_numpy(x):
        case Scalar("float" | "real" | "int" | "bool"):
            return "0.0"
        case Array(str(dtype), _) if _is_inexact(dtype):
            return "array"
    return "zeros_like"


def is_differentiable(x: Kind) -> bool | None:
    """Whether values of the kind carry a derivative; None if only some do.

    A literal is a constant and carries none. Kind 'real' carries one, though its values may be ints.
    """
    match as_numpy(x):
        case Scalar("number"):
            return None
        case Scalar(dtype):
            return _is_inexact(dtype)
        case Array(dtype, _):
            return None if dtype is None else _is_inexact(dtype)
        case EnumMember() | Literal() | Text() | Nothing():
            return False
        case Likeness() | Indices() | Random() | Set() | Reference():
            return False
        case Tuple(items):
            return _any([is_differentiable(k) for k in items])
        case List(_, element):
            return is_differentiable(element)
        case Dict(items) | Record(_, items):
            return _any([is_differentiable(k) for _, k in items])
    return None


def is_constant(x: Kind) -> bool:
    """Whether values of the kind have no derivative, and are made only of what has none: sparse arrays."""
    return isinstance(x, Sparse)


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False
