"""The comparison itself: that it accepts what is right and refuses what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support import compare
from tests.support.compare import assert_same, dot, flatten, numeric_jvp, random_like

X = np.array([0.3, -1.2])


def cube(x: Any) -> Any:
    return x**3


def engine(factor: float = 1.0, forward: float = 1.0, value: float = 0.0, shape: Any = None) -> Any:
    """The transforms as they would be for `cube`, with faults."""

    def bprop(x: Any) -> Callable[[Any], Any]:
        return lambda dout: (dout * 3 * x**2 * factor if shape is None else np.zeros(shape),)

    return SimpleNamespace(
        vjp=lambda f, argnums: lambda x: (x**3 + value, bprop(x)),
        jvp=lambda f, argnums: lambda x, dx: (x**3, dx * 3 * x**2 * factor * forward),
        grad=lambda f, argnums: lambda x: bprop(x)(1.0),
        value_and_grad=lambda f, argnums: lambda x: (x**3, bprop(x)(1.0)),
    )


@pytest.mark.parametrize("x", [X, 0.7, np.float64(0.7)])
def test_right_derivatives_are_accepted(monkeypatch: pytest.MonkeyPatch, x: Any) -> None:
    monkeypatch.setattr(compare, "s2sad", engine())
    compare.check_program(cube, (x,), (0,))


@pytest.mark.parametrize(
    "faults",
    [{"factor": 1.001}, {"forward": 1.00001}, {"factor": 1.00001, "forward": 0.99999}, {"value": 1e-15}],
)
@pytest.mark.parametrize("x", [X, 0.7])
def test_wrong_derivatives_are_refused(
    monkeypatch: pytest.MonkeyPatch, x: Any, faults: dict[str, Any]
) -> None:
    monkeypatch.setattr(compare, "s2sad", engine(**faults))
    with pytest.raises(AssertionError):
        compare.check_program(cube, (x,), (0,))


def test_wrong_shapes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "s2sad", engine(shape=(2, 1)))
    with pytest.raises(AssertionError, match="shape"):
        compare.check_program(cube, (X,), (0,))


def test_numeric_jvp() -> None:
    args = ({"a": X, "n": 3}, [0.5, 2.0])
    tangents = random_like(args, np.random.default_rng(0))

    def f(p: Any, q: Any) -> Any:
        return np.sin(p["a"]) * q[0], p["n"], q[1] ** p["n"]

    first, count, second = numeric_jvp(f, args, (0, 1), tangents)
    assert count is None
    expected = np.cos(X) * tangents[0]["a"] * 0.5 + np.sin(X) * tangents[1][0]
    np.testing.assert_allclose(first, expected, rtol=1e-10)
    np.testing.assert_allclose(second, 12.0 * tangents[1][1], rtol=1e-10)


def test_structures() -> None:
    tree = {"a": (1.0, 2, None), "b": [X, True, "text"]}
    assert [np.shape(leaf) for leaf in flatten(tree)] == [(), (2,)]
    assert dot(tree, tree) == pytest.approx(1.0 + X @ X)
    drawn = random_like(tree, np.random.default_rng(0))
    assert drawn["a"][1:] == (None, None) and drawn["b"][1:] == [None, None]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1.0, np.float64(1.0)), (0.0, -0.0), (X, X.astype(np.float32)), (X, X[None]), ((1.0,), [1.0]),
        (1.0, 1.0 + 2**-52), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (1, True),
    ],
)  # fmt: skip
def test_what_is_not_the_same(a: Any, b: Any) -> None:
    assert_same(a, a)
    with pytest.raises(AssertionError):
        assert_same(a, b)


def test_nan_is_the_same() -> None:
    assert_same((float("nan"), np.array([np.nan, 1.0])), (float("nan"), np.array([np.nan, 1.0])))
