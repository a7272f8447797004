"""The interface through which the heap's passes ask about values."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import gast

from ..analyses.effects import ELSEWHERE
from ..analyses.facts import Facts
from ..analyses.find_effects import changed_atoms
from ..analyses.operations import Apply, Call
from ..trees.nodes import names_read
from ..trees.program import MISSING

__all__ = ["HeapValues"]

Node = Any  # gast publishes no types


class HeapValues:
    """The natures of values, from facts; subclasses add what classes and run-time helpers tell."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.domain, self.primitives = facts, facts.domain, facts.primitives
        self.kind, self.operation = facts.kind, facts.operation

    # ------------------------------------------------------------ atoms

    def of(self, node: Node) -> str:
        """"object" for an object or container, "plain" for a value that holds none, or "unknown"."""
        raise NotImplementedError

    def given(self, name: str) -> str:
        """As `of`, for the parameter of this name."""
        raise NotImplementedError

    def class_of(self, node: Node) -> type | None:
        """The class of an atom's objects, None where it is not known."""
        raise NotImplementedError

    def is_constant(self, node: Node) -> bool:
        """Whether an atom surely is inactive."""
        raise NotImplementedError

    def is_list(self, node: Node) -> bool:
        """Whether an atom is surely a list."""
        return self.domain.is_list(self.kind(node))

    def is_dict(self, node: Node) -> bool:
        """Whether an atom is surely a dict."""
        return self.domain.is_dict(self.kind(node))

    def is_object(self, node: Node) -> bool:
        """Whether an atom is surely an object of a user's class, whose methods are the class's."""
        return self.primitives.is_object(self.kind(node))

    def is_set(self, node: Node) -> bool:
        """Whether a value is surely a set of Python's."""
        return self.kind(node) is self.domain.SET

    def is_number(self, node: Node) -> bool:
        """Whether an atom is surely a number."""
        return self.domain.is_scalar(self.kind(node))

    def holds_numbers(self, node: Node, index: Node) -> bool:
        """Whether an item of an atom is surely a number."""
        return self.domain.is_scalar(self.domain.item_kind(self.kind(node), index, self.kind))

    def truth_of(self, node: Node) -> bool | None:
        """The truth value of a test, whatever changes; None where it is not known."""
        raise NotImplementedError

    def is_array(self, node: Node) -> bool:
        """Whether an atom may be an array, which `x += v` changes."""
        raise NotImplementedError

    # ------------------------------------------------------------ attributes

    def role(self, node: Node) -> str | None:
        """The role of an attribute in the class of its object; None where it is not known."""
        if self.class_of(node.value) is None:
            return None
        member = self.primitives.member(self.kind(node.value), node.attr)
        return None if member is None else member.role

    def is_held(self, node: Node) -> bool:
        """Whether an attribute may be held by the object itself: it is no method or property of a known
        class.
        """
        return self.role(node) in (None, "field", "constant")

    def is_method(self, node: Node) -> bool:
        """Whether an attribute surely is a method of the class. (`object.__name__` is one of the class
        itself, and no object has it by that.)
        """
        cls = list if self.is_list(node.value) else dict if self.is_dict(node.value) else object
        found = next((vars(c)[node.attr] for c in cls.__mro__ if node.attr in vars(c)), None)
        return self.role(node) in ("method", "static") or callable(found)

    # ------------------------------------------------------------ calls

    def sharing(self, value: Node) -> str:
        """How a call's result shares memory with its arguments: "fresh" (not at all), "view", "maybe" or
        "unknown".
        """
        operation = self.operation(value)
        return self.facts.sharing(operation) if isinstance(operation, Apply) else "unknown"

    def hands_items_on(self, value: Node) -> bool:
        """Whether a primitive puts the items of containers into a new one, and reads nothing in them."""
        function = self.facts.program.resolve(value.func)
        takes_pairs = function is dict or function is OrderedDict  # which may be lists
        return function is deque or (self.sharing(value) == "elements" and not takes_pairs)

    def changes_array(self, value: Node) -> bool:
        """Whether a call is known to change an argument in place, other than `next` an iterator."""
        if isinstance(value, gast.Call) and self.facts.program.resolve(value.func) is next:
            return False
        arrays = self.facts.effect_at(value)[0].changed - {ELSEWHERE}
        return bool(arrays or changed_atoms(value, self.facts))

    def changed_array(self, value: Node) -> str | None:
        """The name of the array that a primitive changes in place; None where the call may change more."""
        if not self.is_primitive(value):
            return None
        changed = changed_atoms(value, self.facts) or []
        found = {a.id for a in changed if isinstance(a, gast.Name) and self.domain.is_array(self.kind(a))}
        return found.pop() if len(found) == len(changed) == 1 else None

    def is_inert(self, value: Node) -> bool:
        """Whether a call is inactive and has no effect."""
        operation = self.operation(value)
        return isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function)

    def is_primitive(self, value: Node) -> bool:
        """Whether a call is one of a primitive."""
        return isinstance(self.operation(value), Apply)

    def is_unknown(self, value: Node) -> bool:
        """Whether a call is dynamic."""
        operation = self.operation(value)
        return isinstance(operation, Call) and operation.function is MISSING

    def may_change(self, value: Node) -> bool:
        """Whether a call may change its arguments."""
        return isinstance(self.operation(value), Call) and (
            self.is_unknown(value) or self.facts.may_change(value)
        )

    def reads_result(self, value: Node) -> bool:
        """Whether the result of a primitive's call is new, and the derivative reads it."""
        operation = self.operation(value)
        rule = self.primitives.find_rule(operation.function) if isinstance(operation, Apply) else None
        is_new = self.sharing(value) in ("fresh", "elements", "view")
        return is_new and rule is not None and "out" in names_read(rule.template.body)

    def takes_numbers(self, value: Node) -> bool:
        """Whether a call is of a function of numbers alone."""
        raise NotImplementedError

    def gives_number(self, value: Node) -> bool:
        """Whether a call returns a number or an array for all arguments."""
        raise NotImplementedError

    def makes_object(self, value: Node) -> bool:
        """Whether an expression makes an empty object."""
        raise NotImplementedError

    def with_heap(self, value: Node, reads: bool = False) -> Any:
        """The function with a heap parameter that a call calls, None where it needs no heap: where it changes
        no object, unless `reads` says that it reads or makes some.
        """
        raise NotImplementedError

    def takes_objects(self, value: Node, target: Node) -> bool:
        """Whether the arguments of a call, or its result with the name `target`, may be objects."""
        given = [*value.args, *(k.value for k in value.keywords)]
        if isinstance(value.func, gast.Attribute):
            given.append(value.func.value)
        return any(self.of(a) != "plain" for a in ([*given, target] if target is not None else given))

    # ------------------------------------------------------------ the run time

    def outside(self, read: list[Any]) -> Any:
        """The arrays that these values hold, and those that functions among them may reach."""
        raise NotImplementedError

    def helper(self, name: str) -> Any:
        """A run-time helper."""
        raise NotImplementedError
