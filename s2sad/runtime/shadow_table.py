"""Shadow memory: the adjoint of an array, found by the memory that the array lies in.

Used where aliases are dynamic (arrays passed through lists, loops, swaps): the reverse sweep asks for the
adjoint of an array that the forward sweep kept. Invariant: arrays that share memory have adjoints that share
memory in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError
from ..values.libraries import library_of

__all__ = ["Adjoints", "adjoint_of", "new_adjoints", "shallow_copy"]


class Adjoints:
    """The adjoints of the arrays of one reverse sweep. (Their tangents are another such table.)"""

    def __init__(self) -> None:
        self._made: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by owner: the owner, and zeros as long

    def of(self, x: np.ndarray) -> np.ndarray:
        """The adjoint of an array, zero at first."""
        owner = _owner(x)
        found = self._made.get(id(owner))
        if found is None:
            found = self._made[id(owner)] = owner, np.zeros(owner.size, owner.dtype)
        start = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(x.shape, x.dtype, found[1], start, x.strides)


def _owner(x: np.ndarray) -> np.ndarray:
    """The array whose memory `x` lies in."""
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if type(x) is not np.ndarray or owner.base is not None or not owner.flags.owndata:
        raise UnsupportedSyntaxError(
            f"changes in place of an array of type {type(x).__name__} that lies in memory of another object",
            why="who else reads that memory is not known",
            instead="compute with a copy of it, `np.array(x)`",
        )
    if x.dtype != owner.dtype or _overlaps_itself(x):
        raise UnsupportedSyntaxError(
            "changes in place that are seen in a view of another dtype, or in one that repeats elements",
            why="the adjoint of such a view is no view of an adjoint",
            instead="change a copy",
        )
    return owner


def _overlaps_itself(x: np.ndarray) -> bool:
    """Whether two elements of an array may have the same place in memory."""
    if x.flags.c_contiguous or x.flags.f_contiguous or x.size < 2:
        return False
    reach = x.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False


def new_adjoints() -> Adjoints:
    """The adjoints of a reverse sweep, all zero."""
    return Adjoints()


def adjoint_of(adjoints: Adjoints, x: Any) -> Any:
    """The adjoint of an array, or the adjoints of those that a container holds in such a container; None of
    what carries no derivative.

    Raises UnsupportedSyntaxError for an array in memory of another object, and for one that holds numbers of
    another type than that memory, or one number twice.
    """
    if isinstance(x, np.ndarray):
        return adjoints.of(x) if x.dtype.kind in "fc" else None
    if isinstance(x, dict):
        return {k: adjoint_of(adjoints, v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        found = [adjoint_of(adjoints, v) for v in x]
        return found if isinstance(x, list) else tuple(found)
    if library_of(x) is not None:
        raise UnsupportedSyntaxError(
            f"an array of type {type(x).__name__} among changes of lists and dicts with several names",
            why="which arrays share memory is known of NumPy's alone",
            instead="make a new list or dict in the place of the change",
        )
    return None


def shallow_copy(x: Any) -> Any:
    """A copy of a container, and of the containers in it, that holds the same arrays."""
    if isinstance(x, dict):
        return {k: shallow_copy(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        found = [shallow_copy(v) for v in x]
        return found if isinstance(x, list) else tuple(found)
    return x
