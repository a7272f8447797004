"""The state of one differentiation in reverse mode, which the reverse of each kind of statement is given."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.liveness import AssignedBefore
from ..trees.nodes import attribute, call, constant, load, names_read
from ..trees.rebuild import parameter_names
from .adjoint import Env, Sweep, part_of
from .adjoint_ownership import SharedAdjoints
from .adjoints import AdjointEmitter
from .generation import Task
from .reuse_calls import ComputedCalls
from .shadows import Shadows
from .shape_sources import ShapeSources

__all__ = ["Reverse"]


class Reverse(AdjointEmitter):
    """The state of a differentiation; the walk over statements is in `reverse`."""

    shadows: Shadows

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        self.split = task.form == "vjp"
        self.assigned_before = AssignedBefore(self.program.tree.body, parameter_names(self.program.tree))
        self.kept: set[str] = set()  # names that other code of its function reads after, or before, all of it
        self.traces: list[str] = []
        self.origin: Any = None
        self.complete: set[str] = set()  # adjoints of lists without missing items
        self.function_adjoints: set[str] = set()  # adjoints that the bprops of calls returned
        self.open: list[list[Any]] = []  # the reverse blocks that are being written, outermost first
        self.read_by_open: dict[int, tuple[int, set[str]]] = {}  # the names read there, and statements seen
        self.shapes = ShapeSources(self)
        self.computed = ComputedCalls(self)
        self.shared_adjoints = SharedAdjoints()

    def block(self, statements: list[Any], env: Env) -> Sweep:
        """Both sweeps of a block; `env` holds the adjoints after it and is changed to those before it."""
        raise NotImplementedError

    def is_shadowed(self, name: str) -> bool:
        return name in self.shadows

    def is_as_number(self, name: str) -> bool:
        return super().is_as_number(name) and not self.changes.is_changed(name)

    def captured_part(self, adjoint: Any, key: str, free: str) -> Any:
        """The item of a function's adjoint for a captured variable; a helper reads it where the adjoint may
        be None.
        """
        if isinstance(adjoint, gast.Name) and adjoint.id in self.function_adjoints:
            return part_of(adjoint, constant(key))
        return call(self.helper("captured_part"), adjoint, constant(key), load(free))

    def copy_of(self, name: str) -> Any:
        """An expression for a copy of the value of a name."""
        if self.domain.is_array(self.kind(load(name))):
            return call(attribute(load(name), "copy"))
        return call(self.helper("copy_adjoint"), load(name))

    def has_adjoint(self, name: str) -> bool:
        """Whether the adjoint of a variable is never None."""
        kind = self.facts.kind_of_name(name)
        return bool(self.domain.is_numeric(kind) and self.domain.is_differentiable(kind))

    def result(self, env: Env, name: str, code: list[Any]) -> Any:
        """The gradient with respect to a parameter, without aliases."""
        adjoint = env.get(name)
        if adjoint is None:
            return self.zero(name)
        if name in self.shadows.by_memory:
            code.append(self.shadows.lookup(name, self.shadows.given.get(name)))
        if adjoint.mask is not None and not adjoint.zeroed:
            return self.full(name, adjoint, code)
        if adjoint.owned or self.domain.is_scalar(self.facts.kind_of_name(name)):
            return adjoint.value
        return self.copied(adjoint, name)

    def read_outside(self) -> set[str]:
        """The names that the reverse code written so far reads in the same function, and that the statements
        being written must not assign.

        In the flat form code outside of all loops does not read its names again once a loop assigns them.
        """
        return self.kept.union(*map(self.read_in, self.open if self.split else self.open[1:]))

    def read_in(self, block: list[Any]) -> set[str]:
        """The names that an open block, which only grows, reads so far."""
        count, names = self.read_by_open.get(id(block), (0, set()))
        names.update(names_read(block[count:]))
        self.read_by_open[id(block)] = len(block), names
        return names
