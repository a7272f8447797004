"""The public transforms.

Shapes: a gradient has the shape, dtype and structure of its argument (floats for floats, lists for lists).
Units: the derivative of a result in unit U by an argument in unit V is in U/V, as everywhere. All raise the
errors of `s2sad.transforms.errors`: UnsupportedSyntaxError, MissingRuleError, NonDifferentiableError and
NoSourceError.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, overload

from .debugging import debug_nans
from .derivatives.argnums import Argnums
from .derivatives.compiled import Compiled, Compiling, check_options
from .derivatives.derivative import Derivative
from .derivatives.jacobians import (
    Composed,
    ElementwiseGrad,
    Hessian,
    HessianVector,
    JacobianByColumns,
    JacobianByRows,
    SmallerJacobian,
)
from .derivatives.linear_map import LinearMap
from .derivatives.sparse_jacobians import SparseHessian, SparseJacobian, SparseJacobianByRows, single
from .derivatives.variadic import Variadic, is_variadic
from .derivatives.vmap import Axes, Vectorised, VectorisedJacobian, vectorised
from .primitives.record import stands_in
from .result_types import (
    GradientMaker,
    GradientOf,
    PushMaker,
    PushOf,
    ValueAndGradientMaker,
    ValueAndGradientOf,
    VjpMaker,
    VjpOf,
)
from .runtime.adjoints import stop_gradient
from .runtime.border import at_border
from .source.context_decorators import manager_of
from .transforms.errors import NonDifferentiableError

__all__ = [
    "elementwise_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Function = Callable[..., Any]
Outputs = str | tuple[str, ...] | None


def _public(transform: Callable[P, T]) -> Callable[P, T]:
    """Decorator of the transforms, `at_border`; `argnums` may be a list."""

    @functools.wraps(transform)
    def called(*args: Any, **keywords: Any) -> Any:
        if isinstance(chosen := keywords.get("argnums"), list):
            keywords["argnums"] = tuple(chosen)
        if takes_argnums and len(args) > 1 and isinstance(args[1], list):
            args = (args[0], tuple(args[1]), *args[2:])
        return transform(*args, **keywords)

    names = transform.__code__.co_varnames[: transform.__code__.co_argcount]
    takes_argnums = names[1:2] == ("argnums",)
    return at_border(called)


def _decorator(
    make: Callable[[Function], Any], f: Function | None, transform: Callable[..., Any], **options: Any
) -> Any:
    """`make(f)`; without a function, the decorator that does it. For a function with a variable number of
    arguments, `transform` with the same options for each number of them.
    """
    check_options(options, transform)

    def made(g: Function) -> Any:
        if isinstance(context := manager_of(g), debug_nans):
            return context(made(vars(g)["__wrapped__"]))
        if is_variadic(g):
            return Variadic(transform, g, options, _EXTRA.get(transform.__name__, no_extra))
        return make(g)

    return at_border(made) if f is None else made(f)


def no_extra(argnums: Argnums, count: int) -> int:
    """No arguments besides the function's own."""
    return 0


def tangent_count(argnums: Argnums, count: int) -> int:
    """The number of tangents among the arguments of a `jvp`."""
    return count // 2 if argnums is None else len(argnums) if isinstance(argnums, tuple) else 1


def vector_count(argnums: Argnums, count: int) -> int:
    """The number of vectors among the arguments of a `hvp`."""
    return len(argnums) if isinstance(argnums, tuple) else 1


_EXTRA = {"jvp": tangent_count, "hvp": vector_count}


def _of(
    f: Function,
    form: str,
    argnums: Argnums,
    has_aux: bool = False,
    outputs: Outputs = None,
    **compiling: Unpack[Compiling],
) -> Derivative:
    """A derivative in a form, of a function that may change its arguments."""
    cls = Derivative if compiling.get("compile") is None else Compiled
    return cls(f, form, argnums, has_aux, outputs=outputs, writes=True, **compiling)


