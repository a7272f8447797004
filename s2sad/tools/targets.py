"""Finds what a command names: `pkg.mod:func`, `pkg.mod`, `path/to/file.py:func`.

Contract: every failure is a `NotFound` with one line that says what is wrong, and where.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["NotFound", "example_arguments", "example_call", "load_function", "load_module"]


class NotFound(Exception):
    """A module, function or example that cannot be had."""


def load_module(name: str) -> ModuleType:
    """The module of a dotted name or of the path of a Python file; it is imported, as Python does."""
    path = Path(name) if name.endswith(".py") else None
    if path is not None:
        name = _name_of_file(path)
    if path is not None and not path.stem.isidentifier():  # no statement imports it
        return _executed(path.resolve(), path.stem)
    if not name or not all(part.isidentifier() for part in name.split(".")):
        raise NotFound(f"{name!r} is no name of a module: write pkg.mod, or the path of a .py file")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise NotFound(f"there is no module {error.name!r} in {folder} or on sys.path") from None
        raise NotFound(_failed(name, error)) from None
    except SyntaxError as error:
        place = f"{error.filename}:{error.lineno}:{error.offset}"
        raise NotFound(f"{place}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        raise NotFound(_failed(name, error)) from None


def _executed(path: Path, name: str) -> ModuleType:
    """The module of a file whose name is none of a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise NotFound(_failed(str(path), error)) from None
    return module


def _name_of_file(path: Path) -> str:
    """The dotted name of a file, whose folder (or that of its package) is put on the path."""
    if not path.is_file():
        raise NotFound(f"there is no file {str(path)!r}")
    path = path.resolve()
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return ".".join(parts)


def _failed(name: str, error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if len(frames) > 1 else ""
    return f"{where}importing {name!r} raised {type(error).__name__}: {error}"


def load_function(target: str) -> tuple[Any, ModuleType]:
    """The function of a target, and its module."""
    module_name, colon, path = target.rpartition(":")
    if not colon:
        raise NotFound(f"{target!r} names no function: write pkg.mod:func")
    if not path or not all(part.isidentifier() for part in path.split(".")):
        raise NotFound(f"{path!r} is no name of a function")
    found: Any = load_module(module_name)
    module = found
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise NotFound(f"{module_name!r} has no {path!r}") from None
    if not callable(found):
        raise NotFound(f"{target!r} is a {type(found).__name__}, and no function")
    return found, module


def example_call(text: str | None, module: ModuleType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of example arguments, such as `np.ones(3), scale=2.0`, that may use the names of the module:
    those by position, and those by name.
    """

    def given(*args: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, keywords

    if text is None:
        return (), {}
    try:
        code = compile(f"given({text}\n)", "<--args>", "eval")
        found: tuple[tuple[Any, ...], dict[str, Any]]
        found = eval(code, {"np": np, **vars(module), "given": given})
    except Exception as error:
        raise NotFound(f"--args {text!r} raised {type(error).__name__}: {error}") from None
    return found


def example_arguments(text: str | None, module: ModuleType, function: Any) -> tuple[Any, ...]:
    """The values of example arguments of a function, by position."""
    args, keywords = example_call(text, module)
    if not keywords:
        return args
    try:
        bound = inspect.signature(function).bind(*args, **keywords)
    except TypeError as error:
        raise NotFound(f"--args {text!r}: {error}") from None
    bound.apply_defaults()
    if bound.kwargs:
        name = next(iter(bound.kwargs))
        raise NotFound(f"--args {text!r}: `{name}` is taken by name only; `show` alone takes such")
    return bound.args
