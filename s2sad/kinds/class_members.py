"""The attributes of objects of known classes: fields, methods, properties, constants and their kinds."""

from __future__ import annotations

from functools import cached_property, lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..primitives.code_reach import leads_far
from ..source.forwarders import dict_of_tuple, of_class
from ..transforms.analyses.operations import Member
from ..values.objects import ABSENT, lookup, mirror_class, shadows_fields
from . import indexing as kind_structure
from .abstraction import kind_of
from .decided_tests import class_attribute_kind
from .join import join
from .lattice import (
    PENDING,
    UNKNOWN,
    Array,
    Dict,
    EnumMember,
    Instance,
    Kind,
    List,
    Literal,
    Numeric,
    Object,
    Pending,
    Record,
    Scalar,
    Set,
    Text,
    Tuple,
    Unknown,
    widen,
)
from .shape_relations import is_differentiable

__all__ = [
    "attribute_kind",
    "field_kind",
    "held_kind",
    "holds_number",
    "holds_object",
    "holds_objects",
    "is_fixed",
    "may_hold_containers",
    "member_of",
    "mirror_kind",
    "named_kind",
    "of_unknown",
    "reflects",
    "replaced_tuple",
    "setter_of",
    "super_of",
    "with_field",
    "without_objects",
]


CHAIN = 4  # objects of a class of which each holds the next; what further ones hold is not known
FIXED = frozenset({"numpy", "scipy", "math", "cmath", "operator", "functools", "itertools", "s2sad"})


def is_fixed(module: Any) -> bool:
    """Whether an object is a library's module, whose names are assumed constant."""
    return getattr(module, "__name__", "").partition(".")[0] in FIXED


def member_of(kind: Kind, name: str) -> Member | None:
    """The member that an attribute of an object of this kind is; None when it is dynamic."""
    if isinstance(kind, Literal) and isinstance(kind.value, super):
        above = getattr(kind.value, name, None)
        return Member("static", above) if isinstance(above, FunctionType) else None
    if isinstance(kind, Literal) and isinstance(kind.value, ModuleType) and is_fixed(kind.value):
        return _member_of_module(kind.value, name)
    if isinstance(kind, Tuple) and kind.cls is not None:
        return _member_of_tuple(kind.cls, name)
    if not isinstance(kind, (Record, Instance)):
        return None
    found = lookup(kind.cls, name)
    held = field_kind(kind, name) if isinstance(kind, Record) else None
    special = name.startswith("__") and name.endswith("__")  # Python looks these up in the class alone
    if held is not None and not shadows_fields(found) and not special:
        return Member("field", held.value if isinstance(held, Literal) and callable(held.value) else None)
    if isinstance(found, classmethod):
        function = found.__func__
        return Member("static", of_class(kind.cls, function) if isinstance(function, FunctionType) else None)
    member = _member_of_class(found, kind.cls)
    is_own = isinstance(kind, Record) or member is None or member.role != "constant"
    return member if is_own else None  # the object may hold another one


def holds_object(kind: Kind, name: str) -> bool:
    """Whether the attribute of an object of this kind may hold an object of a user's class."""
    if not isinstance(kind, Record):
        return isinstance(kind, Instance) and lookup(kind.cls, name) is ABSENT
    member = member_of(kind, name)
    is_field = member is not None and member.role == "field"
    return is_field and isinstance(field_kind(kind, name), Record | Unknown)


def _member_of_module(module: ModuleType, name: str) -> Member | None:
    """The member that an attribute of a library's module is. Functions of SciPy's array namespace are
    NumPy's, with a few more parameters.
    """
    held = getattr(module, name, None)
    if module.__name__.endswith("array_api_compat.numpy") and isinstance(held, FunctionType):
        held = getattr(np, name, held)
    return None if held is None else Member("static" if callable(held) else "constant", held)


def _member_of_tuple(cls: Any, name: str) -> Member | None:
    if name in cls._fields:
        return Member("item", cls._fields.index(name))
    if name == "_fields":
        return Member("constant", None)
    if name == "_replace":
        return Member("method", replaced_tuple)
    if name == "_asdict":
        return Member("method", dict_of_tuple(cls))
    return None if name.startswith("_") else _member_of_class(lookup(cls, name), cls)


def replaced_tuple(x: Any, /, **items: Any) -> Any:
    """The method `_replace` of named tuples."""
    return x._replace(**items)


