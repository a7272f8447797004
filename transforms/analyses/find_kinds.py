"""Kinds: what is known statically of each name's value (scalar, array of a rank and dtype, container).

An abstract interpretation of the single-assignment form over a given domain (`domain`): kinds, their join,
and the transfer functions of primitives. A name that a loop or a branch assigns twice has the join of both
kinds.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gast

from ..trees.nodes import (
    assigned_names,
    attribute,
    blocks_of,
    bound_here,
    bound_in_header,
    call,
    is_atom,
    load,
    loads,
    statements_in,
    walk,
)
from ..trees.program import Program
from .bind_methods import in_place_call
from .expression_kinds import CallFacts, ExpressionKinds, Values
from .facts import Facts, Kinds
from .find_active import loop_elements
from .forget_effects import Forgetting
from .operations import OPERATORS, Call, is_append
from .widen_shared_containers import only_named, widened

__all__ = ["CallFacts", "Kinds", "Values", "find_kinds"]

_ROUNDS = 8  # a loop whose kinds still change after this many rounds has unknown kinds


def find_kinds(
    facts: Facts, calls: CallFacts, values: Values | None = None, made: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The kind of each local name, from those of the parameters in `facts`; `calls` has the interprocedural
    facts. `values` keeps the facts of expressions for later programs that share them; `made` gains the kinds
    of names before any change in place.
    """
    program, given, domain = facts.program, facts.kinds, facts.domain
    values = {} if values is None else values
    wider: dict[str, Any] = {}
    memory = domain.memory_of(program, given)
    unsure: set[str] = set()
    for turn in range(_ROUNDS):
        kinds = {n: domain.join(k, wider[n]) if n in wider else k for n, k in given.items()}
        now = Facts(program, kinds, facts.primitives, domain)
        expressions = ExpressionKinds(now, calls, values, set(unsure))
        now.known_operation = expressions.operation
        run = _Run(expressions, wider, memory)
        run.block(program.tree.body)
        if memory is not None and memory.has_grown(turn >= _ROUNDS - 3):
            continue
        if expressions.unsure != unsure:
            unsure = expressions.unsure
            values.clear()
            continue
        if made is not None and not wider:
            made |= run.made
        if only_named(program.tree, run.changed):
            break
        found = widened(run.changed, run.made, now)
        new = {n: domain.join(wider[n], kind) if n in wider else kind for n, kind in found.items()}
        if all(wider.get(name) == kind for name, kind in new.items()):
            break
        wider |= new if turn < _ROUNDS - 2 else dict.fromkeys(new, domain.UNKNOWN)
    return kinds


