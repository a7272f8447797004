"""Reverse mode of a function with a rule: its contributions to the adjoints of its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from ..analyses.operations import Apply
from ..analyses.primitive_table import Rule
from ..trees.nodes import (
    assign,
    assigned_names,
    blocks_of,
    call,
    constant,
    is_atom,
    load,
    loads,
    located,
    names_read,
    same,
    tuple_of,
)
from ..trees.rebuild import map_children
from ..trees.signs import without_sign
from .adjoint import (
    Adjoint,
    Env,
    Held,
    ListOfChoices,
    Masked,
    Ownership,
    Plain,
    Reduced,
    Spread,
    Sweep,
    Uniform,
    masked,
)
from .adjoints import accumulate, atom_for, full_adjoint, has_form, pass_on, spread_like
from .choices import chosen, of_numbers, part_at, scalar_choices, summed
from .concatenation import item, joined
from .contract_adjoints import fitted, sum_of_product
from .derived_kinds import conformed, derived_kinds
from .generation import Slot
from .masks import (
    both_hold,
    choice,
    chosen_each,
    guarded,
    guarded_statement,
    kept,
    mask_of,
    moved,
    operand_mask,
    picked,
)
from .reverse_state import Reverse

__all__ = ["reverse_apply"]


def reverse_apply(reverse: Reverse, s: Any, operation: Apply, out: str, adjoint: Adjoint, env: Env) -> Sweep:
    """The reverse of a function with a rule: its template, with `unbroadcast` where an elementwise operand
    may have been broadcast.
    """
    if reverse.primitives.is_nondifferentiable(operation.function) or not any(
        reverse.is_active(o) for o in operation.operands()
    ):
        return [s], []
    rule = reverse.rule(operation)
    note_check(reverse, s, operation, rule, out)
    back: list[Any] = []
    if rule.uniform is not None and reverse.is_reduced(out):
        operand = operation.args[0]
        kind = reverse.kind(operand)
        is_number = rule.scaling == "sum" and reverse.domain.is_real_scalar(kind)
        if reverse.is_active(operand) and (is_number or reverse.domain.is_array(kind)):
            bound, _ = reverse.arguments(operation, rule.uniform, rule)
            dout = full_adjoint(reverse, out, adjoint, back)
            statements, results = reverse.inline_at(rule.uniform, bound, out, dout, 0)
            back += statements
            pass_on(reverse, env, operand.id, Plain(results[0]) if is_number else Uniform(results[0]), back)
            return [s], back
    for special in (spread_along_axes, reverse_join, reverse_fit):
        found = special(reverse, operation, rule, out, adjoint, env)
        if found is not None:
            return [s], found
    given = adjoint
    is_elementwise = reverse.is_elementwise(operation, rule)
    if is_elementwise or not (adjoint.is_plain or isinstance(adjoint, Reduced)):
        found = contributions(reverse, operation, rule, out, adjoint, back)
        if not is_elementwise and any(not same(p.value, adjoint.value) for _, p in found or ()):
            back, found = [], None
    if found is None:
        mask = moved(reverse, operation, rule, out, adjoint, back)
        adjoint = spread_out(reverse, rule, out, adjoint, back)
        found = contributions(reverse, operation, rule, out, adjoint, back)
        if mask is not None:
            found = [(name, masked(part.value, mask)) for name, part in found or []]
    partial = given.partial or reverse.primitives.selects(operation.function)
    found = merge_equal_terms(reverse, rule, [(name, replace(p, partial=partial)) for name, p in found or ()])
    found = [(name, replace(part, value=reverse.computed.reused(part.value, out))) for name, part in found]
    back = [reverse.computed.reused(s, out) for s in back]
    unchanged = [(name, part) for name, part in found if same(part.value, given.value)]
    receivers = {name for name, _ in unchanged}
    rest = [part.value for name, part in found if name not in receivers]
    if len(found) == 1 and same(reverse.seen_in(found[0][1].value), given.value):
        unchanged = found  # reshaped
    for name, part in found:
        is_all = given.is_owned and given.is_plain and unchanged == [(name, part)]
        if is_all and isinstance(part, Held):
            part = replace(part, ownership=Ownership.OWNED)
        pass_on(reverse, env, name, part, back)
    if given.is_plain and all(map(reverse.is_fresh, rest)):
        reverse.shared_adjoints.pass_on(env, out, given, receivers)
    return [s], back


def note_check(reverse: Reverse, s: Any, operation: Apply, rule: Rule, out: str) -> None:
    """Notes the checks of shapes that replace an operation on arrays whose result nothing reads: its reverse
    may read one array in the place of another.
    """
    kind, domain = reverse.kind, reverse.domain
    named = [reverse.first_alike(o.id) for o in operation.operands() if domain.is_array(kind(o))]
    arrays = [load(name) for name in dict.fromkeys(named)]
    contracted = rule.structure == "bilinear" and domain.is_scalar(kind(load(out)))
    contracted = contracted and all(domain.rank(kind(a)) == 1 for a in arrays)
    if rule.structure != "elementwise" and not contracted:
        return
    longest, *others = sorted(arrays, key=lambda a: -(domain.rank(kind(a)) or 0)) or [None]
    for other in others:
        if domain.may_misfit([kind(longest), kind(other)], contracted):
            check = call(reverse.helper("check_shapes"), longest, other)
            reverse.checks.setdefault(out, []).append(located(gast.Expr(value=located(check, s.value)), s))


def reverse_join(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, env: Env
) -> list[Any] | None:
    """The reverse of a function that joins the items of a list: each gets its slice of the cotangent, and the
    list has no adjoint. None of any other.
    """
    join = joined(reverse, operation, rule, out)
    if join is None or adjoint.mask is not None:
        return None
    back: list[Any] = []
    dout = adjoint.value if isinstance(adjoint, Uniform) else full_adjoint(reverse, out, adjoint, back)
    for leaf, index in join.shares():
        if not reverse.is_active(leaf):
            continue
        if isinstance(adjoint, Uniform) and join.rank(leaf) != 0:
            pass_on(reverse, env, leaf.id, adjoint, back)
        else:
            value = dout if isinstance(adjoint, Uniform) else item(dout, index)
            accumulate(reverse, env, leaf.id, value, back)
    return back


def spread_along_axes(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, env: Env
) -> list[Any] | None:
    """The reverse of a reduction over axes, whose operand's adjoint broadcasting may spread later; None of
    others.
    """
    if rule.spread is None or not operation.args:
        return None
    operand = operation.args[0]
    if [o for o in operation.operands() if reverse.is_active(o)] != [operand]:
        return None
    kinds = [reverse.kind(operand), reverse.facts.kind_of_name(out)]
    if not (all(map(reverse.domain.is_array, kinds)) and reverse.domain.share_real_dtype(kinds)):
        return None
    if not {name for name, _ in operation.keywords} <= set(rule.spread.parameters):
        return None
    back: list[Any] = []
    dout = full_adjoint(reverse, out, adjoint, back)
    results = []
    for template in (rule.spread, reverse.template_for(operation, rule, out)):
        bound, _ = reverse.arguments(operation, template, rule)
        statements, found = reverse.inline_at(template, bound, out, dout, 0)
        if any(map(blocks_of, statements)):
            return None  # the axis is dynamic
        back += statements
        results.append(found[0])
    pass_on(reverse, env, operand.id, Reduced(results[0], whole=results[1]), back)
    return back


def reverse_fit(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, env: Env
) -> list[Any] | None:
    """The reverse of `stored_in(value, x)`, which raises unless `value` has the shape of the array `x`, where
    both have one dtype: all three have one shape. None of others.
    """
    if operation.function is not reverse.primitives.helper("stored_in") or not adjoint.is_plain:
        return None
    value, x = operation.args
    kinds = [reverse.kind(value), reverse.kind(x)]
    if not (all(map(reverse.domain.is_array, kinds)) and reverse.domain.share_real_dtype(kinds)):
        return None
    reverse.same_shape.update(frozenset((value.id, other)) for other in (x.id, out))
    back: list[Any] = []
    if reverse.is_active(value):
        pass_on(reverse, env, value.id, adjoint, back)
    return back


def merge_equal_terms(
    reverse: Reverse, rule: Rule, found: list[tuple[str, Adjoint]]
) -> list[tuple[str, Adjoint]]:
    """The two equal contributions of `x * x` as one, multiplied by two; contributions to lists stay apart."""
    match found:
        case [(x, a), (y, b)] if x == y and a == replace(b, value=a.value) and same(a.value, b.value):
            kind = reverse.facts.kind_of_name(x)
            is_numeric = rule.structure == "elementwise" or reverse.domain.is_numeric(kind)
            if is_numeric and not is_atom(a.value):
                return [(x, replace(a, value=twice(a.value)))]
    return found


def twice(value: Any) -> Any:
    """`2.0 * x` for `1.0 * x`, `x * 2` for others."""
    match value:
        case gast.BinOp(left=gast.Constant(value=float() as factor), op=gast.Mult(), right=right):
            return gast.BinOp(left=constant(2 * factor), op=gast.Mult(), right=right)
    return gast.BinOp(left=value, op=gast.Mult(), right=constant(2))


def spread_out(reverse: Reverse, rule: Rule, out: str, adjoint: Adjoint, back: list[Any]) -> Adjoint:
    """The adjoint of a result in the result's shape; an elementwise rule keeps the mask apart."""
    if rule.structure != "elementwise":
        return Plain(full_adjoint(reverse, out, adjoint, back))
    whole = adjoint.whole if isinstance(adjoint, Reduced) else spread_like(reverse, out, adjoint.value)
    value = atom_for(reverse, out, whole, back)
    return Reduced(None, whole=value, where=adjoint.mask, partial=adjoint.partial).spread()


