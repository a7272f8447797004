"""Kinds and values: `kind_of` gives the kind of a value, `contains` says whether a value is of a kind."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from enum import EnumType
from itertools import repeat
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ..runtime.adjoints import Like, zeros_of
from ..values.libraries import is_other_array, library_of
from ..values.objects import fields_of, has_operators, is_member, is_named_tuple, is_plain
from ..values.sparse_arrays import is_sparse
from .join import give_kinds, join_all
from .lattice import (
    INTEGERS,
    LARGE,
    MAX_DEPTH,
    NOT_ONE,
    OBJECT,
    OF_TYPES,
    RANDOM,
    REALS,
    SET,
    SPARSE,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    EnumMember,
    Foreign,
    Instance,
    Kind,
    Likeness,
    List,
    Literal,
    Numeric,
    Object,
    OtherArray,
    Random,
    Record,
    Scalar,
    Set,
    Sparse,
    Sym,
    Text,
    Tuple,
    Unknown,
)
from .queries import share_lengths_apart

__all__ = ["FUNCTIONS", "contains", "form_of", "kind_of", "kind_of_free", "kinds_of", "lengths_of"]

MAX_ITEMS = 16  # of a tuple, dict or list whose items have a kind each
MAX_FIELDS = 64  # of an object whose attributes have a kind each
MAX_TEXT = 32  # characters of a string whose value is part of its kind

MAX_SCANNED = 1024  # items of a list of an outer scope, or in an object, which each call looks at
MAX_CACHED = 4096



class Names(dict[int, str]):
    """Names by length; `held` says that the values are those of an outer name, or in an object."""

    held = False


_cached: dict[Any, tuple[Kind, ...]] = {}


def kinds_of(
    values: Sequence[Any], prefixes: tuple[str, ...], exact: frozenset[int] = frozenset()
) -> tuple[Kind, ...]:
    """The kinds of several values: axes of equal length share a name, that of the first of them.

    So kinds contain which axes are equally long, but not how long they are, except for lengths in `exact`.
    """
    key = [(v.dtype, v.shape) if type(v) is np.ndarray else form_of(v) for v in values]
    if None in key:
        return _kinds_of(values, prefixes, Names({n: f"={n}" for n in exact}))
    found = _cached.get((prefixes, exact, *key))
    if found is None:
        if len(_cached) >= MAX_CACHED:
            _cached.clear()
        found = _kinds_of(values, prefixes, Names({n: f"={n}" for n in exact}))
        _cached[(prefixes, exact, *key)] = found
    return found


def lengths_of(values: Sequence[Any], prefixes: tuple[str, ...]) -> dict[str, int]:
    """The lengths of the axes that have names in `kinds_of`."""
    names = Names()
    _kinds_of(values, prefixes, names)
    return {name: n for n, name in names.items()}


def form_of(value: Any, depth: int = 0) -> Any:
    """A key that determines the kind of a number, array, short string, list of numbers, or small container or
    object of these, and the value of a boolean; None for other values.
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.shape
    if kind is bool and depth == 0:
        return bool, value
    found = OF_TYPES.get(kind)
    if found is not None or depth == MAX_DEPTH:
        return found
    if kind is str:
        return (str, value) if len(value) <= MAX_TEXT else None
    items: Any
    keys: tuple[Any, ...] = ()
    most, is_held = MAX_ITEMS, True
    if kind is tuple or kind is list or is_named_tuple(kind):
        types = set(map(type, value)) if kind is list and len(value) <= MAX_SCANNED else {None}
        if types <= OF_TYPES.keys():
            return list, frozenset(types)
        items, is_held = value, False
    elif kind is dict and all(type(k) in (str, int) for k in value):
        items, keys = value.values(), tuple(value)
    elif is_plain(kind) and not isinstance(kind, EnumType):
        held = fields_of(value)
        items, keys, most = held.values(), tuple(held), MAX_FIELDS
    else:
        return None
    if len(items) > most:
        return None
    parts = [v if is_held and _is_literal(v) else form_of(v, depth + 1) for v in items]
    return None if None in parts else (kind, keys, *parts)


def _kinds_of(values: Sequence[Any], prefixes: tuple[str, ...], names: Names) -> tuple[Kind, ...]:
    return tuple([_kind_of_item(v, p, -1, names) for v, p in zip(values, prefixes, strict=True)])


def kind_of(value: Any, prefix: str) -> Kind:
    """The kind of a run-time value; axes of its arrays other than those of length one are named by `prefix`.

    >>> kind_of(np.ones((3, 1)), "x").dims
    (Sym(name='x.0', offset=0, not_one=True, large=False), 1)
    """
    return kinds_of((value,), (prefix,))[0]


