"""The base class of the writers of `to_anf`."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import ends_in_raise
from ..trees.bind_objects import Objects
from ..trees.evaluation_order import walrus_names
from ..trees.nodes import assign, find_nodes, load, located
from ..trees.program import MISSING, Names, Program
from .desugar_assignments import captured_names

__all__ = ["StatementWriter"]

Node = Any  # gast publishes no types


class StatementWriter:
    """Writes statements to `out`, the current block.

    `like` is the statement of the source, `base` the name that its temporaries are named after.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: Names = program.names.copy()
        self.objects = Objects(program, self.names)
        self.captured = captured_names(program.tree)
        self.out: list[Node] = []
        self.like: Node = program.tree
        self.base = "out"
        self.results: list[str] = []  # of the enclosing functions, the innermost last
        self.given: list[Node] = []  # the iterators that functions written in Python are called with
        self.has_walrus = bool(find_nodes(program.tree, gast.NamedExpr))

    def emit(self, statement: Node) -> None:
        if not self.is_left or isinstance(statement, gast.Return):
            self.out.append(located(statement, self.like))

    @property
    def is_left(self) -> bool:
        """Whether the current position is unreachable."""
        last = self.out[-1] if self.out else None
        return isinstance(last, gast.Raise) or (isinstance(last, gast.Try) and ends_in_raise(last.finalbody))

    def assign(self, name: str, value: Node) -> None:
        self.emit(assign(name, value))

    def function_body(self, statements: list[Node]) -> list[Node]:
        """A function's block in normal form."""
        raise NotImplementedError

    def run(self, statements: list[Node]) -> None:
        """Writes statements that are not in normal form yet."""
        raise NotImplementedError

    def atom(self, node: Node) -> Node:
        """A name or literal with the expression's value."""
        raise NotImplementedError

    def into(self, name: str | None, node: Node) -> str:
        """Assigns the expression's value to the name, or to a temporary, in the last statement; returns the
        name.
        """
        raise NotImplementedError

    def is_atom(self, node: Node) -> bool:
        return self.program.is_atom(node)

    def held(self, node: Node) -> Node:
        """An atom with the expression's present value."""
        return self.atom(node)

    def kept(self, node: Node) -> Node:
        """An atom with the expression's present value, which no later assignment changes."""
        is_variable = isinstance(node, gast.Name) and self.program.resolve(node) is MISSING
        return self.temporary(node) if is_variable else self.atom(node)

    def temporary(self, value: Node) -> Node:
        name = self.names.temporary(self.base)
        self.assign(name, value)
        return load(name)

    def atoms(self, nodes: list[Node], *later: Node) -> list[Node]:
        """Atoms for expressions that are evaluated in this order, before `later` ones."""
        result = []
        for k, node in enumerate(nodes):
            atom = self.atom(node)
            if (
                self.has_walrus
                and isinstance(atom, gast.Name)
                and atom.id in walrus_names([*nodes[k + 1 :], *later])
            ):
                atom = self.temporary(atom)
            result.append(atom)
        return result
