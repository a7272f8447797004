"""The rules of `with grad_of(x) as dx:`: the block is a function, through which the adjoint goes."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from ..primitives.record import bprop
from ..runtime.adjoints import copy_adjoint
from ..runtime.hooks import hooked, replaced_adjoint


def same(dx, captured):
    """A hook that leaves the adjoint as it is."""
    return dx


@bprop(hooked, pure=False, samples=[(1.5, same, ()), (np.array([0.5, -1.0]), same, ())])
def hooked_(x, hook, captured, out, dout):
    return replaced_adjoint(hook(copy_adjoint(dout), captured), out), None, None


@hooked_.jvp
def hooked_jvp(x, out, dx):
    return dx


@bprop(replaced_adjoint, "linear", moves=True, samples=[(1.5, 2.5), (np.array([0.5, -1.0]), np.zeros(2))])
def replaced_adjoint_(d, x, out, dout):
    return dout, None
