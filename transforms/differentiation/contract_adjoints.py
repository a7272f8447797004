"""Adjoints of two operands that were broadcast together, from an adjoint that is not spread yet.

After a sum over axes all elements along them are the same (`Adjoint.whole`). The product with one operand has
all elements along an axis along which the other was repeated, and is summed there; along the axes along which
neither was repeated the elements stay the same.

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
    """The adjoint of an operand from the rule's value for an adjoint that is not spread; None where it must
    be spread first.
    """
    if part.mask is not None or not reads_other(reverse, operation, part.value, slot.name):
        return None
    match part.value:
        case gast.BinOp(left=gast.Name() as left, op=gast.Mult(), right=gast.Name() as right):
            return Adjoint(call(reverse.helper("contracted"), left, right, load(slot.name)))
    return Adjoint(call(reverse.helper("fitted"), part.value, load(slot.name)))


def reads_other(reverse: Reverse, operation: Apply, value: Any, operand: str) -> bool:
    """Whether an expression reads the other operand of an operation on two arrays."""
    operands = [o.id for o in operation.operands() if isinstance(o, gast.Name)]
    others = [n for n in operands if n != operand]
    are_arrays = all(reverse.domain.is_array(reverse.kind(load(n))) for n in operands)
    return len(operands) == 2 and len(others) == 1 and are_arrays and others[0] in names_read(value)
