"""The adjoints of a reverse sweep: which variables have one, under which name, and which are owned.

An adjoint has exactly the shape, dtype and structure of its variable. Outside loops each contribution makes a
new name (`dx_1 = dx + ...`), so that simplification can nest it where it is read. A variable from outside a
loop collects its contributions in an accumulator, one name that the loop adds to, in place for arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ..trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    for_each,
    is_atom,
    load,
    names_read,
    store,
    tuple_of,
)
from .adjoint import (
    Accumulator,
    Adjoint,
    Display,
    Env,
    Held,
    ListOfChoices,
    Mask,
    Masked,
    Ownership,
    Plain,
    Reduced,
    Shadow,
    Spread,
    Uniform,
    is_changed,
    is_same_adjoint,
    masked,
    owned_if,
    part_of,
)
from .derived_kinds import derived_kind
from .indices import adds_in_place, index_value, is_basic, is_choice_of
from .masks import choice, either_holds, kept, mark_elements, marks_of, mask_at, opposite
from .reverse_state import Reverse

__all__ = [
    "accumulate", "accumulate_at", "accumulate_field", "accumulate_item", "atom_for", "captured_part",
    "copied_adjoint", "full_adjoint", "gradient_of", "has_form", "is_own", "join_arms", "own_adjoint",
    "pass_on", "spread_like",
]  # fmt: skip


def kinds_of_adjoints(reverse: Reverse, value: Any) -> dict[str, Any]:
    """The kinds of the adjoints that an expression reads, each that of its variable."""
    read = [n for n in names_read(value) if n in reverse.adjoint_of and n not in reverse.spreading]
    return {n: reverse.facts.kind_of_name(reverse.adjoint_of[n]) for n in read} | reverse.spread_kinds


def atom_for(reverse: Reverse, variable: str, value: Any, code: list[Any]) -> Any:
    """An atom for a value of the variable's adjoint; binds a name unless the value is an atom."""
    if is_atom(value):
        return value
    name = reverse.adjoint_name(variable)
    code.append(assign(name, value))
    return load(name)


def full_adjoint(reverse: Reverse, variable: str, adjoint: Adjoint | None, code: list[Any]) -> Any:
    """An atom for the adjoint in the variable's shape, zero outside its mask; without any the expression of a
    zero.
    """
    if adjoint is None:
        return reverse.zero(variable)
    return atom_for(reverse, variable, filled_adjoint(reverse, variable, adjoint), code)


def filled_adjoint(reverse: Reverse, variable: str, adjoint: Adjoint) -> Any:
    """The adjoint in the variable's shape, zero outside its mask, as an expression."""
    match adjoint:
        case Reduced():
            return filled_adjoint(reverse, variable, adjoint.spread())
        case Uniform(value=value, where=None):
            return spread_like(reverse, variable, value)
        case Uniform(where=tuple() as mask):
            return chosen_from(reverse, variable, mask, adjoint, Uniform(constant(0)))
        case Masked(value=value, where=mask, zeroed=False):
            found = kept(reverse, mask, value, variable)
            return found or chosen_from(reverse, variable, mask, adjoint, Uniform(constant(0)))
    return adjoint.value


def spread_like(reverse: Reverse, variable: str, value: Any) -> Any:
    """An array like that of a variable with all elements equal to a number."""
    is_one = isinstance(value, gast.Constant) and value.value == 1.0
    like = load(variable)
    if is_one:
        return reverse.array_call("ones_like", like)
    if reverse.domain.is_foreign(reverse.facts.kind_of_name(variable)):  # the number is an array itself
        return call(reverse.helper("unreduce"), value, like)
    return reverse.array_call("full_like", like, value)


def chosen_from(reverse: Reverse, variable: str, mask: Mask, a: Adjoint, b: Adjoint) -> Any:
    """The expression for adjoint `a` where a mask holds and adjoint `b` elsewhere."""
    value = a.value
    if isinstance(a, Uniform) and isinstance(b, Uniform) and not has_form(reverse, mask, variable):
        value = spread_like(reverse, variable, value)
    return choice(reverse, mask, value, b.value, variable)


