"""Jacobians whose directions run at once, beside those from a run for each."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives import batched
from tests.programs.corpus import PROGRAMS, Program
from tests.support.compare import number_of

TRANSFORMS = (s2sad.jacfwd, s2sad.jacrev, s2sad.hessian)


def refused(*args: Any) -> None:
    """In place of what takes all directions at once."""


def found(transform: Any, p: Program) -> Any:
    return transform(p.function, argnums=p.wrt[0])(*copy.deepcopy(p.args))


def assert_equal(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    elif isinstance(a, float):
        assert a == pytest.approx(b, nan_ok=True)


@pytest.mark.parametrize(
    "p", [pytest.param(p, id=p.name) for p in PROGRAMS if number_of(p.function) % 24 == 5]
)
def test_jacobians_of_the_corpus(p: Program, monkeypatch: Any) -> None:
    transform = TRANSFORMS[number_of(p.function) // 24 % 3]
    monkeypatch.setattr(batched, "FEWEST", 1)
    with monkeypatch.context() as one_by_one:
        one_by_one.setattr(batched, "pushforward", refused)
        one_by_one.setattr(batched, "pullback", refused)
        try:
            expected = found(transform, p)
        except s2sad.S2sadError:
            return
    assert_equal(found(transform, p), expected)


A, B = np.random.default_rng(1).normal(size=(2, 9, 9))


def layered(x: Any) -> Any:
    return A @ np.tanh(B @ x)


def diffused(u: Any, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[-1]
    return u


def likelihood(w: Any) -> Any:
    z = A @ w
    return np.sum(np.log1p(np.exp(z)) - z * z[0]) + 0.5 * w @ w


X = np.linspace(-1.0, 1.5, 9)


@pytest.mark.parametrize(
    ("transform", "f", "args"),
    [
        (s2sad.jacfwd, layered, (X,)),
        (s2sad.jacrev, layered, (X,)),
        (s2sad.jacobian, layered, (X,)),
        (s2sad.jacfwd, diffused, (X, 3)),
        (s2sad.jacrev, diffused, (X, 3)),
        (s2sad.hessian, likelihood, (X,)),
    ],
)
def test_all_directions_run_at_once(transform: Any, f: Any, args: Any, monkeypatch: Any) -> None:
    jacobian = transform(f)
    at_once = jacobian(*args)
    assert any(run is not None for run in batched._made.values())
    monkeypatch.setattr(batched, "pushforward", refused)
    monkeypatch.setattr(batched, "pullback", refused)
    np.testing.assert_allclose(at_once, jacobian(*args), rtol=1e-12, atol=1e-14)


def test_directions_run_in_parts(monkeypatch: Any) -> None:
    monkeypatch.setattr(batched, "FEWEST", 2)
    monkeypatch.setattr(batched, "MEMORY", 8 * 4 * 2)
    monkeypatch.setattr(batched, "_made", {})
    x, y, z = np.arange(3.0), 2.0, np.arange(4.0).reshape(2, 2)

    def f(x: Any, y: Any, z: Any) -> Any:
        return np.sin(x) * y + z[0, 1] * x[0] + z.sum() * np.ones(3)

    all_at_once = [t(f, argnums=(0, 1, 2))(x, y, z) for t in TRANSFORMS[:2]]
    assert None not in batched._made.values()
    monkeypatch.setattr(batched, "pushforward", refused)
    for at_once in all_at_once:
        for found, expected in zip(at_once, s2sad.jacfwd(f, argnums=(0, 1, 2))(x, y, z), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)


def test_what_a_function_changes_is_changed_once() -> None:
    calls: list[float] = []
    state = {"count": 0}

    def f(x: Any) -> Any:
        calls.append(1.0)
        state["count"] += 1
        return np.sin(x)

    np.testing.assert_allclose(s2sad.jacfwd(f)(X), np.diag(np.cos(X)))
    assert len(calls) == state["count"] == 1


def test_a_failing_run_raises_the_functions_own_error() -> None:
    def f(x: Any) -> Any:
        return x @ np.ones((4, 4))

    with pytest.raises(ValueError, match="mismatch"):
        s2sad.jacfwd(f)(X)


@pytest.mark.parametrize("transform", [s2sad.jacfwd, s2sad.jacrev])
def test_sparse_jacobians_of_many_colours(transform: Any, monkeypatch: Any) -> None:
    met = []
    monkeypatch.setattr(batched, "_made", {})

    def banded(u: Any) -> Any:
        met.append(len(met))
        v = np.zeros_like(u)
        for k in range(-5, 6):
            v[5:-5] += (k + 7.0) * np.sin(u[5 + k : len(u) - 5 + k]) * u[5:-5]
        return v

    x = np.linspace(0.5, 2.5, 40)
    found = transform(banded, sparsity=True)(x)
    assert found.nnz == 30 * 11 and len(met) == 1
    assert any(run is not None for run in batched._made.values()) == (transform is s2sad.jacfwd)
    monkeypatch.setattr(batched, "pushforward", refused)
    monkeypatch.setattr(batched, "pullback", refused)
    np.testing.assert_allclose(found.toarray(), transform(banded)(x), rtol=1e-12, atol=1e-14)
