"""How a function is made a program of the corpus: by a decorator that gives its arguments.

Arguments stand away from kinks and from the boundaries of branches: steps of 2e-3 stay on one path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

__all__ = ["Program", "declared", "positive", "program", "signed"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A function with one set of arguments, and the numbers of those to differentiate.

    `second` marks the programs whose second derivatives are compared too, `quick` those of the quick tests.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]
    second: bool
    quick: bool


_DECLARED: list[Program] = []


def program(
    *arguments: tuple[Any, ...], wrt: tuple[int, ...] = (0,), second: bool = False, quick: bool = False
) -> Callable[[F], F]:
    """Declares the function to be a program, once for each tuple of arguments."""

    def declare(f: F) -> F:
        for count, args in enumerate(arguments, 1):
            name = f.__name__ if count == 1 else f"{f.__name__}-{count}"
            if any(p.name == name for p in _DECLARED):
                raise ValueError(f"two programs are named {name}")
            _DECLARED.append(Program(name, f, args, wrt, second, quick))
        return f

    return declare


def declared(module: str) -> list[Program]:
    """The programs of one module."""
    return [p for p in _DECLARED if p.function.__module__ == module]


def positive(*shape: int, seed: int = 0) -> Any:
    """An array of numbers between 0.5 and 1.5."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def signed(*shape: int, seed: int = 0) -> Any:
    """An array of numbers between 0.2 and 1.4 in size, of either sign."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 1.4, shape) * rng.choice([-1.0, 1.0], shape)