def contributions(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, back: list[Any]
) -> list[tuple[str, Adjoint]] | None:
    """The contributions of a rule to the adjoints of its active operands, as expressions; None when a uniform
    adjoint must be spread first.
    """
    template = reverse.template_for(operation, rule, out)
    bound, slots = reverse.arguments(operation, template, rule)
    wanted = sorted({slot.gradient for slot in slots})
    base = "d" + out
    parts = tuple_of([constant(k) for k in dict.fromkeys(s.part for s in slots) if k is not None])
    arguments = {**bound, "out": load(out), "dout": adjoint.value, "WANTED": parts}
    statements, results = reverse.inline(template, arguments, wanted, base)
    if getattr(adjoint.value, "id", None) in reverse.complete:
        results = {key: unfilled(reverse, value) for key, value in results.items()}
    is_elementwise = reverse.is_elementwise(operation, rule)
    if is_elementwise and isinstance(adjoint, Masked) and not adjoint.zeroed and (
        is_chosen_twice(reverse, operation, out, adjoint, slots, results)
    ):
        once = full_adjoint(reverse, out, adjoint, back)
        return contributions(reverse, operation, rule, out, replace(adjoint, value=once, zeroed=True), back)
    loses_zeros = is_elementwise and may_lose_zeros(reverse, out, adjoint)
    only_numbers = reverse.is_of_numbers(operation)
    shared: dict[int, Any] = {}
    found: list[tuple[str, Adjoint]] = []
    code = list(statements)
    known = {} if is_elementwise else derived_kinds(reverse, code, kinds_of_adjoint(reverse, out, adjoint))
    for slot in slots:
        if slot.gradient not in results:
            continue
        value = results[slot.gradient]
        if slot.part is not None:
            if slot.gradient not in shared:
                shared[slot.gradient] = shared_part(reverse, value, base, code)
            value = part_at(reverse, shared[slot.gradient], slot.part)
        if is_unbroadcast(reverse, value, adjoint.value, slot.name):
            value, is_broadcast = adjoint.value, True
        else:
            is_broadcast = is_elementwise
            value = value if is_elementwise else conformed(reverse, value, slot.name, known)
            value = direct(value, code, list(results.values()))
        mask = None if is_elementwise else picked(reverse, rule, bound, slot.name, out, code)
        if loses_zeros and chosen(reverse, value) is None and not is_multiple(value, adjoint.value):
            value = call(reverse.helper("zero_kept"), adjoint.value, value)
        part, is_sum = with_mask(reverse, value, adjoint, code)
        part = part if mask is None else masked(part.value, mask)
        plan = "guard" if is_sum else "none"
        if is_broadcast and not is_sum:
            plan = reverse.shape_plan(operation, load(slot.name), out, is_elementwise)
            if plan == "none" and is_elementwise:
                reverse.same_shape.add(frozenset((slot.name, out)))
        if only_numbers:
            part = replace(part, value=scalar_choices(reverse, part.value))
            if isinstance(part, Masked) and not part.zeroed:
                value = guarded(reverse, part.where, part.value)
                part = replace(part, value=value, zeroed=value is not part.value)
        if isinstance(adjoint, Reduced) and plan == "none" and same(part.value, adjoint.value):
            part = Reduced(part.value, whole=adjoint.whole, where=part.mask)
        elif isinstance(adjoint, Spread) and not has_shape(reverse, operation, part.value, out):
            if isinstance(adjoint, Reduced):
                fit = None if statements else fitted(reverse, operation, part, slot)
                if fit is None:
                    return None
                found.append((slot.name, fit))
                continue
            formed = plan in ("none", "sum") if part.mask is None else has_form(reverse, part.mask, out)
            formed = formed or plan == "none"
            if statements or arrays_read(reverse, part.value) or not formed:
                return None
            part = Uniform(part.value, where=part.mask)
        if plan != "none":
            shaped = {out} if isinstance(adjoint, Spread) else {out, *names_read(adjoint.value)}
            part = unbroadcasted(reverse, operation, slot.name, out, part, plan, code, shaped)
        found.append((slot.name, part))
    if only_numbers:
        code = [guarded_statement(reverse, adjoint.mask, of_numbers(reverse, s)) for s in code]
    back += code
    return found


