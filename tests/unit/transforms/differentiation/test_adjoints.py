"""Adjoints on their way: new names, accumulators, and who may change one in place."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad.transforms.differentiation.adjoint import (
    Accumulator,
    Env,
    Ownership,
    Plain,
    Uniform,
)
from s2sad.transforms.differentiation.adjoints import (
    accumulate,
    accumulate_at,
    full_adjoint,
    join_arms,
    pass_on,
)
from s2sad.transforms.differentiation.generation import Task
from s2sad.transforms.differentiation.reverse_state import Reverse
from s2sad.transforms.trees.nodes import constant, load
from tests.support.analysed import analysed
from tests.support.before_after import text_of

OWNED = Ownership.OWNED


@pytest.fixture
def reverse() -> Reverse:
    found = analysed("def f(x, v, u, i):\n    t = x, v\n    return x", 1.0, np.arange(3.0), object(), 2)
    link: Any = None
    return Reverse(found, Task("grad", ("x", "v", "u"), link))


def expression(text: str) -> Any:
    return gast.parse(text, mode="eval").body


def lines(code: list[Any]) -> list[str]:
    return [text_of(s).strip() for s in code]


def test_the_first_contribution_is_the_adjoint_and_others_make_new_names(reverse: Reverse) -> None:
    env: Env = {}
    code: list[Any] = []
    for text in ("dy", "dz * 2", "dw"):
        accumulate(reverse, env, "x", expression(text), code)
    assert lines(code) == ["dx = dy + dz * 2", "dx_2 = dx + dw"]
    assert text_of(env["x"].value).strip() == "dx_2" and env["x"].is_owned


def test_nothing_comes_of_a_contribution_that_is_none(reverse: Reverse) -> None:
    env: Env = {}
    code: list[Any] = []
    accumulate(reverse, env, "x", constant(None), code)
    assert env == {} and code == []


@pytest.mark.parametrize(
    ("variable", "line"), [("x", "dq = dq + g"), ("v", "dq += g"), ("u", "dq = add(dq, g)")]
)
def test_accumulators_keep_their_name_and_arrays_are_added_in_place(
    reverse: Reverse, variable: str, line: str
) -> None:
    env = {variable: Accumulator(load("dq"))}
    code: list[Any] = []
    accumulate(reverse, env, variable, expression("g"), code)
    assert lines(code) == [line] and reverse.used == {variable}


def test_who_owns_an_adjoint(reverse: Reverse) -> None:
    """Arithmetic makes a new array; what another name or an unknown function holds is shared."""
    for text, owned in [
        ("dy", False),
        ("dy * 2", True),
        ("np.zeros_like(v)", True),
        ("dy.T", False),
        ("g(dy)", False),
    ]:
        env: Env = {}
        accumulate(reverse, env, "v", expression(text), [])
        assert env["v"].is_owned is owned, text


def test_only_what_is_owned_is_changed_in_place(reverse: Reverse) -> None:
    code: list[Any] = []
    env: Env = {"v": Plain(load("dy"))}
    accumulate_at(reverse, env, "v", load("i"), load("g"), code)
    accumulate_at(reverse, env, "v", load("i"), load("h"), code)
    assert lines(code) == ["dv = dy.copy()", "dv[i] += g", "dv[i] += h"]
    code.clear()
    accumulate_at(reverse, {}, "v", load("i"), load("g"), code)
    assert lines(code) == ["dv_2 = np.zeros_like(v)", "dv_2[i] += g"]


@pytest.mark.parametrize(
    ("variable", "index", "line"),
    [
        ("v", "w[1:, i]", "dv[1:, i] += g"),
        ("v", "w[~i]", "dv[~i] += g"),
        ("v", "w[None, ...]", "dv[None, ...] += g"),
        ("v", "w[v]", "dv = add_at(dv, v, g)"),
        ("v", "w[1:, v]", "dv = add_at(dv, (slice(1, None, None), v), g)"),
        ("u", "w[i]", "du = add_at(du, i, g)"),
        ("t", "w[0]", "dt = add_at(dt, 0, g)"),
    ],
)
def test_indices_that_may_repeat_an_element_are_not_added_in_place(
    reverse: Reverse, variable: str, index: str, line: str
) -> None:
    """`a[[0, 0]] += g` would add once."""
    code: list[Any] = []
    accumulate_at(reverse, {}, variable, expression(index).slice, load("g"), code)
    assert lines(code)[1:] == [line]


def test_the_parts_of_a_tuple_stay_apart(reverse: Reverse) -> None:
    env: Env = {}
    code: list[Any] = []
    accumulate(reverse, env, "t", expression("(a, b * c)"), code)
    assert lines(code) == ["dt = b * c"] and text_of(env["t"].value).strip() == "(a, dt)"


def test_a_uniform_adjoint_is_spread_when_its_shape_is_needed(reverse: Reverse) -> None:
    env: Env = {}
    code: list[Any] = []
    pass_on(reverse, env, "v", Uniform(constant(1.0)), code)
    assert isinstance(env["v"], Uniform) and not code
    both = dict(env)
    pass_on(reverse, both, "v", Uniform(load("d")), code)
    assert lines(code) == ["dv = 1.0 + d"] and isinstance(both["v"], Uniform)
    accumulate(reverse, env, "v", load("dw"), code)
    assert isinstance(env["v"], Plain)
    code.clear()
    assert text_of(full_adjoint(reverse, "v", both["v"], code)).strip() == "dv_3"
    assert lines(code) == ["dv_3 = np.full_like(v, dv)"]


def test_arms_join(reverse: Reverse) -> None:
    same, owned = Plain(load("dw")), Plain(load("dw"), ownership=OWNED)
    arms: list[tuple[Env, list[Any]]] = [
        ({"x": Plain(load("dy")), "v": same}, []),
        ({"v": owned, "u": Plain(load("dz"), ownership=OWNED)}, []),
    ]
    env: Env = {"gone": same}
    join_arms(reverse, env, arms, frozenset("xvut").__contains__)
    assert lines(arms[0][1]) == ["dx = dy", "du = zeros_like(u)"]
    assert lines(arms[1][1]) == ["dx = 0.0", "du = dz"]
    assert list(env) == ["x", "v", "u"] and env["v"].value.id == "dw"
    assert (env["x"].is_owned, env["v"].is_owned, env["u"].is_owned) == (False, False, True)
