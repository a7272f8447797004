"""Tests that kinds decide: `isinstance`, `hasattr`, `callable`, comparisons of constants."""

from __future__ import annotations

import inspect
import operator
from abc import ABCMeta
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, UnionType
from typing import Any

import numpy as np

from ..transforms.trees.helpers import gives_items_lazily, has_views_of_dict, is_among, is_not_among
from .lattice import (
    OF_TYPES,
    SET,
    UNKNOWN,
    Array,
    Dict,
    EnumMember,
    Foreign,
    Instance,
    Kind,
    List,
    Literal,
    Numeric,
    OtherArray,
    Record,
    Scalar,
    Text,
    Tuple,
)

__all__ = ["COMPARISONS", "TESTS", "class_attribute_kind", "class_kind", "truth_kind"]

MEMBERSHIP = frozenset({is_among, is_not_among})
IDENTITY = frozenset({operator.is_, operator.is_not})
TESTS = IDENTITY | {
    operator.not_,
    operator.contains,
    operator.truth,
    is_among,
    is_not_among,
    gives_items_lazily,
    has_views_of_dict,
    isinstance,
    issubclass,
    callable,
    hasattr,
    all,
    any,
    np.isscalar,
    np.iscomplexobj,
    np.isrealobj,
}
EQUALITY = frozenset({operator.eq, operator.ne})
COMPARISONS = EQUALITY | frozenset({operator.lt, operator.le, operator.gt, operator.ge})
NEVER_NONE = (Array, Foreign, OtherArray, Scalar, Tuple, List, Dict, Record, Instance, Numeric)
CHECKS = (type.__instancecheck__, ABCMeta.__instancecheck__)  # of classes without a check of their own
LIBRARIES = ("builtins", "collections", "numbers", "numpy", "typing")  # their classes get no methods later

_SEVERAL: dict[str, tuple[type, ...]] = {  # the classes of numbers of a kind
    "float": (float, np.float64),
    "complex": (complex, np.complex128),
    "bool": (bool, np.bool_),
    "int": (int,),
    "integer": (int, np.int64),
    "real": (float, np.float64, int, np.int64, bool, np.bool_),
    "number": tuple(t for t in OF_TYPES if issubclass(t, (int, float, complex, np.generic))),
}


def classes_of(kind: Kind) -> tuple[type, ...]:
    """The possible classes of the values of a kind, `type(x)`; empty where they are unknown."""
    match kind:
        case Literal(value):
            return (type(value),)
        case Scalar(dtype):
            return _SEVERAL.get(dtype) or tuple(
                t for t in _SEVERAL["number"] if issubclass(t, np.generic) and np.dtype(t).name == dtype
            )
        case Array():
            return (np.ndarray,)
        case Numeric():
            return (np.ndarray, *_SEVERAL["number"])
        case List():
            return (list,)
        case Dict():
            return (dict,)
        case Text():
            return (str,)
        case Record(cls) | Instance(cls) | EnumMember(cls) | OtherArray(cls):
            return (cls,)
        case Tuple(_, cls) if cls is not None:
            return (cls,)
    return (set, frozenset) if kind is SET else ()


def class_kind(kind: Kind) -> Kind:
    """The kind of `type(x)` for a value of a kind."""
    classes = classes_of(kind)
    return Literal(classes[0]) if len(classes) == 1 else UNKNOWN


def class_attribute_kind(kind: Kind, name: str) -> Kind:
    """The kind of an attribute that depends on the class or dtype alone, such as `x.__class__`."""
    match kind, name:
        case _, "__class__":
            return class_kind(kind)
        case Literal(type() as cls), ("__name__" | "__qualname__") if type(cls) is type:
            return Literal(getattr(cls, name))
        case Literal(np.dtype() as dtype), ("kind" | "char" | "name"):
            return Literal(getattr(dtype, name))
    return UNKNOWN


def truth_kind(function: Callable[..., Any], args: tuple[Kind, ...]) -> Literal | None:
    """The truth value of a test of values of these kinds; None where kinds do not decide it."""
    found = _answer(function, args)
    return None if found is None else Literal(found)


