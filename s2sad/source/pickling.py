"""Pickles derivatives: by the name that a module has for them, or together with their function.

A function that a decorator replaced by its derivative is found through the name of the derivative. A `bprop`
is pickled with its source text and its residuals.
"""

from __future__ import annotations

import importlib
import linecache
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CellType, FunctionType, ModuleType
from typing import Any

from ..transforms.trees.printer import Places
from ..transforms.trees.program import Scope
from ..values.code_state import cells_of
from .compiling import make_function, nested_code
from .locate import GENERATED, Origin, origins

__all__ = ["pickled_function", "reduce_derivative", "restored_function"]

MAIN = "__main__"
CLOUDPICKLES = ("cloudpickle", "joblib.externals.cloudpickle")
MAX_BEHIND = 16  # the most derivatives of derivatives under one name
_open = threading.local()  # `ids` are the derivatives that are being pickled by value


def reduce_derivative(x: Any, make: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of `x.__reduce__()`: a reference by name, or the call `make(*args)`.

    For objects of `__main__`, which other processes may lack, it is both, if cloudpickle is installed.
    """
    found = _place_of(x)
    if found is None:
        files = _files_of(args)
        args = tuple(_Hidden(a) if (place := _place_of(a)) and place[2] else a for a in args)
        return (_made, (make, args, files)) if files else (make, args)
    module, name, depth = found
    if module == MAIN:
        return _from_main, (name, depth, _by_value(x, make, args))
    return (_behind, found) if depth else name


class _Hidden:
    """A function whose name in its module means its derivative; it is unpickled as the function."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        return reduce_derivative(self.function, _itself, (self.function,))


def _itself(x: Any) -> Any:
    return x


def _place_of(x: Any) -> tuple[str, str, int] | None:
    """The module, the name and the number of `primal` steps that lead to an object; None without a name."""
    module, name = getattr(x, "__module__", None), getattr(x, "__qualname__", None)
    try:
        found = _named(module, name) if isinstance(module, str) and isinstance(name, str) else None
    except (AttributeError, KeyError):
        return None
    for depth in range(MAX_BEHIND):
        if found is x:
            return str(module), str(name), depth
        found = getattr(found, "primal", None)
    return None


def _named(module: str, name: str) -> Any:
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _behind(module: str, name: str, depth: int) -> Any:
    """The object that is reached from a name in `depth` steps to the primal."""
    importlib.import_module(module)
    found = _named(module, name)
    for _ in range(depth):
        found = found.primal
    return found


def _by_value(x: Any, make: Callable[..., Any], args: tuple[Any, ...]) -> bytes | None:
    cloudpickle = next((sys.modules[name] for name in CLOUDPICKLES if name in sys.modules), None)
    ids = _open.__dict__.setdefault("ids", set())
    if cloudpickle is None or id(x) in ids:
        return None
    ids.add(id(x))
    try:
        found: bytes = cloudpickle.dumps((make, args, _files_of(args)))
    finally:
        ids.discard(id(x))
    return found


def _from_main(name: str, depth: int, value: bytes | None) -> Any:
    try:
        return _behind(MAIN, name, depth)
    except AttributeError:
        if value is None:
            raise
    cloudpickle = next(importlib.import_module(name) for name in CLOUDPICKLES if _can_import(name))
    return _made(*cloudpickle.loads(value))


def _made(make: Callable[..., Any], args: tuple[Any, ...], files: Mapping[str, str]) -> Any:
    """The result of `make(*args)`; functions of `__main__` are first told their files, which cloudpickle may
    have left out: without them there is no source.
    """
    for function in _reached(args):
        file = files.get(function.__qualname__)
        if file not in (None, function.__code__.co_filename):
            function.__code__ = function.__code__.replace(co_filename=file)
    return make(*args)


def _files_of(args: tuple[Any, ...]) -> dict[str, str]:
    """The files of the functions of `__main__` among the arguments, and of those that they call."""
    return {f.__qualname__: f.__code__.co_filename for f in _reached(args)}


def _reached(args: tuple[Any, ...]) -> list[FunctionType]:
    """The functions of `__main__` among the arguments, and those that these name."""
    todo, found = [a for a in args if isinstance(a, FunctionType)], list[FunctionType]()
    while todo:
        function = todo.pop()
        if function.__module__ != MAIN or function in found:
            continue
        found.append(function)
        names = {name for code in nested_code(function.__code__) for name in code.co_names}
        named = [function.__globals__.get(name) for name in sorted(names)]
        todo += [value for value in named if isinstance(value, FunctionType)]
    return found


def _can_import(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


# ---------------------------------------------------------------- generated functions


@dataclass(frozen=True, eq=False)
class _Function:
    """A generated function, packed: the text, the name of its top-level function, the name and line of the
    pickled one, the values of free variables, and the module with the names that are read.
    """

    text: str
    outer: str
    place: tuple[str, int]
    free: dict[str, Any]
    module: str
    read: Mapping[str, Any]
    attributes: Mapping[str, Any]
    origin: tuple[str, Places] | None


@dataclass(frozen=True)
class _Module:
    name: str


@dataclass(frozen=True)
class _Empty:
    """The value of an empty cell."""


_ATTRIBUTES = ("__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__module__")


def pickled_function(x: Any, known: dict[int, Any] | None = None) -> Any:
    """The value with its modules and generated functions replaced by objects that pickle."""
    known = {} if known is None else known
    if isinstance(x, ModuleType):
        return _Module(x.__name__)
    if isinstance(x, FunctionType) and x.__code__.co_filename.startswith(GENERATED):
        return known.get(id(x)) or _pickled(x, known)
    if type(x) in (list, tuple):
        return type(x)([pickled_function(v, known) for v in x])
    if type(x) is dict:
        return {k: pickled_function(v, known) for k, v in x.items()}
    return x


def _pickled(function: FunctionType, known: dict[int, Any]) -> _Function:
    code, around = function.__code__, function.__globals__
    filename, module = code.co_filename, str(around.get("__name__", ""))
    origin = origins.get(filename)
    names = {n for c in nested_code(code) for n in c.co_names if n in around}
    in_module = module != MAIN and module in sys.modules and vars(sys.modules[module]) is around
    packed = known[id(function)] = _Function(
        "".join(linecache.getlines(filename)),
        filename.removeprefix(GENERATED).rpartition(" ")[0],
        (code.co_name, code.co_firstlineno),
        {},
        module,
        {} if in_module else {n: pickled_function(around[n], known) for n in sorted(names)},
        {name: getattr(function, name) for name in _ATTRIBUTES},
        None if origin is None else (origin.filename, origin.places),
    )
    for name, cell in cells_of(function).items():
        try:
            packed.free[name] = pickled_function(cell.cell_contents, known)
        except ValueError:
            packed.free[name] = _Empty()
    return packed


def restored_function(x: Any, known: dict[int, Any] | None = None) -> Any:
    """The inverse of `pickled_function`."""
    known = {} if known is None else known
    if isinstance(x, _Module):
        return importlib.import_module(x.name)
    if isinstance(x, _Function):
        return known.get(id(x)) or _restored(x, known)
    if type(x) in (list, tuple):
        return type(x)([restored_function(v, known) for v in x])
    if type(x) is dict:
        return {k: restored_function(v, known) for k, v in x.items()}
    return x


def _restored(packed: _Function, known: dict[int, Any]) -> FunctionType:
    around = _names_around(packed, known)
    origin = None
    if packed.origin is not None:
        filename, places = packed.origin
        origin = Origin(filename, tuple(line.rstrip("\r\n") for line in linecache.getlines(filename)), places)
    bindings = dict.fromkeys(packed.free)
    outer = make_function(packed.text, packed.outer, Scope(around), bindings, origin=origin)
    code = next(c for c in nested_code(outer.__code__) if (c.co_name, c.co_firstlineno) == packed.place)
    cells = {name: CellType() for name in packed.free}
    closure = tuple(cells[name] for name in code.co_freevars)
    function = known[id(packed)] = FunctionType(code, around, closure=closure)
    for name, value in packed.attributes.items():
        setattr(function, name, value)
    for name, value in packed.free.items():
        if not isinstance(value, _Empty):
            cells[name].cell_contents = restored_function(value, known)
    return function


def _names_around(packed: _Function, known: dict[int, Any]) -> dict[str, Any]:
    """The globals of the module, if it has all names that are read; else the pickled names alone."""
    module = sys.modules.get(packed.module)
    if module is None and not packed.read and packed.module:
        module = importlib.import_module(packed.module)
    if module is not None and packed.read.keys() <= vars(module).keys():
        return vars(module)
    return {"__name__": packed.module, **{k: restored_function(v, known) for k, v in packed.read.items()}}
