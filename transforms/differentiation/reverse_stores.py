"""Reverse mode of stores, `append` and `pop`.

The adjoint of an array or list that is changed in place is one object, which is changed in place, too.
A variable that is changed has no alias without a shadow (`find_shadowed`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from ..trees.nodes import assign, attribute, call, constant, load, names_read, same, subscript
from .adjoint import Accumulator, Env, Ownership, Plain, Shadow, Sweep, is_changed, masked, owned_if
from .adjoints import accumulate, copied_adjoint, full_adjoint, own_adjoint, pass_on
from .indices import index_value, is_basic, is_choice_of, is_number_of, is_whole
from .masks import both_hold, mark_elements, marks_of, mask_at
from .reverse_state import Reverse
from .rule_application import Emitter

__all__ = ["is_addition", "reverse_addition", "reverse_append", "reverse_pop", "reverse_store"]


def reverse_store(reverse: Reverse, s: Any, env: Env) -> Sweep:
    """`a[i] = v`: the adjoint of v is `da[i]`, which then is set to zero. `a[i] += v` does not set it."""
    target = s.target if isinstance(s, gast.AugAssign) else s.targets[0]
    base = target.value.id
    if reverse.shadows.is_container(base):
        return [s], []
    if base not in env and not is_reshaped(reverse, s, base):
        return [s], []
    if replaces(reverse, s, env):
        return reverse_replacement(reverse, s, env)
    back: list[Any] = []
    before = env.get(base)
    partial = before is None or before.partial or before.mask is not None
    name = own_adjoint(reverse, env, base, back)
    place = subscript(load(name), target.slice)
    value: Any = None
    owned = False
    if reverse.is_active(s.value):
        sign = isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Sub)
        value = taken(reverse, base, name, target.slice, s.value)
        owned = reverse.is_fresh(value) and not sign
        match value:
            case gast.Call(func=gast.Attribute(value=part, attr="copy"), args=[]) if (
                grows_apart(reverse, env, base, s.value.id)
            ):
                accumulate(reverse, env, s.value.id, negative(part) if sign else part, back)
                value = None
            case _:
                read = reverse.taken_name(s.value.id)
                back.append(assign(read, value))
                value = negative(load(read)) if sign else load(read)
    ahead = [s]
    if isinstance(s, gast.Assign):
        place.ctx = gast.Store()
        back.append(assign(place, zero_item(reverse, s, ahead)))
        mask = None if before is None else before.mask
        own = env[base]
        if isinstance(own, (Accumulator, Shadow)):
            env[base] = replace(own, partial=True)
            marks = own.overwritten if isinstance(own, Accumulator) else None
        elif (marks := marks_of(mask, reverse.marks)) is not None:
            env[base] = masked(own.value, mask, Ownership.CHANGED, partial=True)
        elif is_masked_by(reverse, base, target.slice):
            mask = both_hold(mask, mask_at(reverse, name, base, target.slice, True, back))
            env[base] = masked(own.value, mask, Ownership.CHANGED, partial=True)
        else:
            env[base] = Plain(own.value, ownership=Ownership.CHANGED, partial=True)
        if marks is not None:
            back.append(mark_elements(reverse, marks, target.slice, True))
    if value is not None:  # after `da[i]` is zero: the value may be the array itself
        pass_on(reverse, env, s.value.id, Plain(value, ownership=owned_if(owned), partial=partial), back)
    return ahead, back


def is_masked_by(reverse: Reverse, base: str, index: Any) -> bool:
    """Whether a store's elements are tracked by a mask: the index is an array of truth values, or the adjoint
    of the array reaches an infinite slope.
    """
    if base in reverse.shadows:
        return False
    is_steep = reverse.is_any_array(base) and reverse.slopes.meet_infinity(base)
    return is_steep or is_choice_of(reverse, base, index)


def grows_apart(reverse: Reverse, env: Env, base: str, variable: str) -> bool:
    """Whether additions to the adjoint of a variable go into an array of its own, not an alias of the adjoint
    of `base`.
    """
    adjoint = env.get(variable)
    return (
        adjoint is not None
        and (isinstance(adjoint, Accumulator) or is_changed(adjoint))
        and adjoint.mask is None
        and variable != base
        and variable not in reverse.shadows
        and base not in reverse.shadows
        and reverse.domain.is_array(reverse.facts.kind_of_name(variable))
    )


def negative(value: Any) -> Any:
    return gast.UnaryOp(op=gast.USub(), operand=value)


def replaces(reverse: Reverse, s: Any, env: Env) -> bool:
    """Whether a store overwrites all of an array whose adjoint has no alias and is no accumulator."""
    if not isinstance(s, gast.Assign):
        return False
    base = s.targets[0].value
    adjoint = env.get(base.id)
    return (
        adjoint is not None
        and not isinstance(adjoint, Accumulator)
        and base.id not in reverse.shadows
        and is_whole(s.targets[0].slice, reverse.domain.rank(reverse.kind(base)))
    )


def reverse_replacement(reverse: Reverse, s: Any, env: Env) -> Sweep:
    """`a[...] = v`: the adjoint of a becomes that of v; before the store a has none."""
    base = s.targets[0].value
    adjoint = env.pop(base.id)
    back: list[Any] = []
    if not reverse.is_active(s.value):
        return [s], back
    plan = reverse.domain.unbroadcast_plan(reverse.kind(s.value), reverse.kind(base))
    if plan == "none":
        pass_on(reverse, env, s.value.id, adjoint, back)
        return [s], back
    whole = full_adjoint(reverse, base.id, adjoint, back)
    value = reverse.summed_by(plan, whole) or call(reverse.helper("conform"), whole, s.value)
    pass_on(reverse, env, s.value.id, Plain(value, ownership=owned_if(adjoint.is_owned)), back)
    return [s], back


def is_addition(emitter: Emitter, s: Any) -> bool:
    """Whether a statement is `add_at(a, i, v)`, which adds once for each time that an element is in the
    index.
    """
    return isinstance(s.value.func, gast.Name) and emitter.primitives.is_in_place(
        emitter.program.resolve(s.value.func)
    )


def reverse_addition(reverse: Reverse, s: Any, env: Env) -> Sweep:
    """`add_at(a, i, v)`: the adjoint of v is `da[i]`."""
    base, index, value = s.value.args
    if not reverse.is_active(value) or (base.id not in env and not is_reshaped(reverse, s, base.id)):
        return [s], []
    back: list[Any] = []
    name = own_adjoint(reverse, env, base.id, back)
    read = reverse.taken_name(value.id)
    back.append(assign(read, call(reverse.helper("take_at"), load(name), index, value)))
    accumulate(reverse, env, value.id, load(read), back)
    return [s], back


def is_reshaped(reverse: Reverse, s: Any, name: str) -> bool:
    """Whether the adjoint is needed only because a change alters the shape that an earlier read saw."""
    shaped = reverse.domain.is_numeric(reverse.facts.kind_of_name(name))
    return name in reverse.active and not shaped and reverse.changes.is_read_before(name, s)


def zero_item(reverse: Reverse, s: Any, ahead: list[Any]) -> Any:
    """The adjoint of the overwritten item, zero; the forward sweep keeps that item if its form is dynamic."""
    base, index = s.targets[0].value, s.targets[0].slice
    if reverse.domain.item_nature(reverse.kind(base)) == "array":
        return constant(0)
    if not isinstance(index, gast.Slice) and reverse.domain.holds_floats(reverse.kind(base)):
        return constant(0.0)
    old = reverse.names.temporary(base.id)
    ahead.insert(0, assign(old, call(reverse.helper("held_at"), base, index_value(reverse, index)), s))
    return call(reverse.helper("zeros_like"), load(old))


def taken(reverse: Reverse, base: str, adjoint: str, index: Any, value: Any) -> Any:
    """The selected part of an array's adjoint as the adjoint of the stored value."""
    kind = reverse.facts.kind_of_name(base)
    item = subscript(load(adjoint), index)
    whole = is_whole(index, reverse.domain.rank(kind))
    if whole:
        item = load(adjoint)
    place = reverse.domain.item_kind(kind, index, reverse.kind)
    if reverse.domain.is_scalar(reverse.kind(value)) and reverse.domain.is_scalar_item(
        kind, index, reverse.kind
    ):
        is_cast = reverse.domain.unbroadcast_plan(reverse.kind(value), place) != "none"
        return call(reverse.helper("conform"), item, value) if is_cast else item
    if is_number_of(reverse, kind, index) and reverse.domain.is_real_scalar(reverse.kind(value)):
        return item
    if not is_basic(reverse, index):
        return call(reverse.helper("take_stored"), load(adjoint), index_value(reverse, index), value)
    if reverse.domain.is_array(place):
        plan = reverse.domain.unbroadcast_plan(reverse.kind(value), place)
        copied = call(attribute(item, "copy"))
        if plan == "none" or has_shape_of(reverse, value, base, index):
            return copied
        found = reverse.summed_by(plan, item)
        if found is not None:
            return found
        if reverse.domain.is_array(reverse.kind(value)):
            return call(reverse.helper("unbroadcast"), copied, value)
    return call(reverse.helper("take_at"), load(adjoint), index_value(reverse, index), value)


