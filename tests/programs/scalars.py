"""Arithmetic on numbers: operators, the math module, comparisons, short circuits, conditional expressions."""

import cmath
import math

import numpy as np

from tests.programs.declare import program


@program((0.7,), (-1.3,), second=True, quick=True)
def identity(x):
    return x


@program((0.7, -1.2), wrt=(0, 1), second=True)
def sums(x, y):
    return x + y - 0.5 * x + (y - 2.0)


@program((0.7, -1.2), wrt=(0, 1), second=True)
def products(x, y):
    return x * y * x


@program((0.7, -1.2), (2.0, 3.0), wrt=(0, 1), second=True)
def quotients(x, y):
    return x / y + 1.0 / x - y / 3


@program((0.7, 1.2), (2.5, -0.4), wrt=(0, 1), second=True)
def powers(x, y):
    return x**y + x**2 - x**3.5 + 2.0**y


@program((0.7,), (-0.7,), second=True)
def integer_powers(x):
    return x**3 + x**1 + x**0 + x**-1 + x**-2


@program((7.3, 2.1), (-7.3, 2.1), wrt=(0, 1))
def remainders(x, y):
    return x % y + 0.25 * (x // y) * y + x % 1.0


@program((0.7,), second=True, quick=True)
def negations(x):
    return -x * -(x - 2.0) + -(-x) + (+x)  # noqa: B002


@program((0.4,), second=True)
def precedence(x):
    return -(x**2) + (1 + x) ** 2 / (2 - x) - (x - (1 - x)) * 2


@program((0.7,), quick=True)
def constant_result(x):
    return 1.5


@program((0.7, 2.0), wrt=(0, 1))
def unused_argument(x, y):
    return x * 3.0


@program((0.7, 2), wrt=(0,), second=True)
def integer_argument(x, n):
    return x * n + n / x + x**n


@program((0.6,), second=True, quick=True)
def same_operand_twice(x):
    return x * x + x / x - (x - x) + x**x


@program((1.3, 0.4), wrt=(0,))
def one_of_two(x, y):
    return math.exp(x * y) * y


@program((0.4,), second=True)
def math_functions(x):
    return math.sin(x) * math.cos(x) + math.tan(x) + math.exp(-x) * math.log(x + 1.0) + math.sqrt(x)


@program((0.4,), second=True)
def math_hyperbolic(x):
    return math.sinh(x) + math.cosh(x) * math.tanh(x)


@program((0.4,), second=True)
def math_inverse(x):
    return math.asin(x) + math.acos(x / 2) * math.atan(x) + math.asinh(x) + math.acosh(1 + x) + math.atanh(x)


@program((0.4, 1.7), wrt=(0, 1), second=True)
def math_of_two(x, y):
    return math.atan2(x, y) + math.hypot(x, y) * math.hypot(x, y, 2.0) + math.pow(y, x) + math.log(x, 3.0)


@program((0.4,), second=True)
def math_logarithms(x):
    return math.log1p(x) + math.log2(x) - math.log10(x) + math.expm1(x)


@program((2.4,), quick=True)
def math_rounding(x):
    return x * math.floor(x) + math.ceil(x) * 2.0 - math.fabs(-x)


@program((0.7,), second=True)
def numpy_on_a_float(x):
    return np.sin(x) + np.exp(x) * np.sqrt(x)


@program((np.float64(0.7), 1.2), wrt=(0, 1))
def numpy_scalar(x, y):
    return x * y + math.sin(x)


@program((1.7, -0.4), (-1.7, 0.4), wrt=(0, 1))
def absolute_values(x, y):
    return abs(x) * y + 3.0 * abs(x * y)


@program((1.7, -0.4), (-1.7, 0.4), wrt=(0, 1), quick=True)
def builtin_extrema(x, y):
    return max(x, y) * 2.0 - min(x, y, 0.1) + max(x * y, 0.0)


@program((1.7, -0.4), wrt=(0, 1))
def builtin_sum(x, y):
    return sum((x, y * y, x * y)) + sum([x, 1.0], y)


@program((1.7,))
def conversions(x):
    return float(x) * int(x) + x * bool(x)


@program((0.7,), second=True, quick=True)
def math_constants(x):
    return x * math.pi + math.e * np.pi


@program((0.3, 0.8), (0.8, 0.3), wrt=(0, 1))
def comparison_as_number(x, y):
    return x * (x < y) + y * (x >= y)


@program((0.3, 0.8), (0.8, 0.3), wrt=(0, 1), second=True)
def ternary(x, y):
    return x * x if x < y else x * y


@program((0.3,), (0.8,), (1.8,), second=True)
def nested_ternary(x):
    return (x if x < 0.5 else x**2) if x < 1.0 else x**3


@program((0.3,), (0.8,), (1.4,), second=True, quick=True)
def chained_comparison(x):
    return x**2 if 0.5 < x < 1.0 else x**3


@program((0.3, 0.4), (0.3, 1.4), (2.0, 2.5), wrt=(0, 1), quick=True)
def long_chain(x, y):
    return x * y if 0.0 <= x < y <= 2.0 != 1 else x - y


@program((0.3, 0.0), (0.3, 2.0), wrt=(0,))
def guarded_division(x, y):
    if y != 0.0 and x / y < 1.0:
        return x / y
    return x + y


@program((0.3, 0.0), (1.3, 2.0), wrt=(0,))
def short_circuit_or(x, y):
    if y == 0.0 or x / y > 1.0:
        return x * 2.0
    return x * 3.0


@program((0.3, 0.0), (0.3, 2.0), wrt=(0,))
def conditional_division(x, y):
    return x / y if y != 0 else x


@program((0.3, 2.0), (1.3, 2.0), wrt=(0, 1))
def values_of_and_or(x, y):
    a = x and y
    b = (x > 1.0 and y) or x * y
    return a * b


@program((0.0, 2.0), wrt=(1,))
def falsy_value(x, y):
    return (x or y) * y


@program((0.3, 2.0), (3.3, 2.0), wrt=(0, 1))
def negated_condition(x, y):
    return x * y if not x > 1.0 else x + y


@program((0.3, 2.0), (3.3, 2.0), (3.3, 0.2), wrt=(0, 1))
def three_way_and(x, y):
    c = x > 1.0 and y > 1.0 and not x + y > 10.0
    return x * y if c else x / y


@program((0.9, -0.3), wrt=(0, 1), second=True)
def deep_expression(x, y):
    return math.sin(math.exp(math.cos(x * y) + y) / (1.0 + math.tanh(x) ** 2)) * (x - math.sin(y * (x + y)))


@program((0.9,), second=True)
def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


@program((1.2, 0.3), wrt=(0, 1), second=True)
def horner(x, c):
    return ((c * x + 2.0) * x - c) * x + 1.0


@program((-1.3,), second=True)
def numbers_of_cmath(x):
    z = cmath.sqrt(x) * cmath.exp(1j * x)
    r, phi = cmath.polar(z + cmath.log(x))
    return abs(cmath.rect(r, phi * x) + 1) + cmath.phase(z) * z.imag


@program((1.5, 2), wrt=(0,), second=True)
def parts_of_complex_numbers(x, n):
    whole = complex(x, 2) * complex(-2, imag=x)  # of integers beside tangents
    return abs(whole * complex(x, n)) + complex(True, x).imag
