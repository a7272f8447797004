"""Slopes: whether the adjoint of a variable, on its way back to what the variable was computed from, meets an
infinite one. Zero times infinity is NaN, so there elements without an adjoint need a mask (`masks`).

What the slope of a function may be, and which functions only move elements, its record says (`slope` and
`moves` in `s2sad/primitives/record.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analyses.operations import Alias, Apply, Item
from ..trees.nodes import load
from .length_one_axes import squeezing
from .rule_application import Emitter

__all__ = ["Slopes"]


class Slopes:
    """The slopes that adjoints meet on their way back."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.finite = set[str]()  # variables whose adjoints surely do not meet infinity

    def meet_infinity(self, name: str) -> bool:
        """Whether the adjoint of a variable reaches, number by number, an operation whose slope may be
        infinite.
        """
        todo, seen = [name], set[str]()
        while todo:
            variable = todo.pop()
            if variable in seen or variable in self.finite:
                continue
            if self.word(variable) == "any":
                return True
            seen.add(variable)
            todo += self.receivers(variable)
        self.finite |= seen
        return False

    def keep_zeros(self, name: str) -> bool:
        """Whether zeros in the adjoint of a variable stay zeros, element by element, in those of its sources,
        even where these hold infinities or NaN. (A sum over elements that reaches a number is checked by its
        own operation.)
        """
        todo, seen = [name], set[str]()
        while todo:
            variable = todo.pop()
            if self.word(variable) != "constant":
                return False
            seen.add(variable)
            of_numbers = self.is_number(load(variable))
            found = [n for n in self.receivers(variable) if of_numbers or not self.is_number(load(n))]
            todo += [n for n in found if n not in seen]
        return True

    def word(self, name: str) -> str:
        """What the slope of the operation that defines a variable may be; of one that is not elementwise
        "constant".
        """
        match self.emitter.computed_by(name):
            case Apply() as operation if self.is_elementwise(operation):
                return self.emitter.primitives.slope(operation, self.is_number)
        return "constant"

    def receivers(self, name: str) -> Iterator[str]:
        """The variables that receive the adjoint of another, number by number."""
        emitter = self.emitter
        match emitter.computed_by(name):
            case Alias(source=source) if emitter.is_active(source):
                yield source.id
            case Item(base=base, index=index) if emitter.is_active(base):
                if squeezing(emitter.facts, base, index) is not None:
                    yield base.id
            case Apply() as operation if self.is_elementwise(operation):
                yield from (o.id for o in operation.operands() if emitter.is_active(o))
            case Apply() as operation if (moved := self.moved_by(operation)) is not None:
                yield moved

    def moved_by(self, operation: Apply) -> str | None:
        """The array whose elements an operation gives unchanged, in another shape or order, as a copy or a
        view; None for other operations.
        """
        active = [o.id for o in operation.operands() if self.emitter.is_active(o)]
        if len(active) != 1 or not self.emitter.domain.is_array(self.emitter.kinds.get(active[0])):
            return None
        return str(active[0]) if self.emitter.primitives.moves(operation) else None

    def is_elementwise(self, operation: Apply) -> bool:
        rule = self.emitter.primitives.find_rule(operation.function)
        return rule is not None and self.emitter.is_elementwise(operation, rule)

    def is_number(self, node: Any) -> bool:
        return bool(self.emitter.domain.is_scalar(self.emitter.kind(node)))
