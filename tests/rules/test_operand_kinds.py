"""Rules with operands that are no floating-point arrays: integers without a tangent, Python's numbers, and
values with more axes than the place that they are stored in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, vjp
from s2sad.runtime.adjoints import unbroadcast
from tests.support.build import build
from tests.support.compare import check_program

WHOLE = np.array([1, 2, 3, 5])
X = np.array([0.3, 1.2, 2.5, 0.7])

OF_INTEGERS = [
    "np.astype(n, float) * x",
    "np.asarray(n, dtype=float) * x",
    "np.polyfit(n, x, 1)",
    "np.polyval(n, x)",
    "np.polymul(n, x)",
    "np.polyadd(n, x)",
    "np.convolve(n, x)",
    "np.cov(n, x)",
    "np.average(x, weights=n)",
    "np.linalg.lstsq(np.stack([x, x ** 2], 1), n)[0]",
    "np.linalg.solve(n.reshape(2, 2) + np.eye(2), x[:2])",
    "np.linalg.inv(n.reshape(2, 2)) * x[0]",
    "np.linalg.norm(n) * x",
    "np.sum(n, dtype=float) * x",
    "np.cumsum(n, dtype=float) * x",
    "np.mean(n) * x",
    "np.var(n) * x",
    "np.median(n) * x",
    "np.prod(n) * x",
    "np.trapezoid(x, n)",
    "np.kron(n, x)",
    "np.dot(n, x)",
    "np.matmul(n.reshape(2, 2), x[:2])",
    "np.fft.fft(n).real * x",
]


@pytest.mark.parametrize("held", [(), (None,)], ids=["known", "unknown"])
@pytest.mark.parametrize("text", OF_INTEGERS)
def test_integers_take_part_without_a_tangent(text: str, held: tuple[Any, ...]) -> None:
    f = build(f"def f(d):\n    n, x = d[0], d[1]\n    return {text}\n")
    tangent = np.array([0.7, -0.2, 1.1, 0.4])
    kind = list if held else tuple
    out, dout = jvp(f, (kind([WHOLE, X, *held]),), (kind([None, tangent, *held]),))
    expected, change = jvp(f, ((WHOLE * 1.0, X),), ((0 * X, tangent),))
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    np.testing.assert_allclose(dout, change, rtol=1e-11, atol=1e-13)
    (d,) = vjp(f, kind([WHOLE, X, *held]))[1](np.ones_like(out))
    np.testing.assert_allclose(np.sum(d[1] * tangent), np.sum(dout), rtol=1e-9)


def test_the_tangent_of_small_integers_is_as_narrow() -> None:
    f = build("def f(n, x):\n    return np.polyval(n, x)\n")
    _, dout = jvp(f, (np.array([1, 2], np.int8), np.ones(3, np.float32)), (None, np.ones(3, np.float32)))
    assert dout.dtype == np.float32


OF_NUMBERS = [
    "ravel(z)",
    "reshape(z, (1, 1))",
    "expand_dims(z, 0)",
    "repeat(z, 3)",
    "roll(z, 1)",
    "cumsum(z)",
    "take(z, 0)",
    "compress([True], z)",
    "column_stack([[z], [z]])",
    "max(z)",
    "median(z)",
]


@pytest.mark.parametrize("z", [1.5, 1.5 + 0.5j, np.float32(1.5)])
@pytest.mark.parametrize("text", OF_NUMBERS)
def test_the_gradient_of_a_number_is_a_number(text: str, z: Any) -> None:
    f = build(f"def f(z):\n    return np.real(np.sum(np.{text}))\n")
    dz = grad(f)(z)
    assert isinstance(dz, type(z)), type(dz)
    assert dz == np.size(eval(text, vars(np), {"z": z}))


ZERO_DIMENSIONS = [
    "np.copy(x)",
    "np.require(x)",
    "np.where(True, x, y)",
    "np.where(x > y, x * y, y)",
    "np.array(x) * y",
    "np.reshape(x * y, ())",
]


@pytest.mark.parametrize("text", ZERO_DIMENSIONS)
def test_cotangents_without_dimensions_give_numbers(text: str) -> None:
    out, bprop = vjp(build(f"def f(x, y):\n    return {text}\n"), 1.5, 0.7)
    gradients = bprop(np.ones_like(out))
    assert all(isinstance(d, float) for d in gradients)
    check_program(build(f"def f(x, y):\n    return np.sin({text})\n"), (1.5, 0.7), (0, 1))


def test_an_array_without_dimensions_that_is_changed() -> None:
    f = build("def f(x):\n    y = np.copy(x)\n    y[...] = y * y\n    return y\n")
    check_program(f, (1.5,), (0,))


ALONG_NO_AXIS = [
    "np.cumsum(x, axis=0)",
    "np.cumprod(x, 0)",
    "np.repeat(x, [4], axis=0)",
    "np.convolve(x, y)",
    "np.convolve(y, x, 'same')",
]


@pytest.mark.parametrize("x", [1.5, np.float64(1.5)])
@pytest.mark.parametrize("text", ALONG_NO_AXIS)
def test_numbers_are_rows_of_one(text: str, x: Any) -> None:
    check_program(build(f"def f(x, y):\n    return np.sum({text} ** 2 * y)\n"), (x, X), (0, 1))


ROW = np.array([1.0, 2.0, 3.5])
WIDE = np.array([[2.0, -0.7, 0.9]])


@pytest.mark.parametrize(
    "store",
    [
        "x[...] = x * y",
        "x[...] = np.cumsum(y, axis=1)",
        "x[...] = np.cumsum(y, axis=0) * x",
        "x[:] = y[:, ::-1]",
        "x[1:] = np.exp(y[:, 1:])",
        "x[...] = y",
        "x[[0, 1]] = y[:, :2] * x[1:]",
    ],
)
def test_what_is_stored_may_have_axes_of_length_one_in_front(store: str) -> None:
    f = build(f"def f(x, y):\n    x = x.copy()\n    {store}\n    return np.sum(x ** 3)\n")
    check_program(f, (ROW, WIDE), (0, 1))


def test_other_cotangents_of_fewer_axes_are_errors() -> None:
    with pytest.raises(ValueError, match="does not belong"):
        unbroadcast(np.ones(3), np.ones((2, 3)))
