"""Queries about the values of one kind: predicates, ranks, lengths, items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .indexing import element_kind, size_of
from .lattice import (
    INTEGERS,
    REALS,
    UNKNOWN,
    Array,
    Dict,
    EnumMember,
    Foreign,
    Kind,
    Likeness,
    List,
    Literal,
    Nothing,
    Numeric,
    Object,
    OtherArray,
    Record,
    Scalar,
    Text,
    Tuple,
    Unknown,
    as_numpy,
    widen,
)
from .shape_relations import is_differentiable

__all__ = [
    "are_alike",
    "axes_of",
    "dtype_of",
    "has_length",
    "holds_arrays",
    "holds_floats",
    "holds_immutables",
    "holds_integers",
    "is_any_tuple",
    "is_array",
    "is_container",
    "is_dict",
    "is_float",
    "is_foreign",
    "is_immutable",
    "is_integer",
    "is_list",
    "is_list_of_numbers",
    "is_numeric",
    "is_python_real",
    "is_real",
    "is_real_scalar",
    "is_scalar",
    "is_tuple",
    "is_tuple_of_numbers",
    "items_of",
    "keep_real_dtype",
    "keys_of",
    "known_length",
    "literal_of",
    "may_be_changed",
    "may_be_other_array",
    "may_have_no_axes",
    "may_hold_integers",
    "may_hold_numbers",
    "positions_of",
    "rank",
    "share_lengths_apart",
    "share_real_dtype",
    "truth_of",
]


def is_scalar(kind: Kind) -> bool:
    """Whether the kind is a number and no array."""
    return isinstance(widen(kind), Scalar)


def is_real_scalar(kind: Kind) -> bool:
    """Whether the kind is a float: its adjoint is a plain float, too."""
    wide = widen(kind)
    return isinstance(wide, Scalar) and wide.dtype == "float"


def is_python_real(kind: Kind) -> bool:
    """Whether the kind is a float, None, or a number that arithmetic with floats makes a float."""
    wide = widen(kind)
    is_none = isinstance(kind, Literal) and kind.value is None
    return is_none or (isinstance(wide, Scalar) and wide.dtype in REALS)


def dtype_of(kind: Kind) -> str | None:
    wide = widen(kind)
    if isinstance(wide, Scalar):
        return {"float": "float64", "complex": "complex128"}.get(wide.dtype, wide.dtype)
    array = as_numpy(wide)
    return array.dtype if isinstance(array, Array) else None


def is_real(kind: Kind) -> bool:
    """Whether the kind is a number or an array without imaginary part."""
    dtype = dtype_of(kind)
    return dtype is not None and dtype != "number" and not dtype.startswith(("complex", "clongdouble"))


def share_real_dtype(kinds: list[Kind]) -> bool:
    """Whether values of these kinds are floating-point, real, and of one dtype."""
    dtypes = set(map(dtype_of, kinds))
    return len(dtypes) == 1 and all(d is not None and d.startswith("float") for d in dtypes)


def keep_real_dtype(kinds: list[Kind]) -> bool:
    """Whether results of values of these kinds, and cotangents of the floats among them, are real and of the
    floats' dtype; integers count as float64.
    """
    dtypes = set(map(dtype_of, kinds))
    others = dtypes - {"float64"}
    if dtypes == others:
        return share_real_dtype(kinds)
    return all(d is not None and d.startswith(("int", "uint", "bool")) for d in others)


def is_float(kind: Kind) -> bool:
    """Whether values of the kind are floats, or arrays of floats."""
    dtype = dtype_of(kind)
    return dtype is not None and dtype.startswith("float")


def is_foreign(kind: Kind) -> bool:
    """Whether values of the kind are arrays of another library, whose numbers are arrays as well."""
    return isinstance(kind, Foreign)


def may_be_other_array(kind: Kind) -> bool:
    """Whether a value, or an item of a list or tuple, may be an array with operations of its own."""
    match kind:
        case Tuple(items) | List(tuple() as items, _):
            return any(map(may_be_other_array, items))
        case List(_, element):
            return may_be_other_array(element)
    return isinstance(kind, (OtherArray, Unknown))


def is_integer(kind: Kind) -> bool:
    wide = widen(kind)
    return isinstance(wide, Scalar) and wide.dtype in INTEGERS


def are_alike(a: Kind, b: Kind) -> bool:
    """Whether values of the kinds are arrays of the same dtype and rank."""
    if isinstance(a, Foreign) and isinstance(b, Foreign):
        return are_alike(a.array, b.array)
    if not (isinstance(a, Array) and isinstance(b, Array) and a.dims and b.dims):
        return False
    return a.dtype is not None and a.dtype == b.dtype and len(a.dims) == len(b.dims)


def is_array(kind: Kind) -> bool:
    """Whether the kind is an array with at least one axis, so that it can be changed in place."""
    array = as_numpy(kind)
    return isinstance(array, Array) and bool(array.dims)


def may_have_no_axes(kind: Kind) -> bool:
    """Whether the kind is an array of NumPy's that may have no axes: arithmetic with it may return a
    scalar.
    """
    return isinstance(kind, Array) and not kind.dims


def is_numeric(kind: Kind) -> bool:
    """Whether `+` adds values of the kind."""
    return isinstance(widen(kind), (Scalar, Array, Foreign, Numeric))


def is_container(kind: Kind) -> bool:
    """Whether the items of values of the kind are objects, not views."""
    return isinstance(kind, (Tuple, List, Dict, Record))


def is_dict(kind: Kind) -> bool:
    return isinstance(kind, Dict)


def is_list(kind: Kind) -> bool:
    return isinstance(kind, List)


def is_tuple(kind: Kind) -> bool:
    """Whether the adjoint of a value of the kind may be a plain tuple, as for NumPy's named tuples."""
    return isinstance(kind, Tuple) and (kind.cls is None or kind.cls.__module__.startswith("numpy."))


