"""What analyses and lowering ask of the forms of functions, which the driver makes and keeps."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, Protocol

from ..kinds.lattice import Kind
from ..transforms.analyses.facts import CallEffects, Facts
from ..transforms.trees.program import Program

__all__ = ["FunctionForms"]

Kinds = Mapping[str, Kind]


class FunctionForms(Protocol):
    """The forms of one function and of those that it calls."""

    @property
    def effects(self) -> CallEffects: ...

    def plain(self, function: Any, args: list[Kind], keywords: dict[str, Kind]) -> Any:
        """The plain function that a call runs."""

    def bind(self, function: FunctionType, args: list[Kind], keywords: dict[str, Kind]) -> Kinds | None:
        """The kinds of a function's parameters in a call, or None when the call does not fit."""

    def normal_form(self, function: FunctionType) -> Program:
        """A function in normal form."""

    def inlinable(self, function: Any, call: Any) -> Program | None:
        """The normal form of a user's function for a call, or None for what is declared or has no source."""

    def taken(self, program: Program, given: Kinds) -> Program:
        """A function in normal form without the branches that are never taken."""

    def put_together(self, program: Program, kinds: Kinds, one_name: bool) -> Program:
        """A function in normal form with what can be put in where it is called."""

    def expanded(self, function: FunctionType, given: Kinds) -> Facts:
        """A function in single assignment, with the kinds of its names."""

    def facts(self, program: Program, kinds: Kinds, before: bool = False) -> Facts:
        """A program with the kinds of its names, and what calls do."""