def unfilled(reverse: Reverse, value: Any) -> Any:
    """The expression without the filling of missing items, where it reads the adjoint of a complete list."""
    match value:
        case gast.Call(func=func, args=[gast.Name(id=name) as adjoint, _]) if (
            name in reverse.complete and reverse.is_helper(func, "filled")
        ):
            return adjoint
    return map_children(value, lambda child: unfilled(reverse, child))


def direct(value: Any, code: list[Any], results: list[Any]) -> Any:
    """The value of the last statement, which is removed, where a gradient is the name of its target alone."""
    match code, value:
        case [*before, gast.Assign(targets=[gast.Name(id=name)], value=assigned)], gast.Name(id=wanted) if (
            name == wanted and [n for tree in [*results, *before] for n in loads(tree)].count(name) == 1
        ):
            code.pop()
            return assigned
    return value


def kinds_of_adjoint(reverse: Reverse, out: str, adjoint: Adjoint) -> dict[str, Any]:
    """The kind of the name of a result's adjoint, which is that of the result."""
    is_named = isinstance(adjoint.value, gast.Name) and adjoint.is_plain
    return {adjoint.value.id: reverse.kind(load(out))} if is_named else {}


def is_chosen_twice(
    reverse: Reverse, operation: Apply, out: str, adjoint: Adjoint, slots: list[Slot], results: dict[int, Any]
) -> bool:
    """Whether zeros would be put into the adjoint of the result for an operand that is summed, and again for
    another operand.
    """
    if len(slots) < 2:
        return False
    return any(
        slot.part is None
        and slot.gradient in results
        and is_multiple(results[slot.gradient], adjoint.value)
        and reverse.shape_plan(operation, load(slot.name), out) != "none"
        for slot in slots
    )


