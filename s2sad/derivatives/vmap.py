"""A function for many calls at once: the code of `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from ..kinds import domain
from ..kinds.indexing import slice_item, subscript_kind
from ..kinds.lattice import Kind, Literal
from ..transforms.errors import NonDifferentiableError
from .cache import Made
from .derivative import Derivative
from .primal_forms import Style

__all__ = ["Axes", "Vectorised", "vectorised"]

Axes = int | None | tuple[int | None, ...] | Mapping[str, int | None]


class Vectorised(Derivative):
    """A function called for many values of some parameters at once: its code is generated for the kinds of
    one value each.
    """

    def function_of(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> FunctionType:
        """The generated function for these values of all parameters, the batched ones with their axis."""
        given = list(primals)
        axes = dict(zip(self.positions, self.options.axes, strict=True))
        lengths = {}
        for k, axis in axes.items():
            x, name = given[k], self.parameters[k]
            if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
                raise NonDifferentiableError(
                    f"vmap over `{name}`, a {type(x).__name__}", instead=f"pass np.array({name})"
                )
            shape = np.shape(x)
            if not -len(shape) <= axis < len(shape):
                raise NonDifferentiableError(
                    f"vmap over axis {axis} of `{name}`, which has {len(shape)} axes",
                    instead=f"give `in_axes` with None for `{name}`, which then is the same for all calls",
                )
            lengths[name] = shape[axis]
            if shape[axis]:
                given[k] = np.asarray(given[k])[(slice(None),) * (axis % len(shape)) + (0,)]
        if len({*lengths.values()}) != 1 or 0 in lengths.values():
            told = ", ".join(f"`{name}` has {n}" for name, n in lengths.items())
            raise NonDifferentiableError(f"vmap of arguments of several lengths, or none: {told}")
        return super().function_of(tuple(given), taken)

    def made_for_kinds(self, kinds: tuple[Kind, ...], style: Style | None = None) -> Made:
        """The generated function for arguments of these kinds, with the axis."""
        own = list(kinds)
        for k, axis in zip(self.positions, self.options.axes, strict=True):
            rank = domain.rank(own[k])
            if rank:
                whole = [slice_item(None, None, None)] * (axis % rank)
                own[k] = subscript_kind(own[k], [*whole, Literal(0)])
        return super().made_for_kinds(tuple(own), style)


def vectorised(f: Callable[..., Any], in_axes: Axes, out_axes: int) -> Vectorised:
    """`f` for many values of the parameters that `in_axes` gives an axis: see `s2sad.vmap`."""
    if hasattr(type(f), "lift_call"):
        raise NonDifferentiableError(
            f"vmap of {f!r}",
            why="it runs the derivative once for each direction",
            instead="call it in a loop, or take the derivative of what vmap returns",
        )
    made = Vectorised(f, "batched", None)
    names, defaults = made.parameters[len(made.target.args) :], {*made.defaults}
    if isinstance(in_axes, Mapping):
        axes = dict(in_axes)
    elif isinstance(in_axes, tuple):
        axes = dict(zip(names, in_axes, strict=False))
        if len(in_axes) > len(names):
            raise NonDifferentiableError(
                f"in_axes has {len(in_axes)} axes, and the function {len(names)} parameters"
            )
    else:
        axes = {name: in_axes for name in names if name not in defaults}
    if unknown := axes.keys() - {*names}:
        raise NonDifferentiableError(
            f"in_axes names {', '.join(sorted(unknown))}, and the parameters are {', '.join(names)}"
        )
    chosen = {name: axis for name, axis in axes.items() if axis is not None}
    if not chosen:
        raise NonDifferentiableError("in_axes gives no parameter an axis")
    options = replace(
        made.options, argnums=tuple(chosen), axes=tuple(chosen.values()), out_axis=out_axes
    )
    return made.with_options(options)
