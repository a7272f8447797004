"""What differentiation tells of the code that it makes, and what it asks for at an operand and at a call."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Generation", "Link", "Slot"]


@dataclass(frozen=True)
class Slot:
    """An active operand of an operation: the rule's gradient that belongs to it, and which of the variadic
    ones, by position or name (`part`).
    """

    name: str
    gradient: int
    part: int | str | None
    parameter: str


@dataclass(frozen=True)
class Generation:
    """What is known of generated code: the lists that are traces, the names of adjoints or tangents, the
    kinds of all other names, the name of the closure that holds the reverse sweep, the variables that
    adjoints are of, the names of those adjoints that broadcasting has yet to spread, and of sums with such,
    and pairs of variables that are arrays of the same shape.
    """

    traces: frozenset[str]
    derivatives: frozenset[str]
    kinds: Mapping[str, Any]
    bprop: str | None = None
    adjoint_of: Mapping[str, str] = field(default_factory=dict)
    spreading: Set[str] = frozenset()
    stretched: Set[str] = frozenset()
    same_shape: Set[frozenset[str]] = frozenset()


@dataclass(frozen=True)
class Link:
    """The derivative of a user's function: its name, what stands for it, and the function's parameters with
    their defaults.
    """

    name: str
    function: Any
    parameters: tuple[tuple[str, Any], ...]
