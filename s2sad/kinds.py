"""Kinds: what is known of a run-time value before it is there.

A kind tells a real scalar from an array of some rank and dtype, from a container of such, and says which
axes have the same length and which have length one: what decides where a derivative needs `unbroadcast`,
`zeros_like` and other guards. It never holds a size that is not written in the program. `kind_of` gives the
kind of a value, `contains` says whether a value is of a kind, `join` is the least kind above two.

Kinds are interned: two equal kinds are one object, so they compare and hash at the speed of identity and
serve as dispatch keys. What is known of a list or dict holds until somebody changes it: whoever follows
mutation must join what is put in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import repeat
from types import BuiltinFunctionType, EllipsisType, FunctionType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .objects import fields_of, has_operators, is_named_tuple, is_plain

__all__ = [
    "NOTHING",
    "NUMERIC",
    "OBJECT",
    "SPARSE",
    "UNKNOWN",
    "Array",
    "Dict",
    "Dim",
    "Kind",
    "Likeness",
    "List",
    "Literal",
    "Nothing",
    "Numeric",
    "Object",
    "Record",
    "Scalar",
    "Sparse",
    "Sym",
    "Tuple",
    "Unknown",
    "contains",
    "join",
    "join_all",
    "kind_of",
    "length",
    "scalar_of",
    "widen",
]

MAX_ITEMS = 16  # of a tuple, dict or list that is looked at item by item
MAX_FIELDS = 64  # of an object that is looked at attribute by attribute
MAX_DEPTH = 5  # of nested containers; deeper is Unknown, which also makes every chain of joins end
MAX_TEXT = 32  # characters of a string that is worth a derivative of its own

_interned: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_lock = threading.Lock()
_cached_arrays: dict[Any, Array] = {}


class _Interned(type):
    """Makes a class whose equal instances are one object."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found = None if kwargs or not args else _interned.get(cls._key(*args))  # type: ignore[attr-defined]
        if found is None:
            made = super().__call__(*args, **kwargs)
            with _lock:
                found = _interned.setdefault(made.key(), made)
        return found


class _Value(metaclass=_Interned):
    @classmethod
    def _key(cls, *values: Any) -> Any:
        return cls, *values

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def key(self) -> Any:
        """What tells this from all other kinds: as made with all arguments given."""
        return self._key(*self._values())

    def __reduce__(self) -> Any:
        return type(self), self._values()


@dataclass(frozen=True, eq=False)
class Sym(_Value):
    """The length `max(0, n + offset)` of an axis, `n` being a length called `name`; `not_one`: it is never 1.

    The name `=3` means the length 3 itself, where a program says it (`np.zeros(3)`).
    """

    name: str
    offset: int = 0
    not_one: bool = False


Dim = Sym | int | None  # an int is always 1; None is a length of which nothing is known


class Kind(_Value):
    """The base of all kinds."""


@dataclass(frozen=True, eq=False)
class Scalar(Kind):
    """A number that is no array.

    `dtype` is 'float' (Python's and np.float64), 'complex' (and np.complex128), 'bool' (and np.bool), 'int'
    (Python's alone), or the dtype name of a NumPy scalar. Three words stand for several: 'integer' (int and
    np.int64), 'real' (those, bool and float: all that may share a Python float as adjoint), 'number' (any).
    `size`: the int is the length of an axis.
    """

    dtype: str
    size: Sym | None = None


@dataclass(frozen=True, eq=False)
class Array(Kind):
    """Exactly np.ndarray, of a numeric dtype (None: unknown) and these lengths (None: not even the rank)."""

    dtype: str | None
    dims: tuple[Dim, ...] | None


@dataclass(frozen=True, eq=False)
class Tuple(Kind):
    """A tuple, or a named tuple that a primitive returned, of these items; `cls` when all are named tuples of
    exactly this class.
    """

    items: tuple[Kind, ...]
    cls: type | None = None


@dataclass(frozen=True, eq=False)
class List(Kind):
    """A list whose items, however many, all are of kind `element`; `items` when each is known."""

    items: tuple[Kind, ...] | None
    element: Kind


