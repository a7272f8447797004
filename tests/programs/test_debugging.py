"""Debugging: blocks in the reverse sweep, the first NaN, what a bprop holds, and pdb."""

from __future__ import annotations

import doctest
import io
import pdb
import re
from typing import Any

import numpy as np
import pytest

import s2sad
import s2sad.debugging
import s2sad.runtime.hooks
from s2sad import debug_nans, grad_of
from tests.support.compare import check_program

X = np.array([1.0, 2.0, 3.0])
SEEN: list[Any] = []

# ---------------------------------------------------------------- blocks in the reverse sweep


def recorded(x: Any, n: int) -> Any:
    for k in range(n):
        x = np.sin(x) * 2.0
        with grad_of(x) as dx:
            SEEN.append((k, dx.copy()))
    return np.sum(x * x)


def plain(x: Any, n: int) -> Any:
    for _ in range(n):
        x = np.sin(x) * 2.0
    return np.sum(x * x)


def test_a_block_sees_the_derivative() -> None:
    SEEN.clear()
    gradient = s2sad.grad(recorded)(X, 3)
    np.testing.assert_allclose(gradient, s2sad.grad(plain)(X, 3))
    assert [k for k, _ in SEEN] == [2, 1, 0]
    inner = X
    for _ in range(2):
        inner = np.sin(inner) * 2.0
    np.testing.assert_allclose(SEEN[0][1], 2 * 2.0 * np.sin(inner))
    np.testing.assert_allclose(SEEN[1][1], s2sad.grad(lambda x: plain(x, 1))(inner))


def replaced(x: Any) -> Any:
    y = x**3
    with grad_of(y) as dy:
        dy = dy * 0.5
    return np.sum(y * y)


def stored(x: Any) -> Any:
    y = x * 2.0
    with grad_of(y) as dy:
        dy[0] = 0.0
        dy[1:] = np.clip(dy[1:], -1.0, 5.0)
    return np.sum(y * y)


def in_a_branch(x: Any, scale: float) -> Any:
    if x > 1.0:
        x = x * x
        with grad_of(x) as dx:
            if dx > scale:
                dx = scale
    return 3.0 * x


def test_a_block_replaces_the_derivative() -> None:
    np.testing.assert_allclose(s2sad.grad(replaced)(X), 3 * X**5)
    np.testing.assert_allclose(s2sad.hvp(replaced)(X, np.ones(3)), 15 * X**4)
    np.testing.assert_allclose(s2sad.grad(stored)(X), [0.0, 10.0, 10.0])
    assert s2sad.grad(in_a_branch)(2.0, 1.0) == 4.0
    assert s2sad.grad(in_a_branch)(2.0, 9.0) == 12.0


def test_forward_mode_leaves_the_block_out() -> None:
    assert s2sad.jvp(replaced, (X,), (np.ones(3),))[1] == pytest.approx(np.sum(6 * X**5))


def test_a_block_that_changes_nothing() -> None:
    def f(x: Any) -> Any:
        y = np.sin(x) * x
        with grad_of(y) as dy:
            SEEN.append(dy)
        return y * y

    check_program(f, (X,), (0,))


def test_a_block_does_not_change_what_others_hold() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        with grad_of(y) as dy:
            dy *= 0.0
        return y

    dout = np.ones(3)
    _, bprop = s2sad.vjp(f, X)
    assert np.all(bprop(dout)[0] == 0.0) and np.all(dout == 1.0)


def test_the_function_itself_runs_the_block_with_zeros() -> None:
    assert replaced(X) == np.sum(X**6)


def test_an_exception_in_a_block() -> None:
    def f(x: Any) -> Any:
        y = np.sqrt(x)
        with grad_of(x) as dx:
            raise ValueError("found", dx)
        return y + x

    with pytest.raises(ValueError, match="found"):
        s2sad.grad(f)(4.0)


