"""Errors that cross the border from s2sad to its users.

Contract: a refusal shows frames of the user's code and of generated code, none of s2sad's own. An exception
of the user's function keeps its type, and a note names the user's line. Any other exception becomes an
InternalError at the user's line. With S2SAD_DEBUG in the environment, all frames are shown.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace, TracebackType
from typing import Any, NoReturn, ParamSpec, TypeVar

import gast
import numpy as np

from ..source.locate import GENERATED, PACKAGE, is_of_derivative, place_in_user_file, span_of
from ..source.locate_slopes import slope_error
from ..transforms.errors import (
    InternalError,
    NonDifferentiableError,
    S2sadError,
    SourceLocation,
    UnsupportedSyntaxError,
)
from ..transforms.trees.program import Program
from ..values.code_state import wrapped_by
from ..values.length_wanted import LengthWanted
from ..values.libraries import library_of
from ..values.objects import is_plain

__all__ = ["at_border", "name_wrapped", "refuse_crash", "refuse_failed_generation", "show_users_frames"]

P = ParamSpec("P")
T = TypeVar("T")

IS_DEBUGGED = "S2SAD_DEBUG" in os.environ
OWN_FRAMES = 2  # of the decorator, and of the function that is called
_NOTE = "differentiated at "
# Exceptions that the user's numbers cause (overflow, a singular matrix), and warnings that the user made
# errors.
_OF_NUMBERS = (ArithmeticError, np.linalg.LinAlgError, Warning, MemoryError)
# Helpers in these modules execute a statement of the user's, and raise the user's exceptions.
_DOING = ("containers", "heap", "heap_arrays", "heap_keys", "object_graph", "builtin_reductions", "mutation",
          "shapes", "checkpoints", "batches")
_DOING_PATHS = (*(f"runtime/{name}" for name in _DOING), "source/fixed_arity", "transforms/trees/modules")
_DOING_FILES = frozenset(f"{PACKAGE}{path}.py" for path in _DOING_PATHS)
_LIBRARIES = (PACKAGE, GENERATED, "<frozen", *(f"{Path(m.__file__ or '').parent}{os.sep}" for m in (os, np)))


def at_border(f: Callable[P, T]) -> Callable[P, T]:
    """Decorator of functions that users call: applies the module's contract to their exceptions."""

    @functools.wraps(f)
    def called(*args: P.args, **keywords: P.kwargs) -> T:
        try:
            try:
                return f(*args, **keywords)
            except Exception as error:
                if len(_parts(error.__traceback__)) > OWN_FRAMES:  # else it is what `f` itself raises
                    refuse_crash(error, f"in {f.__qualname__}")
                raise
        except Exception as error:
            show_users_frames(error)
            raise  # bare: it adds no frame

    return called


def name_wrapped(error: Exception, f: Any) -> None:
    """Adds to a refusal of code around the function that `f` wraps that this one can be differentiated."""
    inner, name = wrapped_by(f), getattr(f, "__qualname__", "f").rpartition(".<locals>.")[2]
    code = getattr(inner, "__code__", None)
    if not isinstance(error, S2sadError) or isinstance(error, InternalError) or inner is f or code is None:
        return
    lines = [n for *_, n in code.co_lines() if n]
    places = [p for p in (error.where, error.given, *error.calls) if p is not None]
    if not any(p.filename == code.co_filename and min(lines) <= p.line <= max(lines) for p in places):
        error.or_instead(f"differentiate `{name}.__wrapped__`, without its decorator")


# ---------------------------------------------------------------- frames


def show_users_frames(error: BaseException) -> None:
    """Removes the frames of s2sad from an error's traceback, and errors raised within s2sad from its context;
    a refusal keeps no context, an InternalError its cause. Re-raise with a bare `raise`, which adds no frame.
    """
    if IS_DEBUGGED:
        return
    keeps_foreign = not isinstance(error, S2sadError)
    kept: list[TracebackType] = []
    is_own = False
    for part in _parts(error.__traceback__):
        filename = part.tb_frame.f_code.co_filename
        if filename.startswith(PACKAGE):
            is_own = True
        elif filename.startswith(GENERATED) or keeps_foreign or not is_own:
            is_own = False
            kept.append(part)
    for part, following in zip(kept, [*kept[1:], None], strict=False):
        part.tb_next = following
    error.__traceback__ = kept[0] if kept else None
    if isinstance(error, S2sadError) and not isinstance(error, InternalError):
        error.__cause__ = error.__context__ = None
    context = error.__context__
    while context is not None and _begins_within(context):
        context = context.__context__
    error.__context__ = context


