"""The state of one differentiation in reverse mode, which the reverse of each kind of statement is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

import gast

from ..analyses.facts import Facts
from ..analyses.liveness import AssignedBefore
from ..analyses.operations import Call
from ..trees.nodes import find_nodes, names_read
from ..trees.rebuild import parameter_names
from .adjoint import Env, Sweep
from .adjoint_ownership import SharedAdjoints
from .generation import Task
from .reuse_calls import ComputedCalls
from .rule_application import Emitter
from .shadow_rematerialisation import shadows_of
from .shape_sources import ShapeSources
from .slopes import Slopes

__all__ = ["Block", "Reverse"]


class Reverse(Emitter):
    """The state of a differentiation: what it knows, and the names that it has made."""

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        tree = self.program.tree
        self.split = task.form == "vjp"
        self.assigned_before = AssignedBefore(tree.body, parameter_names(tree))
        self.shapes = ShapeSources(self)
        self.computed = ComputedCalls(self)
        self.slopes = Slopes(self)
        self.kept: set[str] = set()  # names that other code of its function reads after, or before, all of it
        self.may_be_unbound: dict[str, None] = {}  # variables that a zero adjoint is made of nevertheless
        # The block that is being written, and those around it.
        self.open: list[list[Any]] = []  # the reverse blocks, outermost first
        self.read_by_open: dict[int, tuple[int, set[str]]] = {}  # the names read there, and statements seen
        self.conditions: list[dict[str, str]] = []  # the names that conditions have in each
        self.origin: Any = None  # the user's statement that the last comment shows
        self.shared_adjoints = SharedAdjoints()
        # The names that the reverse sweep binds.
        self.traces: list[str] = []
        self.adjoint_names: set[str] = set()
        self.adjoint_of: dict[str, str] = {}  # the variable of each name of an adjoint
        self.condition_names: set[str] = set()
        self.marks: set[str] = set()  # conditions that may be changed: each belongs to one mask
        self.used: set[str] = set()  # accumulators that were added to
        self.complete: set[str] = set()  # adjoints of lists without missing items
        self.bprops: set[str] = set()  # the names of those that calls returned
        self.function_adjoints: set[str] = set()  # adjoints that the bprops of calls returned
        self.spreading = set[str]()  # adjoints that broadcasting has yet to spread
        self.spread_kinds: dict[str, Any] = {}  # the kinds of those that it has to spread along axes
        self.shadows = shadows_of(self, self.adjoint_name)

    def adjoint_name(self, variable: str) -> str:
        """A new name for the adjoint of a variable."""
        name = self.taken_name(variable)
        self.adjoint_names.add(name)
        self.note_origin(name, variable)
        return name

    def taken_name(self, variable: str) -> str:
        """A new name for a part of the adjoint of a container into which the variable was stored."""
        name = self.names.fresh("d" + variable)
        self.adjoint_of[name] = variable
        return name

    @cached_property
    def has_calls(self) -> bool:
        """Whether adjoints may come from the bprop of a call."""
        values = (s.value for s in find_nodes(self.program.tree, gast.Assign))
        return any(isinstance(v, gast.Call) and isinstance(self.operation(v), Call) for v in values)

    def read_outside(self) -> set[str]:
        """The names that the reverse code written so far reads in the same function, and that the statements
        being written must not assign.

        In the flat form code outside of all loops does not read its names again once a loop assigns them.
        """
        return self.kept.union(*map(self.read_in, self.open if self.split else self.open[1:]))

    @contextmanager
    def going_on(self, block: list[Any]) -> Iterator[None]:
        """While the statements before those that a reverse block stands for are written: it goes on with
        these.
        """
        self.open.append(block)
        try:
            yield
        finally:
            self.read_by_open.pop(id(self.open.pop()), None)

    def read_in(self, block: list[Any]) -> set[str]:
        """The names that an open block, which only grows, reads so far."""
        count, names = self.read_by_open.get(id(block), (0, set()))
        names.update(names_read(block[count:]))
        self.read_by_open[id(block)] = len(block), names
        return names


class Block(Protocol):
    """Both sweeps of a block: `reverse.block`, which loops and branches are given for their own blocks."""

    def __call__(self, reverse: Reverse, statements: list[Any], env: Env) -> Sweep: ...
