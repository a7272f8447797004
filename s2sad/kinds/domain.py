"""The domain of kinds as the transforms see it: the answers to their questions about kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import gast

from ..transforms.analyses.operations import index_items
from ..transforms.trees.nodes import dotted
from ..values.libraries import other_array
from ..values.objects import has_operators, is_plain
from ..values.objects import missing_attribute as missing_in
from . import shape_relations as kind_plans
from .abstraction import MAX_ITEMS, kind_of_free
from .class_members import (
    are_apart,
    attribute_kind,
    held_kind,
    holds_number,
    holds_objects,
    may_hold_containers,
    mirror_kind,
    named_kind,
    of_unknown,
    setter_of,
    with_changed,
    with_field,
    without_objects,
)
from .indexing import (
    BOOL,
    INTEGER,
    dict_kind,
    element_kind,
    iteration_kind,
    kind_of_literal,
    list_kind,
    literal_int,
    sequence_of,
    size_of,
    slice_item,
    stored_kind,
    subscript_kind,
    summed_kind,
    tuple_kind,
    unpack_kinds,
)
from .indexing import kind_of_static as _kind_of_static
from .join import join
from .lattice import (
    OBJECT,
    PENDING,
    SET,
    SPARSE,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    Foreign,
    Kind,
    List,
    Literal,
    Nothing,
    Numeric,
    Object,
    OtherArray,
    Pending,
    Random,
    Record,
    Scalar,
    Sparse,
    Tuple,
    as_numpy,
    widen,
)
from .memory import memory_of
from .queries import (
    are_alike,
    axes_of,
    dtype_of,
    has_length,
    holds_arrays,
    holds_floats,
    holds_immutables,
    holds_integers,
    is_any_tuple,
    is_array,
    is_container,
    is_dict,
    is_float,
    is_foreign,
    is_immutable,
    is_integer,
    is_list,
    is_list_of_numbers,
    is_numeric,
    is_python_real,
    is_real,
    is_real_scalar,
    is_record,
    is_scalar,
    is_tuple,
    is_tuple_of_numbers,
    keep_real_dtype,
    keys_of,
    known_length,
    length_of,
    literal_of,
    may_be_changed,
    may_be_other_array,
    may_have_no_axes,
    may_hold_integers,
    may_hold_numbers,
    positions_of,
    rank,
    share_real_dtype,
    truth_of,
)
from .random import drawn_kind
from .result_kinds import call_kind, made_like
from .shape_relations import is_constant, is_differentiable, is_mask_of, may_misfit, unbroadcast_plan
from .sparse import GIVING_SPARSE

__all__ = [
    "BOOL",
    "INTEGER",
    "SET",
    "TEXT",
    "UNKNOWN",
    "are_alike",
    "are_apart",
    "attribute_kind",
    "axes_of",
    "call_kind",
    "dict_kind",
    "element_kind",
    "has_length",
    "held_kind",
    "holds_array",
    "holds_arrays",
    "holds_floats",
    "holds_immutables",
    "holds_integers",
    "holds_number",
    "holds_objects",
    "is_any_tuple",
    "is_array",
    "is_basic_index",
    "is_choice_of",
    "is_constant",
    "is_container",
    "is_dict",
    "is_differentiable",
    "is_float",
    "is_floating",
    "is_foreign",
    "is_immutable",
    "is_integer",
    "is_list",
    "is_list_of_numbers",
    "is_mask_of",
    "is_numeric",
    "is_python_real",
    "is_real",
    "is_real_scalar",
    "is_record",
    "is_row",
    "is_scalar",
    "is_scalar_item",
    "is_tuple",
    "is_tuple_of_numbers",
    "is_vector_of_floats",
    "item_kind",
    "item_nature",
    "iteration_kind",
    "join",
    "keep_real_dtype",
    "keys_of",
    "kind_of_literal",
    "kind_of_static",
    "kinds_of_items",
    "known_length",
    "lends_shape",
    "length_of",
    "list_kind",
    "literal_int",
    "literal_of",
    "made_like",
    "mask_kind",
    "may_be_changed",
    "may_be_other_array",
    "may_have_no_axes",
    "may_hold_containers",
    "may_hold_integers",
    "may_hold_numbers",
    "may_index_number",
    "may_misfit",
    "memory_of",
    "method_kind",
    "mirror_kind",
    "missing_attribute",
    "named_kind",
    "of_unknown",
    "other_array_words",
    "positions_of",
    "rank",
    "sequence_of",
    "setter_of",
    "shape_of",
    "share_real_dtype",
    "slice_item",
    "stored_kind",
    "subscript_kind",
    "summed_kind",
    "truth_of",
    "tuple_kind",
    "unbroadcast_plan",
    "unpack_kinds",
    "update_nature",
    "with_changed",
    "with_field",
    "without_objects",
    "zero_plan",
]


def kind_of_static(node: Any, value: Any) -> Kind:
    """The kind of the value of an outer name, or of an attribute of a module or class; Unknown for an object
    behind an attribute, or an object of an unknown class, if it has operators.

    The kind of data may be relied on: a derivative is generated anew when it changes.
    """
    if isinstance(value, bool):
        return Literal(value)
    kind = _kind_of_static(value)
    if kind is not UNKNOWN and not is_plain(type(value)):
        return kind
    found = kind_of_free(value, f"{'.'.join(dotted(node))}@")
    is_object = isinstance(found, (Record, Object)) or holds_objects(found)
    if is_object and isinstance(node, gast.Attribute):
        return OBJECT if has_operators(type(value)) and not isinstance(value, Number) else kind
    return found


def method_kind(kind: Kind, name: str, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of the result of a dynamic method of a value of this kind.

    >>> method_kind(Sparse(), "tocsr", [], {}), method_kind(Random(), "randn", [], {})
    (Sparse(), Scalar(dtype='float', size=None))
    """
    match kind:
        case Pending():
            return PENDING
        case Sparse() if name in GIVING_SPARSE:
            return SPARSE
        case Random():
            return drawn_kind(name, args, keywords)
    return UNKNOWN


