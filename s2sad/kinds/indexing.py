"""The kinds of parts of values (elements, items, slices, attributes) and of displays.

Contract: the kind contains every possible result of an operation that succeeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from typing import Literal as OneOf

import numpy as np

from .join import join, join_all
from .lattice import (
    INTEGERS,
    LARGE,
    NOTHING,
    NUMERIC,
    SPARSE,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    Foreign,
    Indices,
    Kind,
    List,
    Literal,
    Nothing,
    Numeric,
    Scalar,
    Sparse,
    Sym,
    Text,
    Tuple,
    as_numpy,
    length,
    of_library,
    scalar_of,
    widen,
)

__all__ = [
    "BOOL",
    "INTEGER",
    "SliceItem",
    "adjoint_kind",
    "array_or_scalar",
    "attribute_kind",
    "dict_kind",
    "element_kind",
    "iteration_kind",
    "kind_of_literal",
    "kind_of_static",
    "list_kind",
    "literal_int",
    "sequence_of",
    "size_of",
    "slice_item",
    "stored_kind",
    "subscript_kind",
    "summed_kind",
    "tuple_kind",
    "unpack_kinds",
]

Bound = int | None | OneOf["unknown"]  # of a slice; None for a missing one
BOOL, INTEGER = Scalar("bool"), Scalar("int")
_DTYPES = {"float": "float64", "complex": "complex128", **dict.fromkeys(("integer", "real", "number"))}
_NUMBERS = (bool, int, float, complex, np.bool_, np.int64, np.float64, np.complex128)
_CONSTANTS = (np.pi, np.e, np.inf, np.nan, np.euler_gamma)


@dataclass(frozen=True)
class SliceItem:
    """A slice as an index."""

    lower: Bound = None
    upper: Bound = None
    step: Bound = None


@dataclass(frozen=True)
class _Part:
    """The effect of one index on axes: the number that it takes, and the axes that it leaves.

    `picked` are the axes of an index array, in their place.
    """

    taken: int
    left: tuple[Dim, ...] = ()
    picked: tuple[Dim, ...] | None = None


def kind_of_literal(value: Any) -> Kind:
    """The kind of a constant in the source, or of a tuple of such."""
    return Tuple(tuple(map(kind_of_literal, value))) if type(value) is tuple else Literal(value)


def kind_of_static(value: Any) -> Kind:
    """The kind of the value of a global name: functions, classes, modules and NumPy's constants are literals.

    Other globals may be rebound, so they are Unknown. A caller that checks their kinds at each call needs no
    such caution.
    """
    if value is None or isinstance(value, (ModuleType, type, np.dtype, np.ufunc)) or callable(value):
        return Literal(value)
    return Scalar("float") if any(value is c for c in _CONSTANTS) else UNKNOWN


def tuple_kind(items: Sequence[Kind]) -> Kind:
    return Tuple(tuple(items))


def list_kind(items: Sequence[Kind]) -> Kind:
    """The kind of a list display; one of floats may be appended to."""
    return List(tuple(map(summed_kind, items)), join_all(map(widen, items)))


def dict_kind(keys: Sequence[Any], items: Sequence[Kind]) -> Kind:
    """The kind of a dict display; None stands for a key that is no literal."""
    if None in keys:
        return UNKNOWN
    return Dict(tuple(dict(zip(keys, map(summed_kind, items), strict=True)).items()))


def summed_kind(kind: Kind) -> Kind:
    """The kind of the sum of two values of a kind, and of parts of them."""
    match kind:
        case Literal(float()):
            return widen(kind)
        case Tuple(items, None):
            return Tuple(tuple(map(summed_kind, items)))
    return kind


def sequence_of(element: Kind) -> Kind:
    """The kind of an iterable with elements of this kind."""
    return List(None, element)


def stored_kind(base: Kind, item: Kind, key: Kind = UNKNOWN, has_key: bool = False) -> Kind:
    """The kind of a container after a store of an item at `key` (Unknown: anywhere); with `has_key`, at a key
    that it had. The kind of an array does not change.
    """
    match base:
        case Dict(pairs) if has_key and not isinstance(key, Literal):
            return Dict(tuple((k, join(v, widen(item))) for k, v in pairs))
        case Dict(pairs) if isinstance(key, Literal) and key.value in dict(pairs):
            return Dict(tuple((k, join(v, widen(item)) if k == key.value else v) for k, v in pairs))
        case List(_, element):
            return List(None, join(element, widen(item)))
        case Array() | Foreign() | Numeric():
            return base
    return UNKNOWN


def element_kind(kind: Kind) -> Kind:
    """The kind of the elements that iteration over a value yields."""
    match kind:
        case Nothing():
            return kind
        case Foreign(library, array):
            return of_library(element_kind(array), library)
        case Array(dtype, dims):
            if dims is None:
                return NUMERIC
            return array_or_scalar(dtype, dims[1:]) if dims else UNKNOWN
        case Tuple(items):
            return join_all(items) if items else UNKNOWN
        case List(_, element):
            return UNKNOWN if isinstance(element, Nothing) else element
        case Dict(pairs):
            return join_all(Literal(k) for k, _ in pairs) if pairs else UNKNOWN
        case Numeric():
            return NUMERIC
        case Indices(rank):
            return Tuple((INTEGER,) * rank)
        case Text() | Literal(str()):
            return Text()
    return UNKNOWN


def unpack_kinds(kind: Kind, n: int) -> list[Kind]:
    """The kinds of the n targets of `a, b = value`."""
    match kind:
        case Tuple(items) | List(tuple() as items, _) if len(items) == n:
            return list(items)
    return [element_kind(kind)] * n


def iteration_kind(function: Any, args: Sequence[Kind]) -> Kind:
    """The kind of `t` in `for t in function(*args)`; Unknown for functions other than builtins."""
    elements = [element_kind(a) for a in args]
    if function is range:
        return INTEGER
    if function is zip:
        return Tuple(tuple(elements))
    if function is enumerate and elements:
        return Tuple((INTEGER, elements[0]))
    return elements[0] if function is reversed and elements else UNKNOWN


def size_of(dim: Dim) -> Kind:
    """The kind of the int that is an axis's length."""
    if isinstance(dim, Sym):
        return Scalar("int", dim) if dim.number is None else Literal(dim.number)
    return Literal(1) if dim == 1 else INTEGER


