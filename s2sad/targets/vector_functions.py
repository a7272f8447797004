"""The elementary functions that loops of compiled code call, by their names: those without branches where the
processor multiplies and adds in one operation, on others those of the library. Importing this module imports
Numba.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import binding

from .vector_erf import erf
from .vector_math import cbrt, exp, expm1, log, log1p, power, tanh
from .vector_trigonometry import arctan, cos, sin, tan

__all__ = ["FUNCTIONS"]


def has_fma() -> bool:
    """Whether the processor multiplies and adds in one operation."""
    triple = binding.get_process_triple()
    return triple.startswith(("aarch64", "arm64")) or bool(binding.get_host_cpu_features().get("fma"))


OWN = (arctan, cbrt, cos, erf, exp, expm1, log, log1p, power, sin, tan, tanh)
FUNCTIONS: dict[str, Any] = {
    f.__name__: f if has_fma() else getattr(np, f.__name__, math.erf) for f in OWN
}  # of real numbers
