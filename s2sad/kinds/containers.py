"""The kinds of results of Python's functions of containers: `list`, `dict`, `sum`, `max`, views of dicts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ..runtime import adjoints as runtime
from ..runtime import mutation as updates
from ..runtime.containers import (
    copied_lists,
    dict_copy,
    dict_get,
    dict_items,
    dict_tangent,
    dict_values,
    items_tangent,
    list_copy,
    tangent_of_dict,
    values_tangent,
)
from ..transforms.trees.helpers import merged
from .indexing import element_kind
from .join import join, join_all
from .lattice import (
    NOTHING,
    UNKNOWN,
    Dict,
    Kind,
    List,
    Literal,
    Nothing,
    Tuple,
)
from .shaping import is_count

__all__ = ["container_kind"]

CallKind = Callable[[Any, tuple[Kind, ...], tuple[tuple[str, Kind], ...]], Kind]


def container_kind(function: Any, args: tuple[Kind, ...], call_kind: CallKind) -> Kind | None:
    """The kind of the result of a builtin function of containers, None for other functions; `call_kind` gives
    the kinds of calls on elements.
    """
    match args:
        case [Tuple(xs), Tuple(ys)] if function in (operator.add, operator.iadd, operator.concat):
            return Tuple(xs + ys)
        case [List(_, x), List(_, y)] if function in (operator.add, operator.iadd, operator.concat):
            return List(None, join(x, y))
        case [List(_, x), List(_, y)] if function is runtime.add:
            return List(None, call_kind(function, (x, y), ()))
        case [List(), _] | [_, List()] if function is operator.concat:
            return List(None, UNKNOWN)
        case [List(_, x), count] if function in (operator.imul, updates.repeated) and is_count(count):
            return List(None, x)
        case [count, List(_, x)] if function is updates.times_repeated and is_count(count):
            return List(None, x)
        case [Tuple(items) | List(tuple() as items, _)] if function is tuple:
            return Tuple(items)
        case [Dict(pairs)] if function is dict_items:
            return List(None, Tuple((element_kind(args[0]), _value_kind(pairs))))
        case [Dict(pairs)] if function is items_tangent:
            return List(None, Tuple((Literal(None), _value_kind(pairs))))
        case [Dict(pairs)] if function in (dict_values, values_tangent):
            return List(None, _value_kind(pairs))
        case [Dict() as x, *_] if function in (dict, dict_copy, dict_tangent, tangent_of_dict):
            return x
        case [Dict(xs), Dict(ys)] if function is merged or function is operator.or_:
            return Dict(tuple((dict(xs) | dict(ys)).items()))
        case [Dict(pairs), Literal(key), *_] if function is dict_get and key in dict(pairs):
            return next(kind for k, kind in pairs if k == key)
        case [x] if function is copied_lists:
            return x
        case [x] if function in (list, list_copy, sorted):
            return List(None, element_kind(x))
        case [x, *start] if function is sum and len(start) < 2:
            return _summed(x, start[0] if start else Literal(0), call_kind)
        case _ if function in (max, min):
            return _chosen(args)
    return None


def _value_kind(pairs: Sequence[tuple[Any, Kind]]) -> Kind:
    """The joined kind of the values of a dict."""
    return join_all([v for _, v in pairs]) if pairs else UNKNOWN


def _summed(kind: Kind, start: Kind, call_kind: CallKind) -> Kind:
    """The kind of `sum(values, start)`, from that of repeated additions."""
    if isinstance(kind, (Tuple, List)) and kind.items is not None:
        return reduce(lambda a, b: call_kind(operator.add, (a, b), ()), kind.items, start)
    if isinstance(kind, List) and isinstance(kind.element, Nothing):  # an empty one
        return start
    element, total = element_kind(kind), start
    for _ in range(6):
        larger = join(total, call_kind(operator.add, (total, element), ()))
        if larger is total:
            return total
        total = larger
    return UNKNOWN


def _chosen(args: tuple[Kind, ...]) -> Kind:
    """The kind of Python's `max` and `min`: that of one of the arguments, or of an element of the only one.
    """
    if len(args) == 1 and isinstance(args[0], List) and isinstance(args[0].element, Nothing):
        return NOTHING  # of an empty list, which raises
    return join_all([element_kind(args[0])] if len(args) == 1 else args)
