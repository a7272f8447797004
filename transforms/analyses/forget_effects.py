"""The effect of calls on kinds: of the containers that a call changes, and of all that a user's function may
reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast

from ..trees.program import MISSING
from .expression_kinds import UPDATES, ExpressionKinds
from .find_bound_callables import partials
from .find_local_containers import find_local_containers
from .operations import Call, Pop

__all__ = ["Forgetting"]


class Forgetting:
    """Widens the kinds of names: of one object by `change`, and of all that a call may reach; names that are
    `shared` by several assignments stand for no method.
    """

    def __init__(
        self, expressions: ExpressionKinds, change: Callable[[str, Any], None], shared: set[str]
    ) -> None:
        self.expressions, self.change, self.shared = expressions, change, shared
        self.program, self.domain, self.kinds = expressions.program, expressions.domain, expressions.kinds
        self.primitives, self.atom = expressions.primitives, expressions.atom
        self.methods: dict[str, tuple[Any, Any]] = {}  # the method and object of `m = x.method`

    @cached_property
    def own(self) -> set[str]:
        """The names of lists and dicts that the function makes and that have no alias."""
        return find_local_containers(self.program)

    @cached_property
    def bound(self) -> set[str]:
        """The names that may hold a partial application, which may change its bound arguments."""
        return partials(self.program)

    def note_method(self, name: str, node: Any) -> None:
        """Notes the method that a call of m in `m = x.method` calls."""
        if isinstance(node, gast.Attribute) and name not in self.shared:
            member = self.primitives.member(self.atom(node.value), node.attr)
            if member is not None and member.role == "method":
                self.methods[name] = member.value, node.value

    def forget(self, node: Any) -> None:
        """Widens the kinds of the containers that a call changes; a user's function may change all that it
        reaches.
        """
        function = self.program.resolve(node.func)
        if any(function is update for update in UPDATES):  # the callee may be unhashable
            return
        value = self.expressions.known(node)
        if isinstance(value.operation, Pop):
            name = value.operation.base.id
            kind = self.kinds.get(name, self.domain.UNKNOWN)
            if self.primitives.is_list(kind) and self.domain.holds_immutables(kind):  # items are removed
                self.change(name, self.domain.sequence_of(self.domain.element_kind(kind)))
                return
        for atom in value.changed or ():
            if isinstance(atom, gast.Name) and self.domain.is_container(self.atom(atom)):
                self.change(atom.id, self.domain.UNKNOWN)
        operation = value.operation
        if isinstance(operation, Call) and (value.changed is None or operation.function is not MISSING):
            self.forget_given(operation)

    def forget_given(self, operation: Call) -> None:
        """Widens the kinds of the objects that a call of a user's function may change, or whose items it may
        replace.
        """
        domain, calls = self.domain, self.expressions.calls
        method = self.methods.get(getattr(operation.callee, "id", ""))
        if method is not None:
            operation = replace(operation, function=method[0], args=(method[1], *operation.args))
        owner = [operation.callee.value] if isinstance(operation.callee, gast.Attribute) else []
        given = [*owner, *operation.args, *(v for _, v in operation.keywords)]
        changeable = self.changeable(operation, given)
        is_bound = operation.function is MISSING and getattr(operation.callee, "id", "") in self.bound
        if not changeable and not is_bound:
            return
        is_changed = calls.may_change(operation, self.atom)
        if not is_changed and not calls.may_replace(operation, self.atom):
            return
        reaching = owner or given  # other arguments of a method count as numbers
        is_wide = is_bound or any(domain.may_hold_containers(self.kind_of(a)) for a in reaching)
        names = {a.id for a in changeable if isinstance(a, gast.Name)}
        for name, kind in self.kinds.items():
            is_apart = name in self.own and name not in names  # though its items may have aliases
            if domain.may_be_changed(kind) and (not is_apart or domain.holds_objects(kind)):
                self.kinds[name] = (
                    domain.of_unknown(kind, is_apart)
                    if is_changed
                    else domain.without_objects(kind, is_wide and not is_apart)
                )

    def changeable(self, operation: Call, given: list[Any]) -> list[Any]:
        """The arguments among `given` that a call may change; a starred one is unpacked and not passed
        itself.
        """
        opened = {id(v) for k, v in operation.keywords if k is None}
        opened |= {id(a) for a in operation.args if isinstance(a, gast.Starred)}

        def is_kept(node: Any) -> bool:
            return id(node) in opened and self.domain.holds_immutables(self.kind_of(node))

        return [a for a in given if self.domain.may_be_changed(self.kind_of(a)) and not is_kept(a)]

    def kind_of(self, argument: Any) -> Any:
        """The kind of an argument, starred or not."""
        return self.atom(argument.value if isinstance(argument, gast.Starred) else argument)
