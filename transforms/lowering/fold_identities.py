"""Decides `a is b` where both names hold objects that the function makes.

Form in and out: the normal form. Two statements make two objects; `a is a` is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from ..trees.nodes import assigned_names, constant, find_nodes, located, own_statements
from ..trees.program import Program
from ..trees.rebuild import map_children, parameter_names, rebuilt

__all__ = ["fold_identities"]


def fold_identities(program: Program, makes: Callable[[Any], bool]) -> Program:
    """The program with constants for such comparisons; `makes(value)` says whether an expression makes an
    object.
    """
    if not any(isinstance(n.ops[0], (gast.Is, gast.IsNot)) for n in find_nodes(program.tree, gast.Compare)):
        return program
    statements = list(own_statements(program.tree.body))
    bound = Counter(n for s in statements for n in assigned_names([s]))
    made = {
        s.targets[0].id
        for s in statements
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and makes(s.value)
    }
    made = {n for n in made if bound[n] == 1 and n not in parameter_names(program.tree)}

    def change(node: Any) -> Any:
        match node:
            case gast.FunctionDef():
                return node
            case gast.Compare(
                left=gast.Name(id=left),
                ops=[gast.Is() | gast.IsNot() as op],
                comparators=[gast.Name(id=right)],
            ) if {left, right} <= made:
                return located(constant((left == right) is isinstance(op, gast.Is)), node)
        return map_children(node, change)

    body = [change(s) for s in program.tree.body]
    changed = any(new is not old for new, old in zip(body, program.tree.body, strict=True))
    return program.with_tree(rebuilt(program.tree, body=body)) if changed else program
