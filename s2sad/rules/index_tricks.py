"""Objects that compute something of an index: `np.r_` and `np.c_` join its parts, `np.mgrid` and `np.ogrid`
make grids of its slices. An index of one of these is a call of the function that `indexed` finds.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..primitives.record import Rule, bprop, for_instances, nondifferentiable
from ..primitives.template import Template
from ..runtime.adjoints import broadcast_like
from ..values.objects import HAVE_RULES
from .containers import filled, part_like
from .functional import pulled_back, pushed_forward
from .samples import A, given

Array = Any  # any type with NumPy's protocols


def indexed(owner: Any, slices: Sequence[bool]) -> Callable[..., Any] | None:
    """What an object computes of the parts of an index, as a function of these, and in the place of each part
    that is a slice, as `slices` says, of its three bounds; None for objects that hold something.
    """
    if not any(owner is trick for trick in TRICKS):  # others need not be hashable
        return None
    joins = JOINING.get(owner)
    return Indexing(owner, tuple(slices)) if joins is None or any(slices) else joins


# ---------------------------------------------------------------- joining


def rows(*parts: Any) -> Array:
    """`np.r_[*parts]`."""
    return np.asarray(np.r_[key_of(parts)])


def columns(*parts: Any) -> Array:
    """`np.c_[*parts]`."""
    return np.asarray(np.c_[key_of(parts)])


def key_of(parts: tuple[Any, ...]) -> Any:
    """What is between the brackets: one part stands for itself, and may be the tuple of all."""
    return parts[0] if len(parts) == 1 else parts


def parts_of(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts that are joined, one tuple of them taken apart."""
    return parts[0] if len(parts) == 1 and isinstance(parts[0], tuple) else parts


def unjoined(d: Array, join: Callable[..., Array], parts: tuple[Any, ...]) -> Any:
    """The cotangents of the parts: where they went, joining their elements' numbers tells."""
    numbers: list[Any] = []
    count = 0
    for part in parts_of(parts):
        shape = None if isinstance(part, str) else np.shape(part)
        size = 0 if shape is None else int(np.prod(shape))
        numbers.append(part if shape is None else np.reshape(np.arange(count, count + size), shape))
        count += size
    places = join(*numbers)
    flat = np.empty_like(d, shape=(count,))
    flat[places] = d
    found = tuple(
        None if isinstance(part, str) else part_like(flat[number], part)
        for number, part in zip(numbers, parts_of(parts), strict=True)
    )
    return (found,) if parts_of(parts) is not parts else found


def joined_tangents(dparts: Any, join: Callable[..., Array], parts: tuple[Any, ...], out: Array) -> Array:
    """The tangent of what was joined."""
    if parts_of(parts) is not parts:
        dparts = (None,) * len(parts[0]) if dparts[0] is None else dparts[0]
    tangents = [
        part if isinstance(part, str) else np.asarray(filled(d, part))
        for d, part in zip(dparts, parts_of(parts), strict=True)
    ]
    return broadcast_like(join(*tangents), out)


def in_rows(ranks: list[int]) -> tuple[int, int] | None:
    """Along which axis `np.r_` joins, and how many axes it gives: see `Rule.joins`."""
    ranks = [max(rank, 1) for rank in ranks]
    return (0, ranks[0]) if {*ranks} == {ranks[0]} else None


def in_columns(ranks: list[int]) -> tuple[int, int] | None:
    """Along which axis `np.c_` joins, and how many axes it gives."""
    return (1, 2) if {*ranks} <= {1, 2} else None


@bprop(
    rows, sharing="fresh", joins=in_rows,
    samples=[given(A(3), 1.5, A(2)), given(A(2, 2), A(1, 2)), given("1,2,0", A(2), A(2))],
)
def rows_(*parts, out, dout):
    return (unjoined(dout, rows, parts),)


@rows_.jvp
def rows_jvp(*parts, out, dparts):
    return joined_tangents(dparts, rows, parts, out)


@bprop(columns, sharing="fresh",
    joins=in_columns, samples=[given(A(3), A(3)), given(A(3), A(3, 2)), given(1.5, 2.5)])
def columns_(*parts, out, dout):
    return (unjoined(dout, columns, parts),)


@columns_.jvp
def columns_jvp(*parts, out, dparts):
    return joined_tangents(dparts, columns, parts, out)


