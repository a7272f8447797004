"""Arithmetic: Python's operators and the NumPy functions that they stand for, remainders, magnitudes, and
what steps.

Operators are applied to Python floats as much as to arrays, so their templates use operators alone.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ..primitives.record import Slope, bprop, nondifferentiable
from ..runtime.adjoints import broadcast_like, unbroadcast, zeros_like
from ..runtime.real_power import real_power
from .samples import A, given


def slope_of_product(x: Any, y: Any, is_number: Callable[[Any], bool]) -> Slope:
    """The slope of `x * y`, for an array the same everywhere where the other one is a number."""
    is_scaled = literal_number(x) or literal_number(y) or is_number(x) != is_number(y)
    return "constant" if is_scaled else "finite"


def slope_of_quotient(x: Any, y: Any, is_number: Callable[[Any], bool]) -> Slope:
    """The slope of `x / y`, by an array or a number that may be zero."""
    return "constant" if literal_number(y) or (is_number(y) and not is_number(x)) else "any"


def slope_of_power(x: Any, y: Any, is_number: Callable[[Any], bool]) -> Slope:
    """The slope of `x ** y`, infinite at zero for a root or an inverse."""
    return "finite" if literal_number(y) >= 1 else "any"


def literal_number(node: Any) -> float:
    """The value of a literal number, 0 for other expressions."""
    return node.value if isinstance(node, gast.Constant) and isinstance(node.value, (int, float)) else 0


@bprop(np.add, operator.add, "elementwise", slope="constant", domain=(-2.0, 2.0), in_place=[operator.iadd])
def add(x, y, out, dout):
    return dout, dout


@bprop(np.subtract, operator.sub, "elementwise", slope="constant", domain=(-2.0, 2.0),
       in_place=[operator.isub])
def subtract(x, y, out, dout):
    return dout, -dout


@bprop(np.multiply, operator.mul, "elementwise", slope=slope_of_product, domain=(-2.0, 2.0),
       in_place=[operator.imul])
def multiply(x, y, out, dout):
    return dout * y, dout * x


@bprop(np.divide, operator.truediv, "elementwise", slope=slope_of_quotient, domain=(0.5, 2.0),
       in_place=[operator.itruediv])
def divide(x, y, out, dout):
    return dout / y, -dout * out / y


def one_over(one: float, x: Any) -> Any:
    """`1 / x`: the slope follows from the value alone."""
    return one / x


@bprop(one_over, "elementwise", sharing="fresh", samples=[given(1, A(3)), given(1, A())])
def one_over_(one, x, out, dout):
    return None, -dout * out * out


@bprop(np.negative, operator.neg, "elementwise", slope="constant", domain=(-2.0, 2.0))
def negative(x, out, dout):
    return (-dout,)


@bprop(np.positive, operator.pos, "elementwise", slope="constant", domain=(-2.0, 2.0))
def positive(x, out, dout):
    return (dout,)


# A truth value counts as 1: `y - (y != 0)` is the exponent less one, but stays 0 where it is 0, so that a
# base of 0 is safe there.
@bprop(np.power, operator.pow, pow, "elementwise", slope=slope_of_power, domain=(0.5, 2.0),
       in_place=[operator.ipow])
def power(x, y, out, dout):
    return dout * y * x ** (y - (y != 0)), dout * out * np.log(x + (x == 0))


# The result may not be computed, so the derivative says that it is real, too.
@bprop(real_power, "elementwise", slope=slope_of_power, domain=(0.5, 2.0))
def real_power_(x, y, out, dout):
    return dout * y * real_power(x, y - (y != 0)), dout * out * np.log(x + (x == 0))


# The result is of double precision for all arguments, so the rule calls `unbroadcast` itself.
@bprop(np.float_power, domain=(0.5, 2.0))
def float_power(x, y, out, dout):
    dx = dout * y * x ** (y - (y != 0))
    dy = dout * out * np.log(x + (x == 0))
    return unbroadcast(dx, x), unbroadcast(dy, y)


@float_power.jvp
def float_power_jvp(x, y, out, dx, dy):
    return dx * y * x ** (y - (y != 0)) + dy * out * np.log(x + (x == 0))


@bprop(np.square, "elementwise", slope="finite", domain=(-2.0, 2.0))
def square(x, out, dout):
    return (dout * 2 * x,)


@bprop(np.reciprocal, "elementwise", domain=(0.5, 2.0))
def reciprocal(x, out, dout):
    return (-dout * out * out,)


# ---------------------------------------------------------------- remainders

@bprop(np.remainder, operator.mod, "elementwise", domain=((3.1, 3.9), (0.8, 1.0)), in_place=[operator.imod])
def remainder(x, y, out, dout):
    return dout, -dout * (x // y)


@bprop(np.fmod, "elementwise", domain=((-3.9, -3.1), (0.8, 1.0)))
def fmod(x, y, out, dout):
    return dout, dout * (out - x) / y


@bprop(np.divmod, divmod, samples=[
    given(A(3, low=3.1, high=3.9), 0.9), given(-3.7, 0.9), given(-3.7, A(3, low=0.8, high=1.0))])
def divmod_(x, y, out, dout):
    return unbroadcast(dout[1], x), unbroadcast(-dout[1] * out[0], y)


@divmod_.jvp
def divmod_jvp(out, dx, dy):
    return zeros_like(out[0]), dx - out[0] * dy


@bprop(np.modf, samples=[given(A(4)), given(1.7)])
def modf(x, out, dout):
    return (dout[0],)


@modf.jvp
def modf_jvp(out, dx):
    return broadcast_like(dx, out[0]), zeros_like(out[1])


@bprop(np.frexp, samples=[given(A(4)), given(2.7)])
def frexp(x, out, dout):
    return (unbroadcast(np.ldexp(dout[0], -out[1]), x),)


@frexp.jvp
def frexp_jvp(out, dx):
    return np.ldexp(dx, -out[1]), None


@bprop(np.ldexp, "elementwise", slope="finite", samples=[given(A(4), 3), given(A(3), np.array([1, -2, 0]))])
def ldexp(x, i, out, dout):
    return np.ldexp(dout, i), None


# ---------------------------------------------------------------- magnitudes and signs

@bprop(np.absolute, operator.abs, abs, "elementwise", slope="finite", domain=(-2.0, 2.0))
def absolute(x, out, dout):
    return (dout * np.conj(np.sign(x)),)


@absolute.jvp
def absolute_jvp(x, out, dx):
    return np.real(dx * np.conj(np.sign(x)))


@absolute.for_reals
def absolute_reals(x, out, dout):
    return (dout * np.sign(x),)


@bprop(np.fabs, "elementwise", slope="finite", domain=(-2.0, 2.0))
def fabs(x, out, dout):
    return (dout * np.sign(x),)


# The sign of a complex number lies on the unit circle and turns with it; of real numbers it has no
# derivative.
@bprop(np.sign, "elementwise", slope="finite", domain=(-2.0, 2.0))
def sign(x, out, dout):
    return ((dout - np.real(dout * out) * np.conj(out)) / np.where(x == 0, np.inf, np.abs(x)),)


@sign.jvp
def sign_jvp(x, out, dx):
    return (dx - out * np.real(np.conj(out) * dx)) / np.where(x == 0, np.inf, np.abs(x))


@sign.for_reals
def sign_reals(x, out, dout):
    return (None,)


@bprop(np.copysign, "elementwise", slope="finite", domain=(-2.0, 2.0))
def copysign(x, y, out, dout):
    return dout * np.sign(x) * np.copysign(1, y), None


@bprop(np.nextafter, "elementwise", slope="finite", domain=(-2.0, 2.0))
def nextafter(x, y, out, dout):
    return dout, None


@bprop(np.heaviside, "elementwise", slope="finite", domain=((-2.0, 2.0), (0.0, 1.0)))
def heaviside(x, y, out, dout):
    return None, np.where(x == 0, dout, 0)


# ---------------------------------------------------------------- what steps, compares or counts

nondifferentiable([
    np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix, np.floor_divide, np.signbit,
    np.spacing, np.invert, np.gcd, np.lcm, np.left_shift, np.right_shift, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.bitwise_count, np.isfinite, np.isinf, np.isnan, np.isnat, np.isposinf, np.isneginf,
    np.iscomplexobj, np.isrealobj, np.iscomplex, np.isreal, np.logical_and, np.logical_or, np.logical_xor,
    np.logical_not, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.isclose, np.allclose, np.array_equal, np.array_equiv,
])
