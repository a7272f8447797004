"""Elementary functions without branches, for loops of compiled code that LLVM vectorizes.

Each is within one unit in the last place of the exact value, and agrees with NumPy at zeros, infinities, NaN
and subnormal numbers. What must be more exact than a float is a sum of two. Importing this
module imports Numba.

Sources: the polynomial of `log` is that of FreeBSD's msun (e_log.c); the others were fitted by the algorithm
of Remez, to a relative error of the function below 2**-58 each. A product by a sum of two floats, and its
parts, are those of Dekker (1971); the reduction of the exponential is that of Cody and Waite (1980).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .vector_arithmetic import (
    SHIFT,
    SHIFT_BITS,
    bits_of,
    fast_two_sum,
    float_of,
    fma,
    inlined,
    polynomial,
    power_of_two,
    quotient,
    signed_as,
    two_product,
    two_sum,
)

__all__ = ["cbrt", "exp", "exp_of_sum", "expm1", "log", "log1p", "power", "tanh"]

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
SQRT_HALF_BITS = 4604544271217802189
TINY = 2.2250738585072014e-308  # the smallest normal number
TWO_THIRDS, TWO_THIRDS_LOW = 0.6666666666666666, 3.700743415417188e-17

# ---------------------------------------------------------------- exponentials

# (exp(r) - 1 - r - r**2 / 2) / r**3 for r in [-log(2) / 2, log(2) / 2]
exp_tail = polynomial(
    0.16666666666666685, 0.04166666666666673, 0.008333333333316685, 0.001388888888885868,
    0.00019841269897193938, 2.4801587373354238e-05, 2.755723409965905e-06, 2.755723364496123e-07,
    2.5112288371867226e-08, 2.092686533041127e-09,
)  # fmt: skip


@inlined
def reduced(a: Any, low: Any) -> Any:
    """The integer n and the small r, as a sum of two, with exp(a + low) = 2**n * exp(r)."""
    k = fma(a, LOG2_E, SHIFT)
    n = bits_of(k) - SHIFT_BITS
    k -= SHIFT
    high = fma(-k, LN2_HIGH, a)  # exact
    r, lost = fast_two_sum(high, fma(-k, LN2_LOW, low))
    return n, r, lost


@inlined
def scaled(y: Any, n: Any) -> Any:
    """y * 2**n, in two steps, since 2**n may be subnormal."""
    half = n >> 1
    return y * power_of_two(half) * power_of_two(n - half)


@inlined
def exp_of_sum(x: Any, low: Any) -> Any:
    """exp(x + low), for x in [-746, 710]."""
    n, r, low = reduced(x, low)
    return scaled(1.0 + (r + fma(r * r, fma(r, exp_tail(r), 0.5), low)), n)


@inlined
def exp(x: Any) -> Any:
    y = exp_of_sum(min(max(x, -746.0), 710.0), 0.0)
    return y if x == x else x


@inlined
def expm1_parts(x: Any) -> Any:
    """Half of exp(x) - 1 as a sum of two, for x in [-60, 710]; of small ones the same sum is not halved."""
    n, r, low = reduced(x, 0.0)
    square, square_low = two_product(r, r)
    p, lost = fast_two_sum(r, 0.5 * square)
    lost += fma(square * r, exp_tail(r), fma(0.5, square_low, low))
    scale = power_of_two(n - 1)
    a, a_low = two_sum(scale, -0.5)
    s, rest = two_sum(a, scale * p)
    return n, s, fma(scale, lost, rest) + a_low, p, lost


@inlined
def expm1(x: Any) -> Any:
    n, s, rest, p, lost = expm1_parts(min(max(x, -60.0), 710.0))
    y = 2.0 * (s + rest) if n != 0 else p + lost
    return y if x == x and x != 0.0 else x


@inlined
def tanh(x: Any) -> Any:
    n, s, rest, p, lost = expm1_parts(2.0 * min(abs(x), 20.0))
    e, e_low = fast_two_sum(s if n != 0 else 0.5 * p, rest if n != 0 else 0.5 * lost)  # (exp(2x) - 1) / 2
    b, b_low = two_sum(e, 1.0)
    q, q_low = quotient(e, e_low, b, b_low + e_low)
    y = signed_as(q + q_low, x)
    return y if x == x and x != 0.0 else x


# ---------------------------------------------------------------- logarithms


@inlined
def split(x: Any) -> Any:
    """The number m in [sqrt(1/2), sqrt(2)) and the k with x = m * 2**k, for a positive x."""
    is_tiny = x < TINY
    a = x * 2.0**54 if is_tiny else x
    e = (bits_of(a) - SQRT_HALF_BITS) >> 52
    k = float_of(e + SHIFT_BITS) - SHIFT
    return float_of(bits_of(a) - (e << 52)), k - 54.0 if is_tiny else k


@inlined
def log_of_parts(f: Any, k: Any, low: Any) -> Any:
    """log(1 + f) + k * log(2) + low."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * fma(w, fma(w, 1.531383769920937332e-01, 2.222219843214978396e-01), 3.999999999940941908e-01)
    odd = fma(w, fma(w, 1.479819860511658591e-01, 1.818357216161805012e-01), 2.857142874366239149e-01)
    odd = z * fma(w, odd, 6.666666666666735130e-01)
    h = 0.5 * f * f
    return k * LN2_HIGH - ((h - fma(s, h + odd + even, fma(k, LN2_LOW, low))) - f)


