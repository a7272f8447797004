"""Wrappers that compute what their Python function computes: caches, compiled functions, dispatchers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..runtime.input_checks import Bprop
from .lattice import OF_TYPES, Array, Dict, Kind, List, Literal, Record, Scalar, Tuple

__all__ = ["choice_of", "chosen_by_kind", "is_dispatcher", "unwrapped"]

_MEMORIES = ("MemorizedFunc", "NotMemorizedFunc", "AsyncMemorizedFunc", "AsyncNotMemorizedFunc")
_OF_KINDS = {kind: cls for cls, kind in reversed(OF_TYPES.items())}


def unwrapped(f: Any) -> Any:
    """The function that a cache or a compiled function wraps; None for any other object."""
    if isinstance(f, functools._lru_cache_wrapper):
        return f.__wrapped__
    if isinstance(f, Bprop):
        return f.function
    if isinstance(f, (FunctionType, type)):
        return None
    package = type(f).__module__.partition(".")[0]
    if package == "numba":
        found = getattr(f, "py_func", None)
        return found if isinstance(found, FunctionType) else None
    return f.func if package == "joblib" and type(f).__name__ in _MEMORIES else None


def is_dispatcher(f: Any) -> bool:
    """Whether a callable is made by `functools.singledispatch`."""
    return isinstance(f, FunctionType) and f.__code__ is _DISPATCHER


_dispatcher: Any = functools.singledispatch(lambda x: x)
_method: Any = functools.singledispatchmethod(lambda self, x: x)
_DISPATCHER = _dispatcher.__code__
_METHOD = _method.__get__(None, object).__code__


def choice_of(f: Any) -> Callable[[type], Any] | None:
    """What a dispatcher, or a method of `functools.singledispatchmethod`, calls for the class of the first
    argument; None for any other object.
    """
    if is_dispatcher(f):
        return f.dispatch  # type: ignore[no-any-return]
    if not isinstance(f, FunctionType) or f.__code__ is not _METHOD:
        return None
    owner = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    dispatcher = f.register.__self__.dispatcher  # type: ignore[attr-defined]
    place = owner["obj"].cell_contents, owner["cls"].cell_contents
    return lambda cls: dispatcher.dispatch(cls).__get__(*place)


def chosen_by_kind(f: Any, kind: Kind) -> Any:
    """The function that a dispatcher calls for a first argument of this kind; None where that is dynamic."""
    cls = _class_of(kind)
    return None if cls is None else f.dispatch(cls)


def _class_of(kind: Kind) -> type | None:
    match kind:
        case Literal(value):
            return type(value)
        case Scalar(dtype):
            return _OF_KINDS.get(kind) if dtype else None
        case Array():
            return np.ndarray
        case Tuple(_, cls):
            return cls or tuple
        case List():
            return list
        case Dict():
            return dict
        case Record(cls):
            return cls
    return None
