"""Objects of modules that stand above: these provide them when they are imported, for rules and helpers that
ask while a derivative runs.
"""

from __future__ import annotations

from typing import Any

__all__ = ["provide", "provided"]

_PROVIDED: dict[str, Any] = {}


def provide(**objects: Any) -> None:
    """Makes objects known by their names."""
    _PROVIDED.update(objects)


def provided(name: str) -> Any:
    """The object that was provided by a name; KeyError before it is."""
    return _PROVIDED[name]
