"""Gives the variable of a loop a name of its own where another statement binds the name as well, and nothing
after the loop reads it.

    for b in bonds:             for b_1 in bonds:
        b.push()            ->      b_1.push()
    for b in atoms:             for b_2 in atoms:
        ...                         ...

Each name then has objects of one class, whose methods are known. Form in and out: the normal form.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_live import find_live
from ..analyses.find_uses import find_uses
from ..analyses.liveness import captured_names
from ..trees.nodes import bound_counts, load, own_statements, target_names
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute

__all__ = ["separate_loops"]

Node = Any  # gast publishes no types


def separate_loops(program: Program) -> Program:
    """The program with such names."""
    tree, bound = program.tree, bound_counts(program.tree)
    loops = [s for s in own_statements(tree.body) if isinstance(s, gast.For)]
    captured = {
        n for s in own_statements(tree.body) if isinstance(s, gast.FunctionDef) for n, _ in captured_names(s)
    }
    found = {id(s): [n for n in target_names(s.target) if bound[n] > 1 and n not in captured] for s in loops}
    uses = find_uses(tree) if any(found.values()) else None
    if uses is None:
        return program
    live = find_live(tree, uses)
    names, origins = program.names.copy(), dict(program.origins)

    def block(statements: list[Node]) -> list[Node]:
        return [statement(map_blocks(s, block), s) for s in statements]

    def statement(new: Node, s: Node) -> Node:
        mapping: dict[str, Node] = {}
        for name in found.get(id(s), ()):
            if name not in live.names_after(s) and bound[name] > bound_counts(s)[name]:
                own = names.temporary(name)
                origins[own] = origins.get(name, name)
                mapping[name] = load(own)
        if not mapping:
            return new
        return rebuilt(new, target=substitute(new.target, mapping), body=substitute(new.body, mapping))

    tree = rebuilt(tree, body=block(tree.body))
    if len(origins) == len(program.origins):
        return program
    return program.with_tree(tree, names=names, origins=origins)
