"""Derivatives that call other derivatives: Jacobians, Hessians and products with them.

Contract: each is a callable object with the name and arguments of its function (`hvp` takes the vector after
them); it pickles when the function does, and can be differentiated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from ..primitives.record import nondifferentiable
from ..runtime.border import at_border
from ..source.compiling import make_function
from ..source.pickling import reduce_derivative
from ..transforms.errors import NonDifferentiableError
from ..transforms.trees.program import Scope
from ..values.code_state import signature_of
from ..values.pytree import (
    basis_of,
    flatten,
    is_differentiable,
    map_structure,
    rows_of,
    unflatten_columns,
    unflatten_rows,
    unstacked_columns,
    unstacked_rows,
)
from ..values.snapshot import Before
from . import batched
from .closure_conversion import Lifted, cached, lift
from .derivative import Derivative
from .unwrap import bound_like

__all__ = [
    "Composed",
    "ElementwiseGrad",
    "Hessian",
    "HessianVector",
    "JacobianByColumns",
    "JacobianByRows",
    "SmallerJacobian",
]

Wrt = int | str | tuple[int | str, ...]


class Composed:
    """A derivative of `f` with respect to `argnums` that calls the derivative `inner`."""

    transform = ""

    def __init__(self, f: Callable[..., Any], argnums: Wrt, inner: Derivative) -> None:
        self._f, self._argnums, self._inner = f, argnums, inner
        self.__name__ = f"{getattr(f, '__name__', 'f')}_{self.transform}"
        self.__qualname__ = getattr(f, "__qualname__", self.__name__)
        self.__module__ = getattr(f, "__module__", __name__)
        self.__doc__ = f"The {self.transform} of {getattr(f, '__name__', 'f')}: see `s2sad.{self.transform}`."
        self._aux = ", aux" if inner.has_aux else ""  # what lifted functions receive and return, too
        of_gradient = inner.target.function
        self.__signature__ = (of_gradient if isinstance(of_gradient, Derivative) else inner).primal_signature

    @property
    @at_border
    def source(self) -> str:
        """The generated source of the inner derivative."""
        return self._inner.source

    @at_border
    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments runs."""
        return self._inner.source_for(*args, **keywords)

    def chosen(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """The differentiated arguments: one, or a tuple of them."""
        return self.chosen_of(self._inner.bind(args, keywords))

    def chosen_of(self, primals: tuple[Any, ...]) -> Any:
        """The differentiated ones of all arguments: one, or a tuple of them."""
        found = tuple(primals[k] for k in self._inner.chosen(primals))
        return found if isinstance(self._argnums, tuple) else found[0]

    def result(self, derivative: Any, aux: list[Any]) -> Any:
        """The result of a call: the derivative, with what else the function returned."""
        return (derivative, *aux) if aux else derivative

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        """The call as one of a plain function: see `lift`."""
        raise NotImplementedError

    @property
    def primal(self) -> Callable[..., Any]:
        """The callable that it is a derivative of, as the user passed it."""
        return self._f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return bound_like(self._f, self, instance, owner)

    def __reduce__(self) -> Any:
        return reduce_derivative(self, type(self), (self._f, self._argnums, self._inner))

    def __repr__(self) -> str:
        return f"<{self.transform} of {getattr(self._f, '__qualname__', self._f)}>"

    def wrapped(self, call: Lifted, body: str, **bindings: Any) -> Lifted:
        """The call with its function wrapped in one with the same parameters and this body, as `inner`."""

        def make() -> FunctionType:
            text = f"def {name}({', '.join(names)}):\n{body}".replace("inner()", f"inner({', '.join(names)})")
            return make_function(text, name, Scope({}), {"inner": call.function, "np": np, **bindings})

        name = self.__name__ if self.__name__.isidentifier() else f"lambda_{self.transform}"
        names = [f"x{k}" for k in range(len(call.values))]
        key = (call.function, body, *map(id, bindings.values()))
        return replace(call, function=cached(key, lambda: (make(), bindings))[0])


def _only_array(x: Any, what: str) -> Any:
    """The argument itself; raises NonDifferentiableError for a structure."""
    if isinstance(x, (tuple, list, dict)) or not flatten(x):
        raise NonDifferentiableError(
            f"the derivative of a {what} by structured arguments was asked for",
            why="when it is differentiated again, it is built with respect to one number or array only",
            instead="take one argument at a time",
        )
    return x


def _refuse_nothing(out: Any, what: str) -> None:
    """Raises NonDifferentiableError for a result without numbers: the function may lack a `return`."""
    if out is None:
        raise NonDifferentiableError(
            "the function returned None", why=f"a {what} is that of numbers", instead="return its result"
        )


def count_of(x: Any) -> int:
    """How many numbers are in a structure."""
    return sum(math.prod(np.shape(leaf)) for leaf in flatten(x))


class JacobianByColumns(Composed):
    """By forward mode: `inner` is a `jvp` by a tuple of arguments."""

    transform = "jacfwd"

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        primals = self._inner.bind(args, keywords)
        chosen = self.chosen_of(primals)
        found = self.columns_at_once(primals, chosen)
        if found is not None:
            columns, out, aux = found
            return self.result(unstacked_columns(columns, out, chosen), aux)
        columns, out, aux = self.one_by_one(args, keywords, chosen)
        if not columns:
            out = self._inner.primal(*args, **keywords)
            out, *aux = out if self._inner.has_aux else (out,)
        _refuse_nothing(out, self.transform)
        return self.result(unflatten_columns(columns, out, chosen), aux)

    def columns_at_once(
        self, primals: tuple[Any, ...], chosen: Any
    ) -> tuple[Any, Any, list[Any]] | None:
        """The columns along a first axis, the value and what else the function returned, from runs that take
        many directions; None where there are few, or where that can't be.
        """
        xs = chosen if isinstance(self._argnums, tuple) else (chosen,)
        if count_of(xs) < batched.FEWEST:
            return None
        many = batched.pushforward(self._inner, primals)
        if many is None:
            return None
        before = None if many.code.is_alone else Before(self._f, *primals)
        if before is not None and not before.can_undo:
            return None
        found = many(batched.basis(xs, many.width), before)
        if found is None:
            if before is not None:
                before.undo()
            return None
        (columns,), (out, *aux) = found
        return columns, out, aux

    def one_by_one(
        self, args: tuple[Any, ...], keywords: dict[str, Any], chosen: Any
    ) -> tuple[list[Any], Any, list[Any]]:
        """The columns, the value and what else the function returned, from a run for each direction."""
        columns: list[Any] = []
        out, aux = None, list[Any]()
        before = Before(self._f, *self._inner.bind(args, keywords))
        for tangent in basis_of(chosen):
            tangents = tangent if isinstance(self._argnums, tuple) else (tangent,)
            with before.run():
                out, dout, *aux = self._inner(*args, *tangents, **keywords)
            columns.append(dout)
        return columns, out, aux

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        x = _only_array(self.chosen(args, keywords), self.transform)
        basis = list(basis_of(x))
        call = lift(self._inner, (*args, basis[0]), keywords)
        *values, _ = call.values
        passed = ", ".join(f"x{k}" for k in range(len(values)))
        stacked = f"np.reshape(np.stack(columns, axis=-1), np.shape(out) + {np.shape(x)})"
        body = f"""    columns = []
    for tangent in basis:
        out, dout{self._aux} = inner({passed}, tangent)
        columns.append(dout)
    return {stacked if np.shape(x) else "columns[0]"}{self._aux}
"""
        arguments = {k: v for k, v in call.arguments.items() if k != len(args)}
        key = np.shape(x), np.asarray(x).dtype, type(x)
        basis = cached(("basis", key), lambda: basis)
        return self.wrapped(replace(call, values=tuple(values), arguments=arguments), body, basis=basis)


class JacobianByRows(Composed):
    """By reverse mode: `inner` is a `vjp`."""

    transform = "jacrev"

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        out, bprop, *aux = self._inner(*args, **keywords)
        _refuse_nothing(out, self.transform)
        chosen = self.chosen(args, keywords)
        return self.result(self.rows(args, keywords, chosen, out, bprop), aux)

    def rows(
        self, args: tuple[Any, ...], keywords: dict[str, Any], chosen: Any, out: Any, bprop: Any
    ) -> Any:
        """The Jacobian, from a run for all rows, or one for each."""
        if count_of(out) >= batched.FEWEST:
            many = batched.pullback(self._inner, self._inner.bind(args, keywords), out)
            found = None if many is None else many(batched.basis((out,), many.width))
            if found is not None:
                return unstacked_rows(found[0], out, chosen)
        return unflatten_rows(rows_of(bprop, out, chosen), out, chosen)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        x = _only_array(self.chosen(args, keywords), self.transform)
        one = "" if np.shape(x) else f"    if np.ndim(out) == 0:\n        return rows[0]{self._aux}\n"
        body = f"""    out, bprop{self._aux} = inner()
    rows = []
    for cotangent in cotangents(out, {np.iscomplexobj(x)}):
        rows.append(bprop(cotangent))
{one}    return np.reshape(np.stack(rows), np.shape(out) + {np.shape(x)}){self._aux}
"""
        return self.wrapped(lift(self._inner, args, keywords), body, cotangents=cotangents)


class SmallerJacobian(JacobianByRows):
    """By the mode that takes fewer passes: `inner` is a `vjp`."""

    transform = "jacobian"

    def __init__(self, f: Callable[..., Any], argnums: Wrt, inner: Derivative) -> None:
        super().__init__(f, argnums, inner)
        wrt = argnums if isinstance(argnums, tuple) else (argnums,)
        self._forward = JacobianByColumns(f, argnums, inner.in_form("jvp", wrt))

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        chosen = self.chosen(args, keywords)
        inputs = count_of(chosen)
        if inputs == 1:
            return self._forward(*args, **keywords)
        before = Before(self._f, *self._inner.bind(args, keywords))
        with before.run():
            out, bprop, *aux = self._inner(*args, **keywords)
        _refuse_nothing(out, self.transform)
        if inputs <= count_of(out):
            with before.run():
                return self._forward(*args, **keywords)
        return self.result(self.rows(args, keywords, chosen, out, bprop), aux)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        return self._forward.lift_call(args, keywords)


class Hessian(JacobianByColumns):
    """Forward over reverse: `inner` is a `jvp` of a gradient."""

    transform = "hessian"


class HessianVector(Composed):
    """`inner` is a `jvp` of a gradient; the vectors follow the arguments."""

    transform = "hvp"

    def __init__(self, f: Callable[..., Any], argnums: Wrt, inner: Derivative) -> None:
        super().__init__(f, argnums, inner)
        self.__signature__ = signature_of(inner)

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            _, dout, *aux = self._inner(*args, **keywords)
        except NonDifferentiableError as error:
            if "tangent" in error.what:
                error.or_instead("give the vector as the last argument, hvp(f)(*args, v)")
            raise
        return self.result(dout, aux)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        body = f"    out, dout{self._aux} = inner()\n    return dout{self._aux}\n"
        return self.wrapped(lift(self._inner, args, keywords), body)


class ElementwiseGrad(Composed):
    """`inner` is a `vjp` by one argument."""

    transform = "elementwise_grad"

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        out, bprop, *aux = self._inner(*args, **keywords)
        return self.result(bprop(ones_like(out)), aux)

    def lift_call(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
        body = f"    out, bprop{self._aux} = inner()\n    return bprop(ones_like(out)){self._aux}\n"
        return self.wrapped(lift(self._inner, args, keywords), body, ones_like=ones_like)


def cotangents(out: Any, of_complex: bool) -> list[Any]:
    """The basis of the cotangents of a number or array, for an argument that is complex or not."""
    if np.iscomplexobj(out) and not of_complex:
        raise NonDifferentiableError(
            "the Jacobian of a complex result by a real argument, by reverse mode, is differentiated",
            why="its real and imaginary parts are not combined there",
            instead="use jacfwd",
        )
    return list(basis_of(_only_array(out, "jacrev")))


def ones_like(out: Any) -> Any:
    """The cotangent of a result with ones everywhere; None for what carries no derivative."""

    def ones(x: Any) -> Any:
        if getattr(getattr(x, "dtype", None), "kind", "") == "O":
            raise NonDifferentiableError(
                "the derivative of an array of objects was asked for",
                why="what its elements carry is not followed",
                instead="return a list, or an array of floats",
            )
        return (1.0 if isinstance(x, float) else np.ones_like(x)[()]) if is_differentiable(x) else None

    return map_structure(ones, out)


nondifferentiable([cotangents, ones_like])
