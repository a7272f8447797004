"""The state of a function, its code and its defaults, which can be assigned; and functions with other code.

Contract: `state_of(f)` is the same object as long as these are the same objects.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["LIBRARIES", "FunctionState", "cells_of", "names_in", "own_signature", "rebuilt_function",
           "signature_of", "state_of", "wrapped_by"]

LIBRARIES = frozenset({"numpy", "scipy", "s2sad"}) | sys.stdlib_module_names


class FunctionState:
    """The state of one function at one time; it does not keep the function alive."""

    __slots__ = ("code", "defaults", "named")

    def __init__(self, f: FunctionType) -> None:
        self.code, self.defaults, self.named = f.__code__, f.__defaults__, _named(f)

    def is_of(self, f: Any) -> bool:
        """Whether the function is still in this state.

        >>> def f(x, n=2): return x ** n
        >>> before = state_of(f)
        >>> f.__defaults__ = (3,)
        >>> before.is_of(f)
        False
        """
        if f.__code__ is not self.code or f.__defaults__ is not self.defaults:
            return False
        named = f.__kwdefaults__
        return named is self.named is None or _are_same(named, self.named)


def _named(f: FunctionType) -> dict[str, Any] | None:
    return None if f.__kwdefaults__ is None else dict(f.__kwdefaults__)


def _are_same(a: dict[str, Any] | None, b: dict[str, Any] | None) -> bool:
    return a is not None and b is not None and a.keys() == b.keys() and all(a[k] is b[k] for k in a)


_states: WeakKeyDictionary[FunctionType, FunctionState] = WeakKeyDictionary()
_lock = threading.Lock()


def state_of(f: FunctionType) -> FunctionState:
    """The state of a function now."""
    with _lock:
        state = _states.get(f)
        if state is None or not state.is_of(f):
            state = _states[f] = FunctionState(f)
        return state


def rebuilt_function(function: FunctionType, code: CodeType, cells: Mapping[str, CellType]) -> FunctionType:
    """The function with other code, whose free variables are in `cells`."""
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__, new.__doc__ = function.__kwdefaults__, function.__doc__
    new.__module__, new.__qualname__ = function.__module__, function.__qualname__
    return new


def own_signature(f: Any) -> inspect.Signature:
    """The signature of a callable; of a function that of its code, not of the function that it says to wrap.

    >>> import functools
    >>> @functools.wraps(lambda x, n=2: x ** n)
    ... def wrapper(*args): ...
    >>> own_signature(wrapper)
    <Signature (*args)>
    """
    return signature_of(rebuilt_function(f, f.__code__, cells_of(f)) if type(f) is FunctionType else f)


def signature_of(f: Any) -> inspect.Signature:
    """`inspect.signature`, which asks a derivative for the function that it wraps: that would generate it."""
    return inspect.signature(f, follow_wrapped="__signature__" not in getattr(f, "__dict__", ()))


def wrapped_by(f: Any) -> Any:
    """The function that a callable says to wrap, behind all of its decorators; else the callable itself."""
    while "__wrapped__" in getattr(f, "__dict__", ()):  # a derivative would make it
        f = f.__wrapped__
    return f


def names_in(code: CodeType) -> set[str]:
    """The global names and attributes in code, nested functions included."""
    return set(code.co_names).union(*(names_in(c) for c in code.co_consts if isinstance(c, CodeType)))


def cells_of(function: FunctionType) -> dict[str, CellType]:
    """The cells of a function's free variables."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
