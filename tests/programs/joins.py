"""Arrays that are joined along an axis, and made of lists: what each of them is in the result."""

import numpy as np

from tests.programs.declare import program

X, Y = np.array([0.5, 0.8, 1.3]), np.array([-0.4, 1.1])
A, B = np.array([[0.5, 0.8, 1.3], [-0.2, 0.6, 0.9]]), np.array([[0.3, -0.7], [1.2, 0.1]])


@program((X, Y), (X, np.zeros(0)), (np.zeros(0), Y), wrt=(0, 1), second=True)
def joined_vectors(x, y):
    z = np.concatenate([x * x, y, x])
    return np.sum(z**3) + z @ z


@program((A, B), (A, np.zeros((2, 0))), wrt=(0, 1), second=True)
def joined_columns(a, b):
    z = np.concatenate((a, b * b, a[:, :1]), axis=-1)
    return np.sum(np.tanh(z) * z[::-1])


@program((A, B.T), wrt=(0, 1), second=True)
def sums_of_joined_rows(a, b):
    z = np.concatenate([a[:, :2] * a[:, 1:], b])
    return np.sum(z, axis=1) * np.array([1.0, 2.0, 3.0, 4.0]) * np.mean(np.stack([z, 2 * z]), axis=2)[0]


@program((X, 0.7), wrt=(0, 1), second=True, quick=True)
def joined_with_numbers(x, y):
    z = np.concatenate([[0.0, 1.0], x, [y, y * x[0]], [2.0]])
    return np.sum(np.diff(z) ** 2 * z[1:])


@program((X, 0.7), wrt=(0, 1), second=True)
def number_first(x, y):
    z = np.hstack([y, x, 1.5, y * y])
    return np.sum(z[1:] * z[:-1] ** 2)


@program((X, 0.7), wrt=(0, 1), second=True)
def array_of_numbers(x, y):
    z = np.array([x[0] * y, 2.0, y, x[2], 3])
    return np.sum(z**2 * z[0])


@program((0.7, 1.2), wrt=(0, 1), second=True)
def matrix_of_numbers(a, b):
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), b * np.cos(a)]])
    return np.sum((turn @ turn) ** 2 * turn[:, :1])


@program((X, X[::-1] * 2.0), wrt=(0, 1), second=True)
def block_of_vectors(x, y):
    z = np.array([[x, y * x], [np.ones(3), y]])
    return np.sum(z[0] * z[1] ** 2)


@program((X, X[::-1] * 2.0), wrt=(0, 1), second=True)
def stacked_vectors(x, y):
    z = np.stack([x, x * y, y], axis=1)
    w = np.stack((y, x), axis=-1)
    return np.sum(z**2) + np.sum(w[:, 0] * w[:, 1] * z[:, 2])


@program((A, X), wrt=(0, 1), second=True)
def vector_under_matrix(a, x):
    z = np.vstack([a, x * x, a[0]])
    return np.sum(z[1:] * z[:-1])


@program((B, Y), wrt=(0, 1), second=True)
def vector_beside_matrix(b, y):
    z = np.column_stack([y, b, y * 2])
    w = np.hstack([b, b * b])
    return np.sum(z**2) * np.sum(w * z)


@program((A,), second=True)
def joined_in_depth(a):
    z = np.dstack([a, a * a])
    w = np.dstack((z, a))
    return np.sum(z[..., 0] * w[..., 2] * w[..., 1])


@program((X, Y), wrt=(0, 1), second=True)
def joined_and_summed(x, y):
    return np.sum(np.concatenate([x * x, y])) * np.mean(np.array([x[0], y[1]]))


@program((X, Y), wrt=(0, 1), second=True, quick=True)
def joined_and_chosen(x, y):
    z = np.concatenate([x, y])
    return np.sum(np.where(z > 0.6, z**2, 3.0 * z))


@program((X, Y), wrt=(0, 1), second=True)
def list_read_twice(x, y):
    parts = [x * x, y]
    return np.sum(np.concatenate(parts) ** 2) + np.sum(parts[0])


@program((X, Y), wrt=(0, 1), second=True)
def list_joined_in_loop(x, y):
    parts = [x * x, y]
    total = 0.0
    for k in range(3):
        total = total + np.sum(np.concatenate(parts) ** k)
    return total


@program((X, Y), wrt=(0, 1), second=True)
def list_changed_before(x, y):
    parts = [x * x, y]
    parts.append(x)
    return np.sum(np.concatenate(parts) ** 2)


@program((X, Y), wrt=(0, 1), second=True)
def joined_then_changed(x, y):
    a = x * 2.0
    z = np.concatenate([a, y, a])
    a[1:] *= z[:2]
    z[0] = a[1] * z[3]
    return np.sum(z**2) + np.sum(a**3)


@program((X, Y), wrt=(0, 1), quick=True)
def changed_then_joined(x, y):
    a = x * 2.0
    parts = [a, y]
    a[1:] *= y
    return np.sum(np.concatenate(parts) ** 2)


@program((A, Y), wrt=(0, 1), second=True, quick=True)
def joined_in_loop(a, y):
    h = y * 1.0
    for row in a:
        z = np.concatenate([row, h])
        h = np.tanh(z[1:3] * z[-1])
    return np.sum(h)


@program((X, True), (X, False), second=True)
def joined_in_branch(x, flag):
    z = np.concatenate([x, x[:1]]) if flag else np.stack([x, x])
    return np.sum(z**2)


@program((X,), second=True, quick=True)
def shared_parts(x):
    a, b, c = np.split(x**2, 3)
    first, rest = np.array_split(x, [1])
    return np.sum(a * b * c) + first[0] * np.sum(np.concatenate([rest, a]))


@program((A,), second=True, quick=True)
def shared_columns(a):
    left, mid, right = np.hsplit(a, 3)
    top, low = np.vsplit(a, 2)
    gates = np.split(a @ a.T, 2, axis=1)
    return np.sum(left * mid / (2 + right)) + np.sum(top * low) + np.sum(gates[0] * gates[1] ** 2)


@program((X,), second=True)
def shared_and_read_again(x):
    parts = np.split(x**2, 3)
    a, b, _ = parts
    return np.sum(a * b) + parts[0][0] ** 3
