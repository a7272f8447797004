"""How rules state the arguments they are tested with: `given(A(3, 4), axis=1)`.

`given` returns a function of a NumPy random generator, so that declaring a rule draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["A", "given", "since"]


class A:
    """An array of this shape, still to be drawn; `low` and `high` bound its elements, `dtype` may be any
    inexact one.
    """

    def __init__(self, *shape: int, dtype: str = "float64", low: float = -2.0, high: float = 2.0) -> None:
        self.shape, self.dtype, self.low, self.high = shape, np.dtype(dtype), low, high

    def draw(self, rng: np.random.Generator) -> Any:
        values = np.asarray(rng.uniform(self.low, self.high, self.shape))
        if self.dtype.kind == "c":
            values = values + 1j * rng.uniform(self.low, self.high, self.shape)
        return values.astype(self.dtype)


def given(
    *args: Any, **keywords: Any
) -> Callable[[np.random.Generator], tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of one test: what is an `A`, also within containers, is drawn; callables are called
    with the generator.
    """

    def draw(rng: np.random.Generator) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(_drawn(a, rng) for a in args), {name: _drawn(a, rng) for name, a in keywords.items()}

    return draw


def _drawn(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, A):
        return value.draw(rng)
    if type(value) in (list, tuple):
        return type(value)(_drawn(v, rng) for v in value)
    if type(value) is dict:
        return {k: _drawn(v, rng) for k, v in value.items()}
    if callable(value) and not isinstance(value, type):
        return value(rng)
    return value


def since(version: str, *samples: Any) -> list[Any]:
    """The samples, where NumPy is of this version or a later one."""
    wanted = [int(part) for part in version.split(".")]
    return list(samples) if [int(part) for part in np.__version__.split(".")[:2]] >= wanted else []
