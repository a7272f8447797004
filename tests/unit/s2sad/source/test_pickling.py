"""Derivatives and what they return go to other processes, and back."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import s2sad

SCALE = 2.0
X = np.array([0.3, 0.4])


def helper(x: Any) -> Any:
    return np.sin(x) * SCALE


@s2sad.grad
def decorated(x: Any, y: Any) -> Any:
    return np.sum(helper(x) * y)


@s2sad.value_and_grad(argnums="x")
def with_options(x: Any) -> Any:
    return np.sum(x**2)


@s2sad.grad
@s2sad.grad
def twice(x: Any) -> Any:
    return x**3


@s2sad.hessian
def second(x: Any) -> Any:
    return np.sum(x**3)


@s2sad.grad
def of_any_number(*xs: Any) -> Any:
    return sum(x * x for x in xs)


class Model:
    @s2sad.grad
    def slope(x: Any) -> Any:
        return x * x


def loop(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(n):
        s = s + helper(x) ** k
        x = np.cos(x * s)
    return np.sum(s * x)


def applied(f: Any, x: Any) -> Any:
    return f(f(x))


def call(f: Callable[..., Any], *args: Any) -> Any:
    return f(*args)


DERIVATIVES: list[tuple[Any, tuple[Any, ...]]] = [
    (decorated, (X, 2.0)),
    (with_options, (X,)),
    (twice, (2.0,)),
    (twice.primal, (2.0,)),
    (second, (X,)),
    (of_any_number, (1.0, 2.0)),
    (Model.slope, (3.0,)),
    (s2sad.grad(decorated.primal), (X, 2.0)),
    (s2sad.jacobian(decorated), (X, 2.0)),
    (s2sad.hessian(decorated.primal), (X, 2.0)),
]


def bprops() -> list[Any]:
    return [
        s2sad.vjp(loop)(X, 4)[1],
        s2sad.vjp(applied)(np.sin, 0.3)[1],
        s2sad.vjp(lambda a: applied(lambda v: a * v**3, a))(1.2)[1],
    ]


COPIERS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "cloudpickle": lambda x: cloudpickle.loads(cloudpickle.dumps(x)),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
@pytest.mark.parametrize("position", range(len(DERIVATIVES)))
def test_derivatives_are_copied(position: int, copier: Any) -> None:
    derivative, args = DERIVATIVES[position]
    again = copier(derivative)
    np.testing.assert_equal(again(*args), derivative(*args))
    assert repr(again) == repr(derivative)


@pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
@pytest.mark.parametrize("position", range(3))
def test_bprops_are_copied(position: int, copier: Any) -> None:
    bprop = bprops()[position]
    again = copier(bprop)
    np.testing.assert_equal(again(1.5), bprop(1.5))
    np.testing.assert_equal(again(0.5), bprop(0.5))
    assert (again.__name__, again.__qualname__, repr(again)) == (
        bprop.__name__,
        bprop.__qualname__,
        repr(bprop),
    )


def test_a_copied_bprop_holds_its_own_arrays() -> None:
    bprop = s2sad.vjp(lambda x: np.sum(x * x))(x := X.copy())[1]
    again = copy.deepcopy(bprop)
    x[:] = 0.0
    np.testing.assert_array_equal(again(1.0)[0], 2 * X)


def test_they_go_to_spawned_processes() -> None:
    tasks = [(d, *args) for d, args in DERIVATIVES[:6]] + [(b, 1.5) for b in bprops()]
    with get_context("spawn").Pool(1) as pool:
        found = pool.starmap(call, tasks)
    for (f, *args), result in zip(tasks, found, strict=True):
        np.testing.assert_equal(result, f(*args))


MAIN = """
import numpy as np, s2sad, joblib, pickle, sys

@s2sad.grad
def slope(x):
    return np.sum(np.sin(x) * SCALE)

SCALE = 3.0

def call(f, *args):
    return f(*args)

def doubled(x):
    return 2.0 * x

def helped(x):
    return np.sum(doubled(x) ** 2)

under_another_name = s2sad.value_and_grad(helped)

if __name__ == "__main__":
    bprop = s2sad.vjp(slope.primal)(np.ones(2))[1]
    assert pickle.loads(pickle.dumps(slope)) is slope
    tasks = [(slope, np.ones(2)), (bprop, 1.0), (s2sad.hessian(slope.primal), np.ones(2))]
    tasks += [(under_another_name, np.ones(2))]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(call)(*t) for t in tasks)
    assert np.array_equal(found[0], slope(np.ones(2)))
    assert np.array_equal(found[1][0], bprop(1.0)[0])
    assert np.array_equal(found[2], s2sad.hessian(slope.primal)(np.ones(2)))
    assert np.array_equal(found[3][1], under_another_name(np.ones(2))[1])
    print("right")
"""


def test_joblib_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MAIN)
    path = str(Path(s2sad.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(script)], env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout == "right\n", done.stderr


def test_what_a_bprop_says_of_itself() -> None:
    bprop = bprops()[0]
    assert repr(bprop) == "<bprop of loop>"
    assert bprop.__name__ == "loop_bprop"
    assert "checked" not in bprop.__qualname__
    assert "cotangent" in bprop.__doc__
    with pytest.raises(AttributeError):
        _ = bprop.nothing
