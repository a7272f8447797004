"""The aliasing of primitives: how results share memory with arguments, from their records."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import gast
import numpy as np

from ..transforms.analyses.operations import Apply
from .record import fact, find_rule, is_nondifferentiable

__all__ = [
    "is_fresh", "is_read_only", "is_steady_view", "passes", "permissions", "positional_parameters", "sharing",
]  # fmt: skip

FRESH = ("fresh", "stored")
LIBRARIES = ("numpy", "scipy", "math", "cmath", "_operator", "builtins")


def sharing(operation: Apply) -> str:
    """How the result of a call shares memory, as `record.Facts.sharing`; "stored" counts as "fresh"."""
    function = operation.function
    word = fact(function, "sharing")
    if isinstance(word, Mapping):
        return next((found for name, found in word.items() if passes(operation, name)), "fresh")
    if callable(word):
        return str(word(operation))
    if word is None:
        word = _default(function)
    if word in FRESH:
        return "unknown" if any(passes(operation, name) for name in _outputs(function)) else "fresh"
    return "unknown" if word == "elements" and operation.keywords else str(word)


def is_fresh(function: Any) -> bool:
    """Whether the result of every call of a function surely shares no memory with its arguments."""
    return (fact(function, "sharing") or _default(function)) in FRESH and not _outputs(function)


def is_steady_view(function: Any) -> bool:
    """Whether values do not affect which arrays the result of a function shares memory with."""
    return bool(fact(function, "steady"))


def is_read_only(function: Any) -> bool:
    """Whether a function returns read-only views of writable arrays."""
    return bool(fact(function, "read_only"))


def passes(operation: Apply, name: str) -> bool:
    """Whether a call passes the parameter of this name, or may."""
    if name in dict(operation.keywords):
        return True
    known = positional_parameters(operation.function)
    is_starred = any(isinstance(a, gast.Starred) for a in operation.args)
    return name in known and (is_starred or known.index(name) < len(operation.args))


@lru_cache(maxsize=1024)
def positional_parameters(function: Any) -> list[str]:
    """The parameters that may be passed by position; empty for a function without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a C function
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def permissions(operation: Apply) -> dict[str, Any]:
    """The keywords of a call that permit a function of SciPy to overwrite an argument, or deny it; each with
    the argument, or with None where that is not overwritten.
    """
    given = dict(zip(positional_parameters(operation.function), operation.args, strict=False))
    keywords = dict(operation.keywords)
    given |= keywords
    found = {}
    for name in _outputs(operation.function):
        match keywords.get(name), given.get(name.removeprefix("overwrite_")):
            case gast.Constant(value=permitted), gast.AST() as overwritten:
                found[name] = overwritten if permitted else None
    return found


def _default(function: Any) -> str:
    """The sharing of a function that is declared without one."""
    if isinstance(getattr(function, "__self__", function), np.ufunc):
        return "fresh"
    library = (getattr(function, "__module__", None) or "").partition(".")[0]
    if library in LIBRARIES and find_rule(function) is not None:
        return "fresh"
    is_new = is_nondifferentiable(function) and not hasattr(np.ndarray, getattr(function, "__name__", ""))
    return "fresh" if is_new else "unknown"


def _outputs(function: Any) -> list[str]:
    """The output parameters of a function of SciPy."""
    if not (getattr(function, "__module__", None) or "").startswith("scipy"):
        return []
    return [p for p in _names(function) if p.startswith("overwrite") or p in ("out", "output")]


@lru_cache(maxsize=1024)
def _names(function: Any) -> list[str]:
    try:
        return [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return []
