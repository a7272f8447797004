"""The arrays around a function that it reads, and those that are variables of it."""

from __future__ import annotations

import gast
import numpy as np

from ..transforms.trees.nodes import find_nodes, load
from ..transforms.trees.program import Program
from .primitive_table import PRIMITIVES

__all__ = ["outer_arrays", "reads_arrays"]


def reads_arrays(program: Program) -> list[str]:
    """The names of arrays from outside in a program."""
    read = dict.fromkeys(n.id for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load))
    return [n for n in read if n not in program.locals and type(program.resolve(load(n))) is np.ndarray]


def outer_arrays(program: Program) -> list[str]:
    """The variables for arrays from outside."""
    mark = PRIMITIVES.helper("outer_array")
    if not any(value is mark for value in program.bindings.values()):
        return []
    return [
        s.targets[0].id
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.value, gast.Call) and program.resolve(s.value.func) is mark
    ]
