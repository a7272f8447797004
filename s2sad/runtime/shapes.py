"""Checks of shapes, in place of operations whose results a derivative does not read."""

from __future__ import annotations

from typing import Any

__all__ = ["check_shapes"]


def check_shapes(x: Any, y: Any) -> None:
    """Raises the ValueError of an operation on two arrays that stretches no axes, unless the axes of `y` are
    the last ones of `x`.

    >>> check_shapes(np.ones((2, 3)), np.ones(3))
    >>> check_shapes(np.ones(3), np.ones(4))
    Traceback (most recent call last):
    ValueError: operands could not be broadcast together with shapes (3,) (4,)
    """
    if x.shape[x.ndim - y.ndim :] != y.shape:
        raise ValueError(f"operands could not be broadcast together with shapes {x.shape} {y.shape}")