def _member_of_class(found: Any, cls: type) -> Member | None:
    """The member that an attribute defined by a class is."""
    function = found.fget if isinstance(found, property) else found
    if leads_far(function, cls):
        return None
    match found:
        case FunctionType():
            return Member("method", found) if found.__code__.co_filename != "<string>" else None
        case property(fget=FunctionType() as function):
            return Member("property", function)
        case staticmethod(__func__=function):
            return Member("static", function)
    if found is ABSENT or hasattr(type(found), "__get__") or isinstance(found, cached_property):
        return None
    return Member("constant", found if callable(found) else None)


@lru_cache(maxsize=1024)
def super_of(cls: type, own: type) -> Any:
    """The object `super(cls, own)`, one for the two classes."""
    return super(cls, own)


def field_kind(kind: Record, name: str) -> Kind | None:
    """The kind of an attribute stored in objects of this kind; None for other attributes."""
    return dict(kind.fields).get(name)


def attribute_kind(kind: Kind, name: str) -> Kind:
    """The kind of `x.name` for an x of this kind."""
    if isinstance(kind, Pending):
        return PENDING
    member = member_of(kind, name)
    if isinstance(kind, Tuple) and member is not None and member.role == "item":
        item: Kind = kind.items[member.value]
        return item
    if isinstance(kind, Literal) and isinstance(kind.value, ModuleType) and member is not None:
        return kind_structure.kind_of_static(member.value)
    if not isinstance(kind, Record):
        found = class_attribute_kind(kind, name)
        return kind_structure.attribute_kind(kind, name) if found is UNKNOWN else found
    if member is None or member.role not in ("field", "constant"):
        return UNKNOWN
    held = field_kind(kind, name)
    if member.role == "field" and held is not None:
        return held
    return kind_of(lookup(kind.cls, name), f"{kind.cls.__name__}.{name}")


def mirror_kind(kind: Kind, parts: dict[str, Kind]) -> Kind:
    """The kind of an adjoint of an object of this kind, with these parts and zero for the others."""
    if not isinstance(kind, Record):
        return UNKNOWN
    return Record(
        mirror_class(kind.cls), tuple((name, parts.get(name, _zero_kind(held))) for name, held in kind.fields)
    )


def named_kind(cls: Any, items: dict[int, Kind]) -> Kind:
    """The kind of a named tuple made of these items, by position, and defaults."""
    defaults = cls._field_defaults
    return Tuple(
        tuple(
            items[k] if k in items else kind_of(defaults[name], f"{cls.__name__}.{name}")
            for k, name in enumerate(cls._fields)
        ),
        cls,
    )


def held_kind(kind: Kind, parts: dict[str, Kind]) -> Kind:
    """The kind of an object of this kind after these attributes were stored."""
    if not isinstance(kind, Record):
        return kind
    return Record(kind.cls, tuple(sorted({**dict(kind.fields), **parts}.items(), key=lambda item: item[0])))


def _zero_kind(kind: Kind) -> Kind:
    if is_differentiable(kind) is False:
        return Literal(None)
    return kind if isinstance(kind, (Scalar, Array)) else mirror_kind(kind, {})


def reflects(left: Kind, right: Kind, name: str, reflected: str) -> bool:
    """Whether `left op right` calls the right operand's method: the left one is a number, has no such method,
    or is of a base class whose method is overridden.
    """
    if not isinstance(right, (Instance, Record)):
        return False
    if not isinstance(left, (Instance, Record)):
        return isinstance(widen(left), Scalar)
    own, other = lookup(left.cls, name), lookup(right.cls, reflected)
    if right.cls is not left.cls and issubclass(right.cls, left.cls):
        return other is not lookup(left.cls, reflected)
    return own is ABSENT and right.cls is not left.cls


def without_objects(kind: Kind, items: bool) -> Kind:
    """The kind of a value whose objects and functions may have been replaced; with `items` those in lists and
    dicts, too.
    """
    match kind:
        case Record(cls, fields):
            return Record(cls, tuple((name, _without_object(held)) for name, held in fields))
        case Tuple(parts, cls):
            return Tuple(tuple(without_objects(k, items) for k in parts), cls)
        case List() | Dict() if items:
            return _without_object(kind)
        case List(parts, element):
            known = None if parts is None else tuple(without_objects(k, items) for k in parts)
            return List(known, without_objects(element, items))
        case Dict(pairs):
            return Dict(tuple((key, without_objects(k, items)) for key, k in pairs))
    return kind


def holds_objects(kind: Kind) -> bool:
    """Whether a list, tuple or dict of this kind holds objects of the user's classes."""
    match kind:
        case Tuple(items):
            return any(map(_is_object, items))
        case List(_, element):
            return _is_object(element)
        case Dict(pairs):
            return any(_is_object(k) for _, k in pairs)
    return False


