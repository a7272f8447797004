"""Names for the objects that passes write into a program: builtins, helpers, modules.

An object has its own name where that refers to it; where the user's code uses the name otherwise, a fresh
name is bound to the object.
"""

from __future__ import annotations

from typing import Any

from .nodes import load
from .program import Names, Program, identifier

__all__ = ["Objects"]


class Objects:
    """Finds names for objects; `bindings` are those that a program needs in addition to its own."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program, self.names = program, names
        self.bindings: dict[str, Any] = {}

    def name(self, value: Any, base: str = "") -> str:
        """A name that refers to the object."""
        base = base or value.__name__
        if identifier(base) == base and self.program.resolve(load(base)) is value:
            return base
        for name, found in {**self.program.bindings, **self.bindings}.items():
            if found is value:
                return name
        name = self.names.fresh(base)
        self.bindings[name] = value
        return name

    def all_bindings(self) -> dict[str, Any]:
        """The program's bindings with those that were added."""
        return {**self.program.bindings, **self.bindings}
