"""Refusals that are raised where they are reached: the same line, however the program gets there."""

from __future__ import annotations

import inspect
import marshal
import zlib
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.derivatives.deferred_refusals import Deferred
from s2sad.transforms.errors import refusals
from tests.programs import deferred
from tests.programs.declare import declared
from tests.support.compare import check_program

# mypy: allow-untyped-defs

PROGRAMS = {p.name: p for p in declared(deferred.__name__)}
REACHING: dict[str, Any] = {
    "later_turns": 9,
    "loops_without_turns": 2,
    "rest_of_the_function": np.False_,
}
LINES, _ = inspect.getsourcelines(deferred)


def refused(error: s2sad.S2sadError) -> bool:
    """Whether an error names a line that is marked as refused, and shows it."""
    where = error.where
    assert where is not None and where.filename == deferred.__file__
    return where.text == LINES[where.line - 1].rstrip("\n") and where.text.endswith("# refused")


@pytest.mark.parametrize("name", PROGRAMS)
def test_reached(name: str) -> None:
    p = PROGRAMS[name]
    f, x, flag = p.function, p.args[0], REACHING.get(name, np.True_)
    usual = s2sad.grad(f)(x.copy(), p.args[1])
    for run in (
        lambda: s2sad.grad(f)(x.copy(), flag),
        lambda: s2sad.vjp(f, x.copy(), flag),
        lambda: s2sad.jvp(f, argnums=0)(x.copy(), flag, x),
        lambda: s2sad.hessian(f)(x.copy(), flag),
    ):
        with pytest.raises(s2sad.S2sadError) as caught:
            run()
        assert refused(caught.value)
    np.testing.assert_array_equal(s2sad.grad(f)(x.copy(), p.args[1]), usual)


def test_primal_stages_raise_it_too() -> None:
    p = PROGRAMS["variables_of_an_arm"]
    stages = s2sad.explain(p.function, *p.args).stages
    assert next(iter(stages)) == "defer_refusals"
    for stage in stages.values():
        if stage.is_primal:
            with pytest.raises(s2sad.MissingRuleError, match="adler32"):
                stage.function(p.args[0], np.True_)


def test_source_reads_as_written_by_hand() -> None:
    p = PROGRAMS["taken_exceptions"]
    assert s2sad.grad(p.function).source_for(*p.args) == (
        "def taken_exceptions_grad(x, flag):\n"
        "    try:\n"
        "        if flag:\n"
        '            raise MissingRuleError("`zlib.adler32` has no rule and no '
        'Python source to differentiate")\n'
        "        else:\n"
        "            y = x * 3.0\n"
        "        handler = 0\n"
        "    except S2sadError:\n"
        "        raise\n"
        "    except (KeyError, NotImplementedError):\n"
        "        y = x * 0.0\n"
        "        handler = 1\n"
        "    except Exception:\n"
        "        y = x * 7.0\n"
        "        handler = 2\n"
        "    # return np.sum(y * y)\n"
        "    dy = 2.0 * y\n"
        "    if handler == 1:\n"
        "        # y = x * 0.0\n"
        "        dx = dy * 0.0\n"
        "    elif handler == 2:\n"
        "        # y = x * 7.0\n"
        "        dx = dy * 7.0\n"
        "    else:\n"
        "        # y = x * 3.0\n"
        "        dx = dy * 3.0\n"
        "    return dx\n"
    )


def loop_of_while_true(x):
    while True:
        y = zlib.adler32(x)
        if y > 0:
            return np.sum(y * x)


def in_a_try(x):
    try:
        return np.sum(x) * zlib.adler32(x)
    except ValueError:
        return 0.0


@pytest.mark.parametrize("f", [loop_of_while_true, in_a_try], ids=lambda f: f.__name__)
def test_what_is_always_reached_is_refused_before_the_run(f: Any) -> None:
    with pytest.raises(s2sad.MissingRuleError, match="adler32"):
        s2sad.grad(f).source_for(np.ones(3))


