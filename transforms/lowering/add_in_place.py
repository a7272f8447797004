"""Makes a sum of a part of an array, stored into that part, an addition in place.

Form: the single-assignment form, in and out. The adjoint of the part is unchanged by an addition: it is not
saved, set to zero or added again.

    u_1 = u[1:-1]               u_1 = u[1:-1]
    u_2 = c * v                 u_2 = c * v
    u_3 = u_1 + u_2       ->    u[1:-1] += u_2
    u[1:-1] = u_3
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_effects import changes_nothing
from ..trees.nodes import blocks_of, find_nodes, located, read_counts, same
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["add_in_place"]


def add_in_place(facts: Facts) -> Program:
    """The program with such additions."""
    program = facts.program
    if not any(isinstance(s.targets[0], gast.Subscript) for s in find_nodes(program.tree, gast.Assign)):
        return program
    reads = read_counts(program.tree)
    sums: list[Any] = []  # sums whose statement is dropped

    def addition(place: Any, name: str, made: dict[str, Any]) -> Any:
        """The sum that a name is assigned, if an operand is the part at the place."""
        match made.get(name):
            case gast.BinOp(left=gast.Name(id=part), op=gast.Add() | gast.Sub()) as total if (
                reads[name] == 1
                and facts.domain.is_basic_index(place.slice, facts.kind)
                and is_like(facts, part, name)
            ):
                return total if is_there(part, place, made) else None
        return None

    def block(statements: list[Any]) -> list[Any]:
        made: dict[str, Any] = {}  # the definitions since the last change
        result: list[Any] = []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if changes_nothing(facts, value):
                    made[name] = value
                case gast.Assign(targets=[gast.Subscript() as place], value=gast.Name(id=name)) if (
                    total := addition(place, name, made)
                ):
                    sums.append(total)
                    s = located(gast.AugAssign(target=place, op=total.op, value=total.right), s)
                    made = {}
                case _:
                    s = map_blocks(s, block) if blocks_of(s) else s
                    made = {}
            result.append(s)
        return [s for s in result if not any(getattr(s, "value", None) is total for total in sums)]

    tree = rebuilt(program.tree, body=block(program.tree.body))
    return program.with_tree(tree) if sums else program


def is_like(facts: Facts, part: str, result: str) -> bool:
    """Whether a sum of a part of an array has the part's rank and dtype, so that it can be made in place."""
    domain, of, kind = facts.domain, facts.kind_of_name(part), facts.kind_of_name(result)
    if domain.is_scalar(of):
        return of is kind and domain.is_differentiable(of) is not False
    is_alike = domain.update_nature(of, kind) in ("same", "alike")
    return is_alike and domain.rank(of) is not None and domain.rank(of) == domain.rank(kind)


def is_there(part: str, place: Any, made: dict[str, Any]) -> bool:
    """Whether a name is assigned the part at a place."""
    match made.get(part):
        case gast.Subscript(value=base, slice=index):
            return same(base, place.value) and same(index, place.slice)
    match place.slice:
        case gast.Constant(value=index) if index is ...:
            return bool(part == place.value.id)
        case gast.Slice(lower=None, upper=None, step=None):
            return bool(part == place.value.id)
    return False
