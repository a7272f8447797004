"""Loops over lists of objects of several classes, or of such as change: written out while kinds tell what the
lists hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from . import domain
from .kinds import Kind, List, Record, Tuple
from .primitives import PRIMITIVES
from .transforms.analyses.operations import Operation, classify
from .transforms.lowering.gather_appends import gather_appends
from .transforms.lowering.unroll_loops import unroll_loops
from .transforms.trees.nodes import find_nodes, statements_in, target_names
from .transforms.trees.program import Program
from .transforms.trees.rebuild import without_statements

__all__ = ["LoopFacts", "have_lengths", "without_lengths", "without_varied_loops"]

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class LoopFacts:
    """What is asked of programs whose loops are written out: the kinds that names have before anything is
    changed, whether a call may change what it is given, and the program with variables in the place of what
    nothing sees as a whole.
    """

    find_made: Callable[[Program], Kinds]
    may_change: Callable[[Operation, Callable[[Any], Kind]], bool]
    without_unseen: Callable[[Program], Program]


def without_varied_loops(program: Program, facts: LoopFacts) -> tuple[Program, dict[str, int]]:
    """The program with such loops written out, and the lengths that this takes lists to have, by their names.
    """
    if not any(isinstance(s, gast.For) for s in statements_in(program.tree.body)):
        return program, {}
    program = gather_appends(program)
    kinds = facts.find_made(program)

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    def items(atom: Any) -> tuple[Kind, ...]:
        found = _items(kind(atom))
        return found if all(isinstance(item, Record) for item in found) else ()

    def may_change(loop: Any) -> bool:
        """Whether a loop changes the objects that it goes over."""
        names = target_names(loop.target)
        calls = [classify(c, program, PRIMITIVES, kind) for c in find_nodes(loop, gast.Call)]
        is_set = any(getattr(target.value, "id", None) in names for target in _stores(loop))
        return is_set or any(facts.may_change(c, kind) for c in calls)

    loops = [s for s in find_nodes(program.tree, gast.For) if any(map(items, find_nodes(s.iter, gast.Name)))]
    changes = any(map(may_change, loops))

    def is_wanted(atom: Any) -> bool:
        found = items(atom)
        return len({k.cls for k in found if isinstance(k, Record)}) > 1 or (changes and bool(found))

    return unroll_loops(program, lambda atom: len(_items(kind(atom))) or None, is_wanted)


def _stores(loop: Any) -> list[Any]:
    """The attributes that a loop sets."""
    return [t for s in find_nodes(loop, gast.Assign) for t in s.targets if isinstance(t, gast.Attribute)]


def have_lengths(program: Program, kinds: Kinds, lengths: Mapping[str, int]) -> bool:
    """Whether what was taken for lengths are the lengths of lists that are variables by now, or of lists
    that are not of objects of one class.
    """

    def holds(s: Any) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in lengths:
                if isinstance(value, gast.Constant):
                    return bool(value.value == lengths[name])
                items = _items(domain.kind_of_atom(value.args[0], kinds, program))
                classes = {k.cls for k in items if isinstance(k, Record)}
                return len(items) == lengths[name] and len(classes) != 1
        return True

    return all(map(holds, statements_in(program.tree.body)))


def without_lengths(program: Program, lengths: Collection[str]) -> Program:
    """The program without the statements that make these names."""

    def is_one(s: Any) -> bool:
        return isinstance(s, gast.Assign) and getattr(s.targets[0], "id", None) in lengths

    return program.with_tree(without_statements(program.tree, is_one)) if lengths else program


def _items(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the items of a list or tuple of known length."""
    return kind.items or () if isinstance(kind, (List, Tuple)) else ()
