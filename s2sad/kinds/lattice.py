"""Kinds: abstract values, known before run time.

A kind is a real scalar, an array of some rank and dtype, a container of these, ...; it says which axes have
equal lengths and which have length one. That decides where a derivative needs `unbroadcast`, `zeros_like` and
other guards. It holds no length that is not a constant of the program.

Kinds are interned: two equal kinds are one object, so that they compare and hash by identity and serve as
dispatch keys. The kind of a list or dict holds until the next change: analyses of mutation join the kinds of
stored values.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, fields
from types import EllipsisType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..values.libraries import Library

__all__ = [
    "INTEGERS",
    "MAX_DEPTH",
    "NOTHING",
    "NOT_ONE",
    "NUMERIC",
    "OBJECT",
    "OF_TYPES",
    "PENDING",
    "RANDOM",
    "REALS",
    "REFERENCE",
    "SET",
    "SPARSE",
    "TEXT",
    "UNKNOWN",
    "Array",
    "Dict",
    "Dim",
    "EnumMember",
    "Foreign",
    "Indices",
    "Instance",
    "Kind",
    "Likeness",
    "List",
    "Literal",
    "Nothing",
    "Numeric",
    "Object",
    "OtherArray",
    "Pending",
    "Random",
    "Record",
    "Reference",
    "Scalar",
    "Set",
    "Sparse",
    "Sym",
    "Text",
    "Tuple",
    "Unknown",
    "as_numpy",
    "length",
    "of_library",
    "scalar_of",
    "widen",
]

LARGE = 8  # from this length on, a slice such as `x[1:-1]` surely has more than one element
MAX_DEPTH = 8  # of nested containers; deeper ones are Unknown, so that every chain of joins ends

_interned: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_recent: deque[Any] = deque(maxlen=1024)  # kinds of numbers and arrays, which come again all the time
_lock = threading.Lock()


class _Interned(type):
    """Makes a class whose equal instances are one object."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found = None if kwargs or not args else _interned.get(cls._key(*args))  # type: ignore[attr-defined]
        if found is None:
            made = super().__call__(*args, **kwargs)
            with _lock:
                found = _interned.setdefault(made.key(), made)
                if cls.comes_again:  # type: ignore[attr-defined]
                    _recent.append(found)
        return found


class _Value(metaclass=_Interned):
    comes_again = False

    @classmethod
    def _key(cls, *values: Any) -> Any:
        return cls, *values

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def key(self) -> Any:
        """The key under which this kind is interned."""
        return self._key(*self._values())

    def __reduce__(self) -> Any:
        return type(self), self._values()


@dataclass(frozen=True, eq=False)
class Sym(_Value):
    """The length `max(0, n + offset)` of an axis, where `n` is the length called `name`; `not_one`: it is
    never 1; `large`: n is at least `LARGE`.

    The name `=3` is the constant length 3 (`np.zeros(3)`). `NOT_ONE` is an unknown length other than 1; two
    occurrences of it may differ.
    """

    name: str
    offset: int = 0
    not_one: bool = False
    large: bool = False

    @property
    def number(self) -> int | None:
        """The length itself, where it is a constant; else None."""
        return int(self.name[1:]) if self.name.startswith("=") else None

    def moved(self, by: int) -> Dim:
        """The length `max(0, n + offset + by)`; None where it has no such form.

        >>> Sym("n", 0, True).moved(-1), Sym("n", -1).moved(1), NOT_ONE.moved(-1)
        (Sym(name='n', offset=-1, not_one=False, large=False), None, None)
        >>> Sym("=2", 0, True).moved(-1)
        1
        """
        if by == 0:
            return self
        if self.number is not None:
            return length(max(0, self.number + by))
        if self is NOT_ONE or (by > 0 and self.offset < 0):  # max(0, n - 3) + 1 is not max(0, n - 2)
            return None
        offset = self.offset + by
        return Sym(self.name, offset, offset + (LARGE if self.large else 0) >= 2, self.large)


NOT_ONE = Sym("?", 0, True)
Dim = Sym | int | None  # an int is always 1; None is an unknown length


class Kind(_Value):
    """The base of all kinds."""


@dataclass(frozen=True, eq=False)
class Scalar(Kind):
    """A number, not an array.

    `dtype` is 'float' (Python's and np.float64), 'complex' (and np.complex128), 'bool' (and np.bool), 'int'
    (Python's alone), or the dtype name of a NumPy scalar. Three stand for several: 'integer' (int and
    np.int64), 'real' (these, bool and float: all may have a Python float as adjoint), 'number' (any). `size`:
    the int is the length of this axis.
    """

    comes_again = True

    dtype: str
    size: Sym | None = None


@dataclass(frozen=True, eq=False)
class Array(Kind):
    """Exactly np.ndarray, of a numeric dtype (None: unknown) and these lengths (None: not even the rank)."""

    comes_again = True

    dtype: str | None
    dims: tuple[Dim, ...] | None


@dataclass(frozen=True, eq=False)
class Foreign(Kind):
    """An array of another library, which as one of NumPy's would be of kind `array`. What NumPy returns as a
    number is an array without axes there.
    """

    comes_again = True

    library: Library
    array: Array


