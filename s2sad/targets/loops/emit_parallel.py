"""Splits the outer loop of a nest over the threads of the processor.

The outer loop is cut into blocks, whose number depends on lengths alone. A function does what belongs to one
block: it fills its part of the arrays that the nest makes, and its own element, or array, of the sums over
the outer loop. These are added in the order of the blocks, so that results are the same to the last bit for
any number of threads.

Invariant: no iteration of the outer loop touches an element that another one writes (`is_independent`).
"""

from __future__ import annotations

import ast

from ..special_functions import is_special
from .emit_loops import Emitter
from .find_accesses import Accesses
from .find_bindings import OUTSIDE
from .gather_sums import find_gathers
from .steps import Group, Loop, Step
from .write_elements import is_vectorized_special

__all__ = ["ParallelEmitter", "is_independent"]

SIZE = 4096  # elements of a block, at least
BLOCKS = 64  # at most
FEW = 8  # blocks, which one thread runs sooner than several


def is_independent(group: Group, lowering: Accesses) -> bool:
    """Whether it is proven that iterations of the outer loop may run at the same time.

    What the steps make is new memory. An array that they change must be one that the function has made, since
    that has each element once, and all that they read and write of it must move along with the outer loop.
    """
    if find_gathers([s for s in group.root.body if isinstance(s, Step)], lowering.types):
        return False  # elements are kept for the next iteration
    nodes = [n for s in group.steps for n in ast.walk(s.value) if isinstance(n, ast.Call)]
    called = [lowering.meaning(n.func) for n in nodes]
    if any(is_special(f) and not is_vectorized_special(f) for f in called):
        return False  # SciPy may want to warn, in Python
    for s in group.steps:
        if not s.is_store or group.made_by(s.target) is not None:
            continue
        assert s.written is not None
        place = s.written.place_of(0)
        if place is None or OUTSIDE in lowering.memory.get(s.target, {OUTSIDE}):
            return False
        for access in (a for other in group.steps for a in other.accesses):
            if lowering.may_share(access.name, s.target) and (
                access.name != s.target or access.place_of(0) != place
            ):
                return False
    return True


class ParallelEmitter(Emitter):
    """Writes the function of the loops of a group, the function of a block, and the one that runs all."""

    is_part = False  # whether the function of a block is being written

    def fused(self, depth: int) -> None:
        made = [s for s in self.steps if not s.is_store]
        totals = [s for s in made if is_total(s)]
        for s in self.steps:
            self.check(depth, s)
        for s in made:
            if self.first[s.target] == 0:
                self.allocate(depth, s)
        deepest = max(self.steps, key=lambda s: s.rank)
        n, count, size = self.length(deepest, 0), self.own("count", 0), self.own("size", 0)
        row = " * ".join(self.length(deepest, k) for k in range(1, deepest.rank)) or "1"
        self.write(depth, f"{size} = max({SIZE} // max({row}, 1), ({n} + {BLOCKS - 1}) // {BLOCKS}, 1)")
        self.write(depth, f"{count} = ({n} + {size} - 1) // {size}")
        for s in totals:
            shape = ", ".join([count, *([] if s.is_last else self.shape_of(s))])
            made_of = f"{self.numpy}.empty(({shape},), {self.dtype_of(s)})"
            self.write(depth, f"{self.parts_of(s)} = {made_of}")
        body = self.part(made)
        arrays = [self.array_of(s) for s in made if self.first[s.target] == 0 and not is_total(s)]
        given = [*self.parameters, *arrays, *map(self.parts_of, totals), *self.hoisted_names()]
        self.call_parts(depth, body, count, size, n, ", ".join(dict.fromkeys(given)))
        for s in totals:
            self.join(depth, s, count)

    def call_parts(self, depth: int, body: list[str], count: str, size: str, n: str, given: str) -> None:
        """Writes the calls of the functions of a block and of all blocks, and these."""
        part, run, threads = self.parts = tuple(self.own(name, 0) for name in ("part", "run", "threads"))
        k, first, stop, end = (self.own(name, 0) for name in ("k", "begin", "end", "all"))
        self.functions = (
            f"def {part}({k}, {first}, {stop}, {given}):", *body,
            f"def {run}({count}, {size}, {end}, {given}):",
            f"    for {k} in {self.name_for('prange')}({count}):",
            f"        {part}({k}, {k} * {size}, min({k} * {size} + {size}, {end}), {given})",
        )  # fmt: skip
        self.write(depth, f"if {count} < {FEW}:")
        self.write(depth + 1, f"{run}({count}, {size}, {n}, {given})")
        self.write(depth, "else:")
        self.write(depth + 1, f"{threads}({count}, {size}, {n}, {given})")

    def part(self, made: list[Step]) -> list[str]:
        """The lines of the function of a block."""
        kept, self.lines, self.is_part = self.lines, [], True
        for s in made:
            if is_total(s) and not s.is_last:
                self.write(1, f"{self.array_of(s)} = {self.parts_of(s)}[{self.own('k', 0)}]")
            elif self.first[s.target]:
                self.allocate(1, s)
        self.loop(1, self.group.root)
        found, self.lines, self.is_part = self.lines, kept, False
        return found

    def join(self, depth: int, s: Step, count: str) -> None:
        """Reduces what the blocks have for a reduction over the outer loop, in their order."""
        assert s.written is not None
        self.begin(depth, s)
        k, parts = self.own("k", 0), self.parts_of(s)
        self.write(depth, f"for {k} in range({count}):")
        if s.is_last:
            self.reduce(depth + 1, s, self.value_of(s), f"{parts}[{k}]")
        else:
            inner = depth + 1
            for level in [level for level in s.left if level is not None]:
                self.write(inner, f"for {self.own('i', level)} in range({self.length(s, level)}):")
                inner += 1
            total = self.stored(s, s.written)
            self.reduce(inner, s, total, total.replace(f"{self.array_of(s)}[", f"{parts}[{k}, ", 1))
        self.end(depth, s)

    def end(self, depth: int, s: Step) -> None:
        if not (self.is_part and is_total(s)):
            super().end(depth, s)
        elif s.is_last:
            self.write(depth, f"{self.parts_of(s)}[{self.own('k', 0)}] = {self.value_of(s)}")

    def bounds(self, loop: Loop) -> tuple[str, str]:
        is_outer = self.is_part and loop.level == 0
        return (self.own("begin", 0), self.own("end", 0)) if is_outer else super().bounds(loop)

    def parts_of(self, s: Step) -> str:
        """The name of the array of what the blocks have for a reduction."""
        return self.own("parts", s.target)

    def hoisted_names(self) -> list[str]:
        return [text.partition(" = ")[0].strip() for text in self.hoisted.values()]


def is_total(s: Step) -> bool:
    """Whether it is a reduction over the outer loop."""
    return bool(s.reduction) and s.axes[0] == 0
