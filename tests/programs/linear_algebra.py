"""Products of vectors, matrices and stacks of them, and what is built on these."""

import numpy as np

from tests.programs.declare import positive, program, signed

V = signed(3)
W = signed(3, seed=1)
A = signed(2, 3, seed=2)
B = signed(3, 2, seed=3)
S = signed(4, 2, 3, seed=4)
T = signed(4, 3, 2, seed=5)


@program((V, W), (A, V), (V, B), (A, B), (S, T), (S, B), (A, T), (S, V), (V, T), wrt=(0, 1))
def matmul(x, y):
    return x @ y


@program((V, W), (A, V), (V, B), (A, B), wrt=(0, 1), second=True)
def matmul_sum(x, y):
    return np.sum(np.sin(np.matmul(x, y)))


@program((V, W), (A, V), (V, B), (A, B), (0.7, V), (S, V), wrt=(0, 1))
def dot(x, y):
    return np.dot(x, y)


@program((V, W), (A, B), wrt=(0, 1))
def dot_method(x, y):
    return x.dot(y) * 2.0


@program((V, signed(2, seed=1)), wrt=(0, 1), second=True)
def outer(x, y):
    return np.outer(x, y) ** 2


@program((V, W), wrt=(0, 1))
def inner(x, y):
    return np.inner(x, y) * np.vdot(x, y)


@program((A, B), wrt=(0, 1))
def chain(a, b):
    return a @ b @ a @ b


@program((signed(3, 3),), second=True)
def same_matrix(a):
    return a @ a + a.T @ a


@program((V, signed(3, 3, seed=1)), wrt=(0, 1), second=True)
def quadratic_form(x, a):
    return x @ a @ x


@program((V, positive(3, 3, seed=1)), wrt=(0,))
def power_iteration(x, a):
    for _ in range(3):
        x = a @ x
        x = x / np.sqrt(np.sum(x * x))
    return x @ (a @ x)


@program((A, B), wrt=(0, 1), second=True)
def einsum_product(a, b):
    return np.einsum("ij,jk->ik", a, b)


@program((signed(3, 3),))
def einsum_diagonal(a):
    return np.einsum("ii->i", a) * np.einsum("ii", a)


@program((S, V, W), wrt=(0, 1, 2))
def einsum_of_three(s, v, w):
    return np.einsum("bij,j,j->bi", s, v, w)


@program((S, T), wrt=(0, 1))
def einsum_implicit_and_dots(s, t):
    return np.einsum("...ij,...jk->...ik", s, t) + np.einsum("bij,bjk", s, t).sum()


@program((S, T), wrt=(0, 1))
def tensordot(s, t):
    return np.tensordot(s, t, axes=([0, 2], [0, 1]))


@program((A, V), wrt=(0, 1))
def tensordot_of_one_axis(a, v):
    return np.tensordot(a, v, axes=1)


@program((V,), second=True)
def norm(x):
    return np.linalg.norm(x) * np.linalg.norm(x - 3.0)


@program((signed(5, 3), signed(3, seed=1), 0.4), wrt=(0, 1, 2), quick=True)
def linear_model(x, w, b):
    return np.mean((x @ w + b - 1.0) ** 2) + 0.1 * (w @ w)


@program((signed(5, 3), signed(3, 4, seed=1), signed(4, seed=2), signed(4, seed=3)), wrt=(1, 2), second=True)
def two_layers(x, w, b, v):
    h = np.tanh(x @ w + b)
    return np.sum((h @ v) ** 2)


@program((signed(4, 2), signed(2, 3, seed=1), signed(3, 3, seed=2), np.zeros(3)), wrt=(0, 1, 2, 3))
def recurrent(xs, w, u, h):
    for x in xs:
        h = np.tanh(x @ w + h @ u)
    return h


@program((signed(3, 4), signed(3, 4, seed=1), signed(3, 4, seed=2)), wrt=(0, 1, 2), quick=True)
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return (weights / np.sum(weights, axis=1, keepdims=True)) @ v


@program((signed(4, 3), signed(2, 3, seed=1)), wrt=(0, 1))
def pairwise_distances(x, y):
    d = x[:, np.newaxis, :] - y[np.newaxis, :, :]
    return np.sqrt(np.sum(d * d, axis=-1))


@program((positive(3, 3) * 0.3, positive(3, seed=1)), wrt=(0, 1))
def conjugate_step(a, b):
    a = a @ a.T + np.eye(3)
    x = np.zeros(3)
    r = b - a @ x
    p = r
    for _ in range(2):
        step = (r @ r) / (p @ a @ p)
        x = x + step * p
        new = r - step * (a @ p)
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


@program((V, W), wrt=(0, 1))
def matmul_updates(x, y):
    m = np.outer(x, y)
    for _ in range(2):
        m = m @ np.outer(y, x) * 0.1
    return np.trace(m)


@program((positive(3, 3) * 0.3,), second=True)
def results_in_parts(a):
    s = a @ a.T + np.eye(3)
    total = 0.0
    for _ in range(2):
        s = 0.5 * s + np.eye(3)
        total = total + np.linalg.slogdet(s)[1]
    w, v = np.linalg.eigh(s)
    r = np.linalg.qr(s)[1]
    return total + np.linalg.eigh(s).eigenvalues[0] * np.linalg.svd(s)[1][0] + w[1] * v[0, 0] ** 2 * r[0, 1]


@program((np.array([0.3, 0.7, -0.4]),), (np.array([0.3, 0.7, -0.4], dtype="float32"),), second=True)
def integers_in_products(x):
    m = np.array([[1, 2, 0], [0, -1, 3]])
    n = np.array([1, 2, 3])
    a = np.outer(x, n) @ n
    return np.dot(m @ x, m @ a) + x @ n * (n @ x) + np.vdot(x * x, n) + np.inner(x, n) ** 2


@program(((1.5, 2.0), (0.1, 0.2), 0.6), ([1.5, 2.0], [0.1, 0.2], 0.6), wrt=(0, 1, 2), second=True)
def transfer_matrices(indices, depths, wavelength):
    m = np.eye(2, dtype=complex)
    for n, d in zip(indices, depths, strict=True):
        k = 2 * np.pi * n * d / wavelength
        m = m @ np.array([[np.cos(k), 1j * np.sin(k) / n], [1j * n * np.sin(k), np.cos(k)]])
    return np.abs(m[0, 0] + m[1, 0]) ** 2
