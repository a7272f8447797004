"""Arrays element by element: operators and functions with broadcasting of every kind."""

import numpy as np

from tests.programs.declare import positive, program, signed


@program((signed(3), signed(3, seed=1)), (signed(2, 3), signed(2, 3, seed=1)), wrt=(0, 1), second=True)
def vector_arithmetic(x, y):
    return x * y - x / y + (x + 2.0) * 3.0 - y


@program((signed(2, 3), signed(3, seed=1)), wrt=(0, 1), second=True)
def matrix_and_row(a, b):
    return a * b + b


@program((signed(2, 3), signed(2, 1, seed=1)), wrt=(0, 1))
def matrix_and_column(a, c):
    return a * c - a / c


@program((signed(3, 1), signed(1, 4, seed=1)), wrt=(0, 1), second=True)
def column_and_row(c, r):
    return c * r + c


@program((0.7, signed(2, 3)), wrt=(0, 1), second=True)
def scalar_and_matrix(x, a):
    return x * a + a / x - x


@program((signed(4, 2, 3), signed(2, 1, seed=1), signed(3, seed=2)), wrt=(0, 1, 2))
def three_ranks(a, b, c):
    return a * b + b * c - a


@program((signed(1), signed(3, seed=1)), (signed(1, 1), signed(3, seed=1)), wrt=(0, 1))
def stretched_ones(x, y):
    return x * y + x


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), second=True)
def array_powers(x, y):
    return x**2 + x**y + 2.0**y + x**-0.5


@program((positive(3), 0.7), wrt=(0, 1))
def powers_broadcast(x, p):
    return x**p + p**x


@program((positive(3) + 5.0, positive(3, seed=1)), wrt=(0, 1))
def array_remainders(x, y):
    return x % y + np.mod(x, 2.3) - x // y


@program((signed(3),))
def array_negation(x):
    return -x * +x - np.negative(x)


@program((signed(3) * 0.5,), second=True)
def trigonometry(x):
    return np.sin(x) * np.cos(x) + np.tan(x) + np.arcsin(x / 2) - np.arccos(x / 2) + np.arctan(x)


@program((signed(3) * 0.5,), second=True)
def hyperbolics(x):
    return np.sinh(x) + np.cosh(x) * np.tanh(x) + np.arcsinh(x) + np.arctanh(x / 2)


@program((positive(3),), second=True)
def exponentials(x):
    return np.exp(-x) + np.log(x) * np.exp2(x) + np.expm1(x) - np.log1p(x) + np.log2(x) + np.log10(x)


@program((positive(3),), second=True)
def roots(x):
    return np.sqrt(x) + np.cbrt(x) + np.square(x) + np.reciprocal(x)


@program((positive(3), signed(3, seed=1)), wrt=(0, 1), second=True)
def functions_of_two(x, y):
    return np.arctan2(y, x) + np.hypot(x, y) + np.logaddexp(x, y) + np.power(x, y)


@program((positive(3), signed(2, 3, seed=1)), wrt=(0, 1))
def named_operators(x, y):
    return np.add(x, y) * np.subtract(x, y) + np.multiply(x, y) - np.divide(y, x)


@program((signed(5),))
def magnitudes(x):
    return np.abs(x) * np.sign(x) + np.fabs(x) + abs(x)


@program((signed(5), signed(5, seed=1)), wrt=(0, 1))
def extrema(x, y):
    return np.maximum(x, y) * 2.0 + np.minimum(x, 0.1) - np.maximum(0.0, y)


@program((signed(5) * 2.0,), quick=True)
def clipping(x):
    return np.clip(x, -1.0, 1.0) * x + x.clip(0.0, None)


@program((signed(5), signed(5, seed=1)), wrt=(0, 1), second=True, quick=True)
def selection(x, y):
    return np.where(x > 0, x * y, y**2)


@program((signed(5), 0.7), wrt=(0, 1))
def selection_broadcast(x, y):
    return np.where(x > 0, y, x * 2.0) + np.where(x < 0, 0.0, x)


@program((signed(5),))
def safe_selection(x):
    large = np.abs(x)
    return np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), large)


@program((signed(5),), second=True)
def relu_and_softplus(x):
    return np.maximum(x, 0.0) * x + np.logaddexp(0.0, x)


@program((signed(5) * 3.0,))
def rounding(x):
    return x * np.floor(x) + np.ceil(x) * x - np.round(x) + np.sign(x)


@program((positive(4),))
def constants_of_arrays(x):
    c = np.arange(4) * 0.5 + np.ones(4)
    return x * c + np.linspace(0.0, 1.0, 4) - np.zeros(4) + np.pi


@program((positive(4),))
def like_the_argument(x):
    return x * np.ones_like(x) + np.zeros_like(x) - np.full_like(x, 2.0) * x


@program((positive(4),), second=True)
def same_array_everywhere(x):
    return x * x / (x + x) - x**x


@program((signed(3), signed(3, seed=1)), wrt=(0, 1))
def comparison_masks(x, y):
    mask = (x > y) & (x > 0) | ~(y > 0.5)
    return x * mask + y * (x <= y)


@program((signed(2, 3), signed(3, seed=1)), wrt=(0, 1), second=True)
def long_elementwise_line(a, b):
    return np.sin(a * b + np.exp(-a * a)) * (1.0 - np.tanh(b) ** 2) / (2.0 + np.cos(a - b))


@program((positive(3),))
def python_scalars_around(x):
    return 2 * x + x * 3 - 1 / x + 2**x + (5 - x) / 4


@program((positive(3), 0.7), wrt=(1,))
def inactive_array(x, a):
    return np.sum(np.exp(x) * a)