def positions_of(kind: Kind) -> tuple[int, ...]:
    """The positions of the items of a tuple whose adjoint may be a plain tuple."""
    return tuple(range(len(kind.items))) if isinstance(kind, Tuple) and is_tuple(kind) else ()


def is_record(kind: Kind) -> bool:
    """Whether the kind is that of objects of a user's class."""
    return isinstance(kind, Record)


def length_of(kind: Kind) -> int:
    """The length of a list or tuple, if it is known, else 0."""
    return len(kind.items or ()) if isinstance(kind, (List, Tuple)) else 0


def is_any_tuple(kind: Kind) -> bool:
    return isinstance(kind, Tuple)


def holds_immutables(kind: Kind) -> bool:
    """Whether a value of the kind is a container whose items cannot be changed in place."""
    match kind:
        case Tuple(items):
            return all(map(is_immutable, items))
        case List(_, element):
            return isinstance(element, Nothing) or is_immutable(element)
        case Dict(items):
            return all(is_immutable(k) for _, k in items)
    return False


def holds_arrays(kind: Kind) -> bool:
    """Whether a value of the kind is an array, or a container of arrays and inactive values only."""
    match kind:
        case Tuple(items):
            return all(is_differentiable(k) is False or holds_arrays(k) for k in items)
        case List(_, element):
            return isinstance(element, Nothing) or holds_arrays(element)
        case Dict(items):
            return all(is_differentiable(k) is False or holds_arrays(k) for _, k in items)
    return isinstance(kind, (Array, Foreign))


def may_hold_integers(kind: Kind) -> bool:
    """Whether a list may hold arrays of integers wherever it may hold others."""
    element = as_numpy(kind.element) if isinstance(kind, List) and kind.items is None else None
    return isinstance(element, Array) and is_differentiable(element) is None


def is_tuple_of_numbers(kind: Kind) -> bool:
    """Whether the kind is a tuple without arrays and containers."""
    return isinstance(kind, Tuple) and any(
        is_tuple_of_numbers(item) or not (is_array(item) or is_container(item)) for item in kind.items
    )


def is_list_of_numbers(kind: Kind, or_unknown: bool = False) -> bool:
    """Whether the kind is a list or tuple of numbers and arrays, or of such lists; with `or_unknown` what is
    not known counts as a number.
    """
    match kind:
        case Tuple(items) | List(tuple() as items) if items:
            found = items
        case List(_, element):
            found = (element,)
        case _:
            return False
    return all(
        is_numeric(k) or is_list_of_numbers(k, or_unknown) or (or_unknown and k is UNKNOWN) for k in found
    )


def may_hold_numbers(kind: Kind, only_floats: bool = False) -> bool:
    """Whether values of the kind are, or hold, numbers; with `only_floats` such as carry a derivative."""
    match widen(kind):
        case Scalar() | Array() | Foreign() if not only_floats:
            return True
        case Tuple(found) | List(tuple() as found):
            return any(may_hold_numbers(k, only_floats) for k in found)
        case List(None, element):
            return may_hold_numbers(element, only_floats)
        case Dict(pairs) | Record(_, pairs):
            return any(may_hold_numbers(k, only_floats) for _, k in pairs)
        case other:
            return is_differentiable(other) is not False


