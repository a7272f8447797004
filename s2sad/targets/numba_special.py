"""Numba's implementations of functions of `scipy.special`, of real numbers, by SciPy's own in C.

They are called by name, so that machine code on disk is right in another process. Importing this module
imports Numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import types
from numba.extending import overload

from .numba_helpers import is_real
from .special_functions import special_functions

__all__ = ["declare_special"]

declared: set[Any] = set()


def declare_special() -> None:
    """Tells Numba of all functions that there are."""
    for function, address in special_functions().items():
        if function not in declared:
            declared.add(function)
            declare(function, address)


def declare(function: Any, address: int) -> None:
    symbol = f"s2sad_special_{function.__name__}"
    binding.add_symbol(symbol, address)
    taken = *[types.float64] * function.nin, types.intc  # the last one tells not to look for overrides
    names = ", ".join(f"x{k}" for k in range(function.nin))
    scope = {"own": types.ExternalFunction(symbol, types.float64(*taken)), "is_real": is_real}
    exec(_TEXT.format(names=names, numbers=", ".join(f"float(x{k})" for k in range(function.nin))), scope)
    overload(function)(scope["declared"])


_TEXT = """
def declared({names}):
    def number({names}):
        return own({numbers}, 1)
    return number if all(map(is_real, ({names},))) else None
"""
