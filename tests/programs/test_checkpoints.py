"""Checkpoints: the same values and derivatives as without, fewer states, the fewest steps, and refusals."""

from __future__ import annotations

import doctest
import functools
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
import s2sad.derivatives.checkpoints
import s2sad.runtime.checkpoints
import s2sad.runtime.revolve
from s2sad import checkpoint, checkpointed
from s2sad.runtime.revolve import Sweep

X, W = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.2, 0.1])
U = np.array([0.0, 0.3, 1.0, 0.2, 0.1, 0.0])


def test_a_loop_needs_no_other_import(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from s2sad import checkpointed, grad\ndef f(x):\n    for _ in checkpointed(range(4), 2):\n"
        "        x = x * x\n    return x\nassert grad(f)(1.0) == 16.0\n"
    )
    root = str(Path(s2sad.__file__).parents[1])
    subprocess.run([sys.executable, str(script)], check=True, env={**os.environ, "PYTHONPATH": root})


# ---------------------------------------------------------------- the schedule


@functools.cache
def fewest(steps: int, slots: int) -> int:
    """The fewest advances, by trying all places for the next snapshot."""
    if steps <= 1:
        return 0
    if slots == 1:
        return steps * (steps - 1) // 2
    return min(m + fewest(steps - m, slots - 1) + fewest(m, slots) for m in range(1, steps))


def swept(steps: int, slots: int) -> tuple[int, int]:
    """The advances of a sweep over counters, which are checked, and the most snapshots that it held."""
    advances, most = 0, 0

    def advance(state: Any, start: int, stop: int) -> Any:
        nonlocal advances
        assert state == start
        advances += stop - start
        return stop

    def taped(state: Any, k: int) -> Any:
        assert state == k
        return k + 1, k

    sweep = Sweep(0, steps, slots, advance, taped)  # type: ignore[arg-type]
    assert sweep.out == steps and sweep.left is not None  # type: ignore[comparison-overlap]
    stack, found = sweep.left[0], []
    for bprop in sweep.bprops():
        found.append(bprop)
        most = max(most, len(stack))
    assert found == [*range(steps)][::-1]
    count = advances
    assert [*sweep.bprops()] == found  # a second time
    return count, most


@pytest.mark.parametrize("slots", range(1, 8))
def test_the_schedule_takes_the_fewest_steps(slots: int) -> None:
    for steps in range(1, 60):
        advances, most = swept(steps, slots)
        assert advances == fewest(steps, slots)
        assert most <= slots


def test_ten_thousand_steps_with_twenty_snapshots() -> None:
    count = 0

    def step(x: Any) -> Any:
        nonlocal count
        count += 1
        return x

    def advance(state: Any, start: int, stop: int) -> Any:
        for _ in range(start, stop):
            state = step(state)
        return state

    sweep = Sweep((), 10_000, 20, advance, lambda state, k: (step(state), step))
    assert sum(1 for _ in sweep.bprops()) == 10_000
    assert count == 10_000 + 37_976


def settle(x: Any, n: int) -> Any:
    for _ in checkpointed(range(n), snapshots=20):
        x = x * 0.9999 + 0.0001 * np.sin(x)
    return np.sum(x)


def test_memory_is_that_of_the_snapshots() -> None:
    x = np.linspace(0.0, 1.0, 20_000)
    gradient = s2sad.grad(settle)
    gradient(x, 3)
    tracemalloc.start()
    found = gradient(x, 400)
    peak = tracemalloc.get_traced_memory()[1] / x.nbytes
    tracemalloc.stop()
    assert 20 < peak < 30  # and a few arrays of the step that is differentiated
    slope = 1.0
    for _ in range(400):
        slope, x = slope * (0.9999 + 0.0001 * np.cos(x)), x * 0.9999 + 0.0001 * np.sin(x)
    np.testing.assert_allclose(found, slope)


def test_ten_thousand_steps_of_a_program() -> None:
    plain = float(0.9999 + 0.0001) ** 10_000
    assert s2sad.grad(settle)(0.0, 10_000) == pytest.approx(plain)


# ---------------------------------------------------------------- programs


def scaled(x: Any, w: Any, n: int) -> Any:
    for i in checkpointed(range(n), snapshots=3):
        x = np.sin(x * w) + x * 0.1 * i
    return np.sum(x)


def scaled_plain(x: Any, w: Any, n: int) -> Any:
    for i in range(n):
        x = np.sin(x * w) + x * 0.1 * i
    return np.sum(x)