def has_form(reverse: Reverse, mask: Mask, variable: str) -> bool:
    """Whether `np.where` of a mask and numbers surely has the shape and dtype of the variable."""
    kind = reverse.facts.kind_of_name(variable)
    return any(reverse.domain.is_mask_of(reverse.kinds[c.name], kind) for c in mask)


def accumulate(reverse: Reverse, env: Env, variable: str, value: Any, code: list[Any]) -> None:
    """Adds an expression to the adjoint of a variable."""
    pass_on(reverse, env, variable, Plain(value), code)


def pass_on(reverse: Reverse, env: Env, variable: str, new: Adjoint, code: list[Any]) -> None:
    """Adds a new adjoint, whose value may be any expression, to the adjoint of a variable."""
    current = env.get(variable)
    if isinstance(new.value, gast.Constant) and new.value.value is None:
        return
    if current is None:
        env[variable] = first_adjoint(reverse, variable, new, code)
        return
    if isinstance(new, Reduced) and (new.mask is not None or not current.is_plain):
        new = new.spread()
    elif isinstance(current, Reduced) and (current.mask is not None or not new.is_plain):
        current = masked(full_adjoint(reverse, variable, current, code), current.mask, Ownership.OWNED)
    if new.mask is not None or current.mask is not None:
        atom = atom_for(reverse, variable, new.value, code)
        note_spreading(reverse, atom, isinstance(new, Uniform))
        accumulate_masked(reverse, env, variable, current, replace(new, value=atom), code)
    elif isinstance(current, (Accumulator, Shadow)):
        reverse.used.add(variable)
        name = current.value.id
        if isinstance(current, Accumulator) and current.overwritten is not None:
            code.append(mark_elements(reverse, current.overwritten, constant(...), False))
        if reverse.is_any_array(variable):
            code.append(addition(reverse, variable, name, new.value))
        elif isinstance(current, Shadow):
            code.append(addition_to_each(reverse, variable, name, new.value))
        else:
            code.append(assign(name, reverse.plus(load(name), new.value, variable)))
    elif is_changed(current) and reverse.is_any_array(variable):
        code.append(addition(reverse, variable, current.value.id, new.value))
    else:
        name = reverse.adjoint_name(variable)
        code.append(assign(name, reverse.plus(current.value, new.value, variable)))
        env[variable] = total(reverse, load(name), current, new, current.partial and new.partial)


def first_adjoint(reverse: Reverse, variable: str, new: Adjoint, code: list[Any]) -> Adjoint:
    """The adjoint of a variable without any before, held by an atom; the items of a tuple are kept apart,
    since each goes to its own variable.
    """
    value = new.value
    if isinstance(value, gast.Tuple):
        parts = [atom_for(reverse, variable, part, code) for part in value.elts]
        missing = new.missing if isinstance(new, Display) else frozenset[int]()
        return Display(tuple_of(parts), ownership=owned_if(new.is_owned), missing=missing)
    is_object = isinstance(value, (gast.Name, gast.Call))
    ownership = owned_if((new.is_owned and is_object) or reverse.is_fresh(value))
    atom = atom_for(reverse, variable, value, code)
    match new:
        case Spread():
            note_spreading(reverse, atom, True)
            if isinstance(new, Reduced) and isinstance(atom, gast.Name):
                kind = derived_kind(reverse, value, kinds_of_adjoints(reverse, value))
                reverse.spread_kinds[atom.id] = kind
            return replace(new, value=atom)
        case Masked() | ListOfChoices():
            return replace(new, value=atom, ownership=ownership)
    return Plain(atom, ownership=ownership, partial=new.partial)


def total(reverse: Reverse, atom: Any, a: Adjoint, b: Adjoint, partial: bool = False) -> Adjoint:
    """The sum of two adjoints that have one mask, or none, held by an atom."""
    if isinstance(a, Uniform) and isinstance(b, Uniform):
        note_spreading(reverse, atom, True)
        return Uniform(atom, where=a.mask, partial=partial)
    if a.mask is None:
        return Plain(atom, ownership=Ownership.OWNED, partial=partial)
    zeroed = a.is_full and b.is_full
    return Masked(atom, where=a.mask, zeroed=zeroed, ownership=Ownership.OWNED, partial=partial)