def _is_of_signal(error: Exception) -> bool:
    """Whether a Python function that handles signals raised an exception, wherever it was called."""
    handlers = [getattr(h, "func", h) for h in map(signal.getsignal, signal.valid_signals()) if callable(h)]
    called = [h if hasattr(h, "__code__") else type(h).__call__ for h in handlers]
    codes = {getattr(f, "__code__", None) for f in called}
    return any(part.tb_frame.f_code in codes for part in _parts(error.__traceback__))


def _parts(traceback: TracebackType | None) -> list[TracebackType]:
    found = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def _begins_within(error: BaseException) -> bool:
    """Whether the outermost frame of an error's traceback is s2sad's."""
    first = error.__traceback__
    return first is None or first.tb_frame.f_code.co_filename.startswith(PACKAGE)


# ---------------------------------------------------------------- the run


def refuse_crash(error: Exception, what: str) -> None:
    """Raises InternalError for an error of s2sad itself (`what` describes the call), and InfiniteSlopeError
    for a division by zero in a derivative; adds a note with the user's line to other errors.
    """
    if isinstance(error, (S2sadError, LengthWanted)) or _is_of_signal(error):
        return
    if isinstance(error, ZeroDivisionError) and (found := slope_error(error)) is not None:
        raise found
    parts = _parts(error.__traceback__)
    files = [part.tb_frame.f_code.co_filename for part in parts]
    generated = [k for k, file in enumerate(files) if file.startswith(GENERATED)]
    last = generated[-1] if generated else None
    where = None
    if last is not None:
        where = place_in_user_file(files[last], span_of(parts[last].tb_frame.f_code, parts[last].tb_lasti))
    if last is not None and isinstance(error, (TypeError, NotImplementedError)):
        _refuse_library(error, parts[last:], where)
    if _is_users(error, parts, files, last) or _is_of_users_name(error, where):
        if where is not None and not any(n.startswith(_NOTE) for n in getattr(error, "__notes__", ())):
            error.add_note(f"{_NOTE}{where}")
        return
    _refuse(error, what, where)


def _refuse_library(error: Exception, parts: list[TracebackType], where: SourceLocation | None) -> None:
    """Raises NonDifferentiableError if an array of a library took part in a statement of a derivative, the
    first of these frames, which failed: it lacks what the derivative needs.
    """
    code, inner = parts[0].tb_frame.f_code, [p.tb_frame.f_code.co_filename for p in parts[1:]]
    if not is_of_derivative(code, parts[0].tb_lineno) and not any(f.startswith(PACKAGE) for f in inner):
        return
    own = [parts[0], *(p for p in parts if p.tb_frame.f_code.co_filename.startswith(PACKAGE))]
    held = (library_of(value) for part in own for value in part.tb_frame.f_locals.values())
    library = next(filter(None, held), None)
    if library is not None:
        raise NonDifferentiableError(
            f"a derivative of arrays of {library.name}",
            where,
            why=f"they do not do what it needs: {error}",
            instead="convert the arrays to NumPy's, or write the computation out",
        )


