"""The statements that become loops, and the groups of those that share one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .read_expressions import WHOLE, integer, step_of

__all__ = ["Group", "Step", "are_sums", "shift_of"]


@dataclass
class Step:
    """A statement on arrays: `target` (at a `region`) is assigned what `value` is element by element, or its
    reduction.
    """

    statement: ast.stmt
    target: str
    value: ast.expr
    region: str = WHOLE
    place: ast.expr | None = None  # the target of a store
    op: ast.operator | None = None  # of a store that updates
    reduction: str = ""
    axes: tuple[int, ...] = ()
    keeps: bool = False
    reads: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    sizes: list[dict[str, None]] = field(default_factory=list)  # for each axis the texts of its lengths

    @property
    def is_store(self) -> bool:
        return self.place is not None

    @property
    def writes(self) -> list[tuple[str, str]]:
        """The array that it changes, and at which region."""
        return [(self.target, self.region)] if self.is_store else []

    @property
    def is_computed(self) -> bool:
        """Whether it makes an array that is read element by element."""
        return not self.is_store and not self.reduction


@dataclass
class Group:
    """Steps that share a loop, with the statements that were between them: those that stand before and those
    that stand behind the loop.
    """

    steps: list[Step] = field(default_factory=list)
    before: list[ast.stmt] = field(default_factory=list)
    after: list[ast.stmt] = field(default_factory=list)
    late: set[str] = field(default_factory=set)  # names that are there behind the loop only
    seen: set[str] = field(default_factory=set)  # names that it reads or binds


def are_sums(a: Step, b: Step) -> bool:
    """Whether two stores add to one array at regions that are the same but for a shift along the last axis:
    in which order they add does not matter.
    """
    if not (a.is_store and b.is_store and a.target == b.target):
        return False
    is_sum = all(isinstance(s.op, (ast.Add, ast.Sub)) for s in (a, b))
    (first, shift), (second, other) = shift_of(a), shift_of(b)
    return is_sum and first == second and None not in (shift, other) and abs((shift or 0) - (other or 0)) <= 4


def shift_of(s: Step) -> tuple[str, int | None]:
    """The region of a store in all axes but the last, and where it starts in that; None if it is not told."""
    if not isinstance(s.place, ast.Subscript):
        return "", 0
    index = s.place.slice
    *rest, last = index.elts if isinstance(index, ast.Tuple) else [index]
    if not isinstance(last, ast.Slice) or step_of(last) != 1:
        return "", None
    lower = 0 if last.lower is None else integer(last.lower)
    return " ".join(map(ast.dump, rest)), lower if lower is not None and lower >= 0 else None
