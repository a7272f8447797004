"""The protocol by which analyses and lowering ask for the forms of functions; the driver makes and keeps
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any, Protocol

from ..kinds.lattice import Kind
from ..transforms.analyses.facts import CallEffects, Facts
from ..transforms.trees.program import Program

__all__ = ["FunctionForms"]

Kinds = Mapping[str, Kind]


class FunctionForms(Protocol):
    """The forms of one function and of its callees."""

    @property
    def effects(self) -> CallEffects: ...

    @property
    def sharing(self) -> dict[Any, Facts]:
        """The functions that share a heap, lowered for it."""

    def plain(self, function: Any, args: list[Kind], keywords: dict[str, Kind]) -> Any:
        """The plain Python function that a call executes."""

    def bind(self, function: FunctionType, args: list[Kind], keywords: dict[str, Kind]) -> Kinds | None:
        """The kinds of a function's parameters in a call, or None when the call does not fit."""

    def normal_form(self, function: FunctionType) -> Program:
        """A function in normal form."""

    @property
    def outer(self) -> bool:
        """Whether objects of outer scopes have variables."""

    def callee_form(self, function: FunctionType) -> Program:
        """A function in normal form, with variables for outer objects where the caller has these."""

    def inlinable(self, function: Any, call: Any) -> Program | None:
        """The normal form of the callee of a call; None for a primitive, or without source."""

    def taken(self, program: Program, given: Kinds) -> Program:
        """A function in normal form, without the branches that these kinds never take."""

    def assuming(self) -> AbstractContextManager[None]:
        """While a kind is assumed: the forms and effects that are made meanwhile are dropped."""

    def reads(self, function: FunctionType) -> AbstractContextManager[None]:
        """While a function is read."""

    def with_inlined_callees(self, program: Program, kinds: Kinds, one_name: bool) -> Program:
        """A function in normal form, with its callees inlined where that is possible."""

    def expanded(self, function: FunctionType, given: Kinds) -> Facts:
        """The facts of a function in single assignment, for arguments of these kinds."""

    def kinds(self, program: Program, kinds: Kinds, before: bool = False) -> dict[str, Kind]:
        """The kinds of a program's names."""

    def facts(self, program: Program, kinds: Kinds, before: bool = False) -> Facts:
        """The facts of a program: the kinds of its names and the effects of its calls."""
