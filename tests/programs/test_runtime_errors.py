"""Errors that are raised while derivatives run name the place in the user's file, as others do."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.source.compiling import make_function
from s2sad.source.locate import Origin, origins
from s2sad.transforms.trees.program import Scope

EQUAL = np.eye(2)


def vectors(a: Any) -> Any:
    return np.sum(a * a) + np.sum(np.linalg.svd(a)[0])


def nested(a: Any) -> Any:
    return np.sum(a[0]) + np.sum(s2sad.grad(vectors)(a))


def in_a_closure(a: Any) -> Any:
    def inner(scale: Any) -> Any:
        return scale * np.sum(np.linalg.eigh(a)[1])

    return sum(f(2.0) for f in [inner])


def pulled_back(f: Callable[..., Any], a: Any) -> Any:
    return s2sad.vjp(f)(a)[1](1.0)


def second(f: Callable[..., Any], a: Any) -> Any:
    return s2sad.jvp(s2sad.grad(f))(a, a)


TRANSFORMS = {"grad": lambda f, a: s2sad.grad(f)(a), "bprop": pulled_back, "second": second}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize(
    ("f", "line"),
    [
        (vectors, "return np.sum(a * a) + np.sum(np.linalg.svd(a)[0])"),
        (nested, "return np.sum(a * a) + np.sum(np.linalg.svd(a)[0])"),
        (in_a_closure, "return scale * np.sum(np.linalg.eigh(a)[1])"),
    ],
)
def test_an_error_of_the_reverse_sweep_has_a_place(transform: Any, f: Any, line: str) -> None:
    with pytest.raises(s2sad.NonDifferentiableError) as caught:
        transform(f, EQUAL)
    where = caught.value.where
    assert where is not None and where.filename == __file__
    assert where.text.strip() == line
    assert str(where) in str(caught.value)


def test_the_caret_stands_at_the_call() -> None:
    with pytest.raises(s2sad.NonDifferentiableError) as caught:
        s2sad.grad(vectors)(EQUAL)
    where = caught.value.where
    assert where is not None and where.text[where.column :].startswith("np.linalg.svd")


def test_origins_live_as_long_as_their_code() -> None:
    origin = Origin("user.py", ("y = f(x)",), {})
    made = make_function("def g(x):\n    return x\n", "g", Scope({}), {}, origin=origin)
    filename = made.__code__.co_filename
    assert origins[filename] is origin
    del made
    gc.collect()
    assert filename not in origins


def test_an_error_outside_of_derivatives_has_no_place() -> None:
    with pytest.raises(s2sad.NonDifferentiableError) as caught:
        s2sad.grad(vectors)(3)
    assert caught.value.where is None


def root_in(library: Any, x: Any) -> Any:
    return np.sum(library(x) * x)


def takes_exceptions(library: Any, x: Any) -> Any:
    try:
        y = library(x)
    except Exception:
        y = x * 2.0
    return np.sum(y * x)


def takes_those_of_a_call(library: Any, x: Any) -> Any:
    try:
        return root_in(library, x)
    except:  # noqa: E722
        return np.sum(x)


def takes_those_in_a_loop(library: Any, x: Any) -> Any:
    total = 0.0
    for row in x:
        try:
            total += np.sum(library(row))
        except (ArithmeticError, NotImplementedError):
            continue
    return total


class Library:
    """What only the run knows to have no rule."""

    def __init__(self) -> None:
        self.calls = [np.union1d]

    def __call__(self, x: Any) -> Any:
        for call in self.calls:
            x = call(x)
        return x


@pytest.mark.parametrize("f", [takes_exceptions, takes_those_of_a_call, takes_those_in_a_loop])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_refusal_is_raised_although_the_function_takes_it(transform: Any, f: Any) -> None:
    def g(x: Any) -> Any:
        return f(Library(), x)

    for _ in range(2):  # the second finds what was generated
        with pytest.raises(s2sad.MissingRuleError, match="union1d"):
            transform(g, EQUAL)


def test_what_the_function_takes_itself_is_no_refusal() -> None:
    def failing(x: Any) -> Any:
        raise ValueError("not here")

    def g(x: Any) -> Any:
        return takes_exceptions(failing, x)

    with pytest.raises(s2sad.MissingRuleError):
        s2sad.grad(lambda x: root_in(Library(), x))(EQUAL)
    np.testing.assert_array_equal(s2sad.grad(g)(EQUAL), 4.0 * EQUAL)
    np.testing.assert_array_equal(second(g, EQUAL)[1], 4.0 * EQUAL)
