"""The kinds of arrays that are turned, or cut into parts, along an axis: `np.roll`, `np.split`, `np.ix_`.

Contract: as in kind_inference. Such functions fail for most lengths that could be tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .kinds import LARGE, NOT_ONE, NUMERIC, UNKNOWN, Array, Dim, Kind, List, Literal, Sym, Tuple, length

__all__ = ["SHAPING", "shaping_kind"]

_TURNED = frozenset({np.roll, np.flip})
_SPLIT: dict[Any, tuple[str, ...]] = {
    np.split: ("ary", "indices_or_sections", "axis"),
    np.array_split: ("ary", "indices_or_sections", "axis"),
    np.hsplit: ("ary", "indices_or_sections"),
    np.vsplit: ("ary", "indices_or_sections"),
    np.dsplit: ("ary", "indices_or_sections"),
}
_AXES = {np.vsplit: 0, np.dsplit: 2}
_MAX_PARTS = 64
SHAPING: frozenset[Any] = frozenset({*_TURNED, *_SPLIT, np.ix_})


def shaping_kind(function: Any, args: tuple[Kind, ...], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of the result of one of `SHAPING`."""
    if function in _TURNED:
        if not args or not isinstance(args[0], Array):
            return UNKNOWN
        return args[0] if args[0].dims else NUMERIC
    if function is np.ix_:
        return _open_mesh(args)
    names = _SPLIT[function]
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not given.keys() <= set(names) or len(given) < 2:
        return UNKNOWN
    x = given["ary"]
    if not isinstance(x, Array) or not x.dims:
        return UNKNOWN
    axis = given.get("axis", Literal(_AXES.get(function, 0)))
    if function is np.hsplit:
        axis = Literal(1 if len(x.dims) > 1 else 0)
    return _parts(function, x, x.dims, given["indices_or_sections"], axis)


def _parts(function: Any, x: Array, dims: tuple[Dim, ...], sections: Kind, axis: Kind) -> Kind:
    match sections, axis:
        case Literal(int() as n), Literal(int() as k) if 1 <= n <= _MAX_PARTS and -len(dims) <= k < len(dims):
            share = _share(dims[k], n) if function is not np.array_split else None
        case (Tuple(items) | List(tuple() as items, _)), Literal(int() as k) if -len(dims) <= k < len(dims):
            n, share = len(items) + 1, None
        case _:
            return UNKNOWN
    part = Array(x.dtype, tuple(share if i == k % len(dims) else d for i, d in enumerate(dims)))
    return List((part,) * n, part)


def _share(dim: Dim, n: int) -> Dim:
    """The length of each of `n` equal parts of an axis: NumPy refuses a length that can't be shared so."""
    if not isinstance(dim, Sym) or dim is NOT_ONE or dim.offset:
        return None
    if dim.name.startswith("="):
        size = int(dim.name[1:])
        return None if size % n else length(size // n)
    return Sym(f"{dim.name}/{n}", 0, dim.large and 2 * n <= LARGE)


def _open_mesh(args: tuple[Kind, ...]) -> Kind:
    dims: list[Dim] = []
    for a in args:
        match a:
            case Array(str() as dtype, (dim,)) if dtype.startswith(("int", "uint")):
                dims.append(dim)
            case _:
                return UNKNOWN
    found = [
        Array(a.dtype, tuple(d if i == k else 1 for i, d in enumerate(dims)))
        for k, a in enumerate(args)
        if isinstance(a, Array)
    ]
    return Tuple(tuple(found))