def diffused(u: Any, k: Any, n: int) -> Any:
    v = np.zeros_like(u)
    total = 0.0
    for t in checkpointed(range(n), snapshots=4):
        v[1:-1] = k * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[:] = v * np.cos(v)
        if t == 3:
            continue
        total += np.sum(u) * k
    return total + np.sum(u * u)


def diffused_plain(u: Any, k: Any, n: int) -> Any:
    v = np.zeros_like(u)
    total = 0.0
    for t in range(n):
        v[1:-1] = k * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[:] = v * np.cos(v)
        if t == 3:
            continue
        total += np.sum(u) * k
    return total + np.sum(u * u)


def nested(x: Any, w: Any, n: int) -> Any:
    count = 0
    for _ in checkpointed(range(n), snapshots=2):
        for j in checkpointed(range(3), snapshots=2):
            y = np.cos(w)
            x = x * np.sin(x + j) + y
        count += 1
    return np.sum(x) * count


def nested_plain(x: Any, w: Any, n: int) -> Any:
    for _ in range(n):
        for j in range(3):
            x = x * np.sin(x + j) + np.cos(w)
    return np.sum(x) * n


def from_integer(x: Any, w: Any, n: int) -> Any:
    total: Any = 0
    for a, b in checkpointed([(1, 2), (3, 4), (5, 6)][:n], snapshots=2):
        total = total + np.sum(x * w) * a * b * total + x[0]
    return total * 1.0


def from_integer_plain(x: Any, w: Any, n: int) -> Any:
    total: Any = 0
    for a, b in [(1, 2), (3, 4), (5, 6)][:n]:
        total = total + np.sum(x * w) * a * b * total + x[0]
    return total * 1.0


def in_a_branch(x: Any, w: Any, n: int) -> Any:
    if n > 2:
        for _ in checkpointed(range(n), snapshots=1):
            x = x * np.sin(w * x)
    return x * x


def in_a_branch_plain(x: Any, w: Any, n: int) -> Any:
    if n > 2:
        for _ in range(n):
            x = x * np.sin(w * x)
    return x * x


PROGRAMS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    (scaled, scaled_plain, (X, W)),
    (diffused, diffused_plain, (U, 0.25)),
    (nested, nested_plain, (X, W)),
    (from_integer, from_integer_plain, (X, W)),
    (in_a_branch, in_a_branch_plain, (X, W)),
]


