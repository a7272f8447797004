"""Loops over several threads: the same bits for any number of them, and serial where that is not proven."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import s2sad
from s2sad.targets import numba_target

Array = np.ndarray
RNG = np.random.default_rng(0)
PARALLEL: dict[str, Any] = {"compile": "numba", "parallel": True}
LONG = RNG.normal(size=70_001)


def waves(x: Array) -> Array:
    return np.sum(np.sqrt(1.0 + x * x))


def rows(x: Array, w: Array, b: float) -> Array:
    return np.mean(np.tanh(x @ w + b) ** 2) + np.sum(np.exp(x - np.max(x, axis=1)[:, None]))


def distances(x: Array, y: Array) -> Array:
    return np.sum(np.exp(-np.sum((x[:, None, :] - y) ** 2, axis=2)))


def stencil(u: Array) -> Array:
    return np.sum((u[2:] - 2.0 * u[1:-1] + u[:-2]) ** 2)


def stencil_of_two(u: Array) -> Array:
    inner = u[1:-1, 1:-1]
    return np.sum((u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner) ** 2 * inner)


def stored(x: Array) -> Array:
    y = x * x
    y[1:] *= 2.0
    view = y[:-1]
    view += np.sin(x[1:])
    y[0] = 3.0
    return np.sum(y * x)


def picked(x: Array, places: Array) -> Array:
    return np.sum(np.sin(x[places]) * x[places])


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]] = [
    (rows, (RNG.normal(size=(10_007, 7)), RNG.normal(size=7), 0.3), (0, 1, 2)),
    (distances, (RNG.normal(size=(300, 3)), RNG.normal(size=(301, 3))), (0, 1)),
    (stencil_of_two, (RNG.normal(size=(301, 299)),), (0,)),
    (stored, (LONG,), (0,)),
    (picked, (LONG, RNG.integers(0, 100, 80_000)), (0,)),
]


@pytest.mark.parametrize(("f", "args", "argnums"), PROGRAMS, ids=[f.__name__ for f, *_ in PROGRAMS])
def test_same_bits(f: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...]) -> None:
    derivative = s2sad.grad(f, argnums, **PARALLEL)
    found = []
    most = numba.get_num_threads()
    for threads in {1, most}:
        numba.set_num_threads(threads)
        found += [derivative(*args) for _ in range(3)]
    wanted = s2sad.grad(f, argnums)(*args)
    for gradients in found:
        for a, first, b in zip(gradients, found[0], wanted, strict=True):
            np.testing.assert_array_equal(a, first)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.max(np.abs(b)))


def columns(x: Array, y: Array) -> Array:
    return np.sum(np.exp(x) * y + np.sum(x * y, axis=0))


def test_small_and_empty_arrays() -> None:
    plain, compiled = (s2sad.grad(columns, (0, 1), **how) for how in ({}, PARALLEL))
    for shape in [(0, 3), (1, 3), (5, 0), (40_000, 1)]:
        x, y = RNG.normal(size=shape), RNG.normal(size=shape[1:])
        for a, b in zip(compiled(x, y), plain(x, y), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
            assert a.shape == b.shape


def in_place(x: Array, y: Array) -> None:
    x *= np.sin(y)


def test_arguments_that_are_changed() -> None:
    x, y, dx = (RNG.normal(size=70_001) for _ in range(3))
    found = []
    for how in ({}, PARALLEL):
        given = x.copy(), y.copy()
        _, bprop = s2sad.vjp(in_place, outputs="x", **how)(*given)
        found.append((*given, *bprop(dx.copy())))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def split_loops(f: Callable[..., Any], *args: Any, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the loops of a gradient are split over threads."""
    found = []

    def noted(*given: Any) -> Any:
        made, called = with_loops(*given)
        found.extend(bool(loops.parts) for loops in made)
        return made, called

    with_loops = numba_target.with_loops
    monkeypatch.setattr(numba_target, "with_loops", noted)
    s2sad.grad(f, **PARALLEL)(*args)
    return found


def test_carried_dependences_stay_serial(monkeypatch: pytest.MonkeyPatch) -> None:
    assert split_loops(stencil, np.ones(5), monkeypatch=monkeypatch)[-1] is False


def test_independent_iterations_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(split_loops(distances, np.ones((3, 2)), np.ones((4, 2)), monkeypatch=monkeypatch))


SCRIPT = """
import hashlib, numpy as np, s2sad
from tests.unit.s2sad.targets.test_emit_parallel import LONG, waves
found = s2sad.value_and_grad(waves, compile="numba", parallel=True, cache=True)(LONG)
print(hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in found)).hexdigest())
"""


def test_processes_with_other_numbers_of_threads(tmp_path: Any) -> None:
    """The second process of each number of threads finds the machine code on disk."""
    found = set()
    for threads in ("1", "1", "2"):
        env = {**os.environ, "NUMBA_NUM_THREADS": threads, "S2SAD_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, check=True, capture_output=True, text=True
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert any(tmp_path.iterdir())


def test_option_without_a_compiler() -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="`parallel` is given without a compiler"):
        s2sad.grad(waves, parallel=True)
