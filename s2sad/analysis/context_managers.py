"""Context managers: which are settings, and which let exceptions pass. See `nature_of_context`."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import warnings
from types import FunctionType
from typing import Any

import gast
import numpy as np

from ..source.read import read_source
from ..transforms.errors import NoSourceError
from ..transforms.lowering.splice_generators import MANAGED
from ..transforms.trees.nodes import walk, walk_scope

__all__ = ["nature_of_context", "returns_nothing"]

# Managers that only change how values are computed or shown.
SETTINGS = (np.errstate, np.printoptions, warnings.catch_warnings)
SCIPY_SETTINGS = ("set_workers", "set_backend", "skip_backend")

# Managers that let all exceptions pass, but whose code cannot be read.
PASSING = (
    open,
    contextlib.closing,
    contextlib.redirect_stdout,
    contextlib.redirect_stderr,
    contextlib.chdir,
    tempfile.TemporaryDirectory,
    tempfile.NamedTemporaryFile,
    threading.Lock,
    threading.RLock,
    type(threading.Lock()),
    type(threading.RLock()),
)

MISSING: Any = object()


def nature_of_context(manager: Any) -> str | None:
    """The effect of a `with` on `manager(...)`, or on `manager` itself.

    "setting": it changes how values are computed, and must hold in the reverse sweep, too; "passing": it lets
    exceptions pass; None: it may swallow them, or is unknown.
    """
    scipy_fft = sys.modules.get("scipy.fft")
    settings = *SETTINGS, *(getattr(scipy_fft, name, MISSING) for name in SCIPY_SETTINGS)
    if any(_generator_of(manager) is _generator_of(s) for s in settings):
        return "setting"
    if any(manager is p for p in PASSING) or type(manager) in PASSING:
        return "passing"
    if isinstance(manager, FunctionType) and manager.__code__ is MANAGED:
        return "passing" if _yields_unguarded(manager.__wrapped__) else None  # type: ignore[attr-defined]
    leave = getattr(manager if isinstance(manager, type) else type(manager), "__exit__", None)
    return "passing" if isinstance(leave, FunctionType) and returns_nothing(leave) else None


def _generator_of(manager: Any) -> Any:
    """The generator function of a manager made by `contextlib.contextmanager`; other managers as they are."""
    is_made = isinstance(manager, FunctionType) and manager.__code__ is MANAGED
    return manager.__wrapped__ if is_made else manager


def _yields_unguarded(generator: Any) -> bool:
    """Whether every exception at the generator's `yield` leaves it."""
    try:
        tree = read_source(generator).tree
    except NoSourceError:
        return False
    guarded = [n for n in walk(tree) if isinstance(n, (gast.Try, gast.With))]
    for n in guarded:
        swallows = n.handlers or _jumps(n.finalbody) if isinstance(n, gast.Try) else True
        if swallows and any(isinstance(inner, gast.Yield) for b in n.body for inner in walk(b)):
            return False
    return True


def _jumps(block: list[Any]) -> bool:
    return any(isinstance(n, (gast.Return, gast.Break, gast.Continue)) for s in block for n in walk(s))


def returns_nothing(function: FunctionType) -> bool:
    """Whether each `return` of a function gives None or a false constant."""
    try:
        tree = read_source(function).tree
    except NoSourceError:
        return False
    values = [n.value for n in walk_scope(tree.body) if isinstance(n, gast.Return)]
    return all(v is None or (isinstance(v, gast.Constant) and not v.value) for v in values)
