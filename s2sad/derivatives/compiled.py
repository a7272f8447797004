"""Derivatives compiled to machine code."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Literal, TypedDict

from ..runtime.border import refuse_crash
from ..targets import TARGETS, Settings
from ..transforms.errors import NonDifferentiableError, S2sadError, UnsupportedSyntaxError
from .derivative import Derivative

__all__ = ["Compiled", "Compiling", "check_options"]


class Compiling(TypedDict, total=False):
    """The options of all transforms for compiled derivatives: see `grad`."""

    compile: Literal["numba"] | None
    fastmath: bool
    cache: bool
    parallel: bool


def check_options(options: Mapping[str, Any], transform: Callable[..., Any]) -> None:
    """Raises for options that a transform does not have, and for those of a compiler without one."""
    known_names = options_of(transform)
    for name in sorted(options.keys() - {*known_names}):
        near = difflib.get_close_matches(name, known_names, 1)
        raise NonDifferentiableError(
            f"{transform.__name__}() got an unexpected keyword argument {name!r}",
            why=f"its options are {', '.join(known_names)}",
            instead=f"write {near[0]}={options[name]!r}" if near else "leave it out",
        )
    compiler = options.get("compile")
    known = " or ".join(f'compile="{name}"' for name in TARGETS)
    if compiler is not None and compiler not in TARGETS:
        raise NonDifferentiableError(f"compile={compiler!r} is no compiler that is known", instead=known)
    given = [f"`{name}`" for name in Settings._fields if options.get(name)]
    if given and compiler is None:
        raise NonDifferentiableError(
            f"{given[0]} is given without a compiler",
            why="it is an option of compiled derivatives",
            instead=f"give {known} as well, or leave {given[0]} out",
        )


@functools.lru_cache
def options_of(transform: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a transform's options: of its parameters, but for the function and its arguments."""
    parameters = inspect.signature(transform).parameters.values()
    own = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    given = ("f", "primals", "tangents")
    return (*(name for name in own if name not in given), *Compiling.__annotations__)


class Compiled(Derivative):
    """A derivative whose generated function is compiled at the first call with arguments of new types.
    `source` and higher derivatives use the generated function itself.
    """

    def _code_for(self, function: FunctionType) -> tuple[Callable[..., Any], int]:
        options = self._options
        target = importlib.import_module(f"..targets.{TARGETS[str(options.compile)]}", __package__)
        code = target.compiled_for(function, options.settings, self.form)

        def run(*given: Any) -> Any:
            try:
                version = code.version_for(given)
            except Exception as error:
                refuse_crash(error, f"in the compiled derivative of {self.__name__}")
                raise
            return version(*given)

        return run, function.__code__.co_argcount + function.__code__.co_kwonlyargcount

    def _refuse(self, error: Exception, args: tuple[Any, ...]) -> None:
        is_refused = isinstance(error, S2sadError)
        is_domain = isinstance(error, ValueError) and "must not cause a domain change" in str(error)
        if (isinstance(error, NotImplementedError) and not is_refused) or is_of_none(error) or is_domain:
            raise UnsupportedSyntaxError(
                f"the compiled derivative of {self.__name__} stopped",
                why=f"Numba does not do for these values what NumPy does: {error}",
                instead="leave `compile` out",
            ) from None


def is_of_none(error: Exception) -> bool:
    """Whether compiled code raised an error because a variable is None that it takes for a number."""
    return isinstance(error, TypeError) and re.fullmatch(r"expected .*, got None", str(error)) is not None
