"""The kind of an expression, from those of the names in it: the part of `find_kinds` below statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import gast

from ..trees.nodes import has_stars, is_atom, loads
from ..trees.program import MISSING
from .facts import Facts, Kinds
from .find_effects import changed_atoms
from .operations import (
    IN_PLACE_OPERATORS,
    OPERATORS,
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Item,
    Opaque,
    Operation,
    Pop,
    classify,
    is_named_tuple,
    starred,
)

__all__ = ["UPDATES", "CallFacts", "ExpressionKinds", "Kinds", "Values"]

Judgement = Callable[[Call, Callable[[Any], Any]], bool]  # of a call, by the kinds of atoms
UPDATES = {
    IN_PLACE_OPERATORS[node]: function for node, function in OPERATORS.items() if node in IN_PLACE_OPERATORS
}


@dataclass(frozen=True)
class CallFacts:
    """What the text of a program does not tell of its calls: what one of a user's function `returned`, what a
    `cached` property of an owner computes, whether a call may change what it is given, and whether it may
    replace the objects and functions that this holds.
    """

    returned: Callable[[Call, list[Any], dict[str, Any]], Any]
    cached: Callable[[Any, str], Any] | None = None
    may_change: Judgement = lambda call, kind: False
    may_replace: Judgement = lambda call, kind: False


class _Value(NamedTuple):
    """An expression with what is known of it as long as the names in it are of these kinds."""

    node: Any
    names: list[Any]
    kind: Any
    operation: Operation
    changed: list[Any] | None  # the atoms that a call changes; None when its function does not tell


Values = dict[int, _Value]


class ExpressionKinds:
    """The kinds of expressions while names have the kinds of `facts`, which the caller changes as it goes;
    `unsure` are the cached properties that are set to what they do not compute.
    """

    def __init__(self, facts: Facts, calls: CallFacts, values: Values, unsure: set[str]) -> None:
        self.facts, self.calls, self.values, self.unsure = facts, calls, values, unsure
        self.program, self.primitives, self.domain = facts.program, facts.primitives, facts.domain
        assert isinstance(facts.kinds, dict)
        self.kinds: dict[str, Any] = facts.kinds
        self.atom = facts.kind
        self.of_calls: Values = {}

    def key(self, index: Any) -> Any:
        """The kind of an index that is an atom."""
        return self.atom(index) if is_atom(index) else self.domain.UNKNOWN

    def cached_kind(self, owner: Any, attr: str) -> Any:
        """The kind of what a cached property holds."""
        find = self.calls.cached
        return self.domain.UNKNOWN if find is None or attr in self.unsure else find(owner, attr)

    def element(self, node: Any) -> Any:
        """The kind of what iteration over an expression yields."""
        domain = self.domain
        if isinstance(node, gast.Call):
            args = [self.atom(a) for a in node.args]
            found = domain.iteration_kind(self.program.resolve(node.func), args)
            if found is not domain.UNKNOWN:
                return found
        return domain.element_kind(self.value(node))

    def value(self, node: Any) -> Any:
        """The kind of an expression."""
        return self.known(node).kind

    def known(self, node: Any) -> _Value:
        """What is known of an expression; it is found anew when the kind of a name in it is another one."""
        names = [self.kinds.get(name) for name in loads(node)]
        value = self.values.get(id(node)) or self.of_calls.get(id(node))
        if value is None or value.names != names:
            value = self.found(node, names)
            # what a call of a user's function returns may be known better in a later run
            kept = self.of_calls if isinstance(value.operation, Call) else self.values
            kept[id(node)] = value
        return value

    def found(self, node: Any, names: list[Any]) -> _Value:
        operation = classify(node, self.facts)
        changed = None
        if isinstance(node, gast.Call):
            changed = changed_atoms(node, self.facts)
        return _Value(node, names, self.kind_of(node, operation), operation, changed)

    def result_of(self, operation: Call, *first: Any) -> Any:
        """The kind of what a call returns that is given what has these kinds, and its own arguments."""
        args, keywords = self.given(operation)
        return self.calls.returned(operation, [*first, *args], keywords)

    def given(self, operation: Call) -> tuple[list[Any], dict[str, Any]]:
        """The kinds of a call's arguments, of what has two stars under an empty name."""
        return [*map(self.atom, operation.args)], {k or "": self.atom(v) for k, v in operation.keywords}

    def kind_of(self, node: Any, operation: Operation) -> Any:
        domain = self.domain
        match operation:
            case Alias(source=source):
                is_method = isinstance(node, gast.Attribute) and source is not node
                return domain.UNKNOWN if is_method else self.atom(source)
            case Field(base=base, name=name):
                return domain.attribute_kind(self.atom(base), name)
            case Build(items=items, keys=keys, node=gast.Call()):
                parts = dict(zip(keys, map(self.atom, items), strict=True))
                if is_named_tuple(keys):
                    return domain.named_kind(self.program.resolve(node.func), parts)
                held = self.program.resolve(node.func) is self.primitives.helper("holding")
                return (domain.held_kind if held else domain.mirror_kind)(self.atom(node.args[0]), parts)
            case Build(items=items, node=gast.Tuple()):
                return domain.tuple_kind([self.atom(i) for i in items])
            case Build(items=items, node=gast.List()):
                return domain.list_kind([self.atom(i) for i in items])
            case Build(items=items, keys=keys):
                return domain.dict_kind(
                    [k.value if isinstance(k, gast.Constant) else None for k in keys],
                    [self.atom(i) for i in items],
                )
            case Pop(base=base):
                return domain.element_kind(self.atom(base))
            case Item():
                return domain.item_kind(self.atom(operation.base), operation.index, self.atom)
            case Apply(function=function) if function is range:
                return domain.sequence_of(domain.INTEGER)
            case Apply() if self.primitives.is_in_place(operation.function):
                return domain.summed_kind(self.atom(operation.args[0]))
            case Apply(function=function, args=[base, gast.Constant(value=str() as name)]) if (
                function is getattr
            ):
                return self.cached_kind(self.atom(base), name)
            case Apply():
                if isinstance(node, gast.Attribute):
                    return domain.attribute_kind(self.atom(node.value), node.attr)
                is_update = operation.function in UPDATES
                changed = self.atom(operation.args[0]) if is_update else domain.UNKNOWN
                if domain.may_have_no_axes(changed):
                    return changed
                if has_stars(node) and not self.is_variadic(operation):
                    return domain.UNKNOWN
                function = UPDATES.get(operation.function, operation.function)
                found = domain.call_kind(
                    function,
                    [self.atom(a) for a in operation.args],
                    {k: self.atom(v) for k, v in operation.keywords},
                    self.primitives.is_pure,
                )
                return changed if domain.is_array(changed) and found is domain.UNKNOWN else found
            case Call(function=function, callee=gast.Attribute(value=base, attr=name)) if function is MISSING:
                held = domain.attribute_kind(self.atom(base), name)
                member = self.primitives.member(held, "__call__")
                if member is not None and member.role == "method":
                    return self.result_of(replace(operation, function=member.value), held)
                if starred(operation):
                    return domain.UNKNOWN
                return domain.method_kind(self.atom(base), name, *self.given(operation))
            case Call():
                return self.result_of(operation)
            case Opaque(node=gast.Set()):
                return domain.SET
            case _:
                if not isinstance(node, gast.Attribute):
                    return domain.UNKNOWN
                owner = self.atom(node.value)
                found = domain.attribute_kind(owner, node.attr)
                return self.cached_kind(owner, node.attr) if found is domain.UNKNOWN else found

    def is_variadic(self, operation: Apply) -> bool:
        """Whether what a call passes with a star are surely not named parameters."""
        rule = self.primitives.find_rule(operation.function)
        first = next((k for k, a in enumerate(operation.args) if isinstance(a, gast.Starred)), 0)
        return rule is not None and rule.template.vararg is not None and first >= rule.template.positional