def wrong_shape(x: Any) -> Any:
    with grad_of(x) as dx:
        dx = dx[:2]
    return np.sum(x)


def lost(x: Any) -> Any:
    size = 0.0
    with grad_of(x) as dx:
        size = np.max(dx)
    return np.sum(x) * size


def returning(x: Any) -> Any:
    with grad_of(x) as dx:
        return dx
    return np.sum(x)


def of_expression(x: Any) -> Any:
    with grad_of(x[0]) as dx:
        print(dx)
    return np.sum(x)


def reused(x: Any) -> Any:
    dx = x * 2.0
    with grad_of(x) as dx:  # noqa: F811
        print(dx)
    return np.sum(x * dx)


@pytest.mark.parametrize("f", [wrong_shape, lost, returning, of_expression, reused])
def test_refused_blocks(f: Any) -> None:
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(X)


# ---------------------------------------------------------------- the first NaN


def distance(x: Any) -> Any:
    y = x - 1.0
    return np.sum(np.sqrt(y))


def logarithm(z: Any) -> Any:
    w = z * 2.0
    return np.log(w)


def of_logarithms(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + np.sum(logarithm(x) * k)
    return total


def divided(x: Any) -> Any:
    y = x * 1.0
    y[0] = y[1] / (y[2] - y[2])
    return np.sum(y)


NANS = [
    (s2sad.grad(distance), (X,), "reverse sweep of `distance`", "return np.sum(np.sqrt(y))"),
    (lambda x: s2sad.jvp(distance, (x,), (x,)), (X,), "forward sweep of `distance`", "np.sum(np.sqrt(y))"),
    (lambda x: s2sad.vjp(distance, x)[1](1.0), (X,), "reverse sweep of `distance`", "np.sum(np.sqrt(y))"),
    (s2sad.value_and_grad(of_logarithms), (-X,), "the function `of_logarithms`", "return np.log(w)"),
    (of_logarithms, (-X,), "a NaN in the result, in `logarithm`", "return np.log(w)"),
    (s2sad.grad(divided), (np.ones(3),), "an infinity in `y_2`", "y[0] = y[1] / (y[2] - y[2])"),
]


@pytest.mark.parametrize(("f", "args", "place", "line"), NANS)
def test_the_first_nan_is_named(f: Any, args: Any, place: str, line: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as caught, debug_nans():
        f(*args)
    assert place in str(caught.value) and line in str(caught.value)
    found = re.search(r"test_debugging\.py:(\d+)", str(caught.value))
    with open(__file__) as own:
        assert found is not None and line in own.read().splitlines()[int(found[1]) - 1]


def test_what_is_finite_passes() -> None:
    with debug_nans():
        assert np.all(np.isfinite(s2sad.grad(distance)(X + 1.0)))
    with np.errstate(all="ignore"), debug_nans(infinities=False):
        assert np.isinf(s2sad.grad(distance)(X)[0])

    @debug_nans()
    def called(x: Any) -> Any:
        return np.log(x)

    with np.errstate(all="ignore"), pytest.raises(FloatingPointError):
        called(-1.0 * X)
    with np.errstate(all="ignore"):
        assert np.isnan(np.log(-1.0))  # it is over


def masked(x: Any) -> Any:
    inverse = 1 / x
    return np.sum(np.where(x > 0, np.sqrt(x) + inverse, 0.0))


def masked_and_steep(x: Any) -> Any:
    inverse = 1 / x
    y = np.where(x > 0, inverse, 0.0)
    z = 2.0 * np.log(x - 1.0)
    return {"y": y, "z": [z]}


def of_items(p: Any) -> Any:
    kept = []
    for k in range(2):
        kept.append(p["w"] * np.log(p["w"] - k))
    return np.sum(kept[0]) + np.sum(kept[1])


def test_what_a_mask_removes_passes() -> None:
    at = np.array([0.0, 1.0, 2.0])
    with np.errstate(all="ignore"), debug_nans():
        assert masked(at) == np.sum(np.sqrt(at)) + 1.5
        assert np.all(np.isfinite(s2sad.grad(masked)(at)))
        assert np.isfinite(s2sad.jvp(masked, (at,), (X,))[1])


@pytest.mark.parametrize(
    ("f", "args", "expression"),
    [
        (masked_and_steep, (X,), "np.log(x - 1.0)"),
        (lambda x: s2sad.vjp(masked_and_steep, x), (X,), "np.log(x - 1.0)"),
        (of_items, ({"w": X},), 'np.log(p["w"] - k)'),
        (s2sad.grad(of_items), ({"w": X},), 'np.log(p["w"] - k)'),
        (s2sad.value_and_grad(divided), (np.ones(3),), "y[1] / (y[2] - y[2])"),
    ],
)
def test_the_caret_stands_at_the_first_expression_that_reaches_the_result(
    f: Any, args: Any, expression: str
) -> None:
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as caught, debug_nans():
        f(*args)
    lines = str(caught.value).splitlines()
    caret = next(k for k, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1][lines[caret].index("^") :].startswith(expression)


def test_each_error_in_a_block_is_found() -> None:
    def loop() -> list[str]:
        found = []
        for _ in range(3):
            try:
                s2sad.grad(distance)(X)
            except FloatingPointError as error:
                found.append(str(error))
        return found

    with np.errstate(all="ignore"), debug_nans():
        assert len(set(loop())) == 1 and len(loop()) == 3
        for f in (distance, logarithm, logarithm):
            with pytest.raises(FloatingPointError):
                f(-X)
    with np.errstate(all="ignore"):
        assert not np.isfinite(s2sad.grad(distance)(X)[0])  # it is over


# ---------------------------------------------------------------- what a bprop holds


def decayed(x: Any, rate: Any) -> Any:
    scale = np.exp(-rate * x)
    for _ in range(3):
        scale = scale * np.sin(scale)
    return np.sum(scale * x)


def test_what_a_bprop_holds() -> None:
    x = np.linspace(0.0, 1.0, 1000)
    _, bprop = s2sad.vjp(decayed)(x, 2.0)
    saved = bprop.saved
    by_name = {s.name: s for s in saved}
    assert by_name["x"].bytes == 8000
    assert by_name["trace"].bytes >= 3 * 8000
    assert by_name["trace"].where is not None
    assert by_name["trace"].where.text.strip() == "for _ in range(3):"
    assert saved.bytes == sum(s.bytes for s in saved) and saved[0].bytes == max(s.bytes for s in saved)
    assert "for _ in range(3):" in str(saved)
    _, bprop = s2sad.vjp(lambda x: 2.0 * x)(3.0)
    assert bprop.saved.bytes < 100


# ---------------------------------------------------------------- pdb


def test_pdb_steps_into_the_derivative() -> None:
    gradient = s2sad.grad(distance)
    gradient(X + 1.0)
    commands = io.StringIO("step\nstep\nstep\nnext\nnext\nwhere\nprint(y)\ncontinue\n")
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=commands, stdout=output, skip=["s2sad*", "numpy*", "contextlib"], nosigint=True)
    debugger.use_rawinput = False

    def called() -> Any:
        return gradient(X + 1.0)

    try:
        np.testing.assert_allclose(debugger.runcall(called), 0.5 / np.sqrt(X))
    finally:
        debugger.reset()
    text = output.getvalue()
    assert "distance_grad" in text and "y = x - 1.0" in text
    assert "[1. 2. 3.]" in text  # y, as the derivative computes it


@pytest.mark.parametrize("module", [s2sad.runtime.hooks, s2sad.debugging])
def test_examples(module: Any) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with np.errstate(all="ignore"):
        for test in doctest.DocTestFinder().find(module, extraglobs={"s2sad": s2sad, "np": np}):
            runner.run(test)
    assert runner.failures == 0 and runner.tries > 0
