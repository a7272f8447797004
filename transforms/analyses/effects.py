"""What a call of a function without a rule may do to what it is given, and to what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ..errors import S2sadError, UnsupportedSyntaxError

__all__ = ["ANYTHING", "ELSEWHERE", "NONE", "Effect", "Given"]

ELSEWHERE, NONE = "", "None"
Given = Mapping[str, Any]  # the atoms that the parameters of a call stand for


@dataclass(frozen=True)
class Effect:
    """What a call of a function may do.

    `changed` are the parameters whose arrays it changes in place, `shared` those that its result may share
    memory with; ELSEWHERE stands for anything else. `results` are the parameters whose objects its result may
    be, NONE for None and ELSEWHERE for anything else. `runs` is what a call of a derivative runs. If it
    `replaces`, objects and containers may hold other objects, containers and functions afterwards.
    """

    changed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    replaces: bool = False
    runs: FunctionType | None = field(default=None, compare=False)
    cause: UnsupportedSyntaxError | None = field(default=None, compare=False)  # why nothing is known of it
    unknown: S2sadError | None = field(default=None, compare=False)  # of a call that may do anything

    @property
    def known_result(self) -> str | None:
        """The one parameter that the result is, or NONE; None where only the run knows the result."""
        return next(iter(self.results)) if len(self.results) == 1 and ELSEWHERE not in self.results else None


ANYTHING = Effect(frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), True)
