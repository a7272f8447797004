"""Which arguments a function changes in place, by position or keyword; that of a method is its object."""

from __future__ import annotations

import bisect
import functools
import heapq
import inspect
import operator
import random
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import gast
import numpy as np

from ..kinds.lattice import Array, Dict, Kind, List, Numeric, Record, Scalar, Set, Tuple
from ..primitives.record import find_rule, is_nondifferentiable
from ..rules.methods import METHODS
from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.trees.nodes import walk
from ..values.objects import lookup

__all__ = ["changed", "changed_by_method", "is_changing_method", "sets_attributes"]

Changed = list[int | str]

FIRST = frozenset(
    {
        np.put,
        np.place,
        np.putmask,
        np.copyto,
        np.fill_diagonal,
        np.put_along_axis,
        np.random.shuffle,
        random.shuffle,
        setattr,
        delattr,
        heapq.heapify,
        heapq.heappush,
        heapq.heappop,
        heapq.heappushpop,
        heapq.heapreplace,
        bisect.insort,
        bisect.insort_left,
        operator.setitem,
        operator.delitem,
        operator.iadd,
        operator.isub,
        operator.imul,
        operator.itruediv,
        operator.ifloordiv,
        operator.imod,
        operator.ipow,
        operator.imatmul,
        operator.iconcat,
        operator.iand,
        operator.ior,
        operator.ixor,
        operator.ilshift,
        operator.irshift,
    }
)

# Methods of arrays, lists, dicts and sets.
METHODS_THAT_CHANGE = frozenset(
    {
        "fill",
        "itemset",
        "partition",
        "put",
        "resize",
        "setfield",
        "setflags",
        "sort",
        "byteswap",
        "append",
        "clear",
        "extend",
        "insert",
        "pop",
        "remove",
        "reverse",
        "popitem",
        "setdefault",
        "update",
        "add",
        "discard",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "__setitem__",
        "__delitem__",
        "__iadd__",
        "__isub__",
        "__imul__",
        "__itruediv__",
        "__ifloordiv__",
        "__imod__",
        "__ipow__",
        "__imatmul__",
        "__iand__",
        "__ior__",
        "__ixor__",
        "__ilshift__",
        "__irshift__",
    }
)


def changed(function: Any, count: int, keywords: Mapping[str, Any]) -> Changed:
    """What a call of a known function with `count` positional arguments and these keywords changes.

    Nothing is said of the user's own functions.
    """
    try:
        if function in FIRST:
            return [0] if count else [k for k in _parameters(function)[:1] if k in keywords]
    except TypeError:  # not hashable
        return []
    if (
        isinstance(function, FunctionType)
        and find_rule(function) is None
        and not is_nondifferentiable(function)
    ):
        return []
    found: Changed = [k for k in _output_positions(function) if k < count]
    found += [k for k, v in keywords.items() if k == "out" and not _is(v, None)]
    if function is np.nan_to_num and not _is(keywords.get("copy"), True) and "copy" in keywords:
        found.append(0)
    if getattr(function, "__name__", "") in METHODS_THAT_CHANGE and hasattr(function, "__objclass__"):
        found.append(0)
    return found


def changed_by_method(kind: Kind, name: str, count: int, keywords: Mapping[str, Any]) -> Changed | None:
    """What a call of the method `name` of an object of this kind changes; None when that cannot be told."""
    if name == "at" and count >= 2 and not isinstance(kind, (Array, List, Tuple, Dict)):
        return [1]  # of a NumPy function: np.add.at(a, index, v)
    if name == "shuffle":
        return [1]
    if not isinstance(kind, (Array, Numeric, Scalar, Tuple, List, Dict, Set)):
        return None
    if name in METHODS_THAT_CHANGE:
        return [0]
    function = METHODS.get(name)
    return [] if function is None else changed(function, count + 1, keywords)


# Methods that change a container: those that few other objects have, and all.
CERTAIN = frozenset({"append", "extend", "appendleft", "extendleft", "__setitem__", "__delitem__"})
OF_CONTAINERS = CERTAIN | {
    *("insert", "remove", "clear", "sort", "reverse", "update", "setdefault", "add", "discard", "fill"),
    *("put", "pop", "popleft", "popitem"),
}


def is_changing_method(kind: Kind, name: str) -> bool:
    """Whether a method of an object of this kind changes the object, or may."""
    if isinstance(kind, Record):
        function = lookup(kind.cls, name)
        return isinstance(function, FunctionType) and _may_set_attributes(function)
    is_container = isinstance(kind, (Array, Dict, List, Set))
    return name in OF_CONTAINERS if is_container else name in CERTAIN


@functools.lru_cache(maxsize=1024)
def _may_set_attributes(function: FunctionType) -> bool:
    try:
        return sets_attributes(read_source(function).tree)
    except NoSourceError:
        return False


def sets_attributes(function: Any) -> bool:
    """Whether a function's text sets attributes, or may by a call: to be followed by its caller."""
    return any(
        (isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store))
        or (isinstance(n, gast.Expr) and isinstance(getattr(n.value, "func", None), gast.Attribute))
        for n in walk(function)
    )


def _is(node: Any, value: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is value


@functools.lru_cache(maxsize=1024)
def _parameters(function: Any) -> list[str]:
    """The parameters that may be passed by position; none of a function that does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a C function
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _output_positions(function: Any) -> tuple[int, ...]:
    """At which positions a function takes arrays to write its result into."""
    if isinstance(function, np.ufunc):
        return tuple(range(function.nin, function.nin + function.nout))
    if not (getattr(function, "__module__", None) or "").startswith("numpy"):
        return ()
    return tuple(k for k, name in enumerate(_parameters(function)) if name == "out")
