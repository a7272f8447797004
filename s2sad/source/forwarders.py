"""Generated functions that forward their arguments to a class or a class method."""

from __future__ import annotations

import inspect
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any

from ..transforms.trees.program import Scope, identifier
from ..values.code_state import own_signature
from ..values.objects import is_named_tuple
from .compiling import make_function

__all__ = ["dict_of_tuple", "forwarder", "is_class_method", "of_class"]

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


def forwarder(
    name: str,
    signature: inspect.Signature,
    callee: str,
    first: str,
    bindings: dict[str, Any],
    own: tuple[str, ...] = (),
) -> FunctionType:
    """The function `def name(...): return callee(first, ...)` with these parameters and their defaults, after
    its `own` ones.
    """
    name = identifier(name)
    taken: dict[str, Any] = {}
    parameters = [*own]
    passed = [first] if first else []
    kinds = []
    for p in signature.parameters.values():
        kinds.append(p.kind)
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{star}{p.name}")
        if p.kind is p.KEYWORD_ONLY and p.VAR_POSITIONAL not in kinds and kinds.count(p.kind) == 1:
            parameters.append("*")
        default = "" if p.default is p.empty else f"=_default_{p.name}"
        parameters.append(f"{star}{p.name}{default}")
        if default:
            taken[p.name] = p.default
    text = f"def {name}({', '.join(parameters)}):\n    return {callee}({', '.join(passed)})\n"
    by_name = {k: v for k, v in taken.items() if signature.parameters[k].kind is KEYWORD_ONLY}
    by_position = tuple(v for k, v in taken.items() if k not in by_name)
    return make_function(text, name, Scope({}), bindings, by_position or None, by_name or None)


def is_class_method(f: Any) -> bool:
    """Whether a callable is a class method written in Python."""
    return isinstance(f, MethodType) and isinstance(f.__self__, type) and isinstance(f.__func__, FunctionType)


@lru_cache(maxsize=1024)
def of_class(cls: Any, function: FunctionType) -> FunctionType:
    """A class method as a function of its arguments, without the class."""
    if function.__name__ == "_make" and is_named_tuple(cls):
        name = identifier(f"{cls.__name__}_make")
        owner = identifier(cls.__name__) if cls.__name__ not in cls._fields else "called_class"
        items = ", ".join(cls._fields)
        text = f"def {name}(iterable):\n    {items}, = iterable\n    return {owner}({items})\n"
        return make_function(text, name, Scope({}), {owner: cls})
    first, *parameters = own_signature(function).parameters.values()
    signature = inspect.Signature([first, *parameters] if first.kind is first.VAR_POSITIONAL else parameters)
    called, owner = (
        n if n.isidentifier() and n not in signature.parameters else other
        for n, other in ((function.__name__, "called_function"), (cls.__name__, "called_class"))
    )
    bindings = {called: function, owner: cls}
    return forwarder(f"{cls.__name__}_{function.__name__}", signature, called, owner, bindings)


@lru_cache(maxsize=1024)
def dict_of_tuple(cls: Any) -> FunctionType:
    """The method `_asdict` of a class of named tuples."""
    name, items = identifier(f"{cls.__name__}_asdict"), ", ".join(f"{n!r}: obj.{n}" for n in cls._fields)
    return make_function(f"def {name}(obj):\n    return {{{items}}}\n", name, Scope({}), {})
