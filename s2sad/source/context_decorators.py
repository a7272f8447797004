"""Functions that context managers decorate, as functions with a `with` statement."""

from __future__ import annotations

import contextlib
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from ..transforms.trees.program import Scope
from ..values.code_state import cells_of
from .compiling import make_function

__all__ = ["as_with", "manager_of"]


def _code_of(decorator: Any) -> Any:
    return decorator(lambda: None).__code__


_CODES: Any = _code_of(contextlib.ContextDecorator()), _code_of(np.errstate())
_RECREATED = contextlib._GeneratorContextManager._recreate_cm
_EMPTY: Any = np.errstate()
_OPTIONS = "all", "divide", "over", "under", "invalid", "call"


def manager_of(f: Any) -> Any:
    """The context manager that decorates a function; None for other objects."""
    is_decorated = isinstance(f, FunctionType) and any(f.__code__ is code for code in _CODES)
    return cells_of(f)["self"].cell_contents if is_decorated else None


@lru_cache(maxsize=1024)
def as_with(f: FunctionType) -> FunctionType:
    """The function itself; for one that a context manager decorates, one whose text says so:

        def inverse(*args, **keywords):
            with np.errstate(divide="ignore"):
                return called(*args, **keywords)
    """
    manager = manager_of(f)
    if manager is None:
        return f
    bindings = {"called": cells_of(f)["func"].cell_contents, "manager": manager, "np": np}
    made = getattr(getattr(manager, "_recreate_cm", None), "__func__", None)  # how each call makes it anew
    if isinstance(manager, np.errstate):
        given = {k: getattr(manager, f"_{k}") for k in _OPTIONS}
        named = {k: v for k, v in given.items() if v is not getattr(_EMPTY, f"_{k}")}
        context = f"np.errstate({_passed((), named, bindings)})"
    elif made is _RECREATED and hasattr(manager, "args"):  # else it was entered, and is used up
        bindings["manager"] = contextlib.contextmanager(manager.func)
        context = f"manager({_passed(manager.args, manager.kwds, bindings)})"
    elif made is contextlib.ContextDecorator._recreate_cm:
        context = "manager"
    else:
        return f
    name = f.__name__ if f.__name__.isidentifier() else "function"
    text = f"def {name}(*args, **keywords):\n    with {context}:\n        return called(*args, **keywords)\n"
    return make_function(text, name, Scope({}), bindings, like=f)


def _passed(args: tuple[Any, ...], keywords: dict[str, Any], bindings: dict[str, Any]) -> str:
    """The text of the arguments of a call, with names in `bindings` for what is no string."""
    parts = []
    for key, value in (*enumerate(args), *keywords.items()):
        text = repr(value) if type(value) is str else f"given_{key}"
        if type(value) is not str:
            bindings[text] = value
        parts.append(text if isinstance(key, int) else f"{key}={text}")
    return ", ".join(parts)
