"""The kind of every name: what a value is (scalar, array of which rank and dtype, container) as far as the
code and its arguments tell.

An abstract run of the single-assignment form over a domain that is handed in (`domain`): kinds, their join,
and what primitives make of them. A name that a loop or a branch assigns twice has the join of both kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import gast

from ..trees.nodes import (
    assigned_names,
    attribute,
    blocks_of,
    bound_in_header,
    call,
    find_nodes,
    has_stars,
    is_atom,
    load,
    loads,
    target_names,
    walk,
)
from ..trees.program import MISSING, Program
from .bind_methods import in_place_call
from .find_aliases import Aliases
from .find_bound import partials
from .find_changed import changed_atoms
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
    Primitives,
    classify,
    is_named_tuple,
)
from .own_containers import own_containers
from .widen_held import only_named, widened

__all__ = ["Kinds", "Values", "find_kinds"]

Kinds = Mapping[str, Any]
_UPDATES = {
    IN_PLACE_OPERATORS[node]: function for node, function in OPERATORS.items() if node in IN_PLACE_OPERATORS
}


class _Value(NamedTuple):
    """An expression with what is known of it as long as the names in it are of these kinds."""

    node: Any
    names: list[Any]
    kind: Any
    operation: Operation
    changed: list[Any] | None  # the atoms that a call changes; None when its function does not tell


Values = dict[int, _Value]
_ROUNDS = 8  # a loop whose kinds still change after this many rounds has unknown kinds


def find_kinds(
    program: Program,
    given: Kinds,
    primitives: Primitives,
    domain: Any,
    call_kind: Callable[[Call, list[Any], dict[str, Any]], Any],
    aliases_of: Callable[[Program, Kinds], Aliases],
    may_change: Callable[[Call, Callable[[Any], Any]], bool] = lambda call, kind: False,
    values: Values | None = None,
    cached_kind: Callable[[Any, str], Any] | None = None,
    may_replace: Callable[[Call, Callable[[Any], Any]], bool] = lambda call, kind: False,
) -> dict[str, Any]:
    """The kind of each local name, from those of the parameters (`given`); `call_kind` tells what a call of a
    user's function returns, `cached_kind` what a cached property computes, `may_change` whether a call may
    change what it is given, and `may_replace` whether it may replace the objects and functions that this
    holds; `aliases_of` which names hold one object when they are of these kinds. `values` keeps what is found
    of expressions for the next program, which shares most of them.
    """
    cached_kind = cached_kind or (lambda owner, name: domain.UNKNOWN)
    values = {} if values is None else values
    wider: dict[str, Any] = {}
    unsure: set[str] = set()
    for turn in range(_ROUNDS):
        run = _Run(program, given, primitives, domain, call_kind, cached_kind, may_change, wider, values)
        run.unsure, run.may_replace = set(unsure), may_replace
        run.block(program.tree.body)
        if run.unsure != unsure:
            unsure = run.unsure
            values.clear()
            continue
        if only_named(program.tree, run.changed):
            break
        found = widened(run.changed, run.kinds | run.changed, aliases_of(program, run.kinds), domain)
        new = {n: domain.join(wider[n], kind) if n in wider else kind for n, kind in found.items()}
        if all(wider.get(name) == kind for name, kind in new.items()):
            break
        wider |= new if turn < _ROUNDS - 2 else dict.fromkeys(new, domain.UNKNOWN)
    return run.kinds


class _Run:
    """One abstract run: `wider` are kinds that names have at least, `changed` the containers whose kinds were
    widened by changes.
    """

    def __init__(
        self,
        program: Program,
        given: Kinds,
        primitives: Primitives,
        domain: Any,
        call_kind: Any,
        cached_kind: Any,
        may_change: Any,
        wider: Kinds,
        values: Values,
    ) -> None:
        self.program, self.primitives, self.domain = program, primitives, domain
        self.call_kind, self.find_cached, self.may_change = call_kind, cached_kind, may_change
        self.wider, self.values = wider, values
        self.kinds = {n: domain.join(k, wider[n]) if n in wider else k for n, k in given.items()}
        self.changed: dict[str, Any] = {}  # what the last changes made of objects, by name
        self.calls: Values = {}
        self.shared: set[str] = set()
        self.methods: dict[str, tuple[Any, Any]] = {}  # of `m = x.method`, with the object
        self.may_replace: Any = None
        self.unsure: set[str] = set()  # cached properties that are set to what they do not compute
        seen = {n.id for n in walk(program.tree.args) if isinstance(n, gast.Name)}
        for n in find_nodes(program.tree, gast.Assign, gast.For, gast.AugAssign):
            match n:
                case gast.Assign(targets=targets):
                    names = {t for target in targets for t in target_names(target)}
                case gast.For(target=target) | gast.AugAssign(target=target):
                    names = set(target_names(target))
            self.shared |= names & seen
            seen |= names

    @cached_property
    def own(self) -> set[str]:
        """The names of lists and dicts that the function makes, and that nothing else gets hold of."""
        return own_containers(self.program)

    @cached_property
    def bound(self) -> set[str]:
        """The names that may hold a partial application, which may change what it was made of."""
        return partials(self.program)

    def atom(self, node: Any) -> Any:
        """The kind of an atom, a slice or an index."""
        domain = self.domain
        if isinstance(node, gast.Constant):
            return domain.kind_of_literal(node.value)
        if isinstance(node, gast.UnaryOp):
            return domain.kind_of_literal(-node.operand.value)
        if isinstance(node, gast.Name) and node.id in self.kinds:
            return self.kinds[node.id]
        found = self.program.resolve(node) if isinstance(node, (gast.Name, gast.Attribute)) else MISSING
        return domain.UNKNOWN if found is MISSING else domain.kind_of_static(node, found)

    def key(self, index: Any) -> Any:
        """The kind of an index that is an atom."""
        return self.atom(index) if is_atom(index) else self.domain.UNKNOWN

    def define(self, name: str, kind: Any) -> None:
        if name in self.shared and name in self.kinds:
            kind = self.domain.join(self.kinds[name], kind)
        self.kinds[name] = self.domain.join(kind, self.wider[name]) if name in self.wider else kind

    def change(self, name: str, kind: Any) -> None:
        """Notes what a change in place makes of the object of a name."""
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
                self.define(name, self.value(s.value))
                self.note_method(name, s.value)
                if isinstance(s.value, gast.Call):
                    self.forget(s.value)
            case gast.Assign(targets=[gast.Tuple(elts=elts)]):
                kinds = (
                    [self.atom(e) for e in s.value.elts]
                    if isinstance(s.value, gast.Tuple)
                    else domain.unpack_kinds(self.atom(s.value), len(elts))
                )
                for target, kind in zip(elts, kinds, strict=True):
                    self.define(target.id, kind)
            case gast.Assign(targets=[gast.Subscript(value=gast.Name() as base, slice=index)]):
                self.store(base, index, s.value, self.atom(s.value))
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr)]):
                owner, value = self.kinds.get(name, domain.UNKNOWN), self.atom(s.value)
                self.change(name, domain.with_field(owner, attr, value))
                computed = self.cached_kind(owner, attr)
                if computed is not domain.UNKNOWN and domain.join(computed, value) != computed:
                    self.unsure.add(attr)
            case gast.AugAssign(target=gast.Name(id=name)):
                changed, is_open = in_place_call(s, self.primitives, self.atom)
                if not is_open:  # one that may not apply is refused
                    plain = gast.BinOp(left=load(name), op=s.op, right=s.value)
                    self.define(name, self.value(changed or plain))
            case gast.AugAssign(target=gast.Subscript(value=gast.Name() as base, slice=index)):
                if domain.holds_array(self.atom(base), index, self.atom):
                    return  # it stays what it is
                item = self.value(gast.Subscript(value=base, slice=index, ctx=gast.Load()))
                both = [item, self.atom(s.value)]
                result = domain.call_kind(OPERATORS[type(s.op)], both, {}, self.primitives.is_pure)
                self.store(base, index, s.value, result)
            case gast.Expr(
                value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="append"), args=[item])
            ) if name in self.kinds:
                self.change(name, domain.stored_kind(self.kinds[name], self.atom(item)))
            case gast.Expr(value=gast.Call()):
                self.forget(s.value)
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
                self.kinds[s.name] = domain.UNKNOWN

    def store(self, base: Any, index: Any, value: Any, kind: Any) -> None:
        """Notes an item that is set, of an object by a method of its class."""
        owner = self.kinds.get(base.id, self.domain.UNKNOWN)
        member = self.primitives.member(owner, "__setitem__")
        read = [self.atom(load(n)) for n in loads(index)]
        is_key = is_atom(index) or not any(map(self.domain.may_be_changed, read))
        if member is not None and member.role == "method" and is_key:
            self.forget(call(attribute(base, "__setitem__"), index, value))
        else:
            self.change(base.id, self.domain.stored_kind(owner, kind, self.key(index)))

    def cached_kind(self, owner: Any, attr: str) -> Any:
        """The kind of what a cached property holds."""
        return self.domain.UNKNOWN if attr in self.unsure else self.find_cached(owner, attr)

    def note_method(self, name: str, node: Any) -> None:
        """Notes of `m = x.method` which function a call of m calls."""
        if isinstance(node, gast.Attribute) and name not in self.shared:
            member = self.primitives.member(self.atom(node.value), node.attr)
            if member is not None and member.role == "method":
                self.methods[name] = member.value, node.value

    def forget(self, node: Any) -> None:
        """Forgets what containers hold that a call changes; of a user's function that is all there are."""
        function = self.program.resolve(node.func)
        if any(function is update for update in _UPDATES):  # what is called may have no hash
            return
        value = self.known(node)
        if isinstance(value.operation, Pop):
            name = value.operation.base.id
            kind = self.kinds.get(name, self.domain.UNKNOWN)
            if self.primitives.is_list(kind) and self.domain.holds_immutables(kind):  # some of them are left
                self.change(name, self.domain.sequence_of(self.domain.element_kind(kind)))
                return
        for atom in value.changed or ():
            if isinstance(atom, gast.Name) and self.domain.is_container(
                self.kinds.get(atom.id, self.domain.UNKNOWN)
            ):
                self.change(atom.id, self.domain.UNKNOWN)
        operation = value.operation
        if isinstance(operation, Call) and (value.changed is None or operation.function is not MISSING):
            self.forget_given(operation)

    def forget_given(self, operation: Call) -> None:
        """Forgets what objects hold that a call of a user's function may change."""
        method = self.methods.get(getattr(operation.callee, "id", ""))
        if method is not None:
            operation = replace(operation, function=method[0], args=(method[1], *operation.args))
        owner = [operation.callee.value] if isinstance(operation.callee, gast.Attribute) else []
        given = [*owner, *operation.args, *(v for _, v in operation.keywords)]
        opened = {id(v) for k, v in operation.keywords if k is None}  # of these the items alone are passed
        opened |= {id(a) for a in operation.args if isinstance(a, gast.Starred)}

        def is_changeable(node: Any) -> bool:
            kind = self.atom(node.value if isinstance(node, gast.Starred) else node)
            return self.domain.may_be_changed(kind) and not (
                id(node) in opened and self.domain.holds_immutables(kind)
            )

        changeable = [a for a in given if is_changeable(a)]
        is_bound = operation.function is MISSING and getattr(operation.callee, "id", "") in self.bound
        if not changeable and not is_bound:
            return
        is_changed = self.may_change(operation, self.atom)
        if not is_changed and not self.may_replace(operation, self.atom):
            return
        domain, names = self.domain, {a.id for a in changeable if isinstance(a, gast.Name)}
        reaching = owner or given  # what a method is given beside its object is taken for numbers
        reached = [self.atom(a.value if isinstance(a, gast.Starred) else a) for a in reaching]
        is_wide = is_bound or any(map(domain.may_hold_containers, reached))
        for name, kind in self.kinds.items():
            is_apart = name in self.own and name not in names  # though others may hold what is in it
            if domain.may_be_changed(kind) and (not is_apart or domain.holds_objects(kind)):
                if not is_changed:
                    kind = domain.without_objects(kind, is_wide and not is_apart)
                self.kinds[name] = kind if not is_changed else domain.of_unknown(kind, is_apart)

    def loop(self, s: Any) -> None:
        for _ in range(_ROUNDS):
            before = dict(self.kinds)
            if isinstance(s, gast.For):
                self.targets(s)
            self.block(s.body)
            if self.kinds == before:
                return
        for name in assigned_names(s):
            self.kinds[name] = self.domain.UNKNOWN

    def targets(self, s: Any) -> None:
        element = self.element(s.iter)
        if isinstance(s.target, gast.Name):
            self.define(s.target.id, element)
            return
        kinds = self.domain.unpack_kinds(element, len(s.target.elts))
        for target, kind in zip(s.target.elts, kinds, strict=True):
            self.define(target.id, kind)

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
        value = self.values.get(id(node)) or self.calls.get(id(node))
        if value is None or value.names != names:
            value = self.found(node, names)
            # what a call of a user's function returns may be known better in a later run
            kept = self.calls if isinstance(value.operation, Call) else self.values
            kept[id(node)] = value
        return value

    def found(self, node: Any, names: list[Any]) -> _Value:
        operation = classify(node, self.program, self.primitives, self.atom)
        changed = None
        if isinstance(node, gast.Call):
            changed = changed_atoms(node, self.program, self.primitives, self.atom)
        return _Value(node, names, self.kind_of(node, operation), operation, changed)

    def result_of(self, operation: Call, *first: Any) -> Any:
        """The kind of what a call returns that is given what has these kinds, and its own arguments."""
        keywords = {k or "": self.atom(v) for k, v in operation.keywords}
        return self.call_kind(operation, [*first, *map(self.atom, operation.args)], keywords)

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
                is_update = operation.function in _UPDATES
                changed = self.atom(operation.args[0]) if is_update else domain.UNKNOWN
                if domain.may_have_no_axes(changed):
                    return changed
                if has_stars(node) and not self.is_variadic(operation):
                    return domain.UNKNOWN
                function = _UPDATES.get(operation.function, operation.function)
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
                if member is None or member.role != "method":
                    return domain.method_kind(self.atom(base), name)
                return self.result_of(replace(operation, function=member.value), held)
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
