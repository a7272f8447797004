"""Views of whole arrays that insert axes of length one or reverse axes, `b[::-1, None]`, and their
inverses.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..trees.nodes import call, constant, tuple_of
from ..trees.rebuild import rebuilt

__all__ = ["is_turned", "squeezing", "without_kept_axes"]


def squeezing(facts: Facts, base: Any, index: Any) -> Any:
    """The index that inverts such a view: `(:, :, 0)` for `b[..., None]` of two axes; None for any other
    index.
    """

    def is_none(part: Any) -> bool:
        value = part.value if isinstance(part, gast.Constant) else facts.program.resolve(part)
        return value is None

    rank = facts.domain.rank(facts.kind(base))
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    turned = sum(map(is_turned, parts))
    colons = sum(map(is_all, parts)) + turned
    dots = sum(isinstance(p, gast.Constant) and p.value is ... for p in parts)
    new = sum(map(is_none, parts))
    if rank is None or not new + turned or dots > 1 or colons > rank or new + colons + dots < len(parts):
        return None
    found: list[Any] = []
    for p in parts:
        rest = rank - colons if isinstance(p, gast.Constant) and p.value is ... else 1
        same = p if is_turned(p) else gast.Slice(lower=None, upper=None, step=None)
        found += [constant(0)] if is_none(p) else [same] * rest
    while is_all(found[-1]):
        found.pop()
    return found[0] if len(found) == 1 else tuple_of(found)


def is_all(part: Any) -> bool:
    """Whether a part of an index is `:`."""
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def is_turned(part: Any) -> bool:
    """Whether a part of an index is `::-1`."""
    match part:
        case gast.Slice(lower=None, upper=None, step=gast.UnaryOp(op=gast.USub(), operand=step)):
            return isinstance(step, gast.Constant) and step.value == 1
    return False


def without_kept_axes(node: Any) -> Any:
    """`np.sum(x, axis=1)` for `np.sum(x, axis=1, keepdims=True)[:, 0]` and `f(x)` for `f(x)[:, None][:, 0]`,
    also negated; None for any other expression.
    """
    match node:
        case gast.Subscript(value=gast.Subscript(value=gast.Call() as whole, slice=index)):
            made, (*others, last) = (
                i.elts if isinstance(i, gast.Tuple) else [i] for i in (index, node.slice)
            )
            is_inverse = getattr(made[-1], "value", 0) is None and getattr(last, "value", None) == 0
            if is_inverse and len(others) == len(made) - 1 and all(map(is_all, [*others, *made[:-1]])):
                return whole
        case gast.Subscript(value=gast.UnaryOp(op=gast.USub(), operand=operand) as negated):
            found = without_kept_axes(rebuilt(node, value=operand))
            return None if found is None else rebuilt(negated, operand=found)
        case gast.Subscript(value=gast.Call(func=gast.Attribute(attr="sum") as function, args=[x]) as total):
            given = {k.arg: k.value for k in total.keywords}
            if given.keys() != {"axis", "keepdims"} or getattr(given["keepdims"], "value", None) is not True:
                return None
            parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
            axes = given["axis"].elts if isinstance(given["axis"], gast.Tuple) else [given["axis"]]
            taken_out = [k for k, p in enumerate(parts) if isinstance(p, gast.Constant) and p.value == 0]
            others = [p for k, p in enumerate(parts) if k not in taken_out]
            if [getattr(a, "value", None) for a in axes] == taken_out and all(map(is_all, others)):
                return call(function, x, axis=given["axis"])
    return None
