"""Run-time helpers for the attributes of objects: adjoints and tangents mirror the objects.

Contract: the adjoint of an object has its attributes, each with the adjoint of the value there; properties
and methods are left out. An attribute that is not stored in the object itself raises NonDifferentiableError.
The attributes of a named tuple, and of a dict with its items as attributes (a result of SciPy), are its
items.
"""

from __future__ import annotations

import copy
from collections.abc import ItemsView, Iterator, KeysView, MappingView, ValuesView
from enum import Enum
from functools import partial, reduce
from types import BuiltinFunctionType, BuiltinMethodType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from ..values.objects import (
    dict_like,
    fields_of,
    is_plain,
    lookup,
    make,
    mirror,
    refuse_missing,
    shadows_fields,
)  # fmt: skip
from ..values.pytree import is_differentiable
from .adjoints import add, zeros_like
from .object_graph import LISTS, is_reference, leaves, places_of, tuple_like

__all__ = [
    "adjoint_like",
    "callee_adjoint",
    "callee_tangent",
    "field_adjoint",
    "field_tangent",
    "held_by",
    "holding",
    "made_like",
    "refuse_held_object",
    "snapshot_of",
]


def adjoint_like(x: Any, /, **parts: Any) -> Any:
    """The adjoint of the object `x` with these parts, and zero for its other attributes. The adjoint of a
    method is one of the object: it is added.
    """
    methods = [k for k in parts if _is_method(x, k)]
    if methods:
        adjoints = [parts.pop(k) for k in methods]
        return reduce(add, [*adjoints, adjoint_like(x, **parts)] if parts else adjoints)
    held = _held(x, parts)
    values = {k: parts[k] if k in parts else zeros_like(v) for k, v in held.items()}
    if isinstance(x, dict):
        return dict_like(x, values)
    return type(x)(*values.values()) if isinstance(x, tuple) else mirror(x, values)


def made_like(x: Any, /, **values: Any) -> Any:
    """A new object of the class of `x` with these attributes; the others are those of `x`."""
    return make(type(x), {**fields_of(x), **values})


def field_adjoint(dvalue: Any, x: Any, name: str) -> Any:
    """The adjoint of the object `x` from that of one of its attributes."""
    return adjoint_like(x, **{name: dvalue})


def field_tangent(dx: Any, x: Any, name: str) -> Any:
    """The tangent of an attribute of `x`; that of a method is that of `x`."""
    if _is_method(x, name):
        return dx
    held = _held(x, [name])
    if dx is None:
        return None
    if isinstance(dx, tuple):
        return dx[[*held].index(name)]
    parts = dx if isinstance(dx, dict) else vars(dx)
    if name not in parts:  # a cached property, which the object has held since a moment ago
        _refuse_computed(x, name)
    return parts[name]


def snapshot_of(x: Any) -> Any:
    """A copy of the containers and objects in a value, which does not change when these do. One that is held
    several times has one copy. Arrays, functions, members of enumerations and the keys of dicts have none.

    Raises UnsupportedSyntaxError for a key that is found by its identity and may carry a derivative.
    """
    return _snapshot_of(x, {})


VIEWS: dict[str, Any] = {"keys": KeysView, "values": ValuesView, "items": ItemsView}


def _snapshot_of(x: Any, made: dict[int, tuple[Any, Any]]) -> Any:
    if isinstance(x, tuple):
        return tuple_like(x, [_snapshot_of(v, made) for v in x])
    if isinstance(x, set):
        return copy.copy(x)
    if isinstance(x, MappingView) and hasattr(x, "mapping"):  # of a dict
        held = {k: _snapshot_of(v, made) for k, v in x.mapping.items()}
        return next(getattr(held, n)() for n, c in VIEWS.items() if isinstance(x, c))
    if isinstance(x, MethodType):
        return MethodType(x.__func__, _snapshot_of(x.__self__, made))
    if not is_reference(x) or isinstance(x, Enum):
        return x
    if id(x) in made:
        return made[id(x)][1]
    is_container = isinstance(x, (*LISTS, dict))
    new = copy.copy(x) if is_container else make(type(x), {})
    made[id(x)] = x, new  # with `x`, so that no other object gets its place
    if not is_container:
        for name, value in fields_of(x).items():
            object.__setattr__(new, name, _snapshot_of(value, made))
        return new
    for key, value in x.items() if isinstance(x, dict) else enumerate(x):
        if isinstance(x, dict):
            _check_key(key)
        new[key] = _snapshot_of(value, made)
    return new


