"""Drops stores that put an object back where it was read.

Form: the single-assignment form, in and out, after `lower_augmented`. `rows[k] += v` reads the item, changes
it in place and stores it; the store changes nothing, and without it the list does not count as changed.

    rows_1 = rows[k]                rows_1 = rows[k]
    rows_1[...] += v                rows_1[...] += v
    rows_2 = rows_1          ->     rows_2 = rows_1
    rows[k] = rows_2
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..trees.nodes import assigned_names, names_read, same
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt

__all__ = ["drop_same_stores"]


def drop_same_stores(facts: Facts) -> Program:
    """The program without stores of an item into its own place in a list or dict. (A tuple raises, and so
    must the program.)
    """
    program = facts.program

    def may_change(base: Any) -> bool:
        kind = facts.kind(base)
        return facts.domain.is_list(kind) or facts.domain.is_dict(kind)

    dropped: list[Any] = []

    def block(statements: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for s in statements:
            if _is_item_store(s) and may_change(s.targets[0].value) and _stands_there(s, kept):
                dropped.append(s)
            else:
                kept.append(map_blocks(s, block))
        return kept

    tree = rebuilt(program.tree, body=block(program.tree.body))
    return program.with_tree(tree) if dropped else program


def _is_item_store(s: Any) -> bool:
    match s:
        case gast.Assign(targets=[gast.Subscript(value=gast.Name())], value=gast.Name()):
            return True
    return False


def _stands_there(store: Any, before: list[Any]) -> bool:
    """Whether the statements right before a store read the object from its place, and have no effect but on
    it.
    """
    target, name = store.targets[0], store.value.id
    fixed = {target.value.id, *names_read(target.slice)}
    for s in reversed(before):
        match s:
            case gast.Assign(targets=[gast.Name(id=made)], value=gast.Name(id=source)) if made == name:
                name = source
            case gast.Assign(targets=[gast.Name(id=made)], value=gast.Subscript() as item) if made == name:
                return same(item.value, target.value) and same(item.slice, target.slice)
            case gast.Assign(targets=[gast.Name(id=made)], value=gast.BinOp()) if made != name:
                pass
            case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=changed))]) | gast.AugAssign(
                target=gast.Subscript(value=gast.Name(id=changed))
            ) if changed == name:
                pass
            case _:
                return False
        if fixed & set(assigned_names(s)):
            return False
    return False