def attribute_kind(kind: Kind, attr: str) -> Kind:
    """The kind of an attribute of a number or an array; Unknown for all other attributes."""
    if isinstance(kind, Foreign):
        return of_library(attribute_kind(kind.array, attr), kind.library)
    if attr in ("ndim", "size", "itemsize", "nbytes"):
        if attr == "ndim" and isinstance(kind, Array) and kind.dims is not None:
            return Literal(len(kind.dims))
        if attr == "size" and isinstance(kind, Array) and kind.dims is not None and len(kind.dims) == 1:
            return size_of(kind.dims[0])
        return INTEGER if isinstance(kind, (Array, Scalar, Numeric)) else UNKNOWN
    match kind, attr:
        case Array(_, tuple() as dims), "shape":
            return Tuple(tuple(map(size_of, dims)))
        case Array(str() as dtype), "dtype":
            return Literal(np.dtype(dtype))
        case Array(dtype, dims), "T":
            return Array(dtype, None if dims is None else dims[::-1])
        case Array(dtype, tuple() as dims), "mT" if len(dims) > 1:
            return Array(dtype, (*dims[:-2], dims[-1], dims[-2]))
        case Array(dtype, dims), ("real" | "imag"):
            return Array(None if dtype is None else np.zeros(0, dtype).real.dtype.name, dims)
        case Scalar("float" | "float32" | "float16" | "longdouble"), ("real" | "imag" | "T"):
            return kind
        case Scalar("complex"), ("real" | "imag"):
            return Scalar("float")
        case Numeric(), ("real" | "imag" | "T"):
            return NUMERIC
        case Sparse(), ("real" | "imag" | "T" | "mT"):
            return kind
        case Scalar(), _ if not any(hasattr(cls, attr) for cls in _NUMBERS):
            return NOTHING  # reading it raises AttributeError
    return UNKNOWN


def literal_int(kind: Kind) -> Bound:
    """The bound of a slice that has this kind."""
    match kind:
        case Literal(value) if value is None or type(value) is int:
            bound: Bound = value
            return bound
    return "unknown"