def _is_users(error: Exception, parts: list[TracebackType], files: list[str], last: int | None) -> bool:
    """Whether the user's function or its numbers caused an exception; `last` is the position of the innermost
    frame of generated code.
    """
    if isinstance(error, _OF_NUMBERS):
        return True
    if isinstance(error, AssertionError) and files[-1] == f"{PACKAGE}testing/check_grads.py":
        return True  # what a check of gradients found
    inner = range(0 if last is None else last + 1, len(files))
    own = next((k for k in inner if files[k].startswith(PACKAGE)), len(files))
    foreign = [k for k in inner if _is_of_user(files[k])]
    if last is None:  # no generated code: the function itself ran, or special methods of objects
        return any(k > own and not _is_special(parts[k].tb_frame.f_code.co_name) for k in foreign)
    if foreign and foreign[-1] == len(files) - 1:
        return True
    names = {parts[k].tb_frame.f_code.co_name for k in inner}
    if is_of_derivative(parts[last].tb_frame.f_code, parts[last].tb_lineno):
        # `grad` needs no value: a statement that would have raised may be dead and gone.
        is_early = parts[last].tb_frame.f_code.co_name.endswith("_grad") and not _gives_value(parts[last])
        own_kinds = (LookupError, ValueError, RecursionError) if is_early else RecursionError
        return isinstance(error, own_kinds) or "asarray_chkfinite" in names
    innermost = files[-1]
    is_doing = innermost in _DOING_FILES or innermost.startswith(f"{PACKAGE}rules{os.sep}")
    return is_doing or not innermost.startswith(PACKAGE)


def _is_of_users_name(error: Exception, where: SourceLocation | None) -> bool:
    """Whether an exception tells that a variable, or an attribute of an object, a class or a module, which
    the user's line reads, does not exist.
    """
    words = re.findall(r"\w+", where.text) if where is not None else []
    if isinstance(error, AttributeError):
        owner = type(error.obj) if is_plain(type(error.obj)) else error.obj
        return error.name in words and isinstance(owner, (type, ModuleType)) and owner is not SimpleNamespace
    return isinstance(error, UnboundLocalError) and str(error).partition("'")[2].partition("'")[0] in words


def _gives_value(part: TracebackType) -> bool:
    return part.tb_frame.f_code.co_name.endswith("_value_and_grad")


def _is_of_user(filename: str) -> bool:
    return not filename.startswith(_LIBRARIES)


def _is_special(name: str) -> bool:
    """Whether a function of this name is one that Python calls to ask an object for something."""
    return name.startswith("__") and name not in ("__call__", "__init__")


# ---------------------------------------------------------------- generation


def refuse_failed_generation(error: Exception, function: FunctionType) -> NoReturn:
    """Raises a refusal in place of an exception in the generation of a derivative, but for one of a signal's
    handler.
    """
    if _is_of_signal(error):
        raise error
    where = _place_in_generation(error.__traceback__, function)
    if isinstance(error, RecursionError):
        raise UnsupportedSyntaxError(
            f"{function.__qualname__} is nested too deeply",
            where,
            why="Python's limit of recursion was reached while its derivative was generated",
            instead="write long expressions as several statements, or raise the limit "
            "(sys.setrecursionlimit)",
        ) from (error if IS_DEBUGGED else None)
    if isinstance(error, SyntaxError) and "too many" in str(error):  # levels of indentation, or nested blocks
        raise UnsupportedSyntaxError(
            f"{function.__qualname__} is nested too deeply",
            where,
            why="its derivative has more blocks in each other than Python compiles",
            instead="write chains of many conditions as a table or a loop, or split the function",
        ) from (error if IS_DEBUGGED else None)
    _refuse(error, f"while the derivative of {function.__qualname__} was generated", where)


def _place_in_generation(traceback: TracebackType | None, function: FunctionType) -> SourceLocation:
    """The place of the innermost node in the frames of the passes; the function's where there is none."""
    node: Any = None
    for part in reversed(_parts(traceback)):
        values = [*part.tb_frame.f_locals.values()]
        if node is None:
            node = next((v for v in values if getattr(v, "lineno", None) and isinstance(v, _NODES)), None)
        owner = part.tb_frame.f_locals.get("self")
        for program in [*values, getattr(owner, "program", None)]:
            if node is not None and isinstance(program, Program):
                return program.where(node)
    code = function.__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno)
    return SourceLocation(code.co_filename, code.co_firstlineno, len(text) - len(text.lstrip()), text)


_NODES = (gast.stmt, gast.expr)


def _refuse(error: Exception, what: str, where: SourceLocation | None) -> NoReturn:
    raise InternalError(
        f"internal error in s2sad, {what}",
        where,
        why=f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        instead="report it, please, with function and arguments: it is a fault of s2sad, or of a rule "
        "of yours that is used there (S2SAD_DEBUG=1 in the environment shows all frames)",
    ) from error