class _Run:
    """One abstract run over statements: `wider` are lower bounds of the kinds of names, `made` the kinds of
    objects when they are made, `changed` their kinds after the last change, by name.
    """

    def __init__(self, expressions: ExpressionKinds, wider: Kinds, memory: Any = None) -> None:
        self.expressions, self.wider, self.memory = expressions, wider, memory
        self.program, self.primitives = expressions.program, expressions.primitives
        self.domain, self.kinds = expressions.domain, expressions.kinds
        self.atom, self.value = expressions.atom, expressions.value
        self.made = dict(self.kinds)
        self.changed: dict[str, Any] = {}
        self.shared = _assigned_twice(expressions.program)
        self.keys: set[tuple[str, str]] = set()  # a dict, and a key from a loop over it
        self.settled: dict[int, Any] = {}  # by loop: the growth, kinds and changes that its last turn leaves
        self.forgetting = Forgetting(expressions, self.change, self.shared)

    def define(self, name: str, kind: Any) -> None:
        if name in self.shared and name in self.kinds:
            kind = self.domain.join(self.kinds[name], kind)
        self.kinds[name] = self.domain.join(kind, self.wider[name]) if name in self.wider else kind
        self.made[name] = self.kinds[name]

    def change(self, name: str, kind: Any) -> None:
        """Records the kind of a name's object after a change in place."""
        if self.kinds.get(name) != kind:
            self.kinds[name] = kind
            self.changed[name] = kind

    def block(self, statements: list[Any]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, s: Any) -> None:
        domain = self.domain
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]):
                read = None if self.memory is None else self.memory.assigned(name, s.value, self.atom)
                found = self.value(s.value) if read is None else read
                self.define(name, found)
                if self.memory is not None:
                    self.memory.defined(name, found)
                self.forgetting.note_method(name, s.value)
                if isinstance(s.value, gast.Call) and self.memory is None:
                    self.forgetting.forget(s.value)
            case gast.Assign(targets=[gast.Tuple(elts=elts)]):
                kinds = domain.unpack_kinds(self.atom(s.value), len(elts))
                if self.memory is not None:
                    kinds = self.memory.unpacked(elts, s.value, self.atom)
                for target, kind in zip(elts, kinds, strict=True):
                    self.define(target.id, kind)
            case gast.Assign(targets=[gast.Subscript(value=gast.Name() as base, slice=index)]):
                self.store(base, index, s.value, self.atom(s.value))
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name) as owner)]) if isinstance(
                self.program.resolve(owner), (type, ModuleType)
            ):
                return  # it remains that class or module
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr)]):
                owner, value = self.kinds.get(name, domain.UNKNOWN), self.atom(s.value)
                setter = domain.setter_of(owner, attr)
                if setter is not None:
                    target = s.targets[0]
                    self.forgetting.forget_given(Call(setter, target, (target.value, s.value), (), s))
                    return
                self.change(name, domain.with_field(owner, attr, value))
                computed = self.expressions.cached_kind(owner, attr)
                if computed is not domain.UNKNOWN and domain.join(computed, value) != computed:
                    self.expressions.unsure.add(attr)
            case gast.AugAssign(target=gast.Name(id=name)):
                changed, is_open = in_place_call(s, self.expressions.facts)
                if not is_open:  # else it is refused
                    plain = gast.BinOp(left=load(name), op=s.op, right=s.value)
                    self.define(name, self.value(changed or plain))
            case gast.AugAssign(target=gast.Subscript(value=gast.Name() as base, slice=index)):
                if domain.holds_array(self.atom(base), index, self.atom):
                    return  # the kind stays
                item = self.value(gast.Subscript(value=base, slice=index, ctx=gast.Load()))
                both = [item, self.atom(s.value)]
                result = domain.call_kind(OPERATORS[type(s.op)], both, {}, self.primitives.is_pure)
                self.store(base, index, s.value, result)
            case gast.Expr() if is_append(s, self.expressions.facts) and s.value.func.value.id in self.kinds:
                name, item = s.value.func.value.id, s.value.args[0]
                self.change(name, domain.stored_kind(self.kinds[name], self.atom(item)))
            case gast.Expr(value=gast.Call()):
                if self.memory is None:
                    self.forgetting.forget(s.value)
                else:  # what is changed without it is refused
                    self.memory.passed(s.value)
            case gast.If():
                taken = domain.truth_of(self.atom(s.test)) if is_atom(s.test) else None
                for inner in [s.body] * (taken is not False) + [s.orelse] * (taken is not True):
                    self.block(inner)
            case gast.For() | gast.While():
                self.loop(s)
            case gast.With() | gast.Try():
                for target in bound_in_header(s):
                    self.define(target.id, self.domain.UNKNOWN)
                for inner in blocks_of(s):
                    self.block(inner)
            case gast.FunctionDef():
                self.define(s.name, domain.UNKNOWN)

    def store(self, base: Any, index: Any, value: Any, kind: Any) -> None:
        """Records a store of an item, also by a `__setitem__` of the object's class."""
        owner = self.kinds.get(base.id, self.domain.UNKNOWN)
        member = self.primitives.member(owner, "__setitem__")
        read = [self.atom(load(n)) for n in loads(index)]
        is_key = is_atom(index) or not any(map(self.domain.may_be_changed, read))
        if member is not None and member.role == "method" and is_key:
            self.forgetting.forget(call(attribute(base, "__setitem__"), index, value))
        else:
            has_key = (base.id, getattr(index, "id", "")) in self.keys
            self.change(base.id, self.domain.stored_kind(owner, kind, self.expressions.key(index), has_key))

    def loop(self, s: Any) -> None:
        """Runs a loop until it changes nothing. A turn that changed no kind from before the loop is the last,
        since another would find the same; a loop that is met again with what its last turn found is not run.
        """
        *known, changed = self.settled.get(id(s), (None, None))
        if known == [self.growth(), self.kinds]:
            self.changed |= changed
            return
        for _ in range(_ROUNDS):
            before, growth = dict(self.kinds), self.growth()
            others, self.changed = self.changed, {}
            if isinstance(s, gast.For):
                self.targets(s)
            self.block(s.body)
            changed = self.changed
            self.changed = others | changed
            if growth == self.growth() and before.items() <= self.kinds.items():
                self.settled[id(s)] = growth, dict(self.kinds), changed
                return
        for name in assigned_names(s):
            self.kinds[name] = self.domain.UNKNOWN

    def growth(self) -> int:
        """How often the memory has grown."""
        return 0 if self.memory is None else int(self.memory.growth)

    def targets(self, s: Any) -> None:
        for target, source in loop_elements(s):
            names = [n.id for n in (source, target) if isinstance(n, gast.Name)]
            if len(names) == 2 and not self.shared.intersection(names):
                self.keys.add((names[0], names[1]))
        element = self.expressions.element(s.iter)
        if isinstance(s.target, gast.Name):
            self.define(s.target.id, element)
            return
        kinds = self.domain.unpack_kinds(element, len(s.target.elts))
        for target, kind in zip(s.target.elts, kinds, strict=True):
            self.define(target.id, kind)


def _assigned_twice(program: Program) -> set[str]:
    """The names that several statements assign, or a statement and a parameter."""
    seen = {n.id for n in walk(program.tree.args) if isinstance(n, gast.Name)}
    twice = set()
    for s in statements_in(program.tree.body):
        names = {*bound_here(s)}
        twice |= names & seen
        seen |= names
    return twice
