"""Functions that write into arrays that they did not make: closures, partial applications, work arrays."""

import functools

import numpy as np

from tests.programs.declare import program, signed

WORK = np.zeros(4)


def writer(items, k):
    def put(v):
        items[k] = v * items[k]

    return put


def scale(items, k, factor=2.0):
    items[k:] *= factor


def second_differences(u):
    WORK[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    WORK[0] = WORK[-1] = 0.0
    return WORK


@program((signed(4), 0.7), wrt=(0, 1), quick=True)
def writers_in_a_dict(x, s):
    y = x * s

    def first(v):
        y[0] = v

    def rest(v):
        y[1:] *= v

    writers = {"first": first, "rest": rest}
    for name in ("rest", "first", "rest"):
        writers[name](s * s)
    return np.sum(y * x)


@program((signed(4), 0.7), (signed(4), -0.7), wrt=(0, 1), quick=True)
def writer_chosen(x, s):
    y = x * s
    change = (lambda v: np.multiply(y, v, out=y)) if s > 0 else lambda v: np.add(y, v, out=y)
    for _ in range(2):
        change(x)
    return np.sum(y * y)


@program((signed(4), 0.7), wrt=(0, 1), quick=True)
def writers_made_by_a_function(x, s):
    y = x * s
    for change in (writer(y, 0), writer(y, 2)):
        change(s)
        change(x[1])
    return np.sum(y * x)


@program((signed(4), 0.7), wrt=(0, 1), quick=True)
def writing_partial_application(x, s):
    y = x * s
    scale_y = functools.partial(scale, y, factor=s)
    scale_y(1)
    scale_y(2, factor=x[0])
    return np.sum(y * x)


@program((signed(4), 0.3), wrt=(0, 1), quick=True)
def work_array_of_the_module(x, s):
    u = x
    for _ in range(3):
        u = u + s * second_differences(u)
    return np.sum(u * u)


@program((signed(3),), second=True, quick=True)
def comparisons_into_arrays(x):
    marked = np.zeros(3, dtype=bool)
    count = np.zeros(3, dtype=int)
    total = 0.0
    for i in range(3):
        np.greater(x, 0.3 * i - 0.7, out=marked)
        np.logical_and(marked, x < 2.0, out=marked)
        count += marked
        total = total + np.sum(np.where(marked, x**2, x))
    np.isfinite(x, where=marked, out=marked)
    return total + np.sum(count * x) + np.sum(x[marked] ** 3)