@overload
def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> GradientOf[P]: ...
@overload
def grad(
    f: None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> GradientMaker: ...
@_public
def grad(
    f: Function | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The gradient of a function whose result is a real number, or an array of one.

    `argnums` is a position, the name of a parameter, or a tuple or list of them (then the result is a tuple
    of gradients). With `has_aux` the function returns `(value, aux)` and the derivative `(gradient, aux)`.
    Usable as a decorator, with and without arguments.

    With `compile="numba"`, as in all transforms, the generated function is compiled to machine code at the
    first call with arguments of new types; code that Numba cannot compile is refused. Indices out of bounds
    raise IndexError, divisions of numbers by zero ZeroDivisionError; with `fastmath=True` divisions give
    infinities, and sums may be reordered. With `cache=True` machine code is kept on disk, in the user's
    folder for caches, for other processes. With `parallel=True` loops over arrays run in several threads;
    results do not depend on their number.

    >>> grad(lambda x: x ** 3)(2.0)
    12.0
    """
    return _decorator(
        lambda g: _of(g, "grad", argnums, has_aux, output, **compiling),
        f,
        grad,
        argnums=argnums,
        has_aux=has_aux,
        output=output,
        **compiling,
    )


@overload
def value_and_grad(
    f: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> ValueAndGradientOf[P, R]: ...
@overload
def value_and_grad(
    f: None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> ValueAndGradientMaker: ...
@_public
def value_and_grad(
    f: Function | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    output: str | None = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The value of a function and its gradient, `(value, gradient)`, at the cost of the gradient; with
    `has_aux`, `((value, aux), gradient)`.

    >>> value_and_grad(lambda x: x ** 3)(2.0)
    (8.0, 12.0)
    """
    return _decorator(
        lambda g: _of(g, "value_and_grad", argnums, has_aux, output, **compiling),
        f,
        value_and_grad,
        argnums=argnums,
        has_aux=has_aux,
        output=output,
        **compiling,
    )


@overload
def vjp(
    f: Callable[P, R],
    *,
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> VjpOf[P, R]: ...
@overload
def vjp(
    f: Callable[..., R],
    primal: Any,
    /,
    *primals: Any,
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> tuple[R, Callable[[Any], Any]]: ...
@overload
def vjp(
    f: None = None,
    *,
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> VjpMaker: ...
@overload
def vjp(
    f: Function | None = None,
    *primals: Any,
    argnums: Argnums = None,
    outputs: Outputs = None,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any: ...
@_public
def vjp(
    f: Function | None = None,
    *primals: Any,
    argnums: Argnums = None,
    outputs: Outputs = None,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any:
    """The reverse derivative: `vjp(f)(*primals)`, or `vjp(f, *primals)`, is `(result, bprop)`.

    `bprop(dout)` takes a cotangent like the result and returns a tuple of cotangents, one for each argument
    (None for an inactive one; keyword options of a library's function do not count); with a single `argnums`
    just that one. It can be called any number of times. It reads arrays of the forward run: do not change
    arguments or results in place before its last call.

    `outputs`, the name of a parameter or a tuple of names, is for functions that change their arguments and
    return nothing: the result is the final values of these parameters. `bprop` takes cotangents of the final
    values, and returns those of the initial ones.

    With `has_aux` the function returns `(value, aux)`, and the result is `(value, bprop, aux)`.

    >>> out, bprop = vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> out, bprop(1.0)
    (10.0, (5.0, 2.0))
    """
    made = _decorator(
        lambda g: _of(g, "vjp", argnums, has_aux, outputs, **compiling),
        f,
        vjp,
        argnums=argnums,
        outputs=outputs,
        has_aux=has_aux,
        **compiling,
    )
    return made(*primals) if primals else made


@overload
def jvp(
    f: Callable[P, R],
    primals: None = None,
    tangents: None = None,
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> PushOf[P, R]: ...
@overload
def jvp(
    f: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> tuple[R, Any]: ...
@overload
def jvp(
    f: None = None,
    *,
    argnums: Argnums = None,
    outputs: None = None,
    has_aux: Literal[False] = False,
    **compiling: Unpack[Compiling],
) -> PushMaker: ...
@overload
def jvp(
    f: Function | None = None,
    primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None,
    argnums: Argnums = None,
    outputs: Outputs = None,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any: ...
@_public
def jvp(
    f: Function | None = None,
    primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None,
    argnums: Argnums = None,
    outputs: Outputs = None,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any:
    """The forward derivative: `jvp(f)(*primals, *tangents)`, or `jvp(f, primals, tangents)`, is `(result,
    tangent of the result)`.

    There is a tangent for each argument, or with `argnums` for each of those; tangents of arguments without
    derivative are ignored. `outputs` is that of `vjp`. With `has_aux` the function returns `(value, aux)`,
    and the result is `(value, tangent, aux)`.

    >>> jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 0.0))
    (10.0, 5.0)
    """
    made = _decorator(
        lambda g: _of(g, "jvp", argnums, has_aux, outputs, **compiling),
        f,
        jvp,
        argnums=argnums,
        outputs=outputs,
        has_aux=has_aux,
        **compiling,
    )
    if primals is None and tangents is None:
        return made
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise NonDifferentiableError(
            "jvp(f, primals, tangents) takes a tuple of arguments and a tuple of tangents",
            instead="write jvp(f, (x,), (dx,))",
        )
    return made(*primals, *tangents)


Wrt = int | str | tuple[int | str, ...]


def _tuple(argnums: Wrt) -> tuple[int | str, ...]:
    return argnums if isinstance(argnums, tuple) else (argnums,)


@overload
def jacfwd(
    f: Callable[P, Any],
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientOf[P]: ...
@overload
def jacfwd(
    f: None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientMaker: ...
@_public
def jacfwd(
    f: Function | None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The Jacobian by forward mode, a direction for each number in the arguments: for few inputs. From eight
    on they share a run where the function's code can be written for many directions.

    The Jacobian of a result of shape S by an argument of shape T has shape S + T; structured results and
    arguments give the result's structure, with the argument's inside. With `has_aux` the function returns
    `(value, aux)` and the derivative `(Jacobian, aux)`. `sparsity` is that of `jacobian`.
    """

    def make(g: Function) -> Composed:
        inner = _of(g, "jvp", _tuple(argnums), has_aux, **compiling)
        if sparsity is None:
            return JacobianByColumns(g, argnums, inner)
        return SparseJacobian(g, single(argnums), inner, sparsity)

    return _decorator(make, f, jacfwd, argnums=argnums, has_aux=has_aux, sparsity=sparsity, **compiling)


@overload
def jacrev(
    f: Callable[P, Any],
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientOf[P]: ...
@overload
def jacrev(
    f: None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientMaker: ...
@_public
def jacrev(
    f: Function | None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The Jacobian by reverse mode, a direction for each number in the result: for few outputs. Shapes, runs
    and `has_aux` as for `jacfwd`. `sparsity` is that of `jacobian`, but here rows without a common column
    share a pass.
    """

    def make(g: Function) -> Composed:
        inner = _of(g, "vjp", argnums, has_aux, **compiling)
        if sparsity is None:
            return JacobianByRows(g, argnums, inner)
        return SparseJacobianByRows(g, single(argnums), inner, sparsity)

    return _decorator(make, f, jacrev, argnums=argnums, has_aux=has_aux, sparsity=sparsity, **compiling)


@overload
def jacobian(
    f: Callable[P, Any],
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientOf[P]: ...
@overload
def jacobian(
    f: None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientMaker: ...
@_public
def jacobian(
    f: Function | None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The Jacobian, by the mode that takes fewer passes. Shapes and `has_aux` as for `jacfwd`.

    With `sparsity` it is a `scipy.sparse.csr_array`, of m rows for the m numbers of the result (an array),
    and n columns for those of the argument (one array of floats): columns without a common row share a pass
    of forward mode, or rows without a common column one of reverse mode, if that takes fewer.
    `sparsity=True` finds the pattern, at the first call and where it has changed; or it is a pattern, an
    array of m x n that is not zero wherever the Jacobian may not be. Entries elsewhere are noticed and raise
    NonDifferentiableError.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> jacobian(lambda x: x * x, sparsity=True)(np.array([1.0, 2.0])).nnz
    2
    """

    def make(g: Function) -> Composed:
        if sparsity is None:
            return SmallerJacobian(g, argnums, _of(g, "vjp", argnums, has_aux, **compiling))
        inner = _of(g, "jvp", _tuple(argnums), has_aux, **compiling)
        rows = _of(g, "vjp", argnums, has_aux, **compiling)
        return SparseJacobian(g, single(argnums), inner, sparsity, rows)

    return _decorator(make, f, jacobian, argnums=argnums, has_aux=has_aux, sparsity=sparsity, **compiling)


@_public
def vmap(f: Function | None = None, in_axes: Axes = 0, out_axes: int = 0) -> Any:
    """The function for many calls at once: arguments have an axis more, along which each is the argument of
    one call, and so has the result. It is written as code on whole arrays: `A @ x` becomes `x @ A.T`.

    `in_axes` gives that axis: one for all parameters without a default; or a tuple, or a dict by names, with
    None for those that are the same in all calls. `out_axes` is that of the result (of each, for a tuple).
    What has no such form, as a branch that calls may take differently, raises UnsupportedSyntaxError at its
    line. A derivative can be called so, and the result can be differentiated.

    >>> vmap(lambda a, x: a @ x, in_axes=(None, 0))(np.eye(2), np.arange(6.0).reshape(3, 2))
    array([[0., 1.],
           [2., 3.],
           [4., 5.]])
    """

    def make(g: Function) -> Vectorised | VectorisedJacobian:
        return vectorised(g, in_axes, out_axes)

    return _decorator(make, f, vmap, in_axes=in_axes, out_axes=out_axes)


@overload
def hessian(
    f: Callable[P, Any],
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientOf[P]: ...
@overload
def hessian(
    f: None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> GradientMaker: ...
@_public
def hessian(
    f: Function | None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    *,
    sparsity: Any = None,
    **compiling: Unpack[Compiling],
) -> Any:
    """The matrix of second derivatives of a scalar function, forward over reverse: shape T + T for an
    argument of shape T; with `sparsity` a sparse array of n x n, as for `jacobian`. `has_aux` as for
    `jacfwd`.

    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """

    def make(g: Function) -> Composed:
        inner = _of(grad(g, argnums, has_aux), "jvp", _tuple(argnums), has_aux, **compiling)
        if sparsity is None:
            return Hessian(g, argnums, inner)
        return SparseHessian(g, single(argnums), inner, sparsity)

    return _decorator(make, f, hessian, argnums=argnums, has_aux=has_aux, sparsity=sparsity, **compiling)


@_public
def hvp(
    f: Function | None = None,
    argnums: Wrt = 0,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any:
    """The product of a scalar function's Hessian with a vector like the argument, `hvp(f)(*args, v)`: forward
    over reverse, at a small multiple of the gradient's cost. For several arguments there is a vector for
    each, and the result is a tuple. With `has_aux` the function returns `(value, aux)` and the derivative
    `(product, aux)`. SciPy calls `hessp(x, v, *args)`: take that from `scipy_fun`.

    >>> hvp(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]), np.array([1.0, 0.0]))
    array([10.,  6.])
    """

    def make(g: Function) -> Composed:
        inner = _of(grad(g, argnums, has_aux), "jvp", _tuple(argnums), has_aux, **compiling)
        return HessianVector(g, argnums, inner)

    return _decorator(make, f, hvp, argnums=argnums, has_aux=has_aux, **compiling)


@overload
def elementwise_grad(
    f: Callable[P, Any], argnums: int | str = 0, has_aux: bool = False, **compiling: Unpack[Compiling]
) -> GradientOf[P]: ...
@overload
def elementwise_grad(
    f: None = None, argnums: int | str = 0, has_aux: bool = False, **compiling: Unpack[Compiling]
) -> GradientMaker: ...
@_public
def elementwise_grad(
    f: Function | None = None,
    argnums: int | str = 0,
    has_aux: bool = False,
    **compiling: Unpack[Compiling],
) -> Any:
    """The derivative of a function whose result depends element by element on an argument of the same shape
    (or, more exactly, the gradient of the sum of the result). `has_aux` is that of `grad`.

    >>> elementwise_grad(np.sin)(np.zeros(3))
    array([1., 1., 1.])
    """

    def make(g: Function) -> Composed:
        return ElementwiseGrad(g, argnums, _of(g, "vjp", argnums, has_aux, **compiling))

    return _decorator(make, f, elementwise_grad, argnums=argnums, has_aux=has_aux, **compiling)


@at_border
def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., Any]]:
    """The result at these arguments, and the function that maps tangents of them to the result's tangent.

    It runs `f` once and keeps what the tangents need. It takes a tangent for each argument, of its shape and
    dtype (None or zero for what carries no derivative), as often as you like; do not change arguments or
    results in place before its last call. It is the transpose of the `bprop` of `vjp`, which for many results
    costs less than `jvp` at each call, and rounds in another order; a `bprop` that cannot be differentiated
    again is replaced by `jvp`, which runs `f`.

    >>> out, push = linearize(lambda x, y: x * y, 2.0, 5.0)
    >>> out, push(1.0, 0.0)
    (10.0, 5.0)
    """
    reverse: Any = vjp(f)
    out, bprop = reverse(*primals)
    names = getattr(reverse, "parameters", ())[-len(primals) :] if primals else ()
    listed = tuple(names) if len(names) == len(primals) else tuple(f"x{k}" for k in range(len(primals)))
    return out, LinearMap(bprop, out, primals, listed, jvp(f))


@stands_in(linearize)
def linearized(f: Function, *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Stands in for `linearize` within a differentiated function."""
    derivative = jvp(f)

    def push(*tangents: Any) -> Any:
        return derivative(*primals, *tangents)[1]

    return f(*primals), push
