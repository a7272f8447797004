"""Kernels of numerical programs, as NumPy users write them, and adjoints of them written by hand.

`KERNELS` has them by name. They are those of PolyBench and NPBench, written anew from their definitions.
"""

from __future__ import annotations

from . import bodies, fields, products, solvers, stencils, tables  # noqa: F401  (they declare kernels)
from .declare import KERNELS, Kernel

__all__ = ["KERNELS", "Kernel"]
