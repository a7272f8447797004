"""A function for many calls at once: the code of `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from ..kinds import domain
from ..kinds.indexing import slice_item, subscript_kind
from ..kinds.lattice import Kind, Literal
from ..runtime.border import at_border
from ..source.pickling import reduce_derivative
from ..transforms.errors import NonDifferentiableError
from .cache import Made
from .closure_conversion import Lifted, cached
from .derivative import Derivative
from .jacobians import Composed
from .primal_forms import Style

__all__ = ["Axes", "Vectorised", "VectorisedJacobian", "vectorised"]

Axes = int | None | tuple[int | None, ...] | Mapping[str, int | None]


def first_of(x: Any, axis: int, name: str) -> tuple[Any, int]:
    """The value of the first call, and the number of calls, of an argument with the axis."""
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
    length = shape[axis]
    place = (slice(None),) * (axis % len(shape)) + (0,)
    return (np.asarray(x)[place] if length else x), length


def of_first_call(given: Mapping[Any, Any], axes: Mapping[Any, tuple[str, int]]) -> dict[Any, Any]:
    """The arguments of the first of many calls; `axes` has the names and axes of those with the axis."""
    found, lengths = dict(given), {}
    for key, (name, axis) in axes.items():
        found[key], lengths[name] = first_of(given[key], axis, name)
    if len({*lengths.values()}) != 1 or 0 in lengths.values():
        told = ", ".join(f"`{name}` has {n}" for name, n in lengths.items())
        raise NonDifferentiableError(f"vmap of arguments of several lengths, or none: {told}")
    return found


class Vectorised(Derivative):
    """A function called for many values of some parameters at once: its code is generated for the kinds of
    one value each.
    """

    def function_of(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> FunctionType:
        """The generated function for these values of all parameters, the batched ones with their axis."""
        pairs = zip(self.positions, self.options.axes, strict=True)
        axes = {k: (self.parameters[k], axis) for k, axis in pairs}
        given = of_first_call(dict(enumerate(primals)), axes)
        return super().function_of(tuple(given.values()), taken)

    def made_for_kinds(self, kinds: tuple[Kind, ...], style: Style | None = None) -> Made:
        """The generated function for arguments of these kinds, with the axis."""
        own = list(kinds)
        for k, axis in zip(self.positions, self.options.axes, strict=True):
            rank = domain.rank(own[k])
            if rank:
                whole = [slice_item(None, None, None)] * (axis % rank)
                own[k] = subscript_kind(own[k], [*whole, Literal(0)])
        return super().made_for_kinds(tuple(own), style)


class VectorisedJacobian:
    """A Jacobian, Hessian or product with one, for many values of some parameters at once: `f` as it calls
    its derivative for each direction.
    """

    def __init__(self, f: Composed, in_axes: Axes, out_axes: int) -> None:
        self._f, self._in_axes, self._out_axes = f, in_axes, out_axes
        self.__name__, self.__module__ = f"{f.__name__}_batched", f.__module__
        self.__signature__ = f.__signature__

    def made(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Vectorised, Lifted]:
        """The code of the directions for many calls, and the call that it is of."""
        bound = self._f.__signature__.bind(*args, **keywords).arguments
        parameters = self._f.__signature__.parameters.values()
        names = [p.name for p in parameters]
        chosen = chosen_axes(names, [p.name for p in parameters if p.default is not p.empty], self._in_axes)
        keys: dict[str, Any] = {n: n if n in keywords else names.index(n) for n in chosen if n in bound}
        given: dict[Any, Any] = {**dict(enumerate(args)), **keywords}
        first = of_first_call(given, {key: (name, chosen[name]) for name, key in keys.items()})
        call = self._f.lift_call(tuple(first[k] for k in range(len(args))), {k: first[k] for k in keywords})
        values, axes = list(call.values), {}
        for name, key in keys.items():
            place = call.arguments[key]
            values[place] = given[key]
            axes[call.function.__code__.co_varnames[place]] = chosen[name]
        what = VectorisedJacobian, call.function, *axes.items(), self._out_axes
        made = cached(what, lambda: vectorised(call.function, axes, self._out_axes))
        return made, replace(call, values=tuple(values))

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        made, call = self.made(args, keywords)
        return made(*call.values)

    @at_border
    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments runs."""
        made, call = self.made(args, keywords)
        return made.source_for(*call.values)

    def lift_call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Lifted:
        made, call = self.made(args, keywords)
        return replace(call, function=made.function_of(call.values))

    def __reduce__(self) -> Any:
        return reduce_derivative(self, type(self), (self._f, self._in_axes, self._out_axes))

    def __repr__(self) -> str:
        return f"<vmap of {self._f!r}>"


def vectorised(
    f: Callable[..., Any], in_axes: Axes, out_axes: int
) -> Vectorised | VectorisedJacobian:
    """`f` for many values of the parameters that `in_axes` gives an axis: see `s2sad.vmap`."""
    if isinstance(f, Composed):
        return VectorisedJacobian(f, in_axes, out_axes)
    made = Vectorised(f, "batched", None)
    chosen = chosen_axes(made.parameters[len(made.target.args) :], made.defaults, in_axes)
    options = replace(
        made.options, argnums=tuple(chosen), axes=tuple(chosen.values()), out_axis=out_axes
    )
    return made.with_options(options)


def chosen_axes(names: Sequence[str], defaults: Iterable[str], in_axes: Axes) -> dict[str, int]:
    """The axes of the parameters that have one."""
    if isinstance(in_axes, Mapping):
        axes = dict(in_axes)
    elif isinstance(in_axes, tuple):
        axes = dict(zip(names, in_axes, strict=False))
        if len(in_axes) > len(names):
            raise NonDifferentiableError(
                f"in_axes has {len(in_axes)} axes, and the function {len(names)} parameters"
            )
    else:
        axes = dict.fromkeys([name for name in names if name not in {*defaults}], in_axes)
    if unknown := axes.keys() - {*names}:
        raise NonDifferentiableError(
            f"in_axes names {', '.join(sorted(unknown))}, and the parameters are {', '.join(names)}"
        )
    chosen = {name: axis for name, axis in axes.items() if axis is not None}
    if not chosen:
        raise NonDifferentiableError("in_axes gives no parameter an axis")
    return chosen
