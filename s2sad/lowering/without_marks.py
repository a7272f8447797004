"""Drops the marks that tell differentiation something: `x` in place of `holding(x, ...)`, and so on."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.primitive_table import PRIMITIVES
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import map_children, rebuilt

__all__ = ["without_marks"]

MARKS = ("holding", "outer_array", "recorded")


def without_marks(program: Program) -> Program:
    """The program with the first argument in place of each mark."""
    marks = [PRIMITIVES.helper(name) for name in MARKS]

    def is_mark(value: Any) -> bool:
        return any(value is mark for mark in marks)

    def change(node: Any) -> Any:
        new = map_children(node, change)
        return new.args[0] if isinstance(new, gast.Call) and is_mark(program.resolve(new.func)) else new

    if not any(map(is_mark, program.bindings.values())):
        return program
    return program.with_tree(rebuilt(program.tree, body=[change(s) for s in program.tree.body]))
