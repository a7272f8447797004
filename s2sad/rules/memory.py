# mypy: allow-untyped-defs
"""The rules of the helpers that find adjoints by memory."""

from __future__ import annotations

from ..primitives.record import nondifferentiable
from ..runtime.shadow_table import adjoint_of, new_adjoints, shallow_copy

nondifferentiable([new_adjoints])
nondifferentiable([adjoint_of], sharing="view")
nondifferentiable([shallow_copy], sharing="unknown")
