"""How much code of libraries a call may lead into, told by the names that the code reads.

A library's function that leads into more than `BUDGET` lines is not read: its calls are dynamic. Calls that
nothing active reaches stay as they stand where they lead into more than `SHORT` lines.
"""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..values.objects import is_plain, lookup
from .record import find_rule, is_nondifferentiable, refusal

__all__ = ["is_of_libraries", "is_short", "leads_far", "library_function"]

BUDGET = 1000  # lines with statements that a call of a library's function may lead into to be read
SHORT = 20  # those that one may lead into to be read where nothing carries a derivative

_OWN = __name__.partition(".")[0]


@lru_cache(maxsize=1)
def _places() -> tuple[str, ...]:
    """The folders of Python's library and of installed packages."""
    paths = sysconfig.get_paths()
    found = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]]
    found += [*site.getsitepackages(), site.getusersitepackages()]
    found.append(f"{sys.base_prefix}/lib/python3/dist-packages")
    return "<frozen ", *(f"{path}/" for path in dict.fromkeys(found))


@lru_cache(maxsize=4096)
def _is_library_file(filename: str) -> bool:
    return filename.startswith(_places())


def is_of_libraries(function: FunctionType) -> bool:
    """Whether a function is Python's, or an installed package's, and wraps none of the user's."""
    inner: Any = getattr(function, "__wrapped__", function)
    while isinstance(inner, FunctionType) and inner is not function and hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    functions = [function, inner] if isinstance(inner, FunctionType) else [function]
    return package_of(function) != _OWN and all(_is_library_file(f.__code__.co_filename) for f in functions)


def leads_far(function: Any, cls: type | None = None) -> bool:
    """Whether a library's function, as a method of `cls`, may lead into more code of libraries than is
    read.
    """
    if isinstance(function, FunctionType) and not is_of_libraries(function):
        return False
    if not isinstance(function, FunctionType) and not isinstance(function, type):
        return False
    return _lines_reached(function, cls) > BUDGET


def is_short(function: Any) -> bool:
    """Whether a library's function leads into so few statements that their kinds are worth reading them."""
    return _lines_reached(function, None) <= SHORT


def library_function(function: Any, package: str) -> Any:
    """The function of a library, or the class with a constructor in Python, that a call runs; None for those
    that are declared or of the package, and for all others.
    """
    found = next((f for f, _ in _functions(function, None)), None) if callable(function) else None
    is_others = found is not None and is_of_libraries(found) and package_of(found) != package
    return function if is_others else None


def package_of(function: FunctionType) -> str:
    """The outermost package of the module of a function."""
    return str(function.__globals__.get("__name__", "")).partition(".")[0]


@lru_cache(maxsize=4096)
def _lines_reached(function: Any, cls: type | None) -> int:
    """The lines with statements of a function and of those of libraries that it names; over the budget, some
    number above it.
    """
    seen: set[Any] = set()
    todo: list[tuple[Any, type | None]] = [(function, cls)]
    total = 0
    while todo and total <= BUDGET:
        item = todo.pop()
        for f, owner in _functions(*item):
            key = f.__code__, owner
            if key in seen or not is_of_libraries(f):
                continue
            seen.add(key)
            total += sum(len({line for _, _, line in code.co_lines()}) for code in _codes(f.__code__))
            todo.extend(_named(f, owner))
    return total


def _functions(value: Any, cls: type | None) -> Iterator[tuple[FunctionType, type | None]]:
    """The functions with source that a call of a value runs."""
    if isinstance(value, MethodType):
        value = value.__func__
    if find_rule(value) is not None or is_nondifferentiable(value) or refusal(value) is not None:
        return
    if isinstance(value, FunctionType):
        yield value, cls
    elif isinstance(value, type):
        for name in ("__new__", "__init__"):
            made = lookup(value, name)
            made = made.__func__ if isinstance(made, staticmethod) else made
            if isinstance(made, FunctionType):
                yield made, value
    elif isinstance(getattr(value, "__wrapped__", None), FunctionType):
        yield value.__wrapped__, None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _named(function: FunctionType, cls: type | None) -> Iterator[tuple[Any, type | None]]:
    """What the code of a function names: globals, what it holds of around it, attributes of modules that it
    names, and methods and properties of its class.
    """
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # of an empty one
            found.append(cell.cell_contents)
    modules = [m for m in found if isinstance(m, ModuleType)]
    for value in found:
        if not isinstance(value, (ModuleType, FunctionType, type)) and is_plain(type(value)):
            yield from _members(type(value), names)
        elif not isinstance(value, ModuleType):
            yield value, None
    for module in modules:
        for name in names:
            value = module.__dict__.get(name)
            if value is not None and not isinstance(value, ModuleType):
                yield value, None
    if cls is not None:
        yield from _members(cls, names)


def _members(cls: type, names: list[str]) -> Iterator[tuple[FunctionType, type | None]]:
    """The methods and properties of a class among the names."""
    for name in names:
        member = lookup(cls, name)
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        elif isinstance(member, property):
            member = member.fget
        if isinstance(member, FunctionType):
            yield member, cls