def holds_integers(kind: Kind) -> bool | None:
    """Whether values of the kind are, or hold, integers or booleans; None where that is not known."""
    match as_numpy(widen(kind)):
        case Scalar(dtype):
            return dtype in (*INTEGERS, "bool") or (None if dtype in ("real", "number") else False)
        case Array(dtype, _):
            return None if dtype is None else dtype.startswith(("int", "uint", "bool"))
        case Tuple(found) | List(tuple() as found):
            answers = {holds_integers(k) for k in found}
        case List(None, element):
            return holds_integers(element)
        case Dict(pairs) | Record(_, pairs):
            answers = {holds_integers(k) for _, k in pairs}
        case Unknown() | Numeric() | Object():
            return None
        case _:
            return False
    return True in answers or (None if None in answers else False)


def may_be_changed(kind: Kind) -> bool:
    """Whether a call may change the kind of a value of this kind."""
    match kind:
        case Tuple(items):
            return any(map(may_be_changed, items))
        case List() | Dict() | Record() | Object() | OtherArray() | Unknown():
            return True
    return False


def truth_of(kind: Kind) -> bool | None:
    """The truth value of values of the kind; None when it is dynamic."""
    match kind:
        case Literal(None | bool() | str() as value):
            return bool(value)
        case Tuple(items, None):
            return bool(items)
    return None


def is_immutable(kind: Kind) -> bool:
    """Whether neither values of the kind nor their parts can be changed in place."""
    wide = widen(kind)
    return isinstance(wide, (Scalar, Literal, Likeness, EnumMember, Text)) or (
        isinstance(wide, Tuple) and all(map(is_immutable, wide.items))
    )


def holds_floats(kind: Kind) -> bool:
    """Whether all items of a list of this kind are floats."""
    return isinstance(kind, List) and is_real_scalar(element_kind(kind))


def has_length(kind: Kind) -> bool:
    """Whether `len` gives the number of iterations of a loop over the value."""
    return isinstance(kind, (Array, Foreign, Tuple, List))


def known_length(kind: Kind, axis: int) -> int | None:
    """The length of an axis of an array, where it is a constant; else None."""
    kind = as_numpy(kind)
    if not isinstance(kind, Array) or kind.dims is None:
        return None
    size = size_of(kind.dims[axis])
    return size.value if isinstance(size, Literal) else None


def keys_of(kind: Kind) -> tuple[str | int, ...]:
    """The keys of a container whose items have a kind each: for a tuple or list their positions."""
    match kind:
        case Dict(pairs):
            return tuple(key for key, _ in pairs)
        case Tuple(items, None) | List(tuple() as items):
            return tuple(range(len(items)))
    return ()


def rank(kind: Kind) -> int | None:
    """The number of axes, None where it is unknown."""
    if isinstance(widen(kind), Scalar):
        return 0
    kind = as_numpy(kind)
    return len(kind.dims) if isinstance(kind, Array) and kind.dims is not None else None


def axes_of(kind: Kind) -> tuple[bool, ...] | None:
    """For each axis of a number or array, whether its length may differ from one; None for an unknown rank.

    >>> axes_of(Array("float64", (None, 1))), axes_of(Scalar("float")), axes_of(Unknown())
    ((True, False), (), None)
    """
    if isinstance(widen(kind), Scalar):
        return ()
    kind = as_numpy(kind)
    return tuple(d != 1 for d in kind.dims) if isinstance(kind, Array) and kind.dims is not None else None


def literal_of(kind: Kind) -> tuple[object] | None:
    """The value of a kind that has only one, in a tuple; else None.

    >>> literal_of(Literal(2)), literal_of(Literal(None)), literal_of(Scalar("int"))
    ((2,), (None,), None)
    """
    return (kind.value,) if isinstance(kind, Literal) else None


def items_of(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the items of a container; empty where they are unknown."""
    match kind:
        case Dict(pairs):
            return tuple([k for _, k in pairs])
        case List(tuple() as items) | Tuple(items):
            return items
    return ()


def share_lengths_apart(kinds: Sequence[Kind]) -> bool:
    """Whether these are containers of arrays with a length in common within each, but not across them: the
    weights and biases of layers.
    """
    return len(set(kinds)) > 1 and all(map(_shares_a_length, kinds))


def _shares_a_length(kind: Kind) -> bool:
    held = items_of(kind)
    if not all(isinstance(k, Scalar) or (isinstance(k, Array) and k.dims) for k in held):
        return False
    lengths = Counter(d for k in held if isinstance(k, Array) for d in {*(k.dims or ())} - {None})
    return max(lengths.values(), default=0) > 1
