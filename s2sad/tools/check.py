"""Finds all statements of a function that would be refused, not only the first.

Contract: the function is differentiated by its arguments that may be numbers, in reverse mode, without
knowing their kinds; each refused statement is noted, left out, and the rest is tried again. Nothing is run.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ..derivatives.derivative import Derivative
from ..derivatives.generator import Generator
from ..source.compiling import make_function
from ..source.read import FunctionSource, read_source
from ..transforms.errors import S2sadError, SourceLocation
from ..transforms.trees.printer import to_source
from .outer_names import replaced

__all__ = ["Finding", "find_refusals", "functions_of"]

MANY = 50  # statements of one function that are refused
NEVER = (bool, int, str, bytes, type(None))  # defaults of options


@dataclass(frozen=True)
class Finding:
    """A refusal: its place (lines and columns count from 1), the function that it is in, the error's class,
    and what the error says.
    """

    file: str
    line: int
    column: int
    function: str
    error: str
    what: str
    why: str
    instead: str

    def __str__(self) -> str:
        parts = [self.what, *(f"{w}: {t}" for w, t in (("why", self.why), ("instead", self.instead)) if t)]
        said = "; ".join(" ".join(p.split()) for p in parts)
        return f"{self.file}:{self.line}:{self.column}: in {self.function}: {said}"


def functions_of(module: ModuleType) -> list[Any]:
    """The functions and derivatives that a module defines and that have parameters, in its order."""
    found = []
    for value in vars(module).values():
        function = getattr(value, "primal", value)
        is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if is_own and function.__code__.co_argcount + function.__code__.co_kwonlyargcount:
            found += [function] if function not in found else []
    return sorted(found, key=lambda f: f.__code__.co_firstlineno)


def find_refusals(f: Callable[..., Any], *args: Any) -> list[Finding]:
    """All refusals that the derivative of `f` meets, by place; with example arguments those for their kinds.

    >>> find_refusals(lambda x: x * x)
    []
    """
    try:
        source = read_source(f)
    except S2sadError as error:
        return [_finding(error, error.where, f)]
    found: dict[tuple[str, int, int, str], Finding] = {}
    copy = _Copy(source)
    for _ in range(MANY):
        errors, is_whole = _refusals(copy.function(), args)
        progress = False
        for refusal in errors:
            finding = _finding(refusal, copy.place(refusal.where), f)
            key = finding.file, finding.line, finding.column, finding.what
            if key not in found:
                found[key] = finding
                progress |= any(map(copy.leave_out, [refusal.where, refusal.given, *refusal.calls]))
        if is_whole or not progress:
            break
    return sorted(found.values(), key=lambda f: (f.file, f.line, f.column))


def _refusals(function: FunctionType, args: tuple[Any, ...]) -> tuple[list[S2sadError], bool]:
    """The refusals of one attempt, and whether they are all: deferred ones let generation go on."""
    generator = Generator()
    met: list[S2sadError] = []
    try:
        Derivative(function, "vjp", _active(function), writes=True).generate_with(generator, args or None)
    except S2sadError as refusal:
        met = [refusal, *refusal.others]
    except RecursionError:
        met = [S2sadError(f"{function.__name__} is nested too deeply")]
    deferred = generator.forms.deferred.refusals.values()
    return [*met, *(made(what) for made, what in deferred)], not met


def _active(function: FunctionType) -> tuple[str, ...] | None:
    """The parameters to differentiate by: those without the default or the annotation of an option."""
    options = {cls.__name__ for cls in NEVER}
    found = tuple(
        name
        for name, p in inspect.signature(function).parameters.items()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and not isinstance(p.default, NEVER)
        and getattr(p.annotation, "__name__", p.annotation) not in options
        and name not in ("self", "cls")
    )
    return found or None


def _finding(error: S2sadError, where: SourceLocation | None, f: Any) -> Finding:
    code = getattr(f, "__code__", None)
    file, line, column = code.co_filename if code else "", code.co_firstlineno if code else 1, 0
    if where is not None:
        file, line, column = where.filename, where.line, where.column
    name = type(error).__name__
    return Finding(file, line, column + 1, f.__qualname__, name, error.what, error.why, error.instead)


class _Copy:
    """The function, with the statements that were left out, as a function of its own."""

    def __init__(self, source: FunctionSource) -> None:
        self.source, self.tree = source, source.tree
        lines = source.lines[self.tree.lineno - 1 : self.tree.end_lineno]
        first = self.tree.lineno
        self.indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        is_indented = all(line[: self.indent].isspace() for line in lines if line and self.indent)
        if self.tree.name == "lambda_" or not is_indented:
            self.text, self.first = to_source(self.tree), None  # places are those of the printed text
        else:
            self.text, self.first = "\n".join(line[self.indent :] for line in lines) + "\n", first
        self.made: FunctionType | None = None
        self.is_changed = False

    def function(self) -> FunctionType:
        plain = self.source.function
        if not self.is_changed:
            self.made = None
            return plain
        defaults = plain.__defaults__, plain.__kwdefaults__
        self.made = make_function(self.text, self.tree.name, self.source.scope, {}, *defaults, like=plain)
        return self.made

    def place(self, where: SourceLocation | None) -> SourceLocation | None:
        """The place in the user's file of a place in the copy."""
        if where is None or self.made is None or where.filename != self.made.__code__.co_filename:
            return where
        if self.first is None:
            return SourceLocation(self.source.filename, self.tree.lineno, self.tree.col_offset, "")
        line = where.line + self.first - 1
        text = self.source.lines[line - 1]
        return SourceLocation(self.source.filename, line, where.column + self.indent, text)

    def leave_out(self, where: SourceLocation | None) -> bool:
        """Puts an assignment of the same variables in place of the statement there; whether there is one."""
        if where is None or self.first is None:
            return False
        if self.made is not None and where.filename == self.made.__code__.co_filename:
            line, column = where.line, where.column
        elif where.filename == self.source.filename:
            line, column = where.line - self.first + 1, where.column - self.indent
        else:
            return False
        function = ast.parse(self.text).body[0]
        if not isinstance(function, ast.FunctionDef):  # a coroutine is refused as a whole
            return False
        statement = _statement_at(function.body, (line, column))
        if statement is None:
            return False
        bound = sorted({n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and _is_store(n)})
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        new = " = ".join([*bound, names[0] if names else "0.0"]) if bound else "pass"
        if isinstance(statement, ast.Return):
            new = f"return {names[0] if names else '0.0'}"
        end = statement.end_lineno or statement.lineno, statement.end_col_offset or 0
        new += "\n" * (end[0] - statement.lineno)
        if ast.unparse(statement) == new.strip():
            return False
        self.text = replaced(self.text, [((statement.lineno, statement.col_offset), end, new)])
        self.is_changed = True
        return True


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _statement_at(block: list[ast.stmt], point: tuple[int, int]) -> ast.stmt | None:
    """The innermost statement of a block at a point."""
    for statement in block:
        end = statement.end_lineno or 0, statement.end_col_offset or 0
        if (statement.lineno, statement.col_offset) <= point < end:
            inner = (_statement_at(b, point) for b in _blocks(statement))
            return next((s for s in inner if s is not None), statement)
    return None


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(part, field, None)
            if isinstance(block, list):
                yield block
