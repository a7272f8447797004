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
    attribute,
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
from .adjoints import (
    accumulate,
    accumulate_at,
    accumulate_field,
    accumulate_item,
    atom_for,
    captured_part,
    full_adjoint,
    join_arms,
    pass_on,
)
from .bind_captured import bind_captured, is_function_tangent
from .indices import adds_in_place, is_whole
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
    reverse_addition,
    reverse_append,
    reverse_pop,
    reverse_store,
)

__all__ = ["reverse_block"]


def reverse_block(reverse: Reverse, statements: list[Any], env: Env) -> Sweep:
    """Both sweeps of a block; `env` holds the adjoints after it and is changed to those before it."""
    forward: list[list[Any]] = []
    backward: list[Any] = []
    reverse.open.append(backward)
    reverse.conditions.append({})
    available, reverse.shadows.available = reverse.shadows.available, set(reverse.shadows.available)
    reverse.origin = None
    for statement in reversed(statements):
        env.update(reverse.shadows.lasting)
        reverse.shared_adjoints.begins(statement)
        ahead, back = reverse_statement(reverse, statement, env)
        reverse.shared_adjoints.ends(statement)
        checks = operand_guard(reverse, statement) if back else []
        ahead = [*guards_of(reverse, statement), *checks, *ahead]
        if not blocks_of(statement):
            kept, back = reverse.shadows.with_lookups(statement, back)
            made_here = bool(kept) and bool(set(names_read(kept)) & set(assigned_names(statement)))
            ahead = [*ahead, *kept] if made_here else [*kept, *ahead]
            back = reverse.shapes.redirect(statement, back)
            ahead, back = snapshots(reverse, statement, ahead, back)
        forward.append(ahead)
        if back:
            comment(reverse, statement, backward)
            backward.extend(placed(back, statement))
            note_conditions(reverse, back)
    reverse.origin = None
    reverse.read_by_open.pop(id(reverse.open.pop()), None)
    reverse.conditions.pop()
    reverse.shadows.available = available
    return [s for part in reversed(forward) for s in part], backward


def snapshots(reverse: Reverse, statement: Any, ahead: list[Any], back: list[Any]) -> Sweep:
    """Copies, where the statement stands, each value that its reverse reads and that may be overwritten
    before then.
    """
    if reverse.changes.functions_overwritten(statement, back, reverse.object_of):
        reverse.program.refuse(
            statement,
            "a function that the reverse sweep calls again and whose captures are changed later",
            "the derivative of the call needs the old value",
            "pass the variable as an argument, or change a copy",
        )
    overwritten = reverse.changes.overwritten(statement, back, reverse.object_of)
    if not overwritten:
        return ahead, back
    kept = {name: reverse.names.temporary(name) for name in overwritten}
    copies = {name: assign(copy, copy_of_value(reverse, name), statement) for name, copy in kept.items()}
    read = {name: load(copy) for name, copy in kept.items()}
    back = [b if reverse.shadows.is_lookup(b) else substitute(b, read) for b in back]
    # The reverse reads the values after a statement's own changes.
    late = set(kept) if reverse.changes.is_change(statement) else set(assigned_names(statement))
    before = [copy for name, copy in copies.items() if name not in late]
    after = [copy for name, copy in copies.items() if name in late]
    if before and is_exact(reverse, statement):  # the statement itself may read the copies, too
        ahead = [substitute(a, {n: load(c) for n, c in kept.items() if n not in late}) for a in ahead]
    return [*before, *ahead, *after], back


def is_exact(reverse: Reverse, statement: Any) -> bool:
    """Whether a statement does arithmetic on vectors, whose last bit does not depend on the memory
    layout. That of sums and products of matrices may.
    """
    match statement:
        case gast.Assign(
            targets=[gast.Name(id=name)],
            value=gast.BinOp(op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div())
            | gast.UnaryOp(op=gast.USub()),
        ):
            kind = reverse.facts.kind_of_name(name)
            return reverse.domain.is_float(kind) and reverse.domain.rank(kind) == 1
    return False


