"""Finds the line where a NaN or infinity of a result appears first."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .primitives.record import is_pure
from .source.executed import Executed, executed_at
from .source.locate import GENERATED, PACKAGE, Span, is_of_derivative, place_in_user_file, span_of
from .transforms.errors import SourceLocation
from .values.objects import fields_of, is_plain

__all__ = ["debug_nans"]

LIBRARIES = (PACKAGE, "<frozen", *(f"{Path(m.__file__ or '').parent}{os.sep}" for m in (os, np)))


class debug_nans(contextlib.ContextDecorator):
    """Context, or decorator, in which a derivative that returns a NaN or infinity raises FloatingPointError;
    so does a function that is called in the block itself. The error names the line of your file that computed
    it first, the variable, and the sweep: the function itself, or the forward or reverse sweep of its
    derivative.

    What never reaches the result, as what `np.where` does not choose, is let pass. With `infinities=False`
    infinities are, too. Arguments that are not finite are let pass; what is computed from them counts. It
    steps through all lines, which makes them slow, and only in this thread; a debugger or a coverage tool in
    the thread pauses. Machine code (`compile="numba"`) has no lines, and is let pass.

    >>> def f(x):
    ...     y = x - 1.0
    ...     return np.sum(np.sqrt(y))
    >>> with debug_nans():
    ...     s2sad.grad(f)(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    FloatingPointError: an infinity in `dy`, in the reverse sweep of `f`, from
    ...
    """

    def __new__(cls, infinities: Any = True) -> Any:
        return cls()(infinities) if callable(infinities) else super().__new__(cls)

    def __init__(self, infinities: bool = True) -> None:
        self.infinities = infinities
        self._before: list[Any] = []

    def __enter__(self) -> debug_nans:
        self._before.append(sys.gettrace())
        sys.settrace(_Tracer(self.infinities).call)
        return self

    def __exit__(self, *raised: object) -> None:
        sys.settrace(self._before.pop())


@dataclass(frozen=True)
class _Found:
    """Where a value that is not finite was computed: a statement of a frame, and the span of the expression,
    if it is known.
    """

    what: str
    name: str
    code: CodeType
    line: int
    instruction: int
    span: Span | None

    def __str__(self) -> str:
        code, what = self.code, f"{self.what} in {self.name}"
        text = linecache.getline(code.co_filename, self.line).strip()
        if not code.co_filename.startswith(GENERATED):
            where = f"{code.co_filename}:{self.line}\n    {text}"
            if self.span is not None:
                line = linecache.getline(code.co_filename, self.span[0])
                where = str(SourceLocation(code.co_filename, self.span[0], self.span[1], line))
            return f"{what}, in `{code.co_name}`, from\n{where}"
        sweep, own = "the function", code.co_name
        for suffix in ("_bprop", "_grad", "_fprop", "_jvp", "_value_and"):
            own = own.removesuffix(suffix)
        if is_of_derivative(code, self.line):
            sweep = "the forward sweep of" if code.co_name.endswith("_jvp") else "the reverse sweep of"
        where_ = place_in_user_file(code.co_filename, self.span or span_of(code, self.instruction))
        return f"{what}, in {sweep} `{own}`, from\n{where_}\ncomputed by `{text}`"


class _Tracer:
    """Follows values that are not finite from line to line."""

    def __init__(self, infinities: bool) -> None:
        self.infinities = infinities
        self.lines: dict[tuple[str, int], Executed | None] = {}

    def call(self, frame: FrameType, event: str, value: Any) -> Any:
        """The tracer of the lines of a new frame; None for one of a library."""
        filename = frame.f_code.co_filename
        if filename.startswith(LIBRARIES) or f"{os.sep}site-packages{os.sep}" in filename:
            return None
        return _Frame(self, frame).step

    def executed(self, frame: FrameType, line: int) -> Executed | None:
        key = frame.f_code.co_filename, line
        if key not in self.lines:
            self.lines[key] = executed_at(*key)
        return self.lines[key]

    def find(self, x: Any) -> str:
        """How a number, an array or one in a tuple is not finite; empty for all else."""
        if isinstance(x, tuple):
            return next(filter(None, map(self.find, x)), "")
        kind = x.dtype.kind if isinstance(x, (np.ndarray, np.generic)) else ""
        if (not isinstance(x, (float, complex)) and kind not in ("f", "c")) or np.all(np.isfinite(x)):
            return ""
        if np.any(np.isnan(x)):
            return "a NaN"
        return "an infinity" if self.infinities else ""

    def stop(self, found: _Found) -> None:
        """Raises the error. Python then ends tracing; it begins again with the next event."""
        before = sys.getprofile()

        def resume(frame: FrameType, event: str, value: Any) -> None:
            sys.setprofile(before)
            sys.settrace(self.call)

        sys.setprofile(resume)
        raise FloatingPointError(str(found))


class _Frame:
    """The values of a frame that are not finite, and where each was computed: None for what was given."""

    def __init__(self, tracer: _Tracer, frame: FrameType) -> None:
        self.tracer = tracer
        self.outer: _Frame | None = next((f for f in _outer_frames(frame) if f.tracer is tracer), None)
        is_generated = frame.f_code.co_filename.startswith(GENERATED)
        self.in_derivative: bool = is_generated or (self.outer is not None and self.outer.in_derivative)
        self.is_first = self.outer is None or (is_generated and not self.outer.in_derivative)
        self.last = frame.f_lineno, frame.f_lasti
        self.before = dict(frame.f_locals)  # the variables before the line
        self.given = [x for x in self.before.values() if tracer.find(x)]
        self.origins: dict[str, _Found | None] = {
            name: None if self.outer is None else self.outer.origin_of(x)
            for name, x in self.before.items()
            if tracer.find(x)
        }
        self.returned: list[_Found] = []  # by the calls in this line

    def origin_of(self, x: Any) -> _Found | None:
        """Where a value that this frame passes on was computed."""
        return next((found for name, found in self.origins.items() if self.before.get(name) is x), None)

    def step(self, frame: FrameType, event: str, value: Any) -> Any:
        if event not in ("line", "return"):
            return self.step
        executed = self.tracer.executed(frame, self.last[0])
        self.follow(frame, executed)
        if event == "return":
            self.leave(frame, executed, value)
        if self.tracer.executed(frame, frame.f_lineno) is not executed:  # else a statement of several lines
            self.returned.clear()
        self.last, self.before = (frame.f_lineno, frame.f_lasti), dict(frame.f_locals)
        return self.step

    def follow(self, frame: FrameType, executed: Executed | None) -> None:
        """Notes where the values that are not finite now come from."""
        source = self.source(executed)
        values = frame.f_locals
        for name, x in values.items():
            what = self.tracer.find(x)
            if what and (name not in self.origins or self.before.get(name) is not x):
                self.origins[name] = source or self.new(what, f"`{name}`", frame, executed)
            elif not what and (x is None or isinstance(x, (float, complex, np.ndarray, np.generic, tuple))):
                self.origins.pop(name, None)
        for name in executed.changed if executed is not None else ():
            x = values.get(name)
            if not _may_hold(x):
                continue
            what = next(filter(None, map(self.tracer.find, _last_items(x))), "")
            if source is not None:
                self.origins.setdefault(name, source)
            elif what and name not in self.origins:
                self.origins[name] = self.new(what, f"`{name}`", frame, executed)
            elif not what and executed is not None and name in executed.bound:
                self.origins.pop(name, None)

    def source(self, executed: Executed | None) -> _Found | None:
        """Where the first value that a line reads, and that is not finite, was computed."""
        read = [n for n in (() if executed is None else executed.reads) if self.origins.get(n) is not None]
        read.sort(key=lambda name: _may_hold(self.before.get(name)))
        return next((self.origins[name] for name in read), next(iter(self.returned), None))

    def new(self, what: str, name: str, frame: FrameType, executed: Executed | None) -> _Found:
        nodes = () if executed is None else executed.expressions
        with np.errstate(all="ignore"):
            span = next((s for node in nodes for s in self.computing(node, frame)), None)
        return _Found(what, name, frame.f_code, *self.last, span)

    def computing(self, node: ast.AST, frame: FrameType) -> Iterator[Span]:
        """The spans of the expressions whose value is not finite, innermost first."""
        for child in ast.iter_child_nodes(node):
            yield from self.computing(child, frame)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)) and self.is_repeatable(node, frame):
            try:
                value = self.value(node, frame)
            except Exception:  # it reads what the line has changed
                return
            if self.tracer.find(value):
                yield node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0

    def is_repeatable(self, node: ast.expr, frame: FrameType) -> bool:
        """Whether an expression can be evaluated once more: all that it calls is pure."""
        for part in ast.walk(node):
            if isinstance(part, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                return False
            if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
                return False
            if isinstance(part, ast.Call):
                try:
                    if not is_pure(self.value(part.func, frame)):
                        return False
                except Exception:  # a function that cannot be found
                    return False
        return True

    def value(self, node: ast.expr, frame: FrameType) -> Any:
        code = compile(ast.Expression(node), "<debug_nans>", "eval")
        return eval(code, frame.f_globals, self.before)

    def leave(self, frame: FrameType, executed: Executed | None, value: Any) -> None:
        """Tells the caller where a result that is not finite was computed, or raises the error."""
        leaves = _leaves(value, set()) if self.is_first else [value]
        bad = [x for x in leaves if not any(x is y for y in self.given)]
        what = next(filter(None, map(self.tracer.find, bad)), "")
        source = self.source(executed)
        if what:
            source = source or self.new(what, "the result", frame, executed)
            if self.is_first:
                self.tracer.stop(source)
        if source is not None and self.outer is not None and (what or _may_hold(value)):
            self.outer.returned.append(source)


def _outer_frames(frame: FrameType) -> Iterator[_Frame]:
    """What follows the frames around this one."""
    outer = frame.f_back
    while outer is not None:
        found = getattr(outer.f_trace, "__self__", None)
        if isinstance(found, _Frame):
            yield found
        outer = outer.f_back


def _leaves(x: Any, met: set[int]) -> Iterator[Any]:
    """The numbers and arrays in a result."""
    if id(x) in met:
        return
    parts: Any = None
    if isinstance(x, (tuple, list)):
        parts = x
    elif isinstance(x, dict) or is_plain(type(x)):
        parts = (x if isinstance(x, dict) else fields_of(x)).values()
    if parts is None:
        yield x
        return
    met.add(id(x))
    for part in parts:
        yield from _leaves(part, met)


def _last_items(x: Any) -> list[Any]:
    """The items that a statement may have put into a container: of a list, which may be a trace, the last."""
    return x[-1:] if isinstance(x, list) else [*x.values()] if isinstance(x, dict) else []


def _may_hold(x: Any) -> bool:
    """Whether a value may hold others."""
    return isinstance(x, (list, dict)) or hasattr(x, "__dict__")