def note_spreading(reverse: Reverse, atom: Any, uniform: bool) -> None:
    reverse.spreading |= {atom.id} if uniform and isinstance(atom, gast.Name) else set()


def accumulate_masked(
    reverse: Reverse, env: Env, variable: str, current: Adjoint, new: Adjoint, code: list[Any]
) -> None:
    """Adds two adjoints of a variable, at least one of which has a mask."""
    mask = current.mask
    if mask is not None and mask == new.mask:
        name = atom_for(reverse, variable, reverse.plus(current.value, new.value, variable), code)
        env[variable] = total(reverse, name, current, new)
    elif mask is not None and opposite(mask, new.mask):
        name = atom_for(reverse, variable, chosen_from(reverse, variable, mask[-1:], current, new), code)
        whole, rest = Plain(name, ownership=Ownership.OWNED), mask[:-1]
        env[variable] = Masked(name, where=rest, ownership=Ownership.OWNED) if rest else whole
    elif isinstance(current, (Accumulator, Shadow)) or (is_changed(current) and mask is None):
        accumulate(reverse, env, variable, filled_adjoint(reverse, variable, new), code)
        if isinstance(current, Accumulator):
            env[variable] = replace(current, partial=True)
    else:
        parts = [
            a.value if isinstance(a, Uniform) and a.where is None else filled_adjoint(reverse, variable, a)
            for a in (current, new)
        ]
        name = atom_for(reverse, variable, reverse.plus(parts[0], parts[1], variable), code)
        either = either_holds(reverse, mask, new.mask, code)
        partial = either is None and all(a.partial or a.mask is not None for a in (current, new))
        env[variable] = masked(name, either, Ownership.OWNED, partial)


def accumulate_item(
    reverse: Reverse, env: Env, variable: str, index: Any, value: Any, code: list[Any]
) -> bool:
    """Puts a value into the adjoint of a tuple, as that of the item at a literal index; whether it could
    be: the item was not read after this one.
    """
    kind = reverse.facts.kind_of_name(variable)
    keys = reverse.domain.positions_of(kind)
    key = index.value if isinstance(index, gast.Constant) else None
    current = env.get(variable)
    if key not in keys or reverse.is_shadowed(variable):
        return False
    if current is None:
        current = Display(tuple_of([reverse.zero_item(variable, k) for k in keys]), missing=frozenset(keys))
    if not isinstance(current, Display) or key not in current.missing:
        return False
    parts = [value if k == key else part_of(current.value, constant(k)) for k in keys]
    env.pop(variable, None)
    pass_on(reverse, env, variable, Display(tuple_of(parts), missing=current.missing - {key}), code)
    return True


def accumulate_at(reverse: Reverse, env: Env, variable: str, index: Any, value: Any, code: list[Any]) -> None:
    """Adds `value` to the part of the adjoint of `variable` that `index` selects, in place."""
    before = env.get(variable)
    mask = None if before is None else before.mask
    target = own_adjoint(reverse, env, variable, code)
    own = env[variable]
    if isinstance(own, (Accumulator, Shadow)):
        env[variable] = replace(own, partial=True)
        if isinstance(own, Accumulator) and own.overwritten is not None:
            code.append(mark_elements(reverse, own.overwritten, index, False))
    else:
        partial = before is None or before.partial or mask is not None
        marks = marks_of(mask, reverse.marks)
        if marks is not None:
            code.append(mark_elements(reverse, marks, index, False))
        elif mask is not None or (before is None and picks_elements(reverse, variable, index)):
            selected = mask_at(reverse, target, variable, index, False, code)
            mask = selected if before is None else either_holds(reverse, mask, selected, code)
        env[variable] = masked(own.value, mask, Ownership.CHANGED, partial)
    if adds_in_place(reverse, variable, index):
        code.append(
            gast.AugAssign(
                target=gast.Subscript(value=load(target), slice=index, ctx=gast.Store()),
                op=gast.Add(),
                value=value,
            )
        )
    else:
        code.append(
            assign(target, call(reverse.helper("add_at"), load(target), index_value(reverse, index), value))
        )


