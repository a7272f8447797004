"""The kinds of arrays whose lengths are arguments: `np.zeros(n)`, `np.arange(n)`, `np.reshape(x, (n, -1))`.

Contract: as in result_kinds. These functions are run with small sizes, and only to find the dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..rules.index_tricks import GRIDS, Indexing
from .lattice import INTEGERS, UNKNOWN, Array, Dim, Kind, List, Literal, Scalar, Sym, Tuple, length, widen

__all__ = ["SIZED", "grid_kind", "sized_kind"]

Execute = Callable[[Any, tuple[Kind, ...], tuple[tuple[str, Kind], ...]], Kind]

_FILLED = {
    np.zeros: ("shape", "dtype"),
    np.ones: ("shape", "dtype"),
    np.empty: ("shape", "dtype"),
    np.full: ("shape", "fill_value", "dtype"),
}
_SQUARE = {np.eye: ("N", "M", "k", "dtype"), np.identity: ("n", "dtype")}
_RESHAPED: dict[Any, tuple[str, ...]] = {np.reshape: ("a", "shape"), np.broadcast_to: ("array", "shape")}
_LINE = ("start", "stop", "num", "endpoint")
SIZED: frozenset[Any] = frozenset({*_FILLED, *_SQUARE, *_RESHAPED, np.arange, np.linspace})


def sized_kind(function: Any, args: tuple[Kind, ...], keywords: Mapping[str, Kind], execute: Execute) -> Kind:
    """The kind of the result of one of `SIZED`; `execute` runs a function on stand-ins."""
    if function is np.arange:
        return _range_kind(args, keywords, execute)
    names = _FILLED.get(function) or _SQUARE.get(function) or _RESHAPED.get(function) or _LINE
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if len(args) > len(names) or not given.keys() <= set(names) or names[0] not in given:
        return UNKNOWN
    if function in _RESHAPED:
        return _reshaped_kind(function, given[names[0]], given.get("shape", UNKNOWN))
    small: Kind = Literal(1)
    if function in _FILLED:
        dims, sizes = dims_of_shape(given["shape"]), {"shape": small}
    elif function in _SQUARE:
        rows = given[names[0]]
        dims = _dims([rows, rows if given.get("M", Literal(None)) == Literal(None) else given["M"]])
        sizes = {names[0]: small}
        given.pop("M", None), given.pop("k", None)
    else:
        dims, sizes = _dims([given.get("num", Literal(50))]), {"num": Literal(3)}
    for name in {"start", "stop", "fill_value"} & given.keys():
        given[name] = _small(given[name])
    made = execute(function, (), tuple({**given, **sizes}.items()))
    return Array(made.dtype, dims) if isinstance(made, Array) and _is_plain(function, made) else UNKNOWN


def _is_plain(function: Any, made: Array) -> bool:
    """Whether the ends of a linspace were numbers: arrays as ends give more axes."""
    return function is not np.linspace or (made.dims is not None and len(made.dims) == 1)


def dims_of_shape(shape: Kind) -> tuple[Dim, ...] | None:
    """The lengths in an argument `shape`, an int or a tuple of ints; None where even the rank is unknown."""
    match shape:
        case Tuple(items) | List(tuple() as items, _):
            return _dims(items)
        case Literal() | Scalar():
            return _dims([shape])
    return None


def _dims(sizes: Sequence[Kind]) -> tuple[Dim, ...] | None:
    dims: list[Dim] = []
    for size in sizes:
        match size:
            case Literal(int() as n) if n >= 0:
                dims.append(length(n))
            case Scalar("int", Sym() as dim):
                dims.append(dim)
            case Literal(int()) | Scalar():
                dims.append(None)
            case _:
                return None
    return tuple(dims)


def _reshaped_kind(function: Any, x: Kind, shape: Kind) -> Kind:
    if not isinstance(x, Array):
        return UNKNOWN
    dims = dims_of_shape(shape)
    flat = x.dims is not None and len(x.dims) == 1
    if function is np.reshape and flat and dims is not None and x.dims is not None:
        # all other lengths are 1, so the remaining one is that of x
        open_axes = [i for i, d in enumerate(dims) if d != 1]
        items = shape.items if isinstance(shape, (Tuple, List)) and shape.items is not None else (shape,)
        if len(open_axes) == 1 and items[open_axes[0]] == Literal(-1):
            dims = tuple(x.dims[0] if i == open_axes[0] else d for i, d in enumerate(dims))
    return Array(x.dtype, dims)


def _range_kind(args: tuple[Kind, ...], keywords: Mapping[str, Kind], execute: Execute) -> Kind:
    small = tuple(map(_small, args))
    if not args or not all(isinstance(widen(k), Scalar) for k in args) or not keywords.keys() <= {"dtype"}:
        return UNKNOWN
    made = execute(np.arange, small, tuple(keywords.items()))
    if not isinstance(made, Array):
        return UNKNOWN
    return Array(made.dtype, _dims(args) if len(args) == 1 and small[0] == Literal(2) else (None,))


def grid_kind(function: Indexing, args: tuple[Kind, ...]) -> Kind:
    """The kind of `np.mgrid[...]` and `np.ogrid[...]`, given the bounds of the slices."""
    bounds = [widen(k) for k in args if k != Literal(None)]
    if function.owner not in GRIDS or not all(function.slices) or UNKNOWN in bounds:
        return UNKNOWN
    if not all(isinstance(k, Scalar) for k in bounds):
        return UNKNOWN
    names = {k.dtype for k in bounds if isinstance(k, Scalar)}
    dtype = "int64" if names <= INTEGERS else "float64" if names <= {*INTEGERS, "float", "complex"} else None
    dims = [_grid_dim(*args[k : k + 3]) for k in range(0, len(args), 3)]
    if len(dims) == 1 or not GRIDS[function.owner]:
        return Array(dtype, tuple(dims if len(dims) == 1 else [length(len(dims)), *dims]))
    ranks = range(len(dims))
    return Tuple(tuple(Array(dtype, tuple(d if i == k else 1 for i in ranks)) for k, d in enumerate(dims)))


def _grid_dim(start: Kind, stop: Kind, step: Kind) -> Dim:
    """The number of grid points of a slice; None where it is unknown."""
    if isinstance(step, Literal) and isinstance(step.value, complex):
        return length(int(abs(step.value)))
    from_zero = start in (Literal(None), Literal(0)) and step in (Literal(None), Literal(1))
    dims = _dims([stop]) if from_zero else None
    return dims[0] if dims else None


def _small(kind: Kind) -> Kind:
    """A small literal in place of an integer that is a length."""
    wide = widen(kind)
    return Literal(2) if isinstance(wide, Scalar) and wide.dtype in INTEGERS else wide
