"""Derivatives compiled to machine code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..runtime.border import refuse_crash
from ..targets import TARGETS
from ..transforms.errors import NonDifferentiableError, S2sadError, UnsupportedSyntaxError
from .derivative import Derivative

__all__ = ["Compiled"]

FORMS = ("grad", "value_and_grad", "jvp")  # of one sweep


class Compiled(Derivative):
    """A derivative whose generated function is compiled at the first call with arguments of new types.
    `source` and higher derivatives use the generated function itself.
    """

    _tells_layouts = True

    def _begin(self) -> None:
        super()._begin()
        options = self._options
        if options.target not in TARGETS:
            raise NonDifferentiableError(
                f"compile={options.target!r} is no compiler that is known",
                instead=" or ".join(f'compile="{name}"' for name in TARGETS),
            )
        if options.form not in FORMS:
            raise NonDifferentiableError(
                f"a `{options.form}` cannot be compiled",
                why="its result holds a function",
                instead="use value_and_grad or jvp",
            )
        target = importlib.import_module(f"..targets.{TARGETS[options.target]}", __package__)
        self._compiled_for = target.compiled_for

    def _code_for(self, function: FunctionType, given: tuple[Any, ...]) -> tuple[Callable[..., Any], int]:
        try:
            return self._compiled_for(function, self._options.fastmath).version_for(given), len(given)
        except Exception as error:
            refuse_crash(error, f"in the compiled derivative of {self.__name__}")
            raise

    def _refuse(self, error: Exception, args: tuple[Any, ...]) -> None:
        is_refused = isinstance(error, S2sadError)
        if (isinstance(error, NotImplementedError) and not is_refused) or is_of_none(error):
            raise UnsupportedSyntaxError(
                f"the compiled derivative of {self.__name__} stopped",
                why=f"Numba does not do for these values what NumPy does: {error}",
                instead="leave `compile` out",
            ) from None


def is_of_none(error: Exception) -> bool:
    """Whether compiled code raised an error because a variable is None that it takes for a number."""
    return isinstance(error, TypeError) and re.fullmatch(r"expected .*, got None", str(error)) is not None
