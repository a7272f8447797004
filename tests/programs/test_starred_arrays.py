"""Arrays that are passed with a star: `model(x, *parameters)` is made for the number of parameters."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from s2sad.derivatives.derivative import MANY_LENGTHS

T = np.linspace(0.1, 1.0, 5)
P = np.array([0.8, 1.3, -0.2])


def decay(t, height, rate, floor):
    return height * np.exp(-rate * t) + floor


def fitted(p, t):
    return np.sum((decay(t, *p) - 1.0) ** 2)


def with_default(t, height, rate, floor=0.5):
    return height * np.exp(-rate * t) + floor


def fitted_with_default(p, t):
    return np.sum((with_default(t, *p) - 1.0) ** 2)


def polynomial(t, *coefficients):
    total = 0.0
    for k, c in enumerate(coefficients):
        total = total + c * t**k
    return total


def fitted_polynomial(p, t):
    return np.sum((polynomial(t, *p) - 1.0) ** 2)


def residual(p, model, t):
    return model(t, *p) - 1.0


def through_another(p, t):
    return np.sum(residual(p, decay, t) ** 2)


@dataclass
class Decay:
    height: float
    rate: float
    floor: float = 0.5

    def __call__(self, t):
        return decay(t, self.height, self.rate, self.floor)


def of_a_class(p, t):
    return np.sum(Decay(*np.exp(p))(t) ** 2)


def in_a_lambda(p, t):
    model = lambda s: decay(s, *np.exp(p))  # noqa: E731
    return sum(model(s) ** 2 for s in t)


def of_rows(m, t):
    return np.sum(decay(t, *m) ** 2)


def of_what_is_made(p, t):
    q = np.array([p[0] * p[1], p[1], p[2]])
    return np.sum(decay(t, *q) ** 2)


def ping(a, b, n):
    return pong(*np.array([a + b, a * b]), n - 1) if n > 0 else a * b


def pong(a, b, n):
    rest = (a - b, b, n - 1)
    return ping(*rest) if n > 0 else a + b


def functions_that_call_each_other(p, t):
    return ping(*p, 5) * np.sum(t)


CASES = {
    "functions that call each other": (functions_that_call_each_other, P[:2]),
    "as many as it takes": (fitted, P),
    "with a default": (fitted_with_default, P),
    "without the default": (fitted_with_default, P[:2]),
    "any number": (fitted_polynomial, P),
    "one": (fitted_polynomial, P[:1]),
    "none": (fitted_polynomial, P[:0]),
    "a model that is passed": (through_another, P),
    "a class": (of_a_class, P),
    "a class without its default": (of_a_class, P[:2]),
    "a lambda": (in_a_lambda, P),
    "rows": (of_rows, np.outer(P, np.linspace(0.5, 1.0, 5))),
    "an array that the function makes": (of_what_is_made, P),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    f, p = CASES[name]
    assert s2sad.value_and_grad(f)(p, T)[0] == f(p, T)
    s2sad.check_grads(f, (p, T), argnums=(0, 1), order=2)
    hessian = s2sad.jacrev(s2sad.grad(f))(p, T)
    np.testing.assert_allclose(hessian, s2sad.jacfwd(s2sad.grad(f))(p, T), atol=1e-10)


STARRED = ("any number", "one", "none", "functions that call each other")


@pytest.mark.parametrize("name", [n for n in CASES if n not in STARRED])
def test_the_source_calls_nothing_by_a_star(name: str) -> None:
    f, p = CASES[name]
    source = s2sad.grad(f).source_for(p, T)
    assert "call_star" not in source and "unbroadcast" not in source


def test_each_length_has_its_own_version() -> None:
    gradient = s2sad.grad(fitted_with_default)
    for p in (P, P[:2], P, P[:2]):
        steps = np.eye(len(p)) * 1e-6
        expected = [(fitted_with_default(p + d, T) - fitted_with_default(p - d, T)) / 2e-6 for d in steps]
        np.testing.assert_allclose(gradient(p, T), expected, rtol=1e-6)
    assert gradient.source_for(P, T) != gradient.source_for(P[:2], T)
    assert gradient.source_for(P, np.ones(7)) == gradient.source_for(P, np.ones(9))


def test_after_many_lengths_there_is_one_version_for_all() -> None:
    gradient = s2sad.grad(fitted_polynomial)
    t = np.linspace(0.0, 1.0, 40)
    for n in range(2, 2 * MANY_LENGTHS):
        p = np.linspace(0.1, 0.5, n)
        r = 2.0 * (polynomial(t, *p) - 1.0)
        np.testing.assert_allclose(gradient(p, t), [np.sum(r * t**k) for k in range(n)])
    assert "call_star" in gradient.source_for(np.ones(30), t)


def test_a_number_that_does_not_fit_is_an_error_as_in_the_function() -> None:
    for p in (P[:2], np.ones(4)):
        with pytest.raises(TypeError):
            fitted(p, T)
        with pytest.raises(TypeError):
            s2sad.grad(fitted)(p, T)


def test_a_derivative_that_is_differentiated_and_pickled() -> None:
    inner = s2sad.grad(fitted)

    def norm(p, t):
        return np.sum(inner(p, t) ** 2)

    s2sad.check_grads(norm, (P, T), modes=("rev",), order=1)
    again = pickle.loads(pickle.dumps(inner))
    np.testing.assert_array_equal(again(P, T), inner(P, T))


def test_the_stages_are_those_of_the_version() -> None:
    stages = s2sad.explain(fitted, P, T).stages
    assert "call_star" not in list(stages.values())[-1].source
