"""Stores that add to one array at several shifts along the last axis, as one that gathers what they add:
`a[:-2] = d; a[2:] -= d` sets each element once. What belongs to the next ones is kept until it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..array_types import Types
from .steps import Step, are_sums, is_sum, shift_of

__all__ = ["Gather", "find_gathers"]


@dataclass
class Gather:
    """Stores that add to one array at several shifts along the last axis."""

    name: str
    zero: str
    steps: list[Step]

    @property
    def first(self) -> Step:
        """The one that starts first."""
        return min(self.steps, key=lambda s: shift_of(s)[1] or 0)

    @property
    def span(self) -> int:
        return max(map(self.shift, self.steps))

    def shift(self, s: Step) -> int:
        """How much later than the first one it starts."""
        return (shift_of(s)[1] or 0) - (shift_of(self.first)[1] or 0)


def find_gathers(steps: Sequence[Step], types: Types) -> list[Gather]:
    """The stores of a loop that gather."""
    found: list[Gather] = []
    for s in steps:
        if not (s.is_store and (s.op is None or is_sum(s))) or shift_of(s)[1] is None:
            continue
        for g in found:
            if are_sums(g.steps[0], s) and shift_of(g.steps[0])[0] == shift_of(s)[0]:
                g.steps.append(s)
                break
        else:
            is_complex = getattr(types.names[s.target], "kind", "") == "c"
            found.append(Gather(f"{s.target}_{len(found)}", "0j" if is_complex else "0.0", [s]))
    return [g for g in found if g.span > 0]
