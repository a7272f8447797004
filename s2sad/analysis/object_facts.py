"""The facts of objects for `promote_fields`, from kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from types import FunctionType
from typing import Any

import gast

from ..kinds import domain
from ..kinds.class_members import field_kind, member_of
from ..kinds.lattice import OBJECT, UNKNOWN, Dict, Instance, Kind, List, Nothing, Record, Tuple, Unknown
from ..runtime.heap_keys import holds_attribute
from ..source.locate import origins
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_bound_callables import bound_changes
from ..transforms.analyses.operations import Apply, Call
from ..transforms.trees.nodes import find_nodes, load, names_read, target_names, walk
from ..transforms.trees.program import MISSING
from ..transforms.trees.rebuild import parameters
from ..values.objects import ABSENT, lookup, shadows_fields
from ..values.objects import sets_plainly as sets_attributes_plainly
from .cached_properties import computed_by
from .constructors import makes_empty, new_class
from .open_calls import may_run_users_code

__all__ = ["KnownObjects", "is_unseen"]

LOOKS = (isinstance, issubclass, type, id, hasattr, callable)


class KnownObjects:
    """Implements `transforms.lowering.follow_fields.Objects`; `given` are the kinds of the arguments.
    """

    def __init__(self, facts: Facts, given: Mapping[str, Kind]) -> None:
        self.facts, self.given = facts, given
        self.program, self.kinds, self.kind = facts.program, facts.kinds, facts.kind

    @cached_property
    def methods(self) -> set[str]:
        """The names that may be bound to a method that changes its object."""
        return bound_changes(self.facts)

    @cached_property
    def bprops(self) -> set[str]:
        """The names that are bound to what a generated function returns beside its result: its bprop, which
        changes no objects.
        """
        assigned = find_nodes(self.program.tree, gast.Assign)
        names = Counter(n for s in assigned for n in target_names(s.targets[0]))
        found, results = set(), set()
        for s in assigned:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func)):
                    function = self.program.resolve(func)
                    if isinstance(function, FunctionType) and function.__code__.co_filename in origins:
                        results.add(name)
                case gast.Assign(
                    targets=[gast.Tuple(elts=[_, gast.Name(id=name)])], value=gast.Name(id=source)
                ) if source in results and names[source] == names[name] == 1:
                    found.add(name)
        return found

    def record(self, name: str) -> Record | None:
        kind = self.kinds.get(name, UNKNOWN)
        return kind if isinstance(kind, Record) else None

    def made(self, value: Any) -> bool:
        return makes_empty(new_class(value, self.program, self.kind))

    def held(self, name: str) -> list[str] | None:
        kind = self.given.get(name, UNKNOWN)
        if not isinstance(kind, Record):
            return None
        of_class = [
            a for a in dict.fromkeys(n for c in kind.cls.__mro__ for n in vars(c)) if self.of_class(name, a)
        ]
        return [a for a, _ in kind.fields] + [a for a in of_class if field_kind(kind, a) is None]

    def is_plain(self, name: str, attr: str) -> bool:
        return sets_plainly(self.kinds.get(name, UNKNOWN), attr)

    def varies(self, name: str, attr: str) -> bool:
        kind = self.record(name)
        held = UNKNOWN if kind is None else domain.attribute_kind(kind, attr)
        return domain.is_differentiable(held) is not False

    def is_cached(self, name: str, attr: str) -> bool:
        return computed_by(self.kinds.get(name, UNKNOWN), attr) is not None

    def of_class(self, name: str, attr: str) -> bool:
        kind = self.record(name)
        found = ABSENT if kind is None else lookup(kind.cls, attr)
        is_plain = found is not ABSENT and not hasattr(type(found), "__get__")
        return is_plain and not (attr.startswith("__") and attr.endswith("__"))

    def is_method(self, name: str, attr: str) -> bool:
        kind = self.record(name)
        member = None if kind is None else member_of(kind, attr)
        return member is None or member.role not in ("field", "constant")

    def asked(self, value: Any) -> tuple[str, str] | None:
        match value:
            case gast.Call(func=func, args=[gast.Name(id=name), gast.Constant(value=str() as attr)]):
                return (name, attr) if self.program.resolve(func) is holds_attribute else None
        return None

    def read(self, value: Any) -> tuple[str, str] | None:
        match value:
            case gast.Attribute(value=gast.Name(id=name), attr=attr):
                return name, attr
            case gast.Call(func=func, args=[gast.Name(id=name), gast.Constant(value=str() as attr)]):
                return (name, attr) if self.program.resolve(func) is getattr else None
        return None

    def only_looks(self, value: Any) -> bool:
        match value:
            case gast.Call():
                return any(self.program.resolve(value.func) is f for f in LOOKS)
            case gast.Compare(ops=[gast.Is() | gast.IsNot()]) | gast.UnaryOp(op=gast.Not()):
                return True
        return False

    def passes_on(self, statement: Any) -> bool:
        if not isinstance(statement, (gast.Assign, gast.Expr)) or not isinstance(statement.value, gast.Call):
            return True
        operation = self.facts.operation(statement.value)
        if not isinstance(operation, (Apply, Call)) or operation.function is MISSING:
            return True
        if isinstance(statement, gast.Expr):
            return isinstance(operation, Apply)
        target = statement.targets[0]
        return not (isinstance(target, gast.Name) and domain.is_immutable(self.kind(load(target.id))))

    def may_change(self, value: Any) -> bool:
        operation = self.facts.operation(value)
        if not isinstance(operation, Call):
            return False
        if operation.function is not MISSING:
            given = {getattr(a, "id", "") for a in operation.operands()}
            return not given.isdisjoint(self.methods) or self.facts.may_change(value)
        callee = operation.callee
        if getattr(callee, "id", "") in self.bprops:
            return False
        owner = self.kind(callee.value) if isinstance(callee, gast.Attribute) else UNKNOWN
        return isinstance(owner, (Unknown, Record))  # others have methods that change them alone

    def others(self, name: str) -> list[Any] | None:
        kind = self.given[name]
        assert isinstance(kind, Record)
        found = [
            load(p.id)
            for p in parameters(self.program.tree)
            if p.id != name and may_hold(self.given.get(p.id, UNKNOWN), kind.cls)
        ]
        for n in names_read(self.program.tree.body):
            outside = MISSING if n in self.program.locals else self.program.resolve(load(n))
            if outside is not MISSING and may_hold(self.kind(load(n)), kind.cls):
                found.append(load(n))
        inside = any(may_hold(k, kind.cls) for _, k in kind.fields)
        return found if found or inside else None


def may_hold(kind: Kind, cls: type) -> bool:
    """Whether a value of this kind may be, or hold, an object of a class."""
    match kind:
        case Record(own, fields):
            return own is cls or any(may_hold(k, cls) for _, k in fields)
        case Tuple(items):
            return any(may_hold(k, cls) for k in items)
        case List(_, element):
            return may_hold(element, cls)
        case Dict(items):
            return any(may_hold(k, cls) for _, k in items)
        case Nothing():
            return False
    return isinstance(kind, Unknown) or kind is OBJECT


def sets_plainly(kind: Kind, attr: str) -> bool:
    """Whether a store to an attribute of an object of this kind runs no code of its class."""
    return (
        isinstance(kind, (Record, Instance))
        and not shadows_fields(lookup(kind.cls, attr))
        and sets_attributes_plainly(kind.cls)
    )


def is_unseen(facts: Facts, name: str, attr: str) -> bool:
    """Whether a value stored in an attribute is read neither in the function nor through its result. Other
    functions may read one of an object of an outer scope.
    """
    program, kind = facts.program, facts.kind
    owner = kind(load(name))
    if not isinstance(owner, Record) or not sets_plainly(owner, attr):
        return False
    last = program.tree.body[-1]
    if any(may_hold(kind(load(n)), owner.cls) for n in names_read(last)):
        return False
    for n in walk(program.tree):
        if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Load) and n.attr == attr:
            return False
        if isinstance(n, gast.FunctionDef) and n is not program.tree:
            return False
        if isinstance(n, gast.Call) and name not in program.locals and may_run_users_code(facts, n):
            return False
        if isinstance(n, gast.Call) and isinstance(facts.operation(n), Call):
            operands = [*n.args, *(k.value for k in n.keywords), getattr(n.func, "value", n.func)]
            if any(isinstance(o, gast.Name) and may_hold(kind(o), owner.cls) for o in operands):
                return False
    return True
