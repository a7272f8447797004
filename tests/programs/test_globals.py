"""Globals that a function assigns are assigned by its derivatives once a call, and read in their places."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import EVERY_FORM, number_of

TEXT = """
calls, scale, warned, cache, table = 0, 2.0, False, None, np.array([1.0, 2.0])

def tick(k=1):
    global calls
    calls += k

def grow(n):
    global scale
    if n > 0:
        scale = scale + 0.5
        tick()
        grow(n - 1)

def long(x, a):
    global calls
    calls += 1
    total = 0.0
    STEPS
    return total * calls

FUNCTION
"""
STEP = "for k in range({}):\n        total = total + np.sum(a ** k) * x"
STEPS = "\n    ".join(map(STEP.format, range(2, 30)))
START = {"calls": 0, "scale": 2.0, "warned": False, "cache": None}

PROGRAMS = {
    "a counter": "global calls\ncalls += 1\nreturn x * x * calls",
    "a function called": "tick()\ny = x * calls\ntick(3)\nreturn y * calls",
    "a recursive function": "y = x * scale\ngrow(3)\nreturn y * scale * x",
    "a long function, given arrays": "a = np.ones(3) * x\nreturn long(x, a) + long(x * x, a) * calls",
    "two at once": "global calls, scale\ncalls, scale = calls + 1, scale * 3\nreturn x * x * scale + calls",
    "a flag": "global warned\nif x > 1 and not warned:\n    warned = True\nreturn np.sin(x) if warned else x",
    "made once": "global cache\nif cache is None:\n    cache = 3.0\nreturn x * x * cache",
    "an array": "global table\ny = np.sum(table * x)\ntable = table * 2\nreturn y * np.sum(table * x * x)",
    "a missing one": "global new\ntry:\n    new\nexcept NameError:\n    new = 1.5\n"
    "y = x * new\ndel new\nreturn y * y",
    "a loop": "total = 0.0\nwhile calls < 4:\n    tick()\n    total += np.sin(x * calls)\nreturn total",
    "closures": "def g(v):\n    tick()\n    return v * calls\nreturn g(x) * g(x * x)",
    "functions in a list": "y = 0.0\nfor f in [np.sin, lambda v: v * v]:\n    tick()\n    y += f(x) * calls\n"
    "return y",
    "changes of objects": "rows = [[x], [2 * x]]\nfor row in rows:\n    tick()\n"
    "    row.append(row[0] * calls)\nreturn rows[0][1] * rows[1][1]",
    "a comprehension": "ys = [x * k * calls for k in range(3) if tick() is None]\nreturn sum(ys) * sum(ys)",
    "a name that is used twice": "ys = [calls * x for calls in range(3)]\ntick()\nreturn sum(ys) * x * calls",
}


@pytest.fixture(params=PROGRAMS)
def function(request: pytest.FixtureRequest) -> Callable[..., Any]:
    body = PROGRAMS[request.param].replace("\n", "\n    ")
    text = TEXT.replace("STEPS", STEPS).replace("FUNCTION", f"def f(x):\n    {body}")
    return build(text)


def run(f: Callable[..., Any], function: Callable[..., Any], *args: Any) -> tuple[Any, dict[str, Any]]:
    """What a call returns, and the globals that it leaves."""
    names = function.__globals__
    names.update(START, table=np.array([1.0, 2.0]))
    names.pop("new", None)
    return f(*args), {k: repr(names.get(k)) for k in (*START, "table", "new")}


def test_globals_are_assigned_once_and_read_in_place(function: Callable[..., Any]) -> None:
    x, h = 1.3, 1e-6
    value, left = run(function, function, x)
    slope = (run(function, function, x + h)[0] - run(function, function, x - h)[0]) / (2 * h)
    (out, bprop), after = run(s2sad.vjp(function), function, x)
    assert out == value and after == left
    for _ in range(2):
        assert bprop(1.0)[0] == pytest.approx(slope, rel=1e-6)
    assert {k: repr(function.__globals__.get(k)) for k in left} == left
    (out, dout), after = run(s2sad.jvp(function), function, x, 1.0)
    assert out == value and after == left and dout == pytest.approx(slope, rel=1e-6)


def test_second_derivatives_of_functions_that_assign_globals(function: Callable[..., Any]) -> None:
    x, h = 1.3, 1e-5
    _, left = run(function, function, x)
    slopes = [run(s2sad.grad(function), function, v)[0] for v in (x + h, x - h)]
    twice = [s2sad.grad(s2sad.grad(function)), s2sad.hessian(function)]
    for second in twice if EVERY_FORM else twice[number_of(function) % 2 :][:1]:
        found, after = run(second, function, x)
        assert after == left and found == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-5, abs=1e-7)


def test_globals_of_another_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("settings_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.rate = 2.0  # type: ignore[attr-defined]
    f = build("def f(x):\n    y = x * m.rate\n    m.rate = 5.0\n    return y * m.rate\n", m=module)
    out, bprop = s2sad.vjp(f)(1.5)
    assert out == 15.0 and bprop(1.0) == (10.0,) and module.rate == 5.0
    f = build("def f(x):\n    return x * m.rate\n", m=module)
    assert s2sad.grad(f)(1.5) == 5.0


def test_counters_are_read_without_generating_anew() -> None:
    f = build("calls = 0\ndef f(x):\n    global calls\n    calls += 1\n    return x * x\n")
    gradient = s2sad.grad(f)
    assert [gradient(float(x)) for x in range(4)] == [0.0, 2.0, 4.0, 6.0] and f.__globals__["calls"] == 4
    source = gradient.source_for(1.0)
    f.__globals__["calls"] = np.zeros(2)
    with pytest.raises(s2sad.S2sadError, match="in-place update of an object of type ndarray"):
        gradient(1.0)
    f.__globals__["calls"] = 7
    assert gradient(1.0) == 2.0 and f.__globals__["calls"] == 8 and gradient.source_for(1.0) == source


def test_a_function_of_another_module_reads_its_own_globals() -> None:
    """`globals()` means the module that the function is in, wherever it is put in."""
    inner = build("def g(x):\n    return x * 2.0 if 'flag' in globals() else x\n")
    f = build("flag = True\ndef f(x):\n    return g(x) * x\n", g=inner)
    assert s2sad.grad(f)(1.5) == 3.0
    inner.__globals__["flag"] = True
    assert s2sad.grad(f)(1.5) == 6.0


ARRAYS_ASSIGNED = {
    "by the function": "    global BUF\n    BUF = np.zeros(4)\n    BUF[:] = x * x\n",
    "by a callee": "    grow()\n    BUF[:] = x * x\n",
    "by a callee, later": "    BUF[:] = x\n    t = np.sum(BUF)\n    grow()\n    BUF[0] = t\n",
}


@pytest.mark.parametrize("name", ARRAYS_ASSIGNED)
def test_arrays_that_globals_are_assigned_are_not_changed_unheard(name: str) -> None:
    f = build(
        "BUF = np.zeros(4)\ndef grow():\n    global BUF\n    BUF = np.ones(4)\n"
        f"def f(x):\n{ARRAYS_ASSIGNED[name]}    return np.sum(BUF * x)\n"
    )
    x = np.array([0.5, -0.7, 1.2, 0.9])
    for derivative, args in ((s2sad.grad(f), ()), (s2sad.jvp(f), (x,))):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="outside of the function"):
            derivative(x, *args)
