"""The records that a differentiation takes and returns."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..analyses.operations import Call

__all__ = ["Generation", "Link", "Linker", "Slot", "Task"]


@dataclass(frozen=True)
class Slot:
    """An active operand of an operation, with its gradient in the rule; `part` is its position or name among
    variadic operands.
    """

    name: str
    gradient: int
    part: int | str | None
    parameter: str


@dataclass(frozen=True)
class Generation:
    """The facts that simplification needs of generated code: the lists that are traces (`traces`), the names
    of adjoints or tangents (`derivatives`), the kinds of other names, the closure of the reverse sweep
    (`bprop`), the variable of each adjoint, the adjoints that broadcasting has yet to spread (`spreading`),
    and the statements that replace the removed assignments of some names, to raise what these would
    (`checks`).
    """

    traces: frozenset[str]
    derivatives: frozenset[str]
    kinds: Mapping[str, Any]
    bprop: str | None = None
    adjoint_of: Mapping[str, str] = field(default_factory=dict)
    spreading: Set[str] = frozenset()
    checks: Mapping[str, list[Any]] = field(default_factory=dict)


class Linker(Protocol):
    """Finds the derivative of the callee of a call with respect to the arguments at `keys`, for arguments of
    these kinds; with `careful`, exceptions of the call may be caught. Of a tuple that it returns,
    `results` says which items have adjoints.
    """

    def __call__(
        self,
        operation: Call,
        keys: list[int | str],
        args: list[Any],
        keywords: dict[str, Any],
        careful: bool = False,
        results: tuple[bool, ...] | None = None,
    ) -> Link: ...


@dataclass(frozen=True)
class Task:
    """A derivative to be written: its form ("grad", "value_and_grad", "vjp" or "jvp") and the parameters that
    it is taken of. The objects of `shadowed` names have aliases, so their adjoints are shadows.

    Reverse mode returns the only gradient without a tuple if `bare`. The atom `aux` is returned beside the
    value, or last. With `careful`, exceptions of the forward sweep may be caught. With `linked`, generated
    code calls the function, with arguments that may be objects where their kinds are unknown. Of a result
    that is a tuple, `results` says which items have cotangents; the others are given None. With `outlived`,
    the objects that the function is given may be changed before the reverse sweep; with `changing`, those
    that it gives to others.
    """

    form: str
    wrt: tuple[str, ...]
    link: Linker
    shadowed: frozenset[str] = frozenset()
    bare: bool = False
    aux: Any = None
    careful: bool = False
    linked: bool = False
    results: tuple[bool, ...] | None = None
    outlived: bool = False
    changing: bool = False


@dataclass(frozen=True)
class Link:
    """The derivative of a callee: its name, the expression's object, and the callee's parameters with their
    defaults; `results` as asked for, None where the cotangent must have all items.
    """

    name: str
    function: Any
    parameters: tuple[tuple[str, Any], ...]
    results: tuple[bool, ...] | None = None