def adjoint_kind(x: Kind) -> Kind:
    """The kind of an adjoint of a value of kind `x`; Unknown where its structure is unknown."""
    match x:
        case Literal(float()):
            return Scalar("float")
        case Scalar("float"):
            return x
        case Array(str(dtype), _) | Foreign(_, Array(str(dtype), _)) if dtype.startswith("float"):
            return x
        case Tuple(items):
            return Tuple(tuple(map(adjoint_kind, items)))
        case List(None, element):
            return List(None, adjoint_kind(element))
        case List(tuple() as items, element):
            return List(tuple(map(adjoint_kind, items)), adjoint_kind(element))
        case Dict(items):
            return Dict(tuple((k, adjoint_kind(v)) for k, v in items))
    return UNKNOWN


def slice_item(lower: Bound, upper: Bound, step: Bound) -> SliceItem:
    return SliceItem(lower, upper, step)


def subscript_kind(base: Kind, index: Sequence[Kind | SliceItem]) -> Kind:
    """The kind of `base[index]`; `index` has an item for each index in a tuple.

    >>> subscript_kind(Array("float64", (Sym("n", 0, True),)), [SliceItem(1, -1)])
    Array(dtype='float64', dims=(Sym(name='n', offset=-2, not_one=False, large=False),))
    """
    if isinstance(base, Nothing):
        return base
    if isinstance(base, Foreign):
        places = [as_numpy(i) if isinstance(i, Kind) else i for i in index]
        return of_library(subscript_kind(base.array, places), base.library)
    items = [_as_slice(i) for i in index]
    if len(items) == 1 and isinstance(items[0], Tuple):
        items = [_as_slice(i) for i in items[0].items]
    if isinstance(base, Numeric) or (isinstance(base, Array) and base.dims is None):
        if not items or not _may_index(items):
            return UNKNOWN
        left = any(isinstance(i, SliceItem) for i in items)  # an axis, of an array
        is_basic = all(isinstance(i, SliceItem) or i in (Literal(None), Literal(...)) for i in items)
        if left or (is_basic and isinstance(base, Array)):
            return Array(base.dtype if isinstance(base, Array) else None, None)
        return NUMERIC
    match base:
        case Array(dtype, tuple() as dims):
            return _subscript_array(dtype, dims, items)
        case Scalar(dtype):  # a number of NumPy's
            return _subscript_array(_DTYPES.get(dtype, dtype), (), items)
        case Sparse():  # an element, or a smaller matrix
            return UNKNOWN if len(items) == 2 and all(map(_is_one, items)) else SPARSE
    return _subscript_container(base, items[0]) if len(items) == 1 else UNKNOWN


def _as_slice(item: Kind | SliceItem) -> Kind | SliceItem:
    match item:
        case Literal(slice(start=lower, stop=upper, step=step)):
            return SliceItem(*(b if b is None or type(b) is int else "unknown" for b in (lower, upper, step)))
    return item


def _is_one(item: Kind | SliceItem) -> bool:
    """Whether an index surely is an integer."""
    wide = widen(item) if isinstance(item, Kind) else item
    return isinstance(wide, Scalar) and wide.dtype in INTEGERS


def _may_index(items: Sequence[Kind | SliceItem]) -> bool:
    """Whether no index may be a string, the name of a field: the result is numeric."""
    return not any(isinstance(i, Literal) and isinstance(i.value, str) for i in items)


def _subscript_container(base: Kind, item: Kind | SliceItem) -> Kind:
    match base, item:
        case Tuple(items), Literal(int() as i) if -len(items) <= i < len(items):
            return items[i]
        case Tuple(items), SliceItem(lower, upper, step) if step != 0:
            if isinstance(lower, str) or isinstance(upper, str) or isinstance(step, str):
                return UNKNOWN
            return Tuple(items[lower:upper:step])
        case Tuple(items), Scalar() if items:
            return join_all(items)
        case List(tuple() as items, _), Literal(int() as i) if -len(items) <= i < len(items):
            return items[i]
        case List(tuple() as items, element), SliceItem():
            part = _subscript_container(Tuple(items), item)
            return List(part.items if isinstance(part, Tuple) else None, element)
        case List(_, element), SliceItem():
            return List(None, element)
        case List(), (Scalar() | Literal()):
            return element_kind(base)
        case Dict(pairs), _ if pairs:
            # equal keys are one key (1 and 1.0), so compare them as Python does
            equal = [k for key, k in pairs if isinstance(item, Literal) and item.value == key]
            return join_all(equal or [k for _, k in pairs])
    return UNKNOWN