@dataclass(frozen=True, eq=False)
class Dict(Kind):
    """A dict with exactly these keys."""

    items: tuple[tuple[Any, Kind], ...]


@dataclass(frozen=True, eq=False)
class Record(Kind):
    """An object of exactly this class, which holds exactly these attributes; in the order of their names."""

    cls: type
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True, eq=False)
class Object(Kind):
    """An object of some class of the user's, whose operators may mean anything."""


@dataclass(frozen=True, eq=False)
class Literal(Kind):
    """This very object: a constant in the source, None, a short string, a slice, a dtype."""

    value: Any

    @classmethod
    def _key(cls, *values: Any) -> Any:
        (value,) = values
        if isinstance(value, (float, complex, slice)):
            return cls, type(value), repr(value)  # 0.0 is not -0.0; slices hash from Python 3.12 on only
        try:
            hash(value)
        except TypeError:
            return cls, type(value), id(value)
        return cls, type(value), value


@dataclass(frozen=True, eq=False)
class Numeric(Kind):
    """A scalar or an array of numbers: no container."""


@dataclass(frozen=True, eq=False)
class Sparse(Kind):
    """A sparse array or matrix of SciPy; of matrices `*` is a product of matrices."""


@dataclass(frozen=True, eq=False)
class Likeness(Kind):
    """The shape and dtype of an array of this kind: no array, and without derivative."""

    array: Array


@dataclass(frozen=True, eq=False)
class Unknown(Kind):
    """Any object."""


@dataclass(frozen=True, eq=False)
class Nothing(Kind):
    """No value at all: the element of an empty list, the value of code that is never reached."""


UNKNOWN, NUMERIC, NOTHING, SPARSE, OBJECT = Unknown(), Numeric(), Nothing(), Sparse(), Object()

INTEGERS = frozenset({"int", "int64", "integer"})
REALS = INTEGERS | {"bool", "float", "real"}
_NAMES = {"float64": "float", "complex128": "complex"}
_NUMPY_SCALARS = (
    np.bool_,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.longlong,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.ulonglong,
    np.float16,
    np.float32,
    np.float64,
    np.longdouble,
    np.complex64,
    np.complex128,
    np.clongdouble,
)


def scalar_of(dtype: str | None) -> Scalar:
    """The kind of an item of an array."""
    return Scalar("number" if dtype is None else _NAMES.get(dtype, dtype))


_FIXED: dict[type, Kind] = {
    float: Scalar("float"),
    int: Scalar("int"),
    bool: Scalar("bool"),
    complex: Scalar("complex"),
    type(None): Literal(None),
    EllipsisType: Literal(...),
}
_FIXED.update({t: scalar_of(np.dtype(t).name) for t in _NUMPY_SCALARS})


def length(n: int) -> Dim:
    """The length of an axis that the program itself spells out."""
    return 1 if n == 1 else Sym(f"={n}", 0, True)


def kind_of(value: Any, prefix: str) -> Kind:
    """The kind of a run-time value; the axes of its arrays that have not length one are named after `prefix`.

    >>> kind_of(np.ones((3, 1)), "x").dims
    (Sym(name='x.0', offset=0, not_one=True), 1)
    """
    kind = _FIXED.get(type(value))
    return kind if kind is not None else _kind_of_object(value, prefix, 0)


def _kind_of_object(value: Any, prefix: str, depth: int) -> Kind:
    kind = type(value)
    if kind is np.ndarray:
        key = prefix, value.dtype, value.shape
        found = _cached_arrays.get(key)
        return found if found is not None else _kind_of_array(value, prefix, key)
    if depth == MAX_DEPTH:
        return UNKNOWN
    if kind is list:
        return List(None, _kind_of_elements(value, prefix, depth))
    named = is_named_tuple(kind)
    if (kind is tuple or named) and len(value) <= MAX_ITEMS:
        items = tuple(_kind_of_item(v, f"{prefix}[{i}]", depth) for i, v in enumerate(value))
        return Tuple(items, kind) if named else Tuple(items)
    if kind is dict and len(value) <= MAX_ITEMS and all(type(k) in (str, int) for k in value):
        return Dict(tuple((k, _kind_of_item(v, f"{prefix}[{k!r}]", depth)) for k, v in value.items()))
    if kind is str and len(value) <= MAX_TEXT:
        return Literal(value)
    if is_sparse(value):
        return SPARSE
    if is_plain(kind):
        return _kind_of_record(value, prefix, depth)
    return OBJECT if has_operators(kind) else UNKNOWN


