"""`dataclasses.asdict` and `astuple` of objects of known kinds, as generated functions that return displays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, is_dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..analysis.object_copies import copier_of, is_copier
from ..kinds.lattice import Array, Dict, Kind, List, Literal, Record, Scalar, Tuple
from ..source.compiling import make_function
from ..transforms.trees.program import Scope, identifier

__all__ = ["converter_of", "is_converter"]


def is_converter(function: Any) -> bool:
    """Whether a function is `asdict`, `astuple` or a function of the module `copy`."""
    return function is asdict or function is astuple or is_copier(function)


def converter_of(function: Any, args: Sequence[Kind], keywords: Mapping[str, Kind]) -> FunctionType | None:
    """A function that does the same for arguments of these kinds; None where the kind of a part is unknown.
    """
    if is_copier(function):
        return copier_of(function, args[0]) if len(args) == 1 and not keywords else None
    if keywords or len(args) != 1 or not isinstance(args[0], Record) or not is_dataclass(args[0].cls):
        return None
    return _converter(function, args[0])


@lru_cache(maxsize=256)
def _converter(function: Callable[[Any], Any], kind: Record) -> FunctionType | None:
    name = identifier(f"{kind.cls.__name__}_{function.__name__}")
    try:
        display = _converted(kind, "obj", function is asdict)
    except KeyError:
        return None
    return make_function(f"def {name}(obj):\n    return {display}\n", name, Scope({}), {})


def _converted(kind: Kind, path: str, to_dict: bool) -> str:
    """The expression for the converted value at a path; raises KeyError for a kind that it cannot convert."""
    match kind:
        case Record(cls, held) if is_dataclass(cls):
            kinds = dict(held)
            items = {f.name: _converted(kinds[f.name], f"{path}.{f.name}", to_dict) for f in fields(cls)}
            return _dict(items) if to_dict else _tuple(list(items.values()))
        case Array():
            return f"{path}.copy()"
        case Scalar() | Literal(value=None | bool() | int() | float() | complex() | str()):
            return path
        case Tuple(items, None):
            return _tuple([_converted(k, f"{path}[{i}]", to_dict) for i, k in enumerate(items)])
        case List(None, element):
            return f"[{_converted(element, 'item', to_dict)} for item in {path}]"
        case List(items):
            return f"[{', '.join(_converted(k, f'{path}[{i}]', to_dict) for i, k in enumerate(items or ()))}]"
        case Dict(items):
            return _dict({key: _converted(k, f"{path}[{key!r}]", to_dict) for key, k in items})
    raise KeyError(path)


def _dict(items: Mapping[Any, str]) -> str:
    return "{" + ", ".join(f"{key!r}: {value}" for key, value in items.items()) + "}"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
