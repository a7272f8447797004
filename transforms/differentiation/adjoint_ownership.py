"""Ownership of an adjoint that several variables share, as the terms of a sum do: the last of them owns it.

    z = x + y       dz is the adjoint of x and of y;
    y = sin(w)      dw = dz * cos(w) reads it, and from here on dz is the adjoint of x alone.

An owned adjoint is changed in place without a copy. Only runs of assignments are followed; any other
statement ends the sharing.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import names_read
from .adjoint import Adjoint, Env, Ownership, Plain

__all__ = ["SharedAdjoints"]


class SharedAdjoints:
    """Tracks shared adjoints: `holders` maps the name of an adjoint to the variables that have it."""

    def __init__(self) -> None:
        self.holders: dict[str, frozenset[str]] = {}

    def begins(self, statement: Any) -> None:
        """Called before a statement is reversed."""
        if not is_assignment(statement):
            self.holders.clear()

    def ends(self, statement: Any) -> None:
        """Called after a statement is reversed: the adjoint of its target may have aliases now."""
        if not is_assignment(statement):
            self.holders.clear()
        elif any(statement.targets[0].id in held for held in self.holders.values()):
            name = statement.targets[0].id
            self.holders = {n: held for n, held in self.holders.items() if name not in held}

    def pass_on(self, env: Env, variable: str, adjoint: Adjoint, receivers: set[str]) -> None:
        """Notes that the adjoint of a variable is now the adjoint of `receivers`, and has no other alias."""
        if not isinstance(adjoint.value, gast.Name):
            return
        name = adjoint.value.id
        before = self.holders.pop(name, frozenset({variable} if adjoint.is_owned else ()))
        if variable not in before:
            return
        holders = frozenset(v for v, a in env.items() if name in names_read(a.value))
        if not holders <= before | receivers or any(env[v] != Plain(env[v].value) for v in holders):
            return
        if len(holders) > 1:
            self.holders[name] = holders
        for v in holders if len(holders) == 1 else ():
            env[v] = Plain(env[v].value, ownership=Ownership.OWNED)


def is_assignment(statement: Any) -> bool:
    return isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
