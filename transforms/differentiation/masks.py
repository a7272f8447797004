"""Masks: the elements that an adjoint is for, where a function chose elements by a condition.

`z = np.where(m, np.sqrt(x), 0)` does not depend on `x` where `m` is false. An adjoint set to zero there,
times the infinite slope of the root at zero, would be NaN. So the adjoint goes on unchanged through
elementwise operations, with the mask `m` beside it, and zeros are put in at the end: `dx = np.where(m, dz /
(2 * x_1), 0)`.

A mask comes from a gradient that a rule writes as `np.where(condition, value, 0)`, or with the zero first
(`choices`), from a rule that tells which elements it picked (`Rule.picks`), an index, a branch or a store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import gast

from ..analyses.operations import Apply
from ..analyses.primitive_table import Rule
from ..trees.nodes import assign, call, constant, is_atom, load, same, subscript, walk
from .adjoint import Adjoint, Condition, Mask
from .choices import conditional, may_raise
from .indices import index_value, is_choice_of
from .reverse_state import Reverse

__all__ = [
    "both_hold", "choice", "chosen_each", "condition_of", "either_holds", "guarded", "guarded_statement",
    "kept", "mark_elements", "marks_before", "marks_of", "mask_at", "mask_of", "mask_of_item", "moved",
    "note_conditions", "of_view", "operand_mask", "opposite", "picked", "truth",
]  # fmt: skip


def chosen_each(reverse: Reverse, value: Any, code: list[Any]) -> tuple[str | None, Any]:
    """The name of the conditions in `where_each(conditions, part, choices)`, and the expression that reads
    that name; None for other expressions.
    """
    match value:
        case gast.Call(func=func, args=[conditions, *others]) if reverse.is_helper(func, "where_each"):
            masks = condition_of(reverse, conditions, code)
            return masks, gast.Call(func=func, args=[load(masks), *others], keywords=[])
    return None, value


def condition_of(reverse: Reverse, test: Any, code: list[Any]) -> str:
    """A name for a condition, evaluated here as its operands may be assigned again."""
    for s in code:
        if isinstance(s, gast.Assign) and same(s.value, test) and isinstance(s.targets[0], gast.Name):
            return str(s.targets[0].id)
    if isinstance(test, gast.Name) and test.id in reverse.conditions[-1]:
        return reverse.conditions[-1][test.id]  # this block has evaluated it already
    name = reverse.names.temporary("chosen")
    reverse.kinds[name] = reverse.kind(test) if isinstance(test, gast.Name) else reverse.domain.UNKNOWN
    reverse.condition_names.add(name)
    code.append(assign(name, test))
    return name


def mask_of(reverse: Reverse, test: Any, inverted: bool, code: list[Any]) -> Mask:
    """The mask of the elements at which an expression is true, or false."""
    return (Condition(condition_of(reverse, test, code), inverted),)


def of_array(reverse: Reverse, mask: Mask, variable: str) -> Mask:
    """The mask, made of one condition in the shape of a variable, which is noted."""
    reverse.kinds[mask[0].name] = reverse.domain.mask_kind(reverse.kind(load(variable)))
    return mask


def mask_at(
    reverse: Reverse, adjoint: str, variable: str, index: Any, inverted: bool, code: list[Any]
) -> Mask:
    """The mask of the elements that an index selects, or of the others; `adjoint` names an array of their
    shape.
    """
    if is_choice_of(reverse, variable, index):
        return mask_of(reverse, index, inverted, code)
    test = call(reverse.helper("places_at"), load(adjoint), index_value(reverse, index))
    mask = of_array(reverse, mask_of(reverse, test, inverted, code), variable)
    reverse.marks.add(mask[0].name)
    return mask


def mark_elements(reverse: Reverse, name: str, index: Any, value: bool) -> Any:
    """The statement that marks the selected elements as overwritten, or as read."""
    place = gast.Subscript(value=load(name), slice=index, ctx=gast.Store())
    return assign(place, constant(value))


def marks_of(mask: Mask | None, own: Collection[str]) -> str | None:
    """The name in `own` of the array of overwritten elements, if that alone is the mask."""
    match mask:
        case (Condition(name, True),) if name in own:
            return name
    return None


def marks_before(reverse: Reverse, current: Adjoint | None, name: str) -> Any:
    """The array that says, before a loop, at which elements the adjoint called `name` is meaningless."""
    if current is None or current.mask is None:
        dtype = load(reverse.bind("bool", bool))
        return reverse.array_call("ones_like" if current is None else "zeros_like", load(name), dtype=dtype)
    return reverse.array_call("logical_not", truth(reverse, current.mask))


def mask_of_item(reverse: Reverse, masks: str | None, k: int, item: str, code: list[Any]) -> Mask | None:
    """The mask of an element of a list that was one of several choices."""
    if masks is None:
        return None
    test = subscript(load(masks), constant(k))
    return operand_mask(reverse, mask_of(reverse, test, False, code), item, False, code)


def note_conditions(reverse: Reverse, code: list[Any]) -> None:
    """Notes the conditions that the block being written has names for from here on."""
    for s in code:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=test)):
                if name in reverse.condition_names and not reverse.changes.is_changed(test):
                    reverse.conditions[-1][test] = name


def both_hold(a: Mask | None, b: Mask) -> Mask:
    """The mask of the elements in both; None is the mask of all."""
    return b if a is None else a + tuple(c for c in b if c not in a)


def either_holds(reverse: Reverse, a: Mask | None, b: Mask | None, code: list[Any]) -> Mask | None:
    """The mask of the elements in one of the two; None is the mask of all."""
    if a is None or b is None:
        return None
    if a == b or set(a) <= set(b):
        return a
    if set(b) <= set(a):
        return b
    test = reverse.array_call("logical_or", truth(reverse, a), truth(reverse, b))
    return mask_of(reverse, test, False, code)


def opposite(a: Mask | None, b: Mask | None) -> bool:
    """Whether two masks differ in the sign of their last condition alone."""
    if a is None or b is None or a[:-1] != b[:-1]:
        return False
    return a[-1].name == b[-1].name and a[-1].inverted != b[-1].inverted


def truth(reverse: Reverse, mask: Mask) -> Any:
    """The expression for the elements of a mask."""
    if all(reverse.domain.is_scalar(reverse.kind(load(c.name))) for c in mask):
        parts = [
            gast.UnaryOp(op=gast.Not(), operand=load(c.name)) if c.inverted else load(c.name) for c in mask
        ]
        return parts[0] if len(parts) == 1 else gast.BoolOp(op=gast.And(), values=parts)
    first, *rest = mask
    found = reverse.array_call("logical_not", load(first.name)) if first.inverted else load(first.name)
    for condition in rest:
        found = reverse.array_call("logical_and", found, truth(reverse, (condition,)))
    return found


def operand_mask(reverse: Reverse, mask: Mask, operand: str, is_sum: bool, code: list[Any]) -> Mask:
    """The mask of an operand that was, or may have been, broadcast to the shape of `mask`: the elements that
    contributed to a masked one.
    """
    test = truth(reverse, mask)
    if is_sum:
        return mask_of(reverse, reverse.array_call("any", test), False, code)
    return mask_of(reverse, call(reverse.helper("reaching"), test, load(operand)), False, code)


def picked(
    reverse: Reverse, rule: Rule, bound: Mapping[str, Any], operand: str, out: str, code: list[Any]
) -> Mask | None:
    """The mask of the elements that a result is picked from, as the largest are, which the rule tells; None
    where it does not matter.
    """
    if rule.picks is None or not same(bound[rule.picks.parameters[0]], load(operand)):
        return None
    if not reverse.slopes.meet_infinity(operand):
        return None
    statements, results = reverse.inline(rule.picks, {**bound, "out": load(out)}, [0], "chosen")
    code += statements
    mask = mask_of(reverse, results[0], False, code)
    if not is_atom(results[0]):
        return of_array(reverse, mask, operand)
    is_like = is_choice_of(reverse, operand, results[0])
    return mask if is_like else operand_mask(reverse, mask, operand, False, code)


def of_view(
    reverse: Reverse, source: str, adjoint: Adjoint, back_again: Callable[[Any], Any], code: list[Any]
) -> Mask | None:
    """The mask of an array from the mask of a view of all its elements, which `back_again` inverts; None
    where it does not matter.
    """
    if adjoint.mask is None or not reverse.slopes.meet_infinity(source):
        return None
    test = back_again(load(condition_of(reverse, truth(reverse, adjoint.mask), code)))
    return of_array(reverse, mask_of(reverse, test, False, code), source)


def moved(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, code: list[Any]
) -> Mask | None:
    """The mask of a rearranged array from the mask of the result; None where it does not matter."""

    def back_again(test: Any) -> Any:
        template = reverse.template_for(operation, rule, out)
        bound, (slot, *_) = reverse.arguments(operation, template, rule)
        arguments = {**bound, "out": load(out), "dout": test}
        statements, results = reverse.inline(template, arguments, [slot.gradient], "chosen")
        code.extend(statements)
        return results[slot.gradient]

    source = reverse.slopes.moved_by(operation)
    return None if source is None else of_view(reverse, source, adjoint, back_again, code)


def kept(reverse: Reverse, mask: Mask, value: Any, variable: str) -> Any:
    """The expression for `value` inside a mask and zeros of the variable's form elsewhere; None where that is
    not surely an array.
    """
    kind = reverse.facts.kind_of_name(variable)
    if not (reverse.domain.is_array(kind) and reverse.domain.is_float(kind)):
        return None
    if len(mask) == 1 and mask[0].inverted:
        return call(reverse.helper("zeroed_where"), load(mask[0].name), value)
    return call(reverse.helper("kept_where"), truth(reverse, mask), value)


def choice(reverse: Reverse, mask: Mask, value: Any, other: Any, variable: str | None = None) -> Any:
    """The expression for `value` inside a mask and `other` elsewhere; in the form of `variable`, if given."""
    kind = reverse.facts.kind_of_name(variable or "")
    if reverse.domain.is_real_scalar(kind):
        return conditional(*_arms(reverse, mask, value, other))
    found = reverse.array_call("where", *_arms(reverse, mask, value, other))
    if variable is None or reverse.domain.is_array(kind):
        return found
    return call(reverse.helper("unbroadcast"), found, load(variable))


def _arms(reverse: Reverse, mask: Mask, value: Any, other: Any) -> tuple[Any, Any, Any]:
    """The test of a choice, and what is chosen where it holds and elsewhere."""
    if len(mask) == 1 and mask[0].inverted:
        return load(mask[0].name), other, value
    return truth(reverse, mask), value, other


def guarded(reverse: Reverse, mask: Mask, value: Any) -> Any:
    """A scalar expression that is evaluated only where a mask holds, if it may raise elsewhere."""
    if not any(isinstance(n, gast.Call) for n in walk(value)) and not may_raise(reverse, value):
        return value
    return conditional(*_arms(reverse, mask, value, constant(0.0)))


def guarded_statement(reverse: Reverse, mask: Mask | None, s: Any) -> Any:
    """The same of an assignment of a number; the names of the mask are evaluated everywhere."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if mask is not None:
            if name not in {c.name for c in mask}:
                return assign(name, guarded(reverse, mask, value))
    return s