def is_floating(kind: Kind) -> bool:
    """Whether values of the kind are numbers or arrays, of floats or complex numbers."""
    return is_numeric(kind) and is_differentiable(kind) is True


def zero_plan(kind: Kind) -> str:
    """How to write the zero adjoint of a value of the kind: "0.0", "None" (no number), "array" or the helper
    "zeros_like".
    """
    wide = widen(kind)
    is_empty = isinstance(wide, List) and isinstance(wide.element, Nothing)
    return kind_plans.zero_plan(wide) if is_empty or may_hold_numbers(wide) else "None"


def lends_shape(x: Kind, out: Kind, others: Sequence[Kind], as_floats: bool = False) -> bool:
    """Whether `x`, an operand of the elementwise operation with result `out`, is an array of the same shape;
    with `as_floats` also an array of integers where the result is of float64.
    """
    exact = as_numpy(x)
    is_exact = isinstance(exact, Array) and str(exact.dtype).startswith(("int", "uint", "bool"))
    if as_floats and not (is_exact and dtype_of(out) == "float64"):
        return False
    return kind_plans.lends_shape(x, out, others)


def shape_of(kind: Kind) -> tuple[str | int, ...] | None:
    """The positions of a tuple, list or short array, or the string keys of a dict; None where unknown."""
    match kind:
        case Array(_, tuple((first, *_))) if isinstance(size := size_of(first), Literal):
            return tuple(range(size.value)) if size.value <= MAX_ITEMS else None
        case Tuple(items):
            return tuple(range(len(items)))
        case List(items) if items is not None:
            return tuple(range(len(items)))
        case Dict(items) if all(isinstance(k, str) for k, _ in items):
            return tuple(k for k, _ in items)
    return None


def missing_attribute(kind: Kind, name: str) -> str | None:
    """What Python says where an object of this kind is read for an attribute that it has not; None where it
    has one, or may.
    """
    return missing_in(kind.cls, dict(kind.fields), name) if isinstance(kind, Record) else None


def other_array_words(kind: Kind, shown: str) -> tuple[str, str, str] | None:
    """What is wrong with an operand, shown so, that is an array with operations of its own; why, and what to
    write instead. None for other kinds.
    """
    return other_array(kind.cls, shown) if isinstance(kind, OtherArray) else None


def mask_kind(kind: Kind) -> Kind:
    """The kind of a boolean mask of an array."""
    if isinstance(kind, Foreign):
        return Foreign(kind.library, Array("bool", kind.array.dims))
    return Array("bool", kind.dims) if isinstance(kind, Array) else UNKNOWN


def is_choice_of(index: Kind, base: Kind) -> bool:
    """Whether an index is a boolean mask of the whole array."""
    index = as_numpy(index)
    is_mask = isinstance(index, Array) and index.dtype == "bool"
    return is_mask and bool(rank(index)) and rank(index) == rank(base)


