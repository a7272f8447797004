"""The walk over the single-assignment form that writes both sweeps of reverse mode.

Blocks are walked from the last statement to the first. Each statement gives its forward statements and its
reverse statements; the latter are empty unless its target has an adjoint.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gast

from ..analyses.liveness import ends_in_raise
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
    Comment,
    assign,
    assigned_names,
    blocks_of,
    call,
    constant,
    load,
    located,
    names_read,
    tuple_of,
)
from ..trees.rebuild import call_at, rebuilt, substitute
from .adjoint import Adjoint, Condition, Env, Mask, Sweep, field_of, part_of
from .bind_captured import bind_captured, is_function_tangent
from .length_one_axes import squeezing
from .masks import mask_of_item, note_conditions, of_view, truth
from .refuse_statements import guards_of, operand_guard, refuse_opaque
from .reverse_calls import discarded_call, reverse_call
from .reverse_loops import reverse_for, reverse_while
from .reverse_regions import reverse_try, reverse_with
from .reverse_rules import reverse_apply
from .reverse_state import Reverse
from .reverse_stores import (
    is_addition,
    is_whole,
    reverse_addition,
    reverse_append,
    reverse_pop,
    reverse_store,
)

__all__ = ["ReverseWalk"]

class ReverseWalk(Reverse):
    """One differentiation in reverse mode."""

    def block(self, statements: list[Any], env: Env) -> Sweep:
        """Both sweeps of a block; `env` holds the adjoints after it and is changed to those before it."""
        forward: list[list[Any]] = []
        backward: list[Any] = []
        self.open.append(backward)
        self.conditions.append({})
        available, self.shadows.available = self.shadows.available, set(self.shadows.available)
        self.origin = None
        for statement in reversed(statements):
            env.update(self.shadows.lasting)
            self.shared_adjoints.begins(statement)
            ahead, back = self.statement(statement, env)
            self.shared_adjoints.ends(statement)
            checks = operand_guard(self, statement) if back else []
            ahead = [*guards_of(self, statement), *checks, *ahead]
            if not blocks_of(statement):
                kept, back = self.shadows.with_lookups(statement, back)
                made_here = bool(kept) and bool(set(names_read(kept)) & set(assigned_names(statement)))
                ahead = [*ahead, *kept] if made_here else [*kept, *ahead]
                back = self.shapes.redirect(statement, back)
                ahead, back = self.snapshots(statement, ahead, back)
            forward.append(ahead)
            if back:
                self.comment(statement, backward)
                backward.extend(placed(back, statement))
                note_conditions(self, back)
        self.origin = None
        self.read_by_open.pop(id(self.open.pop()), None)
        self.conditions.pop()
        self.shadows.available = available
        return [s for part in reversed(forward) for s in part], backward

    def snapshots(self, statement: Any, ahead: list[Any], back: list[Any]) -> Sweep:
        """Copies, where the statement stands, each value that its reverse reads and that may be overwritten
        before then.
        """
        if self.changes.functions_overwritten(statement, back, self.object_of):
            self.program.refuse(
                statement,
                "a function that the reverse sweep calls again and whose captures are changed later",
                "the derivative of the call needs the old value",
                "pass the variable as an argument, or change a copy",
            )
        overwritten = self.changes.overwritten(statement, back, self.object_of)
        if not overwritten:
            return ahead, back
        kept = {name: self.names.temporary(name) for name in overwritten}
        copies = {name: assign(copy, self.copy_of(name), statement) for name, copy in kept.items()}
        read = {name: load(copy) for name, copy in kept.items()}
        back = [b if self.shadows.is_lookup(b) else substitute(b, read) for b in back]
        # The reverse reads the values after a statement's own changes.
        late = set(kept) if self.changes.is_change(statement) else set(assigned_names(statement))
        before = [copy for name, copy in copies.items() if name not in late]
        after = [copy for name, copy in copies.items() if name in late]
        if before and self.is_exact(statement):  # the statement itself may read the copies, too
            ahead = [substitute(a, {n: load(c) for n, c in kept.items() if n not in late}) for a in ahead]
        return [*before, *ahead, *after], back

    def is_exact(self, statement: Any) -> bool:
        """Whether a statement does arithmetic on vectors, whose last bit does not depend on the memory
        layout. That of sums and products of matrices may.
        """
        match statement:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div())
                | gast.UnaryOp(op=gast.USub()),
            ):
                kind = self.facts.kind_of_name(name)
                return self.domain.is_float(kind) and self.domain.rank(kind) == 1
        return False

    def comment(self, statement: Any, code: list[Any]) -> None:
        """Adds the comment with the user's statement that the following code differentiates, once."""
        origin = (getattr(statement, "lineno", None), getattr(statement, "col_offset", None))
        if origin == self.origin or blocks_of(statement):
            return
        self.origin = origin
        text = self.program.source_line(statement)
        if text:
            code.append(located(Comment(text), statement))

    def statement(self, s: Any, env: Env) -> Sweep:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]):
                if is_pop(s.value) and isinstance(self.operation(s.value), Pop):
                    return reverse_pop(self, s, name, env)
                return self.assignment(s, name, env)
            case gast.Assign(targets=[gast.Tuple()]):
                return self.unpacking(s, env)
            case gast.Assign(targets=[gast.Subscript()]) | gast.AugAssign(target=gast.Subscript()):
                return reverse_store(self, s, env)
            case gast.Expr(value=gast.Call()) if is_addition(self, s):
                return reverse_addition(self, s, env)
            case gast.Expr() if is_append(s, self.facts):
                return reverse_append(self, s, env)
            case gast.Expr(value=gast.Call()):
                return discarded_call(self, s, self.names.temporary("result")), []
            case gast.If():
                return self.branch(s, env)
            case gast.For():
                return reverse_for(self, s, env)
            case gast.While():
                return reverse_while(self, s, env)
            case gast.With():
                return reverse_with(self, s, env)
            case gast.Try():
                return reverse_try(self, s, env)
            case gast.FunctionDef(name=name):
                return self.definition(s, name, env)
            case _:
                return [s], []

    def assignment(self, s: Any, name: str, env: Env) -> Sweep:
        adjoint = env.pop(name, None)
        noted = self.shadows.view_flag(s, name)
        if adjoint is None:
            return [*discarded_call(self, s, name), *noted], []
        if adjoint.shadow and not self.shadows.makes_object(s, name):
            return [s, *noted], []
        found, adjoint = self.shadows.last_lookup(name, adjoint)
        if not noted:
            ahead, back = self.passed_on(s, name, adjoint, env)
            return ahead, [*found, *back]
        ahead, back = self.passed_on(s, name, replace(adjoint, shadow=False), env)
        back = [*found, *back]
        copied = gast.UnaryOp(op=gast.Not(), operand=load(self.shadows.is_view_of[name]))
        return [*ahead, *noted], [gast.If(test=copied, body=back, orelse=[])] if back else []

    def passed_on(self, s: Any, name: str, adjoint: Adjoint, env: Env) -> Sweep:
        """The reverse of a statement that makes an object: its adjoint goes on to the operands."""
        operation = self.operation(s.value)
        back: list[Any] = []
        match operation:
            case Alias(source=source):
                if self.is_active(source):
                    self.pass_on(env, source.id, adjoint, back)
            case Apply():
                return reverse_apply(self, s, operation, name, adjoint, env)
            case Call():
                return reverse_call(self, s, operation, name, adjoint, env)
            case Item(base=base, index=index) if (
                base.id not in self.shadows and is_whole(index, self.domain.rank(self.kind(base)))
            ):
                self.pass_on(env, base.id, adjoint, back)
            case Item(base=base, index=index) if (
                base.id not in self.shadows and (whole := squeezing(self.facts, base, index)) is not None
            ):
                mask = of_view(self, base.id, adjoint, lambda test: part_of(test, whole), back)
                value = part_of(self.full(name, adjoint, back), whole)
                if base.id not in env:
                    value = self.named(base.id, value, back)
                zeroed = mask is not None
                new = Adjoint(value, owned=adjoint.owned, mask=mask, zeroed=zeroed)
                self.pass_on(env, base.id, new, back)
            case Item(base=base) if self.domain.is_scalar(self.kind(base)):  # of NumPy: `x[()]`, `x[None]`
                value = self.full(name, adjoint, back)
                plan = self.domain.unbroadcast_plan(self.kind(base), self.kind(load(name)))
                if plan != "none":
                    value = self.summed_by(plan, value) or call(self.helper("unbroadcast"), value, base)
                self.accumulate(env, base.id, value, back)
            case Item(base=base, index=index):
                spreads = adjoint.uniform and adjoint.mask is None and self.adds_in_place(base.id, index)
                value = adjoint.value if spreads else self.full(name, adjoint, back)
                if spreads or not self.accumulate_item(env, base.id, index, value, back):
                    self.accumulate_at(env, base.id, index, value, back)
            case Field(base=base, name=field):
                self.accumulate_field(env, base.id, field, adjoint, name, back)
            case Build(items=items, keys=keys, node=gast.Call()):
                for item, key in zip(items, keys, strict=True):
                    if self.is_active(item):
                        part = part_of if isinstance(key, int) else field_of
                        name = constant(key) if isinstance(key, int) else key
                        self.accumulate(env, item.id, part(adjoint.value, name), back)
            case Build(items=items, keys=keys):
                for k, item in enumerate(items):
                    if k in adjoint.missing or not self.is_active(item):
                        continue
                    if not (item.id in self.shadows and name in self.shadows):
                        part = (
                            self.captured_part(adjoint.value, keys[k].value, item.id)
                            if is_function_tangent(keys)
                            else part_of(adjoint.value, keys[k] if keys else constant(k))
                        )
                        if isinstance(operation.node, gast.List) and self.is_made_complex(item, items):
                            part = call(self.helper("unbroadcast"), part, item)
                        mask = mask_of_item(self, adjoint.masks, k, item.id, back)
                        new = Adjoint(part, mask=mask, zeroed=mask is not None)
                        self.pass_on(env, item.id, new, back)
            case Opaque() if any(map(self.is_active, operation.items)):
                refuse_opaque(self, s, operation)
            case Inert() | Opaque():
                pass
        return [s], back

    def is_made_complex(self, item: Any, items: tuple[Any, ...]) -> bool:
        """Whether a real item of a list is beside a complex one: where lists have one type of items, the
        adjoint of each is complex.
        """
        if not self.domain.is_real(self.kind(item)):
            return False
        numbers = [k for k in map(self.kind, items) if self.domain.is_numeric(k) or self.domain.is_array(k)]
        return not all(map(self.domain.is_real, numbers))

    def definition(self, s: Any, name: str, env: Env) -> Sweep:
        """A nested function used as a value: its adjoint holds those of its captured variables, by name."""
        adjoint = env.pop(name, None)
        back: list[Any] = []
        if adjoint is not None:
            s, captured = bind_captured(self.program, s, self.active, self.names)
            for key, free in captured:
                self.accumulate(env, free, self.captured_part(adjoint.value, key, free), back)
        return [s], back

    def unpacking(self, s: Any, env: Env) -> Sweep:
        targets = [t.id for t in s.targets[0].elts]
        found = [env.pop(t, None) for t in targets]
        found = [None if a is not None and a.shadow else a for a in found]
        back: list[Any] = []
        if not any(found):
            return [s], back
        parts = [
            self.zero(t) if a is None else self.full(t, a, back) for t, a in zip(targets, found, strict=True)
        ]
        kind = self.facts.kind_of_name(s.value.id)
        owned = all(
            a is None or a.owned or self.domain.is_scalar(self.facts.kind_of_name(t))
            for t, a in zip(targets, found, strict=True)
        )
        if self.domain.is_tuple(kind):
            missing = frozenset(k for k, a in enumerate(found) if a is None)
            self.pass_on(env, s.value.id, Adjoint(tuple_of(parts), owned=owned, missing=missing), back)
        else:
            is_vector = self.domain.is_vector_of_floats(kind)
            value = gast.List(elts=parts, ctx=gast.Load())
            if is_vector:
                value = self.array_call("array", value)
            elif not self.domain.is_list(kind):
                value = call(self.helper("pack_like"), load(s.value.id), *parts)
            elif s.value.id not in env and all(map(self.has_adjoint, targets)):
                value = self.named(s.value.id, value, back)
                self.complete.add(value.id)
            is_new = is_vector or (owned and isinstance(value, (gast.List, gast.Name)))
            new = Adjoint(value, owned=is_new, partial=not all(found))
            self.pass_on(env, s.value.id, new, back)
        return [s], back

    def branch(self, s: Any, env: Env) -> Sweep:
        if len(s.body) == 1 and isinstance(s.body[0], gast.Break):
            return [s], []
        test, ahead = s.test, []
        if self.may_say_otherwise(test) or self.changes.may_be_overwritten(s, test):
            test = load(self.names.temporary(test.id))
            ahead = [assign(test.id, call(self.bind("bool", bool), s.test), s)]
        arms = [dict(env), dict(env)]
        sweeps = [self.block(block, arm) for block, arm in zip((s.body, s.orelse), arms, strict=True)]
        for name in assigned_names(s):
            for arm in arms:
                arm.pop(name, None)
        is_known = self.assigned_before.at(s)
        forward = [*ahead, located(gast.If(test=test, body=sweeps[0][0], orelse=sweeps[1][0]), s)]
        went_on = [k for k, block in enumerate((s.body, s.orelse)) if not ends_in_raise(block)]
        if len(went_on) == 1:  # no statement raised if the reverse sweep runs
            env.clear()
            env.update(arms[went_on[0]])
            return forward, sweeps[went_on[0]][1]
        ends = [back for _, back in sweeps]
        masks = partial(self.mask_of_arms, test, ends)
        self.joined(env, list(zip(arms, ends, strict=True)), is_known, masks)
        if not sweeps[0][1] and not sweeps[1][1]:
            return forward, []
        return forward, [gast.If(test=test, body=sweeps[0][1] or [gast.Pass()], orelse=sweeps[1][1])]

    def mask_of_arms(
        self, test: Any, ends: list[list[Any]], variable: str, found: list[Adjoint | None]
    ) -> Mask | None:
        """The mask of a variable that only one arm of a branch has an adjoint of, where that matters. Arms of
        nested branches set a flag for it.
        """
        if all(a is not None and a.mask is None for a in found) or not self.is_masked_by_branch(variable):
            return None
        plain = [a is not None and a.mask is None for a in found]
        if any(plain) and None in found and isinstance(test, gast.Name):
            return (Condition(test.id, inverted=plain[1]),)
        flag = self.names.temporary("chosen")
        self.kinds[flag] = self.domain.BOOL
        for code, adjoint in zip(ends, found, strict=True):
            mask = None if adjoint is None else adjoint.mask
            code.append(assign(flag, constant(adjoint is not None) if mask is None else truth(self, mask)))
        return (Condition(flag),)

    def is_masked_by_branch(self, variable: str) -> bool:
        kind = self.facts.kind_of_name(variable)
        is_array = self.domain.is_array(kind) and self.domain.is_float(kind)
        is_number = is_array or self.domain.is_real_scalar(kind)
        return is_number and variable not in self.shadows and self.slopes.meet_infinity(variable)

    def picks(self, variable: str, index: Any) -> bool:
        """As above; also single elements, where a slope may be infinite."""
        if super().picks(variable, index):
            return True
        is_list = self.is_any_array(variable) and not self.is_basic(index)
        return is_list and variable not in self.shadows and self.slopes.meet_infinity(variable)

    def may_say_otherwise(self, test: Any) -> bool:
        """Whether a test may be an object, whose truth may change."""
        kind = self.kind(test)
        is_unknown = self.primitives.is_unknown(kind) and isinstance(test, gast.Name)
        return self.primitives.is_object(kind) or (
            is_unknown and not isinstance(self.computed_by(test.id), Apply)
        )

def placed(back: list[Any], statement: Any) -> list[Any]:
    """The reverse of a statement, standing where its expression does."""
    if blocks_of(statement):
        return back
    value = getattr(statement, "value", None)
    like = value if hasattr(value, "lineno") else statement
    return [b if hasattr(b, "lineno") else placed_at(b, like) for b in back]


def placed_at(s: Any, like: Any) -> Any:
    """A statement, and the call that it may be, standing where `like` is."""
    value = getattr(s, "value", None)
    return located(rebuilt(s) if value is None else rebuilt(s, value=call_at(value, like)), like)
