"""Sums of products in adjoints, without an array for the product.

The adjoint of an operand that was repeated is a sum of products: of vectors `np.vdot`, along the last axis
`np.vecdot`.

    y = s * x                               ds = np.vdot(dout, x)
    y = x / np.sum(x, 1, keepdims=True)     ds = np.vecdot(-dout, y)[:, None] / s

An adjoint may not be spread yet. After a sum over axes all elements along them are the same
(`Reduced`). The product with one operand has all elements along an axis along which the other was
repeated, and is summed there; along the axes along which neither was repeated the elements stay the same.

    z = x * y                        ds = np.expand_dims(dout, axis)
    out = np.sum(z, axis)            dx = contracted(ds, y, x)
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply
from ..trees.nodes import call, constant, load, names_read, subscript, tuple_of
from .adjoint import Adjoint, Plain
from .adjoints import kinds_of_adjoints
from .derived_kinds import derived_kind
from .generation import Slot
from .reverse_state import Reverse

__all__ = ["fitted", "sum_of_product"]


def sum_of_product(reverse: Reverse, operation: Apply, out: str, value: Any, plan: Any) -> Any | None:
    """The sum of a product of two arrays in the shape of the result `out`, by the plan for an operand; None
    where it is no product of vectors, and not summed over the last axis alone.
    """
    match value:
        case gast.BinOp(left=left, op=gast.Mult(), right=right):
            factors = [left, right]
        case _:
            return None
    domain, kind = reverse.domain, reverse.facts.kind_of_name(out)
    if domain.is_foreign(kind):  # whose library may lack these functions, or have them for some layouts only
        return None
    rank = domain.rank(kind)
    kinds = [derived_kind(reverse, f, kinds_of_adjoints(reverse, f)) for f in factors]
    if not (rank and all(map(domain.is_array, kinds)) and domain.share_real_dtype([kind, *kinds])):
        return None
    full = [spans(reverse, operation, out, f) for f in factors]
    if plan == "sum" and rank == 1 and all(full):
        return reverse.array_call("vdot", left, right)
    if plan == ("kept", (rank - 1,)):
        plans = ["none" if f else domain.unbroadcast_plan(k, kind) for f, k in zip(full, kinds, strict=True)]
        if all(p == "none" or (p[0] == "kept" and rank - 1 not in p[1]) for p in plans):
            place = [*[gast.Slice(lower=None, upper=None, step=None)] * (rank - 1), constant(None)]
            found = reverse.array_call("vecdot", left, right)
            index = place[0] if rank == 1 else tuple_of(place)
            return subscript(found, index)
    return None


def spans(reverse: Reverse, operation: Apply, out: str, value: Any) -> bool:
    """Whether a factor surely has the shape of the result `out`."""
    match value:
        case gast.Name(id=name) if name in reverse.adjoint_of:
            return reverse.adjoint_of[name] == out and name not in reverse.spreading
        case gast.Name(id=name):
            return bool(name == out or reverse.shape_plan(operation, value, out) == "none")
        case gast.BinOp(left=left, right=right):
            return spans(reverse, operation, out, left) or spans(reverse, operation, out, right)
        case gast.UnaryOp(operand=operand):
            return spans(reverse, operation, out, operand)
    return False


def fitted(reverse: Reverse, operation: Apply, part: Adjoint, slot: Slot) -> Adjoint | None:
    """The adjoint of an operand from the rule's value for an adjoint that is not spread; None where it must
    be spread first.
    """
    if part.mask is not None or not reads_other(reverse, operation, part.value, slot.name):
        return None
    found = derived_kind(reverse, part.value, kinds_of_adjoints(reverse, part.value))
    if reverse.domain.unbroadcast_plan(reverse.kind(load(slot.name)), found) == "none":
        return Plain(part.value)  # where the other operand was repeated, this one was not
    match part.value:
        case gast.BinOp(left=gast.Name() as left, op=gast.Mult(), right=gast.Name() as right):
            return Plain(call(reverse.helper("contracted"), left, right, load(slot.name)))
    return Plain(call(reverse.helper("fitted"), part.value, load(slot.name)))


def reads_other(reverse: Reverse, operation: Apply, value: Any, operand: str) -> bool:
    """Whether an expression reads the other operand of an operation on two arrays."""
    operands = [o.id for o in operation.operands() if isinstance(o, gast.Name)]
    others = [n for n in operands if n != operand]
    are_arrays = all(reverse.domain.is_array(reverse.kind(load(n))) for n in operands)
    return len(operands) == 2 and len(others) == 1 and are_arrays and others[0] in names_read(value)