_open = threading.local()  # `ids` are the objects whose attributes are being looked at


def _kind_of_record(value: Any, prefix: str, depth: int) -> Kind:
    ids = _open.__dict__.setdefault("ids", set())
    held = fields_of(value)
    if id(value) in ids or len(held) > MAX_FIELDS:
        return UNKNOWN
    ids.add(id(value))
    try:
        found = [(name, _kind_of_field(held[name], f"{prefix}.{name}", depth)) for name in sorted(held)]
    finally:
        ids.discard(id(value))
    return Record(type(value), tuple(found))


def _kind_of_field(value: Any, prefix: str, depth: int) -> Kind:
    """As of an item; functions that an object holds seldom change."""
    if type(value) in _FUNCTIONS and not getattr(value, "__closure__", None):
        return Literal(value)
    return _kind_of_item(value, prefix, depth)


_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))


def is_sparse(value: Any) -> bool:
    """Whether the value is a sparse array or matrix; SciPy need not be imported to tell."""
    return hasattr(type(value), "tocsr")


def _kind_of_item(value: Any, prefix: str, depth: int) -> Kind:
    kind = _FIXED.get(type(value))
    return kind if kind is not None else _kind_of_object(value, prefix, depth + 1)


def _kind_of_elements(items: list[Any], prefix: str, depth: int) -> Kind:
    types = set(map(type, items))
    if len(types) == 1:
        (only,) = types
        if only in _FIXED:
            return _FIXED[only]
    if types <= _FIXED.keys():
        return join_all(_FIXED[t] for t in sorted(types, key=repr))
    if types == {np.ndarray} and len({(v.dtype, v.shape) for v in items}) == 1:
        return _kind_of_object(items[0], f"{prefix}[]", depth)  # equal shapes: one name for all
    if len(items) > MAX_ITEMS:
        return OBJECT if all(map(is_plain, types)) else UNKNOWN
    return join_all(_kind_of_item(v, f"{prefix}[{i}]", depth) for i, v in enumerate(items))


def _kind_of_array(value: Any, prefix: str, key: Any) -> Kind:
    if value.dtype.kind not in "biufc":
        return UNKNOWN
    dims = tuple(1 if n == 1 else Sym(f"{prefix}.{axis}", 0, True) for axis, n in enumerate(value.shape))
    made: Array = Array(value.dtype.name if value.dtype.isnative else None, dims)
    if len(_cached_arrays) >= 4096:
        _cached_arrays.clear()
    _cached_arrays[key] = made
    return made


def widen(kind: Kind) -> Kind:
    """The kind of a numeric literal's type; any other kind as it is."""
    if isinstance(kind, Literal) and type(kind.value) in (float, int, bool, complex):
        return _FIXED[type(kind.value)]
    return kind


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
        case ((Scalar() | Array() | Numeric()), (Scalar() | Array() | Numeric())):
            return NUMERIC
        case Tuple(xs, c), Tuple(ys, d) if len(xs) == len(ys):
            items = tuple(_join(x, y, depth + 1) for x, y in zip(xs, ys, strict=True))
            return Tuple(items, c) if c is d else Tuple(items)
        case List(xs, x), List(ys, y):
            element = _join(x, y, depth + 1)
            if xs is None or ys is None or len(xs) != len(ys):
                return List(None, element)
            return List(tuple(_join(p, q, depth + 1) for p, q in zip(xs, ys, strict=True)), element)
        case Dict(xs), Dict(ys) if [k for k, _ in xs] == [k for k, _ in ys]:
            return Dict(tuple((k, _join(x, y, depth + 1)) for (k, x), (_, y) in zip(xs, ys, strict=True)))
        case Record(c, ()), Record(d, _) if c is d:  # an object that has only just been made
            return b
        case Record(c, _), Record(d, ()) if c is d:
            return a
        case Record(c, xs), Record(d, ys) if c is d and [k for k, _ in xs] == [k for k, _ in ys]:
            return Record(
                c, tuple((k, _join(x, y, depth + 1)) for (k, x), (_, y) in zip(xs, ys, strict=True))
            )
        case (Record() | Object()), (Record() | Object()):
            return OBJECT
    return UNKNOWN


