"""The hierarchy of errors that users meet.

Every error says what is wrong, where (file, line, caret), why, and what to do instead. A function that cannot
be differentiated exactly raises one of these.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

__all__ = [
    "InfiniteSlopeError",
    "InternalError",
    "MissingAttributeError",
    "MissingRuleError",
    "NoSourceError",
    "NonDifferentiableError",
    "Refusal",
    "RuleError",
    "S2sadError",
    "SourceLocation",
    "UnsupportedSyntaxError",
    "describe",
    "locate_with",
    "missing_rule",
    "not_covered",
    "refusals",
]


@dataclass(frozen=True)
class SourceLocation:
    """A position in a user's file: `line` counts from 1 and `column` from 0, as in Python's tracebacks;
    `text` is the line. `inner` is the position in the inlined function whose code stands there.
    """

    filename: str
    line: int
    column: int
    text: str
    inner: tuple[str, int, int] | None = None

    def __str__(self) -> str:
        shown = self.text.rstrip("\n")
        indent = len(shown) - len(shown.lstrip())
        return f"{self.filename}:{self.line}\n    {shown.strip()}\n    {' ' * max(0, self.column - indent)}^"


def locate(where: SourceLocation | None) -> SourceLocation | None:
    """The position in the user's file of a position in generated code, or of the code that is running."""
    return _locators[-1](where)


_locators: list[Callable[[SourceLocation | None], SourceLocation | None]] = [lambda where: where]


def locate_with(locator: Callable[[SourceLocation | None], SourceLocation | None]) -> None:
    """Sets how errors find their positions."""
    _locators[:] = [locator]


@dataclass(frozen=True, eq=False)
class _Refusal:
    """The arguments of an error, without its traceback's frames."""

    error: Callable[..., S2sadError]
    args: tuple[Any, ...]


class _Refusals(threading.local):
    """The last error of this thread. A user's function that catches all exceptions also catches those of its
    derivative, as if a callback had raised them: who runs a derivative compares the last error before and
    after.
    """

    last: _Refusal | None = None

    def raise_last(self) -> NoReturn:
        assert self.last is not None
        raise self.last.error(*self.last.args)


refusals = _Refusals()


class S2sadError(Exception):
    """The base of all errors: `what` is wrong, `where`, `why`, and `instead`, what to do about it.

    `given` is the position in the text that was read, which may be generated code, and `calls` the positions
    of the calls that led there, innermost first; `others` are refusals of other statements that were met as
    well.
    """

    given: SourceLocation | None
    calls: tuple[SourceLocation, ...]
    others: tuple[S2sadError, ...] = ()

    def __init__(
        self, what: str, where: SourceLocation | None = None, why: str = "", instead: str = ""
    ) -> None:
        self.given, self.calls = where, ()
        where = locate(where)
        super().__init__(what, where, why, instead)
        self.what, self.where, self.why, self.instead = what, where, why, instead
        refusals.last = _Refusal(type(self), self.args)

    def or_instead(self, text: str) -> None:
        """Adds another way out, unless the error has it."""
        if text not in self.instead:
            given, calls = self.given, self.calls
            self.__init__(self.what, self.where, self.why, f"{self.instead}; or {text}")  # type: ignore[misc]
            self.given, self.calls = given, calls

    def __str__(self) -> str:
        parts = [self.what]
        if self.where is not None:
            parts.append(str(self.where))
        if self.why:
            parts.append(f"why: {self.why}")
        if self.instead:
            parts.append(f"instead: {self.instead}")
        return "\n".join(parts)


@dataclass(frozen=True, eq=False)
class Refusal:
    """A refusal that generated code raises at run time: calling it with `what` raises the error."""

    error: type[S2sadError]
    where: SourceLocation | None
    why: str
    instead: str

    def __call__(self, what: str) -> S2sadError:
        return self.error(what, self.where, self.why, self.instead)


class UnsupportedSyntaxError(S2sadError, SyntaxError):
    """The function uses Python that is not differentiated."""

    def __init__(
        self, what: str, where: SourceLocation | None = None, why: str = "", instead: str = ""
    ) -> None:
        S2sadError.__init__(self, what, where, why, instead)
        where = self.where
        notes = [f"{word}: {text}" for word, text in (("why", why), ("instead", instead)) if text]
        self.msg = "\n".join([what, *notes])  # what tracebacks show after the position
        if where is not None:
            self.filename, self.lineno, self.offset, self.text = (
                where.filename,
                where.line,
                where.column + 1,
                where.text,
            )


class RuleError(S2sadError):
    """A rule of the user's returned something that does not belong to its function."""


class MissingAttributeError(S2sadError, AttributeError):
    """An object has no attribute of the name that is read."""


class MissingRuleError(S2sadError, NotImplementedError):
    """A function without readable source has no rule."""


class NonDifferentiableError(S2sadError, TypeError):
    """An input or a result that carries no derivative, or not one of the requested kind."""


class InfiniteSlopeError(S2sadError, ZeroDivisionError):
    """A derivative of Python floats that divides by zero."""


class NoSourceError(S2sadError, OSError):
    """The source text of a function cannot be found."""


class InternalError(S2sadError, RuntimeError):
    """A defect of s2sad, to be reported; never a fault of the function."""


def describe(function: Any) -> str:
    """The name of a function for users: `numpy.linalg.solve`."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        name = " ".join(repr(function).split())
        name = name if len(name) <= 60 else f"{name[:57]}..."
    return f"`{module}.{name}`" if module and module != "builtins" else f"`{name}`"


def not_covered(function: Any, what: str, where: Any, own_words: str = "") -> MissingRuleError:
    """The error for a call in a form that the function's rule does not have; a rule may have `own_words`."""
    if own_words:
        return MissingRuleError(own_words, where)
    return MissingRuleError(
        f"the rule of {describe(function)} does not cover {what}",
        where,
        "its derivative in this form is not known",
        "call it without, or write the computation out",
    )


def missing_rule(function: Any, refusal: str | None, where: Any = None) -> MissingRuleError:
    """The error for a function without a rule; `refusal` is the reason why it is declared to have none."""
    called = re.match(r"[\w.]+", where.text[where.column :]) if isinstance(where, SourceLocation) else None
    name, told = getattr(function, "__name__", "f"), describe(function)
    if called is not None and not hasattr(function, "__name__"):
        name, told = called[0], f"`{called[0]}`"
    rule = f"`@s2sad.bprop({name})` over `def {name.replace('.', '_')}_rule(x, out, dout): return (dx,)`"
    instead = f"declare it: {rule}"
    if refusal is None and is_foreign(function):
        instead = f"take finite differences, `s2sad.numerical({name})`; or {instead}"
    return MissingRuleError(
        f"{told} has no rule" + ("" if refusal else " and no Python source to differentiate"),
        where,
        refusal or "its derivative is not known",
        instead,
    )


def is_foreign(function: Any) -> bool:
    """Whether a function is one of a shared library."""
    return f"{type(function).__mro__[-2].__module__}" in ("_ctypes", "_cffi_backend")
