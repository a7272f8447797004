"""Conversions that return the array that they are given: one array with two names, as in the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_second
from tests.support.compare_mutation import check_changing, check_changing_second

X = np.random.default_rng(3).uniform(0.3, 1.2, size=(2, 3))

SAME = [
    "np.asarray(y)",
    "np.asarray(y, float)",
    "np.asarray(y, dtype=np.float64)",
    "np.asarray(y, dtype='d')",
    "np.asarray(y, dtype=None)",
    "np.asanyarray(y)",
    "np.atleast_1d(y)",
    "np.atleast_2d(y)",
    "y.astype(float, copy=False)",
]
CHANGED = """
def f(x):
    y = x * 1.0
    v = {}
    v[0] = v[0] * 2.0 + x[0, 1]
    y[1, 1] = x[0, 0] ** 2
    v *= x[1, 0]
    return np.sum(v * v * v) + np.sum(y * y)
"""


@pytest.mark.parametrize("conversion", SAME)
def test_an_array_of_two_names(conversion: str) -> None:
    f = build(CHANGED.format(conversion))
    check_changing(f, (X,), (0,))
    check_changing_second(f, (X,), (0,))
    check_second(f, (X,), (0,))
    assert conversion[3:9] not in code(s2sad.grad(f), X)


COPIES = [
    "np.array(y)",
    "np.array(y, dtype=float)",
    "np.array(y, copy=True)",
    "y.astype(float)",
    "y.astype('float64', copy=True)",
]


@pytest.mark.parametrize("conversion", COPIES)
def test_a_copy(conversion: str) -> None:
    f = build(CHANGED.format(conversion))
    check_changing(f, (X,), (0,))
    check_changing_second(f, (X,), (0,))
    check_second(f, (X,), (0,))
    assert "v = np.copy(y)" in code(s2sad.grad(f), X)
    order = build(f"def f(x):\n    y = x.T * 1.0\n    return {conversion}.ravel(order='K')")
    out, _ = s2sad.vjp(order)(X)
    assert out.tobytes() == order(X).tobytes()


OTHERS = [
    "np.array(y, ndmin=3)",
    "np.array(y, dtype=np.float32)",
    "np.array(y, order='C')",
    "y.astype(complex).real",
    "np.asarray(y, dtype=np.float32)",
    "np.asarray(y, dtype=complex).real",
    "np.asarray(y, float, 'F')",
    "np.asarray(y, order='F')",
    "np.atleast_3d(y)",
    "np.ascontiguousarray(y)",
    "np.asarray([y[0], y[1]])",
]


@pytest.mark.parametrize("conversion", OTHERS)
def test_others_stay(conversion: str) -> None:
    f = build(f"def f(x):\n    y = x * 1.0\n    return np.sum({conversion} ** 3)")
    check_changing(f, (X,), (0,)) if "32" not in conversion else None
    assert conversion[2:8] in code(s2sad.grad(f), X)


def test_numbers_become_arrays() -> None:
    f = build("def f(x):\n    y = np.asarray(x, dtype=float)\n    return np.sum(np.atleast_1d(y) ** 3)")
    for x in (0.5, np.float64(0.5), np.array(0.5)):
        assert "np.asarray(x, dtype=float)" in code(s2sad.grad(f), x)
        assert np.isclose(s2sad.grad(f)(x), 0.75)
    assert "asarray" not in code(s2sad.grad(f), X[0])


def test_of_other_bytes_are_converted() -> None:
    f = build("def f(x):\n    y = np.asarray(x, dtype=float)\n    y[0] = 2.0\n    return np.sum(y * y)")
    swapped = X.astype(X.dtype.newbyteorder())
    np.testing.assert_allclose(s2sad.grad(f)(swapped), s2sad.grad(f)(X.copy()))


def test_subclasses_are_converted() -> None:
    class Labelled(np.ndarray):
        pass

    f = build("def f(x):\n    y = np.asarray(x)\n    return np.sum(y * y)")
    assert "np.asarray(x)" in code(s2sad.grad(f), X.view(Labelled))


def code(derivative: Any, x: Any) -> str:
    """The derivative without its comments."""
    lines = derivative.source_for(x).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def test_leave_to_overwrite_a_temporary_is_dropped() -> None:
    fft, linalg = pytest.importorskip("scipy.fft"), pytest.importorskip("scipy.linalg")

    def total(x: Any) -> Any:
        s = linalg.inv(x @ x.T, overwrite_a=True)[0, 1] + np.sum(fft.irfft(x, overwrite_x=False)) ** 2
        for k in range(2):
            s += np.sum(fft.irfft(x + k, n=5, overwrite_x=True) ** 2)
        return s

    s2sad.check_grads(total, (X,))

    def read_after(x: Any) -> Any:
        y = x * 2
        return fft.irfft(y, overwrite_x=True) * y[0]

    def overwritten_again(x: Any) -> Any:
        y = x * 2
        for _ in range(2):
            z = fft.irfft(y, overwrite_x=True)
        return z

    views = [lambda x: fft.irfft(x.T, overwrite_x=True), lambda x: fft.irfft(x, overwrite_x=True)]
    for f in (read_after, overwritten_again, *views):
        with pytest.raises(s2sad.MissingRuleError, match="does not cover argument `overwrite_x`"):
            s2sad.jvp(f)(X, X)
