"""Estimates how much library code a call reaches, from the names that the code reads.

A library function that reaches more than `BUDGET` lines is not read: its calls are dynamic. An inactive call
that reaches more than `SHORT` lines stays as it is.
"""

from __future__ import annotations

import ast
import inspect
import site
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..values.objects import is_plain, lookup
from .record import Rule, find_rule, is_nondifferentiable, refusal

__all__ = [
    "functions_of_rule",
    "is_library_code",
    "is_library_module",
    "is_of_libraries",
    "is_short",
    "leads_far",
    "library_function",
]

BUDGET = 1000  # the most lines with statements that a library function may reach and still be read
SHORT = 20  # the same for an inactive call

_OWN = __name__.partition(".")[0]


@lru_cache(maxsize=1)
def _places() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages."""
    paths = sysconfig.get_paths()
    found = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]]
    found += [*site.getsitepackages(), site.getusersitepackages()]
    found.append(f"{sys.base_prefix}/lib/python3/dist-packages")
    return "<frozen ", *(f"{path}/" for path in dict.fromkeys(found))


@lru_cache(maxsize=4096)
def _is_library_file(filename: str) -> bool:
    return filename.startswith(_places())


def is_library_module(module: ModuleType | None) -> bool:
    """Whether a module is of the standard library or an installed package, and not of this package."""
    if module is None or module.__name__.partition(".")[0] == _OWN:
        return False
    filename = getattr(module, "__file__", None)
    return module.__name__ in sys.builtin_module_names if filename is None else _is_library_file(filename)


def is_library_code(function: FunctionType) -> bool:
    """Whether the text of a function, or of the one that it was generated from, stands in a library."""
    return is_library_module(sys.modules.get(str(function.__globals__.get("__name__"))))


def is_of_libraries(function: FunctionType) -> bool:
    """Whether a function is of the standard library or an installed package, and wraps no user's function."""
    inner: Any = getattr(function, "__wrapped__", function)
    while isinstance(inner, FunctionType) and inner is not function and hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    functions = [function, inner] if isinstance(inner, FunctionType) else [function]
    return package_of(function) != _OWN and all(_is_library_file(f.__code__.co_filename) for f in functions)


def leads_far(function: Any, cls: type | None = None) -> bool:
    """Whether a library function, as a method of `cls`, may reach more library code than is read."""
    if isinstance(function, FunctionType) and not is_of_libraries(function):
        return False
    if not isinstance(function, FunctionType) and not isinstance(function, type):
        return False
    return _lines_reached(function, cls) > BUDGET


def is_short(function: Any) -> bool:
    """Whether a library function reaches so few statements that it is read even for an inactive call."""
    return _lines_reached(function, None) <= SHORT


def library_function(function: Any, package: str) -> Any:
    """The library function, or class with a constructor in Python, that a call executes; None for primitives,
    for those of `package`, and for all others.
    """
    found = next((f for f, _ in _functions(function, None)), None) if callable(function) else None
    is_others = found is not None and is_of_libraries(found) and package_of(found) != package
    return function if is_others else None


def package_of(function: FunctionType) -> str:
    """The outermost package of the module of a function."""
    return str(function.__globals__.get("__name__", "")).partition(".")[0]


@lru_cache(maxsize=4096)
def _lines_reached(function: Any, cls: type | None) -> int:
    """The number of lines with statements of a function and of the library functions that it reaches; some
    number above BUDGET where there are more.
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


@lru_cache(maxsize=1024)
def functions_of_rule(rule: Rule) -> tuple[Any, ...]:
    """The functions of other packages that the templates of a rule name, and the functions of this one that
    these call.
    """
    templates = [rule.template, rule.jvp_template, rule.uniform, rule.spread, rule.reals]
    templates += rule.ranks.values()
    todo = [t.function for t in templates if t is not None]
    seen: set[Any] = set()
    found: dict[Any, None] = {}
    while todo:
        for value in _written(todo.pop()):
            if isinstance(value, FunctionType) and package_of(value) == _OWN:
                if value not in seen:
                    seen.add(value)
                    todo.append(value)
            elif callable(value) and not isinstance(value, type):
                found[value] = None
    return tuple(found)


def _written(function: FunctionType) -> Iterator[Any]:
    """The values of the global names, and of attributes of modules, in the body of a function."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    for node in (n for statement in definition.body for n in ast.walk(statement)):
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        value = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
        while names and isinstance(value, ModuleType):
            value = getattr(value, names.pop(), None)
        if not names and not isinstance(value, ModuleType):
            yield value


def _functions(value: Any, cls: type | None) -> Iterator[tuple[FunctionType, type | None]]:
    """The Python functions that a call of a value executes."""
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
    """The values that the code of a function names: globals, free variables, attributes of modules, and
    methods and properties of its class.
    """
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty cell
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
