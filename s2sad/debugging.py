"""Finds the line where the first NaN or infinity appears."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from .source.locate import GENERATED, PACKAGE, is_of_derivative, place_in_user_file

__all__ = ["debug_nans"]

LIBRARIES = (PACKAGE, "<frozen", *(f"{Path(m.__file__ or '').parent}{os.sep}" for m in (os, np)))


class debug_nans(contextlib.ContextDecorator):
    """Context, or decorator, in which the first NaN or infinity raises FloatingPointError, which names the
    line of your file that computed it, the variable, and the sweep: the function itself, or the forward or
    reverse sweep of its derivative.

    With `infinities=False` infinities are let pass. Arguments that are not finite are let pass; what is
    computed from them counts. It steps through all lines, which makes them slow, and only in this thread; a
    debugger or a coverage tool in the thread pauses.

    >>> def f(x):
    ...     y = x - 1.0
    ...     return np.sum(np.sqrt(y))
    >>> with debug_nans():
    ...     s2sad.grad(f)(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    FloatingPointError: an infinity in `dy`, in the reverse sweep of `f`, from
    ...
    """

    def __init__(self, infinities: bool = True) -> None:
        self.infinities = infinities
        self._before: list[Any] = []

    def __enter__(self) -> debug_nans:
        self._before.append(sys.gettrace())
        sys.settrace(_Tracer(self.infinities).call)
        return self

    def __exit__(self, *raised: object) -> None:
        sys.settrace(self._before.pop())


class _Tracer:
    """Looks at the variables of a frame after each of its lines."""

    def __init__(self, infinities: bool) -> None:
        self.infinities = infinities

    def call(self, frame: FrameType, event: str, value: Any) -> Any:
        """The tracer of the lines of a new frame; None for one of a library."""
        filename = frame.f_code.co_filename
        if filename.startswith(LIBRARIES) or f"{os.sep}site-packages{os.sep}" in filename:
            return None
        known = {name: id(x) for name, x in frame.f_locals.items() if self.find(x)}
        last = [frame.f_lineno, frame.f_lasti]

        def line(frame: FrameType, event: str, value: Any) -> Any:
            if event in ("line", "return"):
                for name, x in frame.f_locals.items():
                    if known.get(name) != id(x) and (what := self.find(x)):
                        raise FloatingPointError(_told(frame, last, what, f"`{name}`"))
                if event == "return" and id(value) not in known.values() and (what := self.find(value)):
                    raise FloatingPointError(_told(frame, last, what, "the result"))
                last[:] = frame.f_lineno, frame.f_lasti
            return line

        return line

    def find(self, x: Any) -> str:
        """How a value is not finite; empty for one that is."""
        if isinstance(x, tuple):
            return next(filter(None, map(self.find, x)), "")
        kind = x.dtype.kind if isinstance(x, (np.ndarray, np.generic)) else ""
        if not isinstance(x, (float, complex)) and kind not in ("f", "c"):
            return ""
        if np.any(np.isnan(x)):
            return "a NaN"
        return "an infinity" if self.infinities and np.any(np.isinf(x)) else ""


def _told(frame: FrameType, last: list[int], what: str, name: str) -> str:
    """The message: what was found, in which sweep, and the user's line that computed it."""
    code, (line, instruction) = frame.f_code, last
    if not code.co_filename.startswith(GENERATED):
        text = linecache.getline(code.co_filename, line).strip()
        return f"{what} in {name}, in `{code.co_name}`, from\n{code.co_filename}:{line}\n    {text}"
    sweep, own = "the function", code.co_name
    for suffix in ("_bprop", "_grad", "_fprop", "_jvp"):
        own = own.removesuffix(suffix)
    if is_of_derivative(code, line):
        sweep = "the forward sweep of" if code.co_name.endswith("_jvp") else "the reverse sweep of"
    where = place_in_user_file(code, instruction)
    text = linecache.getline(code.co_filename, line).strip()
    own = own.removesuffix("_value_and")
    return f"{what} in {name}, in {sweep} `{own}`, from\n{where}\ncomputed by `{text}`"
