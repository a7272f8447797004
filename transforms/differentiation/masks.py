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
from ..trees.nodes import assign, call, constant, is_atom, load, same, walk
from .adjoint import Adjoint, Condition, Mask
from .choices import conditional, may_raise
from .indices import index_value, is_choice_of
from .reverse_state import Reverse

__all__ = [
    "both_hold",
    "choice",
    "chosen_each",
    "condition_of",
    "either_holds",
    "guarded",
    "guarded_statement",
    "kept",
    "mark_elements",
    "marks_before",
    "marks_of",
    "mask_at",
    "mask_of",
    "mask_of_item",
    "moved",
    "note_conditions",
    "of_view",
    "operand_mask",
    "opposite",
    "picked",
    "truth",
]


def known_condition(reverse: Reverse, test: Any) -> str | None:
    """The name of a condition that this block has evaluated already."""
    return reverse.conditions[-1].get(test.id) if isinstance(test, gast.Name) else None


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
    known = known_condition(reverse, test)
    if known is not None:
        return known
    name = reverse.names.temporary("chosen")
    reverse.kinds[name] = reverse.kind(test) if isinstance(test, gast.Name) else reverse.domain.UNKNOWN
    reverse.condition_names.add(name)
    code.append(assign(name, test))
    return name


def mask_of(reverse: Reverse, test: Any, inverted: bool, code: list[Any]) -> Mask:
    """The mask of the elements at which an expression is true, or false."""
    return (Condition(condition_of(reverse, test, code), inverted),)


def mask_at(
    reverse: Reverse, adjoint: str, variable: str, index: Any, inverted: bool, code: list[Any]
) -> Mask:
    """The mask of the elements that an index selects, or of the others; `adjoint` names an array of their
    shape.
    """
    if is_choice_of(reverse, variable, index):
        return mask_of(reverse, index, inverted, code)
    test = call(reverse.helper("places_at"), load(adjoint), index_value(reverse, index))
    mask = mask_of(reverse, test, inverted, code)
    reverse.kinds[mask[0].name] = reverse.domain.mask_kind(reverse.kind(load(variable)))
    reverse.marks.add(mask[0].name)
    return mask


def mark_elements(reverse: Reverse, name: str, index: Any, value: bool) -> Any:
    """The statement that marks the selected elements as overwritten, or as read."""
    place = gast.Subscript(value=load(name), slice=index, ctx=gast.Store())
    return gast.Assign(targets=[place], value=constant(value), type_comment=None)


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


def mask_of_item(
    reverse: Reverse, masks: str | None, k: int, item: str, code: list[Any]
) -> Mask | None:
    """The mask of an element of a list that was one of several choices."""
    if masks is None:
        return None
    test = gast.Subscript(value=load(masks), slice=constant(k), ctx=gast.Load())
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
    return a is not None and b is not None and a[:-1] == b[:-1] and _inverse(a[-1]) == b[-1]


def _inverse(condition: Condition) -> Condition:
    return Condition(condition.name, not condition.inverted)


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
    kind = reverse.kind(load(operand))
    if not is_atom(results[0]):
        reverse.kinds[mask[0].name] = reverse.domain.mask_kind(kind)
    elif not reverse.domain.is_choice_of(reverse.kind(results[0]), kind):
        mask = operand_mask(reverse, mask, operand, False, code)
    return mask


def of_view(
    reverse: Reverse, source: str, adjoint: Adjoint, back_again: Callable[[Any], Any], code: list[Any]
) -> Mask | None:
    """The mask of an array from the mask of a view of all its elements, which `back_again` inverts; None
    where it does not matter.
    """
    if adjoint.mask is None or not reverse.slopes.meet_infinity(source):
        return None
    test = back_again(load(condition_of(reverse, truth(reverse, adjoint.mask), code)))
    mask = mask_of(reverse, test, False, code)
    reverse.kinds[mask[0].name] = reverse.domain.mask_kind(reverse.kind(load(source)))
    return mask


def moved(
    reverse: Reverse, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, code: list[Any]
) -> Mask | None:
    """The mask of a rearranged array from the mask of the result; None where it does not matter."""
    source = reverse.slopes.moved_by(operation) if adjoint.mask is not None else None
    if adjoint.mask is None or source is None or not reverse.slopes.meet_infinity(source):
        return None
    test = load(condition_of(reverse, truth(reverse, adjoint.mask), code))
    template = reverse.template_for(operation, rule, out)
    bound, slots = reverse.arguments(operation, template, rule)
    arguments = {**bound, "out": load(out), "dout": test}
    statements, results = reverse.inline(template, arguments, [slots[0].gradient], "chosen")
    code += statements
    mask = mask_of(reverse, results[slots[0].gradient], False, code)
    reverse.kinds[mask[0].name] = reverse.domain.mask_kind(reverse.kind(load(source)))
    return mask


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
    inverted = len(mask) == 1 and mask[0].inverted
    test = load(mask[0].name) if len(mask) == 1 else truth(reverse, mask)
    first, second = (other, value) if inverted else (value, other)
    kind = reverse.facts.kind_of_name(variable or "")
    if reverse.domain.is_real_scalar(kind):
        return _chosen_number(reverse, mask, value, other)
    found = reverse.array_call("where", test, first, second)
    if variable is None or reverse.domain.is_array(kind):
        return found
    return call(reverse.helper("unbroadcast"), found, load(variable))


def _chosen_number(reverse: Reverse, mask: Mask, value: Any, other: Any) -> Any:
    if len(mask) == 1 and mask[0].inverted:
        return conditional(load(mask[0].name), other, value)
    return conditional(truth(reverse, mask), value, other)


def guarded(reverse: Reverse, mask: Mask, value: Any) -> Any:
    """A scalar expression that is evaluated only where a mask holds, if it may raise elsewhere."""
    if not any(isinstance(n, gast.Call) for n in walk(value)) and not may_raise(reverse, value):
        return value
    return _chosen_number(reverse, mask, value, constant(0.0))


def guarded_statement(reverse: Reverse, mask: Mask | None, s: Any) -> Any:
    """The same of an assignment of a number; the names of the mask are evaluated everywhere."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if mask is not None:
            if name not in {c.name for c in mask}:
                return assign(name, guarded(reverse, mask, value))
    return s
