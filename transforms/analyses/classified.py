"""What the values of a program compute, each classified once for all that ask.

Form: the normal form or single assignment, with the kinds of its names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..trees.nodes import names_read
from ..trees.program import Program
from .operations import (
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Item,
    Opaque,
    Operation,
    Pop,
    Primitives,
    classify,
)
from .template_slots import carrying_operands

__all__ = ["Operations"]


class Operations:
    """The operations of one program; `kind(atom)` is the kind of an atom in it, `known` the operations of a
    program with the same names, of the same kinds.
    """

    def __init__(
        self,
        program: Program,
        primitives: Primitives,
        kind: Callable[[Any], Any],
        known: Operations | None = None,
    ) -> None:
        self.program, self.primitives, self.kind = program, primitives, kind
        # with the node, whose identity is the key
        self._found: dict[int, tuple[Any, Operation]] = {} if known is None else known._found
        self._sources: dict[int, tuple[str, ...]] = {} if known is None else known._sources

    def of(self, value: Any) -> Operation:
        """What the right-hand side of an assignment computes."""
        found = self._found.get(id(value))
        if found is None:
            found = value, classify(value, self.program, self.primitives, self.kind)
            self._found[id(value)] = found
        return found[1]

    def sources(self, value: Any) -> tuple[str, ...]:
        """The names that what is computed may vary with."""
        found = self._sources.get(id(value))
        if found is None:
            found = self._sources[id(value)] = names_read(self._varying(self.of(value)))
        return found

    def carrying(self, operation: Apply) -> list[Any]:
        """The operands that the derivative of a primitive flows through."""
        if self.primitives.is_nondifferentiable(operation.function):
            return []
        rule = self.primitives.find_rule(operation.function)
        return list(operation.operands()) if rule is None else carrying_operands(operation, rule)

    def _varying(self, operation: Operation) -> list[Any]:
        match operation:
            case Alias(source=source):
                return [source]
            case Apply():
                return self.carrying(operation)
            case Call():
                return [*operation.operands(), operation.callee]
            case Item(base=base) | Field(base=base) | Pop(base=base):
                return [base]
            case Build(items=items) | Opaque(items=items):
                return list(items)
        return []
