"""The statements that become loops, and the nests of loops that they share.

`d = x[:, None] - y; s = np.sum(d * d, axis=1); t = np.exp(s)` is a loop over rows, in which there are one
over columns, with `d` and the sum, and the exponential.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Access", "Group", "Loop", "Place", "Sizes", "Step", "are_sums", "is_sum", "shift_of"]

Sizes = list[dict[str, None]]  # for each axis the texts of its lengths


@dataclass(frozen=True)
class Place:
    """Where an element stands on an axis of an array: a text with `{}` for the index of the loop of a level;
    without a level it is the same in all iterations. `size` is the text of the length that the loop meets.
    """

    level: int | None
    form: str
    size: str = field(default="", compare=False)

    @property
    def shift(self) -> int | None:
        """How many places behind the index of the loop it is; None if that is not told."""
        if self.level is None or not (self.form == "{}" or self.form.startswith("{} + ")):
            return None
        return int(self.form[5:] or 0) if self.form[5:].isdigit() or self.form == "{}" else None


@dataclass(frozen=True)
class Access:
    """An element of an array that a statement reads or writes in each iteration."""

    name: str
    places: tuple[Place, ...]

    def place_of(self, level: int) -> tuple[int, str] | None:
        """The axis along which a loop moves, and how; None if it moves along none."""
        return next(((k, p.form) for k, p in enumerate(self.places) if p.level == level), None)


@dataclass(eq=False)
class Step:
    """A statement on arrays: `target` is assigned what `value` is element by element, or its reduction; or
    the value is stored at a `place`.
    """

    statement: ast.stmt
    target: str
    value: ast.expr
    place: ast.expr | None = None  # the target of a store
    op: ast.operator | None = None  # of a store that updates
    reduction: str = ""
    axes: tuple[int, ...] = ()
    keeps: bool = False
    like: ast.expr | None = None  # what the result has the lengths of
    of_product: bool = False
    core: int | None = None  # the axis on which lengths must agree, none stands still
    names: set[str] = field(default_factory=set)
    sizes: Sizes = field(default_factory=list)
    reads: list[Access] = field(default_factory=list)
    written: Access | None = None
    needs: set[str] = field(default_factory=set)  # names in the texts of lengths and places
    path: list[Loop] = field(default_factory=list)  # the loops around it

    @property
    def accesses(self) -> list[Access]:
        return self.reads if self.written is None else [*self.reads, self.written]

    @property
    def is_store(self) -> bool:
        return self.place is not None

    @property
    def is_computed(self) -> bool:
        """Whether it makes an array that is read element by element."""
        return not self.is_store and not self.reduction

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def left(self) -> list[int | None]:
        """The levels that the axes of its result stand for; None for axes of a reduction that are kept."""
        levels = range(self.rank)
        return [None if k in self.axes else k for k in levels if self.keeps or k not in self.axes]

    @property
    def is_last(self) -> bool:
        """Whether it reduces the last axes, to a number for each element of the others."""
        return self.axes == tuple(range(self.rank - len(self.axes), self.rank))

    @property
    def depth(self) -> int:
        """How many loops are around the place at which its result is there."""
        return self.axes[0] if self.reduction else self.rank

    def shared(self, other: Step) -> int:
        """How many loops it shares with another one."""
        pairs = zip(self.path, other.path, strict=False)
        return next((k for k, (a, b) in enumerate(pairs) if a is not b), min(self.rank, other.rank))


@dataclass(eq=False)
class Loop:
    """A loop of a nest, with the loops and statements in it in their order."""

    level: int
    body: list[Loop | Step] = field(default_factory=list)

    @property
    def steps(self) -> Iterator[Step]:
        for part in self.body:
            yield from [part] if isinstance(part, Step) else part.steps


@dataclass
class Group:
    """Steps that share a nest of loops, with the statements that were between them: those that stand before
    and those that stand behind the loops.
    """

    root: Loop = field(default_factory=lambda: Loop(0))
    steps: list[Step] = field(default_factory=list)
    before: list[ast.stmt] = field(default_factory=list)
    after: list[ast.stmt] = field(default_factory=list)
    late: set[str] = field(default_factory=set)  # names that are there behind the loops only
    seen: set[str] = field(default_factory=set)  # names that it reads or binds

    def made_by(self, name: str) -> Step | None:
        """The last step that makes the array of this name."""
        return next((s for s in reversed(self.steps) if s.target == name and not s.is_store), None)

    def sizes_of(self, name: str) -> Sizes | None:
        """The lengths of an array that a step makes."""
        s = self.made_by(name)
        return None if s is None else [{} if k is None else s.sizes[k] for k in s.left]


def are_sums(first: Step, second: Step) -> bool:
    """Whether a store adds to what another one has added to an array, or set."""
    if not (first.is_store and second.is_store and first.target == second.target):
        return False
    return is_sum(second) and (first.op is None or is_sum(first))


def is_sum(s: Step) -> bool:
    """Whether it is a store that adds: in which order several do does not matter."""
    return isinstance(s.op, (ast.Add, ast.Sub))


def shift_of(s: Step) -> tuple[tuple[Place, ...], int | None]:
    """The places of a store on all axes but the last, and where it starts on that; None if it is not told."""
    if s.written is None:
        return (), None
    *rest, last = s.written.places
    return tuple(rest), last.shift if last.level == s.rank - 1 else None