def _answer(function: Callable[..., Any], args: tuple[Kind, ...]) -> bool | None:
    match args:
        case [Literal(bool() as value)] if function is operator.not_:
            return not value
        case [Literal(bool() as value)] if function is operator.truth:
            return value
        case [Literal(None | bool() | type() as a), Literal(None | bool() | type() as b)] if (
            function in IDENTITY
        ):
            return bool(function(a, b))
        case [Literal(None | type()), x] | [x, Literal(None | type())] if (
            function in IDENTITY and isinstance(x, NEVER_NONE)
        ):
            return function is operator.is_not
        case [Literal(a), Literal(b)] if function in COMPARISONS:
            return _compare(function, a, b)
        case [Literal(a), x] if function in MEMBERSHIP:
            found = _is_among(a, x)
            return None if found is None else found is (function is is_among)
        case [x, asked] if function is isinstance:
            return _is_instance(x, asked)
        case [Literal(type() as cls), asked] if function is issubclass:
            return _common((cls,), _classes(asked, virtual=False))
        case [x, Literal(str() as name)] if function is hasattr:
            return _has_attribute(x, name)
        case [x] if function is gives_items_lazily:
            return False if isinstance(x, (Array, Tuple, List, Dict, Text)) else None
        case [x] if function is has_views_of_dict:
            return True if isinstance(x, Dict) else None
        case [x] if function is callable:
            return _agreed(_defines(c, "__call__") for c in classes_of(x))
        case [Array(str() as dtype)] if function is np.iscomplexobj or function is np.isrealobj:
            return (np.dtype(dtype).kind == "c") is (function is np.iscomplexobj)
        case [x] if function is np.isscalar:
            return _is_scalar(x)
    return None


def _are_plain(values: Sequence[Any], *types: type) -> bool:
    return all(type(v) in types for v in values)


def _are_types(values: Sequence[Any]) -> bool:
    """Whether these are classes that compare by identity."""
    return all(isinstance(v, type) and type(v).__eq__ is type.__eq__ for v in values)


def _compare(function: Callable[..., Any], a: Any, b: Any) -> bool | None:
    """The result of a comparison of two constants, numbers or strings; None for others."""
    ordered = _are_plain((a, b), int, bool) or _are_plain((a, b), str)
    equal = function in EQUALITY and (_are_plain((a, b), int, bool, str, type(None)) or _are_types((a, b)))
    equal = equal or (function in EQUALITY and isinstance(a, np.dtype) and isinstance(b, (np.dtype, type)))
    return bool(function(a, b)) if ordered or equal else None


def _is_among(value: Any, kind: Kind) -> bool | None:
    """Whether a constant is in a tuple, or part of a string; None where unknown."""
    match kind:
        case Literal(str() as text) if type(value) is str:
            return value in text
        case Tuple(items, None):
            values = [value, *(k.value if isinstance(k, Literal) else k for k in items)]
            known = _are_plain(values, int, bool, str, type(None)) or _are_types(values)
            return value in values[1:] if known else None
    return None


def _agreed(answers: Iterable[bool]) -> bool | None:
    """The common answer; None where there is none, or they differ."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def _is_instance(x: Kind, asked: Kind) -> bool | None:
    """Whether values of a kind are instances of the classes `asked`; None where kinds do not decide it."""
    if isinstance(x, Tuple) and x.cls is None:  # may be a named tuple
        classes = _classes(asked, virtual=False)
        is_open = any(issubclass(c, tuple) and c is not tuple for c in classes)
        return None if is_open else _common((tuple,), classes)
    return _common(classes_of(x), _classes(asked, isinstance(x, (Record, Instance))))


def _common(given: Sequence[type], classes: tuple[type, ...]) -> bool | None:
    return _agreed(issubclass(c, classes) for c in given) if classes else None


def _classes(kind: Kind, virtual: bool) -> tuple[type, ...]:
    """The classes that a test asks for; empty where the answer is dynamic: a class has its own check, or
    (unless `virtual`) other classes may be registered as its subclasses.
    """
    items = kind.items if isinstance(kind, Tuple) else (kind,)
    found: list[type] = []
    for item in items:
        value = item.value if isinstance(item, Literal) else None
        found += value.__args__ if isinstance(value, UnionType) else (value,)
    for c in found:
        if not isinstance(c, type) or type(c).__instancecheck__ not in CHECKS:
            return ()
        if isinstance(c, ABCMeta) and not virtual and not _is_of_library(c):
            return ()
    return tuple(found)


def _is_of_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in LIBRARIES


def _defines(cls: type, name: str) -> bool:
    """Whether a class defines an attribute of its objects."""
    return any(name in vars(c) for c in cls.__mro__)


def _has_attribute(kind: Kind, name: str) -> bool | None:
    """Whether values of a kind have an attribute; None where that depends on the object."""
    match kind:
        case Record(cls) | Instance(cls):  # its objects may get others, on some paths only
            is_method = isinstance(inspect.getattr_static(cls, name, None), FunctionType)
            return True if is_method and _defines(cls, name) else None
        case Tuple():
            return True if _defines(tuple, name) else None
    classes = classes_of(kind)
    return _agreed(_defines(c, name) for c in classes) if all(map(_is_of_library, classes)) else None


def _is_scalar(kind: Kind) -> bool | None:
    match kind:
        case Scalar() | Text() | Literal(bool() | int() | float() | complex() | str()):
            return True
        case Array() | Tuple() | List() | Dict() | Literal(None):
            return False
    return None
