"""The kind of a primitive's result, found by running the primitive on small stand-ins for its arguments.

Contract: the function has no side effects, and the type and shape of its result do not depend on values that
are not part of kinds. The result of `execute` then holds for all values of the kinds.

Lengths are unknown, so the function is run in many worlds: all lengths distinct, in rising and in falling
order; lengths that may be one equal to one; every way in which some of them may be equal, if all distinct is
an error (`x @ y`); lengths of zero, two and three. The result is the kind common to all worlds in which it
succeeds.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ..values.objects import is_named_tuple
from .abstraction import kind_of
from .join import join_all
from .lattice import (
    NOT_ONE,
    NUMERIC,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    Kind,
    List,
    Literal,
    Scalar,
    Sym,
    Tuple,
    length,
)

__all__ = ["Impossible", "execute", "quietly", "stand_ins"]

MAX_SYMBOLS = 6
MAX_PATTERNS = 260  # 203 ways to make six lengths equal
MAX_ELEMENTS = 100_000
MAX_LISTED = 64  # items of a stand-in for a list
MAX_OFFSET = 3  # less than half the least difference of two lengths in a world
FILLS = 3
SMALL_INTEGERS = np.array([1, 0, 1, 0, 0, 1, 1], dtype=np.int64)

_lock = threading.RLock()  # reentrant: a primitive may itself generate derivatives

_SCALAR_TYPES: dict[str, tuple[Any, ...]] = {
    "float": (float, np.float64),
    "complex": (complex, np.complex128),
    "bool": (bool, np.bool_),
    "int": (int,),
    "integer": (int, np.int64),
    "real": (float, np.float64, int, np.int64, bool, np.bool_),
    "number": (float, np.float64, int, np.int64, bool, np.float32, complex),
}
_ANY_DTYPE = ("float64", "float32", "complex128", "int64", "bool")


class Impossible(Exception):
    """The kind has no stand-in, or one that is too large."""


@dataclass
class World:
    """One choice of lengths and dtypes that kinds leave open; `takes` counts the unnamed lengths so far."""

    sizes: Sequence[int]
    named: dict[Sym, int]
    fill: int = 0
    variant: int = 0
    takes: Iterator[int] = field(default_factory=lambda: iter(()))

    def size(self, dim: Dim) -> int:
        if isinstance(dim, Sym) and dim is not NOT_ONE:
            return self.sizes[self.named[dim]]
        return 1 if dim == 1 else self.sizes[next(self.takes)]


def stand_ins(kind: Kind) -> tuple[Any, ...]:
    """The types of scalars, or the dtypes of arrays, that values of a scalar's or array's kind may have."""
    match kind:
        case Scalar(dtype):
            return _SCALAR_TYPES.get(dtype) or (np.dtype(dtype).type,)
        case Array(dtype):
            return _ANY_DTYPE if dtype is None else (dtype,)
    raise Impossible


def execute(
    function: Callable[..., Any],
    args: tuple[Kind, ...],
    keywords: tuple[tuple[str, Kind], ...] = (),
) -> Kind:
    """The kind of the function's result; Unknown when no world lets it succeed."""
    kinds = [*args, *(k for _, k in keywords)]
    symbols = _symbols(kinds)
    variants = max([_variants(k) for k in kinds], default=1)
    if len(symbols) > MAX_SYMBOLS:
        return UNKNOWN
    named = {s: i for i, s in enumerate(symbols) if s is not None and not _is_unnamed(s)}
    unnamed = [i for i, s in enumerate(symbols) if _is_unnamed(s)]
    outcomes: list[tuple[Any, Sequence[int]]] = []

    def attempt(sizes: Sequence[int], fill: int = 0, variant: int = 0) -> bool:
        world = World(sizes, named, fill, variant, iter(unnamed))
        try:
            values = [_build(k, world) for k in kinds]
            made = dict(zip([name for name, _ in keywords], values[len(args) :], strict=True))
            result = function(*values[: len(args)], **made)
        except Exception:  # of any type: this world has no result
            return False
        outcomes.append((result, sizes))
        return True

    with quietly():
        succeeded = _visit_worlds(symbols, variants, attempt)
    return _common_kind(outcomes, symbols) if succeeded else UNKNOWN


