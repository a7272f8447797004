"""`operator.itemgetter`, `attrgetter` and `methodcaller` as generated functions."""

from __future__ import annotations

import functools
import operator
from types import FunctionType
from typing import Any

from ..transforms.trees.program import Scope
from .compiling import make_function

__all__ = ["GETTERS", "written_getter"]

GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def written_getter(f: Any) -> FunctionType:
    """A Python function that does the same as a getter.

    >>> written_getter(operator.itemgetter(1, 0))([5, 7])
    (7, 5)
    """
    made: Any
    made, given = f.__reduce__()
    keywords: dict[str, Any] = {}
    if isinstance(made, functools.partial):
        made, given, keywords = made.func, (*made.args, *given), made.keywords
    if made is operator.methodcaller:
        name, *values = given
        named = [f"{k}={k}_given" for k in keywords]
        passed = ", ".join([*(f"given_{k}" for k in range(len(values))), *named])
        returned = f"x.{name}({passed})"
    else:
        values = list(given)
        parts = [f"x[given_{k}]" if made is operator.itemgetter else f"x.{v}" for k, v in enumerate(values)]
        returned = ", ".join(parts)
    bindings = {f"given_{k}": v for k, v in enumerate(values)} | {
        f"{k}_given": v for k, v in keywords.items()
    }
    return make_function(f"def getter(x):\n    return {returned}\n", "getter", Scope({}), bindings)
