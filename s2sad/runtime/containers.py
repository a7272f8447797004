"""Run-time helpers for functions of containers: adjoints and tangents of `zip`, `sorted`, `dict`, `|`, ...

The adjoint of a list is a list, of a tuple a tuple, of an array an array, of a dict a dict of the same keys.
A view of a dict (`d.items()`) has the list of its elements' adjoints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..values.libraries import is_any_array
from .adjoints import zeros_like

VIEWS: tuple[type, ...] = (type({}.items()), type({}.values()))

__all__ = [
    "DICT_METHODS",
    "LIST_METHODS",
    "TUPLE_METHODS",
    "as_given",
    "copied_lists",
    "default_adjoint",
    "dict_adjoint",
    "dict_copy",
    "dict_get",
    "dict_items",
    "dict_keys",
    "dict_tangent",
    "dict_values",
    "get_adjoint",
    "items_adjoint",
    "items_tangent",
    "kept_items",
    "last_given",
    "last_tangents",
    "list_copy",
    "listed_tangent",
    "picked",
    "placed",
    "restored_items",
    "sorting",
    "tangent_of_dict",
    "transposed_adjoint",
    "transposed_tangent",
    "united",
    "united_adjoint",
    "united_tangent",
    "values_adjoint",
    "values_tangent",
]


def as_given(parts: Any, x: Any) -> Any:
    """The adjoint of the iterable `x` from the list of its elements' adjoints."""
    if is_any_array(x):
        dx = zeros_like(x)
        for k, part in enumerate(parts if dx is not None else ()):
            dx[k] = part
        return dx
    if isinstance(x, tuple):
        return x._make(parts) if hasattr(x, "_make") else tuple(parts)
    if isinstance(x, (list, deque)) or type(x) in VIEWS:
        return list(parts)
    return zeros_like(x)  # of a dict its keys are the elements; strings, ranges and sets carry no derivative


def last_given(parts: Any, x: Any) -> Any:
    """As `as_given`, where `parts` may be for the last elements alone: a deque of a given length."""
    if len(parts) < len(x):
        parts = [*(zeros_like(v) for v in list(x)[: len(x) - len(parts)]), *parts]
    return as_given(parts, x)


def last_tangents(dx: Any, out: Sequence[Any]) -> list[Any]:
    """The tangent of `out`, the last elements of something whose tangent is `dx`."""
    parts = listed_tangent(dx, out)
    return list(parts[len(parts) - len(out) :])


def listed_tangent(dx: Any, out: Sequence[Any]) -> list[Any] | tuple[Any, ...]:
    """The tangent of `out`, a list or tuple made of something whose tangent is `dx`."""
    parts = [zeros_like(v) for v in out] if dx is None or isinstance(dx, dict) else dx
    return tuple(parts) if isinstance(out, tuple) else list(parts)


def transposed_adjoint(dout: Any, rows: Any) -> Any:
    """The adjoint of the rows from that of `zip(*rows)`: zero for elements beyond the shortest row."""
    parts = []
    for k, row in enumerate(rows):
        items = list(row)
        given = [column[k] for column in dout]
        parts.append(as_given([*given, *map(zeros_like, items[len(given) :])], row))
    return as_given(parts, rows)


