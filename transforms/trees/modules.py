"""The globals of functions, and the variables of enclosing functions, as attributes of objects."""

from __future__ import annotations

from collections.abc import MutableMapping
from types import CellType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["Globals", "Variable", "cell_key", "globals_of", "name_key", "named", "variable_of"]


class Globals(ModuleType):
    """A module whose attributes are the globals of functions; a missing one raises NameError."""

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


class Variable(ModuleType):
    """A captured variable: its cell, as a module with the one attribute `cell_contents`."""

    def __init__(self, cell: CellType, name: str) -> None:
        super().__init__(name)
        object.__setattr__(self, "_cell", cell)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._cell, name)
        except ValueError:
            variable = self.__name__
            raise NameError(f"free variable {variable!r} has no value", name=variable) from None

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._cell, name, value)

    def __delattr__(self, name: str) -> None:
        self.__getattr__(name)
        delattr(self._cell, name)


_owners: WeakValueDictionary[int, Globals | Variable] = WeakValueDictionary()  # each holds its referent


def globals_of(names: MutableMapping[str, Any]) -> ModuleType:
    """The object for these globals, always the same one."""
    return _owners.setdefault(id(names), Globals(names))


def variable_of(cell: CellType, name: str) -> ModuleType:
    """The object for this variable, always the same one."""
    return _owners.setdefault(id(cell), Variable(cell, name))


def cell_key(cell: CellType) -> tuple[int, str]:
    """The key of a variable, in the form of `name_key`."""
    return id(cell), "cell_contents"


def name_key(owner: Any, name: str) -> tuple[int, str]:
    """The key of a name in a module or class, in the globals of functions, or of a variable."""
    if isinstance(owner, Variable):
        return id(owner._cell), name
    names = owner._names if isinstance(owner, Globals) else owner
    return id(vars(names) if isinstance(names, ModuleType) else names), name


def named(owner: Any, name: str) -> Any:
    """The present value of a name of a module or class, None where it is missing."""
    try:
        return owner._names.get(name) if isinstance(owner, Globals) else getattr(owner, name, None)
    except NameError:
        return None
