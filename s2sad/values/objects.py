"""Objects of the user's classes: plain ones are read attribute by attribute, and have adjoints.

The adjoint of an object mirrors it: for a dataclass an object of the same class, made without its
constructor, for others a `types.SimpleNamespace` with the same attributes. For a dict with its items as
attributes, as SciPy's results, it is an `Items`.
"""

from __future__ import annotations

import copyreg
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache
from types import FunctionType, SimpleNamespace
from typing import Any, NoReturn

from ..transforms.errors import MissingAttributeError, NonDifferentiableError
from .libraries import is_other_array, library_of_class

__all__ = [
    "ABSENT",
    "HAVE_RULES",
    "Items",
    "dict_like",
    "fields_of",
    "is_member",
    "is_plain",
    "is_read_as_it_stands",
    "lookup",
    "make",
    "mirror",
    "mirror_class",
    "missing_attribute",
    "own_methods",
    "refuse_missing",
    "sets_plainly",
    "shadows_fields",
]

ABSENT: Any = object()
MEMBER = frozenset({"_name_", "_value_", "_sort_order_", "__objclass__"})  # of an enumeration
HAVE_RULES: set[type] = set()  # classes whose objects have rules of their own
OPERATORS = [
    f"__{r}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    for r in ("", "r", "i")
] + ["__neg__", "__abs__"]
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement, or by an extension module
_POINTER = object.__basicsize__ // 2
_NOT_PLAIN = (__name__.partition(".")[0], "joblib")  # the latter's objects are functions with a cache


def is_plain(cls: type) -> bool:
    """Whether objects of the class consist of attributes, which are read without side effects."""
    get: Any = cls.__getattribute__
    if cls in HAVE_RULES:
        return False
    return _holds_attributes_only(cls) and (get is object.__getattribute__ or cls is SimpleNamespace)


def is_member(x: Any) -> bool:
    """Whether a value is a member of an enumeration that holds its name and value alone."""
    return isinstance(x, Enum) and is_plain(type(x)) and fields_of(x).keys() <= MEMBER


@lru_cache(maxsize=1024)
def _holds_attributes_only(cls: type) -> bool:
    """Whether an object has a `__dict__` and slots, and no hidden state of C code."""
    if cls is SimpleNamespace:
        return True
    if library_of_class(cls) is not None or is_other_array(cls):
        return False
    if not cls.__flags__ & _HEAP_TYPE or cls.__itemsize__:
        return False
    if cls.__module__.partition(".")[0] in _NOT_PLAIN and "__s2sad_plain__" not in vars(cls):
        return False
    # The condition of pickle for copying an object attribute by attribute.
    slots = len(copyreg._slotnames(cls))  # type: ignore[attr-defined]
    size = object.__basicsize__ + _POINTER * (slots + (cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0))
    return cls.__basicsize__ <= size and not issubclass(cls, (type, BaseException))


class Items(dict[Any, Any]):
    """A dict whose items are its attributes as well; a missing one is an unknown derivative."""

    def __missing__(self, name: Any) -> Any:
        raise NonDifferentiableError(
            f"the derivative of {name!r} of a result",
            why="it describes how the result was found, or its derivative is not known",
            instead="compute what is needed from the other parts of the result",
        )

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


ITEM_METHODS = ("__getitem__", "get", "__iter__", "keys", "values", "items", "__setitem__", "__missing__")


def dict_like(x: Any, values: dict[Any, Any]) -> dict[Any, Any]:
    """A dict of the values: of the class of `x`, if that is a dict with other methods beside its own; with
    its items as attributes if `x` has them so.

    Raises NonDifferentiableError for a class with a way of its own to read or store items.
    """
    cls: Any = type(x)
    if cls is dict or cls is Counter:  # whose operators leave out negative numbers
        return values
    if cls is Items:
        return Items(values)
    if cls is OrderedDict:
        return OrderedDict(values)
    if cls is defaultdict:
        return defaultdict(_zero_factory(x.default_factory), values)
    changed = _changed_methods(cls)
    if changed:
        raise NonDifferentiableError(
            f"the items of a {cls.__qualname__} carry a derivative",
            why=f"its class has a `{changed[0]}` of its own, and the derivative is that of a dict",
            instead="pass a dict, `dict(x)`",
        )
    if hasattr(cls, "__getattr__"):
        return Items(values)
    if cls.__init__ is not dict.__init__ or cls.__new__ is not dict.__new__:
        return values
    made: dict[Any, Any] = cls(values)
    return made


def _zero_factory(factory: Any) -> Any:
    """What makes the derivatives of the items that a defaultdict makes."""
    if factory is None or factory in (list, dict):
        return factory
    return float if factory in (int, float, complex) else _refuse_made


def _refuse_made() -> NoReturn:
    raise NonDifferentiableError(
        "an item that a defaultdict makes when it is read has no known derivative",
        why="its factory is a function of the user's",
        instead="store the item before the call, or make the dict in the function",
    )


