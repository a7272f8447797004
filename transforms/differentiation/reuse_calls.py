"""Reads values that the program has computed in place of the same calls in the code of rules.

    c = np.cos(x)                    c = np.cos(x)
    s = np.sin(x)                    s = np.sin(x)
    ...                         ->   ...
    dx = ds * np.cos(x)              dx = ds * c

The call stands in the block of the statement whose reverse is written, and both read the same values.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import gast

from ..trees.nodes import load
from ..trees.program import MISSING
from ..trees.rebuild import map_children
from .rule_application import Emitter

__all__ = ["ComputedCalls"]

Key = tuple[Any, ...]


class ComputedCalls:
    """The calls of pure functions in a program whose results and arguments are never changed."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter

    @cached_property
    def _names(self) -> dict[tuple[int | None, Key], str]:
        """The names of the results, by block and call."""
        definitions = self.emitter.definitions
        found: dict[tuple[int | None, Key], str] = {}
        for name, value in definitions.values():
            key = self._key(value) if isinstance(value, gast.Call) else None
            if key is not None and not self.emitter.changes.is_changed(name):
                found.setdefault((definitions.block_of(name), key), name)
        return found

    def _key(self, call: Any) -> Key | None:
        """The function and the arguments of a call that gives the same value wherever it stands; else
        None.
        """
        emitter = self.emitter
        function = emitter.object_of(call.func)
        if function is MISSING or call.keywords or not emitter.primitives.is_pure(function):
            return None
        arguments: list[Any] = []
        for a in call.args:
            match a:
                case gast.Name(id=name) if emitter.times_bound[name] == 1:
                    if emitter.changes.is_changed(name):
                        return None
                    arguments.append(name)
                case gast.Constant(value=value):
                    arguments.append((type(value), repr(value)))
                case _:
                    return None
        return (id(function), *arguments) if any(isinstance(a, str) for a in arguments) else None

    def reused(self, node: Any, at: str) -> Any:
        """The code of the rule of the statement that assigns `at`, with names of values for their calls."""
        if self.emitter.careful or isinstance(node, (gast.Name, gast.Constant)):
            return node
        if isinstance(node, gast.Call):
            key = self._key(node)
            name = None if key is None else self._names.get((self.emitter.definitions.block_of(at), key))
            if name is not None:
                return load(name)
        return map_children(node, lambda child: self.reused(child, at))
