"""What is added to a part of an array, and stored there, as an addition in place.

Form: the single-assignment form, in and out. The adjoint of the part stays as it is: it is neither kept, set
to zero, nor added again.

    u_1 = u[1:-1]               u_1 = u[1:-1]
    u_2 = c * v                 u_2 = c * v
    u_3 = u_1 + u_2       ->    u[1:-1] += u_2
    u[1:-1] = u_3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from ..trees.nodes import blocks_of, find_nodes, located, same
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["add_in_place"]


def add_in_place(
    program: Program,
    is_like: Callable[[str, str], bool],
    is_basic: Callable[[Any], bool],
    is_inert: Callable[[Any], bool],
) -> Program:
    """The program with such additions.

    `is_like(part, result)` says that a result is of the rank and dtype of a part of an array,
    `is_basic(index)` that an index stands for a view or an element, and `is_inert(value)` that an expression
    changes nothing.
    """
    if not any(isinstance(s.targets[0], gast.Subscript) for s in find_nodes(program.tree, gast.Assign)):
        return program
    reads = Counter(n.id for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    sums: list[Any] = []  # those that are no statements any more

    def addition(place: Any, name: str, made: dict[str, Any]) -> Any:
        """The sum that a name stands for, if it is one of what is at the place."""
        match made.get(name):
            case gast.BinOp(left=gast.Name(id=part), op=gast.Add() | gast.Sub()) as total if (
                reads[name] == 1 and is_basic(place.slice) and is_like(part, name)
            ):
                return total if is_there(part, place, made) else None
        return None

    def block(statements: list[Any]) -> list[Any]:
        made: dict[str, Any] = {}  # what has been computed since something was changed
        result: list[Any] = []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if is_inert(value):
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


def is_there(part: str, place: Any, made: dict[str, Any]) -> bool:
    """Whether a name stands for what is at a place."""
    match made.get(part):
        case gast.Subscript(value=base, slice=index):
            return same(base, place.value) and same(index, place.slice)
    match place.slice:
        case gast.Constant(value=index) if index is ...:
            return bool(part == place.value.id)
        case gast.Slice(lower=None, upper=None, step=None):
            return bool(part == place.value.id)
    return False
