"""Trigonometric functions without branches, for loops of compiled code that LLVM vectorizes.

Each is within one unit in the last place, `sin`, `cos` and `tan` for numbers up to `LARGEST`.
Importing this module imports Numba.

Sources: the polynomials of `sin` and `cos` are those of FreeBSD's msun (k_sin.c, k_cos.c); that of `arctan`
was fitted by the algorithm of Remez. The reduction is that of Cody and Waite (1980).
"""

from __future__ import annotations

from typing import Any

from .vector_arithmetic import (
    SHIFT,
    bits_of,
    fast_two_sum,
    float_of,
    fma,
    inlined,
    polynomial,
    quotient,
    signed_as,
    two_product,
    two_sum,
)

__all__ = ["LARGEST", "arctan", "cos", "sin", "tan"]

LARGEST = 2.0**45  # the product with 2/pi is off by less than 2**-8 up to here
TWO_OVER_PI = 0.6366197723675814
# pi/2 as a sum of three
HALF_PI, HALF_PI_LOW, HALF_PI_REST = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
QUARTER_PI, QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17

sin_tail = polynomial(  # (sin(r) - r) / r**3, of r**2
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
cos_tail = polynomial(  # (cos(r) - 1 + r**2 / 2) / r**4, of r**2
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
arctan_tail = polynomial(  # (arctan(t) - t) / t**3, of t**2, for t up to sqrt(2) - 1
    -0.33333333333333326, 0.1999999999999767, -0.1428571428538813, 0.11111111088184898, -0.09090908144770278,
    0.07692282763808508, -0.06666226828826463, 0.05877022454282269, -0.0521840833858526, 0.045035643857843616,
    -0.033474779816737216, 0.015195455725742914,
)  # fmt: skip


@inlined
def reduced(x: Any) -> Any:
    """The integer n and the r in [-pi/4, pi/4], as a sum of two, with x = n * pi/2 + r."""
    k = fma(x, TWO_OVER_PI, SHIFT)
    n = bits_of(k)
    k -= SHIFT
    p, p_low = two_product(k, HALF_PI_LOW)
    r, lost = two_sum(fma(-k, HALF_PI, x), -p)  # the first is exact
    r, lost = two_sum(r, lost - fma(k, HALF_PI_REST, p_low))
    return n, r, lost


@inlined
def sin_parts(r: Any, low: Any) -> Any:
    """sin(r + low) as a sum of two."""
    z = r * r
    return r, fma(z * r, sin_tail(z), fma(-0.5 * z, low, low))


@inlined
def cos_parts(r: Any, low: Any) -> Any:
    """cos(r + low) as a sum of two."""
    z = r * r
    half = 0.5 * z
    one = 1.0 - half
    return one, ((1.0 - one) - half) + fma(z * z, cos_tail(z), -r * low - fma(r, r, -z) * 0.5)


@inlined
def turned(x: Any, quarters: Any) -> Any:
    """sin(x + quarters * pi/2)."""
    n, r, low = reduced(x)
    n += quarters
    s, s_low = sin_parts(r, low)
    c, c_low = cos_parts(r, low)
    y = c + c_low if n & 1 else s + s_low
    return float_of(bits_of(y) ^ ((n & 2) << 62))


@inlined
def sin(x: Any) -> Any:
    y = turned(x, 0)
    return y if x != 0.0 else x


@inlined
def cos(x: Any) -> Any:
    return turned(x, 1)


@inlined
def tan(x: Any) -> Any:
    n, r, low = reduced(x)
    s, s_low = sin_parts(r, low)
    s, s_low = fast_two_sum(s, s_low)
    c, c_low = cos_parts(r, low)
    c, c_low = fast_two_sum(c, c_low)
    is_odd = (n & 1) != 0
    q, q_low = quotient(
        -c if is_odd else s, -c_low if is_odd else s_low, s if is_odd else c, s_low if is_odd else c_low
    )
    y = q + q_low
    return y if x != 0.0 else x


@inlined
def arctan(x: Any) -> Any:
    size = abs(x)
    is_large, is_small = size > 2.414213562373095, size < 0.41421356237309503
    a, a_low = two_sum(size, -1.0)
    b, b_low = two_sum(size, 1.0)
    a = size if is_small else (-1.0 if is_large else a)
    b = 1.0 if is_small else (size if is_large else b)
    is_middle = not (is_small or is_large)
    t, t_low = quotient(a, a_low if is_middle else 0.0, b, b_low if is_middle else 0.0)
    base = 0.0 if is_small else (HALF_PI if is_large else QUARTER_PI)
    low = 0.0 if is_small else (HALF_PI_LOW if is_large else QUARTER_PI_LOW)
    z = t * t
    y, lost = fast_two_sum(base, t)
    y, lost = (t, 0.0) if is_small else (y, lost)
    y = signed_as(y + (lost + (low + (t_low + t * z * arctan_tail(z)))), x)
    y = y if size < 9e15 else signed_as(HALF_PI, x)
    return y if x == x else x
