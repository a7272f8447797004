"""The same numbers in other shapes: reshaping, transposing, joining, making arrays of scalars."""

import numpy as np

from tests.programs.declare import program, signed

A = signed(2, 3)
B = signed(2, 3, 4)


@program((A,), second=True)
def reshaped(a):
    return np.reshape(a, (3, 2)) * 2.0 + a.reshape(3, 2) ** 2


@program((A,), quick=True)
def reshaped_with_unknown(a):
    return a.reshape(-1) * np.reshape(a, -1) + a.reshape((-1,))


@program((A,))
def reshaped_from_shape(a):
    rows, columns = a.shape
    return a.reshape(columns, rows) * rows


@program((A,), second=True)
def transposed(a):
    return a.T * 2.0 + np.transpose(a) ** 2 + a.transpose()


@program((B,))
def transposed_axes(a):
    return np.transpose(a, (2, 0, 1)) * a.transpose(2, 0, 1) + np.swapaxes(a, 0, 2).swapaxes(1, 2)


@program((A,))
def flattened(a):
    return np.ravel(a) * a.ravel() + a.flatten()


@program((signed(1, 3),))
def squeezed(a):
    return np.squeeze(a) * a.squeeze() + np.squeeze(a, axis=0)


@program((signed(3),), quick=True)
def expanded(x):
    return np.expand_dims(x, 1) * x + x[:, None] * x[np.newaxis, :]


@program((signed(3), signed(2, seed=1)), wrt=(0, 1), second=True)
def concatenated(x, y):
    z = np.concatenate([x, y, x * 2.0])
    return z * z


@program((A, signed(2, 2, seed=1)), wrt=(0, 1))
def concatenated_columns(a, b):
    return np.concatenate((a, b), axis=1) ** 2


@program((signed(3), signed(3, seed=1)), wrt=(0, 1), second=True)
def stacked(x, y):
    return np.stack([x, y, x * y]) ** 2


@program((signed(3), signed(3, seed=1)), wrt=(0, 1))
def stacked_last(x, y):
    return np.stack((x, y), axis=-1) * 2.0


@program((signed(3), signed(3, seed=1)), wrt=(0, 1))
def stacked_ways(x, y):
    return np.vstack([x, y]) * np.hstack([x[:1], y[:2]])


@program((0.7, 1.2), wrt=(0, 1), second=True)
def array_of_scalars(x, y):
    return np.array([x, y, x * y, 2.0]) ** 2


@program((0.7, 1.2), wrt=(0, 1))
def matrix_of_scalars(x, y):
    m = np.array([[x, 1.0], [y, x * y]])
    return m @ m


@program((0.7,))
def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ np.array([1.0, 2.0])


@program((signed(3), signed(3, seed=1)), wrt=(0, 1))
def array_of_rows(x, y):
    return np.array([x, y]) * np.asarray([y, x])


@program((signed(3),), quick=True)
def array_of_array(x):
    return np.array(x) * np.asarray(x) + x.copy()


@program((0.7,))
def array_of_a_float(x):
    return np.asarray(x) * 2.0


@program(([0.7, 1.2],))
def array_of_a_list(values):
    return np.array(values) ** 2


@program((signed(3),))
def broadcast(x):
    return np.broadcast_to(x, (2, 3)) * 2.0


@program((signed(3),), quick=True)
def tiled(x):
    return np.tile(x, 2) * np.repeat(x, 2)


@program((signed(4),), quick=True)
def flipped(x):
    return np.flip(x) * x[::-1] + np.roll(x, 1)


@program((signed(3, 3),))
def diagonals(a):
    return np.diag(a) * np.trace(a) + a.diagonal() * a.trace() + np.sum(np.diag(a[0]) * a)


@program((signed(3, 3),))
def triangles(a):
    return np.tril(a) @ np.triu(a)


@program((A,), quick=True)
def untouched_results(a):
    return a, a.T, a[0]


@program((A,), second=True)
def view_chain(a):
    b = a.T
    c = b.reshape(-1)
    d = c[1:5]
    return d * d


@program((signed(3),))
def to_python_and_back(x):
    first = x[0].item()
    return x * first + float(x[1])


@program((signed(3),), second=True, quick=True)
def nodes_of_a_quadrature(x):
    nodes, weights = np.polynomial.legendre.leggauss(len(x))
    return np.sum(weights * x**2 * nodes**2)