def picks_elements(reverse: Reverse, variable: str, index: Any) -> bool:
    """Whether an index picks elements of an array by truth values, so that only these have an adjoint; also
    single elements, where a slope may be infinite.
    """
    if is_choice_of(reverse, variable, index):
        return True
    is_list = reverse.is_any_array(variable) and not is_basic(reverse, index)
    return is_list and variable not in reverse.shadows and reverse.slopes.meet_infinity(variable)


def accumulate_field(
    reverse: Reverse, env: Env, variable: str, name: str, part: Adjoint, held: str, code: list[Any]
) -> None:
    """Adds `part`, the adjoint of an attribute's value `held`, to the adjoint of the object `variable`.
    The parts of an object's adjoint stay apart until something else is added.
    """
    current = env.get(variable)
    like = reverse.helper("adjoint_like")
    value = full_adjoint(reverse, held, part, code)
    parts: dict[str, Any] = {}
    if current is not None:
        if not is_parts(current.value, like.id):
            accumulate(reverse, env, variable, call(like, load(variable), **{name: value}), code)
            return
        parts = {k.arg: k.value for k in current.value.keywords}
    if name in parts:
        total = reverse.adjoint_name(held)
        code.append(assign(total, reverse.plus(parts[name], value, held)))
        value = load(total)
    is_number = reverse.domain.is_scalar(reverse.facts.kind_of_name(held))
    owned = part.is_owned or isinstance(part, Spread) or is_number
    parts[name] = value
    ownership = owned_if(owned and (current is None or current.is_owned))
    env[variable] = Plain(call(like, load(variable), **parts), ownership=ownership)


def own_adjoint(reverse: Reverse, env: Env, variable: str, code: list[Any]) -> str:
    """The name of the variable's adjoint, made owned: by a new zero or a copy where it is not."""
    current = env.get(variable)
    if current is not None and isinstance(current.value, gast.Name) and is_own(reverse, variable, current):
        if isinstance(current, (Accumulator, Shadow)):
            reverse.used.add(variable)
        else:
            env[variable] = Plain(current.value, ownership=Ownership.CHANGED, partial=current.partial)
        return str(current.value.id)
    name = reverse.adjoint_name(variable)
    value = reverse.zero(variable) if current is None else copied_adjoint(reverse, current, variable)
    code.append(assign(name, value))
    env[variable] = Plain(load(name), ownership=Ownership.CHANGED)
    return name


def copied_adjoint(reverse: Reverse, adjoint: Adjoint, variable: str) -> Any:
    """A copy of an adjoint that has aliases."""
    value = adjoint.value
    if not adjoint.is_full:
        return filled_adjoint(reverse, variable, adjoint)
    kind = reverse.facts.kind_of_name(variable)
    if reverse.domain.is_scalar(kind):
        return value
    if reverse.may_have_no_axes(variable):
        return reverse.array_call("array", value)
    is_numpy = not reverse.domain.is_foreign(kind)
    if reverse.domain.is_array(kind) and is_numpy and isinstance(value, gast.Name):
        is_known = not reverse.has_calls  # an array also when this is differentiated again
        return call(attribute(value, "copy")) if is_known else reverse.array_call("copy", value)
    return call(reverse.helper("copy_adjoint"), value)


def addition(reverse: Reverse, variable: str, name: str, value: Any) -> Any:
    """The in-place addition to an adjoint, which stays an array even if it has no axes."""
    target: Any = store(name)
    if reverse.may_have_no_axes(variable):
        target = gast.Subscript(value=load(name), slice=constant(...), ctx=gast.Store())
    return gast.AugAssign(target=target, op=gast.Add(), value=value)


def addition_to_each(reverse: Reverse, variable: str, name: str, value: Any) -> Any:
    """The in-place addition to each array in the adjoint of a list."""
    kind = reverse.facts.kind_of_name(variable)
    element = reverse.domain.element_kind(kind)
    is_plain = reverse.domain.is_array(element) and reverse.domain.is_differentiable(element)
    if reverse.domain.may_have_no_axes(element) or not (is_plain and reverse.domain.is_list(kind)):
        return gast.Expr(value=call(reverse.helper("add_into"), load(name), value))
    part, more = reverse.names.fresh("part"), reverse.names.fresh("more")
    pairs = call(reverse.bind("zip", zip), load(name), value)
    body = [gast.AugAssign(target=store(part), op=gast.Add(), value=load(more))]
    target = gast.Tuple(elts=[store(part), store(more)], ctx=gast.Store())
    return for_each(target, pairs, body)


