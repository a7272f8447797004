"""Loops and calls whose intermediate values are computed again in the reverse sweep: what runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from ..values.libraries import is_lazy
from ..values.pytree import flatten
from .adjoints import add
from .custom_rules import share_memory
from .revolve import Sweep

__all__ = ["Steps", "check_again", "check_states", "checkpointed", "run_steps"]

State = tuple[Any, ...]


def checkpointed(iterable: Iterable[Any], snapshots: int) -> Iterable[Any]:
    """The iterable of a `for` statement whose reverse sweep keeps `snapshots` states of the loop instead of
    all, and runs the steps between them again: `for i in checkpointed(range(n), snapshots=20):`.

    The schedule is the binomial one (revolve), with the fewest steps: with k snapshots, `C(k + r, r)` steps
    are each run at most r times more. The state is what the body assigns, and the arrays that it stores into;
    it is numbers, arrays and containers of them, and stored-into arrays share no memory with each other.
    The body is refused if it cannot be run again: with `break`, `return` or an `else`, random draws, or
    changes of other objects. Forward mode needs no snapshots and keeps none.

    >>> def settle(x, n):
    ...     for _ in checkpointed(range(n), snapshots=3):
    ...         x = x * np.sin(x)
    ...     return x
    >>> gradient = s2sad.grad(settle)(2.0, 100)
    """
    if snapshots < 1:
        raise ValueError(f"checkpointed needs a snapshot of the state before the loop, not {snapshots}")
    return iterable


def run_steps(step: Callable[..., State], items: Iterable[Any], snapshots: int, state: State) -> State:
    """The state after `step(item, *state)` for each item."""
    checkpointed((), snapshots)
    for item in items:
        state = step(item, *state)
    return state


def check_states(state: State, changed: Sequence[int], step: Any) -> None:
    """Raises UnsupportedSyntaxError for a state that is changed in place and is no array, or shares memory
    with another one or with what the step captures; `changed` are the positions of these.
    """
    captured = [cell.cell_contents for cell in step.__closure__ or ()]
    captured += [*(step.__defaults__ or ()), *(step.__kwdefaults__ or {}).values()]
    for k in changed:
        others = [*state[:k], *state[k + 1 :], *captured]
        if not isinstance(state[k], np.ndarray) or any(share_memory(state[k], x) for x in others):
            what = "an array with several names" if isinstance(state[k], np.ndarray) else "what is no array"
            raise UnsupportedSyntaxError(
                f"a checkpointed loop that changes in place {what}",
                why="snapshots are copies of arrays, each with one name",
                instead="change arrays that share no memory, or leave out checkpointed",
            )


# ---------------------------------------------------------------- the sweeps


@dataclass(frozen=True)
class Steps:
    """The steps of a loop: `step(*values)` for the values of captured variables, item and state in the order
    that `arranged` gives; `pull(values)` is its differentiated form, and the positions that it differentiates
    by.
    """

    step: Callable[..., State]
    pull: Callable[[tuple[Any, ...]], tuple[tuple[int, ...], Callable[..., Any]]]
    order: tuple[int, ...]
    count: int  # of captured variables

    def arranged(self, given: tuple[Any, ...], item: Any, state: State) -> tuple[Any, ...]:
        """The arguments of a step, from captured variables, item and state."""
        values = (*given, item, *state)
        return tuple([values[k] for k in self.order])

    def swept(
        self, items: Sequence[Any], snapshots: int, given: tuple[Any, ...], state: State
    ) -> tuple[State, Sweep | None]:
        """The state after all steps, and what the reverse sweep needs."""
        checkpointed((), snapshots)

        def advance(state: State, start: int, stop: int) -> State:
            for k in range(start, stop):
                state = self.step(*self.arranged(given, items[k], state))
            return state

        def taped(state: State, k: int) -> tuple[State, Callable[[Any], Any]]:
            values = self.arranged(given, items[k], state)
            positions, derivative = self.pull(values)
            out, bprop = derivative(*values)
            return out, lambda dout: dict(
                zip([self.order[k] for k in positions], bprop(dout), strict=True)
            )

        sweep = Sweep(state, len(items), snapshots, advance, taped) if len(items) else None
        return state if sweep is None else sweep.out, sweep

    def reversed(self, sweep: Sweep | None, dstate: State) -> tuple[Any, ...]:
        """The adjoints of captured variables and of the state before the loop, by that after it."""
        dgiven: list[Any] = [None] * self.count
        for bprop in sweep.bprops() if sweep is not None else ():
            found = bprop(dstate)
            dgiven = [add(d, found.get(k)) for k, d in enumerate(dgiven)]
            dstate = tuple([found.get(self.count + 1 + k) for k in range(len(dstate))])
        return (*dgiven, *dstate)


def check_again(again: Any, out: Any, name: str) -> None:
    """Raises NonDifferentiableError if a function has another result when it is run again."""
    a, b = flatten(again), flatten(out)
    if any(map(is_lazy, a)):
        raise NonDifferentiableError(
            f"a checkpoint of {name}, whose result is computed later",
            why="such arrays hold no values that a checkpoint could save, nor compare",
            instead="leave the checkpoint out",
        )
    if len(a) != len(b) or not all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True)):
        raise NonDifferentiableError(
            f"{name} has another result when it is run again",
            why="a checkpoint computes in the reverse sweep what the forward sweep computed",
            instead="pass random numbers and whatever else changes as arguments",
        )