@contextmanager
def quietly() -> Iterator[None]:
    """Silences warnings; one thread at a time, since the filters of `warnings` belong to the process."""
    with _lock, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _visit_worlds(symbols: Sequence[Sym | None], variants: int, attempt: Callable[..., bool]) -> bool:
    """Runs the worlds; whether the function succeeded in two without a common length: else nothing follows.
    """
    main: list[int] | None = None
    distinct = list(range(len(symbols)))
    patterns = [distinct]
    if attempt(_rising(distinct)):
        patterns += _with_ones(symbols, distinct)
        patterns += [_merged(distinct, a, b) for a, b in combinations(distinct, 2)]
    else:
        patterns = [w for p in _partitions(len(symbols)) for w in [p, *_with_ones(symbols, p)]]
        if len(patterns) > MAX_PATTERNS:
            return False
    for pattern in patterns:
        if attempt(_rising(pattern)) and attempt(_falling(pattern)):
            main = main or pattern
        top = max(pattern, default=0)  # `np.diff` of length two gives length one, which is broadcast
        attempt([1 if block < 0 else 2 + block for block in pattern])
        attempt([1 if block < 0 else 2 + top - block for block in pattern])
    for size in (0, 2, 3):
        attempt([size] * len(symbols))
    if main is None:
        return False
    for sizes in (_rising(main), _falling(main)):
        for fill in range(FILLS):
            for variant in range(variants):
                attempt(sizes, fill, variant)
    for zero in sorted(set(main)):
        attempt([0 if block == zero else size for block, size in zip(main, _rising(main), strict=True)])
    return True


def _rising(pattern: Sequence[int]) -> list[int]:
    return [1 if block < 0 else 7 + 7 * block for block in pattern]


def _falling(pattern: Sequence[int]) -> list[int]:
    top = max(pattern, default=0)
    return [1 if block < 0 else 10 + 8 * (top - block) for block in pattern]


def _merged(pattern: list[int], a: int, b: int) -> list[int]:
    return [a if block == b else block for block in pattern]


def _with_ones(symbols: Sequence[Sym | None], pattern: list[int]) -> list[list[int]]:
    """The patterns with each choice of the possible lengths one set to one (block -1)."""
    may = [i for i, s in enumerate(symbols) if s is None or not s.not_one]
    chosen = [c for n in range(1, len(may) + 1) for c in combinations(may, n)]
    return [[-1 if i in c else block for i, block in enumerate(pattern)] for c in chosen]


def _partitions(n: int) -> list[list[int]]:
    """All ways to make some of n lengths equal, as block numbers; those with most blocks first."""
    found: list[list[int]] = [[]]
    for _ in range(n):
        found = [[*p, block] for p in found for block in range(max(p, default=-1) + 2)]
    return sorted(found, key=lambda p: -max(p, default=0))


def _symbols(kinds: Sequence[Kind]) -> list[Sym | None]:
    """The unknown lengths: each name once, then each unnamed one, in the order of `_build`."""
    found: list[Sym | None] = []

    def visit(kind: Kind) -> None:
        match kind:
            case Array(_, dims) if dims is not None:
                found.extend(d for d in dims if not isinstance(d, int) and (_is_unnamed(d) or d not in found))
            case Tuple(items) | List(tuple() as items, _):
                for item in items:
                    visit(item)
            case List(None, element):
                found.append(None)
                visit(element)
            case Dict(pairs):
                for _, item in pairs:
                    visit(item)

    for kind in kinds:
        visit(kind)
    named = dict.fromkeys(s for s in found if not _is_unnamed(s))
    return [*named, *filter(_is_unnamed, found)]


def _is_unnamed(dim: Dim) -> bool:
    """Whether a length is unnamed, so that two occurrences may differ."""
    return dim is None or dim is NOT_ONE


def _variants(kind: Kind) -> int:
    match kind:
        case Scalar() | Array():
            return len(stand_ins(kind))
        case Tuple(items) | List(tuple() as items, _):
            return max(map(_variants, items), default=1)
        case List(_, element):
            return _variants(element)
        case Dict(pairs):
            return max([_variants(k) for _, k in pairs], default=1)
    return 1


