"""Loops that run to their end: over everything that can be iterated."""

import math

import numpy as np

from tests.programs.declare import positive, program


@program((0.8, 4), (0.8, 0), wrt=(0,), second=True)
def power_by_loop(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@program((0.8,), second=True)
def integer_accumulator(x):
    s = 0
    for i in range(3):
        s += x**i
    return s


@program((0.8, 5), wrt=(0,), second=True)
def recurrence(x, n):
    s = x
    for _ in range(n):
        s = math.sin(s) * x + 0.5 * s
    return s


@program((0.8, 2, 9, 3), (0.8, 5, 2, 1), wrt=(0,))
def range_of_three(x, start, stop, step):
    s = x
    for i in range(start, stop, step):
        s = s * x + i
    return s


@program((0.8,), second=True)
def downward_range(x):
    s = 1.0
    for i in range(5, 0, -2):
        s = s * x + i * x
    return s


@program((0.8, 3), (0.8, 0), wrt=(0,))
def counter(x, n):
    count = 0
    s = x
    for _ in range(n):
        count += 1
        s = s + count * x * x
    return s * (count + 1)


@program((0.8,), second=True)
def loop_variable_in_arithmetic(x):
    s = 0.0
    for k in range(1, 6):
        s += (-1.0) ** k * x**k / k
    return s


@program((0.8, 3), wrt=(0,))
def loop_variable_after_loop(x, n):
    for i in range(n):  # noqa: B007
        x = x * 1.5
    return x * i


@program((positive(4),))
def element_after_loop(xs):
    for x in xs:  # noqa: B007
        pass
    return x * x


@program((positive(5),), (positive(0),), second=True)
def over_array(xs):
    s = 0.0
    for x in xs:
        s = s + x * x
    return s


@program((positive(3, 2), positive(2, seed=1)), wrt=(0, 1), second=True)
def over_rows(xs, w):
    h = w
    for row in xs:
        h = np.tanh(row * h + w)
    return np.sum(h)


@program((positive(5),), second=True)
def by_index(xs):
    s = 0.0
    for i in range(len(xs)):
        s = s + xs[i] ** 2 * i
    return s


@program((positive(5),))
def neighbours(xs):
    s = 0.0
    for i in range(1, len(xs) - 1):
        s += (xs[i - 1] - 2.0 * xs[i] + xs[i + 1]) ** 2
    return s


@program((positive(3, 4),))
def two_indices(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s + a[i, j] * a[i, j] * (i + j)
    return s


@program((positive(4, 4),))
def triangular(a):
    s = 0.0
    for i in range(4):
        for j in range(i):
            s = s + a[i, j] * a[j, i]
    return s


@program(([0.7, 1.1, -0.4],), ([],))
def over_list(xs):
    s = 1.0
    for x in xs:
        s = s * (1.0 + x)
    return s


@program((0.7, 1.2), wrt=(0, 1), second=True)
def over_tuple(x, y):
    s = 0.0
    for v in (x, y, x * y, 2.0):
        s = s + v * v
    return s


@program((0.7, 1.2), wrt=(0, 1))
def over_list_display(x, y):
    s = 1.0
    for v in [x, y, x + y]:
        s *= v
    return s


@program((positive(4), positive(4, seed=1)), wrt=(0, 1), second=True)
def over_zip(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):  # noqa: B905
        s = s + x * y * y
    return s


@program((positive(5), [0.3, 0.4, 0.5]), wrt=(0, 1))
def over_uneven_zip(xs, ws):
    s = 0.0
    for x, w, k in zip(xs, ws, range(10)):  # noqa: B905
        s = s + x * w * k
    return s


@program((positive(4),), second=True)
def over_enumerate(xs):
    s = 0.0
    for i, x in enumerate(xs):
        s = s + x**2 * (i + 1)
    return s


@program((positive(4),))
def over_enumerate_from(xs):
    s = 0.0
    for i, x in enumerate(xs, start=2):
        s = s * 0.5 + x**i
    return s


@program((positive(4), 0.7), wrt=(0, 1), second=True)
def over_reversed(xs, t):
    s = 0.0
    for c in reversed(xs):
        s = s * t + c
    return s


@program((positive(4),))
def over_reversed_range(xs):
    s = 0.0
    for i in reversed(range(4)):
        s = s * 0.5 + xs[i] * i
    return s


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), quick=True)
def over_enumerated_zip(xs, ys):
    s = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):  # noqa: B905
        s = s + (x - y) ** 2 * i
    return s


@program(([(0.7, 1.1), (0.2, -0.4)],))
def over_pairs(pairs):
    s = 0.0
    for a, b in pairs:
        s = s + a * a * b
    return s


@program((positive(2, 3),))
def unpacking_rows_in_head(points):
    s = 0.0
    for x, y, z in points:
        s = s + x * y - z
    return s


@program(({"a": 0.7, "b": positive(2)},))
def over_keys(params):
    s = 0.0
    for name in ("a", "b"):
        s = s + np.sum(params[name] ** 2)
    return s


@program((0.3, 0.9), wrt=(0, 1), second=True)
def pendulum_by_a_closure(x, k):
    def force(q, v):
        return -k * math.sin(q) - 0.1 * v

    q, v = x, 0.0
    for _ in range(5):
        v += 0.1 * force(q, v)
        q += 0.1 * v
    return q**2 + v**2
