"""Objects of higher modules for rules and helpers at run time: each module provides its own on import."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["provide", "provided"]

PROVIDER = "s2sad.derivatives.dynamic_calls"  # imports all modules that provide objects

_PROVIDED: dict[str, Any] = {}


def provide(**objects: Any) -> None:
    """Provides objects by name."""
    _PROVIDED.update(objects)


def provided(name: str) -> Any:
    """The object provided under a name; its provider is imported if necessary."""
    if name not in _PROVIDED:
        importlib.import_module(PROVIDER)
    return _PROVIDED[name]