def _check_key(key: Any) -> None:
    """Raises UnsupportedSyntaxError for a key that is found by its identity and may carry a derivative."""
    for part in key if isinstance(key, tuple) else (key,):
        cls: Any = type(part)
        is_found = is_plain(cls) and not isinstance(part, Enum) and cls.__hash__ is object.__hash__
        if is_found and any(map(is_differentiable, leaves(places_of(part)))):
            raise UnsupportedSyntaxError(
                f"a {cls.__name__} as the key of a dict that a call is given, among changes of objects",
                why="the derivative of the call needs the old contents of the dict",
                instead="use a name or a number as the key",
            )


def callee_adjoint(dcallee: Any, x: Any, name: str) -> Any:
    """The adjoint of `x` from that of the callee `x.name`; a method has the adjoint of its object. Raises
    NonDifferentiableError where another function is computed, by a property.
    """
    is_own = dcallee is None or isinstance(x, dict) or _is_method(x, name)
    return dcallee if is_own else field_adjoint(dcallee, x, name)


def callee_tangent(dx: Any, x: Any, name: str) -> Any:
    """The tangent of the callee `x.name`; a method has the tangent of its object. Raises as
    `callee_adjoint`.
    """
    is_own = dx is None or isinstance(x, dict) or _is_method(x, name)
    return dx if is_own else field_tangent(dx, x, name)


def _is_method(x: Any, name: str) -> bool:
    """Whether the attribute is a bound method of the object or of its class."""
    if isinstance(x, dict):
        return False
    found = getattr(x, name, None)
    if not isinstance(found, (MethodType, BuiltinMethodType)):
        return False
    return found.__self__ is x or found.__self__ is type(x)


def _held(x: Any, names: Any) -> dict[str, Any]:
    """The attributes of an object; raises unless these names are among them."""
    held = _items(x, names) if isinstance(x, (dict, tuple)) else fields_of(x) if is_plain(type(x)) else {}
    for name in names:
        if name not in held or (not isinstance(x, tuple) and shadows_fields(lookup(type(x), name))):
            _refuse_computed(x, name)
        if any(part is x for part in held_by(held[name])):
            raise NonDifferentiableError(
                f"a function in the attribute `{name}` of a {type(x).__name__} that reads that object",
                why="what it reads is not part of the derivative of the attribute",
                instead="make it a method",
            )
    return held


def _refuse_computed(x: Any, name: str) -> NoReturn:
    refuse_missing(x, name)
    raise NonDifferentiableError(
        f"the attribute `{name}` of a value of type {type(x).__name__} carries a derivative",
        why="it is no plain attribute that the value holds: what it has to do with that is not known",
        instead="pass what is needed as an argument of its own",
    )


def _items(x: Any, names: Any) -> dict[str, Any]:
    """The items of a dict or named tuple by name; empty unless each of `names` is an attribute as well."""
    found = dict(x) if isinstance(x, dict) else x._asdict() if hasattr(x, "_asdict") else {}
    return found if all(k in found and getattr(x, k, None) is found[k] for k in names) else {}


def holding(x: Any, /, **values: Any) -> Any:
    """The object `x` itself; the rule passes its adjoint on to these values, which it holds."""
    return x


def refuse_held_object(x: Any, *others: Any) -> None:
    """Raises UnsupportedSyntaxError if the changed object `x` can be reached from the others or from itself.
    """
    seen = {id(x)}
    todo = [*others, *held_by(x)]
    while todo:
        other = todo.pop()
        if other is x:
            raise UnsupportedSyntaxError(
                f"a change of an object of type {type(x).__name__} that another argument holds too",
                why="the change would be seen there, and following it is not supported",
                instead="pass different objects, or return the new value",
            )
        if id(other) not in seen:
            seen.add(id(other))
            todo.extend(held_by(other))


def held_by(x: Any) -> Iterator[Any]:
    """What a container, an object or a function holds."""
    if isinstance(x, (list, tuple, set, frozenset)):
        yield from x
    elif isinstance(x, dict):
        yield from x.values()
    elif isinstance(x, (BuiltinFunctionType, MethodType)):
        if not isinstance(x.__self__, ModuleType | None):  # the module of a function
            yield x.__self__
    elif isinstance(x, partial):
        yield from (x.func, *x.args, *x.keywords.values())
    elif isinstance(x, FunctionType):
        yield from x.__defaults__ or ()
        for cell in x.__closure__ or ():
            if cell != _EMPTY:
                yield cell.cell_contents
    elif is_plain(type(x)):
        yield from fields_of(x).values()


_EMPTY = CellType()