@lru_cache(maxsize=1024)
def _changed_methods(cls: Any) -> list[str]:
    """The methods that read or store items of a dict, and are written anew in a subclass."""
    return [name for name in ITEM_METHODS if isinstance(lookup(cls, name), FunctionType)]


@lru_cache(maxsize=1024)
def own_methods(cls: type) -> list[str]:
    """The methods of lists, deques and dicts that a class derived from one of them writes anew."""
    base = next((b for b in (list, deque, dict) if issubclass(cls, b)), None)
    if base is None or cls is base or cls is Counter:
        return []
    names = {n for n in vars(base) if not n.startswith("__")} | {"__getitem__", "__iter__", "__len__"}
    names |= {"__setitem__", "__delitem__"}
    return sorted(n for n in names if isinstance(lookup(cls, n), FunctionType))


def has_operators(cls: type) -> bool:
    """Whether a class, other than one of arrays, defines operators in Python."""
    found: bool = _has_operators(cls)
    return found


@lru_cache(maxsize=1024)
def _has_operators(cls: Any) -> bool:
    own = (isinstance(lookup(cls, name), FunctionType) for name in OPERATORS)
    return not hasattr(cls, "__array__") and library_of_class(cls) is None and any(own)


def is_named_tuple(cls: type) -> bool:
    """Whether the class is one of named tuples, with the constructor of `collections.namedtuple`."""
    made_by = str(getattr(cls.__new__, "__module__", ""))
    return tuple in cls.__mro__ and hasattr(cls, "_fields") and made_by.startswith("namedtuple_")


def fields_of(x: Any) -> dict[str, Any]:
    """The attributes stored in an object itself, by name."""
    found: dict[str, Any] = {}
    for name in ("__dict__", *copyreg._slotnames(type(x))):  # type: ignore[attr-defined]
        try:
            value = object.__getattribute__(x, name)  # not by a `__getattr__`, which runs code of the user's
        except AttributeError:
            continue
        found |= value if name == "__dict__" else {name: value}
    return found


def lookup(cls: type, name: str) -> Any:
    """The raw member that a class or one of its bases defines under a name, or ABSENT."""
    for base in cls.__mro__:
        found = base.__dict__.get(name, ABSENT)
        if found is not ABSENT:
            return found
    return ABSENT


def shadows_fields(found: Any) -> bool:
    """Whether a member of a class takes precedence over attributes of objects, as a property does. Slots are
    the attributes themselves.
    """
    return hasattr(type(found), "__set__") and type(found) is not _SLOT


def sets_plainly(cls: type) -> bool:
    """Whether a store to an attribute of an object runs no `__setattr__` of its class."""
    return cls is SimpleNamespace or lookup(cls, "__setattr__") is lookup(object, "__setattr__")


def is_read_as_it_stands(x: Any, name: str) -> bool:
    """Whether reading an attribute of a plain object returns the stored value or the class's member."""
    found = lookup(type(x), name)
    if shadows_fields(found) or type(found) is _SLOT:
        is_stored = any(found is member for member in (vars(Enum)["name"], vars(Enum)["value"]))
        return is_stored or type(found) is _SLOT
    is_value = found is not ABSENT and not hasattr(type(found), "__get__")
    return name in getattr(x, "__dict__", ()) or is_value or isinstance(found, staticmethod)


class _WithSlot:
    __slots__ = ("slot",)


_SLOT = type(_WithSlot.__dict__["slot"])


def missing_attribute(cls: type, fields: Iterable[str], name: str) -> str | None:
    """What Python says where an attribute of an object of a class is read, which holds these attributes and
    not that one; None where it has one, or where code of the class decides.
    """
    is_own = lookup(cls, "__getattribute__") is not lookup(object, "__getattribute__")
    if not is_plain(cls) or is_own or name in fields:
        return None
    if any(lookup(cls, member) is not ABSENT for member in (name, "__getattr__")):
        return None
    shown = "types.SimpleNamespace" if cls is SimpleNamespace else cls.__name__
    return f"{shown!r} object has no attribute {name!r}"


def refuse_missing(x: Any, name: str) -> None:
    """Raises MissingAttributeError for an object that has no such attribute."""
    told = missing_attribute(type(x), fields_of(x), name)
    if told is not None:
        raise MissingAttributeError(told)


def mirror_class(cls: type) -> type:
    """The class of the adjoints of objects of a class."""
    return cls if is_dataclass(cls) else SimpleNamespace


def is_mirrored(x: Any) -> bool:
    """Whether a value is a plain object that has an adjoint: the members of enumerations are constants."""
    return is_plain(type(x)) and not isinstance(x, Enum)


def mirror(x: Any, values: dict[str, Any]) -> Any:
    """An adjoint of the object `x` with these attributes."""
    return make(mirror_class(type(x)), values)


def make(cls: type, values: dict[str, Any]) -> Any:
    """An object of a class with these attributes, made without its constructor, which may check or convert
    them.
    """
    if cls is SimpleNamespace:
        return SimpleNamespace(**values)
    new: Any = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new
