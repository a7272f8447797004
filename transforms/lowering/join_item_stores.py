"""Joins the three statements of an item's update into one.

Form: the single-assignment form, in and out. The normal form reads the item before it computes a value by a
user's call, as Python does, since the call may change the item. Where the inlined statements change nothing,
the order does not matter, and the update is one statement as in the source.

    a_1 = a[t]
    v = np.sin(x)               v = np.sin(x)
    a_2 = iadd(a_1, v)    ->    a[t] += v
    a[t] = a_2
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.find_effects import changes_nothing
from ..analyses.operations import IN_PLACE_OPERATORS
from ..trees.nodes import blocks_of, located, read_counts, same
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["join_item_stores"]

_OPERATORS = {function: operator for operator, function in IN_PLACE_OPERATORS.items()}


def join_item_stores(facts: Facts) -> Program:
    """The program with such updates of arrays joined."""
    program = facts.program
    known = program.bindings.values()
    if not any(callable(v) and v in _OPERATORS for v in known):
        return program
    reads = read_counts(program.tree)
    dropped: list[Any] = []

    def update(store: Any, before: list[Any]) -> Any:
        """The update that a store ends, given the statements before it."""
        result = before[-1] if before else None
        match result:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.Call(func=func, args=[gast.Name(id=item), value]),
            ) if name == store.value.id and reads[name] == reads[item] == 1:
                operator = _OPERATORS.get(program.resolve(func))
                read = read_of(item, store.targets[0], before[:-1])
                if operator is not None and read is not None:
                    dropped.extend([read, result])
                    place = store.targets[0]
                    return located(gast.AugAssign(target=place, op=operator(), value=value), store)
        return store

    def read_of(item: str, place: Any, before: list[Any]) -> Any:
        """The statement that reads the item from its place, if nothing after it has an effect."""
        for s in reversed(before):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    if name == item:
                        is_there = isinstance(value, gast.Subscript) and same(value.value, place.value)
                        return s if is_there and same(value.slice, place.slice) else None
                    if changes_nothing(facts, value):
                        continue
            return None
        return None

    def block(statements: list[Any]) -> list[Any]:
        result: list[Any] = []
        for s in statements:
            match s:
                case gast.Assign(
                    targets=[gast.Subscript(value=gast.Name() as base)], value=gast.Name()
                ) if facts.domain.is_array(facts.kind(base)):
                    s = update(s, result)
                case gast.Try(handlers=[_, *_]):
                    pass  # which exception is raised first may matter
                case _ if blocks_of(s):
                    s = map_blocks(s, block)
            result.append(s)
        return [s for s in result if not any(s is d for d in dropped)]

    tree = rebuilt(program.tree, body=block(program.tree.body))
    return program.with_tree(tree) if dropped else program
