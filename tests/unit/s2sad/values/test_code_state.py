"""Functions whose defaults or code are assigned to, before and after their derivatives are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import s2sad
from s2sad.values.code_state import state_of
from tests.support.build import build

TEXT = """
def scaled(x, a=2.0, *, b=1.0):
    return x * x * a * b

def other(x, a=2.0, *, b=1.0):
    return x * x * x * a * b

def calls(x):
    return scaled(x) + 0.0 * x

def in_closure(x):
    g = lambda t: scaled(t) * 1.0
    return s2sad.grad(g)(x) * x / 2.0

def direct(x):
    return x * x * a
"""
CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "defaults": lambda f, other: setattr(f, "__defaults__", (5.0,)),
    "kwdefaults": lambda f, other: setattr(f, "__kwdefaults__", {"b": 2.5}),
    "an item of kwdefaults": lambda f, other: f.__kwdefaults__.update(b=2.5),
    "code": lambda f, other: setattr(f, "__code__", other.__code__),
}
EXPECTED = {"defaults": 15.0, "kwdefaults": 15.0, "an item of kwdefaults": 15.0, "code": 13.5}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["scaled", "calls", "in_closure"])
@pytest.mark.parametrize("early", [True, False])
def test_a_derivative_follows_its_function(change: str, name: str, early: bool) -> None:
    namespace = build(TEXT, s2sad=s2sad).__globals__
    f, scaled = namespace[name], namespace["scaled"]
    transforms = s2sad.grad(f), s2sad.jvp(f), s2sad.vjp(f)
    if early:
        assert transforms[0](1.5) == pytest.approx(6.0)
        assert transforms[1](1.5, 1.0)[1] == pytest.approx(6.0)
        assert transforms[2](1.5)[1](1.0)[0] == pytest.approx(6.0)
    CHANGES[change](scaled, namespace["other"])
    value, expected = f(1.5), EXPECTED[change] if (name, change) != ("in_closure", "code") else 20.25
    assert value == pytest.approx({13.5: 6.75, 20.25: 10.125}.get(expected, 11.25))
    assert transforms[0](1.5) == pytest.approx(expected)
    assert transforms[1](1.5, 1.0) == (pytest.approx(value), pytest.approx(expected))
    assert transforms[2](1.5)[1](1.0)[0] == pytest.approx(expected)


def test_the_state_of_a_function_is_one_object() -> None:
    def f(x: Any, n: Any = 2, *, m: Any = 1) -> Any:
        return x**n * m

    before = state_of(f)
    assert state_of(f) is before and before.is_of(f)
    f.__kwdefaults__ = None  # type: ignore[assignment]
    assert not before.is_of(f) and state_of(f) is not before
