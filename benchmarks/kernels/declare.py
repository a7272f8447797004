"""How a function becomes a kernel: by a decorator that says what its arguments and its derivatives are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

__all__ = ["KERNELS", "Kernel", "kernel"]

Function = Callable[..., Any]
Inputs = Callable[..., tuple[Any, ...]]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True)
class Kernel:
    """A function, how its arguments are made, and by which of them which results are differentiated.

    `outputs` names the parameters whose arrays, changed by the function, are its results; without any the
    result is what it returns. `size` holds the keywords for `inputs`.
    """

    name: str
    function: Function
    inputs: Inputs
    size: Mapping[str, int]
    active: tuple[str, ...]
    outputs: tuple[str, ...]

    def arguments(self, seed: int = 0) -> tuple[Any, ...]:
        """New arguments, the same for the same seed."""
        return self.inputs(np.random.default_rng(seed), **self.size)


KERNELS: dict[str, Kernel] = {}


def kernel(
    inputs: Inputs,
    *,
    size: Mapping[str, int],
    active: str,
    outputs: str = "",
    name: str = "",
) -> Callable[[F], F]:
    """Declares a function to be a kernel and leaves it as it is; names are separated by spaces.

    `inputs(rng, **size)` makes its arguments. Raises ValueError for a name that is taken.
    """

    def declare(f: F) -> F:
        called = name or f.__name__
        if called in KERNELS:
            raise ValueError(f"two kernels are named {called}")
        KERNELS[called] = Kernel(called, f, inputs, size, tuple(active.split()), tuple(outputs.split()))
        return f

    return declare
