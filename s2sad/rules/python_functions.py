"""Functions of Python's library that are what their documentation says, written out: calls of these are
differentiated in their place.
"""

from __future__ import annotations

import functools
import heapq
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ..primitives.record import stands_in


@stands_in(heapq.nsmallest)
def nsmallest(n: int, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    return sorted(iterable, key=key)[: max(n, 0)]


@stands_in(heapq.nlargest)
def nlargest(n: int, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@stands_in(operator.getitem)
def getitem(a: Any, b: Any) -> Any:
    return a[b]


@stands_in(operator.call)
def call(obj: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return obj(*args, **kwargs)


@stands_in(dict.fromkeys)
def fromkeys(iterable: Iterable[Any], value: Any = None) -> dict[Any, Any]:
    return {key: value for key in iterable}  # noqa: C420  (which is what this stands for)


@stands_in(functools.reduce)
def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], *start: Any) -> Any:
    rest = list(iterable)
    if start:
        total = start[0]
    elif rest:
        total = rest[0]
        rest = rest[1:]
    else:
        raise TypeError("reduce() of empty iterable with no initial value")
    for item in rest:
        total = function(total, item)
    return total
