"""The arguments that a primitive writes to, by position or keyword; position 0 of a method is its object."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import FunctionType, ModuleType, NoneType
from typing import Any

import gast
import numpy as np

from ..kinds.lattice import (
    Array,
    Dict,
    Foreign,
    Kind,
    List,
    Literal,
    Numeric,
    Random,
    Record,
    Scalar,
    Set,
    Tuple,
)
from ..primitives.aliasing import positional_parameters
from ..primitives.record import fact, find_rule, is_nondifferentiable
from ..rules.methods import METHODS
from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.trees.nodes import walk
from ..values.objects import lookup

__all__ = ["OUTPUTS", "changed", "changed_by_method", "is_changing_method", "sets_attributes"]

Changed = list[int | str]

# Methods that change their object, with names that only containers have.
CERTAIN = frozenset({"append", "extend", "appendleft", "extendleft", "__setitem__", "__delitem__"})
OUTPUTS = ("out", "output")  # what NumPy and SciPy call the array that a result is written to
CLASSES: dict[type[Kind], type] = {
    **dict.fromkeys((Array, Foreign, Numeric, Scalar), np.ndarray),
    Tuple: tuple, List: list, Dict: dict, Set: set
}  # fmt: skip


def changed(function: Any, count: int, keywords: Mapping[str, Any]) -> Changed:
    """The arguments that a call with `count` positional arguments and these keywords writes to; none for the
    user's own functions, whose effects are found elsewhere.
    """
    writes = None if _is_bound(function) else fact(function, "writes")
    if writes is not None:
        names = positional_parameters(function)
        given = {*names[:count], *keywords}
        if isinstance(writes, Mapping):
            passed = [n for n in writes if n in given and not _is(keywords.get(n), True)]
            writes = [k for n in passed for k in writes[n]]
        return [k if k < count else names[k] for k in writes if k < count or {*names[k : k + 1]} & given]
    if (
        isinstance(function, FunctionType)
        and find_rule(function) is None
        and not is_nondifferentiable(function)
    ):
        return []
    found: Changed = [k for k in _output_positions(function) if k < count]
    found += [k for k, v in keywords.items() if k in OUTPUTS and not _is(v, None)]
    return found


def changed_by_method(kind: Kind, name: str, count: int, keywords: Mapping[str, Any]) -> Changed | None:
    """The arguments that a call of the method `name` of an object of this kind writes to; None when unknown.
    """
    if isinstance(kind, Literal) and isinstance(kind.value, np.ufunc):
        return [1] if name == "at" else []
    if isinstance(kind, Random):
        return [1] if name == "shuffle" else []
    cls = CLASSES.get(type(kind))
    if cls is None:
        return None
    if fact(getattr(cls, name, None), "writes") is not None:
        return [0]
    function = METHODS.get(name)
    return [] if function is None else changed(function, count + 1, keywords)


def is_changing_method(kind: Kind, name: str) -> bool:
    """Whether a method of an object of this kind changes the object, or may."""
    if isinstance(kind, Record):
        function = lookup(kind.cls, name)
        return isinstance(function, FunctionType) and _may_set_attributes(function)
    if isinstance(kind, (Array, Foreign, Dict, List, Set)):
        return fact(getattr(CLASSES[type(kind)], name, None), "writes") is not None
    return name in CERTAIN


@functools.lru_cache(maxsize=1024)
def _may_set_attributes(function: FunctionType) -> bool:
    try:
        return sets_attributes(read_source(function).tree)
    except NoSourceError:
        return False


def sets_attributes(function: Any) -> bool:
    """Whether a function stores to attributes, or calls a method as a statement, which may do so."""
    return any(
        (isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store))
        or (isinstance(n, gast.Expr) and isinstance(getattr(n.value, "func", None), gast.Attribute))
        for n in walk(function)
    )


def _is(node: Any, value: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is value


def _is_bound(function: Any) -> bool:
    return not isinstance(getattr(function, "__self__", None), (NoneType, ModuleType, type))


def _output_positions(function: Any) -> tuple[int, ...]:
    """The positions of the output parameters of a function of NumPy or SciPy."""
    if isinstance(function, np.ufunc):
        return tuple(range(function.nin, function.nin + function.nout))
    if not (getattr(function, "__module__", None) or "").startswith(("numpy", "scipy")):
        return ()
    return tuple(k for k, name in enumerate(positional_parameters(function)) if name in OUTPUTS)
