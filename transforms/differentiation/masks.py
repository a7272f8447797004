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

from ..analyses.facts import Facts
from ..analyses.operations import Apply
from ..analyses.primitive_table import Rule
from ..trees.nodes import assign, call, constant, is_atom, load, same, walk
from .adjoint import Adjoint, Condition, Mask
from .choices import conditional, may_raise, scalar_choices
from .generation import Task
from .rule_application import Emitter
from .slopes import Slopes

__all__ = [
    "MaskEmitter",
    "both_hold",
    "choice",
    "chosen_each",
    "condition_of",
    "either_holds",
    "guarded",
    "kept",
    "mark_elements",
    "marks_before",
    "marks_of",
    "mask_at",
    "mask_of",
    "mask_of_item",
    "moved",
    "note_conditions",
    "of_numbers",
    "of_view",
    "operand_mask",
    "opposite",
    "picked",
    "truth",
]




class MaskEmitter(Emitter):
    """A differentiation that tracks the masks of adjoints."""

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        self.condition_names: set[str] = set()
        self.slopes = Slopes(self)
        self.marks: set[str] = set()  # conditions that may be changed: each belongs to one mask
        self.conditions: list[dict[str, str]] = []  # the names of conditions in each open block

    def known_condition(self, test: Any) -> str | None:
        """The name of a condition that this block has evaluated already."""
        return self.conditions[-1].get(test.id) if isinstance(test, gast.Name) else None

    def is_choice_of(self, variable: str, index: Any) -> bool:
        """Whether an index is an array of truth values, one for each element of the variable."""
        return isinstance(index, gast.Name) and bool(
            self.domain.is_choice_of(self.kind(index), self.facts.kind_of_name(variable))
        )

    def index_value(self, index: Any) -> Any:
        """An index as an expression outside brackets: slices become calls of `slice`."""
        if isinstance(index, gast.Tuple):
            return gast.Tuple(elts=[self.index_value(e) for e in index.elts], ctx=gast.Load())
        if isinstance(index, gast.Slice):
            return call(
                load(self.bind("slice", slice)),
                *[
                    gast.Constant(value=None, kind=None) if b is None else b
                    for b in (index.lower, index.upper, index.step)
                ],
            )
        return index


def chosen_each(emitter: MaskEmitter, value: Any, code: list[Any]) -> tuple[str | None, Any]:
    """The name of the conditions in `where_each(conditions, part, choices)`, and the expression that reads
    that name; None for other expressions.
    """
    match value:
        case gast.Call(func=func, args=[conditions, *others]) if emitter.is_helper(func, "where_each"):
            masks = condition_of(emitter, conditions, code)
            return masks, gast.Call(func=func, args=[load(masks), *others], keywords=[])
    return None, value


def condition_of(emitter: MaskEmitter, test: Any, code: list[Any]) -> str:
    """A name for a condition, evaluated here as its operands may be assigned again."""
    for s in code:
        if isinstance(s, gast.Assign) and same(s.value, test) and isinstance(s.targets[0], gast.Name):
            return str(s.targets[0].id)
    known = emitter.known_condition(test)
    if known is not None:
        return known
    name = emitter.names.temporary("chosen")
    emitter.kinds[name] = emitter.kind(test) if isinstance(test, gast.Name) else emitter.domain.UNKNOWN
    emitter.condition_names.add(name)
    code.append(assign(name, test))
    return name


def mask_of(emitter: MaskEmitter, test: Any, inverted: bool, code: list[Any]) -> Mask:
    """The mask of the elements at which an expression is true, or false."""
    return (Condition(condition_of(emitter, test, code), inverted),)


def mask_at(
    emitter: MaskEmitter, adjoint: str, variable: str, index: Any, inverted: bool, code: list[Any]
) -> Mask:
    """The mask of the elements that an index selects, or of the others; `adjoint` names an array of their
    shape.
    """
    if emitter.is_choice_of(variable, index):
        return mask_of(emitter, index, inverted, code)
    test = call(emitter.helper("places_at"), load(adjoint), emitter.index_value(index))
    mask = mask_of(emitter, test, inverted, code)
    emitter.kinds[mask[0].name] = emitter.domain.mask_kind(emitter.kind(load(variable)))
    emitter.marks.add(mask[0].name)
    return mask


