"""Structured parameters as one vector, and what optimisers ask of a function of them.

Contract: the numbers of a vector are the leaves that carry derivatives, in the order of the structure; other
leaves (booleans, texts, None) keep their values. An integer is refused in lists, tuples and dicts, where it
may be a parameter without its point; as an attribute of an object it is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..derivatives.derivative import Derivative
from ..derivatives.jacobians import HessianVector
from ..primitives.record import Rule, bprop, for_instances
from ..primitives.template import Template
from ..runtime.adjoints import unbroadcast
from ..runtime.border import at_border
from ..transforms.errors import NonDifferentiableError
from ..values import pytree
from ..values.objects import fields_of, is_plain

__all__ = ["Problem", "flatten", "scipy_fun"]


@at_border
def flatten(tree: Any) -> tuple[Any, _Unflatten]:
    """The numbers of a structure as a vector, and the function that makes the structure of a vector again.

    The structure consists of lists, tuples, named tuples, dicts, dataclasses and objects of plain classes;
    booleans, texts, None and integer attributes of objects are not in the vector. Its dtype is the one to
    which those of the numbers promote; shapes and dtypes come back. Raises NonDifferentiableError for other
    integers. `unflatten` raises it for a vector of another length; it returns new arrays, and has derivatives
    of all orders.

    >>> vector, unflatten = flatten({"rate": 0.5, "weights": np.array([[1.0], [2.0]]), "name": "net"})
    >>> vector
    array([0.5, 1. , 2. ])
    >>> unflatten(2 * vector)
    {'rate': 1.0, 'weights': array([[2.],
           [4.]]), 'name': 'net'}
    """
    _refuse_integers(tree, "tree")
    leaves = pytree.flatten(tree)
    vector = np.concatenate([np.zeros(0), *map(np.ravel, leaves)]) if leaves else np.zeros(0)
    if leaves:
        vector = vector.astype(np.result_type(*map(np.asarray, leaves)), copy=False)
    return vector, _Unflatten(tree, vector.size)


def _refuse_integers(x: Any, path: str, is_attribute: bool = False) -> None:
    """Raises NonDifferentiableError for integers that may be parameters; `path` leads to `x`."""
    if isinstance(x, (list, tuple)):
        names = getattr(x, "_fields", None)
        for k, v in enumerate(x):
            _refuse_integers(v, f"{path}.{names[k]}" if names else f"{path}[{k}]")
    elif isinstance(x, dict):
        for k, v in x.items():
            _refuse_integers(v, f"{path}[{k!r}]")
    elif is_plain(type(x)):
        for name, v in fields_of(x).items():
            _refuse_integers(v, f"{path}.{name}", is_attribute=True)
    elif not is_attribute and (type(x) is int or str(getattr(x, "dtype", ""))[:3] in ("int", "uin")):
        what, float_ = ("an array of integers", "floats") if np.shape(x) else (f"the integer {x}", f"{x}.0")
        raise NonDifferentiableError(
            f"`{path}` is {what}",
            why="integers carry no derivative, so it would keep its value",
            instead=f"if it is a parameter, write {float_}; if it is a constant, pass it apart from the "
            "parameters, or as an attribute of an object",
        )


def _positions(tree: Any) -> Iterator[tuple[int, int]]:
    start = 0
    for leaf in pytree.flatten(tree):
        yield start, start + np.size(leaf)
        start += np.size(leaf)


@dataclass(frozen=True, eq=False)
class _Unflatten:
    """Makes structures like `tree`, of `size` numbers."""

    tree: Any
    size: int

    @at_border
    def __call__(self, vector: Any) -> Any:
        return pytree.moved_structure(self._parts(vector, keeps=True), self.tree)

    def tangent(self, vector: Any) -> Any:
        """The tangent of the structure that a vector holds."""
        return pytree.map_structure(self._parts(vector, keeps=False), self.tree)

    def vector(self, adjoint: Any) -> Any:
        """The vector of an adjoint or tangent of the structure; None in it is zero."""
        pairs = zip(pytree.flatten(self.tree), pytree.tangents_of(self.tree, adjoint), strict=True)
        parts = [np.zeros(np.size(x)) if dx is None else np.ravel(dx) for x, dx in pairs]
        return np.concatenate([np.zeros(0), *parts])

    def _parts(self, vector: Any, keeps: bool) -> Callable[[Any], Any]:
        """A function of leaves, in their order, that gives the part of the vector for each."""
        vector = np.asarray(vector)
        if vector.shape != (self.size,):
            raise NonDifferentiableError(
                f"a vector of shape {vector.shape} was given for {self.size} numbers",
                instead="give a vector like that of `flatten`",
            )
        place = iter(_positions(self.tree))

        def part(leaf: Any) -> Any:
            if not pytree.is_differentiable(leaf):
                return leaf if keeps else None
            start, stop = next(place)
            given = vector[start:stop]
            if vector.dtype.kind == "c" and not np.iscomplexobj(leaf):
                given = given.real
            if not hasattr(leaf, "dtype"):
                return type(leaf)(given[0])
            made = given.reshape(leaf.shape).astype(leaf.dtype)
            return made[()] if isinstance(leaf, np.generic) else made

        return part


def part_tangents(unflatten: Any, vector: Any) -> Any:
    """The tangent of the structure that a vector holds."""
    return unflatten.tangent(vector)


def flat_adjoint(unflatten: Any, adjoint: Any) -> Any:
    """The vector of an adjoint."""
    return unflatten.vector(adjoint)


TREE = {"a": 0.7, "b": (np.array([[1.5, 0.2]]), 3, None), "c": [0.4, np.float64(2.5)]}


@bprop(part_tangents, samples=[(_Unflatten(TREE, 5), np.array([0.3, 1.2, 0.7, 2.1, 0.6]))])
def part_tangents_(unflatten, vector, out, dout):  # type: ignore[no-untyped-def]
    return None, unbroadcast(flat_adjoint(unflatten, dout), vector)


@part_tangents_.jvp
def part_tangents_jvp(unflatten, out, dvector):  # type: ignore[no-untyped-def]
    return part_tangents(unflatten, dvector)


@bprop(flat_adjoint, lists=True, samples=[(_Unflatten(TREE, 5), TREE)])
def flat_adjoint_(unflatten, adjoint, out, dout):  # type: ignore[no-untyped-def]
    return None, part_tangents(unflatten, dout)


@flat_adjoint_.jvp
def flat_adjoint_jvp(unflatten, out, dadjoint):  # type: ignore[no-untyped-def]
    return flat_adjoint(unflatten, dadjoint)


@for_instances(_Unflatten, pure=True)
def unflatten_rule(unflatten: _Unflatten) -> Rule:
    def call(vector, out, dout):  # type: ignore[no-untyped-def]
        return (unbroadcast(flat_adjoint(unflatten, dout), vector),)

    def call_jvp(out, dvector):  # type: ignore[no-untyped-def]
        return part_tangents(unflatten, dvector)

    return Rule("unflatten", (unflatten,), None, Template(call), Template(call_jvp))


@dataclass(frozen=True)
class Problem:
    """A function of structured parameters as functions of a vector, for `scipy.optimize.minimize`.

    `x0` is the vector of the parameters at the start, of n numbers. All methods take a vector x, and after it
    the `args` of `minimize`, which the function is given behind its parameters.
    """

    f: Callable[..., Any]
    x0: Any
    unflatten: _Unflatten
    _value_and_grad: Derivative = field(repr=False)
    _product: HessianVector = field(repr=False)

    @at_border
    def fun(self, x: Any, *args: Any) -> tuple[float, Any]:
        """The value and the gradient, of shape (n,): for `jac=True`."""
        value, gradient = self._value_and_grad(self.unflatten(x), *args)
        return float(np.reshape(value, ())), self.unflatten.vector(gradient).astype(float)

    @at_border
    def hessp(self, x: Any, v: Any, *args: Any) -> Any:
        """The product of the Hessian with a vector, of shape (n,)."""
        product = self._product(self.unflatten(x), *args, self.unflatten.tangent(v))
        return self.unflatten.vector(product).astype(float)

    @at_border
    def hess(self, x: Any, *args: Any) -> Any:
        """The Hessian, of shape (n, n), by n products."""
        columns = [self.hessp(x, unit, *args) for unit in np.eye(len(self.x0))]
        return np.array(columns).reshape(len(columns), len(columns)).T


@at_border
def scipy_fun(f: Callable[..., Any], tree: Any) -> Problem:
    """The real function `f(tree, *args)` of structured parameters as `scipy.optimize.minimize` takes it, from
    the parameters `tree` on.

    Its `fun` (the value and the gradient), `x0`, `hess` and `hessp` are the arguments of `minimize`, and
    `unflatten` makes parameters of a result. Units: gradients are those of `f` by each number. Raises
    NonDifferentiableError for complex parameters, for integers (as `flatten` does), and for none.

    >>> def loss(p):
    ...     return (p["a"] - 1.0) ** 2 + np.sum(p["b"] ** 2)
    >>> problem = scipy_fun(loss, {"a": 3.0, "b": np.array([1.0, 2.0])})
    >>> problem.fun(problem.x0)
    (9.0, array([4., 2., 4.]))
    >>> import scipy.optimize
    >>> found = scipy.optimize.minimize(problem.fun, problem.x0, jac=True, method="BFGS")
    >>> round(problem.unflatten(found.x)["a"], 6)
    1.0
    """
    x0, unflatten = flatten(tree)
    if x0.dtype.kind != "f" or x0.size == 0:
        raise NonDifferentiableError(
            f"parameters of dtype {x0.dtype}" if x0.size else "no parameter carries a derivative",
            why="optimisers of SciPy take vectors of real numbers",
            instead="give floats or arrays of floats (of complex numbers the real and imaginary parts)",
        )
    gradient = Derivative(f, "grad", 0, writes=True)
    product = HessianVector(f, 0, Derivative(gradient, "jvp", (0,)))
    value_and_grad = Derivative(f, "value_and_grad", 0, writes=True)
    return Problem(f, x0.astype(float), unflatten, value_and_grad, product)
