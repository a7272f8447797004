# mypy: allow-untyped-defs
"""The rules of the helpers that find adjoints by memory."""

from __future__ import annotations

from ..memory import adjoint_of, new_adjoints, shallow_copy
from ..registry import nondifferentiable

nondifferentiable([adjoint_of, new_adjoints, shallow_copy])
