"""The facts of a program, over s2sad's primitives and kinds."""

from __future__ import annotations

from collections.abc import Callable

from ..kinds import domain
from ..transforms.analyses.facts import CallEffects, Facts, Kinds
from ..transforms.trees.program import Program
from .primitive_table import PRIMITIVES

__all__ = ["facts_of"]


def facts_of(
    program: Program,
    kinds: Kinds | None,
    effects: CallEffects | None = None,
    find_kinds: Callable[[Program], Kinds] | None = None,
) -> Facts:
    """The facts of a program whose names have these kinds."""
    return Facts(program, kinds, PRIMITIVES, domain, effects, find_kinds)
