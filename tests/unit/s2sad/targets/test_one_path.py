"""Code with one path: what it computes is what NumPy does, whatever lengths meet in later calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.targets import Settings
from s2sad.targets.numba_target import compiled_for

RNG = np.random.default_rng(0)
V, M = RNG.normal(size=5), RNG.normal(size=(3, 4))


def cut(a: Any, k: int) -> Any:
    part = np.exp(a[:k])
    return np.sum(a * part)


def cut_and_counted(a: Any, count: Any, k: int) -> Any:
    count[0] = count[0] + 1.0
    part = np.exp(a[:k])
    return np.sum(a * part) * count[0]


def scaled(x: Any, y: Any) -> Any:
    return np.exp(x) * y - x


@pytest.mark.parametrize("form", [s2sad.grad, s2sad.jvp, s2sad.vjp])
def test_lengths_that_differ_in_a_later_call(form: Any) -> None:
    wanted, compiled = form(cut, argnums="a"), form(cut, argnums="a", compile="numba")

    def result(derivative: Any, k: int) -> Any:
        if form is s2sad.jvp:
            return derivative(V, k, V)
        return derivative(V, k)[1](2.0) if form is s2sad.vjp else derivative(V, k)

    for k in (5, 7, 1, 5, 1):
        np.testing.assert_allclose(result(compiled, k), result(wanted, k), rtol=1e-13)
    with pytest.raises(ValueError, match="could not be broadcast"):
        result(compiled, 2)
    np.testing.assert_allclose(result(compiled, 5), result(wanted, 5), rtol=1e-13)


def test_a_function_with_effects_runs_once() -> None:
    compiled, count = s2sad.grad(cut_and_counted, "a", compile="numba"), np.zeros(2)
    for runs, k in ((1, 5), (2, 1), (3, 5)):
        dx = compiled(V, count, k)
        assert count[0] == runs
        np.testing.assert_allclose(dx, s2sad.grad(cut_and_counted, "a")(V, count - [1.0, 0.0], k), rtol=1e-13)


@pytest.mark.parametrize("shapes", [((3, 1), (1, 4)), ((3, 4), (3, 4)), ((1, 1), (3, 1))])
def test_code_for_axes_of_length_one_is_not_run_for_others(shapes: tuple[tuple[int, int], ...]) -> None:
    run = compiled_for(scaled, Settings(), "grad").version_for(tuple(map(np.ones, shapes)))
    for x, y in ((M, M), (M[:, :1].copy(), M), (M[:1].copy(), M[:, :1].copy()), (M[:0], M[:1])):
        np.testing.assert_allclose(run(x, y), scaled(x, y), rtol=1e-13)
    with pytest.raises(ValueError, match="could not be broadcast"):
        run(M, M[:2])


def test_shapes_of_arguments_that_change_between_calls() -> None:
    compiled, wanted = s2sad.grad(lambda x, y: np.sum(scaled(x, y)), (0, 1), compile="numba"), s2sad.grad(
        lambda x, y: np.sum(scaled(x, y)), (0, 1)
    )
    for x, y in ((M, M), (M, M[:1]), (M[:, :1], M), (M[0], M), (M[:1, :1], M[:, :1]), (M, M)):
        for dx, wanted_dx in zip(compiled(x, y), wanted(x, y), strict=True):
            np.testing.assert_allclose(dx, wanted_dx, rtol=1e-13)
            assert dx.shape == wanted_dx.shape
