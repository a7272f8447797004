"""What a program changes in place, given the kinds of its names."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast

from . import domain, heap
from .conversions import dict_copy, list_copy
from .kinds import UNKNOWN, Kind
from .primitives import PRIMITIVES
from .transforms.classified import Operations
from .transforms.find_aliases import Aliases, find_aliases, is_outside
from .transforms.find_changed import Calls, changing_calls
from .transforms.find_stores import stores
from .transforms.nodes import statements_in
from .transforms.operations import Apply
from .transforms.program import Program
from .updates import repeated, times_repeated

__all__ = ["aliases_of", "calls_that_change", "changes_outside", "sharing_of"]

COPIES = (list, tuple, dict, sorted, list_copy, dict_copy, operator.concat, repeated, times_repeated)

# What objects hold is changed in place nowhere: it is replaced.
HEAP_READS = (heap.heap_element, heap.heap_get, heap.heap_number)


def aliases_of(
    program: Program, kinds: Mapping[str, Kind], operations: Operations | None = None
) -> Aliases:
    """Which names of the program may hold the same object."""

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    return find_aliases(
        program,
        (operations or Operations(program, PRIMITIVES, kind)).of,
        lambda name: domain.is_immutable(kinds.get(name, UNKNOWN)),
        lambda operation: sharing_of(operation, kind),
        lambda base, index: domain.is_scalar_item(kind(base), index, kind),
        lambda atom: domain.is_container(kind(atom)),
        PRIMITIVES.is_in_place,
        lambda atom: domain.item_nature(kind(atom)) == "array",
        lambda call: program.resolve(call.func) is PRIMITIVES.helper("holding"),
    )


def sharing_of(operation: Apply, kind: Callable[[Any], Kind]) -> str:
    """As `PRIMITIVES.sharing`, with what kinds tell: a copy of a list of numbers shares nothing."""
    if any(operation.function is f for f in HEAP_READS):
        return "fresh"
    found: str = PRIMITIVES.sharing(operation)
    if found == "unknown" and any(operation.function is f for f in COPIES):
        kinds = [kind(o) for o in operation.operands()]
        return "fresh" if all(domain.holds_immutables(k) or domain.is_immutable(k) for k in kinds) else found
    return found


def calls_that_change(
    program: Program, kinds: Mapping[str, Kind], may_change: Callable[[Any], bool]
) -> Calls:
    """The calls that may change arguments, each with those that can be changed at all."""

    def kind(node: Any) -> Kind:
        return domain.kind_of_atom(node, kinds, program)

    found = [
        (s, [a for a in atoms if not domain.is_immutable(kind(a))])
        for s, atoms in changing_calls(program, PRIMITIVES, kind, may_change)
    ]
    return [(s, atoms) for s, atoms in found if atoms]


def changes_outside(program: Program, kinds: Mapping[str, Kind], may_change: Callable[[Any], bool]) -> bool:
    """Whether a function may change an object that it did not make itself."""
    changed = [
        gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None)
        for name, _ in stores(program, PRIMITIVES.is_in_place)
    ]
    changed += [
        target.value
        for s in statements_in(program.tree.body)
        if isinstance(s, gast.Assign)
        for target in s.targets
        if isinstance(target, gast.Attribute)
    ]
    changed += [a for _, atoms in calls_that_change(program, kinds, may_change) for a in atoms]
    if not changed:
        return False
    if any(not isinstance(a, gast.Name) for a in changed):
        return True
    held = aliases_of(program, kinds).held
    return any(a.id not in held or any(map(is_outside, held[a.id][0])) for a in changed)
