"""Places that differ from call to call, arrays of lists, and calls with keywords, in batched code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, jacfwd, vmap
from s2sad.transforms.errors import S2sadError

RNG = np.random.default_rng(0)
NUMBERS, VECTORS = np.linspace(0.1, 1.0, 5), RNG.normal(size=(5, 3))
MATRICES = RNG.normal(size=(5, 3, 3)) + 3 * np.eye(3)
SHARED = RNG.normal(size=(3, 3))


def turned(a: Any) -> Any:
    return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])


def turned_by_product(a: Any) -> Any:
    c, s = (np.cos(a), np.sin(a))
    return np.array([[c, -s, 0.0], [s, c, 0], [0, 0, 1]]) @ SHARED


def of_tuples(a: Any) -> Any:
    return np.array(((a, 1.0), (a * a, 2.0)))


def rows_of_vectors(x: Any) -> Any:
    return np.array([[x * 2, x], [x[::-1], x * x]])


def sorted_along(m: Any) -> Any:
    return np.sort(m, axis=0) * m


def norms(m: Any) -> Any:
    return np.linalg.norm(m, axis=1)


def tensordot(m: Any) -> Any:
    return np.tensordot(m, SHARED, axes=1)


def with_numbers(x: Any) -> Any:
    return np.concatenate([x, [x[0] * x[1], 2.0], x[::-1]])


def padded(x: Any) -> Any:
    return np.concatenate(([0.0], x, [1.0, 2.0]))


def beside(x: Any) -> Any:
    return np.hstack([x, [x[0]], 3.0 * x])


def above(x: Any) -> Any:
    return np.vstack([x, x * x])


def columns(x: Any) -> Any:
    return np.column_stack([x, x * x, np.ones(3)])


def matrices_beside(m: Any) -> Any:
    return np.hstack([m, m @ m])


def matrices_above(m: Any) -> Any:
    return np.vstack([m, m @ m])


def without_negatives(x: Any) -> Any:
    y = x.copy()
    y[y < 0] = 0.0
    return y * x


def scaled_mask(x: Any) -> Any:
    y = x * 1.0
    y[x < 0] *= 0.1
    return y * x


def two_masks(m: Any) -> Any:
    y = m * 2
    y[m > 3] = 1.5
    y[y < 0] += 2.0
    return y * m


def largest_replaced(x: Any) -> Any:
    y = x.copy()
    k = np.argmax(x)
    y[k] = x[0] * 7
    return y * x


def largest_added(x: Any) -> Any:
    y = np.zeros(3)
    k = np.argmax(x)
    y[k] += x[k] ** 2
    y[0] += x[1]
    return y


def row_replaced(m: Any) -> Any:
    y = m.copy()
    k = np.argmax(m[:, 0])
    y[k] = m[0] * 2
    y[k, 1] = 5.0
    return y * m


def column_replaced(m: Any) -> Any:
    y = m.copy()
    k = np.argmax(m[0])
    y[:, k] = m[0] * 2
    return y * m


def row_and_column(m: Any) -> Any:
    k = np.argmax(m[0])
    return m[k] * m[:, k]


def in_order(x: Any) -> Any:
    return x[np.argsort(x)] * np.arange(3.0)


def rows_in_order(m: Any) -> Any:
    return m[np.argsort(m[:, 0])]


def columns_in_order(m: Any) -> Any:
    return m[:, np.argsort(m[0])]


def item_picked(m: Any) -> Any:
    i = np.argmax(m[0])
    j = np.argmin(m[:, 0])
    return m[i, j] * m[0, 0]


def picked_of_shared(x: Any) -> Any:
    k = np.argmax(x)
    return SHARED[k] * x + SHARED[:, k] * x[0] + SHARED[k, 1]


def flat_stored(m: Any) -> Any:
    z = np.zeros(9)
    z[:] = m.reshape(-1)
    return z * z[0]


def base_of_flat_changes(m: Any) -> Any:
    y = m * 1.0
    z = y.reshape(9)
    y[0, 0] = 7.0
    return z * m[0, 0]


def flat_changes(m: Any) -> Any:
    y = m * 1.0
    z = y.reshape(9)
    z[4] = m[0, 0] * m[1, 1]
    return y * m


def held_flat_changes(m: Any) -> Any:
    y = m * 1.0
    held = [y.reshape(9)]
    held[0][4] = m[0, 0]
    return y * m


def ravelled_changes(m: Any) -> Any:
    y = m * 1.0
    z = np.ravel(y.T)
    z[4] = m[0, 0]
    return y * m


def diagonal_of_changed(m: Any) -> Any:
    y = m * 1.0
    d = np.diagonal(y)
    y[0, 0] = 9.0
    return d * m[0, 0]


def squeezed_of_changed(m: Any) -> Any:
    y = m * 1.0
    d = np.squeeze(y)
    y[0, 0] = 9.0
    return d * m[0, 0]


def row_of_changed(m: Any) -> Any:
    y = m * 1.0
    k = np.argmax(m[0])
    r = y[k]
    y[:] = m * 3
    return r * m[0, 0]


def row_changes(m: Any) -> Any:
    y = m * 1.0
    k = np.argmax(m[0])
    r = y[k]
    r[0] = m[1, 1]
    return y * m[0, 0]


def from_the_end(x: Any) -> Any:
    s = 0.0
    for v in reversed(x):
        s = s * v + v
    return s


def rows_from_the_end(m: Any) -> Any:
    s = np.zeros(3)
    for k, r in enumerate(reversed(m)):
        s = s * r + k * r
    return s


def convolved(x: Any) -> Any:
    return np.convolve(x, [1.0, 2.0], mode='same') * x


def small_matrix(x: Any) -> Any:
    A = np.array([[x[0], x[1]], [x[1], x[2]]])
    return np.linalg.inv(A + 3 * np.eye(2)) @ x[:2]


def block(m: Any) -> Any:
    return np.array([[m[0, 0], m[1, 1]], [m[0, 1], 1.0]]).sum(axis=0)


def appended_rows(x: Any) -> Any:
    rows = []
    for v in x:
        rows.append([v, v * v])
    return np.array(rows)


def list_of_tuples(x: Any) -> Any:
    pts = [(x[0], x[1]), (x[1], 2.0)]
    return np.array(pts) * x[2]


CASES = [
    (turned, NUMBERS),
    (turned_by_product, NUMBERS),
    (of_tuples, NUMBERS),
    (rows_of_vectors, VECTORS),
    (sorted_along, MATRICES),
    (norms, MATRICES),
    (tensordot, MATRICES),
    (with_numbers, VECTORS),
    (padded, VECTORS),
    (beside, VECTORS),
    (above, VECTORS),
    (columns, VECTORS),
    (matrices_beside, MATRICES),
    (matrices_above, MATRICES),
    (without_negatives, VECTORS),
    (two_masks, MATRICES),
    (largest_replaced, VECTORS),
    (largest_added, VECTORS),
    (row_replaced, MATRICES),
    (column_replaced, MATRICES),
    (row_and_column, MATRICES),
    (in_order, VECTORS),
    (rows_in_order, MATRICES),
    (columns_in_order, MATRICES),
    (item_picked, MATRICES),
    (picked_of_shared, VECTORS),
    (flat_stored, MATRICES),
    (from_the_end, VECTORS),
    (rows_from_the_end, MATRICES),
    (convolved, VECTORS),
    (small_matrix, VECTORS),
    (block, MATRICES),
    (appended_rows, VECTORS),
    (list_of_tuples, VECTORS),
]
OF_VIEWS = [
    base_of_flat_changes,
    flat_changes,
    held_flat_changes,
    ravelled_changes,
    diagonal_of_changed,
    squeezed_of_changed,
    row_of_changed,
    row_changes,
]


def check(f: Any, many: Any) -> None:
    before = many.copy()
    expected = np.stack([f(x) for x in many])
    np.testing.assert_allclose(vmap(f)(many), expected, rtol=1e-12, atol=1e-14)
    if many.ndim > 1:
        found = vmap(f, in_axes=1, out_axes=-1)(np.moveaxis(many, 0, 1))
        np.testing.assert_allclose(np.moveaxis(found, -1, 0), expected, rtol=1e-12, atol=1e-14)
    weights = np.random.default_rng(1).normal(size=expected.shape)
    found = grad(lambda m: np.sum(vmap(f)(m) * weights))(many)
    np.testing.assert_allclose(
        found, grad(lambda m: np.sum(np.stack([f(x) for x in m]) * weights))(many), rtol=1e-10, atol=1e-12
    )
    assert np.array_equal(many, before)


@pytest.mark.parametrize(("f", "many"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_batched_code_is_a_loop_over_the_calls(f: Any, many: Any) -> None:
    check(f, many)


@pytest.mark.parametrize("f", OF_VIEWS)
def test_views_that_change_are_refused_or_right(f: Any) -> None:
    try:
        vmap(f)(MATRICES)
    except S2sadError:
        return
    check(f, MATRICES)


@pytest.mark.parametrize("transform", [grad, jacfwd, hessian])
@pytest.mark.parametrize(
    ("f", "many"), [(without_negatives, VECTORS), (small_matrix, VECTORS), (norms, MATRICES)]
)
def test_derivatives_for_many_calls(transform: Any, f: Any, many: Any) -> None:
    def total(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    derivative = transform(f if transform is jacfwd else total)
    expected = np.stack([derivative(x) for x in many])
    np.testing.assert_allclose(vmap(derivative)(many), expected, rtol=1e-10, atol=1e-12)
    found = vmap(derivative, in_axes=-1, out_axes=1)(np.moveaxis(many, 0, -1))
    np.testing.assert_allclose(np.moveaxis(found, 1, 0), expected, rtol=1e-10, atol=1e-12)


def test_a_batched_hessian_is_differentiated() -> None:
    def cubes(x: Any) -> Any:
        return np.sum(x**3)

    found = grad(lambda m: np.sum(vmap(hessian(cubes))(m)))(VECTORS)
    np.testing.assert_allclose(found, np.full(VECTORS.shape, 6.0))
