"""The gradients of the programs as an expert writes them by hand for Numba: loops over elements."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def without_compiling(name: str) -> Callable[..., Any]:
    """The function as Python runs it."""
    found: Callable[..., Any] = globals()[name].py_func
    return found
