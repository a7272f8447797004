"""Snapshots of the state before a run, to run a function again from the same state.

A function may change its arguments and what it reads around it, and draw random numbers; an iterator, which a
run consumes, is refused.
"""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import IOBase
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError
from .code_state import LIBRARIES, cells_of, names_in
from .objects import fields_of, is_plain

__all__ = ["Before"]

ATOMS = (float, int, bool, complex, str, type(None))
FIXED = (tuple, MethodType, functools.partial)
RANDOM = (np.random.Generator, np.random.RandomState, random.Random)
# The global states of the random functions of modules.
GLOBAL: list[Any] = [vars(module)["random"].__self__ for module in (np.random, random)]
Part = tuple[Any, Any]  # an object and its contents, now or before


class Before:
    """A snapshot of everything that can be reached from some values. The first run leaves what it changes;
    each other one starts from the snapshot, and leaves what the first one left.

    >>> x = [1.0]
    >>> before = Before(x)
    >>> with before.run():
    ...     x.append(2.0)
    >>> with before.run():
    ...     print(x)
    [1.0]
    >>> x
    [1.0, 2.0]
    """

    def __init__(self, *values: Any) -> None:
        self._parts = list(_parts_of((*values, *GLOBAL)))
        self._runs = 0

    @property
    def can_undo(self) -> bool:
        """Whether no iterator is among the values, which a run uses up."""
        return not any(isinstance(x, Iterator) for x, _ in self._parts)

    def undo(self) -> None:
        """Goes back to the state of the snapshot, as if nothing had run."""
        for x, held in self._parts:
            if not _holds(x, held):
                _fill(x, held)

    @contextmanager
    def run(self) -> Iterator[None]:
        """The context of a run."""
        self._runs += 1
        if self._runs == 1:
            yield
            return
        if self._runs == 2:
            self._parts = [(x, held) for x, held in self._parts if not _holds(x, held)]
        for x, _ in self._parts:
            if isinstance(x, Iterator):
                raise NonDifferentiableError(
                    f"a function that runs more than once was given an iterator, a {type(x).__name__}",
                    why="its first run uses it up",
                    instead="pass a list of its items",
                )
        now = [(x, _contents(x)) for x, _ in self._parts]
        for x, held in self._parts:
            _fill(x, held)
        try:
            yield
        finally:
            for x, held in now:
                _fill(x, held)


def _parts_of(values: Any) -> Iterator[Part]:
    seen: set[int] = set()
    todo = list(values)
    while todo:
        x = todo.pop()
        if type(x) in ATOMS or id(x) in seen:
            continue
        seen.add(id(x))
        held = _contents(x)
        if held is not None and not isinstance(x, FIXED):
            yield x, held
        if held is not None and not isinstance(x, (np.ndarray, *RANDOM)):
            todo += held.values() if isinstance(held, dict) else held


def _contents(x: Any) -> Any:
    """A copy of the contents of an object; None for objects that are not looked into."""
    if isinstance(x, Iterator) and not isinstance(x, IOBase):
        return ()
    if isinstance(x, (np.ndarray, list, dict)):
        return x.copy()
    match x:
        case np.random.Generator():
            return x.bit_generator.state
        case np.random.RandomState():
            return x.get_state(legacy=False)
        case random.Random():
            return x.getstate()
        case tuple():
            return x
        case MethodType():
            return x.__self__, x.__func__
        case FunctionType():
            return None if _is_librarys(x) else {key: v for key, v in _variables_around(x) if v is not x}
        case functools.partial():
            return x.func, x.args, x.keywords
    is_own = type(x) is SimpleNamespace or not _is_librarys(type(x))
    return fields_of(x) if is_own and is_plain(type(x)) else None


def _is_librarys(x: Any) -> bool:
    return (getattr(x, "__module__", None) or "").partition(".")[0] in LIBRARIES


def _variables_around(f: FunctionType) -> Iterator[tuple[tuple[str | None, str], Any]]:
    """The variables that a function reads of what is around it, by where they are (None: in a cell, "": a
    global, else: in a module of that name) and their names.
    """
    for name, cell in cells_of(f).items():
        with suppress(ValueError):  # an empty one
            yield (None, name), cell.cell_contents
    names = names_in(f.__code__)
    for name in sorted(names & f.__globals__.keys()):
        value = f.__globals__[name]
        yield ("", name), value
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in LIBRARIES:
            yield from (((name, attr), vars(value)[attr]) for attr in sorted(names & vars(value).keys()))


def _holds(x: Any, held: Any) -> bool:
    """Whether the contents of an object are these."""
    if isinstance(x, RANDOM):
        return _are_equal(_contents(x), held)
    if isinstance(x, Iterator):
        return False
    if isinstance(x, np.ndarray):
        return bool(x.shape == held.shape and x.tobytes() == held.tobytes())
    now = _contents(x)
    if isinstance(held, dict):
        return list(now) == list(held) and all(now[k] is v for k, v in held.items())
    return len(now) == len(held) and all(map(operator.is_, now, held))


def _are_equal(a: Any, b: Any) -> bool:
    """Whether two states of a source of random numbers are equal."""
    if isinstance(a, dict):
        return all(_are_equal(v, b[k]) for k, v in a.items())
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def _fill(x: Any, held: Any) -> None:
    """Restores the contents of an object."""
    if isinstance(x, np.random.Generator):
        x.bit_generator.state = held
    elif isinstance(x, np.random.RandomState):
        x.set_state(held)
    elif isinstance(x, random.Random):
        x.setstate(held)
    elif isinstance(x, np.ndarray):
        x[...] = held
    elif isinstance(x, list):
        x[:] = held
    elif isinstance(x, dict):
        x.clear()
        x.update(held)
    elif isinstance(x, FunctionType):
        for (module, name), value in held.items():
            if module is None:
                cells_of(x)[name].cell_contents = value
            else:
                (vars(x.__globals__[module]) if module else x.__globals__)[name] = value
    else:
        for name in fields_of(x).keys() - held.keys():
            object.__delattr__(x, name)
        for name, value in held.items():
            object.__setattr__(x, name, value)