@inlined
def log(x: Any) -> Any:
    m, k = split(x)
    y = log_of_parts(m - 1.0, k, 0.0)
    y = y if x > 0.0 else (-np.inf if x == 0.0 else np.nan)
    return y if x < np.inf else x


@inlined
def log1p(x: Any) -> Any:
    u, lost = two_sum(1.0, x)
    m, k = split(u)
    is_small = k == 0.0
    y = log_of_parts(x if is_small else m - 1.0, k, 0.0 if is_small else lost / u)
    y = y if u > 0.0 else (-np.inf if x == -1.0 else np.nan)
    return y if x < np.inf and x != 0.0 else x


# ---------------------------------------------------------------- powers

# (log((1 + s) / (1 - s)) - 2 s - 2/3 s**3) / s**5, of s**2, for numbers in [sqrt(1/2), sqrt(2)]
log_tail = polynomial(
    0.3999999999999998, 0.2857142857144522, 0.22222222217510418, 0.18181818873514105, 0.15384556652508355,
    0.13336325833040436, 0.11674647538727198, 0.11990438508214799,
)  # fmt: skip


@inlined
def long_log(x: Any) -> Any:
    """log(x) of a positive number as a sum of two, to 65 bits."""
    m, k = split(x)
    f = m - 1.0
    b, b_low = fast_two_sum(2.0, f)
    s, s_low = quotient(f, 0.0, b, b_low)
    z, z_low = two_product(s, s)
    z_low = fma(2.0 * s, s_low, z_low)
    cube, cube_low = two_product(s, z)
    cube_low += fma(s, z_low, s_low * z)
    u, u_low = two_product(TWO_THIRDS, cube)  # 1.5 % of the whole, at most
    u_low += fma(cube * z, log_tail(z), fma(TWO_THIRDS, cube_low, TWO_THIRDS_LOW * cube))
    s_low *= 2.0
    u_low = fma(z * z, s_low, u_low) + s_low  # 2 s_low, and what it changes in the tail
    first, lost = fast_two_sum(k * LN2_HIGH, 2.0 * s)
    y, more = fast_two_sum(first, u)
    return fast_two_sum(y, more + (lost + fma(k, LN2_LOW, u_low)))


@inlined
def power(x: Any, y: Any) -> Any:
    """x**y."""
    size = abs(x)
    log_x, log_low = long_log(size)
    e, e_low = two_product(y, log_x)
    e_low = fma(y, log_low, e_low)
    log_x = log_x if size > 0.0 else -np.inf
    e = y * (log_x if size < np.inf else size)
    is_inside = abs(e) < 746.0
    found = exp_of_sum(min(max(e, -746.0), 710.0), e_low if is_inside else 0.0)
    half = 0.5 * y
    is_integer = np.floor(y) == y
    is_odd = is_integer and np.floor(half) != half
    found = 1.0 if size == 1.0 else found
    found = found if x >= 0.0 or is_integer or size == np.inf or size == 0.0 else np.nan
    found = signed_as(found, x) if is_odd else found
    found = found if x == x and y == y else x + y
    return 1.0 if y == 0.0 or x == 1.0 else found


# 1 / cbrt(m) for m in [1, 2], to 14 bits
inverse_cbrt = polynomial(
    1.6700094047538268, -1.1728877693980722, 0.6954904873696444, -0.22124139941236515, 0.028591612495937016
)


@inlined
def cbrt(x: Any) -> Any:
    size = abs(x)
    is_tiny = size < TINY
    a = size * 2.0**54 if is_tiny else size
    e = (bits_of(a) >> 52) - 1023
    m = float_of(bits_of(a) - (e << 52))
    k = float_of(e + SHIFT_BITS) - SHIFT
    third = fma(k, 1.0 / 3.0, -1.0 / 3.0) + SHIFT  # rounded down to a third of the exponent
    rest = k - 3.0 * (third - SHIFT)
    n = bits_of(third) - SHIFT_BITS
    z = inverse_cbrt(m)
    factor = 1.0 if rest == 0.0 else (0.7937005259840998 if rest == 1.0 else 0.6299605249474366)
    z *= factor
    m *= 1.0 if rest == 0.0 else (2.0 if rest == 1.0 else 4.0)
    h = fma(-m * z, z * z, 1.0)
    z = fma(z * h, fma(h, fma(h, 14.0 / 81.0, 2.0 / 9.0), 1.0 / 3.0), z)
    y = m * z * z
    square, low = two_product(y, y)
    cube, cube_low = two_product(square, y)
    y = fma((cube - m) + fma(low, y, cube_low), -z * z * (1.0 / 3.0), y)
    y = signed_as(y * power_of_two(n - 18 if is_tiny else n), x)
    return y if 0.0 < size < np.inf else x
