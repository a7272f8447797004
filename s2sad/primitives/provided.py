"""Objects of modules that stand above: these provide them when they are imported, for rules and helpers that
ask while a derivative runs.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["provide", "provided"]

PROVIDER = "s2sad.derivatives.dynamic_calls"  # which imports all that provide

_PROVIDED: dict[str, Any] = {}


def provide(**objects: Any) -> None:
    """Makes objects known by their names."""
    _PROVIDED.update(objects)


def provided(name: str) -> Any:
    """The object that is provided by a name; its provider is imported if nobody has done so."""
    if name not in _PROVIDED:
        importlib.import_module(PROVIDER)
    return _PROVIDED[name]