def shared_part(reverse: Reverse, value: Any, base: str, code: list[Any]) -> Any:
    """The gradients of a template's variadic parameter, with a name for what each of them reads."""
    match value:
        case gast.Tuple():
            return value
        case gast.Call(func=func, args=[tests, part, rest]) if reverse.is_helper(func, "where_each"):
            return call(func, tests, shared_part(reverse, part, base, code), rest)
    if is_atom(value):
        return value
    name = reverse.names.temporary(base)
    code.append(assign(name, value))
    return load(name)


def may_lose_zeros(reverse: Reverse, name: str, adjoint: Adjoint) -> bool:
    """Whether the partial adjoint of an array, the result of an elementwise operation, meets an infinite
    slope there, or further on: zero times infinity is NaN. Single numbers are not looked at: it would cost
    several times what an element's derivative costs.
    """
    kind = reverse.facts.kind_of_name(name)
    is_array = reverse.domain.is_array(kind) and not reverse.domain.is_foreign(kind)
    is_zeroed = isinstance(adjoint, Masked) and adjoint.zeroed
    return adjoint.partial and not is_zeroed and is_array and reverse.slopes.meet_infinity(name)


def with_mask(reverse: Reverse, value: Any, adjoint: Adjoint, code: list[Any]) -> tuple[Adjoint, bool]:
    """The gradient with its own mask and that of the result's adjoint, and whether it is still to be
    summed.
    """
    masks, value = chosen_each(reverse, value, code)
    written = definition_of(value, code)
    inner = summed(reverse, written)
    choice = chosen(reverse, written if inner is None else inner)
    if choice is None:
        if adjoint.mask is not None:
            zeroed = adjoint.is_full and is_multiple(value, adjoint.value)
            return Masked(value, where=adjoint.mask, zeroed=zeroed), False
        return Plain(value) if masks is None else ListOfChoices(value, masks=masks), False
    condition, inverted, part = choice
    mask = both_hold(adjoint.mask, mask_of(reverse, condition, inverted, code))
    return Masked(part, where=mask), inner is not None


