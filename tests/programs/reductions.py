"""Reductions over all axes, some, one or none, as functions and as methods."""

import numpy as np

from tests.programs.declare import positive, program, signed

A = positive(2, 3)
B = positive(2, 3, 4)


@program((A,), second=True)
def sum_all(a):
    return np.sum(a) * a.sum()


@program((A,))
def sum_axes(a):
    return np.sum(a**2, axis=0) + a.sum(axis=0) * 2.0


@program((A, np.array([[0.3, -0.7], [1.2, 0.1], [0.4, 0.9]])), wrt=(0, 1), second=True, quick=True)
def sums_of_chosen(a, b):
    c = a @ b
    chosen = np.where(c > 1, c, 0.5 * np.cumsum(c, axis=1))
    return np.sum(chosen, axis=1) ** 2 + np.mean(np.where(c > 1, c * b[:2], c), axis=0)


@program((A,))
def sum_last_axis(a):
    return np.sum(a * a, axis=-1) * a.sum(1)


@program((B,))
def sum_of_two_axes(a):
    return a.sum(axis=(0, 2)) * np.sum(a, axis=(0, -1))


@program((A,), second=True)
def sum_kept(a):
    return a / np.sum(a, axis=1, keepdims=True)


@program((0.7,))
def sum_of_scalar(x):
    return np.sum(x) * x


@program((A,))
def means(a):
    return np.mean(a) * np.mean(a, axis=0) + a.mean(axis=0)


@program((A,), second=True)
def centred(a):
    d = a - a.mean(axis=0, keepdims=True)
    return d * d


@program((A,))
def products_over_axes(a):
    return np.prod(a) + np.prod(a, axis=0) * a.prod(axis=0)


@program((np.array([0.7, 0.0, 1.2]),))
def product_with_zero(x):
    return np.prod(x) + x.prod()


@program((A,))
def extrema_over_all(a):
    return np.max(a) * np.min(a) + a.max() - a.min()


@program((A,))
def extrema_of_axes(a):
    return np.max(a, axis=1) * np.min(a, axis=1) + a.max(axis=1)


@program((A,), quick=True)
def extrema_kept(a):
    return a - np.max(a, axis=1, keepdims=True)


@program((A,), second=True)
def variances(a):
    return np.var(a) + np.std(a) + a.var() * a.std()


@program((A,))
def variances_of_axes(a):
    return np.var(a, axis=1) + np.std(a, axis=1, ddof=1) * a.var(axis=1, ddof=1)


@program((signed(2, 3),), second=True, quick=True)
def log_sum_exp(a):
    top = np.max(a, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(a - top), axis=1)) + top[:, 0]


@program((signed(2, 3),), second=True, quick=True)
def softmax(a):
    e = np.exp(a)
    return e / np.sum(e, axis=-1, keepdims=True)


@program(
    (positive(3, 1, 4), positive(2, 1)),
    (positive(4), positive(3, 2, 1)),
    (positive(3, 2, 1), positive(1, 1)),
    (positive(2, 3, 4), positive(2, 3, 1)),
    (positive(1, 2, 1), positive(3, 1, 1)),
    wrt=(0, 1),
    second=True,
    quick=True,
)
def sums_of_broadcast_products(a, b):
    both = np.sum(a * b, axis=1) * np.sum(a / b, axis=(0, -1))[0]
    return both + np.sum((a + 1) * b, axis=(1, 2), keepdims=True)[0]


@program((positive(3, 1, 2), positive(3, 2)), wrt=(0, 1), second=True, quick=True)
def contraction_by_a_sum(a, b):
    return np.sum(np.sum(a * b[:, :, np.newaxis], axis=1) * a[:, 0], axis=0)


@program((positive(4),))
def cumulative(x):
    return np.cumsum(x) * x + x.cumsum()


@program((positive(4),))
def argument_of_extremum(x):
    return x[np.argmax(x)] * x[x.argmin()]


@program((positive(4),), quick=True)
def counts(x):
    return x * x.size + x.shape[0] * np.size(x) + x.ndim * len(x)


@program((signed(6),))
def counted(x):
    return np.sum(x) / np.sum(x > 0) + np.count_nonzero(x) * x[0]


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), second=True)
def squared_distance(x, y):
    return np.sum((x - y) ** 2)


LABELS = (signed(8, seed=2) > 0).astype(float)


@program((signed(3), 0.2, signed(8, 3, seed=1), LABELS), wrt=(0, 1), second=True)
def logistic_loss(w, b, x, y):
    z = x @ w + b
    return np.mean(np.logaddexp(0, z) - y * z)


@program((A,), quick=True)
def sum_by_method_chain(a):
    return (a * 2.0).sum(axis=0).mean() * a.T.sum()


@program((A,))
def builtin_sum_of_rows(a):
    return sum(a)


@program((positive(4),))
def builtin_extrema_of_array(x):
    return max(x) * min(x)
