"""The directional derivative at one point, as a function of the tangents, that runs nothing again.

It is the transpose of the `bprop`, which is linear: the derivative of the `bprop` in reverse mode reads what
the one run of the function left, and no more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..runtime.adjoints import zeros_like
from ..runtime.border import at_border
from ..runtime.input_checks import Bprop, tangent_like, unshared
from ..transforms.errors import NonDifferentiableError, S2sadError
from ..transforms.trees.program import Names
from ..values.pytree import flatten
from .closure_conversion import Lifted, lift
from .derivative import Derivative

__all__ = ["LinearMap"]


class LinearMap:
    """Maps tangents of all arguments to the tangent of the result `out`.

    `again` runs the function's forward derivative, for a `bprop` that cannot be differentiated.
    """

    def __init__(
        self,
        bprop: Bprop,
        out: Any,
        primals: tuple[Any, ...],
        names: tuple[str, ...],
        again: Callable[..., Any],
    ) -> None:
        self._bprop, self._primals, self._names = bprop, primals, names
        self._zero = zeros_like(out) if flatten(out) else None
        self._again = again
        self.__name__ = self.__qualname__ = "push"
        given = Names(names)
        kind = inspect.Parameter.POSITIONAL_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(given.fresh(f"d{name}"), kind) for name in names]
        )
        self._transposed: Callable[[Any], Any] | None = None

    @at_border
    def __call__(self, *tangents: Any) -> Any:
        if len(tangents) != len(self._primals):
            raise NonDifferentiableError(
                f"{len(tangents)} tangents were given for {len(self._primals)} arguments",
                instead="give one for each argument, None or zero for those that carry no derivative",
            )
        triples = zip(self._primals, tangents, self._names, strict=True)
        given = tuple([tangent_like(*triple) for triple in triples])
        if self._zero is None:
            return None
        try:
            if self._transposed is None:
                _, self._transposed = Derivative(self._bprop.__wrapped__, "vjp", 0, writes=True)(self._zero)
            dout = self._transposed(given)
        except S2sadError:
            self._transposed = lambda tangents: self._again(*self._primals, *tangents)[1]
            dout = self._transposed(given)
        return unshared(dout, tangents)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """A call as one of a plain function, of forward mode: see `lift`."""
        again, primals = self._again, self._primals

        def pushed(*tangents: Any) -> Any:
            return again(*primals, *tangents)[1]

        return replace(lift(pushed, args, keywords), own=None)
