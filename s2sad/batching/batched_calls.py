"""Calls of primitives on values with an axis in front: elementwise functions as they stand, reductions over
the axes behind it, products of matrices with it; of other functions one call after the other (`each`).
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import gast
import numpy as np

from ..primitives.record import find_rule
from ..rules.math import planar_hypot
from ..rules.methods import reshape_method, transpose_method
from ..runtime import adjoints, batches
from ..transforms.analyses.operations import Apply
from ..transforms.trees.nodes import constant, load, subscript, tuple_of
from ..transforms.trees.rebuild import rebuilt
from .find_batched import Elements

__all__ = ["batched_call", "whole_axis"]

Rule = Callable[[Any, Apply], Any]

OF_NUMBERS: dict[Any, np.ufunc] = {  # functions of Python numbers, and those of arrays that compute the same
    abs: np.abs,
    **{getattr(m, n): getattr(np, n) for m in (math, cmath)
       for n in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{getattr(m, f"a{n}"): getattr(np, f"arc{n}") for m in (math, cmath)
       for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    math.atan2: np.arctan2, math.exp2: np.exp2, math.expm1: np.expm1, math.log2: np.log2,
    math.log1p: np.log1p, math.cbrt: np.cbrt, math.pow: np.power, planar_hypot: np.hypot,
    math.degrees: np.degrees, math.radians: np.radians, math.fabs: np.fabs, math.copysign: np.copysign,
}  # fmt: skip
OF_CMATH = frozenset(f for f in vars(cmath).values() if isinstance(f, BuiltinFunctionType))
OF_MODULES = (f for m in (math, builtins) for f in vars(m).values() if isinstance(f, BuiltinFunctionType))
TAKING_NUMBERS = frozenset({*OF_MODULES, *OF_CMATH, planar_hypot})  # functions that take no arrays


def batched_call(w: Any, operation: Apply) -> Any:
    """The expression of a primitive for all calls, with an operand that has the axis."""
    function = operation.function
    if not w.primitives.is_pure(function):
        return w.refuse(operation.node, f"`{_name(operation)}`, which may change what it is given,")
    rule = RULES.get(function)
    found = None if rule is None else rule(w, operation)
    if found is None and _is_elementwise(function):
        found = elementwise(w, operation)
    return one_by_one(w, operation) if found is None else found


def _is_elementwise(function: Any) -> bool:
    known = find_rule(function)
    if known is not None:
        return bool(known.structure == "elementwise")
    return isinstance(function, np.ufunc) or function in COMPARISONS


COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


def one_by_one(w: Any, operation: Apply) -> Any:
    """One call after the other."""
    if any(w.form(v) for _, v in operation.keywords) or any(k is None for k, _ in operation.keywords):
        return w.refuse(operation.node, f"`{_name(operation)}` with a keyword that has the axis")
    if w.facts.sharing(operation) != "fresh" and any(map(w.found.is_changed, operation.args)):
        return w.refuse(operation.node, f"`{_name(operation)}`, which may be a view,")
    if any(isinstance(a, gast.Starred) for a in operation.args):
        return w.refuse(operation.node, "a `*` argument")
    return w.each(operation)


def _name(operation: Apply) -> str:
    return str(getattr(operation.function, "__name__", operation.function))


def elementwise(w: Any, operation: Apply) -> Any:
    """The same expression; operands with fewer axes than the result get axes behind that of the calls."""
    ranks = [w.rank(o) for o in operation.args]
    if operation.keywords or None in ranks or not all(isinstance(w.form(o), bool) for o in operation.args):
        return None
    if operation.function is np.where and len(ranks) != 3:
        return None
    rank = max(ranks)
    args = [w.aligned(o, rank) for o in operation.args]
    node = operation.node
    match node:
        case gast.BinOp():
            return rebuilt(node, left=args[0], right=args[1])
        case gast.UnaryOp() if operation.function is not operator.not_:
            return rebuilt(node, operand=args[0])
        case gast.Compare():
            return rebuilt(node, left=args[0], comparators=[args[1]])
        case gast.Call() | gast.Attribute():
            known = OF_NUMBERS.get(operation.function)
            if known is None and operation.function in TAKING_NUMBERS:
                return None
            if known is not None and known.nin != len(args):
                return None
            if operation.function in OF_CMATH and not w.is_complex(operation.args[0]):
                args = [gast.BinOp(left=args[0], op=gast.Add(), right=constant(0j))]
            return w.applied(known or operation.function, args)
    return None


# ------------------------------------------------------------ reductions


def over_axes(w: Any, operation: Apply) -> Any:
    """A reduction, with its axes counted behind that of the calls."""
    x, *rest = operation.args
    rank, keywords = w.rank(x), dict(operation.keywords)
    axis = rest[0] if rest else keywords.pop("axis", constant(None))
    if not rank or len(rest) > 1 or not {*keywords} <= {"keepdims"} or w.form(x) is not True:
        return None
    moved = _moved_axes(w, axis, rank)
    if moved is None:
        return None
    return w.applied(operation.function, [x], axis=moved, **keywords)


def _moved_axes(w: Any, axis: Any, rank: int) -> Any:
    """Axes behind that of the calls, as a literal; None where they are not known."""
    literal = w.literal(axis)
    if literal is None:
        return None
    (value,) = literal
    counted = value if isinstance(value, tuple) else () if value is None else (value,)
    if not all(-rank <= k < rank for k in counted):
        return None
    if value is None:
        return constant(1) if rank == 1 else tuple_of([constant(k) for k in range(1, rank + 1)])
    if isinstance(value, tuple):
        return tuple_of([constant(k + 1 if k >= 0 else k) for k in value])
    return constant(value + 1 if value >= 0 else value)


def over_one_axis(w: Any, operation: Apply) -> Any:
    """As `over_axes`, for functions that take an array without an axis apart: only with one axis."""
    x, *rest = operation.args
    axis = rest[0] if rest else dict(operation.keywords).get("axis", constant(None))
    literal = w.literal(axis)
    if literal is None or isinstance(literal[0], tuple) or (literal[0] is None and w.rank(x) != 1):
        return None
    return over_axes(w, operation)


# ------------------------------------------------------------ products


def product(w: Any, operation: Apply) -> Any:
    """`a @ b`, and `np.dot` where it is the same."""
    if operation.keywords or len(operation.args) != 2:
        return None
    a, b = operation.args
    ranks = w.rank(a), w.rank(b)
    own = w.form(a), w.form(b)
    if None in ranks or not all(isinstance(f, bool) for f in own):
        return None
    if 0 in ranks:
        return elementwise_product(w, a, b) if operation.function is np.dot else None
    if max(ranks) > 2 and operation.function is np.dot:
        return None
    one = constant(None)

    def times(x: Any, y: Any) -> Any:
        return gast.BinOp(left=x, op=gast.MatMult(), right=y)

    def column(x: Any) -> Any:  # each vector as a matrix of one column
        return subscript(x, tuple_of([constant(...), one]))

    match ranks, own:
        case (1, 1), (True, True):
            return w.applied(np.vecdot, [_conjugated(w, a), b])
        case (1, 1), (True, False):
            return times(a, b)
        case (1, 1), _:
            return times(b, a)
        case (2, 1), (False, True):
            return times(b, _transposed(a))
        case (2, 1), (True, True):
            return subscript(times(a, column(b)), tuple_of([constant(...), constant(0)]))
        case (1, 2), (True, True):
            row = subscript(a, tuple_of([whole_axis(), one]))
            return subscript(times(row, b), tuple_of([whole_axis(), constant(0)]))
        case ((2, 1) | (1, 2) | (2, 2)), _:
            return times(a, b)
        case (r, s), _ if r >= 2 and s >= 2:
            return times(w.aligned(a, max(r, s)), w.aligned(b, max(r, s)))
    return None


def elementwise_product(w: Any, a: Any, b: Any) -> Any:
    rank = max(w.rank(a), w.rank(b))
    return gast.BinOp(left=w.aligned(a, rank), op=gast.Mult(), right=w.aligned(b, rank))


def _conjugated(w: Any, a: Any) -> Any:
    """`np.vecdot` conjugates its first operand."""
    return a if w.is_real(a) else w.applied(np.conj, [a])


def _transposed(a: Any) -> Any:
    return gast.Attribute(value=a, attr="T", ctx=gast.Load())


def whole_axis() -> Any:
    """The slice `:`."""
    return gast.Slice(lower=None, upper=None, step=None)


def outer(w: Any, operation: Apply) -> Any:
    """`np.outer` of two vectors."""
    if operation.keywords or len(operation.args) != 2 or [w.rank(a) for a in operation.args] != [1, 1]:
        return None
    a, b = operation.args
    left = subscript(a, tuple_of([constant(...), constant(None)]))
    right = subscript(b, tuple_of([constant(...), constant(None), whole_axis()])) if w.form(b) else b
    return gast.BinOp(left=left, op=gast.Mult(), right=right)


def einsum(w: Any, operation: Apply) -> Any:
    """`np.einsum` with one letter more for the axis of the calls."""
    subscripts, *operands = operation.args
    literal = w.literal(subscripts)
    if operation.keywords or literal is None or not isinstance(literal[0], str):
        return None
    text = literal[0].replace(" ", "")
    if "." in text or "->" not in text:
        return None
    inputs, result = text.split("->")
    terms = inputs.split(",")
    letter = next((c for c in "nmkpqrstuvwxyzabcdefghijlo" if c not in text), None)
    if letter is None or len(terms) != len(operands):
        return None
    if not all(isinstance(w.form(o), bool) for o in operands):
        return None
    new = [letter + t if w.form(o) else t for t, o in zip(terms, operands, strict=True)]
    return w.applied(np.einsum, [constant(f"{','.join(new)}->{letter}{result}"), *operands])


# ------------------------------------------------------------ shapes


def same(w: Any, operation: Apply) -> Any:
    """A function that does the same with one axis more: copies, parts of complex numbers."""
    x, *rest = operation.args
    if rest or operation.keywords or w.form(x) is not True:
        return None
    node = operation.node
    return node if isinstance(node, gast.Attribute) else w.applied(operation.function, [x])


def astype(w: Any, operation: Apply) -> Any:
    """`x.astype(dtype)`."""
    return operation.node if w.form(operation.args[0]) is True else None


def transposed(w: Any, operation: Apply) -> Any:
    """`x.T`, and `np.transpose(x, axes)`."""
    x, *rest = operation.args
    rank = w.rank(x)
    axes = rest[0] if len(rest) == 1 else dict(operation.keywords).get("axes")
    if rank is None or len(rest) > 1 or w.form(x) is not True:
        return None
    if rank < 2:
        return x if axes is None else None
    literal = (None,) if axes is None else w.literal(axes)
    if literal is None:
        return None
    if rank == 2 and literal[0] is None:
        return w.applied(np.swapaxes, [x, constant(1), constant(2)])
    order = range(rank)[::-1] if literal[0] is None else [k % rank for k in literal[0]]
    if sorted(order) != list(range(rank)):
        return None
    return w.applied(np.transpose, [x, tuple_of([constant(0), *[constant(k + 1) for k in order]])])


def reshaped(w: Any, operation: Apply) -> Any:
    """`np.reshape`, `x.reshape`, `np.ravel` to lengths that are given."""
    x, *rest = operation.args
    if operation.keywords or w.found.is_changed(x) or w.form(x) is not True or w.rank(x) is None:
        return None
    if operation.function is np.ravel:
        rest = [constant(-1), *rest]  # with an order, which is refused
    if not rest or any(map(w.found.reads, rest)):
        return None
    if len(rest) > 1 and operation.function is not reshape_method:
        return None
    lengths: list[Any] = rest
    if len(rest) == 1 and not isinstance(rest[0], gast.Starred):
        made = w.value_of(rest[0]) if isinstance(rest[0], gast.Name) else rest[0]
        if isinstance(made, gast.Tuple):
            lengths = list(made.elts)
        elif not w.is_integer(rest[0]):
            lengths = [gast.Starred(value=rest[0], ctx=gast.Load())]
    return w.applied(np.reshape, [x, tuple_of([load(w.count), *lengths])])


def stacked(w: Any, operation: Apply) -> Any:
    """`np.array` and `np.stack` of a list of values, `np.concatenate`."""
    items, *rest = operation.args
    keywords = dict(operation.keywords)
    if operation.function in ARRAYS and not rest and not keywords and (nested := of_rows(w, items)):
        return nested
    axis = rest[0] if len(rest) == 1 else keywords.pop("axis", constant(0))
    literal, form = w.literal(axis), w.form(items)
    if form is True and operation.function in ARRAYS and not rest and not keywords:
        return w.applied(operation.function, [items])
    if len(rest) > 1 or keywords or literal is None or not isinstance(literal[0], int) or form is True:
        return None
    if operation.function in ARRAYS and rest:
        return None
    form = form.each if isinstance(form, Elements) else form
    rank = w.rank_of_items(items)
    function = np.concatenate if operation.function is np.concatenate else np.stack
    if rank is None and (operation.function in ARRAYS or literal[0] < 0):
        return None
    if rank is not None and literal[0] < -rank - (function is np.stack):
        return None
    if isinstance(form, tuple):
        items = w.lifted(items, (True,) * len(form), operation.node)
    elif form is not True:
        return None
    place = literal[0] + 1 if literal[0] >= 0 else literal[0]
    return w.applied(function, [items], axis=constant(place))


def of_rows(w: Any, items: Any) -> Any:
    """`np.array` of lists of lists; None for other values."""
    form = w.whole(w.kind(items), items)
    depth, part = 0, form
    while not isinstance(part, bool):
        parts = part if isinstance(part, tuple) else (part.each,)
        if any(p != parts[0] for p in parts):
            return None
        depth, part = depth + 1, parts[0]
    if depth < 2 or not part:
        return None
    made = w.applied(np.array, [w.lifted(items, form, items)])
    return w.applied(np.moveaxis, [made, constant(depth), constant(0)])


def joined_side_by_side(w: Any, operation: Apply) -> Any:
    """`np.hstack`, `np.vstack` and `np.column_stack` of vectors, or of matrices."""
    items, rank = operation.args[0], w.rank_of_items(operation.args[0])
    if operation.keywords or len(operation.args) != 1 or rank not in (1, 2):
        return None
    is_along = operation.function is np.hstack
    function = np.concatenate if rank == 2 or is_along else np.stack
    axis = 0 if (rank == 1 and is_along) or (rank == 2 and operation.function is np.vstack) else 1
    axis = 0 if rank == 1 and operation.function is np.vstack else axis
    node = operation.node
    return stacked(w, Apply(function, (items,), (("axis", constant(axis)),), node))


ARRAYS = {np.array, np.asarray}


def largest(sign: type[gast.cmpop]) -> Rule:
    """The builtin `max` or `min` of two numbers: the second one, if it is larger or less."""

    def rule(w: Any, operation: Apply) -> Any:
        if operation.keywords or len(operation.args) != 2 or [w.rank(a) for a in operation.args] != [0, 0]:
            return None
        a, b = operation.args
        return w.applied(np.where, [gast.Compare(left=b, ops=[sign()], comparators=[a]), b, a])

    return rule


def summed(w: Any, operation: Apply) -> Any:
    """The builtin `sum` of a list of numbers or arrays."""
    items = operation.args[0]
    is_list = w.form(items) == Elements(True) and len(operation.args) == 1
    return operation.node if is_list and not operation.keywords else None


def filled(w: Any, operation: Apply) -> Any:
    """`np.full_like(x, number)` of a number for each call."""
    if operation.keywords or len(operation.args) != 2 or not w.is_float_array(operation.args[0]):
        return None
    x, value = operation.args
    if w.form(value) is not True or w.rank(value) != 0:
        return None
    return w.applied(batches.full_each, [value, subscript(x, constant(0)) if w.form(x) else x])


def like_value(made: Any) -> Rule:
    """A helper that gives the first argument the shape of the second, for all calls."""

    def rule(w: Any, operation: Apply) -> Any:
        dx, x, *rest = operation.args
        keywords = dict(operation.keywords)
        if w.form(dx) is not True or not isinstance(w.form(x), bool) or not w.is_number(x):
            return None
        if any(map(w.found.reads, [*rest, *keywords.values()])):
            return None
        x = subscript(x, constant(0)) if w.form(x) else x
        return w.applied(made, [dx, x, *rest], **keywords)

    return rule


REDUCTIONS = (
    np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.std, np.var, np.median,
)  # fmt: skip
ALONG = (np.cumsum, np.cumprod, np.argmax, np.argmin)
RULES: dict[Any, Rule] = {
    **dict.fromkeys(REDUCTIONS, over_axes),
    **dict.fromkeys(ALONG, over_one_axis),
    **dict.fromkeys((operator.matmul, np.matmul, np.dot), product),
    np.outer: outer,
    np.einsum: einsum,
    **dict.fromkeys((np.copy, np.real, np.imag, np.conj), same),
    np.astype: astype,
    **dict.fromkeys((np.transpose, transpose_method), transposed),
    **dict.fromkeys((np.reshape, reshape_method, np.ravel), reshaped),
    **dict.fromkeys((np.array, np.asarray, np.stack, np.concatenate), stacked),
    **dict.fromkeys((np.hstack, np.vstack, np.column_stack), joined_side_by_side),
    np.full_like: filled,
    max: largest(gast.Gt),
    min: largest(gast.Lt),
    sum: summed,
    adjoints.unbroadcast: like_value(batches.reduce_each),
    adjoints.conform: like_value(batches.reduce_each),
    adjoints.broadcast_like: like_value(batches.broadcast_each),
    adjoints.unreduce: like_value(batches.unreduce_each),
}