@bprop(
    unjoined, sharing="fresh",
    samples=[
        given(A(5), lambda rng: rows, (np.zeros(3), np.zeros(2))),
        given(A(2, 2), lambda rng: columns, (np.zeros(2),) * 2),
    ],
)
def unjoined_(d, join, parts, out, dout):
    return joined_tangents(dout, join, parts, d), None, None


@unjoined_.jvp
def unjoined_jvp(join, parts, out, dd):
    return unjoined(dd, join, parts)


@bprop(joined_tangents, samples=[given((A(3), 1.5), lambda rng: rows, (np.zeros(3), 0.5), np.zeros(4))])
def joined_tangents_(dparts, join, parts, out_, out, dout):
    return unjoined(dout, join, parts), None, None, None


@joined_tangents_.jvp
def joined_tangents_jvp(join, parts, out_, out, ddparts):
    return joined_tangents(ddparts, join, parts, out_)


# ---------------------------------------------------------------- slices as rows of numbers


@dataclass(frozen=True)
class Indexing:
    """The function that gives `owner[index]` of the parts of the index, three of each slice."""

    owner: Any
    slices: tuple[bool, ...]

    @property
    def __name__(self) -> str:
        return "Indexing"

    def __call__(self, *bounds: Any) -> Any:
        return self.owner[key_of(keys(self.slices, bounds))]


def keys(slices: tuple[bool, ...], bounds: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts of an index."""
    left = list(bounds)
    return tuple(slice(left.pop(0), left.pop(0), left.pop(0)) if s else left.pop(0) for s in slices)


def row(start: Any, stop: Any, step: Any) -> Array:
    """The numbers that a slice stands for in `np.r_`: with a complex step so many, both ends among them."""
    start = 0.0 if start is None else 1.0 * start
    if isinstance(step, complex):
        return np.linspace(start, stop, int(abs(step)))
    return np.arange(start, stop, 1.0 if step is None else 1.0 * step)


def axis(start: Any, stop: Any, step: Any) -> Array:
    """The numbers that a slice stands for in `np.mgrid` and `np.ogrid`."""
    start = 0.0 if start is None else 1.0 * start
    if not isinstance(step, complex):
        step = 1.0 if step is None else 1.0 * step
        return np.arange(count_of(start, stop, step)) * step + start
    count = int(abs(step))
    return np.arange(count) * ((stop - start) / (count - 1) if count > 1 else 1.0) + start


def count_of(start: Any, stop: Any, step: Any) -> int:
    """How many numbers a slice stands for."""
    return int(np.ceil((stop - start) / step))


def joined_parts(call: tuple[Any, ...]) -> Array:
    """`np.r_[...]` and `np.c_[...]`, with slices."""
    join, slices, bounds = call
    parts = []
    k = 0
    for is_slice in slices:
        if is_slice:
            parts.append(row(bounds[k], bounds[k + 1], bounds[k + 2]))
            k = k + 3
        else:
            parts.append(bounds[k])
            k = k + 1
    return join(*parts)


def grid(call: tuple[Any, ...]) -> Any:
    """`np.mgrid[...]` and `np.ogrid[...]`."""
    is_open, slices, bounds = call
    axes = []
    for k in range(len(slices)):
        axes.append(axis(bounds[3 * k], bounds[3 * k + 1], bounds[3 * k + 2]))
    if len(axes) == 1:
        return axes[0]
    found = np.meshgrid(*axes, indexing="ij", sparse=is_open)
    return found if is_open else np.stack(found)


nondifferentiable([keys, key_of, parts_of, count_of])

JOINING: dict[Any, Callable[..., Any]] = {np.r_: rows, np.c_: columns}
GRIDS: dict[Any, bool] = {np.mgrid: False, np.ogrid: True}
TRICKS = frozenset({*JOINING, *GRIDS})
HAVE_RULES.update(map(type, TRICKS))


@for_instances(Indexing, pure=True)
def indexing(function: Indexing) -> Rule | None:
    """The rule of an index with slices."""
    owner, slices = function.owner, function.slices
    if owner in GRIDS and not all(slices):
        return None
    program = grid if owner in GRIDS else joined_parts
    how = GRIDS.get(owner, JOINING.get(owner))

    def call(*bounds, out, dout):
        _, _, dbounds = pulled_back(program, dout, (how, slices, bounds))
        return (dbounds,)

    def call_jvp(*bounds, out, dbounds):
        return pushed_forward(program, (None, None, dbounds), (how, slices, bounds))

    return Rule("indexing", (function,), None, Template(call), Template(call_jvp))
