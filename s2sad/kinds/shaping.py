"""The kinds of results of `np.roll`, `np.split`, `np.ix_`, and of `np.unique`, `np.nonzero`.

Contract: as in result_kinds. These functions are not run on stand-ins: they fail for most lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from .lattice import (
    LARGE,
    NOT_ONE,
    NUMERIC,
    UNKNOWN,
    Array,
    Dim,
    Kind,
    List,
    Literal,
    Scalar,
    Sym,
    Tuple,
    length,
)

__all__ = ["SHAPING", "is_count", "kind_of_any_size", "shaping_kind"]

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
_PICKED = frozenset({np.unique, np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.repeat})
_PLACES = frozenset({np.nonzero, np.flatnonzero})
_PAIRS = frozenset({np.triu_indices, np.tril_indices})
_FREQUENCIES = frozenset({np.fft.fftfreq, np.fft.rfftfreq})
_RULES = frozenset(
    {
        np.polynomial.chebyshev.chebgauss,
        np.polynomial.hermite.hermgauss,
        np.polynomial.hermite_e.hermegauss,
        np.polynomial.laguerre.laggauss,
        np.polynomial.legendre.leggauss,
    }
)
_WINDOWS = frozenset({np.bartlett, np.blackman, np.hamming, np.hanning})
_SPACED = frozenset({np.geomspace, np.logspace})
_ROW = Array(np.dtype(np.intp).name, (None,))
SHAPING: frozenset[Any] = frozenset({*_TURNED, *_SPLIT, *_PICKED, *_PLACES, np.ix_})


def shaping_kind(function: Any, args: tuple[Kind, ...], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of the result of one of `SHAPING`."""
    if function in _TURNED:
        if not args or not isinstance(args[0], Array):
            return UNKNOWN
        return args[0] if args[0].dims else NUMERIC
    if function is np.ix_:
        return _open_mesh(args)
    if function in _PICKED or function in _PLACES:
        return UNKNOWN if keywords else _picked(function, args)
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


def _picked(function: Any, args: tuple[Kind, ...]) -> Kind:
    """The kind of `np.unique` and the like: arrays of dynamic length, of elements or of their positions."""
    match args:
        case [Array()] if function is np.flatnonzero:
            return _ROW
        case [Array(_, tuple() as dims)] if function in _PLACES and dims:
            return Tuple((_ROW,) * len(dims))
        case [Array(str() as dtype)] if function is np.unique:
            return Array(dtype, (None,))
        case [Array(str() as dtype), Array(other)] if function in _PICKED and dtype == other:
            return Array(dtype, (None,))
        case [Array(str() as dtype), _] if function is np.repeat:
            return Array(dtype, (None,))
    return UNKNOWN


def kind_of_any_size(function: Any, args: tuple[Kind, ...], keywords: Mapping[str, Kind]) -> Kind:
    """The kind of a result without its lengths, which are arguments."""
    match args:
        case [Scalar("int", Sym() as size), *others] if function in _PAIRS:
            is_known = all(isinstance(k, Literal) for k in (*others, *keywords.values()))
            many = Sym(f"{function.__name__}{(size, *others, *keywords.items())}") if is_known else None
            row = Array(_ROW.dtype, (many,))
            return Tuple((row, row))
        case [Scalar("int"), *_] if function in _PAIRS:
            return Tuple((_ROW, _ROW))
        case [Array(dtype, tuple() as dims), *_] if function is np.pad:
            return Array(dtype, (None,) * len(dims))
        case [Array(_, tuple() as dims)] if function is np.where and dims:
            return Tuple((_ROW,) * len(dims))
        case [Array(_, tuple() as dims), _] if function is np.isin and dims:
            return Array("bool", dims)
        case [count] if function in _RULES and is_count(count):
            nodes = length(count.value) if isinstance(count, Literal) else count.size
            return Tuple((Array("float64", (nodes,)),) * 2)
        case [count] if function in _WINDOWS and is_count(count):
            return Array("float64", (None,))
        case [Scalar("float"), Scalar("float"), *counts] if function in _SPACED and not keywords:
            return Array("float64", (None,)) if all(map(is_count, counts)) and len(counts) < 2 else UNKNOWN
        case [Array(dtype, (a, b)), exponent] if function is np.linalg.matrix_power and is_count(exponent):
            return Array(dtype, (b if a is None else a,) * 2) if dtype == "float64" else UNKNOWN
        case [Array(dtype, tuple() as dims), count] if function is np.tile and dims and is_count(count):
            return Array(dtype, (None,) * len(dims))
        case [Scalar("int", size), *spacing] if function in _FREQUENCIES:
            if {*spacing, *keywords.values()} <= {Scalar("float")}:
                return Array("float64", (size if function is np.fft.fftfreq else None,))
    return UNKNOWN


def is_count(kind: Kind) -> TypeGuard[Literal | Scalar]:
    """Whether values of the kind are surely ints."""
    if isinstance(kind, Literal):
        return type(kind.value) is int
    return isinstance(kind, Scalar) and kind.dtype == "int"


def _share(dim: Dim, n: int) -> Dim:
    """The length of each of `n` equal parts of an axis; NumPy raises where it is not divisible."""
    if not isinstance(dim, Sym) or dim is NOT_ONE or dim.offset:
        return None
    if dim.number is not None:
        return None if dim.number % n else length(dim.number // n)
    return Sym(f"{dim.name}/{n}", 0, dim.large and 2 * n <= LARGE)


def _open_mesh(args: tuple[Kind, ...]) -> Kind:
    dims: list[Dim] = []
    for a in args:
        match a:
            case Array(str() as dtype, (dim,)) if dtype != "bool":  # np.ix_ takes the positions of a mask
                dims.append(dim)
            case _:
                return UNKNOWN
    found = [
        Array(a.dtype, tuple(d if i == k else 1 for i, d in enumerate(dims)))
        for k, a in enumerate(args)
        if isinstance(a, Array)
    ]
    return Tuple(tuple(found))
