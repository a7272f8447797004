"""Powers of real numbers: Python's are complex for a negative base with a fractional exponent."""

from __future__ import annotations

from typing import Any

from ..transforms.errors import NonDifferentiableError

__all__ = ["ComplexPowerError", "real_power"]


class ComplexPowerError(NonDifferentiableError):
    """A power of real numbers is complex, in a derivative that was generated for real ones."""


def real_power(x: Any, y: Any) -> Any:
    """`x ** y`; raises ComplexPowerError where that is complex, and x and y are not.

    >>> real_power(2.25, 0.5)
    1.5
    """
    out = x**y
    if type(out) is complex and type(x) is not complex and type(y) is not complex:
        raise ComplexPowerError(
            f"{x!r} ** {y!r} is complex",
            why="the function has side effects, so it cannot be run again with complex numbers",
            instead="write complex(x) ** y, or compute with np.float64(x), whose power is nan",
        )
    return out