def transposed_tangent(drows: Any, out: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The tangent of `out`, which is `zip(*rows)`, from that of the rows: None for a row without any."""
    if not out:
        return []
    kept = [[None] * len(out) if drow is None else drow for drow in drows]
    return list(zip(*kept, strict=False))[: len(out)]


def sorting(xs: Any, key: Callable[[Any], Any] | None, reverse: bool) -> list[int]:
    """The positions of the elements in sorted order."""
    keys = [x if key is None else key(x) for x in xs]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def picked(parts: Any, order: list[int]) -> list[Any]:
    """The parts in another order."""
    found = list(parts)
    return [found[k] for k in order]


def placed(parts: Any, order: list[int]) -> list[Any]:
    """The inverse of `picked`: `picked(placed(parts, order), order) == parts`."""
    found: list[Any] = [None] * len(order)
    for k, part in zip(order, parts, strict=True):
        found[k] = part
    return found


# ---------------------------------------------------------------- dicts


def dict_items(x: dict[Any, Any]) -> Any:
    """`x.items()`, as a list."""
    return list(x.items())


def dict_values(x: dict[Any, Any]) -> Any:
    """`x.values()`, as a list."""
    return list(x.values())


def dict_keys(x: dict[Any, Any]) -> Any:
    """`x.keys()`."""
    return x.keys()


def dict_get(x: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`x.get(key, default)`."""
    return x.get(key, default)


def dict_copy(x: dict[Any, Any]) -> dict[Any, Any]:
    """`x.copy()`."""
    return x.copy()


def list_copy(x: list[Any]) -> list[Any]:
    """`x.copy()`."""
    return x.copy()


def copied_lists(x: Any) -> Any:
    """A copy of a list and of the lists in it; anything else is itself."""
    return [copied_lists(item) for item in x] if type(x) is list else x


DICT_METHODS = {
    "items": dict_items,
    "values": dict_values,
    "keys": dict_keys,
    "get": dict_get,
    "copy": dict_copy,
}
LIST_METHODS = {"copy": list_copy, "index": list.index, "count": list.count}
TUPLE_METHODS = {"index": tuple.index, "count": tuple.count}


def items_adjoint(parts: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    """The adjoint of the dict `x` from that of `x.items()`."""
    return {k: part[1] for k, part in zip(x, parts, strict=True)}


def values_adjoint(parts: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    """The adjoint of the dict `x` from that of `x.values()`."""
    return dict(zip(x, parts, strict=True))


def items_tangent(dx: dict[Any, Any]) -> list[Any]:
    """The tangent of `x.items()`."""
    return [(None, v) for v in dx.values()]


def values_tangent(dx: dict[Any, Any]) -> list[Any]:
    """The tangent of `x.values()`."""
    return list(dx.values())


def kept_items(dout: dict[Any, Any], x: dict[Any, Any], y: dict[Any, Any]) -> dict[Any, Any]:
    """The adjoint of the dict `x` from that of `{**x, **y}`: zero for the keys of `y`."""
    return {k: zeros_like(v) if k in y or dout is None else dout[k] for k, v in x.items()}


def restored_items(d: dict[Any, Any], dout: dict[Any, Any], y: dict[Any, Any]) -> dict[Any, Any]:
    """The transpose of `kept_items`: the adjoint of `dout` from that of its result."""
    return {k: zeros_like(v) if k in y or k not in d else d[k] for k, v in dout.items()}


def dict_adjoint(dout: dict[Any, Any], x: Any) -> Any:
    """The adjoint of `x` from that of `dict(x)`; `x` is a dict, or pairs: the last pair with a key counts."""
    if isinstance(x, dict):
        return kept_items(dout, x, {})
    last = {key: n for n, (key, _) in enumerate(x)}
    pairs = [(None, dout[k] if last[k] == n else zeros_like(v)) for n, (k, v) in enumerate(x)]
    return as_given(pairs, x)


def dict_tangent(dx: Any, out: dict[Any, Any], x: Any) -> dict[Any, Any]:
    """The tangent of `dict(x)`."""
    if isinstance(dx, dict):
        return dict(dx)
    return {key: pair[1] for (key, _), pair in zip(x, dx, strict=True)}


def tangent_of_dict(dx: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    """The tangent `dx` of the dict `x`, written out where it is None."""
    return {k: zeros_like(v) for k, v in x.items()} if dx is None else dict(dx)


def get_adjoint(dout: Any, x: dict[Any, Any], key: Any) -> dict[Any, Any]:
    """The adjoint of the dict `x` from that of `x.get(key)`."""
    return {k: dout if k == key else zeros_like(v) for k, v in x.items()}


def default_adjoint(dout: Any, x: dict[Any, Any], key: Any, default: Any) -> Any:
    """The adjoint of `default` from that of `x.get(key, default)`."""
    return zeros_like(default) if key in x else dout


def united(x: Any, y: Any) -> Any:
    """`x | y`, of dicts or of inactive values (integers, sets)."""
    return x | y


def united_adjoint(dout: Any, x: Any, y: Any) -> Any:
    """The adjoint of `x` from that of `x | y`, or of `y | x` where `y` is empty."""
    return kept_items(dout, x, y) if isinstance(x, dict) else None


def united_tangent(dx: Any, dy: Any, x: Any, y: Any) -> Any:
    """The tangent of `x | y`."""
    return {**tangent_of_dict(dx, x), **tangent_of_dict(dy, y)} if isinstance(x, dict) else None
