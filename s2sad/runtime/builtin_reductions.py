"""Run-time helpers for the derivatives of Python's `sum`, `max` and `min`."""

from __future__ import annotations

from collections.abc import ValuesView
from typing import Any

import numpy as np

from ..values.libraries import has_dtype
from .adjoints import broadcast_like, check_number, conform, refuse_operators, unreduce, zeros_like

__all__ = ["extremal", "extremum_adjoint", "extremum_tangent", "gather", "how_many", "spread"]


def spread(dout: Any, xs: Any) -> Any:
    """The cotangent of `xs` from that of `sum(xs)`: the same for each element."""
    if has_dtype(xs):
        return unreduce(dout, xs, 0)
    if isinstance(xs, (list, ValuesView)):
        return [_share(dout, x) for x in xs]
    if isinstance(xs, dict):  # whose keys are summed
        return zeros_like(xs)
    if not isinstance(xs, tuple):
        check_number(xs)
    return tuple(_share(dout, x) for x in xs)


def _share(dout: Any, x: Any) -> Any:
    """The cotangent of one of the values that are added."""
    refuse_operators(x)
    return conform(dout, x)


def gather(dxs: Any, out: Any) -> Any:
    """The sum of tangents, as a tangent of the sum `out`: the transpose of `spread`."""
    parts = () if dxs is None or isinstance(dxs, dict) else dxs
    return broadcast_like(sum(broadcast_like(dx, out) for dx in parts if dx is not None), out)


def extremum_adjoint(dout: Any, operands: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """The cotangents of the arguments of `max` or `min`: `dout`, split evenly among those equal to the
    result; zero where `dout` is None. Among tuples, lists or objects, the first that is equal has all of it.
    """
    xs: Any = operands[0] if len(operands) == 1 else operands
    if isinstance(xs, dict):  # one of its keys
        return (zeros_like(xs),)
    if not is_number(out):
        first = _first(xs, out)
        parts = [dout if k == first else zeros_like(x) for k, x in enumerate(xs)]
        return tuple(parts) if len(operands) != 1 else (_like(xs, parts),)
    chosen = extremal(xs, out)
    share = 0.0 if dout is None else dout / sum(chosen)
    parts = [
        None if zeros_like(x) is None else conform(share if c else share * 0, x)
        for c, x in zip(chosen, xs, strict=True)
    ]
    if len(operands) != 1:
        return tuple(parts)
    return (np.array(parts, dtype=xs.dtype) if has_dtype(xs) else _like(xs, parts),)


def is_number(x: Any) -> bool:
    """Whether a value is a number or an array, which has a mean with others."""
    return hasattr(x, "dtype") or isinstance(x, (int, float, complex))


def _like(xs: Any, parts: list[Any]) -> Any:
    """The parts as a tuple or list like the operands; a list for a view of a dict."""
    return type(xs)(parts) if isinstance(xs, (list, tuple)) else parts


def extremum_tangent(tangents: tuple[Any, ...], operands: tuple[Any, ...], out: Any) -> Any:
    """The tangent of `max` or `min`: the mean over the arguments equal to the result; among tuples, lists or
    objects, that of the first.
    """
    xs, dxs = (operands[0], tangents[0]) if len(operands) == 1 else (operands, tangents)
    if isinstance(xs, dict):
        return 0.0
    if not is_number(out):
        return dxs[_first(xs, out)]
    chosen = extremal(xs, out)
    total = sum(dx for dx, c in zip(dxs, chosen, strict=True) if c and dx is not None)
    return broadcast_like(total / sum(chosen), out)


def _first(xs: Any, out: Any) -> int:
    """The position of the element that Python returns: the first extremum."""
    is_out = [x is out for x in xs]
    return (is_out if any(is_out) else [bool(x == out) for x in xs]).index(True)


def extremal(xs: Any, out: Any) -> list[bool]:
    """For each element, whether it is the extremum."""
    return [x is out or bool(x == out) for x in xs]


def how_many(chosen: list[bool]) -> int:
    """The number of elements equal to the extremum."""
    return sum(chosen)