def _is_object(kind: Kind) -> bool:
    return isinstance(kind, Record | Object) or holds_objects(kind)


def of_unknown(kind: Kind, is_container: bool) -> Kind:
    """The kind of a value whose parts may have been replaced; with `is_container` it is still the same list
    or dict.
    """
    match kind:
        case List() if is_container:
            return List(None, UNKNOWN)
        case Dict(pairs) if is_container:
            return Dict(tuple((key, UNKNOWN) for key, _ in pairs))
    return UNKNOWN


def may_hold_containers(kind: Kind) -> bool:
    """Whether a list or dict with other aliases may be reached through a value of this kind."""
    match kind:
        case Record(_, fields):
            return any(may_hold_containers(k) for _, k in fields)
        case Tuple(parts):
            return any(map(may_hold_containers, parts))
        case Scalar() | Array() | EnumMember() | Literal() | Text() | Numeric():
            return False
    return True


def _without_object(kind: Kind) -> Kind:
    """The kind of a value that may be replaced: Unknown for objects, users' functions and containers of them.
    """
    match kind:
        case Record() | Object():
            return UNKNOWN
        case Literal(FunctionType() | type()):
            return UNKNOWN
        case Tuple(items):
            return UNKNOWN if UNKNOWN in map(_without_object, items) else kind
        case List(_, element):
            return UNKNOWN if _without_object(element) is UNKNOWN else kind
        case Dict(items):
            return UNKNOWN if UNKNOWN in (_without_object(k) for _, k in items) else kind
    return kind


def with_field(kind: Kind, name: str, value: Kind) -> Kind:
    """The kind of an object after a store to an attribute; an attribute that it had is joined with the old
    kind. A cached property is no field: whether its value is there is dynamic.
    """
    if not isinstance(kind, Record) or isinstance(lookup(kind.cls, name), cached_property):
        return kind
    held = dict(kind.fields)
    if _chain(value, kind.cls, name) >= CHAIN:
        value = Instance(kind.cls)
    held[name] = join(held[name], value) if name in held else widen(value)
    return Record(kind.cls, tuple(sorted(held.items(), key=lambda item: item[0])))


def _chain(kind: Kind | None, cls: type, name: str) -> int:
    """How many objects of a class hold each the next, in the attribute `name`."""
    count = 0
    while isinstance(kind, Record) and kind.cls is cls:
        kind, count = field_kind(kind, name), count + 1
    return CHAIN if isinstance(kind, Instance) and kind.cls is cls else count


def setter_of(kind: Kind, name: str) -> FunctionType | None:
    """The setter of a property of objects of this kind; None for other attributes."""
    found = lookup(kind.cls, name) if isinstance(kind, (Record, Instance)) else None
    setter = found.fset if isinstance(found, property) else None
    return setter if isinstance(setter, FunctionType) else None


def holds_number(kind: Kind, name: str) -> bool:
    """Whether an attribute is stored in the object, and is a number or other value without parts."""
    if not isinstance(kind, Record) or lookup(kind.cls, name) is not ABSENT:
        return False
    held = field_kind(kind, name)
    return isinstance(held, (Scalar, Array, Numeric)) or (
        isinstance(held, Literal) and isinstance(held.value, (bool, int, float, complex, str))
    )


def with_changed(kind: Kind, part: Kind) -> Kind:
    """The kind of a value, one part of which, unknown which, is an object that has changed to kind `part`."""
    if not isinstance(part, Record):
        return Instance(kind.cls) if isinstance(kind, (Record, Instance)) else UNKNOWN
    match kind:
        case Record(cls, fields):
            new = Record(cls, tuple((name, with_changed(k, part)) for name, k in fields))
            return join(new, part) if cls is part.cls else new
        case Tuple(items, cls):
            return Tuple(tuple(with_changed(k, part) for k in items), cls)
        case List(items, element):
            known = None if items is None else tuple(with_changed(k, part) for k in items)
            return List(known, with_changed(element, part))
        case Dict(pairs):
            return Dict(tuple((key, with_changed(k, part)) for key, k in pairs))
    return kind


def are_apart(made: Kind, changed: Kind) -> bool:
    """Whether values of the two kinds are surely different objects, since their classes differ."""
    objects, containers = (Instance, Record), (Dict, List, Set, Text, Tuple)
    if isinstance(made, objects) and isinstance(changed, objects):
        return made.cls is not changed.cls
    if isinstance(made, (Set, Text)) and isinstance(changed, (List, Dict)):
        return True
    pairs = (made, changed), (changed, made)
    return any(isinstance(a, objects) and isinstance(b, containers) for a, b in pairs)
