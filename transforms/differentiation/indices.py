"""Indices: what they select, as far as adjoints of items need to know."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply
from ..trees.nodes import call, constant, is_atom, load
from .rule_application import Emitter

__all__ = ["adds_in_place", "index_value", "is_basic", "is_choice_of", "is_number_of", "is_whole"]


def adds_in_place(emitter: Emitter, variable: str, index: Any) -> bool:
    """Whether `+=` adds to the selected part, as no element is selected twice; it also broadcasts."""
    kind = emitter.facts.kind_of_name(variable)
    if is_number_of(emitter, kind, index):
        return True
    return emitter.domain.is_array(kind) and (
        is_basic(emitter, index)
        or is_choice_of(emitter, variable, index)
        or counts_one_by_one(emitter, index)
    )


def is_basic(emitter: Emitter, index: Any) -> bool:
    """Whether an index selects each element once, by integers and slices alone."""
    return emitter.domain.is_basic_index(index, emitter.kind)


def is_choice_of(emitter: Emitter, variable: str, index: Any) -> bool:
    """Whether an index is an array of truth values, one for each element of the variable."""
    return isinstance(index, gast.Name) and bool(
        emitter.domain.is_choice_of(emitter.kind(index), emitter.facts.kind_of_name(variable))
    )


def is_number_of(emitter: Emitter, kind: Any, index: Any) -> bool:
    """Whether an index picks a number from a list of floats."""
    is_place = is_atom(index) and emitter.domain.is_integer(emitter.kind(index))
    return bool(is_place and emitter.domain.holds_floats(kind))


def counts_one_by_one(emitter: Emitter, index: Any) -> bool:
    """Whether an index has a row 0, 1, 2, ... and so selects no element twice, as `a[np.arange(n),
    k]`.
    """
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    picked = [p for p in parts if not isinstance(p, gast.Slice)]
    is_row = all(emitter.domain.rank(emitter.kind(p)) in (0, 1) for p in picked)
    return is_row and any(isinstance(p, gast.Name) and counts_up(emitter, p.id) for p in picked)


def counts_up(emitter: Emitter, name: str) -> bool:
    """Whether a name holds the numbers 0, 1, 2, ... in this order."""
    match emitter.computed_by(name):
        case Apply(function=function, args=[_], keywords=()):
            arange = emitter.primitives.array_function("arange")
            return function is arange and not emitter.changes.is_changed(name)
    return False


def index_value(emitter: Emitter, index: Any) -> Any:
    """An index as an expression outside brackets: slices become calls of `slice`."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[index_value(emitter, e) for e in index.elts], ctx=gast.Load())
    if isinstance(index, gast.Slice):
        return call(
            load(emitter.bind("slice", slice)),
            *[
                constant(None) if b is None else b
                for b in (index.lower, index.upper, index.step)
            ],
        )
    return index


def is_whole(index: Any, rank: int | None) -> bool:
    """Whether an index, as `...` or `:, :`, selects all of an array of this rank (None: unknown)."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    dots = sum(isinstance(p, gast.Constant) and p.value is ... for p in parts)
    colons = sum(isinstance(p, gast.Slice) and p.lower is p.upper is p.step is None for p in parts)
    if not rank or dots > 1 or dots + colons < len(parts):
        return False
    return colons <= rank