def mark_elements(emitter: MaskEmitter, name: str, index: Any, value: bool) -> Any:
    """The statement that marks the selected elements as overwritten, or as read."""
    place = gast.Subscript(value=load(name), slice=index, ctx=gast.Store())
    return gast.Assign(targets=[place], value=constant(value), type_comment=None)


def marks_of(mask: Mask | None, own: Collection[str]) -> str | None:
    """The name in `own` of the array of overwritten elements, if that alone is the mask."""
    match mask:
        case (Condition(name, True),) if name in own:
            return name
    return None


def marks_before(emitter: MaskEmitter, current: Adjoint | None, name: str) -> Any:
    """The array that says, before a loop, at which elements the adjoint called `name` is meaningless."""
    if current is None or current.mask is None:
        dtype = load(emitter.bind("bool", bool))
        return emitter.array_call("ones_like" if current is None else "zeros_like", load(name), dtype=dtype)
    return emitter.array_call("logical_not", truth(emitter, current.mask))


def mask_of_item(
    emitter: MaskEmitter, masks: str | None, k: int, item: str, code: list[Any]
) -> Mask | None:
    """The mask of an element of a list that was one of several choices."""
    if masks is None:
        return None
    test = gast.Subscript(value=load(masks), slice=constant(k), ctx=gast.Load())
    return operand_mask(emitter, mask_of(emitter, test, False, code), item, False, code)


def note_conditions(emitter: MaskEmitter, code: list[Any]) -> None:
    """Notes the conditions that the block being written has names for from here on."""
    for s in code:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=test)):
                if name in emitter.condition_names and not emitter.changes.is_changed(test):
                    emitter.conditions[-1][test] = name


def both_hold(a: Mask | None, b: Mask) -> Mask:
    """The mask of the elements in both; None is the mask of all."""
    return b if a is None else a + tuple(c for c in b if c not in a)


def either_holds(emitter: MaskEmitter, a: Mask | None, b: Mask | None, code: list[Any]) -> Mask | None:
    """The mask of the elements in one of the two; None is the mask of all."""
    if a is None or b is None:
        return None
    if a == b or set(a) <= set(b):
        return a
    if set(b) <= set(a):
        return b
    test = emitter.array_call("logical_or", truth(emitter, a), truth(emitter, b))
    return mask_of(emitter, test, False, code)


def opposite(a: Mask | None, b: Mask | None) -> bool:
    """Whether two masks differ in the sign of their last condition alone."""
    return a is not None and b is not None and a[:-1] == b[:-1] and _inverse(a[-1]) == b[-1]


def _inverse(condition: Condition) -> Condition:
    return Condition(condition.name, not condition.inverted)


def truth(emitter: Emitter, mask: Mask) -> Any:
    """The expression for the elements of a mask."""
    if all(emitter.domain.is_scalar(emitter.kind(load(c.name))) for c in mask):
        parts = [
            gast.UnaryOp(op=gast.Not(), operand=load(c.name)) if c.inverted else load(c.name) for c in mask
        ]
        return parts[0] if len(parts) == 1 else gast.BoolOp(op=gast.And(), values=parts)
    first, *rest = mask
    found = emitter.array_call("logical_not", load(first.name)) if first.inverted else load(first.name)
    for condition in rest:
        found = emitter.array_call("logical_and", found, truth(emitter, (condition,)))
    return found


def operand_mask(emitter: MaskEmitter, mask: Mask, operand: str, is_sum: bool, code: list[Any]) -> Mask:
    """The mask of an operand that was, or may have been, broadcast to the shape of `mask`: the elements that
    contributed to a masked one.
    """
    test = truth(emitter, mask)
    if is_sum:
        return mask_of(emitter, emitter.array_call("any", test), False, code)
    return mask_of(emitter, call(emitter.helper("reaching"), test, load(operand)), False, code)


def picked(
    emitter: MaskEmitter, rule: Rule, bound: Mapping[str, Any], operand: str, out: str, code: list[Any]
) -> Mask | None:
    """The mask of the elements that a result is picked from, as the largest are, which the rule tells; None
    where it does not matter.
    """
    if rule.picks is None or not same(bound[rule.picks.parameters[0]], load(operand)):
        return None
    if not emitter.slopes.meet_infinity(operand):
        return None
    statements, results = emitter.inline(rule.picks, {**bound, "out": load(out)}, [0], "chosen")
    code += statements
    mask = mask_of(emitter, results[0], False, code)
    kind = emitter.kind(load(operand))
    if not is_atom(results[0]):
        emitter.kinds[mask[0].name] = emitter.domain.mask_kind(kind)
    elif not emitter.domain.is_choice_of(emitter.kind(results[0]), kind):
        mask = operand_mask(emitter, mask, operand, False, code)
    return mask


