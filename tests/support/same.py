"""Compares derivatives for arrays of a library with those for NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.foreign_arrays import Strict

__all__ = ["as_result", "own_type", "same"]


def as_result(out: Any, dout: Any, cls: type[Strict]) -> Any:
    """A cotangent of a result, from that of the result for NumPy's arrays."""
    if isinstance(out, dict):
        return {k: as_result(v, dout[k], cls) for k, v in out.items()}
    if isinstance(out, (list, tuple)):
        items = [as_result(x, d, cls) for x, d in zip(out, dout, strict=True)]
        return out._make(items) if hasattr(out, "_make") else type(out)(items)
    return cls(dout) if isinstance(out, cls) else dout


def same(found: Any, expected: Any) -> bool:
    """Whether values, or structures of values, are equal but for rounding."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], v) for k, v in expected.items())
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if hasattr(expected, "__dict__"):
        return same(vars(found), vars(expected))
    if found is None or expected is None:
        return not np.any(found) and not np.any(expected)
    a, b = np.asarray(found), np.asarray(expected)
    is_same = a.dtype == b.dtype or not isinstance(expected, np.ndarray)
    return bool(a.shape == b.shape and is_same and np.allclose(a, b, equal_nan=True))


def own_type(gradient: Any, x: Any, cls: type[Strict]) -> bool:
    """Whether a gradient is of the type of its argument."""
    if isinstance(x, (list, tuple)):
        return gradient is None or all(own_type(g, v, cls) for g, v in zip(gradient, x, strict=True))
    is_known = isinstance(x, (cls, float))
    return gradient is None or not is_known or isinstance(gradient, cls) == isinstance(x, cls)