def kind_of_free(value: Any, prefix: str) -> Kind:
    """The kind of the value of an outer name, which each call looks at: the items of long lists are unknown.

    >>> kind_of_free([1.0] * 2000, "table")
    List(items=None, element=Unknown())
    """
    names = Names()
    names.held = True
    return _kind_of_item(value, prefix, -1, names)


def _kind_of_item(value: Any, prefix: str, depth: int, names: Names) -> Kind:
    kind = OF_TYPES.get(type(value))
    return kind if kind is not None else _kind_of_object(value, prefix, depth + 1, names)


def _kind_of_object(value: Any, prefix: str, depth: int, names: Names) -> Kind:
    kind = type(value)
    if kind is np.ndarray:
        return _kind_of_array(value, prefix, names)
    library = library_of(value)
    if library is not None:
        array = _kind_of_array(value, prefix, names) if isinstance(value.dtype, np.dtype) else UNKNOWN
        return Foreign(library, array) if isinstance(array, Array) else UNKNOWN
    if is_other_array(kind):
        return OtherArray(kind)
    if depth == MAX_DEPTH:
        return UNKNOWN
    if kind is Like:
        array = _kind_of_array(value, prefix, names) if value.empty is None else UNKNOWN
        return Likeness(array) if isinstance(array, Array) else UNKNOWN
    if kind is list:
        return _kind_of_list(value, prefix, depth, names)
    named = is_named_tuple(kind)
    if (kind is tuple or named) and len(value) <= MAX_ITEMS:
        items = tuple(_kind_of_item(v, f"{prefix}[{i}]", depth, names) for i, v in enumerate(value))
        return Tuple(items, kind) if named else Tuple(items)
    if kind is dict and len(value) <= MAX_ITEMS and all(type(k) in (str, int) for k in value):
        pairs = [(k, _kind_of_field(v, f"{prefix}[{k!r}]", depth, names)) for k, v in value.items()]
        return Dict(tuple(pairs))
    if kind is str:
        return Literal(value) if len(value) <= MAX_TEXT else TEXT
    if kind is set or kind is frozenset:
        return SET
    if is_sparse(value):
        return SPARSE
    if kind in _GENERATORS:
        return RANDOM
    if is_member(value):
        return Literal(value)
    if is_plain(kind):
        return _kind_of_record(value, prefix, depth, names)
    return OBJECT if has_operators(kind) else UNKNOWN


_GENERATORS = (np.random.Generator, np.random.RandomState)
_open = threading.local()  # `ids` are the objects whose attributes are being looked at


def _kind_of_record(value: Any, prefix: str, depth: int, names: Names) -> Kind:
    ids = _open.__dict__.setdefault("ids", set())
    held = fields_of(value)
    if id(value) in ids or len(held) > MAX_FIELDS:
        return UNKNOWN
    ids.add(id(value))
    outer, names.held = names.held, True
    try:
        found = [(n, _kind_of_field(held[n], f"{prefix}.{n}", depth, names)) for n in sorted(held)]
    finally:
        ids.discard(id(value))
        names.held = outer
    return Record(type(value), tuple(found))


def _kind_of_field(value: Any, prefix: str, depth: int, names: Names) -> Kind:
    """As `_kind_of_item`; a function in an attribute is a literal, since it seldom changes."""
    return Literal(value) if _is_literal(value) else _kind_of_item(value, prefix, depth, names)


def _is_literal(value: Any) -> bool:
    return type(value) in FUNCTIONS and not getattr(value, "__closure__", None)


FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))


def _kind_of_list(items: list[Any], prefix: str, depth: int, names: Names) -> Kind:
    """The kind of a list; a short one with items of several forms, such as a model's parameters, has a kind
    for each. The items of a long one that is held are looked at where they are read.
    """
    if names.held and len(items) > MAX_SCANNED:
        return List(None, UNKNOWN)
    types = set(map(type, items))
    is_uniform = types <= OF_TYPES.keys() or (
        types == {np.ndarray} and len({(v.dtype, v.ndim) for v in items}) == 1
    )
    if len(items) <= MAX_ITEMS and not is_uniform:
        kinds = tuple([_kind_of_item(v, f"{prefix}[{i}]", depth, names) for i, v in enumerate(items)])
        if len(set(map(_form_of, kinds))) > 1 or share_lengths_apart(kinds):
            return List(kinds, join_all(kinds))
    return List(None, _kind_of_elements(items, prefix, depth, names))


