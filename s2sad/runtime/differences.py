"""Derivatives by central differences, for functions that cannot be read.

The step is the cube root of the precision of the argument's dtype, relative to numbers above 1 in size. The
error of a derivative is about the square of the step: ten digits in double precision, four in single.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from ..values.libraries import has_dtype
from ..values.pytree import basis_of, flatten, map_structure, moved_structure
from .custom_rules import pairing

__all__ = ["difference_along", "gradients_by_differences"]

Function = Callable[..., Any]


def gradients_by_differences(f: Function, args: tuple[Any, ...], dout: Any) -> tuple[Any, ...]:
    """The gradient of each argument, by two calls for each number in it; None for an inactive argument."""
    return tuple(_gradient(f, args, k, dout) if flatten(x) else None for k, x in enumerate(args))


def _gradient(f: Function, args: tuple[Any, ...], k: int, dout: Any) -> Any:
    x, found = args[k], []
    are_complex = [np.iscomplexobj(leaf) for leaf in flatten(x) for _ in range(np.size(leaf))]
    for unit, is_complex in zip(basis_of(x), are_complex, strict=True):
        slope: Any = pairing(dout, _along(f, args, {k: unit}))
        if is_complex:
            turned = map_structure(lambda u: None if u is None else u * 1j, unit)
            slope = complex(slope, -pairing(dout, _along(f, args, {k: turned})))
        found.append(slope)
    numbers = iter(found)

    def part(leaf: Any) -> Any:
        if not flatten(leaf):
            return None
        values = [next(numbers) for _ in range(np.size(leaf))]
        return np.array(values).reshape(np.shape(leaf)) if np.shape(leaf) else values[0]

    return map_structure(part, x)


def difference_along(f: Function, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The tangent of the result for tangents of the arguments, by two calls."""
    moving = {k: t for k, (x, t) in enumerate(zip(args, tangents, strict=True)) if flatten(x)}
    return _along(f, args, moving)


def _along(f: Function, args: tuple[Any, ...], tangents: dict[int, Any]) -> Any:
    leaves = flatten([args[k] for k in tangents])
    epsilon = max(float(np.finfo(np.asarray(x).dtype).eps) for x in leaves)
    size = max((float(np.max(np.abs(x), initial=0.0)) for x in leaves), default=0.0)
    length = max((float(np.max(np.abs(t), initial=0.0)) for t in flatten([*tangents.values()])), default=0.0)
    step = epsilon ** (1 / 3) * max(1.0, size) / (length or 1.0)
    ends = []
    for signed in (step, -step):
        moved = list(deepcopy(args))
        for k, tangent in tangents.items():
            moved[k] = moved_structure(lambda x, t, s=signed: _moved(x, t, s), moved[k], tangent)
        ends.append(deepcopy(f(*moved)))  # which may be an array that it changes at each call
    return map_structure(lambda a, b: (a - b) / (2 * step) if flatten(a) else None, *ends)


def _moved(x: Any, tangent: Any, step: float) -> Any:
    if tangent is None or not flatten(x):
        return x
    moved = x + step * tangent
    return moved.astype(x.dtype) if has_dtype(x) and hasattr(moved, "astype") else moved
