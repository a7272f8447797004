"""Lambda lifting of recursive closures: see `transforms.lowering.lift_closures`."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

from ..source.read import code_of_tree
from ..transforms.lowering.lift_closures import lift_closures
from ..transforms.trees.nodes import names_read
from ..transforms.trees.program import Program

__all__ = ["lifted_closures"]


def lifted_closures(program: Program, only_writing: bool = True) -> Program:
    """The program, in normal form, with recursive nested functions lifted; with `only_writing`, those that
    write to captured variables.
    """
    return lift_closures(program, _functions, only_writing)


def _functions(program: Program, trees: list[Any]) -> list[FunctionType]:
    """The functions of definitions that call each other; their other free names are those of the program."""
    own: dict[str, CellType] = {tree.name: CellType() for tree in trees}
    for tree in trees:
        cells = {**program.scope.cells, **own}
        cells |= {n: CellType(program.bindings[n]) for n in names_read(tree) if n in program.bindings}
        code = code_of_tree(tree, program.filename, cells, program.lines)
        scope: Any = program.scope.globals
        closure = tuple(cells[n] for n in code.co_freevars)
        own[tree.name].cell_contents = FunctionType(code, scope, tree.name, None, closure)
    return [cell.cell_contents for cell in own.values()]
