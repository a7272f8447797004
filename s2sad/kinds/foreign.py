"""The kinds of results of functions that NumPy passes on to another library, by its protocols.

Contract: a library's functions return what NumPy's return, as arrays of its own; also where NumPy returns a
number.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..runtime import adjoints as runtime
from ..values.libraries import Library
from .elementwise import ELEMENTWISE
from .lattice import Dict, Foreign, Kind, List, Tuple, as_numpy

__all__ = ["is_passed_on", "libraries_in", "plain_kinds"]

_DISPATCHER = type(np.sum)
_OWN = (f"{__name__.partition('.')[0]}.rules.", f"{__name__.partition('.')[0]}.runtime.")
_CONVERTING = frozenset({float, int, bool, complex})
_APART = frozenset({runtime.like, runtime.zeros_of})  # they tell by the value


@lru_cache(maxsize=1024)
def is_passed_on(function: Any) -> bool:
    """Whether arrays of other libraries decide what a call of a function does: NumPy's functions of arrays,
    operators, and functions of the rules that are made of these.

    >>> is_passed_on(np.sum), is_passed_on(np.sin), is_passed_on(np.asarray), is_passed_on(np.ones)
    (True, True, False, False)
    """
    if isinstance(getattr(function, "__self__", function), np.ufunc):
        return True
    if isinstance(function, _DISPATCHER):
        return "like" not in inspect.signature(function).parameters  # others look at `like` alone
    if getattr(function, "__module__", "") == "math" or function in _CONVERTING or function is round:
        return False
    if function in ELEMENTWISE or function is operator.matmul:
        return True
    return str(getattr(function, "__module__", "")).startswith(_OWN) and function not in _APART


def libraries_in(kinds: Iterable[Kind]) -> set[Library]:
    """The libraries of the arrays among values of these kinds, and in lists, tuples and dicts of them."""
    found: set[Library] = set()
    for kind in kinds:
        match kind:
            case Foreign(library):
                found.add(library)
            case Tuple(items) | List(tuple() as items, _):
                found |= libraries_in(items)
            case List(_, element):
                found |= libraries_in([element])
            case Dict(pairs):
                found |= libraries_in(k for _, k in pairs)
    return found


def plain_kinds(
    function: Any, args: Sequence[Kind], keywords: Mapping[str, Kind]
) -> tuple[tuple[Kind, ...], dict[str, Kind], Library | None]:
    """The kinds of arguments as if all arrays were NumPy's, and the library that the call is passed on to;
    None for a call that no library takes part in, or several do.
    """
    given = (*args, *keywords.values())
    if function in _CONVERTING:  # which return Python's numbers
        return tuple(map(as_numpy, args)), dict(keywords), None
    tops = {k.library for k in given if isinstance(k, Foreign)}
    found = libraries_in(given) if isinstance(function, _DISPATCHER) else tops
    if len(found) != 1 or not is_passed_on(function):
        return tuple(args), dict(keywords), None
    return tuple(map(_plain, args)), {name: _plain(k) for name, k in keywords.items()}, found.pop()


def _plain(kind: Kind) -> Kind:
    match kind:
        case Foreign():
            return as_numpy(kind)
        case Tuple(items, cls):
            return Tuple(tuple(map(_plain, items)), cls)
        case List(items, element):
            return List(None if items is None else tuple(map(_plain, items)), _plain(element))
    return kind
