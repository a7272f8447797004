"""The check of deep copies: an object graph with shared parts is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..transforms.errors import UnsupportedSyntaxError
from ..values.objects import fields_of, is_plain

__all__ = ["refuse_parts_held_twice"]


def refuse_parts_held_twice(x: Any) -> None:
    """Raises UnsupportedSyntaxError if `x` holds a mutable object in two places."""
    seen: set[int] = set()
    todo = [x]
    while todo:
        x = todo.pop()
        if isinstance(x, tuple):
            todo += x
            continue
        is_object = is_plain(type(x))
        if not is_object and not isinstance(x, (list, dict, np.ndarray)):
            continue
        if id(x) in seen:
            raise UnsupportedSyntaxError(
                f"a deep copy of a value that holds one object of type {type(x).__name__} in two places",
                why="the two are aliases in the copy, too, and that is not followed",
                instead="copy the parts one by one",
            )
        seen.add(id(x))
        if isinstance(x, dict):
            todo += x.values()
        elif isinstance(x, list):
            todo += x
        elif is_object:
            todo += fields_of(x).values()