def copy_of_value(reverse: Reverse, name: str) -> Any:
    """An expression for a copy of the value of a name."""
    if reverse.domain.is_array(reverse.kind(load(name))):
        return call(attribute(load(name), "copy"))
    return call(reverse.helper("copy_adjoint"), load(name))


def comment(reverse: Reverse, statement: Any, code: list[Any]) -> None:
    """Adds the comment with the user's statement that the following code differentiates, once."""
    origin = (getattr(statement, "lineno", None), getattr(statement, "col_offset", None))
    if origin == reverse.origin or blocks_of(statement):
        return
    reverse.origin = origin
    text = reverse.program.source_line(statement)
    if text:
        code.append(located(Comment(text), statement))


def reverse_statement(reverse: Reverse, s: Any, env: Env) -> Sweep:
    match s:
        case gast.Assign(targets=[gast.Name(id=name)]):
            if is_pop(s.value) and isinstance(reverse.operation(s.value), Pop):
                return reverse_pop(reverse, s, name, env)
            return reverse_assignment(reverse, s, name, env)
        case gast.Assign(targets=[gast.Tuple()]):
            return reverse_unpacking(reverse, s, env)
        case gast.Assign(targets=[gast.Subscript()]) | gast.AugAssign(target=gast.Subscript()):
            return reverse_store(reverse, s, env)
        case gast.Expr(value=gast.Call()) if is_addition(reverse, s):
            return reverse_addition(reverse, s, env)
        case gast.Expr() if is_append(s, reverse.facts):
            return reverse_append(reverse, s, env)
        case gast.Expr(value=gast.Call()):
            return discarded_call(reverse, s, reverse.names.temporary("result")), []
        case gast.If():
            return reverse_branch(reverse, s, env)
        case gast.For():
            return reverse_for(reverse, s, env, reverse_block)
        case gast.While():
            return reverse_while(reverse, s, env, reverse_block)
        case gast.With():
            return reverse_with(reverse, s, env, reverse_block)
        case gast.Try():
            return reverse_try(reverse, s, env, reverse_block)
        case gast.FunctionDef(name=name):
            return reverse_definition(reverse, s, name, env)
        case _:
            return [s], []


def reverse_assignment(reverse: Reverse, s: Any, name: str, env: Env) -> Sweep:
    adjoint = env.pop(name, None)
    noted = reverse.shadows.view_flag(s, name)
    if adjoint is None:
        return [*discarded_call(reverse, s, name), *noted], []
    if adjoint.shadow and not reverse.shadows.makes_object(s, name):
        return [s, *noted], []
    found, adjoint = reverse.shadows.last_lookup(name, adjoint)
    if not noted:
        ahead, back = passed_on(reverse, s, name, adjoint, env)
        return ahead, [*found, *back]
    ahead, back = passed_on(reverse, s, name, replace(adjoint, shadow=False), env)
    back = [*found, *back]
    copied = gast.UnaryOp(op=gast.Not(), operand=load(reverse.shadows.is_view_of[name]))
    return [*ahead, *noted], [gast.If(test=copied, body=back, orelse=[])] if back else []


