"""Values with an axis in front, along which each is the value of one call: what batched code calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError

__all__ = [
    "broadcast_each",
    "each",
    "each_tuple",
    "full_each",
    "reduce_each",
    "replicate",
    "replicate_items",
    "same_length",
    "unreduce_each",
]


def same_length(*arrays: Any) -> int:
    """The length of the first axis of all of these; raises ValueError where they differ."""
    lengths = {len(x) for x in arrays}
    if len(lengths) != 1:
        raise ValueError(f"the batched arguments have {' and '.join(map(str, sorted(lengths)))} values")
    return lengths.pop()


def replicate(x: Any, count: int) -> Any:
    """A number or array `count` times, along a new axis in front.

    >>> replicate(2.0, 3)
    array([2., 2., 2.])
    """
    if x is None:
        return None
    if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
        refuse_value(x)
    return np.array(np.broadcast_to(x, (count, *np.shape(x))))


def replicate_items(x: Any, count: int) -> Any:
    """As `replicate`, for each number and array in lists, tuples and dicts."""
    if type(x) is dict:
        return {key: replicate_items(v, count) for key, v in x.items()}
    if type(x) in (list, tuple):
        return type(x)(replicate_items(v, count) for v in x)
    return replicate(x, count)


def broadcast_each(dx: Any, like: Any) -> Any:
    """`broadcast_like(dx[k], like)` for all k."""
    shape = np.shape(like)
    if dx.shape[1:] == shape:
        return dx
    dx = dx.reshape(len(dx), *[1] * (len(shape) + 1 - dx.ndim), *dx.shape[1:])
    return np.array(np.broadcast_to(dx, (len(dx), *shape)))


def reduce_each(dx: Any, x: Any) -> Any:
    """`unbroadcast(dx[k], x)` for all k."""
    shape, given = np.shape(x), dx.shape[1:]
    if given != shape:
        lead = len(given) - len(shape)
        if lead < 0:
            raise ValueError(f"cotangents of shape {given} do not belong to an argument of shape {shape}")
        axes = *range(1, lead + 1), *(lead + k for k, n in enumerate(shape, 1) if n == 1)
        dx = np.sum(dx, axis=axes).reshape(len(dx), *shape)
    return dx if np.iscomplexobj(x) else np.real(dx)


def unreduce_each(dout: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`unreduce(dout[k], x, axis, keepdims)` for all k."""
    if axis is not None and not keepdims:
        axes = axis if isinstance(axis, tuple) else (axis,)
        dout = np.expand_dims(dout, tuple(k + 1 if k >= 0 else k for k in axes))
    return full_each(dout, x)


def full_each(dx: Any, like: Any) -> Any:
    """As `broadcast_each`, always a new array."""
    found = broadcast_each(dx, like)
    return found.copy() if np.may_share_memory(found, dx) else found


def each(function: Callable[..., Any], batched: tuple[bool, ...], *args: Any, **keywords: Any) -> Any:
    """The results of a function for each of the values of its `batched` arguments, along an axis in front.

    >>> each(np.linalg.det, (True,), np.array([np.eye(2), 2 * np.eye(2)]))
    array([1., 4.])
    """
    return stacked(function, results_of(function, batched, args, keywords))


def each_tuple(function: Callable[..., Any], batched: tuple[bool, ...], *args: Any, **keywords: Any) -> Any:
    """As `each`, for a function that returns a tuple: the tuple of the results of each item."""
    results = results_of(function, batched, args, keywords)
    made = [stacked(function, items) for items in zip(*results, strict=True)]
    cls: Any = type(results[0])
    return cls(*made) if hasattr(cls, "_fields") else tuple(made)


def results_of(
    function: Callable[..., Any], batched: tuple[bool, ...], args: Any, keywords: Any
) -> list[Any]:
    pairs = list(zip(args, batched, strict=True))
    count = next(len(x) for x, is_batched in pairs if is_batched)
    return [
        function(*(x[k] if is_batched else x for x, is_batched in pairs), **keywords) for k in range(count)
    ]


def stacked(function: Callable[..., Any], results: Any) -> Any:
    """The results of all calls as one array."""
    for x in results:
        if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
            refuse_value(x)
    if len({np.shape(x) for x in results}) > 1:
        raise UnsupportedSyntaxError(
            f"`{getattr(function, '__name__', function)}` of a batch gives results of several shapes",
            why="they have no array in common",
            instead="call the function in a loop",
        )
    return np.stack(results)


def refuse_value(x: Any) -> None:
    """Raises UnsupportedSyntaxError for a value that has no axes."""
    raise UnsupportedSyntaxError(
        f"a value of type {type(x).__name__} in batched code",
        why="only numbers and arrays have an axis for the calls",
        instead="call the function in a loop",
    )
