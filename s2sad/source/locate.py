"""Maps generated code to places in the user's file, for errors at run time.

Nothing is searched before an error occurs: for each generated text only the map of its lines is kept.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType

from ..transforms.errors import SourceLocation, locate_with
from ..transforms.trees.printer import DIVIDING, Place, Places
from ..transforms.trees.program import Program

__all__ = [
    "GENERATED",
    "PACKAGE",
    "Origin",
    "Span",
    "is_of_derivative",
    "origin_of",
    "origins",
    "place_in_origin",
    "place_in_user_file",
    "span_of",
]

PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
GENERATED = "<s2sad "  # the prefix of the file names of generated texts

_DIVIDING = tuple(getattr(ast, op.__name__) for op in DIVIDING)

Span = tuple[int, int, int, int]  # line, column, last line, last column


@dataclass(frozen=True)
class Origin:
    """The origin of a generated text: a file, its lines, and the map from the text to them; and the number of
    tangents, its last parameters.
    """

    filename: str
    lines: tuple[str, ...]
    places: Places
    tangents: int = 0


def origin_of(program: Program, places: Places, tangents: int = 0) -> Origin | None:
    """The origin of the text of a program; None for a function of this package."""
    own = program.filename.startswith(PACKAGE)
    return None if own else Origin(program.filename, program.lines, places, tangents)


origins: dict[str, Origin] = {}  # by the file name of a generated text


def located(where: SourceLocation | None, span: Span | None = None) -> SourceLocation | None:
    """The place in a user's file, for one in a generated text, the start of `span`, or for the code that runs
    now: for None, and for a text that has no origin, as that of a call of a primitive.
    """
    found = None if where is None else (where.filename, span or (where.line, where.column, 0, 0))
    if where is None or (where.filename.startswith(GENERATED) and where.filename not in origins):
        found = _running()
    while found is not None and found[0] in origins:
        filename, span = found
        origin = origins[filename]
        place = place_in_origin(filename, span)
        if place is None:
            return where
        line, column = place
        text = origin.lines[line - 1] if 0 < line <= len(origin.lines) else ""
        where = SourceLocation(origin.filename, line, column, text)
        found = origin.filename, (line, column, 0, 0)
    return where


def place_in_user_file(filename: str, span: Span) -> SourceLocation | None:
    """The place in a user's file of a span of generated code; None for other code."""
    if filename not in origins:
        return None
    found = located(SourceLocation(filename, *span[:2], ""), span)
    return None if found is None or found.filename in origins else found


def _running() -> tuple[str, Span] | None:
    """The generated text that is running, and the span of its instruction; None without any."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename not in origins:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    return frame.f_code.co_filename, span_of(frame.f_code, frame.f_lasti)


def span_of(code: CodeType, instruction: int) -> Span:
    line, last, column, end = next(islice(code.co_positions(), instruction // 2, None))
    line = line or 1
    return line, column or 0, last or line, end or 0


def place_in_origin(filename: str, span: Span) -> Place:
    """The place in the user's file of a span of a generated text."""
    places = origins[filename].places
    start = max((line for line in places if line <= span[0]), default=None)
    if start is None:
        return None
    stop = min((line for line in places if line > start), default=sys.maxsize)
    statement, *calls = places[start]
    spans = [s for s in _calls(filename) if start <= s[0] < stop]
    if len(spans) != len(calls):
        return statement
    return next((c for s, c in zip(spans, calls, strict=True) if c and _is_meant(s, span)), statement)


def is_of_derivative(code: CodeType, line: int) -> bool:
    """Whether a line of generated code computes the derivative: any line of a `bprop`, a line after the first
    comment of a reverse derivative, and in forward mode one that reads tangents.
    """
    if code.co_name.endswith("_bprop"):
        return True
    lines = linecache.getlines(code.co_filename)
    functions = [n for n in ast.walk(ast.parse("".join(lines))) if isinstance(n, ast.FunctionDef)]
    function = next(
        (n for n in functions if n.name == code.co_name and _first_line(n) == code.co_firstlineno), None
    )
    if function is None:
        return False
    if code.co_name.endswith("_jvp"):
        return line in _lines_of_tangents(function, code)
    inner = [n for n in functions if n is not function and n in ast.walk(function)]
    comments = [
        k
        for k, text in enumerate(lines, 1)
        if text.lstrip().startswith("# ")
        and function.lineno < k <= (function.end_lineno or k)
        and not any(n.lineno <= k <= (n.end_lineno or k) for n in inner)
    ]
    if not comments:
        return False
    starts = [s.lineno for s in function.body if s.lineno < comments[0] <= (s.end_lineno or 0)]
    return line >= min([comments[0], *starts])


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _lines_of_tangents(function: ast.FunctionDef, code: CodeType) -> set[int]:
    """The lines of the statements that read tangents, or values computed from them."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    tangents = {n for n in names if n.startswith("d") and n[1:] in names}
    statements = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AugAssign, ast.Expr))]
    found: set[int] = set()
    for _ in range(2):  # a loop may read a value above its definition
        for s in sorted(statements, key=lambda s: s.lineno):
            used = [n for n in ast.walk(s) if isinstance(n, ast.Name)]
            if tangents & {n.id for n in used}:
                tangents |= {n.id for n in used if isinstance(n.ctx, ast.Store) and n.id != "_"}
                found |= {*range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    return found


def _calls(filename: str) -> list[Span]:
    """The calls and divisions in a generated text, outer ones first."""
    tree = ast.parse("".join(linecache.getlines(filename)))
    spans = [
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0)
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) or (isinstance(n, ast.BinOp) and isinstance(n.op, _DIVIDING))
    ]
    return sorted(spans, key=lambda s: (s[0], s[1], -s[2], -s[3]))


def _is_meant(found: Span, span: Span) -> bool:
    """Whether a call is the one at a span, whose end may be unknown."""
    return found == span or (span[2] == 0 and found[:2] == span[:2])


locate_with(located)