def passed_on(reverse: Reverse, s: Any, name: str, adjoint: Adjoint, env: Env) -> Sweep:
    """The reverse of a statement that makes an object: its adjoint goes on to the operands."""
    operation = reverse.operation(s.value)
    back: list[Any] = []
    match operation:
        case Alias(source=source):
            if reverse.is_active(source):
                pass_on(reverse, env, source.id, adjoint, back)
        case Apply():
            return reverse_apply(reverse, s, operation, name, adjoint, env)
        case Call():
            return reverse_call(reverse, s, operation, name, adjoint, env)
        case Item(base=base, index=index) if (
            base.id not in reverse.shadows and is_whole(index, reverse.domain.rank(reverse.kind(base)))
        ):
            pass_on(reverse, env, base.id, adjoint, back)
        case Item(base=base, index=index) if (
            base.id not in reverse.shadows and (whole := squeezing(reverse.facts, base, index)) is not None
        ):
            mask = of_view(reverse, base.id, adjoint, lambda test: part_of(test, whole), back)
            value = part_of(full_adjoint(reverse, name, adjoint, back), whole)
            if base.id not in env:
                value = atom_for(reverse, base.id, value, back)
            zeroed = mask is not None
            new = Adjoint(value, owned=adjoint.owned, mask=mask, zeroed=zeroed)
            pass_on(reverse, env, base.id, new, back)
        case Item(base=base) if reverse.domain.is_scalar(reverse.kind(base)):  # of NumPy: `x[()]`, `x[None]`
            value = full_adjoint(reverse, name, adjoint, back)
            plan = reverse.domain.unbroadcast_plan(reverse.kind(base), reverse.kind(load(name)))
            if plan != "none":
                value = reverse.summed_by(plan, value) or call(reverse.helper("unbroadcast"), value, base)
            accumulate(reverse, env, base.id, value, back)
        case Item(base=base, index=index):
            spreads = adjoint.uniform and adjoint.mask is None and adds_in_place(reverse, base.id, index)
            value = adjoint.value if spreads else full_adjoint(reverse, name, adjoint, back)
            if spreads or not accumulate_item(reverse, env, base.id, index, value, back):
                accumulate_at(reverse, env, base.id, index, value, back)
        case Field(base=base, name=field):
            accumulate_field(reverse, env, base.id, field, adjoint, name, back)
        case Build(items=items, keys=keys, node=gast.Call()):
            for item, key in zip(items, keys, strict=True):
                if reverse.is_active(item):
                    part = part_of if isinstance(key, int) else field_of
                    name = constant(key) if isinstance(key, int) else key
                    accumulate(reverse, env, item.id, part(adjoint.value, name), back)
        case Build(items=items, keys=keys):
            for k, item in enumerate(items):
                if k in adjoint.missing or not reverse.is_active(item):
                    continue
                if not (item.id in reverse.shadows and name in reverse.shadows):
                    part = (
                        captured_part(reverse, adjoint.value, keys[k].value, item.id)
                        if is_function_tangent(keys)
                        else part_of(adjoint.value, keys[k] if keys else constant(k))
                    )
                    if isinstance(operation.node, gast.List) and is_made_complex(reverse, item, items):
                        part = call(reverse.helper("unbroadcast"), part, item)
                    mask = mask_of_item(reverse, adjoint.masks, k, item.id, back)
                    new = Adjoint(part, mask=mask, zeroed=mask is not None)
                    pass_on(reverse, env, item.id, new, back)
        case Opaque() if any(map(reverse.is_active, operation.items)):
            refuse_opaque(reverse, s, operation)
        case Inert() | Opaque():
            pass
    return [s], back


def is_made_complex(reverse: Reverse, item: Any, items: tuple[Any, ...]) -> bool:
    """Whether a real item of a list is beside a complex one: where lists have one type of items, the
    adjoint of each is complex.
    """
    if not reverse.domain.is_real(reverse.kind(item)):
        return False
    domain = reverse.domain
    numbers = [k for k in map(reverse.kind, items) if domain.is_numeric(k) or domain.is_array(k)]
    return not all(map(domain.is_real, numbers))


def reverse_definition(reverse: Reverse, s: Any, name: str, env: Env) -> Sweep:
    """A nested function used as a value: its adjoint holds those of its captured variables, by name."""
    adjoint = env.pop(name, None)
    back: list[Any] = []
    if adjoint is not None:
        s, captured = bind_captured(reverse.program, s, reverse.active, reverse.names)
        for key, free in captured:
            accumulate(reverse, env, free, captured_part(reverse, adjoint.value, key, free), back)
    return [s], back