def test_another_function_of_the_name_makes_it_anew() -> None:
    def unruled(x):
        return 0.5 * zlib.crc32(x)

    def squares(x):
        return np.sum(x * x)

    used = unruled

    def f(x, flag):
        return used(x) if flag else np.sum(x)

    gradient, x = s2sad.grad(f), np.array([1.0, 2.0])
    np.testing.assert_array_equal(gradient(x, np.False_), [1.0, 1.0])
    with pytest.raises(s2sad.MissingRuleError):
        gradient(x, np.True_)

    used = squares
    np.testing.assert_array_equal(gradient(x, np.True_), [2.0, 4.0])


def test_a_rule_that_is_declared_later_is_used() -> None:
    def known(x):
        return 0.5 * zlib.crc32(x)

    def g(x, flag):
        return known(x) if flag else np.sum(x)

    gradient, x = s2sad.grad(g), np.array([1.0, 2.0])
    np.testing.assert_array_equal(gradient(x, np.False_), [1.0, 1.0])
    with pytest.raises(s2sad.MissingRuleError):
        gradient(x, np.True_)

    @s2sad.bprop(known)
    def known_rule(x, out, dout):
        return (dout * 7.0 * x,)

    np.testing.assert_array_equal(s2sad.vjp(g, argnums=0)(x, np.True_)[1](1.0), 7.0 * x)
    _, pullback = s2sad.vjp(g, x, np.True_)
    np.testing.assert_array_equal(pullback(1.0)[0], 7.0 * x)


def swallowed(f, *args):
    try:
        return f(*args)
    except Exception:
        return 1.0


def first_squared(x, flag):
    if flag:
        return zlib.adler32(x)
    return x[0] ** 2


def test_who_takes_all_exceptions_does_not_take_it() -> None:
    def f(x, flag):
        return swallowed(first_squared, x, flag) * np.sum(x)

    x, met = np.array([1.0, 2.0]), refusals.last
    check_program(f, (x, np.False_), (0,))
    assert refusals.last is met
    for run in (s2sad.grad(f), s2sad.vjp(f)):
        with pytest.raises(s2sad.MissingRuleError, match="adler32"):
            run(x, np.True_)


def only_there(x, flag):
    if flag:
        zlib_result = zlib.adler32(x)
    return np.sum(x * zlib_result)


zlib_result = 5.0  # not what `only_there` reads


def test_variables_of_an_arm_are_no_global_names_without_it() -> None:
    with pytest.raises(UnboundLocalError):
        only_there(np.ones(2), np.False_)
    with pytest.raises((UnboundLocalError, s2sad.MissingRuleError)):
        s2sad.grad(only_there)(np.ones(2), np.False_)


def test_refusals_of_many_arms_are_met_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    add = Deferred.add
    monkeypatch.setattr(
        Deferred, "add", lambda self, error: (rounds.append(1 + len(error.others)), add(self, error))[1]
    )
    assert s2sad.grad(of_many_arms)(np.array([2.0]), 0) == 12.0
    assert rounds == [4]
    assert s2sad.jvp(of_many_arms, argnums=0)(2.0, 0, 1.0) == (8.0, 12.0)
    with pytest.raises(s2sad.MissingRuleError, match="adler32"):
        s2sad.grad(of_many_arms)(2.0, 3)


def of_many_arms(x: Any, mode: int) -> Any:
    y = x * x
    if mode == 1:
        y = deferred.unruled(y) + x
    if mode == 2:
        y = deferred.unruled(x) * 2.0
    elif mode == 3:
        y = deferred.unruled(x * y)
    z = x * y
    if mode > 3:
        z = deferred.unruled(z)
    return np.sum(z)


def test_what_only_a_refused_arm_makes_active_is_not_refused() -> None:
    """The second call is given what does not vary with `x` wherever it is reached."""
    assert s2sad.jvp(of_a_refused_arm, argnums=0)(2.0, 2, 1.0) == (18.0, 9.0)
    assert s2sad.grad(of_a_refused_arm)(2.0, 2) == 9.0
    with pytest.raises(s2sad.MissingRuleError, match="adler32"):
        s2sad.grad(of_a_refused_arm)(2.0, 1)


def of_a_refused_arm(x: Any, mode: int) -> Any:
    held = 3.0
    if mode == 1:
        held = x * 2.0
        x = deferred.unruled(x)
    if mode == 2:
        return x * len(marshal.dumps(held))
    return x * held
