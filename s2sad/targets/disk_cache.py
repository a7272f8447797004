"""Compiled functions on disk, so that another process compiles nothing.

Contract: a file is found by a digest of all that machine code depends on: the code of the function and of
those it calls, its constants, the types of its arguments, the processor, and the versions of Python, NumPy,
Numba and of this package's files. What has no such digest is not kept. A file that is broken, or that Numba
cannot load, counts as missing. The files are in `S2SAD_CACHE_DIR`, or in the user's folder for caches; they
can be removed at any time.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from ..source.compiling import nested_code
from .interpreted_functions import interpreted
from .special_functions import is_special
from .typed_differences import differences

__all__ = ["keep_on_disk"]

PACKAGE = Path(__file__).parents[1]
FIXED = frozenset({"numpy", "scipy", "numba", "math", "cmath", "builtins", "operator"})  # libraries
OWN = __name__.partition(".")[0]
DIGEST = 32  # bytes at the start of a file: the digest of the others


class _NoDigestError(Exception):
    """Raised for a value that machine code depends on and that has no digest."""


def keep_on_disk(dispatcher: Any) -> None:
    """Makes a function of Numba's look for its machine code on disk, and store it there."""
    with suppress(_NoDigestError):
        parts = *environment(), *digested(dispatcher, [])
        dispatcher._cache = _Files(hashlib.sha256(repr(parts).encode()).hexdigest())


def folder() -> Path:
    """The folder of the files."""
    given = os.environ.get("S2SAD_CACHE_DIR")
    if given:
        return Path(given)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "s2sad"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "s2sad"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "s2sad"


class _Files(_Cache):  # type: ignore[misc]
    """The machine code of one function, a file for the types of its arguments."""

    def __init__(self, key: str) -> None:
        self._key, self._is_enabled = key, True

    @property
    def cache_path(self) -> str:
        return str(folder())

    def _path(self, sig: Any, context: Any) -> Path:
        key = repr((self._key, sig, context.codegen().magic_tuple()))
        return folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.bin"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            data = self._path(sig, target_context).read_bytes()
            if not self._is_enabled or hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(data[DIGEST:]))
        except Exception:  # a missing file, or one that another version has written
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        is_plain = not data.lifted and not data.library.has_dynamic_globals
        if not self._is_enabled or not is_plain or any(True for _ in differences(data)):
            return
        path = self._path(sig, data.target_context)
        with suppress(Exception):  # a folder that cannot be written, a value that does not pickle
            content = pickle.dumps(data._reduce(), protocol=4)
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(file.name, path)

    def enable(self) -> None:
        self._is_enabled = True

    def disable(self) -> None:
        self._is_enabled = False

    def flush(self) -> None:
        """Keeps the files: they are right for what they are found by."""


# ---------------------------------------------------------------- what machine code depends on


@cache
def environment() -> tuple[Any, ...]:
    """The versions, and the sizes and times of this package's files."""
    stats = [(str(p.relative_to(PACKAGE)), p.stat()) for p in PACKAGE.rglob("*.py")]
    files = [(path, found.st_size, found.st_mtime_ns) for path, found in stats]
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    versions = sys.version, platform.machine(), np.__version__, numba.__version__, llvmlite.__version__
    return *versions, settings, sorted(files)


def digested(value: Any, open_: list[Any]) -> Iterator[Any]:
    """What is digested of a value that compiled code reads; `open_` are the functions around it."""
    yield type(value).__qualname__
    if value is interpreted:  # it runs Python, by a key of this process
        raise _NoDigestError
    if is_fixed(value):
        yield value.__module__, value.__name__
    elif hasattr(value, "py_func"):
        yield sorted(value.targetoptions.items(), key=str)
        yield from digested(value.py_func, open_)
    elif isinstance(value, CodeType):
        yield value.co_code, value.co_exceptiontable, value.co_names, value.co_varnames, value.co_flags
        for constant in value.co_consts:
            yield from digested(constant, open_)
    elif isinstance(value, FunctionType):
        yield from (open_.index(value),) if value in open_ else digested_function(value, [*open_, value])
    elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] in FIXED:
        yield value.__name__, getattr(sys.modules[value.__name__.partition(".")[0]], "__version__", None)
    elif is_special(value):
        yield value.__name__, getattr(sys.modules["scipy"], "__version__", None)
    elif isinstance(value, (tuple, frozenset)):
        for part in sorted(value, key=repr) if isinstance(value, frozenset) else value:
            yield from digested(part, open_)
    elif isinstance(value, (bool, int, float, complex, str, bytes, type(None), type(...), np.generic)):
        yield repr(value)
    else:
        raise _NoDigestError


def digested_function(function: FunctionType, open_: list[Any]) -> Iterator[Any]:
    """What is digested of a function: its code, its defaults, and what its free names mean."""
    code = function.__code__
    yield from digested(code, open_)
    yield from digested(function.__defaults__, open_)
    if function.__kwdefaults__:
        raise _NoDigestError
    for cell in function.__closure__ or ():
        yield from digested(cell.cell_contents, open_)
    for name in dict.fromkeys(name for inner in nested_code(code) for name in inner.co_names):
        if name in function.__globals__:
            yield from digested(function.__globals__[name], open_)


def is_fixed(value: Any) -> bool:
    """Whether a value is what a module of a library, or of this package, has under its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in (*FIXED, OWN):
        return False
    return isinstance(name, str) and getattr(sys.modules.get(module), name, None) is value


class _Numbers:
    """Random numbers, as those that Numba tells functions apart by. Machine code from disk must not meet
    functions that have the same name and number in this process.
    """

    def __init__(self) -> None:
        self._process, self._numbers = 0, itertools.count()

    def __next__(self) -> int:
        if self._process != os.getpid():
            start = int.from_bytes(os.urandom(7), "big")
            self._process, self._numbers = os.getpid(), itertools.count(start)
        return next(self._numbers)


FunctionIdentity._unique_ids = _Numbers()
