"""`scipy.integrate`: integrals of functions, of one variable and of several.

The derivative of an integral is the integral of the derivative, found as accurately as the integral was
(Leibniz' rule: Rudin, Principles of Mathematical Analysis, 9.42). The derivatives of all these functions are
made of one primitive, `integral`, whose derivatives are integrals again.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate, special

from s2sad.transforms.errors import NonDifferentiableError

from ..primitives.record import bprop, nondifferentiable, refuse
from ..runtime.adjoints import add
from ..values import pytree
from .constant import named
from .functional import called, pulled_back
from .implicit import changed, tupled, value
from .results import first_cotangent, first_tangent

Array = Any  # any type with NumPy's protocols


# ---------------------------------------------------------------- structures of numbers


def gaussian(t: Any, width: Any, height: Any) -> Any:
    """For samples: a function with arguments."""
    return height * np.exp(-((t / width) ** 2))


def gaussian_rows(t: Any) -> Array:
    """For samples: a function with values in arrays."""
    return np.exp(-((t / np.array([[0.7, 1.1], [1.5, 2.5]])) ** 2))


def inner(d: Any, x: Any) -> Any:
    """The sum of the products of the numbers of two structures; None is zero."""
    if d is None or x is None:
        return 0.0
    if isinstance(x, dict):
        return sum((inner(d.get(k), v) for k, v in x.items()), 0.0)
    if isinstance(x, (list, tuple)):
        return sum(map(inner, d, x), 0.0)
    return np.sum(d * x)


def scaled(x: Any, factor: Any) -> Any:
    """A structure of numbers times a number."""
    if x is None:
        return None
    return pytree.map_structure(
        lambda leaf: None if leaf is None else leaf * factor, x
    )


@bprop(inner, "bilinear", samples=[(1.5, 0.7), ({"f": None, "x": (1.5, 0.3)}, {"f": None, "x": (0.7, 0.9)})])
def inner_(d, x, out, dout):
    return scaled(x, dout), scaled(d, dout)


@bprop(scaled, "bilinear", samples=[(1.5, 0.7), ({"f": None, "x": (1.5, 0.3)}, 0.7)])
def scaled_(x, factor, out, dout):
    return scaled(dout, factor), inner(dout, x)


# ---------------------------------------------------------------- the primitive


def integral(func: Any, a: Any, b: Any, args: Any, accuracy: tuple[float, float]) -> Any:
    """The integral from `a` to `b` of a function whose values are numbers, arrays, or containers of these."""
    args = tupled(args)
    like = func(0.5 * (a + b) if np.isfinite(a + b) else 0.0, *args)
    shapes = [np.shape(x) for x in pytree.flatten(like)]
    if not shapes:
        return like

    def as_vector(t: float) -> Array:
        leaves = pytree.flatten(func(t, *args))
        if [np.shape(x) for x in leaves] != shapes:
            raise NonDifferentiableError(
                "the derivative of an integral of a function with values of several shapes",
                why="that of its derivative is not defined",
            )
        return np.concatenate([np.ravel(x) for x in leaves])

    found = integrate.quad_vec(as_vector, a, b, epsabs=accuracy[0], epsrel=accuracy[1], norm="max")[0]
    ends = np.cumsum([int(np.prod(s)) for s in shapes])
    parts = [np.reshape(v, s)[()] for v, s in zip(np.split(found, ends[:-1]), shapes, strict=True)]
    return pytree.map_structure(lambda x: parts.pop(0) if pytree.flatten(x) else None, like)


def adjoint_at(func: Any, args: Any, d: Any) -> Any:
    """The function that gives, at a place, the adjoints of a function and of its arguments."""

    def at(t: Any) -> Any:
        dfunc, _, dargs = pulled_back(value, d, (func, t, args))
        return dfunc, dargs

    return at


def tangent_at(func: Any, args: Any, dfunc: Any, dargs: Any) -> Any:
    """The function that gives, at a place, the tangent of the value of a function."""

    def at(t: Any) -> Any:
        return changed(value, (dfunc, None, dargs), (func, t, args))

    return at


def at_run_time(func: Any) -> Any:
    """The function as a dynamic callee, since the number of its arguments is dynamic."""
    return func


@bprop(at_run_time, "linear", samples=[(1.5,)])
def at_run_time_(func, out, dout):
    return (dout,)


def value_at(func: Any, t: Any, args: Any) -> Any:
    """The value of a function at a place."""
    return value((at_run_time(func), t, args))


def end_adjoint(d: Any, func: Any, t: Any, args: Any) -> Any:
    """The adjoint of the upper end of an integral, zero of an infinite one."""
    return 0.0 if np.isinf(t) else inner(d, value_at(func, t, args))


def end_tangent(dt: Any, func: Any, t: Any, args: Any) -> Any:
    """What an integral changes by with its upper end; None with an infinite one."""
    return None if np.isinf(t) else scaled(value_at(func, t, args), dt)


ACCURACY = (1e-10, 1e-10)


@bprop(integral, samples=[(np.cos, 0.2, 1.5, (), ACCURACY), (gaussian, 0.2, 1.5, (0.7, 1.3), ACCURACY)])
def integral_(func, a, b, args, accuracy, out, dout):
    dfunc, dargs = integral(adjoint_at(func, args, dout), a, b, (), accuracy)
    return dfunc, -end_adjoint(dout, func, a, args), end_adjoint(dout, func, b, args), dargs, None


@integral_.jvp
def integral_jvp(func, a, b, args, accuracy, out, dfunc, da, db, dargs):
    inside = integral(tangent_at(func, args, dfunc, dargs), a, b, (), accuracy)
    return add(inside, add(end_tangent(db, func, b, args), end_tangent(-da, func, a, args)))


def accuracy_of(epsabs: float, epsrel: float, weight: Any, points: Any) -> tuple[float, float]:
    """The accuracy of an integral; refuses those with weights or given breakpoints."""
    if weight is not None or points is not None:
        raise NonDifferentiableError(
            "the derivative of an integral with `weight` or `points`",
            why="it is not known how accurately its derivative would be found",
            instead="multiply by the weight in the function, and add integrals between the points",
        )
    return epsabs, epsrel


nondifferentiable([accuracy_of])

# ---------------------------------------------------------------- one variable


@bprop(
    integrate.quad,
    lists=["args"],
    parts=(0,),
    samples=[
        (gaussian, 0.2, 1.5, (0.7, 1.3)),
        (gaussian, -np.inf, np.inf, (0.7, 1.3)),
        (np.cos, 0.2, 1.5),
    ],
)
def quad(
    func,
    a,
    b,
    args=(),
    full_output=0,
    epsabs=1.49e-8,
    epsrel=1.49e-8,
    limit=50,
    points=None,
    weight=None,
    *,
    out,
    dout,
):
    d = first_cotangent(dout, True)
    accuracy = accuracy_of(epsabs, epsrel, weight, points)
    dfunc, dargs = integral(adjoint_at(func, args, d), a, b, (), accuracy)
    return dfunc, -end_adjoint(d, func, a, args), end_adjoint(d, func, b, args), dargs


@quad.jvp
def quad_jvp(func, a, b, args, epsabs, epsrel, points, weight, out, dfunc, da, db, dargs):
    accuracy = accuracy_of(epsabs, epsrel, weight, points)
    inside = integral(tangent_at(func, args, dfunc, dargs), a, b, (), accuracy)
    ends = add(end_tangent(db, func, b, args), end_tangent(-da, func, a, args))
    return first_tangent(add(inside, ends), out, True)


def gauss(call: tuple[Any, ...]) -> Any:
    """`fixed_quad(func, a, b, args, n)[0]`."""
    func, a, b, args, n = call
    nodes, weights = special.roots_legendre(n)
    y = (b - a) * (nodes + 1) / 2 + a
    return (b - a) / 2 * np.sum(weights * called(func, y, args), axis=-1)


@bprop(
    integrate.fixed_quad,
    lists=["args"],
    parts=(0,),
    samples=[(gaussian, 0.2, 1.5, (0.7, 1.3)), (gaussian, 0.2, 1.5, (0.7, 1.3), 3)],
)
def fixed_quad(func, a, b, args=(), n=5, *, out, dout):
    dfunc, da, db, dargs, _ = pulled_back(gauss, first_cotangent(dout, True), (func, a, b, args, n))
    return dfunc, da, db, dargs


@fixed_quad.jvp
def fixed_quad_jvp(func, a, b, args, n, out, dfunc, da, db, dargs):
    dvalue = changed(gauss, (dfunc, da, db, dargs, None), (func, a, b, args, n))
    return first_tangent(dvalue, out, True)


@bprop(
    integrate.quad_vec,
    lists=["args"],
    parts=(0,),
    samples=[(gaussian_rows, 0.2, 1.5), ((gaussian_rows, 0.2, 1.5), {"epsabs": 1e-9, "epsrel": 1e-9})],
)
def quad_vec(
    f,
    a,
    b,
    epsabs=1e-200,
    epsrel=1e-8,
    norm=None,
    cache_size=None,
    limit=None,
    workers=None,
    points=None,
    quadrature=None,
    full_output=False,
    *,
    args=(),
    out,
    dout,
):
    d = first_cotangent(dout, True)
    accuracy = accuracy_of(epsabs, epsrel, None, points)
    df, _ = integral(adjoint_at(f, args, d), a, b, (), accuracy)
    return df, -end_adjoint(d, f, a, args), end_adjoint(d, f, b, args)


@quad_vec.jvp
def quad_vec_jvp(f, a, b, epsabs, epsrel, points, args, out, df, da, db):
    accuracy = accuracy_of(epsabs, epsrel, None, points)
    inside = integral(tangent_at(f, args, df, None), a, b, (), accuracy)
    ends = add(end_tangent(db, f, b, args), end_tangent(-da, f, a, args))
    return first_tangent(add(inside, ends), out, True)


# ---------------------------------------------------------------- several variables


def repeated(call: tuple[Any, ...]) -> Any:
    """`nquad(func, ranges, args)[0]`; the limits of a variable depend on those that follow it."""
    func, ranges, args, accuracy = call
    return over(func, ranges, (), tupled(args), accuracy)


def over(func: Any, ranges: Any, outer: tuple[Any, ...], args: Any, accuracy: Any) -> Any:
    """The integral over the first of the variables, at given values of the others."""
    if len(outer) == len(ranges):
        return func(*outer, *args)

    def at(t: Any) -> Any:
        return over(func, ranges, (t, *outer), args, accuracy)

    limits = ranges[len(ranges) - 1 - len(outer)]
    ends = limits(*outer, *args) if callable(limits) else limits
    return integral(at, ends[0], ends[1], (), accuracy)


def options_accuracy(opts: Any) -> tuple[float, float]:
    """The accuracy that the options of `nquad` say; refuses those with weights or given breakpoints."""
    if opts is not None and not isinstance(opts, dict):
        raise NonDifferentiableError(
            "the derivative of an integral with options for each variable",
            why="all are found equally accurately",
            instead="pass one dict of options",
        )
    known = opts or {}
    return accuracy_of(
        known.get("epsabs", 1.49e-8), known.get("epsrel", 1.49e-8), known.get("weight"), known.get("points")
    )


nondifferentiable([options_accuracy])


def wave(x: Any, a: Any) -> Any:
    """For samples: a function of one variable."""
    return np.cos(a * x) * x


# Of several variables they are tested in programs: their derivatives take a while.
@bprop(
    integrate.nquad,
    lists=True,
    parts=(0,),
    samples=[(wave, [[0.2, 1.1]], (0.7,)), ((wave, [[0.2, 1.1]], (0.7,)), {"opts": {"epsabs": 1e-10}})],
)
def nquad(func, ranges, args=None, opts=None, full_output=False, *, out, dout):
    call = (func, ranges, args, options_accuracy(opts))
    dfunc, dranges, dargs, _ = pulled_back(repeated, first_cotangent(dout, True), call)
    return dfunc, dranges, dargs


@nquad.jvp
def nquad_jvp(func, ranges, args, opts, out, dfunc, dranges, dargs):
    dvalue = changed(repeated, (dfunc, dranges, dargs, None), (func, ranges, args, options_accuracy(opts)))
    return first_tangent(dvalue, out, True)


refuse(
    named(integrate, "cubature qmc_quad tanhsinh nsum lebedev_rule quadrature romberg"),
    "use scipy.integrate.quad, nquad or fixed_quad",
)
