"""What the passes over the heap ask about the values of a program."""

from __future__ import annotations

from typing import Any

from ..analyses.effects import ELSEWHERE
from ..analyses.facts import Facts
from ..analyses.find_effects import changed_atoms
from ..analyses.operations import Apply, Call
from ..trees.program import MISSING

__all__ = ["Natures"]

Node = Any  # gast publishes no types


class Natures:
    """What values are, as facts tell; what classes and the run time tell is left to who knows them."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.domain, self.primitives = facts, facts.domain, facts.primitives
        self.kind, self.operation = facts.kind, facts.operation

    # ------------------------------------------------------------ atoms

    def of(self, node: Node) -> str:
        """ "object" for an object or container, "plain" for what holds none, or "unknown"."""
        raise NotImplementedError

    def given(self, name: str) -> str:
        """As `of`, of the argument of this name."""
        raise NotImplementedError

    def class_of(self, node: Node) -> type | None:
        """The class that the objects of an atom have, None where it is not known."""
        raise NotImplementedError

    def is_constant(self, node: Node) -> bool:
        """Whether an atom surely carries no derivative."""
        raise NotImplementedError

    def is_list(self, node: Node) -> bool:
        """Whether an atom is surely a list."""
        return self.domain.is_list(self.kind(node))

    def is_set(self, node: Node) -> bool:
        """Whether a value is surely a set of Python's."""
        return self.kind(node) is self.domain.SET

    def is_number(self, node: Node) -> bool:
        """Whether an atom is surely a number."""
        return self.domain.is_scalar(self.kind(node))

    def holds_numbers(self, node: Node, index: Node) -> bool:
        """Whether an item of an atom is surely a number."""
        return self.domain.is_scalar(self.domain.item_kind(self.kind(node), index, self.kind))

    def is_array(self, node: Node) -> bool:
        """Whether an atom may be an array that `x += v` changes, as far as is known."""
        raise NotImplementedError

    # ------------------------------------------------------------ attributes

    def role(self, node: Node) -> str | None:
        """The role of an attribute in the class of its object; None where that is not known."""
        if self.class_of(node.value) is None:
            return None
        member = self.primitives.member(self.kind(node.value), node.attr)
        return None if member is None else member.role

    def is_held(self, node: Node) -> bool:
        """Whether an attribute is no method or property of the class, as far as is known."""
        return self.role(node) in (None, "field", "constant")

    def is_method(self, node: Node) -> bool:
        """Whether an attribute is surely a method of the class."""
        return self.role(node) == "method"

    # ------------------------------------------------------------ calls

    def sharing(self, value: Node) -> str:
        """Whether a call gives a "fresh" array, a "view" of its arguments, "maybe" one, or "unknown"."""
        operation = self.operation(value)
        return self.facts.sharing(operation) if isinstance(operation, Apply) else "unknown"

    def changes_array(self, value: Node) -> bool:
        """Whether a call is known to change an argument in place."""
        arrays = self.facts.effect_at(value)[0].changed - {ELSEWHERE}
        return bool(arrays or changed_atoms(value, self.facts))

    def is_inert(self, value: Node) -> bool:
        """Whether a call carries no derivative, and changes nothing."""
        operation = self.operation(value)
        return isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function)

    def is_primitive(self, value: Node) -> bool:
        """Whether a call is one of a function with a rule."""
        return isinstance(self.operation(value), Apply)

    def is_unknown(self, value: Node) -> bool:
        """Whether a call is dynamic."""
        operation = self.operation(value)
        return isinstance(operation, Call) and operation.function is MISSING

    def may_change(self, value: Node) -> bool:
        """Whether a call may change what it is given."""
        return isinstance(self.operation(value), Call) and (
            self.is_unknown(value) or self.facts.may_change(value)
        )

    def gives_number(self, value: Node) -> bool:
        """Whether a call gives a number or an array, whatever it is given."""
        raise NotImplementedError

    def makes_object(self, value: Node) -> bool:
        """Whether an expression makes an empty object."""
        raise NotImplementedError

    def with_heap(self, value: Node) -> Any:
        """The function of the heap that a call is one of, None where it needs none."""
        raise NotImplementedError

    # ------------------------------------------------------------ the run time

    def outside(self, read: list[Any]) -> Any:
        """The arrays that these values hold, and those that functions among them may get at."""
        raise NotImplementedError

    def helper(self, name: str) -> Any:
        """A run-time helper."""
        raise NotImplementedError
