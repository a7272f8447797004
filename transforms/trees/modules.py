"""The globals of functions, as attributes of an object."""

from __future__ import annotations

from collections.abc import MutableMapping
from types import ModuleType
from typing import Any

__all__ = ["Globals", "name_key", "named"]


class Globals(ModuleType):
    """A module whose attributes are the globals of functions; a missing one is a name that is not defined."""

    def __init__(self, names: MutableMapping[str, Any]) -> None:
        super().__init__(str(names.get("__name__")))
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined", name=name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._names[name] = value

    def __delattr__(self, name: str) -> None:
        self.__getattr__(name)
        del self._names[name]


def name_key(owner: Any, name: str) -> tuple[int, str]:
    """A name in a module or class, or in the globals of functions."""
    names = owner._names if isinstance(owner, Globals) else owner
    return id(vars(names) if isinstance(names, ModuleType) else names), name


def named(owner: Any, name: str) -> Any:
    """What a name of a module or class means now, None where it is missing."""
    return owner._names.get(name) if isinstance(owner, Globals) else getattr(owner, name, None)
