"""Expands augmented assignments of items that are no sums in place.

Form: the single-assignment form, in and out. `a[i] += v` and `a[i] -= v` of an array stay: their derivative
is local. Other operators read the item, compute and store; so does every operator on an item of a list or
dict, where the operator may change the item in place.

    a[i] *= v          a_1 = a[i]                  items[k] += v          items_1 = items[k]
                       a_2 = a_1 * v                                      items_2 = iadd(items_1, v)
                       a[i] = a_2                                         items[k] = items_2

An item known to be an array is changed in place, and not stored.
"""
from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import IN_PLACE_OPERATORS
from ..trees.bind_objects import Objects
from ..trees.nodes import assign, call, find_nodes, load, located
from ..trees.program import Program
from ..trees.rebuild import rewritten

__all__ = ["expand_item_updates", "index_value"]


def expand_item_updates(facts: Facts) -> Program:
    """The program in which every augmented assignment of an item is a sum in an array. Where kinds leave it
    open, a mutable item of an object that is no array is refused at run time.
    """
    program, domain = facts.program, facts.domain
    if not find_nodes(program.tree, gast.AugAssign):
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    bound, expanded = objects.name, list[Any]()

    def update(s: Any) -> list[Any]:
        base, index = s.target.value, s.target.slice
        found = domain.item_nature(facts.kind(base))
        is_sum = isinstance(s.op, (gast.Add, gast.Sub))
        if found == "array" and is_sum:
            return [s]
        expanded.append(s)
        guard = facts.primitives.helper("refuse_held")
        checked = [] if found != "unknown" else [
            located(gast.Expr(value=call(bound(guard), base, index_value(index, bound(slice)))), s)]
        if is_sum and found == "unknown":
            return [*checked, s]
        item, result = names.temporary(base.id), names.temporary(base.id)
        read = gast.Subscript(value=base, slice=index, ctx=gast.Load())
        value = (call(bound(IN_PLACE_OPERATORS[type(s.op)]), load(item), s.value) if found == "container" else
                 gast.BinOp(left=load(item), op=s.op, right=s.value))
        changed = [*checked, assign(item, read, s), assign(result, located(value, s), s)]
        if found == "container" and domain.holds_array(facts.kind(base), index, facts.kind):
            return changed
        return [*changed, assign(gast.Subscript(value=base, slice=index, ctx=gast.Store()), load(result), s)]

    def statement(s: Any) -> list[Any] | None:
        is_update = isinstance(s, gast.AugAssign) and isinstance(s.target.value, gast.Name)
        return update(s) if is_update else None

    tree = rewritten(program.tree, statement, nested=False)
    if not expanded:
        return program
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def index_value(index: Any, slice_name: str) -> Any:
    """An index as an expression outside brackets: slices become calls of `slice`."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[index_value(e, slice_name) for e in index.elts], ctx=gast.Load())
    if isinstance(index, gast.Slice):
        bounds = (index.lower, index.upper, index.step)
        return call(slice_name, *[gast.Constant(value=None, kind=None) if b is None else b for b in bounds])
    return index
