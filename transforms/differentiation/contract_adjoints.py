"""Adjoints of two operands that were broadcast to each other, from an adjoint that is not spread yet.

What a sum over axes leaves has the same elements along these (`Adjoint.whole`). Multiplied by one of the
operands it has all elements along an axis along which the other one was repeated, so that it can be summed;
along an axis along which neither was, it still is the same for all.

    z = x * y                        ds = np.expand_dims(dout, axis)
    out = np.sum(z, axis)            dx = contracted(ds, y, x)
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply
from ..trees.nodes import call, load, names_read
from .adjoint import Adjoint
from .generation import Slot
from .reverse_state import Reverse

__all__ = ["fitted"]


def fitted(reverse: Reverse, operation: Apply, part: Adjoint, slot: Slot) -> Adjoint | None:
    """The adjoint of an operand from what a rule makes of one that is not spread; None where it would have
    to be.
    """
    if part.mask is not None or not reads_other(reverse, operation, part.value, slot.name):
        return None
    match part.value:
        case gast.BinOp(left=gast.Name() as left, op=gast.Mult(), right=gast.Name() as right):
            return Adjoint(call(reverse.helper("contracted"), left, right, load(slot.name)))
    return Adjoint(call(reverse.helper("fitted"), part.value, load(slot.name)))


def reads_other(reverse: Reverse, operation: Apply, value: Any, operand: str) -> bool:
    """Whether an expression reads the other one of two arrays."""
    operands = [o.id for o in operation.operands() if isinstance(o, gast.Name)]
    others = [n for n in operands if n != operand]
    are_arrays = all(reverse.domain.is_array(reverse.kind(load(n))) for n in operands)
    return len(operands) == 2 and len(others) == 1 and are_arrays and others[0] in names_read(value)