def reverse_unpacking(reverse: Reverse, s: Any, env: Env) -> Sweep:
    targets = [t.id for t in s.targets[0].elts]
    found = [env.pop(t, None) for t in targets]
    found = [None if a is not None and a.shadow else a for a in found]
    back: list[Any] = []
    if not any(found):
        return [s], back
    parts = [full_adjoint(reverse, t, a, back) for t, a in zip(targets, found, strict=True)]
    kind = reverse.facts.kind_of_name(s.value.id)
    owned = all(
        a is None or a.owned or reverse.domain.is_scalar(reverse.facts.kind_of_name(t))
        for t, a in zip(targets, found, strict=True)
    )
    if reverse.domain.is_tuple(kind):
        missing = frozenset(k for k, a in enumerate(found) if a is None)
        pass_on(reverse, env, s.value.id, Adjoint(tuple_of(parts), owned=owned, missing=missing), back)
    else:
        is_vector = reverse.domain.is_vector_of_floats(kind)
        value = gast.List(elts=parts, ctx=gast.Load())
        if is_vector:
            value = reverse.array_call("array", value)
        elif not reverse.domain.is_list(kind):
            value = call(reverse.helper("pack_like"), load(s.value.id), *parts)
        elif s.value.id not in env and all(map(reverse.has_adjoint, targets)):
            value = atom_for(reverse, s.value.id, value, back)
            reverse.complete.add(value.id)
        is_new = is_vector or (owned and isinstance(value, (gast.List, gast.Name)))
        new = Adjoint(value, owned=is_new, partial=not all(found))
        pass_on(reverse, env, s.value.id, new, back)
    return [s], back


def reverse_branch(reverse: Reverse, s: Any, env: Env) -> Sweep:
    if len(s.body) == 1 and isinstance(s.body[0], gast.Break):
        return [s], []
    test, ahead = s.test, []
    if may_say_otherwise(reverse, test) or reverse.changes.may_be_overwritten(s, test):
        test = load(reverse.names.temporary(test.id))
        ahead = [assign(test.id, call(reverse.bind("bool", bool), s.test), s)]
    arms = [dict(env), dict(env)]
    sweeps = [reverse_block(reverse, block, arm) for block, arm in zip((s.body, s.orelse), arms, strict=True)]
    for name in assigned_names(s):
        for arm in arms:
            arm.pop(name, None)
    is_known = reverse.assigned_before.at(s)
    forward = [*ahead, located(gast.If(test=test, body=sweeps[0][0], orelse=sweeps[1][0]), s)]
    went_on = [k for k, block in enumerate((s.body, s.orelse)) if not ends_in_raise(block)]
    if len(went_on) == 1:  # no statement raised if the reverse sweep runs
        env.clear()
        env.update(arms[went_on[0]])
        return forward, sweeps[went_on[0]][1]
    ends = [back for _, back in sweeps]
    masks = partial(mask_of_arms, reverse, test, ends)
    join_arms(reverse, env, list(zip(arms, ends, strict=True)), is_known, masks)
    if not sweeps[0][1] and not sweeps[1][1]:
        return forward, []
    return forward, [gast.If(test=test, body=sweeps[0][1] or [gast.Pass()], orelse=sweeps[1][1])]


def mask_of_arms(
    reverse: Reverse, test: Any, ends: list[list[Any]], variable: str, found: list[Adjoint | None]
) -> Mask | None:
    """The mask of a variable that only one arm of a branch has an adjoint of, where that matters. Arms of
    nested branches set a flag for it.
    """
    if all(a is not None and a.mask is None for a in found) or not is_masked_by_branch(reverse, variable):
        return None
    plain = [a is not None and a.mask is None for a in found]
    if any(plain) and None in found and isinstance(test, gast.Name):
        return (Condition(test.id, inverted=plain[1]),)
    flag = reverse.names.temporary("chosen")
    reverse.kinds[flag] = reverse.domain.BOOL
    for code, adjoint in zip(ends, found, strict=True):
        mask = None if adjoint is None else adjoint.mask
        code.append(assign(flag, constant(adjoint is not None) if mask is None else truth(reverse, mask)))
    return (Condition(flag),)


def is_masked_by_branch(reverse: Reverse, variable: str) -> bool:
    kind = reverse.facts.kind_of_name(variable)
    is_array = reverse.domain.is_array(kind) and reverse.domain.is_float(kind)
    is_number = is_array or reverse.domain.is_real_scalar(kind)
    return is_number and variable not in reverse.shadows and reverse.slopes.meet_infinity(variable)


def may_say_otherwise(reverse: Reverse, test: Any) -> bool:
    """Whether a test may be an object, whose truth may change."""
    kind = reverse.kind(test)
    is_unknown = reverse.primitives.is_unknown(kind) and isinstance(test, gast.Name)
    return reverse.primitives.is_object(kind) or (
        is_unknown and not isinstance(reverse.computed_by(test.id), Apply)
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
