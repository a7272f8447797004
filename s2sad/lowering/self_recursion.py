"""Recursive methods, which are not inlined: inlining them may not end."""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType
from typing import Any

import gast

from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.trees.nodes import find_nodes
from ..transforms.trees.rebuild import parameter_names
from ..values.objects import lookup

__all__ = ["calls_itself", "is_within"]


def is_within(filename: str, line: int, function: FunctionType) -> bool:
    """Whether a line of a file is in the body of a function."""
    code = function.__code__
    last = max((found for *_, found in code.co_lines() if found is not None), default=code.co_firstlineno)
    return filename == code.co_filename and code.co_firstlineno <= line <= last


@lru_cache(maxsize=1024)
def calls_itself(cls: type, function: FunctionType) -> bool:
    """Whether a method of a class reaches itself through methods and properties of its `self`."""
    seen: set[Any] = set()
    todo = list(_reached(cls, function))
    while todo:
        found = todo.pop()
        if found is function:
            return True
        if found not in seen:
            seen.add(found)
            todo += _reached(cls, found)
    return False


def _reached(cls: type, function: FunctionType) -> list[FunctionType]:
    try:
        tree = read_source(function).tree
    except NoSourceError:
        return []
    own = parameter_names(tree)[:1]
    names = {n.attr for n in find_nodes(tree, gast.Attribute) if getattr(n.value, "id", None) in own}
    named = [lookup(cls, name) for name in sorted(names)]
    methods = [getattr(f, "fget", None) if isinstance(f, property) else f for f in named]
    return [f for f in methods if isinstance(f, FunctionType)]
