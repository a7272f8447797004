"""Forward mode: each statement is followed by the one that computes the tangent of its target.

Form in: the single-assignment form. Form out: generated code that returns `(result, tangent)`. There are no
traces: memory does not grow with the length of loops. Containers and arrays that are changed in place have
tangents that are changed in place in the same way.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import (
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Inert,
    Item,
    Opaque,
    Pop,
    is_append,
    is_pop,
)
from ..trees.nodes import (
    assign,
    assigned_names,
    attribute,
    call,
    constant,
    function,
    is_atom,
    load,
    located,
    names_read,
    param,
    parameters,
    store,
    subscript,
    tuple_of,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import rebuilt
from .bind_captured import bind_captured
from .discarded_calls import may_have_effect
from .forward_regions import forward_loop, forward_try, forward_with
from .forward_rules import TangentEmitter
from .generation import Generation, Task
from .refuse_statements import guards_of, is_item_store, operand_guard, refuse_opaque
from .reverse_calls import callee_owner
from .reverse_stores import is_addition
from .sink_tangents import sink_tangents

__all__ = ["differentiate_forward"]


def differentiate_forward(facts: Facts, task: Task) -> tuple[Program, Generation]:
    """The program `f_jvp(arguments..., tangents...)` that returns the result, its tangent, and `aux`, if any.
    """
    program, wrt = facts.program, task.wrt
    forward = Forward(facts, task)
    tree = program.tree
    tangents = [forward.tangent_name(name) for name in wrt]
    *statements, last = tree.body
    body = [*forward.changed_arguments(tree, wrt), *forward.block(statements)]
    out = last.value
    tangent = forward.result(out)
    args = tree.args
    args = parameters([*args.posonlyargs, *args.args, *args.kwonlyargs, *(param(t) for t in tangents)])
    body = sink_tangents(forward, body, forward.of_numbers, tangent)
    rest = [] if task.aux is None else [task.aux]
    body = [*body, gast.Return(value=tuple_of([out, tangent, *rest]))]
    name = forward.names.fresh(f"{tree.name}_jvp")
    new = function(name, args, body)
    made = program.with_tree(new, names=forward.names, bindings=forward.bindings, origins=forward.origins)
    return made, Generation(frozenset(), frozenset(forward.tangents.values()), forward.kinds)


class Forward(TangentEmitter):
    def changed_arguments(self, tree: Any, wrt: tuple[str, ...]) -> list[Any]:
        """Copies of the tangents of the arguments that the function changes."""
        result = []
        for p in [n.id for n in tree.args.args if n.id in self.active]:
            tangent = self.tangent_name(p)
            if p not in wrt:
                result.append(assign(tangent, self.zero(p)))
            elif self.changes.is_changed(p):
                result.append(assign(tangent, call(self.helper("own_tangent"), load(tangent), load(p))))
        return result

    def result(self, out: Any) -> Any:
        """The tangent of the result; zeros for an inactive one."""
        is_number = self.is_active(out) or self.domain.is_scalar(self.kind(out))
        tangent = self.tangent(out) if is_number else call(self.helper("zeros_like"), out)
        return self.as_returned(tangent, out, self.kind(out))

    def block(self, statements: list[Any]) -> list[Any]:
        return [new for s in statements for new in [*self.guards(s), *self.statement(s)]]

    def guards(self, s: Any) -> list[Any]:
        """The checks before a statement."""
        value = getattr(s, "value", None)
        carries = value is not None and (is_item_store(s) or (not is_atom(value) and self.carries(value)))
        carries = carries and any(n in self.active for n in self.facts.sources(value))
        return [*guards_of(self, s), *(operand_guard(self, s) if carries else [])]

    def statement(self, s: Any) -> list[Any]:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if is_pop(value):
                return self.pop(s, name)
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name not in self.active:
                operation = self.operation(value)
                return self.call(s, operation, name) if may_have_effect(operation, self) else [s]
            case gast.Assign(targets=[gast.Name(id=name)]):
                return self.assignment(s, name)
            case gast.Assign(targets=[gast.Tuple(elts=elts)]):
                targets = [t.id for t in elts]
                if not self.active & set(targets):
                    return [s]
                names = [self.tangent_name(t) if t in self.active else self.names.fresh("_") for t in targets]
                target = tuple_of([store(n) for n in names], gast.Store())
                return self.ordered(s, assign(target, self.tangent(s.value), s))
            case gast.Assign(targets=[gast.Subscript() as target]):
                return self.store(s, target)
            case gast.AugAssign(target=gast.Subscript() as target):
                return self.store(s, target)
            case gast.Expr(value=gast.Call()) if is_addition(self, s):
                base, index, value = s.value.args
                if base.id not in self.active or not self.is_active(value):
                    return [s]
                same = call(s.value.func, self.tangent(base), index, self.tangent(value))
                return [s, located(gast.Expr(value=same), s)]
            case gast.Expr() if is_append(s, self.facts) and s.value.func.value.id in self.active:
                items, (value,) = s.value.func.value, s.value.args
                same = call(attribute(load(self.tangent_name(items.id)), "append"), self.tangent(value))
                return [located(gast.Expr(value=same), s), s]
            case gast.Expr(value=value) if may_have_effect(operation := self.operation(value), self):
                return self.call(s, operation, self.names.temporary("result"))
            case gast.If():
                return [rebuilt(s, body=self.block(s.body) or [gast.Pass()], orelse=self.block(s.orelse))]
            case gast.For():
                return forward_loop(self, s, self.block)
            case gast.FunctionDef(name=name) if name in self.active:
                s, free = bind_captured(self.program, s, self.active, self.names)
                value = self.by_key([(key, load(n)) for key, n in free])
                return [s, assign(self.tangent_name(name), value, s)]
            case gast.With():
                return forward_with(self, s, self.block)
            case gast.Try():
                return forward_try(self, s, self.block)
            case gast.While():
                return [rebuilt(s, body=self.block(s.body))]
            case _:
                return [s]

    def pop(self, s: Any, name: str) -> list[Any]:
        """`v = items.pop()`: pops from the tangent of the list, too."""
        operation = self.operation(s.value)
        if not isinstance(operation, Pop):
            return self.assignment(s, name) if name in self.active else [s]
        if not self.is_active(operation.base):
            return [s, assign(self.tangent_name(name), self.zero(name), s)] if name in self.active else [s]
        same = call(attribute(self.tangent(operation.base), "pop"))
        if name in self.active:
            return [s, assign(self.tangent_name(name), same, s)]
        return [s, located(gast.Expr(value=same), s)]

    def ordered(self, primal: Any, tangent: Any) -> list[Any]:
        """Both statements; the tangent's first if it reads a name that the primal's statement overwrites."""
        overwritten = set(assigned_names(primal))
        return [tangent, primal] if overwritten & set(names_read(tangent)) else [primal, tangent]

    def store(self, s: Any, target: Any) -> list[Any]:
        base = target.value.id
        if base not in self.active:
            return [s]
        place = gast.Subscript(value=load(self.tangent_name(base)), slice=target.slice, ctx=gast.Store())
        value = self.tangent(s.value) if self.is_active(s.value) else self.zero_item(target.value, s.value)
        if isinstance(s, gast.AugAssign):
            if not self.is_active(s.value):
                return [s]
            return [s, located(gast.AugAssign(target=place, op=s.op, value=value), s)]
        return [s, assign(place, value, s)]

    def zero_item(self, base: Any, value: Any) -> Any:
        """The tangent of an inactive item."""
        match self.domain.item_nature(self.kind(base)):
            case "array":
                return constant(0)
            case "container":
                return self.zero_like(value, self.kind(value))
        return call(self.helper("zero_item"), base, value)

    # ------------------------------------------------------------ assignments

    def assignment(self, s: Any, name: str) -> list[Any]:
        operation = self.operation(s.value)
        is_zero = isinstance(operation, Apply) and self.primitives.is_nondifferentiable(operation.function)
        if isinstance(operation, Apply) and is_zero and self.is_shadow_view(operation, name):
            return self.placed(s, name, [], self.viewed(operation, name, None))
        if isinstance(operation, Apply) and operation.function is self.primitives.helper("new_adjoints"):
            return [s, assign(self.tangent_name(name), s.value, s)]  # the tangent is a table of the same kind
        if is_zero or (
            isinstance(operation, (Apply, Call)) and not any(self.is_active(o) for o in operation.operands())
        ):
            return [s, assign(self.tangent_name(name), self.zero(name), s)]
        match operation:
            case Alias(source=source):
                if not self.is_active(source):
                    return [s, assign(self.tangent_name(name), self.zero(name), s)]
                value = self.tangent(source)
                if self.domain.is_scalar(self.kind(load(name))):
                    self.of_numbers.add(self.tangent_name(name))
            case Apply():
                return self.apply(s, operation, name)
            case Call():
                return self.call(s, operation, name)
            case Item(base=base, index=index):
                of = self.of_operand(base.id) if self.is_unknown_part(base) else self.tangent(base)
                if self.domain.may_index_number(self.kind(base), index, self.kind):
                    of = self.array_call("asarray", of)  # a float cannot be indexed
                value = self.unless_none(base, subscript(of, index))
            case Field(base=base, name=field):
                value = self.field_tangent(base, field)
            case Build(items=items, node=gast.Call(func=made), keys=keys, is_named_tuple=True):
                parts = dict(zip(keys, map(self.tangent, items), strict=True))
                count = self.primitives.tuple_length(self.program.resolve(made))
                kinds = enumerate(self.domain.kinds_of_items(self.kind(load(name)), count))
                zeros = {k: self.zero_like(subscript(load(name), constant(k)), kind) for k, kind in kinds}
                value = call(made, *(zeros | parts).values())
            case Build(items=items, node=gast.Call(args=args), keys=keys):
                tangents = [self.tangent(i) for i in items]
                like = self.helper("adjoint_like")
                value = call(like, *args, **dict(zip(keys, tangents, strict=True)))
            case Build(items=items, node=node, keys=keys):
                tangents = [self.in_structure(i) for i in items]
                place = "values" if isinstance(node, gast.Dict) else "elts"
                value = rebuilt(node, **{place: tangents})
            case Opaque() if any(map(self.is_active, operation.items)):
                refuse_opaque(self, s, operation)
            case Inert() | Opaque():
                return [s, assign(self.tangent_name(name), self.zero(name), s)]
        return self.ordered(s, assign(self.tangent_name(name), value, s))

    def in_structure(self, node: Any) -> Any:
        """The tangent of an item of a list, tuple or dict, in the item's structure as it may be unpacked."""
        if self.is_active(node) or not self.domain.is_container(self.kind(node)):
            return self.tangent(node)
        return call(self.helper("zeros_like"), node)

    def is_shadow_view(self, operation: Apply, name: str) -> bool:
        """Whether a name is a view of an object with a shadow; its tangent is the same view of the shadow."""
        return name in self.shadowed and self.primitives.sharing(operation) == "view"

    def by_key(self, parts: list[tuple[Any, Any]]) -> Any:
        """The tangents of atoms as a dict."""
        keys, values = [constant(key) for key, _ in parts], [self.tangent(atom) for _, atom in parts]
        return gast.Dict(keys=keys, values=values)

    def field_tangent(self, base: Any, name: str) -> Any:
        """The tangent of an attribute; a helper checks it at run time where its kind is unknown: it may be a
        function that reads the object.
        """
        held = self.domain.attribute_kind(self.kind(base), name)
        is_known = self.primitives.member(self.kind(base), name) is not None
        if is_known and not self.primitives.is_unknown(held):
            return attribute(self.tangent(base), name)
        return call(self.helper("field_tangent"), self.tangent(base), base, constant(name))

    def call(self, s: Any, operation: Call, out: str) -> list[Any]:
        """A call of a user's function becomes a call of its jvp."""
        node = operation.node
        keys: list[Any] = [*range(len(operation.args)), *(k for k, _ in operation.keywords)]
        atoms = [*operation.args, *(v for _, v in operation.keywords)]
        active = [(k, a) for k, a in zip(keys, atoms, strict=True) if self.is_active(a)]
        link = self.link(operation, [k for k, _ in active], *self.linked_operands(operation), False)
        target = tuple_of([store(out), store(self.tangent_name(out))], gast.Store())
        if operation.function is MISSING:
            tangents = self.by_key(active)
            jvp = call(self.helper("jvp_of"), node.func, self.callee_tangent(operation.callee), tangents)
            value = rebuilt(node, func=jvp)
        else:
            jvp = load(self.bind(f"{link.name}_jvp", link.function))
            value = call(jvp, *self.positional(link, node), *[self.tangent(a) for _, a in active])
        called = assign(target, value, s)
        given = [a for _, a in active]
        if operation.function is MISSING:
            given.append(callee_owner(operation))
        return [called, *self.own_result(s, out, list(filter(self.is_active, given)))]

    def own_result(self, s: Any, out: str, given: list[Any]) -> list[Any]:
        """The statement that makes the tangent of a call's result an alias of those of the operands `given`
        exactly where the result is an alias of these, if one of them is changed in place.
        """
        may_change = not self.domain.is_immutable(self.kind(load(out)))
        if not may_change or not any(map(self.changes.is_changed, [out, *(a.id for a in given)])):
            return []
        tangent = self.tangent_name(out)
        copied = call(self.helper("copy_adjoint"), load(tangent))
        if out in self.shadowed:
            operands = tuple_of(given), tuple_of([self.tangent(a) for a in given])
            shared = call(self.helper("shares_alike"), load(out), load(tangent), *operands)
            copied = gast.IfExp(test=shared, body=load(tangent), orelse=copied)
        return [assign(tangent, copied, s)]

    def callee_tangent(self, callee: Any) -> Any:
        """The tangent of a dynamic callee; of a bound method that of its object."""
        owner = callee.value if isinstance(callee, gast.Attribute) else callee
        if not self.is_active(owner):
            return constant(None)
        if owner is callee or self.domain.is_numeric(self.kind(owner)):
            return self.tangent(owner)
        return call(self.helper("callee_tangent"), self.tangent(owner), owner, constant(callee.attr))

    def positional(self, link: Any, node: Any) -> list[Any]:
        """A call's arguments by position, as a jvp function takes them before the tangents."""
        named = {k.arg: k.value for k in node.keywords}
        rest = link.parameters[len(node.args) :]
        return [*node.args, *(named[p] if p in named else self.default(value, p) for p, value in rest)]
