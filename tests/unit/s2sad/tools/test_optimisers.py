"""Structured parameters as vectors, and SciPy's optimisers on them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.optimize

import s2sad
from s2sad import NonDifferentiableError, flatten, grad, hessian, scipy_fun
from s2sad.primitives.record import find_rule
from s2sad.testing.check_rules import check_rule
from s2sad.tools.optimisers import flat_adjoint, part_tangents
from tests.support.compare import check_program, check_second


@dataclass
class Layer:
    weights: Any
    bias: float
    name: str = "layer"
    steps: int = 3


class Plain:
    def __init__(self, scale: Any) -> None:
        self.scale, self.kind = scale, "plain"


class Pair(NamedTuple):
    first: Any
    second: Any


def tree() -> Any:
    return {
        "layers": [Layer(np.array([[1.0, 2.0], [3.0, 4.0]]), 0.5), Layer(np.zeros((0, 2)), -1.0)],
        "pair": Pair(np.float32(0.25), (2.0, None)),
        "plain": Plain(np.array([7.0, 8.0])),
        "ids": Plain(np.array([1, 2])),
        "empty": [],
    }


VECTOR = [1.0, 2.0, 3.0, 4.0, 0.5, -1.0, 0.25, 2.0, 7.0, 8.0]


def test_vectors_and_back() -> None:
    given = tree()
    vector, unflatten = flatten(given)
    np.testing.assert_array_equal(vector, VECTOR)
    made = unflatten(vector * 2)
    assert type(made["layers"][0]) is Layer and type(made["plain"]) is Plain and type(made["pair"]) is Pair
    assert type(made["pair"].first) is np.float32 and type(made["layers"][0].bias) is float
    assert made["layers"][0].name == "layer" and made["empty"] == []
    assert made["ids"].scale is given["ids"].scale
    np.testing.assert_array_equal(flatten(made)[0], vector * 2)
    made["layers"][0].weights[:] = 0.0  # it shares nothing with the vector, nor with the structure
    np.testing.assert_array_equal(vector, VECTOR)
    assert given["layers"][0].weights[0, 0] == 1.0


@pytest.mark.parametrize("value, dtype, shape", [
    (1.5, float, (1,)), (np.ones((2, 3), np.float32), np.float32, (6,)), ([], float, (0,)),
    ({"n": True}, float, (0,)), ([1.0, 2j], complex, (2,)), (np.float32(1), np.float32, (1,)),
    (None, float, (0,)),
])  # fmt: skip
def test_vectors_of_other_values(value: Any, dtype: Any, shape: Any) -> None:
    vector, unflatten = flatten(value)
    assert vector.dtype == dtype and vector.shape == shape
    np.testing.assert_equal(unflatten(vector), value)


@pytest.mark.parametrize("given, where, instead", [
    ({"a": 3, "b": 2.0}, "`tree['a']` is the integer 3", "write 3.0"),
    ([1.0, (np.int64(2), 2.0)], "`tree[1][0]` is the integer 2", "write 2.0"),
    (Pair(1.0, {"n": np.array([1, 2])}), "`tree.second['n']` is an array of integers", "write floats"),
    (Plain([4]), "`tree.scale[0]` is the integer 4", "attribute of an object"),
])  # fmt: skip
@pytest.mark.parametrize("use", [flatten, lambda given: scipy_fun(loss, given)])
def test_integers_that_may_be_parameters_are_refused(use: Any, given: Any, where: str, instead: str) -> None:
    with pytest.raises(NonDifferentiableError) as caught:
        use(given)
    assert where in str(caught.value) and instead in str(caught.value)


@pytest.mark.parametrize("wrong", [np.ones(9), np.ones((10, 1)), 1.0, []])
def test_vectors_of_other_lengths_are_refused(wrong: Any) -> None:
    with pytest.raises(NonDifferentiableError, match="for 10 numbers"):
        flatten(tree())[1](wrong)


def loss(p: Any, scale: float = 1.0) -> Any:
    first, second = p["layers"]
    return scale * (
        np.sum((first.weights - 1.0) ** 2)
        + (first.bias * second.bias - 2.0) ** 2
        + second.bias**2
        + (p["pair"].second[0] - 3.0) ** 4
        + np.sum(np.cosh(p["plain"].scale)) * 0.01
    )


def test_value_gradient_and_hessian() -> None:
    problem = scipy_fun(loss, tree())
    np.testing.assert_array_equal(problem.x0, VECTOR)
    value, gradient = problem.fun(problem.x0)
    assert value == loss(tree()) and type(value) is float
    found = grad(loss)(tree())
    np.testing.assert_array_equal(gradient[:4], found["layers"][0].weights.ravel())
    np.testing.assert_array_equal(gradient[-2:], found["plain"].scale)
    assert gradient[6] == 0.0 and gradient.shape == (10,)
    steps = np.eye(10) * 1e-6
    differences = [(problem.fun(problem.x0 + s)[0] - problem.fun(problem.x0 - s)[0]) / 2e-6 for s in steps]
    differences[6] = 0.0  # a float32, which such a step does not move
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-4)
    matrix = problem.hess(problem.x0)
    v = np.arange(10.0)
    np.testing.assert_allclose(problem.hessp(problem.x0, v), matrix @ v)
    differences = [(problem.fun(problem.x0 + s)[1] - problem.fun(problem.x0 - s)[1]) / 2e-6 for s in steps]
    np.testing.assert_allclose(np.delete(matrix, 6, 1), np.delete(np.array(differences).T, 6, 1), atol=1e-3)
    np.testing.assert_allclose(problem.fun(problem.x0, 3.0)[1], 3 * problem.fun(problem.x0)[1])
    assert matrix[0, 0] == 2.0 and problem.hess(problem.x0, 2.0)[0, 0] == 4.0


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-krylov"])
def test_minimize(method: str) -> None:
    def bowl(p: Any) -> Any:
        return np.sum((p["a"] - 1.0) ** 2) + (p["b"][0] + 2.0) ** 2

    problem = scipy_fun(bowl, {"a": np.zeros(3), "b": [1.0]})
    second: dict[str, Any] = {"hess": problem.hess} if method == "trust-exact" else {}
    second |= {"hessp": problem.hessp} if method in ("Newton-CG", "trust-krylov") else {}
    found = scipy.optimize.minimize(problem.fun, problem.x0, jac=True, method=method, **second)
    best = problem.unflatten(found.x)
    np.testing.assert_allclose(best["a"], np.ones(3), atol=1e-6)
    assert best["b"] == pytest.approx([-2.0], abs=1e-6)


def test_of_one_vector() -> None:
    problem = scipy_fun(scipy.optimize.rosen, np.array([1.2, 0.8, 1.1]))
    np.testing.assert_allclose(problem.fun(problem.x0)[1], scipy.optimize.rosen_der(problem.x0))
    np.testing.assert_allclose(problem.hess(problem.x0), hessian(scipy.optimize.rosen)(problem.x0))


@pytest.mark.parametrize("start", [[1.0, 2j], {"n": 1}, []])
def test_parameters_that_are_no_real_numbers_are_refused(start: Any) -> None:
    with pytest.raises(NonDifferentiableError):
        scipy_fun(loss, start)


PARTS = """
from dataclasses import dataclass, replace
from s2sad import scipy_fun