def _subscript_array(dtype: str | None, dims: tuple[Dim, ...], items: Sequence[Kind | SliceItem]) -> Kind:
    dots = items.count(Literal(...))
    parts = [_index_part(i) for i in items if i != Literal(...)]
    if dots > 1 or any(p is None for p in parts):
        return NUMERIC if _may_index(items) else UNKNOWN
    rest = len(dims) - sum(p.taken for p in parts if p is not None)
    if rest < 0:
        return UNKNOWN
    left: list[Dim] = []
    picked: list[tuple[Dim, ...]] = []
    at = 0
    for item in items if dots else [*items, Literal(...)]:
        part = _Part(rest, dims[at : at + rest]) if item == Literal(...) else _index_part(item, dims[at:])
        assert part is not None
        left += part.left if part.picked is None else part.picked
        picked += [] if part.picked is None else [part.picked]
        at += part.taken
    if not picked:
        return Array(dtype, tuple(left)) if dots else array_or_scalar(dtype, tuple(left))
    integers = any(isinstance(i, Scalar) or (isinstance(i, Literal) and type(i.value) is int) for i in items)
    if len(picked) > 1 or integers:
        # index arrays are broadcast together; the place of their axes depends on the indices between them
        rank = len(left) - sum(map(len, picked)) + max(map(len, picked))
        left = [None] * rank
    return Array(dtype, tuple(left)) if left else NUMERIC


def _index_part(item: Kind | SliceItem, dims: tuple[Dim, ...] = ()) -> _Part | None:
    """The part of one index, given the axes from its first on; None for an unknown number of axes."""
    match item:
        case Literal(None):
            return _Part(0, (1,))
        case SliceItem():
            return _Part(1, (_sliced(dims[0], item) if dims else None,))
        case Literal(value) if type(value) is int:
            return _Part(1)
        case Scalar(dtype) if _is_integer(dtype):
            return _Part(1)
        case Array(str() as dtype, tuple() as picked) if _is_integer(dtype):
            return _Part(1, (), picked)
        case Array("bool", tuple() as picked) if picked:
            return _Part(len(picked), (), (None,))
        case List(_, Scalar(dtype)) if _is_integer(dtype) or dtype == "bool":
            return _Part(1, (), (None,))
        case Tuple(parts) if parts and all(map(_is_one, parts)):  # within an index, as a list
            return _Part(1, (), (None,))
    return None


def _is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def _sliced(dim: Dim, item: SliceItem) -> Dim:
    """The length of a slice of an axis: exact for `[a:]`, `[:-b]`, `[a:-b]` and `[::-1]`, and for parts near
    the ends of a large axis, else unknown.
    """
    lower, upper = item.lower or 0, item.upper
    forward, backward = item.step in (None, 1), item.step == -1
    if upper is None and ((lower == 0 and forward) or (item.lower is None and backward)):
        return dim
    if not isinstance(dim, Sym) or not forward:
        return None
    if not isinstance(lower, int) or isinstance(upper, str):
        return None
    if dim.number is not None:
        return length(len(range(*slice(lower, upper).indices(dim.number))))
    least = (LARGE if dim.large else 0) + dim.offset
    near_start = upper is not None and 0 <= lower <= upper <= least
    near_end = -least <= lower < 0 and upper != 0 and lower <= (upper or 0) <= 0
    if near_start or near_end:
        return length((upper or 0) - lower)
    cut = lower - (upper or 0)
    if lower < 0 or upper == 0 or (upper or 0) > 0:
        return None
    return dim.moved(-cut)


def array_or_scalar(dtype: str | None, dims: tuple[Dim, ...]) -> Kind:
    return Array(dtype, dims) if dims else scalar_of(dtype)
