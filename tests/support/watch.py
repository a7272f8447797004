"""The stages of a derivative, seen while it is made: explaining it would make it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from s2sad import explanation
from s2sad.derivatives import derivative
from s2sad.derivatives.derivative import Derivative
from s2sad.derivatives.generator import Generator
from s2sad.derivatives.variadic import fixed, is_variadic
from s2sad.transforms.trees.program import Program

__all__ = ["Watched", "watching"]


class Watched(Generator):
    """A generator that keeps what its passes make."""

    def __init__(self, **options: Any) -> None:
        self.passes: dict[str, Program] = {}
        super().__init__(watch=self.keep, **options)

    def keep(self, name: str, program: Program) -> None:
        if name == "defer_refusals":  # all is made again
            self.passes.clear()
        self.passes[name] = program

    def primal_stages(self, f: Callable[..., Any], args: tuple[Any, ...]) -> list[explanation.Stage]:
        """The stages that compute what the function does, those left out that change nothing."""
        f = fixed(f, args, {}).function if is_variadic(f) else f
        target = Derivative(f, "vjp", 0, writes=True).target
        stages: list[explanation.Stage] = []
        for name, program in self.passes.items():
            if name in explanation.PRIMAL:
                stage = explanation._stage(name, program, self.first.function, target, self)
                stages += [stage] if not stages or stage.source != stages[-1].source else []
        return stages


@contextmanager
def watching() -> Iterator[list[Watched]]:
    """The generators of the derivatives that are made meanwhile, as these are finished; that of the first
    one that was asked for comes first.
    """
    made: list[Watched] = []

    def generator(**options: Any) -> Watched:
        made.append(Watched(**options))
        return made[-1]

    with mock.patch.object(derivative, "Generator", generator):
        yield made