def is_own(reverse: Reverse, variable: str, adjoint: Adjoint) -> bool:
    """Whether an adjoint may be changed in place. The adjoint of an array without axes may be a NumPy
    number until it is copied.
    """
    if not isinstance(adjoint, Held):
        return isinstance(adjoint, (Accumulator, Shadow))
    made = is_changed(adjoint) or not reverse.may_have_no_axes(variable)
    return adjoint.is_owned and adjoint.is_full and made


def zero_or_none(reverse: Reverse, variable: str) -> Any:
    """The zero adjoint of a variable that may be unbound; None if it is."""
    if reverse.domain.is_real_scalar(reverse.facts.kind_of_name(variable)):
        return constant(0.0)
    reverse.may_be_unbound[variable] = None
    return call(reverse.helper("zeros_like"), load(variable))


def captured_part(reverse: Reverse, adjoint: Any, key: str, free: str) -> Any:
    """The item of a function's adjoint for a captured variable; a helper reads it where the adjoint may
    be None.
    """
    if isinstance(adjoint, gast.Name) and adjoint.id in reverse.function_adjoints:
        return part_of(adjoint, constant(key))
    return call(reverse.helper("captured_part"), adjoint, constant(key), load(free))


def gradient_of(reverse: Reverse, env: Env, name: str, code: list[Any]) -> Any:
    """The gradient with respect to a parameter, without aliases."""
    adjoint = env.get(name)
    if adjoint is None:
        return reverse.zero(name)
    if name in reverse.shadows.by_memory:
        code.append(reverse.shadows.lookup(name, reverse.shadows.given.get(name)))
    if adjoint.mask is not None and not adjoint.is_full:
        return full_adjoint(reverse, name, adjoint, code)
    if adjoint.is_owned or reverse.domain.is_scalar(reverse.facts.kind_of_name(name)):
        return adjoint.value
    return copied_adjoint(reverse, adjoint, name)


def join_arms(
    reverse: Reverse,
    env: Env,
    arms: list[tuple[Env, list[Any]]],
    is_known: Callable[[str], bool],
    mask_of_arms: Callable[[str, list[Adjoint | None]], Mask | None] = lambda variable, found: None,
) -> None:
    """Gives the adjoints that differ between the arms of a branch one name, assigned at the end of each
    arm; `env` becomes the adjoints before the branch. `is_known` tells whether a variable is bound on
    every path; `mask_of_arms(variable, adjoints)` is the mask of one that only some arms have an adjoint
    of.
    """
    variables = dict.fromkeys([v for arm, _ in arms for v in arm])
    env.clear()
    for variable in variables:
        found = [arm.get(variable) for arm, _ in arms]
        first = found[0]
        if first is not None and all(f is not None and is_same_adjoint(f, first) for f in found):
            joined = replace(first, partial=any(f is not None and f.partial for f in found))
            if isinstance(joined, Held):
                ownership = min(f.ownership for f in found if isinstance(f, Held))
                joined = replace(joined, ownership=ownership)
            env[variable] = joined
            continue
        mask = mask_of_arms(variable, found) if is_known(variable) else None
        name = reverse.adjoint_name(variable)
        for (_, code), adjoint in zip(arms, found, strict=True):
            value = full_adjoint(reverse, variable, adjoint, code)
            if adjoint is None and not is_known(variable) and variable in names_read(value):
                # The variable may be unbound on this path: nothing reads its adjoint then.
                value = zero_or_none(reverse, variable)
            code.append(assign(name, value))
        ownership = owned_if(all(f is None or f.is_owned for f in found))
        partial = any(f is not None and f.partial for f in found)
        env[variable] = masked(load(name), mask, ownership, partial)


def is_parts(value: Any, like: str) -> bool:
    """Whether an adjoint is that of an object, `adjoint_like(x, name=...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id == like
