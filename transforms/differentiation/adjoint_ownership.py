"""Adjoints that several variables have at once, as those of the terms of a sum: the last of them owns what
the others have passed on.

    z = x + y       dz is the adjoint of x and of y;
    y = sin(w)      dw = dz * cos(w) is made of it, and from here on it is that of x alone.

So it may be changed in place without a copy. This is followed along a row of assignments; whatever else a
program does with variables ends it.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import names_read
from .adjoint import Adjoint, Env

__all__ = ["Lending"]


class Lending:
    """`holders` has the variables that have an adjoint, by its name."""

    def __init__(self) -> None:
        self.holders: dict[str, frozenset[str]] = {}

    def begins(self, statement: Any) -> None:
        """Notes that a statement is to be reversed."""
        if not is_assignment(statement):
            self.holders.clear()

    def ends(self, statement: Any) -> None:
        """Notes that a statement has been reversed; the adjoint of what it assigns may be anywhere now."""
        if not is_assignment(statement):
            self.holders.clear()
        elif any(statement.targets[0].id in held for held in self.holders.values()):
            name = statement.targets[0].id
            self.holders = {n: held for n, held in self.holders.items() if name not in held}

    def pass_on(self, env: Env, variable: str, adjoint: Adjoint, receivers: set[str]) -> None:
        """Notes that the adjoint of a variable has gone on to receivers, and that nothing else holds it."""
        if not isinstance(adjoint.value, gast.Name):
            return
        name = adjoint.value.id
        before = self.holders.pop(name, frozenset({variable} if adjoint.owned else ()))
        if variable not in before:
            return
        holders = frozenset(v for v, a in env.items() if name in names_read(a.value))
        if not holders <= before | receivers or any(env[v] != Adjoint(env[v].value) for v in holders):
            return
        if len(holders) > 1:
            self.holders[name] = holders
        for v in holders if len(holders) == 1 else ():
            env[v] = Adjoint(env[v].value, owned=True)


def is_assignment(statement: Any) -> bool:
    return isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
