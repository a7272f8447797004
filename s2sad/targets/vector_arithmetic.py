"""Operations that elementary functions without branches are made of. Importing this module imports Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = [
    "SHIFT",
    "SHIFT_BITS",
    "bits_of",
    "fast_two_sum",
    "float_of",
    "fma",
    "inlined",
    "polynomial",
    "power_of_two",
    "quotient",
    "signed_as",
    "two_product",
    "two_sum",
]

F = TypeVar("F", bound=Callable[..., Any])
SHIFT = 1.5 * 2.0**52  # adding a float to it rounds to an integer, which is in the lowest bits
SHIFT_BITS = 4843621399236968448
SIGN_BIT = -(2**63)


def inlined(f: F) -> F:
    """Decorator: a compiled function that LLVM always inlines."""
    made: F = njit(error_model="numpy", forceinline=True)(f)
    return made


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(context: Any, x: Any) -> Any:
    """The bits of a float as an integer."""
    return types.int64(types.float64), lambda c, builder, s, args: builder.bitcast(args[0], ir.IntType(64))


@intrinsic  # type: ignore[untyped-decorator]
def float_of(context: Any, n: Any) -> Any:
    """The float with these bits."""
    return types.float64(types.int64), lambda c, builder, s, args: builder.bitcast(args[0], ir.DoubleType())


@intrinsic  # type: ignore[untyped-decorator]
def fma(context: Any, a: Any, b: Any, c: Any) -> Any:
    """The sum `a * b + c`, rounded once."""
    return types.float64(*[types.float64] * 3), lambda c, builder, s, args: builder.fma(*args)


def polynomial(*coefficients: float) -> Callable[[Any], Any]:
    """The function of x that evaluates a polynomial, by Horner's scheme; the constant is given first."""
    text = repr(coefficients[-1])
    for c in coefficients[-2::-1]:
        text = f"fma({text}, x, {c!r})"
    scope: dict[str, Any] = {"fma": fma}
    exec(f"def evaluated(x):\n    return {text}\n", scope)
    evaluated: Callable[[Any], Any] = scope["evaluated"]
    return inlined(evaluated)


@inlined
def power_of_two(n: Any) -> Any:
    return float_of((n + 1023) << 52)


@inlined
def signed_as(size: Any, x: Any) -> Any:
    """The number of this size with the sign of x."""
    return float_of(bits_of(size) | (bits_of(x) & SIGN_BIT))


@inlined
def two_sum(a: Any, b: Any) -> Any:
    """The sum, and what rounding lost of it."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inlined
def fast_two_sum(a: Any, b: Any) -> Any:
    """The same, where `a` is not smaller than `b`."""
    s = a + b
    return s, b - (s - a)


@inlined
def two_product(a: Any, b: Any) -> Any:
    """The product, and what rounding lost of it."""
    p = a * b
    return p, fma(a, b, -p)


@inlined
def quotient(a: Any, a_low: Any, b: Any, b_low: Any) -> Any:
    """The quotient of two sums of a number and a small one, as such a sum."""
    inverse = 1.0 / b
    q = a * inverse
    return q, (fma(-q, b, a) + (a_low - q * b_low)) * inverse
