"""Jacobians, Hessians and products with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import NonDifferentiableError, grad, hessian, hvp, jacfwd, jacobian, jacrev
from tests.support.compare import assert_same

MODES = pytest.mark.parametrize("jac", [jacobian, jacfwd, jacrev])
A = np.arange(6.0).reshape(2, 3)


def numeric(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """The Jacobian of a function of one array by central differences."""
    columns = []
    for k in np.ndindex(np.shape(x)):
        unit = np.zeros(np.shape(x))
        unit[k] = step
        columns.append((f(x + unit) - f(x - unit)) / (2 * step))
    return np.moveaxis(
        np.array(columns).reshape(np.shape(x) + np.shape(f(x))), range(np.ndim(x)), range(-np.ndim(x), 0)
    )


@MODES
@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: A @ x, np.array([1.0, 2.0, 3.0])),
        (lambda x: np.sin(x) * x, np.array([1.0, 2.0, 3.0])),
        (lambda x: np.sum(x * x), np.array([1.0, 2.0])),
        (lambda x: x @ x.T, A + 1),
        (lambda x: np.outer(x, x), np.array([1.0, 2.0])),
        (lambda x: np.array([x, x * x, 3.0]), 2.0),
        (lambda x: np.exp(x), 0.5),
        (lambda x: np.sum(np.abs(x[x > 1.5])), np.array([1.0, 2.0, 3.0])),
        (lambda x: np.ones(2), np.array([1.0, 2.0, 3.0])),
        (lambda x: x[:0], np.array([1.0, 2.0])),
    ],
)
def test_shapes_and_values(jac: Any, f: Callable[[Any], Any], x: Any) -> None:
    found = jac(f)(x)
    assert np.shape(found) == np.shape(f(x)) + np.shape(x)
    np.testing.assert_allclose(found, numeric(f, x), rtol=1e-6, atol=1e-8)


@MODES
def test_several_arguments(jac: Any) -> None:
    def f(w: Any, x: Any, b: float) -> Any:
        return w @ x + b

    w, x, b = A, np.array([1.0, 2.0, 3.0]), 0.5
    assert_same(jac(f, argnums=1)(w, x, b), w)
    assert_same(jac(f, argnums="x")(w, x=x, b=b), w)
    dw, db = jac(f, argnums=(0, -1))(w, x, b)
    np.testing.assert_allclose(dw, np.einsum("ij,k->ijk", np.eye(2), x))
    np.testing.assert_allclose(db, [1.0, 1.0])


@MODES
def test_structures(jac: Any) -> None:
    def f(p: dict[str, Any], n: int) -> Any:
        return {"u": p["a"] * p["b"] * n, "v": [p["b"] ** 2, 7]}

    found = jac(f)({"a": np.array([1.0, 2.0]), "b": 3.0}, 2)
    np.testing.assert_allclose(found["u"]["a"], 6.0 * np.eye(2))
    np.testing.assert_allclose(found["u"]["b"], [2.0, 4.0])
    np.testing.assert_allclose(found["v"][0]["a"], [0.0, 0.0])
    assert found["v"][0]["b"] == 6.0
    assert found["v"][1] is None


@MODES
def test_complex(jac: Any) -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(jac(lambda z: z**2)(z), np.diag(2 * z))


@MODES
def test_float32(jac: Any) -> None:
    found = jac(lambda x: x * x)(np.array([1.0, 2.0], dtype="float32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.diag([2.0, 4.0]))


def test_hessian() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3) + x[0] * x[1]

    x = np.array([1.0, 2.0, 3.0])
    expected = np.diag(6 * x)
    expected[0, 1] = expected[1, 0] = 1.0
    np.testing.assert_allclose(hessian(f)(x), expected)
    np.testing.assert_allclose(hessian(f)(x), numeric(grad(f), x), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(hessian(f)(x) @ x, hvp(f)(x, x))
    assert hessian(lambda x: x**4)(2.0) == 48.0
    matrix = hessian(lambda m: np.sum(m @ m))(A[:, :2] + 1.0)
    assert matrix.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(matrix, np.transpose(matrix, (2, 3, 0, 1)))


def test_hessian_by_several_arguments() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x * x) * y

    x, y = np.array([1.0, 2.0]), 3.0
    (xx, xy), (yx, yy) = hessian(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(xx, 2 * y * np.eye(2))
    np.testing.assert_allclose(xy, 2 * x)
    np.testing.assert_allclose(yx, 2 * x)
    assert yy == 0.0


def test_jacobians_of_gradients_and_of_jacobians() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(jacrev(grad(lambda x: np.sum(x**3)))(x), np.diag(6 * x))
    np.testing.assert_allclose(jacfwd(jacrev(lambda x: np.sum(x**3)))(x), np.diag(6 * x))
    third = jacobian(hessian(lambda x: np.sum(x**3)))(x)
    np.testing.assert_allclose(third, np.einsum("i,ij,ik->ijk", [6.0, 6.0], np.eye(2), np.eye(2)))


@pytest.mark.parametrize("transform", [jacobian, jacfwd, jacrev, hessian])
def test_they_look_like_the_function(transform: Any) -> None:
    import inspect

    def f(x: Any, scale: float = 2.0) -> Any:
        return np.sum(x**2) * scale

    made = transform(f)
    assert made.__name__ == f"f_{transform.__name__}"
    assert inspect.signature(made) == inspect.signature(f)
    assert "def " in made.source
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(made(x, scale=4.0), 2 * np.asarray(made(x)))


def relaxed(u: Any, n: int) -> Any:
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] * u[i + 1])
    return u * u[1]


WORK = np.zeros(2)
count = 0


def remembering(x: Any) -> Any:
    global count
    count += 1
    WORK[0] += x[0] * x[1]
    return WORK[0] * count * x


@MODES
def test_a_function_that_changes_its_argument(jac: Any) -> None:
    u = np.array([0.5, 1.5, 0.7, 2.0, 1.1])
    changed = u.copy()
    relaxed(changed, 2)
    expected = numeric(lambda x: relaxed(x.copy(), 2), u)
    np.testing.assert_allclose(jac(relaxed)(u, 2), expected, rtol=1e-8)
    assert_same(u, changed)


@MODES
def test_a_function_that_changes_what_is_around_it(jac: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "WORK", np.zeros(2))
    monkeypatch.setitem(globals(), "count", 0)
    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(jac(remembering)(x), [[12.0, 4.0], [9.0, 12.0]], rtol=1e-14)
    assert count == 1 and WORK[0] == 6.0


def test_second_derivatives_of_a_function_that_changes_its_argument() -> None:
    def total(u: Any) -> Any:
        return np.sum(relaxed(u, 2))

    def apart(u: Any) -> Any:
        return np.sum(relaxed(u.copy(), 2))

    u, v = np.array([0.5, 1.5, 0.7, 2.0, 1.1]), np.arange(5.0)
    np.testing.assert_allclose(hessian(total)(u.copy()), hessian(apart)(u), rtol=1e-14)
    np.testing.assert_allclose(hvp(total)(u.copy(), v), hvp(apart)(u, v), rtol=1e-14)


@MODES
def test_a_function_without_return_is_refused(jac: Any) -> None:
    def f(x: Any) -> None:
        x**2

    with pytest.raises(NonDifferentiableError, match="the function returned None"):
        jac(f)(np.ones(3))
