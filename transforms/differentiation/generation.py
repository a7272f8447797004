"""What differentiation is asked for, what it tells of the code that it makes, and what it asks for at an
operand and at a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..analyses.operations import Call

__all__ = ["Generation", "Link", "Linker", "Slot", "Task"]


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


class Linker(Protocol):
    """Finds the derivative of a user's function for a call: with respect to the arguments at `keys`, for
    arguments of these kinds; with `careful` somebody may take its exceptions.
    """

    def __call__(
        self,
        operation: Call,
        keys: list[int | str],
        args: list[Any],
        keywords: dict[str, Any],
        careful: bool = False,
    ) -> Link: ...


@dataclass(frozen=True)
class Task:
    """What is to be differentiated: in which form ("grad", "value_and_grad", "vjp" or "jvp"), with respect to
    which parameters. `shadowed` names have shadows: their objects are those of others, too, or parts of them.

    Reverse mode returns the one gradient itself if it is `bare`, and the atom `aux` beside the value. If the
    task is `careful`, the exceptions of the forward sweep matter. If it is `linked`, others call the
    function, with what may be objects where kinds do not tell.
    """

    form: str
    wrt: tuple[str, ...]
    link: Linker
    shadowed: frozenset[str] = frozenset()
    bare: bool = False
    aux: Any = None
    careful: bool = False
    linked: bool = False


@dataclass(frozen=True)
class Link:
    """The derivative of a user's function: its name, what stands for it, and the function's parameters with
    their defaults.
    """

    name: str
    function: Any
    parameters: tuple[tuple[str, Any], ...]