def of_view(
    emitter: MaskEmitter, source: str, adjoint: Adjoint, back_again: Callable[[Any], Any], code: list[Any]
) -> Mask | None:
    """The mask of an array from the mask of a view of all its elements, which `back_again` inverts; None
    where it does not matter.
    """
    if adjoint.mask is None or not emitter.slopes.meet_infinity(source):
        return None
    test = back_again(load(condition_of(emitter, truth(emitter, adjoint.mask), code)))
    mask = mask_of(emitter, test, False, code)
    emitter.kinds[mask[0].name] = emitter.domain.mask_kind(emitter.kind(load(source)))
    return mask


def moved(
    emitter: MaskEmitter, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, code: list[Any]
) -> Mask | None:
    """The mask of a rearranged array from the mask of the result; None where it does not matter."""
    source = emitter.slopes.moved_by(operation) if adjoint.mask is not None else None
    if adjoint.mask is None or source is None or not emitter.slopes.meet_infinity(source):
        return None
    test = load(condition_of(emitter, truth(emitter, adjoint.mask), code))
    template = emitter.template_for(operation, rule, out)
    bound, slots = emitter.arguments(operation, template, rule)
    arguments = {**bound, "out": load(out), "dout": test}
    statements, results = emitter.inline(template, arguments, [slots[0].gradient], "chosen")
    code += statements
    mask = mask_of(emitter, results[slots[0].gradient], False, code)
    emitter.kinds[mask[0].name] = emitter.domain.mask_kind(emitter.kind(load(source)))
    return mask


def kept(emitter: Emitter, mask: Mask, value: Any, variable: str) -> Any:
    """The expression for `value` inside a mask and zeros of the variable's form elsewhere; None where that is
    not surely an array.
    """
    kind = emitter.facts.kind_of_name(variable)
    if not (emitter.domain.is_array(kind) and emitter.domain.is_float(kind)):
        return None
    if len(mask) == 1 and mask[0].inverted:
        return call(emitter.helper("zeroed_where"), load(mask[0].name), value)
    return call(emitter.helper("kept_where"), truth(emitter, mask), value)


def choice(emitter: Emitter, mask: Mask, value: Any, other: Any, variable: str | None = None) -> Any:
    """The expression for `value` inside a mask and `other` elsewhere; in the form of `variable`, if given."""
    inverted = len(mask) == 1 and mask[0].inverted
    test = load(mask[0].name) if len(mask) == 1 else truth(emitter, mask)
    first, second = (other, value) if inverted else (value, other)
    kind = emitter.facts.kind_of_name(variable or "")
    if emitter.domain.is_real_scalar(kind):
        return _chosen_number(emitter, mask, value, other)
    found = emitter.array_call("where", test, first, second)
    if variable is None or emitter.domain.is_array(kind):
        return found
    return call(emitter.helper("unbroadcast"), found, load(variable))


def _chosen_number(emitter: Emitter, mask: Mask, value: Any, other: Any) -> Any:
    if len(mask) == 1 and mask[0].inverted:
        return conditional(load(mask[0].name), other, value)
    return conditional(truth(emitter, mask), value, other)


def guarded(emitter: Emitter, mask: Mask, value: Any) -> Any:
    """A scalar expression that is evaluated only where a mask holds, if it may raise elsewhere."""
    if not any(isinstance(n, gast.Call) for n in walk(value)) and not may_raise(emitter, value):
        return value
    return _chosen_number(emitter, mask, value, constant(0.0))


def of_numbers(emitter: Emitter, s: Any, mask: Mask | None = None) -> Any:
    """An assignment whose value went through `scalar_choices` and is guarded by the mask; other statements
    unchanged.
    """
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            value = scalar_choices(emitter, value)
            if mask is None or name in {c.name for c in mask}:
                return assign(name, value)
            return assign(name, guarded(emitter, mask, value))
    return s