def _form_of(kind: Kind) -> Any:
    """A kind without its lengths."""
    match kind:
        case Array(dtype, dims):
            return dtype, None if dims is None else len(dims)
        case Tuple(items, cls):
            return cls, tuple(map(_form_of, items))
        case List(None, element):
            return list, _form_of(element)
        case Dict(pairs):
            return dict, tuple([(k, _form_of(v)) for k, v in pairs])
        case Record(cls, pairs):
            return cls, tuple([(k, _form_of(v)) for k, v in pairs])
        case Literal(str()):
            return str
    return kind


def _kind_of_elements(items: list[Any], prefix: str, depth: int, names: Names) -> Kind:
    types = set(map(type, items))
    if len(types) == 1:
        (only,) = types
        if only in OF_TYPES:
            return OF_TYPES[only]
    if types <= OF_TYPES.keys():
        return join_all(OF_TYPES[t] for t in sorted(types, key=repr))
    if types == {np.ndarray} and len({(v.dtype, v.shape) for v in items}) == 1:
        return _kind_of_object(items[0], f"{prefix}[]", depth, names)  # equal shapes: one name for all
    if len(items) > MAX_ITEMS:
        return OBJECT if all(map(is_plain, types)) else UNKNOWN
    return join_all(_kind_of_item(v, f"{prefix}[{i}]", depth, names) for i, v in enumerate(items))


def _kind_of_array(value: Any, prefix: str, names: Names) -> Kind:
    if value.dtype.kind not in "biufc":
        return UNKNOWN
    axes = [(n, names.setdefault(n, f"{prefix}.{axis}")) for axis, n in enumerate(value.shape) if n == n]
    dims = tuple([1 if n == 1 else Sym(name, 0, True, n >= LARGE and name[0] != "=") for n, name in axes])
    if len(dims) < len(value.shape):  # some are nan: unknown before they are computed
        return Array(value.dtype.name, (None,) * len(value.shape))
    return Array(value.dtype.name if value.dtype.isnative else None, dims)


def contains(kind: Kind, value: Any, lengths: dict[str, int] | None = None) -> bool:
    """Whether the value is of the kind; `lengths` holds the lengths of names, and gains missing ones."""
    known = {} if lengths is None else lengths
    match kind:
        case Instance(cls):
            return type(value) is cls
        case Unknown():
            return True
        case Object():
            return is_plain(type(value)) or has_operators(type(value))
        case OtherArray(cls):
            return type(value) is cls
        case Sparse():
            return is_sparse(value)
        case Random():
            return type(value) in _GENERATORS
        case Likeness(array):
            return type(value) is Like and value.empty is None and contains(array, zeros_of(value), known)
        case Set():
            return type(value) in (set, frozenset)
        case Text():
            return type(value) is str
        case EnumMember(cls):
            return type(value) is cls
        case Literal(expected):
            return value is expected or (type(value) is type(expected) and repr(value) == repr(expected))
        case Scalar(dtype, size):
            return _is_scalar(dtype, value) and (size is None or value < 0 or _is_length(size, value, known))
        case Numeric():
            is_array = type(value) is np.ndarray and value.dtype.kind in "biufc"
            return isinstance(OF_TYPES.get(type(value)), Scalar) or is_array
        case Array():
            return type(value) is np.ndarray and _has_form(kind, value, known)
        case Foreign(library, array):
            is_one = library_of(value) == library and isinstance(value.dtype, np.dtype)
            return is_one and _has_form(array, value, known)
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


def _has_form(kind: Array, value: Any, lengths: dict[str, int]) -> bool:
    """Whether an array has the dtype and the lengths of a kind."""
    dtype, dims = kind.dtype, kind.dims
    if value.dtype.kind not in "biufc" or (dtype is not None and value.dtype.name != dtype):
        return False
    if dtype is not None and not value.dtype.isnative:
        return False
    return dims is None or (
        len(dims) == value.ndim
        and all(_is_length(d, n, lengths) for d, n in zip(dims, value.shape, strict=True))
    )


def _is_scalar(dtype: str, value: Any) -> bool:
    kind = OF_TYPES.get(type(value))
    if not isinstance(kind, Scalar):
        return False
    group = {"integer": INTEGERS, "real": REALS}.get(dtype)
    return dtype in ("number", kind.dtype) or (group is not None and kind.dtype in group)


def _is_length(dim: Dim, n: int, lengths: dict[str, int]) -> bool:
    if not isinstance(dim, Sym):
        return dim is None or n == 1
    if (dim.not_one and n == 1) or (dim.large and n < LARGE + dim.offset):
        return False
    if dim is NOT_ONE:
        return True
    base = lengths.get(dim.name) if dim.number is None else dim.number
    if base is None:
        if dim.offset == 0:
            lengths[dim.name] = n
        return True
    return max(0, base + dim.offset) == n


give_kinds(kind_of)
