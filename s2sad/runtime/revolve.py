"""The reverse sweep of a loop with a limited number of snapshots: the binomial schedule of Griewank and
Walther (Algorithm 799: revolve).

Contract: with `slots` snapshots, the first of which is the initial state, `steps` steps are reversed in
`r * steps - C(slots + r, r - 1)` advances, with the least r for which `C(slots + r, r)` is at least `steps`,
and one differentiated run of each step: the fewest that are possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import Any

__all__ = ["Sweep", "split"]

State = tuple[Any, ...]
Bprop = Callable[[Any], Any]
Left = tuple[list[tuple[int, State]], Bprop]


def _repetitions(steps: int, slots: int) -> int:
    r = 0
    while comb(slots + r, r) < steps:
        r += 1
    return r


def split(steps: int, slots: int) -> int:
    """The number of steps from one snapshot to the next, if `steps` steps are to be reversed with `slots`
    snapshots, of which one is where they start.
    """
    r = _repetitions(steps, slots)
    least = comb(slots + r - 2, r - 2) if r >= 2 else 1
    return max(least, steps - comb(slots - 1 + r, r), 1)


class Sweep:
    """The snapshots of a run of `steps` steps from a state, as far as they have not been used.

    `advance(state, start, stop)` runs steps without differentiating them; `taped(state, k)` runs one and is
    `(state, bprop)`.
    """

    def __init__(
        self,
        state: State,
        steps: int,
        slots: int,
        advance: Callable[[State, int, int], State],
        taped: Callable[[State, int], tuple[State, Bprop]],
    ) -> None:
        self.initial, self.steps, self.slots, self.advance, self.taped = state, steps, slots, advance, taped
        self.left: Left | None
        self.out, self.left = self._forward()

    def _forward(self) -> tuple[State, Left]:
        """The final state; the snapshots on the way, and the bprop of the last step."""
        stack = [(0, self.initial)]
        self._descend(stack, self.steps)
        start, state = stack[-1]
        if start < self.steps - 1:
            state = self.advance(state, start, self.steps - 1)
        out, bprop = self.taped(state, self.steps - 1)
        return out, (stack, bprop)

    def _descend(self, stack: list[tuple[int, State]], stop: int) -> None:
        """Takes snapshots on the way to the step before `stop`, while there are slots."""
        while stop - stack[-1][0] > 1 and len(stack) < self.slots:
            start, state = stack[-1]
            count = split(stop - start, self.slots - len(stack) + 1)
            stack.append((start + count, self.advance(state, start, start + count)))

    def bprops(self) -> Iterator[Bprop]:
        """The bprops of the steps, from the last to the first; each is made when the one before is used."""
        left, self.left = self.left, None
        stack, bprop = self._forward()[1] if left is None else left  # None: it was used before
        del left
        stop = self.steps - 1
        if stack[-1][0] == stop and stop:
            stack.pop()
        yield bprop
        while stop > 0:
            del bprop
            self._descend(stack, stop)
            start, state = stack[-1]
            if start < stop - 1:
                state = self.advance(state, start, stop - 1)
            stop -= 1
            _, bprop = self.taped(state, stop)
            if stack[-1][0] == stop and stop:
                stack.pop()
            yield bprop
