"""What the passes over the heap ask about the values of a program."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Natures"]

Node = Any  # gast publishes no types


class Natures(Protocol):
    """What the pass asks about the values of a program."""

    def of(self, node: Node) -> str:
        """ "object" for an object or container, "plain" for what holds none, or "unknown"."""

    def class_of(self, node: Node) -> type | None:
        """The class that the objects of an atom have, None where it is not known."""

    def is_list(self, node: Node) -> bool:
        """Whether an atom is surely a list."""

    def is_number(self, node: Node) -> bool:
        """Whether an atom is surely a number."""

    def holds_numbers(self, node: Node, index: Node) -> bool:
        """Whether an item of an atom is surely a number."""

    def is_constant(self, node: Node) -> bool:
        """Whether an atom surely carries no derivative."""

    def is_array(self, node: Node) -> bool:
        """Whether an atom may be an array that `x += v` changes, as far as is known."""

    def sharing(self, value: Node) -> str:
        """Whether a call gives a "fresh" array, a "view" of its arguments, "maybe" one, or "unknown"."""

    def outside(self, read: list[Any]) -> Any:
        """The arrays that these values hold, and those that functions among them may get at."""

    def changes_array(self, value: Node) -> bool:
        """Whether a call is known to change an argument in place."""

    def is_held(self, node: Node) -> bool:
        """Whether an attribute is no method or property of the class, as far as is known."""

    def is_set(self, node: Node) -> bool:
        """Whether a value is surely a set of Python's."""

    def is_method(self, node: Node) -> bool:
        """Whether an attribute is surely a method of the class."""

    def is_inert(self, value: Node) -> bool:
        """Whether a call carries no derivative, and changes nothing."""

    def is_primitive(self, value: Node) -> bool:
        """Whether a call is one of a function with a rule."""

    def gives_number(self, value: Node) -> bool:
        """Whether a call gives a number or an array, whatever it is given."""

    def is_unknown(self, value: Node) -> bool:
        """Whether a call is one of a function that only the run knows."""

    def given(self, name: str) -> str:
        """As `of`, of the argument of this name."""

    def makes_object(self, value: Node) -> bool:
        """Whether an expression makes an empty object."""

    def may_change(self, value: Node) -> bool:
        """Whether a call may change what it is given."""

    def with_heap(self, value: Node) -> Any:
        """The function of the heap that a call is one of, None where it needs none."""

    def helper(self, name: str) -> Any:
        """A run-time helper."""
