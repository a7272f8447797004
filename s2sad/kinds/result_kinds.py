"""The kind of a primitive's result: what `find_kinds` asks for at every call.

Contract: `call_kind` contains every result of a call that succeeds. Elementwise functions follow the rules of
broadcasting; functions of sizes and of containers have rules of their own; others are run on stand-ins, if
`eval_guard` allows it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..primitives.record import fact, find_rule, takes_arrays
from ..rules import choices
from ..rules.index_tricks import Indexing
from ..rules.methods import reshape_method
from ..rules.places import at_mask, flat_places
from ..runtime import adjoints as runtime
from ..runtime import builtin_reductions as sequences
from ..runtime import heap_arrays
from ..runtime import mutation as updates
from ..runtime import object_graph as heap_places
from ..runtime import shadow_table as memory
from ..transforms.analyses.template_slots import array_slots
from ..transforms.trees import helpers
from .abstract_eval import execute
from .containers import container_kind
from .creation import SIZED, grid_kind, sized_kind
from .decided_tests import COMPARISONS, TESTS, class_kind, truth_kind
from .elementwise import CROSSING, ELEMENTWISE, cross_kind, elementwise_kind
from .eval_guard import executed_kind
from .foreign import plain_kinds
from .indexing import adjoint_kind, array_or_scalar, attribute_kind, size_of
from .join import join_all
from .lattice import (
    NUMERIC,
    PENDING,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    Indices,
    Instance,
    Kind,
    Likeness,
    List,
    Literal,
    Nothing,
    Numeric,
    Pending,
    Record,
    Scalar,
    Sparse,
    Sym,
    Text,
    Tuple,
    as_numpy,
    of_library,
    widen,
)
from .queries import is_integer, is_list_of_numbers
from .random import DRAWING, draw_kind
from .shaping import SHAPING, kind_of_any_size, shaping_kind
from .sparse import kind_with_sparse, makes_sparse

__all__ = ["call_kind", "made_like"]

Function = Callable[..., Any]

_IN_PLACE = {
    getattr(operator, f"i{name}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")
}
_IN_PLACE |= {operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor}
_TESTS = re.compile("is[a-z]")
_EQUALITY = frozenset({operator.eq, operator.ne})
_OF_TEXT: dict[Any, Kind] = {
    **{getattr(str, n): Scalar("bool") for n in ("startswith", "endswith", *filter(_TESTS.match, dir(str)))},
    **{getattr(str, n): Scalar("int") for n in ("count", "find", "index", "rfind", "rindex")},
    **{getattr(str, n): List(None, TEXT) for n in ("split", "rsplit", "splitlines")},
    **{getattr(str, n): TEXT for n in ("lower", "upper", "strip", "lstrip", "rstrip", "replace", "title")},
    **{getattr(str, n): TEXT for n in ("center", "format", "join", "ljust", "rjust", "zfill")},
    **dict.fromkeys((operator.mod, operator.mul), TEXT),  # `text % values`, `text * 3`
}
_SEARCHES = frozenset({list.index, list.count, tuple.index, tuple.count})
_PRODUCTS = frozenset({operator.matmul, np.matmul, np.dot})
_SPLITS = frozenset({np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit})

# The position of the axis in functions whose first argument is an array.
_REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.any, np.all, np.std, np.var, np.argmax, np.argmin)
_ALONG = (np.cumsum, np.cumprod, np.sort, np.argsort)
_AXIS: dict[Any, int] = {**dict.fromkeys((*_REDUCTIONS, *_ALONG), 1), np.diff: 2}

_CHOOSING = frozenset({choices.kept_where, choices.zero_kept, choices.zeroed_where})
_TEXTS = frozenset({ascii, chr, format, repr, str})
_OBJECTS = frozenset({heap_places.outer_object, heap_places.reference})
_TOLD = frozenset({*_OBJECTS, *_TEXTS, *SHAPING, *DRAWING, runtime.unit_cotangent})
_MIRRORING = frozenset({runtime.zeros_like, runtime.copy_adjoint, runtime.add_at, updates.kept})
_FULL_REDUCTIONS = frozenset(
    {
        np.sum,
        np.mean,
        np.prod,
        np.max,
        np.min,
        np.std,
        np.var,
        np.any,
        np.all,
        np.linalg.norm,
        np.median,
        np.nansum,
        np.count_nonzero,
    }
)


def made_like(function: Any) -> int | None:
    """The position of the argument whose kind is that of the result; None for other functions."""
    found: int | None = fact(function, "like")
    return found


def call_kind(
    function: Any,
    args: Sequence[Kind],
    keywords: Mapping[str, Kind],
    pure: Callable[[Any], bool],
) -> Kind:
    """The kind of `function(*args, **keywords)`. Only functions that `pure` allows are ever run.

    >>> call_kind(operator.mul, [Scalar("float"), Array("float64", (None,))], {}, lambda f: True)
    Array(dtype='float64', dims=(None,))
    """
    given = (*args, *keywords.values())
    if any(isinstance(k, Nothing) for k in given):
        return PENDING if any(isinstance(k, Pending) for k in given) else UNKNOWN
    if any(isinstance(k, Sparse) for k in args) or makes_sparse(function):
        return kind_with_sparse(function, args)
    try:
        if not (function in _TOLD or pure(function)):  # neither by a rule nor by running it
            return UNKNOWN
        if made_like(function) is not None:
            return _call_kind(function, tuple(args), tuple(keywords.items()))
        args, keywords, library = plain_kinds(function, args, keywords)
        return of_library(_call_kind(function, tuple(args), tuple(keywords.items())), library)
    except TypeError:  # an unhashable object
        return UNKNOWN


@lru_cache(maxsize=8192)
def _call_kind(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function in TESTS or function in COMPARISONS:
        found = truth_kind(function, args)
        if found is not None or function in TESTS:
            return found or Scalar("bool")
    if function in _TEXTS:
        return TEXT
    if function is type and len(args) == 1:
        return class_kind(args[0])
    if function in _AXIS and args and isinstance(args[0], Array) and args[0].dims:
        return _kind_for_axes(function, args, keywords, len(args[0].dims))
    return _kind_of_known(function, args, keywords)


def _kind_of_known(function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    if function in DRAWING:
        return draw_kind(function, args, dict(keywords))
    args = _as_arrays(function, args)
    if function in SIZED:
        return sized_kind(function, args, dict(keywords), executed_kind)
    if function in SHAPING:
        return shaping_kind(function, args, dict(keywords))
    if isinstance(function, Indexing):
        return grid_kind(function, args)
    if not keywords:
        found = _structural_kind(function, args)
        if found is not None:
            return found
        found = container_kind(function, args, _call_kind)
        if found is not None:
            return found
        if function in _IN_PLACE:
            return args[0] if isinstance(args[0], Array) else _call_kind(_IN_PLACE[function], args, ())
        if _is_elementwise(function, len(args)):
            return elementwise_kind(function, args)
        if function in CROSSING:
            return cross_kind(args)
    found = executed_kind(function, args, keywords)
    return kind_of_any_size(function, args, dict(keywords)) if found is UNKNOWN else found


def _as_arrays(function: Any, args: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """The kinds of the arguments, with lists of numbers as the arrays that a function converts them to."""
    if function is np.asarray or not any(map(is_list_of_numbers, args)) or not takes_arrays(function):
        return args
    rule = find_rule(function)
    every = isinstance(function, np.ufunc) or (rule is not None and rule.structure == "elementwise")
    slots = frozenset() if rule is None else array_slots(rule)

    def is_taken(k: int) -> bool:
        return every or (rule is not None and min(k, rule.template.positional) in slots)

    return tuple(
        executed_kind(np.asarray, (arg,), ()) if is_list_of_numbers(arg) and is_taken(k) else arg
        for k, arg in enumerate(args)
    )


def _kind_for_axes(
    function: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...], rank: int
) -> Kind:
    """The kind of a call for an array of `rank` axes; for a dynamic axis, the join over all axes."""
    position = _AXIS[function]
    named = dict(keywords)
    axis = named.get("axis") or (args[position] if len(args) > position else None)
    if not isinstance(axis, Scalar) or axis.dtype != "int":
        return _kind_of_known(function, args, keywords)

    def along(k: int) -> Kind:
        if "axis" in named:
            return _call_kind(function, args, tuple({**named, "axis": Literal(k)}.items()))
        return _call_kind(function, (*args[:position], Literal(k), *args[position + 1 :]), keywords)

    return join_all(map(along, range(rank)))


def _is_elementwise(function: Any, count: int) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None and count == function.nin
    return function in _CHOOSING or (function in ELEMENTWISE and (function is not np.where or count == 3))


def _structural_kind(function: Any, args: tuple[Kind, ...]) -> Kind | None:
    """The kind of the result of a function of containers, sizes, or arrays of any rank; None for others."""
    place = made_like(function)
    like = args[place] if place is not None and place < len(args) else None
    like = like.array if isinstance(like, Likeness) else like
    array = as_numpy(like) if like is not None else None
    if isinstance(array, Array) and array.dtype is not None and array.dtype.startswith(("float", "complex")):
        return like
    if like is not None and widen(like) == Scalar("float") and fact(function, "like_number"):
        return widen(like)
    if function in (sequences.how_many, helpers.place_of_max, helpers.place_of_min):
        return Scalar("int")
    if function is helpers.order_of:
        return List(None, Scalar("int"))
    match args:
        case [Text()] if function in (int, float, complex):
            return Scalar(function.__name__)
        case [_, Array() as x] if function is updates.stored_in:
            return x
        case [value, Scalar() | Literal()] if function is updates.stored_in:
            return value
        case [Array() | Numeric() | Scalar() | Literal(), Numeric()] if function is updates.stored_in:
            return NUMERIC
        case [Array() as x, *_] if function is heap_arrays.with_item:
            return x
        case [Array() | Numeric() as x, Array() | Numeric() as y] if (
            function in _PRODUCTS and None in (getattr(x, "dims", None), getattr(y, "dims", None))
        ):
            return NUMERIC
        case [Array(str() as dtype, tuple(dims)) as x] if _is_ufunc(function, "reduce") and dims:
            like = elementwise_kind(function.__self__, (x, x)) if dtype.startswith("float") else UNKNOWN
            return array_or_scalar(like.dtype, dims[1:]) if isinstance(like, Array) else UNKNOWN
        case [Array(_, tuple(rows)), Array(_, tuple(columns))] if (
            _is_ufunc(function, "outer") and rows + columns
        ):
            made = elementwise_kind(function.__self__, args)
            return Array(made.dtype, rows + columns) if isinstance(made, Array) else UNKNOWN
        case [Array(dtype, tuple(dims)), *_] if function in _SPLITS and dims:
            return List(None, Array(dtype, (None,) * len(dims)))
        case [Array()] if function is np.linalg.eig:  # real or complex, by the values
            return Tuple((Array(None, None), Array(None, None)), type(function(np.eye(1))))
        case [x] if function is memory.shallow_copy:
            return x
        case [(Literal() | Scalar() | Array() | Numeric() | Tuple()) as x] if (
            function is heap_places.plain_number
        ):
            return x
        case [List()] if function is heap_places.outer_object:
            return List(None, UNKNOWN)
        case [_, Literal(type() as cls)] if function in _OBJECTS:
            return Instance(cls)
        case [_, x] if function is memory.adjoint_of:
            return adjoint_kind(x)
        case [Array() as x] if function is runtime.like:
            return Likeness(x)
        case [Scalar("float" | "real")] if function is runtime.unit_cotangent:  # it refuses integers
            return Scalar("float")
        case [Array(_, dims) as x] if function is runtime.unit_cotangent and dims:
            return x
        case [_, Numeric()] if function is runtime.unreduce:
            return NUMERIC
        case [_] if function is runtime.zeros_of:
            return Array(None, None)
        case [(Tuple() | List() | Dict()) as x, *_] if function in _MIRRORING:
            return adjoint_kind(x)
        case [Array(_, dims), Array(dtype)] if function is updates.cast_like:
            return Array(dtype, dims)
        case [_, Array(_, dims)] if function is updates.mask_like:
            return Array("bool", dims)
        case [Array(_, tuple(dims)), Scalar() | Literal(int())] if function is flat_places:
            return Tuple((Scalar("int64"),) * len(dims))
        case [Array(_, dims), _] if function is choices.places_at:
            return Array("bool", dims)
        case [Array(dtype), _] if function is at_mask:
            return Array(dtype, (None,))
        case [Tuple(sizes)] | [*sizes] if function is np.ndindex and all(map(is_integer, sizes)):
            return Indices(len(sizes))
        case [Array() as x, *shape] if function is reshape_method and shape:
            lengths = shape[0] if len(shape) == 1 else Tuple(tuple(shape))
            return sized_kind(np.reshape, (x, lengths), {}, execute)
        case [Array(_, tuple((first, *_)))] if function is len:
            return size_of(first)
        case [Tuple(items)] if function is len:
            return Literal(len(items))
        case [_] if function is len:
            return Scalar("int")
        case [Record(cls) | Tuple(_, type() as cls)] if function is type:
            return Literal(cls)
        case [Array()] if function in (np.shape, np.size, np.ndim):
            return attribute_kind(args[0], function.__name__)
        case [Scalar("int", Sym() as size), Literal(int() as n)] if function in (operator.add, operator.sub):
            return size_of(size.moved(n if function is operator.add else -n))
        case [(Array() | Scalar()), (Array() | Scalar())] if function is runtime.add:
            return _call_kind(operator.add, args, ())
        case [Array(dtype, None)] if function in _FULL_REDUCTIONS:
            return _call_kind(function, (Array(dtype, (Sym("any", 0, True),)),), ())
        case [Numeric()] if function in _FULL_REDUCTIONS:
            return Scalar("number")
        case [(Literal() | Scalar() | Text()), (Literal() | Scalar() | Text())] if function in _EQUALITY:
            return Scalar("bool")
        case [(Text() | Literal(str())), *_] if function in _OF_TEXT:
            return _OF_TEXT[function]
        case [List() | Tuple(), *_] if function in _SEARCHES:
            return Scalar("int")
        case [(Text() | Literal(str())), (Text() | Literal(str()))] if function is operator.add:
            return TEXT
    return None


def _is_ufunc(function: Any, method: str) -> bool:
    """Whether a function is this method of a ufunc."""
    return isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == method