def definition_of(value: Any, statements: list[Any]) -> Any:
    """The value of a template's local variable; other expressions unchanged."""
    if not isinstance(value, gast.Name):
        return value
    match [s for s in statements if value.id in assigned_names(s)]:
        case [gast.Assign(targets=[gast.Name()], value=assigned)]:
            return assigned
    return value


def is_multiple(value: Any, dout: Any) -> bool:
    """Whether an expression is a cotangent times a literal number, which keeps zeros."""
    match value:
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div(), right=gast.Constant()):
            return is_multiple(left, dout)
        case gast.UnaryOp(op=gast.USub() | gast.UAdd(), operand=operand):
            return is_multiple(operand, dout)
    return same(value, dout)


def has_shape(reverse: Reverse, operation: Apply, value: Any, out: str) -> bool:
    """Whether an elementwise expression surely has the shape of the result `out`: it reads `out`, or an
    operand of that shape.
    """
    read = set(names_read(value))
    return out in read or any(
        o.id in read
        and reverse.domain.is_array(reverse.kind(o))
        and (
            reverse.shape_plan(operation, o, out) == "none"
            or reverse.lends_shape(operation, o, out, as_floats=True)
        )
        for o in operation.operands()
        if isinstance(o, gast.Name)
    )


def arrays_read(reverse: Reverse, value: Any) -> bool:
    """Whether an expression reads anything but numbers and functions."""
    return any(
        n in reverse.kinds and not reverse.domain.is_scalar(reverse.kinds[n]) for n in names_read(value)
    )


def is_unbroadcast(reverse: Reverse, value: Any, adjoint: Any, operand: str) -> bool:
    """Whether an expression is `unbroadcast(dout, operand)`."""
    match value:
        case gast.Call(func=func, args=[first, gast.Name(id=second)]):
            return reverse.is_helper(func, "unbroadcast") and second == operand and same(first, adjoint)
    return False


def unbroadcasted(
    reverse: Reverse,
    operation: Apply,
    operand: str,
    out: str,
    part: Adjoint,
    plan: Any,
    code: list[Any],
    shaped: set[str],
) -> Adjoint:
    """The cotangent of an elementwise operand, summed over the axes along which it was broadcast; `shaped`
    are names of arrays in the shape of the result.
    """
    value, mask = part.value, part.mask
    if mask is not None:
        if not part.is_full:
            value = kept(reverse, mask, value, out) or choice(reverse, mask, value, constant(0))
        is_sum = plan == "sum"
        are_kept = reverse.slopes.keep_zeros(operand)
        mask = None if are_kept else operand_mask(reverse, mask, operand, is_sum, code)
    elif isinstance(part, Uniform) and plan == "sum":
        size = gast.Attribute(value=load(out), attr="size", ctx=gast.Load())
        return Plain(gast.BinOp(left=value, op=gast.Mult(), right=size))

    def summed(value: Any) -> Any:
        found = sum_of_product(reverse, operation, out, value, plan)
        found = found or reverse.summed_by(plan, without_one(reverse, value))
        return call(reverse.helper("unbroadcast"), value, load(operand)) if found is None else found

    alike = reverse.domain.share_real_dtype([reverse.kind(load(n)) for n in (operand, out)])
    total = factored(summed, value, operand if alike else "", shaped)
    return masked(total, mask)


def factored(summed: Callable[[Any], Any], value: Any, operand: str, shaped: set[str]) -> Any:
    """`summed(value)`, with a sign, or a division by the operand, moved out of the sum: fewer passes over the
    larger array. Names in `shaped` have the shape of the sum's argument.
    """
    match value:
        case gast.UnaryOp(op=gast.USub(), operand=positive):
            return gast.UnaryOp(op=gast.USub(), operand=factored(summed, positive, operand, shaped))
        case gast.BinOp(left=left, op=gast.Div() as op, right=gast.Name(id=divisor)) if (
            divisor == operand and shaped & set(names_read(left))
        ):
            negative, positive = without_sign(left)
            total = factored(summed, positive, operand, shaped)
            total = gast.UnaryOp(op=gast.USub(), operand=total) if negative else total
            return gast.BinOp(left=total, op=op, right=load(operand))
    return summed(value)


def without_one(reverse: Reverse, value: Any) -> Any:
    """`x` for `1.0 * x`, which is summed next."""
    match value:
        case gast.BinOp(left=gast.Constant(value=1.0), op=gast.Mult(), right=gast.Name() as right):
            return right if reverse.domain.is_float(reverse.kind(right)) else value
    return value
