"""Unrolls the sum of a list that has no other reader, which then needs no list of adjoints.

Form: the single-assignment form, in and out.

    parts = [a, b, c]              out_1 = a + b
    out = sum(parts)         ->    out = out_1 + c
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analyses.facts import Facts
from ..trees.nodes import assign, find_nodes, load, located, statements_in
from ..trees.program import Program
from ..trees.rebuild import rewritten

__all__ = ["add_items"]

MOST = 16  # items that are added one by one


def add_items(facts: Facts) -> Program:
    """The program with such sums unrolled, of numbers and of arrays of floats or complex numbers; for truth
    values `+` differs from `sum`.
    """
    program = facts.program

    def is_floating(atom: Any) -> bool:
        return facts.domain.is_floating(facts.kind(atom))

    made = {s.targets[0].id: s.value.elts for s in statements_in(program.tree.body) if _is_made(s)}
    sums = [s for s in statements_in(program.tree.body) if _summed(s) in made]
    if not sums or program.resolve(load("sum")) is not sum:
        return program
    uses = Counter(n.id for n in find_nodes(program.tree, gast.Name))
    parts = {
        name: made[name]
        for name in map(_summed, sums)
        if uses[name] == 2 and 1 < len(made[name]) <= MOST and all(map(is_floating, made[name]))
    }
    if not parts:
        return program
    names = program.names.copy()

    def statement(s: Any) -> list[Any] | None:
        if _is_made(s) and s.targets[0].id in parts:
            return []
        if _summed(s) not in parts:
            return None
        found: list[Any] = []
        total, *rest = parts[_summed(s)]
        for k, item in enumerate(rest, 1):
            name = s.targets[0].id if k == len(rest) else names.temporary(s.targets[0].id)
            found.append(assign(name, located(gast.BinOp(left=total, op=gast.Add(), right=item), s), s))
            total = load(name)
        return found

    tree = rewritten(program.tree, statement)
    return program.with_tree(tree, names=names)


def _is_made(s: Any) -> bool:
    """Whether a statement makes a list, or tuple, of atoms, none of them starred."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.List(elts=items) | gast.Tuple(elts=items)):
            return all(isinstance(item, gast.Name) for item in items)
    return False


def _summed(s: Any) -> str:
    """The name whose items a statement sums; empty for other statements."""
    match s:
        case gast.Assign(
            targets=[gast.Name()],
            value=gast.Call(func=gast.Name(id="sum"), args=[gast.Name(id=name)], keywords=[]),
        ):
            return str(name)
    return ""
