"""Variables that closures share, as objects, in programs whose closures are objects."""

from __future__ import annotations

from typing import Any

__all__ = ["Cell", "absent"]


class Cell:
    """A variable: its value is an attribute."""

    __s2sad_plain__ = True
    value: Any

    def put(self, value: Any) -> bool:
        """Sets the value, in the condition of a comprehension."""
        self.value = value
        return True


def absent() -> None:
    """What a parameter is whose default is held by the closure."""