@pytest.mark.parametrize(("f", "plain", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_derivatives_are_those_without_checkpoints(f: Any, plain: Any, args: Any) -> None:
    for n in (1, 2, 3, 9) if f is not from_integer else (1, 3):
        found, bprop = s2sad.vjp(f, argnums=(0, 1))(*map(np.copy, args), n)
        expected, bprop_plain = s2sad.vjp(plain, argnums=(0, 1))(*map(np.copy, args), n)
        np.testing.assert_array_equal(found, expected)
        dout = np.ones_like(expected)
        for _ in range(2):  # it can be called again
            for a, b in zip(bprop(dout), bprop_plain(dout), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)
    tangents = tuple(np.cos(a) for a in args)
    found = s2sad.jvp(f, argnums=(0, 1))(*map(np.copy, args), 3, *tangents)
    expected = s2sad.jvp(plain, argnums=(0, 1))(*map(np.copy, args), 3, *tangents)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_second_derivatives() -> None:
    s2sad.check_grads(scaled, (X, W, 3), argnums=(0, 1))
    # Steps that change arrays in place: forward over reverse alone.
    found = s2sad.hessian(lambda u: diffused(u * 1.0, 0.25, 5))(U)
    expected = s2sad.hessian(lambda u: diffused_plain(u * 1.0, 0.25, 5))(U)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(s2sad.UnsupportedSyntaxError):
        s2sad.check_grads(lambda u, k: diffused(u * 1.0, k, 3), (U, 0.25))


def test_the_loop_reads_as_a_step() -> None:
    source = s2sad.grad(scaled, (0, 1)).source_for(X, W, 3)
    assert "def step(i, x_2, *, w_captured=w):" in source
    assert "fprop_of(run_steps, keys=(0, 3))(step, range(n), 3, (x,))" in source


def test_a_loop_without_steps() -> None:
    assert np.all(s2sad.grad(scaled)(X, W, 0) == 1.0)
    assert s2sad.value_and_grad(diffused)(U.copy(), 0.25, 0)[0] == np.sum(U * U)


def spread(u: Any, n: int) -> None:
    v = u.copy()
    for _ in checkpointed(range(n), snapshots=2):
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[:] = v


def spread_plain(u: Any, n: int) -> None:
    v = u.copy()
    for _ in range(n):
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[:] = v


def test_arguments_that_are_changed() -> None:
    u, other = U.copy(), U.copy()
    out, bprop = s2sad.vjp(spread, argnums="u", outputs="u")(u, 5)
    expected, bprop_plain = s2sad.vjp(spread_plain, argnums="u", outputs="u")(other, 5)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(u, other)
    dout = np.arange(6.0)
    np.testing.assert_allclose(bprop(dout), bprop_plain(dout))


# ---------------------------------------------------------------- calls


def layer(x: Any, w: Any) -> Any:
    return np.tanh(x * w) + x


kept_layer = checkpoint(layer)


def net(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = kept_layer(x, w)
    return np.sum(x * x)


def closed(x: Any, w: Any) -> Any:
    f = checkpoint(lambda y: np.sin(y * w))
    for _ in range(2):
        x = f(x)
    return np.sum(x)


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    @checkpoint
    def value(self, x: Any) -> Any:
        return np.sum(np.sin(self.w * x))


@pytest.mark.parametrize("f", [net, closed, kept_layer])
def test_checkpointed_calls(f: Any) -> None:
    s2sad.check_rule(f, X, W)


def test_checkpointed_methods() -> None:
    model = Model(W)
    np.testing.assert_allclose(s2sad.grad(model.value)(X), W * np.cos(W * X))
    np.testing.assert_allclose(s2sad.grad(lambda x: model.value(x))(X), W * np.cos(W * X))


def test_keywords_and_defaults() -> None:
    @checkpoint
    def f(x: Any, y: float = 2.0, *, n: int = 3) -> Any:
        return x * y**n

    assert s2sad.grad(f)(2.0) == 8.0
    assert s2sad.grad(lambda x: f(x, n=2))(2.0) == 4.0
    assert s2sad.grad(lambda y: f(1.0, y=y, n=2))(3.0) == 6.0
    assert s2sad.jvp(lambda x: f(x, n=2), (2.0,), (1.0,)) == (8.0, 4.0)


def test_a_checkpoint_keeps_no_intermediate_values() -> None:
    def deep(x: Any) -> Any:
        for _ in range(50):
            x = np.sin(x)
        return x

    x = np.linspace(0.0, 1.0, 20_000)

    def held(f: Any) -> float:
        s2sad.vjp(f)(x)
        tracemalloc.start()
        made = s2sad.vjp(f)(x)
        size = tracemalloc.get_traced_memory()[0] / x.nbytes
        tracemalloc.stop()
        del made
        return size

    whole = checkpoint(deep)
    assert held(lambda x: deep(deep(x))) > 90
    assert held(lambda x: whole(whole(x))) < 5


# ---------------------------------------------------------------- refusals


def test_what_is_not_the_same_again_is_refused() -> None:
    rng = np.random.default_rng(0)
    noisy = checkpoint(lambda x: x * rng.normal())
    with pytest.raises(s2sad.NonDifferentiableError, match="another result when it is run again"):
        s2sad.grad(lambda x: noisy(x))(2.0)

    def draws(x: Any) -> Any:
        for _ in checkpointed(range(3), snapshots=2):
            x = x * rng.normal()
        return x

    with pytest.raises(s2sad.UnsupportedSyntaxError, match="run again"):
        s2sad.grad(draws)(2.0)


SEEN: list[Any] = []


def logs(x: Any) -> Any:
    for _ in checkpointed(range(3), snapshots=2):
        x = x * 2.0
        SEEN.append(1)
    return x


def stops(x: Any) -> Any:
    for i in checkpointed(range(3), snapshots=2):
        if i == 1:
            break
        x = x * 2.0
    return x


def returns(x: Any) -> Any:
    for i in checkpointed(range(3), snapshots=2):
        if i == 1:
            return x
        x = x * 2.0
    return x


def has_else(x: Any) -> Any:
    for _ in checkpointed(range(3), snapshots=2):
        x = x * 2.0
    else:
        x = x + 1.0
    return x


def swaps(x: Any) -> Any:
    a, b = np.ones(3) * x, np.ones(3)
    for _ in checkpointed(range(3), snapshots=2):
        b[:] = a * 2.0
        a, b = b, a
    return np.sum(a)


def aliased(x: Any) -> Any:
    a = np.ones(3) * x
    view = a[1:]
    for _ in checkpointed(range(3), snapshots=2):
        a[:] = a * 2.0 + view[0]
    return np.sum(a)


def leaks(x: Any) -> Any:
    for _ in checkpointed(range(3), snapshots=2):
        last = x * 2.0
        x = last
    return last


def held(x: Any) -> Any:
    turns = checkpointed(range(3), snapshots=2)
    for _ in turns:
        x = x * 2.0
    return x


def hidden_change(x: Any) -> Any:
    a = np.ones(3) * x
    for _ in checkpointed(range(3), snapshots=2):
        b = a
        b[0] = 3.0 * x
        x = x + np.sum(a)
    return x


def of_list(x: Any) -> Any:
    a = [x, x]
    for _ in checkpointed(range(3), snapshots=2):
        a[0] = a[1] * 2.0
    return a[0]


def keeps(x: Any) -> Any:
    history = []
    for _ in checkpointed(range(3), snapshots=2):
        x = x * 2.0
        history.append(x)
    return history[-1]


@pytest.mark.parametrize("f, what", [
    (stops, "`break` in a checkpointed loop is not supported"),
    (keeps, "`history.append(...)` in a checkpointed loop, a change of an outer object"),
    (logs, "`SEEN.append(...)` in a checkpointed loop, a change of an outer object"),
])  # fmt: skip
def test_refusals_name_what_stands_in_the_loop(f: Any, what: str) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError) as caught:
        s2sad.grad(f)(2.0)
    assert caught.value.what == what


def own_list(x: Any) -> Any:
    for _ in checkpointed(range(3), snapshots=2):
        parts = [x]
        parts.append(x * 2.0)
        x = parts[0] * parts[1]
    return x


def test_a_list_of_the_step_may_be_changed() -> None:
    assert s2sad.grad(own_list)(1.5) == s2sad.grad(lambda x: x**8 * 128.0)(1.5)


def test_the_loop_alone_is_imported(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import s2sad\n\n"
        "def double(x):\n"
        "    for _ in s2sad.checkpointed(range(3), snapshots=2):\n"
        "        x = x * 2.0\n"
        "    return x\n\n"
        "print(s2sad.grad(double)(1.0))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(s2sad.__file__).parents[1])}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("8.0\n", "")


@pytest.mark.parametrize(
    "f", [logs, stops, returns, has_else, swaps, aliased, leaks, held, hidden_change, of_list]
)
def test_refused(f: Any) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError):
        s2sad.grad(f)(2.0)


def test_snapshots_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="snapshot"):
        checkpointed(range(3), snapshots=0)

    def without(x: Any) -> Any:
        for _ in checkpointed(range(3), snapshots=0):
            x = np.sin(x)
        return np.sum(x)

    with pytest.raises(ValueError, match="needs a snapshot"):
        s2sad.grad(without)(X)


@pytest.mark.parametrize("module", [s2sad.derivatives.checkpoints, s2sad.runtime.checkpoints])
def test_examples(module: Any) -> None:
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(module, extraglobs={"s2sad": s2sad, "np": np}):
        runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


def test_what_is_not_callable_is_refused() -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match="3 cannot be differentiated: it is not callable"):
        checkpoint(3)  # type: ignore[call-overload]


class Scaled:
    def __call__(self, x: Any) -> Any:
        return np.sin(x) * 3.0


def test_callables_without_a_name() -> None:
    for f in (Scaled(), functools.partial(lambda a, x: np.sin(x) * a, 3.0)):
        assert checkpoint(f)(0.5) == f(0.5)
        assert s2sad.grad(checkpoint(f))(0.5) == s2sad.grad(f)(0.5)


def test_checkpoints_of_primitives_and_of_stars() -> None:
    x = np.array([0.5, 1.5])
    assert s2sad.grad(s2sad.checkpoint(np.sin))(0.0) == 1.0
    assert s2sad.jvp(s2sad.checkpoint(np.sin))(0.0, 2.0) == (0.0, 2.0)
    np.testing.assert_array_equal(s2sad.grad(s2sad.checkpoint(np.sum))(x), np.ones(2))
    stars = s2sad.checkpoint(lambda *xs: np.sum(np.sin(xs[0]) * xs[1]))
    np.testing.assert_allclose(s2sad.grad(stars)(x, x), np.cos(x) * x)
    np.testing.assert_allclose(s2sad.grad(stars, argnums=(0, 1))(x, x), (np.cos(x) * x, np.sin(x)))