@dataclass
class Model:
    scale: float
    weight: float

    def loss(self, x):
        return self.scale * x * x + self.weight * self.scale

model = Model(2.0, 0.5)

def loss(parameters, x):
    return replace(model, **parameters).loss(x)

problem = scipy_fun(loss, {"scale": 3.0})
print(problem.fun(problem.x0, 2.0), problem.hess(problem.x0, 2.0))
"""


def test_parameters_as_keyword_arguments_in_a_process_that_has_imported_no_transform(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    environment = {**os.environ, "PYTHONPATH": str(Path(s2sad.__file__).parents[1])}
    command = [sys.executable, "parts.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("(13.5, array([4.5])) [[0.]]\n", "")


def test_unflatten_is_differentiated_twice_in_both_modes() -> None:
    tree = {"a": 0.7, "w": np.arange(6.0).reshape(2, 3) / 5, "n": True, "t": (1.5, "name", np.float64(2.0))}
    vector, unflatten = s2sad.flatten(tree)

    def f(x: Any) -> Any:
        p = unflatten(x)
        return p["a"] ** 3 * np.sum(np.sin(p["w"] @ p["w"].T)) + p["t"][0] * p["t"][2] * p["a"]

    check_program(f, (vector,), (0,))
    check_second(f, (vector,), (0,), over="forward")
    check_second(f, (vector,), (0,), over="reverse")
    assert s2sad.grad(f)(vector.astype(np.float32)).dtype == np.float32
    for rule in (find_rule(part_tangents), find_rule(flat_adjoint)):
        check_rule(rule)


def test_unflatten_as_an_argument() -> None:
    vector, unflatten = s2sad.flatten([1.5, np.array([2.0, 3.0])])
    found = s2sad.grad(lambda x, make: np.sum(make(x)[1] ** 2) * make(x)[0])(vector, unflatten)
    np.testing.assert_allclose(found, [13.0, 6.0, 9.0])
