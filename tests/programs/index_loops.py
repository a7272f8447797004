"""Loops over all indices of an array: `np.ndindex`, `np.ndenumerate`."""

import numpy as np

from tests.programs.declare import program

GRID = np.array([[0.5, 0.8, -1.3], [0.2, -0.6, 0.9]])
NONE = np.zeros((0, 3))


@program((GRID,), (NONE,), second=True)
def over_shape(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] ** 2 * (i + 1)
    return s


@program((GRID,), second=True, quick=True)
def over_counts(a):
    b = np.zeros(a.shape)
    for i, j in np.ndindex(2, 3):
        b[i, j] = a[i, j] * a[i - 1, j]
    return np.sum(b**2)


@program((GRID,), (NONE,), second=True)
def over_whole_indices(a):
    out = np.empty_like(a)
    for index in np.ndindex(*a.shape):
        out[index] = np.sin(a[index]) * (index[1] + 1)
    return np.sum(out**2)


@program((GRID,), second=True)
def counted_tuple_of_indices(a):
    s = 0.0
    for index in np.ndindex(2, 3):
        s = s + a[index] ** 2 * index[0]
    return s


@program((GRID, 0.7), (GRID, 5.0), (NONE, 0.7), wrt=(0,), second=True)
def index_loop_that_is_left(a, bound):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        if i == j:
            continue
        if a[i, j] > bound:
            break
        s = s + a[i, j] ** 2
    return s * 3.0


@program((GRID, 0.7), (GRID, 5.0), wrt=(0,), second=True)
def index_loop_that_returns(a, bound):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        if a[i, j] > bound:
            return s + a[i, j]
        s = s + a[i, j] ** 2
    return s


@program((GRID,), second=True, quick=True)
def indices_read_after_the_loop(a):
    i = j = 1
    for i, j in np.ndindex(0, 3):  # noqa: B007
        pass
    return a[i, j] ** 2


@program((GRID,), second=True)
def counts_that_change(a):
    n, s = 2, 0.0
    for i, j in np.ndindex(n, n):
        n = n + 1
        s += a[i, j] ** 2 * n
    return s


@program((GRID,), second=True)
def two_loops_over_indices(a):
    s = 0.0
    for i in np.ndindex(a.shape):
        s += a[i]
    for i in np.ndindex(a.shape):
        s += a[i] ** 2
    return s


@program((GRID,), (NONE,), second=True, quick=True)
def enumerated_elements(a):
    s = 0.0
    for (i, j), v in np.ndenumerate(a):
        s += v**2 * (i - j)
    return s


@program((GRID,), second=True, quick=True)
def enumerated_while_it_changes(a):
    a = a.copy()
    for index, v in np.ndenumerate(a):
        a[index] = v * np.sum(a[:, 0])
    return np.sum(a)


@program((GRID,), second=True)
def enumerated_pairs(a):
    s = 0.0
    for pair in np.ndenumerate(a):
        s = s + pair[1] ** 2 * pair[0][1]
    return s


@program((GRID[0],), second=True, quick=True)
def enumerated_vector_and_list(x):
    s = 0.0
    for (i,), v in np.ndenumerate(x):
        s += i * v * x[i]
    for _, v in np.ndenumerate([x[0], x[1] ** 2]):
        s += v
    return s


@program((GRID,), second=True)
def enumerated_in_comprehensions(a):
    return sum(v * index[0] for index, v in np.ndenumerate(a * 2.0)) + sum(
        [np.sin(v) for (i, j), v in np.ndenumerate(a) if i != j]
    )
