"""Derivatives compiled to machine code."""

from __future__ import annotations

import importlib
from typing import Any

from ..runtime.border import refuse_crash, show_users_frames
from ..runtime.input_checks import unshared
from ..targets import TARGETS
from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from .derivative import Derivative

__all__ = ["Compiled"]

FORMS = ("grad", "value_and_grad", "jvp")  # of one sweep


class Compiled(Derivative):
    """A derivative whose generated function is compiled at the first call with arguments of new types.
    `source` and higher derivatives use the generated function itself.
    """

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

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            tangents: tuple[Any, ...] = ()
            try:
                if self.form == "jvp":
                    primals, tangents, taken = self.split(args, keywords)
                    function, given = self.function_of(primals, taken), (*primals, *tangents)
                else:
                    is_plain = not keywords and self._given.takes(len(args))
                    given = args if is_plain else self.bind(args, keywords)
                    function = self.function_of(given)
                run = self._compiled_for(function, self._options.fastmath).version_for(given)
            except Exception as error:
                refuse_crash(error, f"in the compiled derivative of {self.__name__}")
                raise
            made = run(*given)
        except Exception as error:
            show_users_frames(error)
            if isinstance(error, NotImplementedError):  # of Numba's run time
                raise UnsupportedSyntaxError(
                    f"the compiled derivative of {self.__name__} stopped",
                    why=f"Numba does not do for these values what NumPy does: {error}",
                    instead="leave `compile` out",
                ) from None
            raise
        if self.form == "jvp":
            return made[0], unshared(made[1], tangents)
        return made
