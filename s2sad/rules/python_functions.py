"""Functions of Python's library that are what their documentation says, written out: calls of these are
differentiated in their place.
"""

from __future__ import annotations

import functools
import heapq
import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ..primitives.record import nondifferentiable, stands_in


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


def places(signature: inspect.Signature, count: int, keys: tuple[str, ...], partial: bool) -> Any:
    """The names that a signature binds, each with the position or the keyword of its argument: several for
    `*args`, a dict for `**keywords`.
    """
    bind = signature.bind_partial if partial else signature.bind
    return tuple(bind(*range(count), **{k: k for k in keys}).arguments.items())


def defaults(bound: inspect.BoundArguments) -> Any:
    """The names of the arguments with those that have defaults, each with whether it is bound, and the
    default.
    """
    kinds: dict[Any, Any] = {inspect.Parameter.VAR_POSITIONAL: (), inspect.Parameter.VAR_KEYWORD: {}}
    found = [(p, kinds.get(p.kind, p.default)) for p in bound.signature.parameters.values()]
    names = bound.arguments
    return [(p.name, p.name in names, v) for p, v in found if p.name in names or v is not inspect._empty]


nondifferentiable([places, defaults])


@stands_in(inspect.Signature._bind)  # type: ignore[attr-defined]
def _bind(
    self: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], *, partial: bool = False
) -> inspect.BoundArguments:
    arguments: Any = {}
    for name, place in places(self, len(args), tuple(kwargs), partial):
        if isinstance(place, int):
            arguments[name] = args[place]
        elif isinstance(place, str):
            arguments[name] = kwargs[place]
        elif isinstance(place, tuple):
            arguments[name] = args[place[0] :]
        else:
            arguments[name] = {key: kwargs[key] for key in place}
    return inspect.BoundArguments(self, arguments)


@stands_in(inspect.BoundArguments.apply_defaults)
def apply_defaults(self: inspect.BoundArguments) -> None:
    arguments: Any = {}
    for name, is_bound, value in defaults(self):
        arguments[name] = self.arguments[name] if is_bound else value
    self.arguments = arguments