def _build(kind: Kind, world: World) -> Any:
    match kind:
        case Literal(value):
            return value
        case Scalar():
            types = stand_ins(kind)
            fills = (0.5, 0.0, -1.5) if kind.dtype == "float" else (1, 0, 2)
            return types[world.variant % len(types)](fills[world.fill])
        case Array(_, dims) if dims is not None:
            dtypes = stand_ins(kind)
            return _filled(tuple(map(world.size, dims)), dtypes[world.variant % len(dtypes)], world.fill)
        case Tuple(items):
            return tuple(_build(k, world) for k in items)
        case List(tuple() as items, _):
            return [_build(k, world) for k in items]
        case List(None, element):
            count = world.size(None)
            item = _build(element, world)
            return [item] * count
        case Dict(pairs):
            return {key: _build(k, world) for key, k in pairs}
    raise Impossible


def _filled(shape: tuple[int, ...], dtype: str, fill: int) -> Any:
    """An array: well-conditioned matrices; zeros; values of both signs, some equal (as integers 0 and 1)."""
    if math.prod(shape) > MAX_ELEMENTS:
        raise Impossible
    if fill == 0:
        values = np.full(shape, 0.5 if np.dtype(dtype).kind in "fc" else 1)
        if len(shape) > 1 and np.dtype(dtype).kind in "fc":
            values = values + 8 * np.eye(shape[-2], shape[-1])
    elif fill == 1:
        values = np.zeros(shape)
    elif np.dtype(dtype).kind in "fc":
        values = np.arange(math.prod(shape)).reshape(shape) * 7 % 11 / 2 - 2
    else:
        values = np.resize(SMALL_INTEGERS, shape)
    return values.astype(dtype)


def _common_kind(outcomes: Sequence[tuple[Any, Sequence[int]]], symbols: Sequence[Sym | None]) -> Kind:
    """The common kind of the results, each from its own world."""
    results = [r for r, _ in outcomes]
    types = set(map(type, results))
    if types == {np.ndarray}:
        return _common_array(outcomes, symbols)
    if len(types) == 1 and isinstance(results[0], tuple) and len(set(map(len, results))) == 1:
        columns = range(len(results[0]))
        items = tuple(_common_kind([(r[i], sizes) for r, sizes in outcomes], symbols) for i in columns)
        return Tuple(items, type(results[0]) if is_named_tuple(type(results[0])) else None)
    if types == {list}:
        filled = [(r, sizes) for r, sizes in outcomes if r]
        most = max([len(r) for r, _ in filled], default=0)
        if most > MAX_LISTED:
            return UNKNOWN
        rows = [[(r[min(i, len(r) - 1)], sizes) for r, sizes in filled] for i in range(most)]
        return List(None, join_all(_common_kind(row, symbols) for row in rows)) if rows else UNKNOWN
    kinds = [Literal(None) if r is None else kind_of(r, "") for r in results]
    if all(isinstance(k, Scalar) or k == Literal(None) for k in kinds):
        return join_all(kinds)
    return NUMERIC if all(isinstance(k, (Scalar, Array)) for k in kinds) else UNKNOWN


def _common_array(outcomes: Sequence[tuple[Any, Sequence[int]]], symbols: Sequence[Sym | None]) -> Kind:
    if any(r.dtype.kind not in "biufc" for r, _ in outcomes):
        return UNKNOWN
    dtypes = {r.dtype.name for r, _ in outcomes}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if len({r.ndim for r, _ in outcomes}) > 1:
        return Array(dtype, None)
    columns = [[(r.shape[axis], sizes) for r, sizes in outcomes] for axis in range(outcomes[0][0].ndim)]
    return Array(dtype, tuple(_common_dim(column, symbols) for column in columns))


def _common_dim(lengths: Sequence[tuple[int, Sequence[int]]], symbols: Sequence[Sym | None]) -> Dim:
    """The expression of an axis's length that is right in all worlds; None without one."""
    first = lengths[0][0]
    if all(n == first for n, _ in lengths):
        return length(first)
    found = [
        dim
        for i, s in enumerate(symbols)
        for offset in range(-MAX_OFFSET, MAX_OFFSET + 1)
        if s is not None
        and isinstance(dim := s.moved(offset), Sym)
        and all(max(0, sizes[i] + offset) == n for n, sizes in lengths)
    ]
    return min(found, key=lambda s: (s.offset != 0, not s.not_one)) if found else None
