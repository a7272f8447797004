"""Masks: the elements that an adjoint is for, where a function chose elements by a condition.

`z = np.where(m, np.sqrt(x), 0)` does not depend on `x` where `m` is false. An adjoint set to zero there,
times the infinite slope of the root at zero, would be NaN. So the adjoint goes on unchanged through
elementwise operations, with the mask `m` beside it, and zeros are put in at the end: `dx = np.where(m, dz /
(2 * x_1), 0)`.

A mask comes from a gradient that a rule writes as `np.where(condition, value, 0)`, or with the zero first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import Alias, Apply, Item
from ..analyses.primitive_table import Rule
from ..trees.nodes import assign, assigned_names, call, constant, load, names_read, same, walk
from ..trees.rebuild import rebuilt
from .adjoint import Adjoint, Condition, Mask
from .generation import Task
from .length_one_axes import squeezing
from .rule_application import Emitter

__all__ = [
    "MaskEmitter",
    "both_hold",
    "choice",
    "chosen",
    "chosen_each",
    "condition_of",
    "divides",
    "either_holds",
    "guarded",
    "kept",
    "mark_elements",
    "marks_before",
    "marks_of",
    "mask_at",
    "mask_of",
    "mask_of_item",
    "may_lose_zeros",
    "meets_infinity",
    "moved",
    "note_conditions",
    "of_numbers",
    "of_view",
    "one_of",
    "operand_mask",
    "opposite",
    "picked",
    "scalar_choices",
    "stays_zero",
    "summed",
    "truth",
]




class MaskEmitter(Emitter):
    """A differentiation that tracks the masks of adjoints."""

    def __init__(self, facts: Facts, task: Task) -> None:
        super().__init__(facts, task)
        self.condition_names: set[str] = set()
        self.never_steep: set[str] = set()  # variables for which `meets_infinity` is false
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


def chosen(emitter: Emitter, value: Any) -> tuple[Any, bool, Any] | None:
    """The condition of `np.where(condition, part, 0)` or `np.where(condition, 0, part)`, whether the part is
    chosen where it does not hold, and the part; None for other expressions.
    """
    match value:
        case gast.Call(func=func, args=[test, first, second]) if emitter.is_array_function(func, "where"):
            if _is_zero(second):
                return test, False, first
            if _is_zero(first):
                return test, True, second
    return None


def summed(emitter: Emitter, value: Any) -> Any:
    """The part of `unbroadcast(part, operand)`; None for other expressions."""
    match value:
        case gast.Call(func=func, args=[part, _]) if emitter.is_helper(func, "unbroadcast"):
            return part
    return None


def chosen_each(emitter: MaskEmitter, value: Any, code: list[Any]) -> tuple[str | None, Any]:
    """The name of the conditions in `where_each(conditions, part, choices)`, and the expression that reads
    that name; None for other expressions.
    """
    match value:
        case gast.Call(func=func, args=[conditions, *others]) if emitter.is_helper(func, "where_each"):
            masks = condition_of(emitter, conditions, code)
            return masks, gast.Call(func=func, args=[load(masks), *others], keywords=[])
    return None, value


def _is_zero(node: Any) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, float) and node.value == 0


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


def may_lose_zeros(emitter: MaskEmitter, name: str, operation: Apply, adjoint: Adjoint) -> bool:
    """Whether the partial adjoint of an array, the result of an elementwise operation, meets an infinite
    slope there, or further on: zero times infinity is NaN. Single numbers are not looked at: it would cost
    several times what an element's derivative costs.
    """
    kind = emitter.facts.kind_of_name(name)
    is_array = emitter.domain.is_array(kind) and not emitter.domain.is_foreign(kind)
    if not adjoint.partial or adjoint.zeroed or not is_array:
        return False
    match operation.node:
        case gast.BinOp(op=gast.Div(), right=divisor) if emitter.domain.is_scalar(emitter.kind(divisor)):
            return any(meets_infinity(emitter, o.id) for o in operation.operands() if emitter.is_active(o))
    return meets_infinity(emitter, name)


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


def stays_zero(emitter: MaskEmitter, name: str) -> bool:
    """Whether zeros in the adjoint of a variable stay zeros, element by element, in the adjoints of its
    sources: no slope on the way is infinite, or NaN. (The sum over elements that reaches a number is checked
    by its own operation.)
    """
    operation = emitter.computed_by(name)
    if isinstance(operation, Item) and meets_infinity(emitter, name):
        return False
    if not isinstance(operation, Apply) or emitter.primitives.is_nondifferentiable(operation.function):
        return True
    rule = emitter.rule(operation)
    if rule.structure != "elementwise":
        return not meets_infinity(emitter, name)
    if not _is_power(operation) and any(map(_may_be_infinite, rule.template.body)):
        return False
    if isinstance(operation.node, gast.BinOp) and isinstance(operation.node.op, gast.Mult):
        arrays = [o for o in operation.operands() if not emitter.domain.is_scalar(emitter.kind(o))]
        if len(arrays) > 1:  # the other one may hold a NaN
            return False
    is_number = emitter.domain.is_scalar(emitter.facts.kind_of_name(name))
    return all(
        stays_zero(emitter, o.id)
        for o in operation.operands()
        if emitter.is_active(o) and (is_number or not emitter.domain.is_scalar(emitter.kind(o)))
    )


def _may_be_infinite(node: Any) -> bool:
    """Whether a template does more than add, subtract and multiply."""
    return any(
        isinstance(n, gast.Call) or (isinstance(n, gast.BinOp) and isinstance(n.op, (gast.Div, gast.Pow)))
        for n in walk(node)
    )


def _is_power(operation: Apply) -> bool:
    """Whether an operation is `x ** c` with `c >= 1`, or divides by a literal."""
    match operation.node:
        case gast.BinOp(op=gast.Pow(), right=gast.Constant(value=int() | float() as exponent)):
            return exponent >= 1
        case gast.BinOp(op=gast.Div(), right=gast.Constant(value=int() | float() as divisor)):
            return divisor != 0
    return False


def meets_infinity(emitter: MaskEmitter, name: str) -> bool:
    """Whether the adjoint of a variable reaches, number by number, an operation whose slope may be
    infinite.
    """
    todo, seen = [name], set[str]()
    while todo:
        variable = todo.pop()
        if variable in seen or variable in emitter.never_steep:
            continue
        seen.add(variable)
        sources = _sources_unless_steep(emitter, variable)
        if sources is None:
            return True
        todo += sources
    emitter.never_steep |= seen
    return False


def _sources_unless_steep(emitter: MaskEmitter, name: str) -> list[str] | None:
    """The variables that receive the adjoint of another; None where a slope may be infinite."""
    operation = emitter.computed_by(name)
    match operation:
        case Alias(source=source):
            return [source.id] if emitter.is_active(source) else []
        case Item(base=base, index=index):
            is_view = emitter.is_active(base) and squeezing(emitter.facts, base, index) is not None
            return [base.id] if is_view else []
        case Apply(function=function) if not emitter.primitives.is_nondifferentiable(function):
            rule = emitter.primitives.find_rule(function)
        case _:
            return []
    if rule is None:
        return []
    if not emitter.is_elementwise(operation, rule):
        moved = moved_by(emitter, operation, rule)
        return [] if moved is None else [moved]
    template = emitter.template_for(operation, rule, name)
    if not _is_power(operation) and any(map(divides, template.body)):
        return None
    return [o.id for o in operation.operands() if emitter.is_active(o)]


def moved_by(emitter: MaskEmitter, operation: Apply, rule: Rule) -> str | None:
    """The array whose elements an operation gives unchanged, in another shape or order, as a copy or a view;
    None for other operations.
    """
    active = [o.id for o in operation.operands() if emitter.is_active(o)]
    if len(active) != 1 or not emitter.domain.is_array(emitter.kinds.get(active[0])):
        return None
    match rule.template.body:
        case [gast.Return(value=gast.Tuple(elts=[gast.Name(id="dout"), *_]))]:
            return str(active[0])
        case [
            gast.Return(
                value=gast.Tuple(
                    elts=[gast.Call(func=gast.Name(id="unbroadcast"), args=[gast.Name(id="dout"), _]), *_]
                )
            )
        ]:
            return str(active[0])
    is_view = emitter.primitives.sharing(operation) in ("view", "maybe")
    return str(active[0]) if is_view else None


def picked(emitter: MaskEmitter, operand: str, value: Any, code: list[Any]) -> tuple[Any, Mask | None]:
    """The gradient of an array from which elements were picked, by a mask or as the largest, and the mask of
    these; the mask is None where it does not matter.
    """
    test: Any = None
    match value:
        case gast.BinOp(op=gast.Mult(), right=share):
            values = [s.value for s in code if assigned_names(s) == [getattr(share, "id", "")]]
            test = next(iter(values), share)
            if not (isinstance(test, gast.Call) and emitter.is_helper(test.func, "share_of_ties")):
                return value, None
        case gast.Call(func=func, args=[_, *args]) if emitter.is_helper(func, "to_ties"):
            keepdims = [] if len(args) > 3 else [constant(False)]
            test = call(emitter.helper("share_of_ties"), *args, *keepdims)
        case gast.Call(func=func, args=[_, _, test]) if emitter.is_helper(func, "from_mask"):
            pass
        case _:
            return value, None
    if not meets_infinity(emitter, operand):
        return value, None
    mask = mask_of(emitter, test, False, code)
    kind = emitter.kind(load(operand))
    if isinstance(test, gast.Call):
        emitter.kinds[mask[0].name] = emitter.domain.mask_kind(kind)
        is_product = isinstance(value, gast.BinOp)
        return (rebuilt(value, right=load(mask[0].name)) if is_product else value), mask
    if not emitter.domain.is_choice_of(emitter.kind(test), kind):
        mask = operand_mask(emitter, mask, operand, False, code)
    return value, mask


def of_view(
    emitter: MaskEmitter, source: str, adjoint: Adjoint, back_again: Callable[[Any], Any], code: list[Any]
) -> Mask | None:
    """The mask of an array from the mask of a view of all its elements, which `back_again` inverts; None
    where it does not matter.
    """
    if adjoint.mask is None or not meets_infinity(emitter, source):
        return None
    test = back_again(load(condition_of(emitter, truth(emitter, adjoint.mask), code)))
    mask = mask_of(emitter, test, False, code)
    emitter.kinds[mask[0].name] = emitter.domain.mask_kind(emitter.kind(load(source)))
    return mask


def moved(
    emitter: MaskEmitter, operation: Apply, rule: Rule, out: str, adjoint: Adjoint, code: list[Any]
) -> Mask | None:
    """The mask of a rearranged array from the mask of the result; None where it does not matter."""
    source = moved_by(emitter, operation, rule) if adjoint.mask is not None else None
    if adjoint.mask is None or source is None or not meets_infinity(emitter, source):
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


def divides(node: Any) -> bool:
    """Whether a template divides by a value that may be zero, takes a power that may be a root, or multiplies
    twice by the result, as that of `1 / x`.
    """
    for n in walk(node):
        match n:
            case gast.BinOp(left=left, op=gast.Mult(), right=gast.Name(id="out")):
                if "out" in names_read(left):
                    return True
            case gast.BinOp(op=gast.Div(), right=divisor):
                if names_read(divisor) and not _is_positive(divisor):
                    return True
            case gast.BinOp(op=gast.Pow(), right=gast.Constant(value=int() | float() as exponent)):
                if exponent < 0:
                    return True
            case gast.BinOp(op=gast.Pow()):
                return True
            case gast.Call(func=gast.Name(id="real_power")):
                return True
    return False


def _is_positive(divisor: Any) -> bool:
    """Whether an expression is `r + (r == 0)` or `1 + x ** 2`, which are never zero."""
    match divisor:
        case gast.BinOp(left=left, op=gast.Add(), right=gast.Compare(left=same_, ops=[gast.Eq()])):
            return same(left, same_)
        case gast.BinOp(left=gast.Constant(), op=gast.Add(), right=gast.BinOp(op=gast.Pow())):
            return True
    return False


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
        return _conditional(load(mask[0].name), other, value)
    return _conditional(truth(emitter, mask), value, other)


def one_of(emitter: Emitter, a: Any, b: Any) -> Any:
    """The sum of two expressions as one choice, where at most one of them is nonzero; else None."""
    first, second = chosen(emitter, a), chosen(emitter, b)
    if first is None or second is None or first[1] == second[1] or not same(first[0], second[0]):
        return None
    parts = (second[2], first[2]) if first[1] else (first[2], second[2])
    return emitter.array_call("where", first[0], *parts)


def scalar_choices(emitter: Emitter, value: Any) -> Any:
    """A scalar expression with `a if c else b` for `np.where(c, a, b)`."""
    match value:
        case gast.Call(func=func, args=[test, first, second]) if emitter.is_array_function(func, "where"):
            return _conditional(test, scalar_choices(emitter, first), scalar_choices(emitter, second))
        case gast.Call(func=func, args=[test, whole]) if emitter.is_helper(func, "halved_where"):
            half = gast.BinOp(left=whole, op=gast.Div(), right=constant(2))
            return _conditional(test, half, whole)
        case gast.BinOp(left=left, op=op, right=right):
            return gast.BinOp(left=scalar_choices(emitter, left), op=op, right=scalar_choices(emitter, right))
        case gast.UnaryOp(op=op, operand=operand):
            return gast.UnaryOp(op=op, operand=scalar_choices(emitter, operand))
    return value


def guarded(emitter: Emitter, mask: Mask, value: Any) -> Any:
    """A scalar expression that is evaluated only where a mask holds, if it may raise elsewhere."""
    if not any(isinstance(n, gast.Call) or divides(n) for n in walk(value)):
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


def _conditional(test: Any, first: Any, second: Any) -> Any:
    first, second = (constant(0.0) if _is_zero(part) else part for part in (first, second))
    return gast.IfExp(test=test, body=first, orelse=second)
