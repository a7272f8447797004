"""The kind of an expression from the kinds of its names; `find_kinds` does the statements."""

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
    Inert,
    Item,
    Opaque,
    Operation,
    Pop,
    classify,
    starred,
)

__all__ = ["UPDATES", "CallFacts", "ExpressionKinds", "Kinds", "Values"]

CallPredicate = Callable[[Call, Callable[[Any], Any]], bool]  # on a call, given the kinds of atoms
UPDATES = {
    IN_PLACE_OPERATORS[node]: function for node, function in OPERATORS.items() if node in IN_PLACE_OPERATORS
}


@dataclass(frozen=True)
class CallFacts:
    """Interprocedural facts: the kind that a call `returned`, the kind of a `cached` property of an owner,
    whether a call may change its arguments, and whether it may replace the objects and functions that these
    hold.
    """

    returned: Callable[[Call, list[Any], dict[str, Any]], Any]
    cached: Callable[[Any, str], Any] | None = None
    may_change: CallPredicate = lambda call, kind: False
    may_replace: CallPredicate = lambda call, kind: False


class _Value(NamedTuple):
    """The facts of an expression, valid while its names keep these kinds."""

    node: Any
    names: list[Any]
    kind: Any
    operation: Operation
    changed: list[Any] | None  # the atoms that a call changes; None when they are not known


Values = dict[int, _Value]


class ExpressionKinds:
    """The kinds of expressions while names have the kinds of `facts`, which the caller changes as it goes;
    `unsure` are the cached properties that are also assigned.
    """

    def __init__(self, facts: Facts, calls: CallFacts, values: Values, unsure: set[str]) -> None:
        self.facts, self.calls, self.values, self.unsure = facts, calls, values, unsure
        self.program, self.primitives, self.domain = facts.program, facts.primitives, facts.domain
        assert isinstance(facts.kinds, dict)
        self.kinds: dict[str, Any] = facts.kinds
        self.atom = facts.kind
        self.of_calls: Values = {}

    def key(self, index: Any) -> Any:
        """The kind of an atom used as an index."""
        return self.atom(index) if is_atom(index) else self.domain.UNKNOWN

    def cached_kind(self, owner: Any, attr: str) -> Any:
        """The kind of the value of a cached property."""
        find = self.calls.cached
        return self.domain.UNKNOWN if find is None or attr in self.unsure else find(owner, attr)

    def element(self, node: Any) -> Any:
        """The kind of the elements of an iterable."""
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
        """The facts of an expression, computed again when the kind of a name in it has changed."""
        names = [self.kinds.get(name) for name in loads(node)]
        value = self.of_calls.get(id(node)) or self.values.get(id(node))
        if value is None or value.names != names:
            return self.found(node, names)
        if not isinstance(value.operation, Call) or id(node) in self.of_calls:
            return value
        # the result of a call may be known better in a later round
        is_same = self.program.resolve(getattr(node, "func", node)) in (MISSING, value.operation.function)
        return self.found(node, names, value if is_same else None)

    def found(self, node: Any, names: list[Any], known: _Value | None = None) -> _Value:
        """The facts of an expression; its operation, and what it changes, may be `known`."""
        operation = classify(node, self.facts) if known is None else known.operation
        changed = None if known is None else known.changed
        if known is None and isinstance(node, gast.Call):
            changed = changed_atoms(node, self.facts, operation)
        value = _Value(node, names, self.kind_of(node, operation), operation, changed)
        self.values[id(node)] = value
        if isinstance(operation, Call):
            self.of_calls[id(node)] = value
        return value

    def operation(self, node: Any) -> Operation | None:
        """The operation of an expression that was met while its names had the kinds that they have now."""
        value = self.of_calls.get(id(node)) or self.values.get(id(node))
        if value is None or (isinstance(value.operation, Call) and id(node) not in self.of_calls):
            return None
        return value.operation if value.names == [self.kinds.get(name) for name in loads(node)] else None

    def result_of(self, operation: Call, *first: Any) -> Any:
        """The kind of the result of a call with arguments of these kinds before its own."""
        args, keywords = self.given(operation)
        return self.calls.returned(operation, [*first, *args], keywords)

    def given(self, operation: Call) -> tuple[list[Any], dict[str, Any]]:
        """The kinds of a call's arguments; that of a `**` argument under an empty name."""
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
                if operation.is_named_tuple:
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
            case Inert(node=gast.JoinedStr()):
                return domain.TEXT
            case _:
                if not isinstance(node, gast.Attribute):
                    return domain.UNKNOWN
                owner = self.atom(node.value)
                found = domain.attribute_kind(owner, node.attr)
                return self.cached_kind(owner, node.attr) if found is domain.UNKNOWN else found

    def is_variadic(self, operation: Apply) -> bool:
        """Whether the starred arguments of a call surely bind no named parameters."""
        rule = self.primitives.find_rule(operation.function)
        first = next((k for k, a in enumerate(operation.args) if isinstance(a, gast.Starred)), 0)
        return rule is not None and rule.template.vararg is not None and first >= rule.template.positional
