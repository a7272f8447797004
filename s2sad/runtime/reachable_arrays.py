"""The arrays and containers that a function can reach without being passed them: globals, cells, defaults.

Contract: places are kept, not values, since what they hold may be replaced; it may alias an argument.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..primitives.record import find_rule, is_nondifferentiable
from ..values.code_state import LIBRARIES, names_in
from ..values.objects import fields_of, is_plain

__all__ = ["CONTAINERS", "Outside", "contents", "held_in", "outside_of"]

Place = Callable[[], Any]


class Outside:
    """Places outside of a function."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)

    def held(self) -> list[Any]:
        """What the places hold now."""
        return [place() for place in self.places]

    def __bool__(self) -> bool:
        return bool(self.places)


def outside_of(read: Iterable[Any]) -> Outside:
    """The places with arrays, containers or the user's objects that the functions and objects in `read` can
    reach.
    """
    places: list[Place] = []
    seen: set[int] = set()
    todo = [type(x) if _is_own_object(x) else x for x in read]
    while todo:
        function = todo.pop()
        if id(function) in seen or not _is_users(function):
            continue
        seen.add(id(function))
        for place in _places(function):
            value = place()
            todo.append(type(value) if _is_own_object(value) else value)
            if _is_own_object(value) or held_in(value):
                places.append(place)
    return Outside(places)


def held_in(x: Any, functions: bool = False) -> list[Any]:
    """The arrays, lists, dicts and deques that a value is or holds, in containers and objects of the user's
    classes, one for each place; with `functions` also those that the functions in it reach.
    """
    found: list[Any] = []
    seen: set[int] = set()
    todo = [x]
    while todo:
        x = todo.pop()
        if isinstance(x, (np.ndarray, *CONTAINERS)):
            found.append(x)
        if isinstance(x, np.ndarray) or id(x) in seen:
            continue
        parts: Iterable[Any] = ()
        if isinstance(x, dict):
            parts = x.values()
        elif isinstance(x, (list, tuple, deque)):
            parts = x
        elif isinstance(x, Outside):
            parts = x.held()
        elif functions and isinstance(x, FUNCTIONS) and not _is_librarys(x):
            parts = [place() for place in _places(x)]
        elif _is_own_object(x):
            parts = fields_of(x).values()
        if parts:
            seen.add(id(x))
            todo += parts
    return found


CONTAINERS = (list, dict, deque)
FUNCTIONS = (FunctionType, MethodType, functools.partial)


def _is_own_object(x: Any) -> bool:
    """Whether a value is an object of a user's class."""
    return not _is_librarys(type(x)) and is_plain(type(x))


def _is_librarys(x: Any) -> bool:
    return (getattr(x, "__module__", None) or "").partition(".")[0] in LIBRARIES


def _is_users(function: Any) -> bool:
    """Whether a function or class is the user's: of no library and without a rule."""
    if not callable(function) or (_is_librarys(function) and not isinstance(function, functools.partial)):
        return False
    try:
        return find_rule(function) is None and not is_nondifferentiable(function)
    except TypeError:  # not hashable
        return True


def _places(function: Any) -> Iterator[Place]:
    """The places that a function reads: defaults, cells, globals, a bound object; the attributes of a class.
    """
    match function:
        case MethodType():
            yield lambda: function.__self__
            yield lambda: function.__func__
        case functools.partial():
            yield lambda: function.func
            yield lambda: [*function.args, *function.keywords.values()]
        case type():
            for name in tuple(vars(function)):  # reading an attribute may set others
                yield functools.partial(_attribute, function, name)
        case FunctionType():
            yield lambda: function.__defaults__
            yield lambda: function.__kwdefaults__
            for cell in function.__closure__ or ():
                yield functools.partial(contents, cell)
            names = names_in(function.__code__)
            for name in names & function.__globals__.keys():
                yield functools.partial(function.__globals__.get, name)
                module = function.__globals__[name]
                if isinstance(module, ModuleType) and module.__name__.partition(".")[0] not in LIBRARIES:
                    for attribute in names & vars(module).keys():
                        yield functools.partial(_attribute, module, attribute)
        case _:
            yield lambda: type(function)


def _attribute(owner: Any, name: str) -> Any:
    value = vars(owner).get(name)
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def contents(cell: Any) -> Any:
    """The value in a cell of a closure; None for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