@dataclass(frozen=True, eq=False)
class OtherArray(Kind):
    """An array or table of exactly this class, whose operations are not those of NumPy's arrays: it may be
    read, and an operation with what carries a derivative is refused.
    """

    cls: type


@dataclass(frozen=True, eq=False)
class Tuple(Kind):
    """A tuple, or a named tuple returned by a primitive, with these items; with `cls`, a named tuple of
    exactly this class.
    """

    items: tuple[Kind, ...]
    cls: type | None = None


@dataclass(frozen=True, eq=False)
class List(Kind):
    """A list of any length with items of kind `element`; with `items`, of this length and these kinds."""

    items: tuple[Kind, ...] | None
    element: Kind


@dataclass(frozen=True, eq=False)
class Dict(Kind):
    """A dict with exactly these keys."""

    items: tuple[tuple[Any, Kind], ...]


@dataclass(frozen=True, eq=False)
class Set(Kind):
    """A set or frozenset, of any elements."""


@dataclass(frozen=True, eq=False)
class Text(Kind):
    """Exactly a str."""


@dataclass(frozen=True, eq=False)
class EnumMember(Kind):
    """A member of this enumeration, without attributes of its own."""

    cls: type


@dataclass(frozen=True, eq=False)
class Record(Kind):
    """An object of exactly this class, with exactly these attributes, in the order of their names."""

    cls: type
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True, eq=False)
class Object(Kind):
    """An object of an unknown user's class, which may define operators."""


@dataclass(frozen=True, eq=False)
class Literal(Kind):
    """Exactly this value: a constant in the source, None, a short string, a slice, a dtype."""

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
    """A sparse array or matrix of SciPy; for a matrix, `*` is the matrix product."""


@dataclass(frozen=True, eq=False)
class Random(Kind):
    """A generator of random numbers of NumPy's."""


@dataclass(frozen=True, eq=False)
class Likeness(Kind):
    """The result of the helper `like`: the shape and dtype of an array of this kind, inactive."""

    array: Array


@dataclass(frozen=True, eq=False)
class Indices(Kind):
    """An iterator over the indices of an array of this rank: `np.ndindex`."""

    rank: int


@dataclass(frozen=True, eq=False)
class Unknown(Kind):
    """Any object."""


@dataclass(frozen=True, eq=False)
class Instance(Unknown):
    """An object of exactly this class, with any attributes."""

    cls: type


@dataclass(frozen=True, eq=False)
class Reference(Unknown):
    """An object or container of a program with a heap, or None: adjoints of what it holds are the heap's."""


@dataclass(frozen=True, eq=False)
class Nothing(Kind):
    """No value, the bottom of the lattice: an element of an empty list, a value of unreachable code."""


class Pending(Nothing):
    """What a call of a function returns whose kind is being found: nothing yet, and so is what is computed
    of it.
    """


UNKNOWN, NUMERIC, NOTHING, SPARSE, RANDOM = Unknown(), Numeric(), Nothing(), Sparse(), Random()
PENDING = Pending()
OBJECT, SET, TEXT, REFERENCE = Object(), Set(), Text(), Reference()

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


OF_TYPES: dict[type, Kind] = {  # the kinds of all objects of a type
    float: Scalar("float"),
    int: Scalar("int"),
    bool: Scalar("bool"),
    complex: Scalar("complex"),
    type(None): Literal(None),
    EllipsisType: Literal(...),
}
OF_TYPES.update({t: scalar_of(np.dtype(t).name) for t in _NUMPY_SCALARS})


def as_numpy(kind: Kind) -> Kind:
    """The kind that values of a kind would have as arrays of NumPy's."""
    return kind.array if isinstance(kind, Foreign) else kind


def of_library(kind: Kind, library: Library | None) -> Kind:
    """The kind of what a library returns where NumPy returns values of this kind; Python's integers, as sizes
    and axes, are the same.
    """
    match kind:
        case _ if library is None:
            return kind
        case Array():
            return Foreign(library, kind)
        case Scalar(dtype) if dtype != "int":
            names = {name: dtype for dtype, name in _NAMES.items()}
            known = None if dtype in ("integer", "real", "number") else names.get(dtype, dtype)
            return Foreign(library, Array(known, ()))
        case Tuple(items, cls):
            return Tuple(tuple([of_library(k, library) for k in items]), cls)
        case List(items, element):
            known_items = None if items is None else tuple([of_library(k, library) for k in items])
            return List(known_items, of_library(element, library))
        case Scalar() | Literal() | Likeness():
            return kind
    return UNKNOWN


def length(n: int) -> Dim:
    """The length of an axis that is a constant of the program."""
    return 1 if n == 1 else Sym(f"={n}", 0, True)


def widen(kind: Kind) -> Kind:
    """The kind of a numeric literal's type; any other kind as it is."""
    if isinstance(kind, Literal) and type(kind.value) in (float, int, bool, complex):
        return OF_TYPES[type(kind.value)]
    return kind
