"""Lambda lifting of recursive closures: see `transforms.lowering.lift_closures`."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

from ..source.read import code_of_tree
from ..transforms.lowering.lift_closures import lift_closures
from ..transforms.trees.nodes import names_read
from ..transforms.trees.program import Program

__all__ = ["lifted_closures"]


def lifted_closures(program: Program) -> Program:
    """The program, in normal form, with recursive nested functions that write to captured variables lifted.
    """
    return lift_closures(program, _function)


def _function(program: Program, tree: Any) -> FunctionType:
    """The function of a definition; its free names are those of the program."""
    own: CellType = CellType()
    cells = {**program.scope.cells, tree.name: own}
    cells |= {n: CellType(program.bindings[n]) for n in names_read(tree) if n in program.bindings}
    code = code_of_tree(tree, program.filename, cells, program.lines)
    scope: Any = program.scope.globals
    made = FunctionType(code, scope, tree.name, None, tuple(cells[n] for n in code.co_freevars))
    own.cell_contents = made
    return made