def _join_scalars(a: Scalar, b: Scalar) -> Scalar:
    if a.dtype == b.dtype:
        return Scalar(a.dtype, a.size if a.size is b.size else None)
    both = {a.dtype, b.dtype}
    return Scalar("integer" if both <= INTEGERS else "real" if both <= REALS else "number")


def _join_dims(xs: tuple[Dim, ...] | None, ys: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    if xs is None or ys is None or len(xs) != len(ys):
        return None
    return tuple(x if x == y else None for x, y in zip(xs, ys, strict=True))


def _depth(kind: Kind) -> int:
    match kind:
        case Tuple(items):
            return 1 + max(map(_depth, items), default=0)
        case List(_, element):
            return 1 + _depth(element)
        case Dict(items) | Record(_, items):
            return 1 + max((_depth(k) for _, k in items), default=0)
    return 0


def contains(kind: Kind, value: Any, lengths: dict[str, int] | None = None) -> bool:
    """Whether the value is of the kind; `lengths` holds the lengths of names, and learns those it lacks."""
    known = {} if lengths is None else lengths
    match kind:
        case Unknown():
            return True
        case Object():
            return is_plain(type(value)) or has_operators(type(value))
        case Sparse():
            return is_sparse(value)
        case Literal(expected):
            return value is expected or (type(value) is type(expected) and repr(value) == repr(expected))
        case Scalar(dtype, size):
            return _is_scalar(dtype, value) and (size is None or value < 0 or _is_length(size, value, known))
        case Numeric():
            return isinstance(_FIXED.get(type(value)), Scalar) or _is_array(None, value)
        case Array(dtype, dims):
            return _is_array(dtype, value) and (
                dims is None
                or (
                    len(dims) == value.ndim
                    and all(_is_length(d, n, known) for d, n in zip(dims, value.shape, strict=True))
                )
            )
        case Tuple(items, cls):
            is_one = isinstance(value, tuple) if cls is None else type(value) is cls
            return is_one and _contain(items, value, known)
        case List(known_items, element):
            return (
                type(value) is list
                and all(contains(element, v, known) for v in value)
                and (known_items is None or _contain(known_items, value, known))
            )
        case Dict(pairs):
            return (
                type(value) is dict
                and list(value) == [k for k, _ in pairs]
                and _contain([k for _, k in pairs], list(value.values()), known)
            )
        case Record(cls, pairs):
            held = fields_of(value) if type(value) is cls else {}
            return (
                type(value) is cls
                and sorted(held) == [k for k, _ in pairs]
                and _contain([k for _, k in pairs], [held[k] for k, _ in pairs], known)
            )
    return False


def _contain(kinds: Sequence[Kind], values: Sequence[Any], lengths: dict[str, int]) -> bool:
    return len(kinds) == len(values) and all(map(contains, kinds, values, repeat(lengths)))


def _is_array(dtype: str | None, value: Any) -> bool:
    if type(value) is not np.ndarray or value.dtype.kind not in "biufc":
        return False
    return dtype is None or (value.dtype.name == dtype and value.dtype.isnative)


def _is_scalar(dtype: str, value: Any) -> bool:
    kind = _FIXED.get(type(value))
    if not isinstance(kind, Scalar):
        return False
    group = {"integer": INTEGERS, "real": REALS}.get(dtype)
    return dtype in ("number", kind.dtype) or (group is not None and kind.dtype in group)


def _is_length(dim: Dim, n: int, lengths: dict[str, int]) -> bool:
    if not isinstance(dim, Sym):
        return dim is None or n == 1
    if dim.not_one and n == 1:
        return False
    base = int(dim.name[1:]) if dim.name.startswith("=") else lengths.get(dim.name)
    if base is None:
        if dim.offset == 0:
            lengths[dim.name] = n
        return True
    return max(0, base + dim.offset) == n
