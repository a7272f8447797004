"""The arrays that a function and its callees can reach without being passed them: globals, cells, defaults.

Contract: places are kept, not values, since an array may be replaced; such an array may alias an argument.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..primitives.record import find_rule, is_nondifferentiable
from ..values.code_state import LIBRARIES, names_in
from ..values.objects import fields_of, is_plain

__all__ = ["Outside", "arrays_in", "contents", "outside_of"]

Place = Callable[[], Any]


class Outside:
    """Places outside of a function; `arrays` returns the arrays that they hold now."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)

    def arrays(self) -> list[np.ndarray]:
        return arrays_in([place() for place in self.places])

    def __bool__(self) -> bool:
        return bool(self.places)


def outside_of(read: Iterable[Any]) -> Outside:
    """The places with arrays or the user's objects that the functions and objects in `read` can reach."""
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
            if _is_own_object(value) or arrays_in(value):
                places.append(place)
    return Outside(places)


def arrays_in(x: Any) -> list[np.ndarray]:
    """The arrays that a value is or holds, in containers and objects of the user's classes."""
    found: list[np.ndarray] = []
    seen: set[int] = set()
    todo = [x]
    while todo:
        x = todo.pop()
        if isinstance(x, np.ndarray):
            found.append(x)
        elif isinstance(x, (list, tuple, dict, Outside)) or _is_own_object(x):
            if id(x) in seen:
                continue
            seen.add(id(x))
            if isinstance(x, Outside):
                found += x.arrays()
            elif isinstance(x, dict):
                todo += x.values()
            else:
                todo += x if isinstance(x, (list, tuple)) else fields_of(x).values()
    return found


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