def is_row(kind: Kind, whole: bool = False) -> bool:
    """Whether the kind is a list or tuple of floats and constants; with `whole`, of known length, and its
    tangent, which has None for integers, is one as well.
    """
    match kind:
        case Tuple(items, None) | List(tuple() as items):
            carrying = [i for i in items if not isinstance(i, Literal)]
            numbers = all(is_real_scalar(i) if whole else is_scalar(i) for i in items)
            return numbers and bool(carrying) and all(map(is_real_scalar, carrying))
        case List(None, element):
            return not whole and is_real_scalar(element)
    return False


def is_vector_of_floats(kind: Kind) -> bool:
    return isinstance(kind, Array) and kind.dtype == "float64" and rank(kind) == 1


def kinds_of_items(kind: Kind, count: int) -> list[Kind]:
    """The kinds of the items of a tuple with `count` items."""
    return list(kind.items) if isinstance(kind, Tuple) else [UNKNOWN] * count


def update_nature(x: Kind, result: Kind) -> str:
    """What `x += v` does to an `x` of this kind, when `x + v` is of kind `result`: "immutable" (no change),
    "same" (an array is overwritten by one of its shape and dtype), "alike" (of its dtype), "array", or
    "unknown".
    """
    wide = widen(x)
    if isinstance(wide, (Scalar, Literal, Tuple)) or (isinstance(wide, Foreign) and wide.library.rebinds):
        return "immutable"
    if isinstance(wide, Foreign):
        return "array"
    if isinstance(wide, Array):
        if wide.dtype is None or not isinstance(result, Array) or result.dtype != wide.dtype:
            return "array"
        return "same" if wide is result and wide.dims is not None and None not in wide.dims else "alike"
    return "unknown"


def item_nature(base: Kind) -> str:
    """The nature of a value with items: an "array" (items are views), a "container" (of objects), "unknown".
    """
    if isinstance(base, (Array, Foreign, Numeric)):
        return "array"
    return "container" if is_container(base) else "unknown"


def holds_array(base: Kind, index: Any, kind: Callable[[Any], Kind]) -> bool:
    """Whether an item of a list or dict is an array with axes; without axes it may be a NumPy scalar."""
    item = item_kind(base, index, kind)
    return isinstance(base, (List, Dict)) and isinstance(item, Array) and bool(item.dims)


def item_kind(base: Kind, index: Any, kind: Callable[[Any], Kind]) -> Kind:
    """The kind of `base[index]`; `kind` gives those of the atoms of the index."""

    def part(node: Any) -> Any:
        if not isinstance(node, gast.Slice):
            return kind(node)
        bounds = (node.lower, node.upper, node.step)
        return slice_item(*(None if b is None else literal_int(kind(b)) for b in bounds))

    return subscript_kind(base, [part(i) for i in index_items(index)])


def is_scalar_item(base: Kind, index: Any, kind: Callable[[Any], Kind]) -> bool:
    """Whether an item of an array is a number, not a view."""
    if not isinstance(base, Array) or any(isinstance(n, gast.Slice) for n in index_items(index)):
        return False
    parts = [kind(n) for n in index_items(index)]
    if not isinstance(index, gast.Tuple) and isinstance(parts[0], Tuple):
        parts = [*parts[0].items]
    return rank(base) == len(parts) and all(map(is_integer, parts))


def may_index_number(base: Kind, index: Any, kind: Callable[[Any], Kind]) -> bool:
    """Whether `base[index]` may index a NumPy scalar: the index has None, `...` and `()` only."""
    parts = [UNKNOWN if isinstance(i, gast.Slice) else kind(i) for i in index_items(index)]
    no_axes = all(isinstance(p, Literal) and p.value in (None, ...) for p in parts)
    return is_scalar(base) or (isinstance(base, Numeric) and no_axes)


def is_basic_index(index: Any, kind: Callable[[Any], Kind]) -> bool:
    """Whether an index is basic, so that it selects each element once: integers, slices, None, Ellipsis and
    tuples of them; `x[~k]` is one.
    """
    if isinstance(index, gast.Name) and isinstance(found := kind(index), Tuple):
        return all(map(_is_basic, found.items))

    def is_basic(part: Any) -> bool:
        is_inverted = isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.Invert)
        return isinstance(part, gast.Slice) or is_inverted or _is_basic(kind(part))

    return all(map(is_basic, index_items(index)))


def _is_basic(kind: Kind) -> bool:
    """Whether one part of an index, of this kind, is basic."""
    if isinstance(kind, Literal):
        return kind.value is None or kind.value is ... or isinstance(kind.value, (int, slice))
    return is_integer(kind)

