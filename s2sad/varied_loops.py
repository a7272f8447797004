"""Loops over lists of objects of several classes: written out while kinds tell what the lists hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from . import domain
from .kinds import UNKNOWN, Kind, List, Record, Tuple
from .transforms.lowering.unroll_loops import unroll_loops
from .transforms.trees.nodes import assigned_names, statements_in
from .transforms.trees.program import Program

__all__ = ["have_lengths", "without_varied_loops"]

Kinds = Mapping[str, Kind]


def without_varied_loops(
    program: Program, find_made: Callable[[Program], Kinds]
) -> tuple[Program, dict[str, int]]:
    """The program with such loops written out, and the lengths that this takes the lists of these names to
    keep; `find_made` finds the kinds that names have before anything is changed.
    """
    if not any(isinstance(s, gast.For) for s in statements_in(program.tree.body)):
        return program, {}
    kinds = find_made(program)

    def items(atom: Any) -> tuple[Kind, ...]:
        return _items(domain.kind_of_atom(atom, kinds, program))

    def is_varied(atom: Any) -> bool:
        found = items(atom)
        classes = {kind.cls for kind in found if isinstance(kind, Record)}
        return len(classes) > 1 and all(isinstance(kind, Record) for kind in found)

    return unroll_loops(program, lambda atom: len(items(atom)) or None, is_varied)


def have_lengths(program: Program, kinds: Kinds, lengths: Mapping[str, int]) -> bool:
    """Whether the lists of these names, as far as they are left, keep their lengths."""
    left = {name for s in statements_in(program.tree.body) for name in assigned_names(s)} | kinds.keys()
    return all(len(_items(kinds.get(name, UNKNOWN))) == n for name, n in lengths.items() if name in left)


def _items(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the items of a list or tuple of known length."""
    return kind.items or () if isinstance(kind, (List, Tuple)) else ()
