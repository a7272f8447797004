"""The join of kinds: the kind of a value that comes from one of several paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import reduce
from types import MemberDescriptorType
from typing import Any

from ..values.objects import ABSENT, lookup
from .lattice import (
    INTEGERS,
    MAX_DEPTH,
    NOT_ONE,
    NOTHING,
    NUMERIC,
    OBJECT,
    REALS,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    EnumMember,
    Foreign,
    Instance,
    Kind,
    List,
    Literal,
    Nothing,
    Numeric,
    Object,
    Record,
    Scalar,
    Sym,
    Text,
    Tuple,
    widen,
)

__all__ = ["give_kinds", "inherited_kind", "join", "join_all"]

_KIND_OF: list[Callable[[Any, str], Kind]] = []  # `abstraction.kind_of`, which needs joins


def join_all(kinds: Iterable[Kind]) -> Kind:
    nothing: Kind = NOTHING
    return reduce(join, kinds, nothing)


def join(a: Kind, b: Kind) -> Kind:
    """The least kind that contains the values of both."""
    return _join(a, b, 0)


def _join(a: Kind, b: Kind, depth: int) -> Kind:
    if a is b or isinstance(b, Nothing):
        return a if depth or _depth(a) <= MAX_DEPTH else UNKNOWN
    if isinstance(a, Nothing):
        return b if depth or _depth(b) <= MAX_DEPTH else UNKNOWN
    if depth > MAX_DEPTH or _depth(a) > MAX_DEPTH or _depth(b) > MAX_DEPTH:
        return UNKNOWN
    match widen(a), widen(b):
        case Scalar() as x, Scalar() as y:
            return _join_scalars(x, y)
        case Array() as x, Array() as y:
            return Array(x.dtype if x.dtype == y.dtype else None, _join_dims(x.dims, y.dims))
        case Foreign(library, x), Foreign(other, y) if library == other:
            dtype = x.dtype if x.dtype == y.dtype else None
            return Foreign(library, Array(dtype, _join_dims(x.dims, y.dims)))
        case ((Scalar() | Array() | Numeric()), (Scalar() | Array() | Numeric())):
            return NUMERIC
        case Tuple(xs, c), Tuple(ys, d) if len(xs) == len(ys):
            items = tuple(_join(x, y, depth + 1) for x, y in zip(xs, ys, strict=True))
            return Tuple(items, c) if c is d else Tuple(items)
        case List(xs, x), List(ys, y):
            element = y if xs == () else x if ys == () else _join(x, y, depth + 1)
            if xs is None or ys is None or len(xs) != len(ys):
                return List(None, element)
            return List(tuple(_join(p, q, depth + 1) for p, q in zip(xs, ys, strict=True)), element)
        case Dict(xs), Dict(ys) if [k for k, _ in xs] == [k for k, _ in ys]:
            return Dict(tuple((k, _join(x, y, depth + 1)) for (k, x), (_, y) in zip(xs, ys, strict=True)))
        case Record(c, xs), Record(d, ys) if c is d:
            mine, theirs = dict(xs), dict(ys)
            names = sorted(mine.keys() | theirs.keys())
            both = [[held.get(k) or inherited_kind(c, k) for held in (mine, theirs)] for k in names]
            kinds = [_join(x, y, depth + 1) for x, y in both]
            return Record(c, tuple(zip(names, kinds, strict=True)))
        case (Record(c) | Instance(c)), (Record(d) | Instance(d)) if c is d:
            return Instance(c)
        case (Record() | Object()), (Record() | Object()):
            return OBJECT
        case (Text() | Literal(str())), (Text() | Literal(str())):
            return TEXT
        case (Literal(Enum()) | EnumMember()), (Literal(Enum()) | EnumMember()):
            first, second = map(_enumeration, (a, b))
            return EnumMember(first) if first is second else UNKNOWN
    return UNKNOWN


def _enumeration(kind: Any) -> type:
    return kind.cls if isinstance(kind, EnumMember) else type(kind.value)


def give_kinds(kind_of: Callable[[Any, str], Kind]) -> None:
    """Tells what finds the kind of a value."""
    _KIND_OF[:] = [kind_of]


def inherited_kind(cls: type, name: str) -> Kind:
    """The kind of what is read where an object does not hold an attribute itself; NOTHING where the class has
    no value for it.
    """
    value = lookup(cls, name)
    if value is ABSENT or isinstance(value, MemberDescriptorType):
        return NOTHING if lookup(cls, "__getattr__") is ABSENT else UNKNOWN
    return UNKNOWN if hasattr(type(value), "__get__") else _KIND_OF[0](value, f"{cls.__name__}.{name}")


def _join_scalars(a: Scalar, b: Scalar) -> Scalar:
    if a.dtype == b.dtype:
        return Scalar(a.dtype, a.size if a.size is b.size else None)
    both = {a.dtype, b.dtype}
    return Scalar("integer" if both <= INTEGERS else "real" if both <= REALS else "number")


def _join_dims(xs: tuple[Dim, ...] | None, ys: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    if xs is None or ys is None or len(xs) != len(ys):
        return None
    return tuple(map(_join_lengths, xs, ys))


def _join_lengths(x: Dim, y: Dim) -> Dim:
    if x == y:
        return x
    both = isinstance(x, Sym) and isinstance(y, Sym) and x.not_one and y.not_one
    return NOT_ONE if both else None


def _depth(kind: Kind) -> int:
    match kind:
        case Tuple(items):
            return 1 + max(map(_depth, items), default=0)
        case List(_, element):
            return 1 + _depth(element)
        case Dict(items) | Record(_, items):
            return 1 + max((_depth(k) for _, k in items), default=0)
    return 0
