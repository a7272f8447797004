"""Makes variables of the arrays of outer scopes that a function writes to.

    def f(x):                               def f(x):
        BUFFER[:] = 2 * x                       BUFFER_1 = outer_array(BUFFER)
        return np.sum(BUFFER * x)               BUFFER_1[:] = 2 * x
                                                return np.sum(BUFFER_1 * x)

So they have adjoints, as changed arguments have. A check at run time refuses aliases among the arrays that
the function reads.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ..analysis.primitive_table import PRIMITIVES
from ..kinds import domain
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import ANYTHING, OUTSIDE, find_aliases
from ..transforms.analyses.find_effects import find_changes_by_name
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, call, find_nodes, load, store
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import map_children, rebuilt

__all__ = ["reads_arrays", "with_outer_arrays"]


def reads_arrays(program: Program) -> list[str]:
    """The names of arrays of outer scopes that a program reads."""
    read = dict.fromkeys(n.id for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    return [n for n in read if n not in program.locals and type(program.resolve(load(n))) is np.ndarray]


def with_outer_arrays(facts: Facts) -> Program:
    """The program with variables for the arrays of outer scopes, if it may write to one, and all its
    arguments are arrays or immutable: a function or object might read the outer array.
    """
    program = facts.program
    arrays = reads_arrays(program)
    is_known = all(
        domain.is_array(facts.kind(p)) or domain.is_immutable(facts.kind(p)) for p in program.tree.args.args
    )
    held = facts.of(find_aliases).held
    if not is_known or not any(
        OUTSIDE in held.get(name, ANYTHING)[0] for name, _ in facts.of(find_changes_by_name)
    ):
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    mark = objects.name(PRIMITIVES.helper("outer_array"))
    own = {n: names.temporary(n) for n in arrays}
    origins = {**program.origins, **{new: old for old, new in own.items()}}
    first = program.tree.body[0]
    start = [assign(new, call(mark, load(old)), first) for old, new in own.items()]

    def renamed(node: Any) -> Any:
        if isinstance(node, gast.Name) and node.id in own:
            return load(own[node.id]) if isinstance(node.ctx, gast.Load) else store(own[node.id])
        return map_children(node, renamed)

    tree = rebuilt(program.tree, body=[*start, *map(renamed, program.tree.body)])
    return program.with_tree(tree, names=names, bindings=objects.all_bindings(), origins=origins)