def has_shape_of(reverse: Reverse, value: Any, base: str, index: Any) -> bool:
    """Whether a value surely has the shape and dtype of a part of an array: it was computed, element by
    element, from that part.
    """
    if not isinstance(value, gast.Name) or not reverse.share_dtype(value.id, base):
        return False
    read = reverse.definitions.value(reverse.first_alike(value.id))
    match read:
        case gast.Subscript(value=gast.Name(id=name), slice=part) if name == base and same(part, index):
            return all(reverse.times_bound[n] == 1 for n in [base, *names_read(index)])
    return False


def reverse_append(reverse: Reverse, s: Any, env: Env) -> Sweep:
    """`items.append(v)`: the adjoint of v is popped from the adjoint of items."""
    items, (value,) = s.value.func.value.id, s.value.args
    if reverse.shadows.is_container(items):
        return [s], []
    if items not in env and not is_reshaped(reverse, s, items):
        return [s], []
    back: list[Any] = []
    partial = items not in env or env[items].partial
    popped = call(attribute(load(own_adjoint(reverse, env, items, back)), "pop"))
    if reverse.is_active(value):
        name = reverse.adjoint_name(value.id)
        back.append(assign(name, popped))
        pass_on(reverse, env, value.id, Plain(load(name), partial=partial), back)
    else:
        back.append(gast.Expr(value=popped))
    return [s], back


def reverse_pop(reverse: Reverse, s: Any, name: str, env: Env) -> Sweep:
    """`v = items.pop()`: the adjoint of v is appended to the adjoint of items."""
    items = s.value.func.value.id
    adjoint = env.pop(name, None)
    if items not in reverse.active or reverse.shadows.is_container(items) or (
        adjoint is None and items not in env and not is_reshaped(reverse, s, items)
    ):
        return [s], []
    back: list[Any] = []
    own = own_adjoint(reverse, env, items, back)
    if adjoint is None:
        value = reverse.zero(name)
    else:
        whole = Plain(full_adjoint(reverse, name, adjoint, back), ownership=owned_if(adjoint.is_owned))
        value = whole.value if whole.is_owned else copied_adjoint(reverse, whole, name)
    back.append(gast.Expr(value=call(attribute(load(own), "append"), value)))
    return [s], back
