"""The effect of a call of a function without a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ..errors import S2sadError, UnsupportedSyntaxError

__all__ = ["ANYTHING", "ELSEWHERE", "NONE", "Effect", "Given"]

ELSEWHERE, NONE = "", "None"
Given = Mapping[str, Any]  # the atoms that a call passes for each parameter


@dataclass(frozen=True)
class Effect:
    """What a call of a function may do.

    `changed` are the parameters whose arrays it changes in place, `shared` those that its result may share
    memory with; ELSEWHERE stands for any other object. `results` are the parameters that the result may be,
    NONE for None and ELSEWHERE for any other object. `runs` is the function that a call of a derivative runs.
    With `replaces`, the items and attributes of objects may be other objects and functions after the call.
    With `refuses`, a statement of the function, which may be reached, is refused: a `raise` stands there.
    """

    changed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    replaces: bool = False
    refuses: bool = False
    runs: FunctionType | None = field(default=None, compare=False)
    cause: UnsupportedSyntaxError | None = field(default=None, compare=False)  # why it is unknown
    unknown: S2sadError | None = field(default=None, compare=False)  # the refusal

    @property
    def known_result(self) -> str | None:
        """The one parameter that the result is, or NONE; None where the result is dynamic."""
        return next(iter(self.results)) if len(self.results) == 1 and ELSEWHERE not in self.results else None


ANYTHING = Effect(frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), frozenset({ELSEWHERE}), True)
