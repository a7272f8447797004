"""Variables around a function that it assigns, or that the functions which it calls do: counters and flags
are assigned by the derivatives once a call and read in their places; what carries a derivative is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import s2sad
from s2sad import UnsupportedSyntaxError
from tests.support.build import build

AROUND = """
def make():
    calls, scale, on, table = 0, 2.0, True, None
    def tick(k=1):
        nonlocal calls
        calls += k
    def grow(n):
        nonlocal scale
        if n > 0:
            scale = scale + 0.5
            tick()
            grow(n - 1)
    def f(x):
        BODY
    def reset():
        nonlocal calls, scale, on, table
        calls, scale, on, table = 0, 2.0, True, None
    def state():
        return calls, scale, on, table
    return f, reset, state
"""
PROGRAMS = {
    "a counter": "nonlocal calls\ncalls += 1\nreturn x * x * calls",
    "a function called": "tick()\ny = x * calls\ntick(3)\nreturn y * calls",
    "a recursive function": "y = x * scale\ngrow(3)\nreturn y * scale * x",
    "read between changes": "nonlocal scale\ny = x * scale\nscale = 5.0\nreturn y * scale * x",
    "a flag": "nonlocal on\ny = x * x\nif on and x > 1:\n    on = False\nreturn np.sin(y) if on else y * x",
    "made once": "nonlocal table\nif table is None:\n    table = [1.0, 2.0]\n"
    "return sum([x ** w for w in table])",
    "a loop": "total = 0.0\nwhile calls < 4:\n    tick()\n    total += np.sin(x * calls)\nreturn total",
    "recursion": "nonlocal calls\ncalls += 1\nreturn x * calls if calls > 3 else f(x * x) * x * calls",
    "variables of its own": "s = x\ndef g(v):\n    nonlocal s, calls\n    calls += 1\n    s = s * v * calls\n"
    "g(x)\ng(2.0)\nreturn s",
    "the name of another": "def g(v):\n    calls = v * v\n    def h():\n        nonlocal calls\n"
    "        calls = calls * 2\n    h()\n    tick()\n    return calls\nreturn g(x) * calls",
    "a comprehension": "ys = [x * k * calls for k in range(3) if tick() is None]\nreturn sum(ys) * sum(ys)",
}


@pytest.fixture(params=PROGRAMS)
def made(request: pytest.FixtureRequest) -> tuple[Callable[..., Any], ...]:
    return build(AROUND.replace("BODY", PROGRAMS[request.param].replace("\n", "\n        ")))()


def test_variables_are_assigned_once_and_read_in_place(made: tuple[Callable[..., Any], ...]) -> None:
    f, reset, state = made

    def run(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
        reset()
        return function(*args), state()

    x, h = 1.3, 1e-6
    value, left = run(f, x)
    slope = (run(f, x + h)[0] - run(f, x - h)[0]) / (2 * h)
    (out, bprop), after = run(s2sad.vjp(f), x)
    assert out == value and after == left
    for _ in range(2):
        assert bprop(1.0)[0] == pytest.approx(slope, rel=1e-6)
    assert state() == left
    (out, dout), after = run(s2sad.jvp(f), x, 1.0)
    assert out == value and after == left and dout == pytest.approx(slope, rel=1e-6)
    h = 1e-5
    slopes = [run(s2sad.grad(f), v)[0] for v in (x + h, x - h)]
    for second in (s2sad.grad(s2sad.grad(f)), s2sad.hessian(f)):
        found, after = run(second, x)
        assert after == left and found == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-5, abs=1e-7)


FOUND_BY_THE_RUN = """
scale, on, mode = 2.0, True, "linear"
class Model:
    rate = 2.0
def change():
    global scale, on, mode
    scale, on, mode = 5.0, False, "square"
    Model.rate = m.rate = 5.0
def reset():
    global scale, on, mode
    scale, on, mode = 2.0, True, "linear"
    Model.rate = m.rate = 2.0
def scaled(x):
    return x * scale
def looped(x):
    for _ in range(3):
        x = x * scale
    return x
def run_all(fs):
    for f in fs:
        f()
def f(x, fs):
    BODY
"""
FOUND = {
    "a number": "y = x * scale\nfs[0]()\nreturn y * scale * x",
    "a flag": "y = x * 2.0\nfs[0]()\nreturn y * x if on else y",
    "a string": "y = x * 2.0\nfs[0]()\nreturn y if mode == 'linear' else y * y",
    "of a module": "y = x * m.rate\nfs[0]()\nreturn y * m.rate * x",
    "of a class": "y = x * Model.rate\nfs[0]()\nreturn y * Model.rate * x",
    "read by callees": "y = scaled(x)\nfs[0]()\nreturn scaled(y) * x",
    "read in loops": "y = looped(x)\nfs[0]()\nreturn looped(y) * x",
    "called in a loop": "y = scaled(x)\nfor g in fs:\n    g()\nreturn scaled(y) * x",
    "called by another": "y = scaled(x)\nrun_all(fs)\nreturn scaled(y) * x",
    "of a dict": "y = scaled(x)\nd = {'g': fs[0]}\nd['g']()\nreturn scaled(y) * x",
}


@pytest.mark.parametrize("name", FOUND)
def test_what_the_run_finds_may_assign_what_its_caller_reads(name: str) -> None:
    text = FOUND_BY_THE_RUN.replace("BODY", FOUND[name].replace("\n", "\n    "))
    f = build(text, m=ModuleType("settings_of_a_test"))
    change, reset = f.__globals__["change"], f.__globals__["reset"]

    def run(function: Callable[..., Any], *args: Any) -> Any:
        reset()
        return function(*args)

    x, h = 1.5, 1e-6
    slope = (run(f, x + h, [change]) - run(f, x - h, [change])) / (2 * h)
    assert run(s2sad.grad(f), x, [change]) == pytest.approx(slope)
    assert run(s2sad.vjp(f, argnums=0), x, [change])[1](1.0) == pytest.approx(slope)
    assert run(s2sad.jvp(f, argnums=0), x, [change], 1.0)[1] == pytest.approx(slope)
    assert run(s2sad.grad(lambda v: run(f, v, [change])), x) == pytest.approx(slope)


CLOSURES = """
def make():
    k = 2.0
    def set_k():
        nonlocal k
        k = 5.0
    def direct(x):
        nonlocal k
        y = x * k
        k = 5.0
        return y * k
    def by_a_call(x):
        y = x * k
        set_k()
        return y * k
    def in_a_nested_one(x):
        def inner():
            nonlocal k
            k = 5.0
        y = x * k
        inner()
        return y * k
    return {"direct": direct, "by a call": by_a_call, "in a nested one": in_a_nested_one}
def f(x, fs):
    return fs[0](x) * x
"""


@pytest.mark.parametrize("name", ["direct", "by a call", "in a nested one"])
def test_closures_that_the_run_finds_and_that_assign_are_refused(name: str) -> None:
    f = build(CLOSURES)
    closure = f.__globals__["make"]()[name]
    for call in (
        lambda: s2sad.grad(f)(1.5, [closure]),
        lambda: s2sad.vjp(f, argnums=0)(1.5, [closure]),
        lambda: s2sad.jvp(f, argnums=0)(1.5, [closure], 1.0),
    ):
        with pytest.raises(UnsupportedSyntaxError, match="`nonlocal k` in a function that is known"):
            call()
    assert s2sad.grad(closure)(1.5) == 10.0


def test_each_closure_of_the_same_code_has_its_own() -> None:
    make = build(
        "def make(k):\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n"
        "        return x * k * n\n"
        "    def found(x, fs):\n        y = x * k\n        fs[0]()\n        return y * k\n"
        "    def change():\n        nonlocal k\n        k = k + 1.0\n"
        "    return f, lambda: n, found, change\n"
    )
    (f, f_count, f_found, f_change), (g, g_count, g_found, g_change) = make(2.0), make(10.0)
    assert [s2sad.grad(h)(1.5) for h in (f, g, f, f, g)] == [2.0, 10.0, 4.0, 6.0, 20.0]
    assert (f_count(), g_count()) == (3, 2)
    assert s2sad.grad(lambda x: f(x) * g(x))(1.5) == 2 * 1.5 * 8.0 * 30.0
    assert s2sad.grad(f_found)(1.5, [f_change]) == 6.0
    assert s2sad.grad(g_found)(1.5, [g_change]) == 110.0
    assert s2sad.vjp(g_found, argnums=0)(1.5, [lambda: g_change()])[1](1.0) == 132.0


def test_a_variable_that_carries_a_derivative_is_refused() -> None:
    f = build(
        "def make():\n    k = 1.0\n    def f(x):\n        nonlocal k\n        k = x\n"
        "        return k * x\n    return f\n"
    )()
    for transform in (s2sad.grad, s2sad.vjp):
        with pytest.raises(UnsupportedSyntaxError, match="assigned to the variable `k` around the function"):
            transform(f)(1.5)


def test_a_variable_bound_by_a_loop_is_refused() -> None:
    f = build(
        "def make():\n    k = 1\n    def f(x):\n        nonlocal k\n        for k in range(3):\n"
        "            x = x * k\n        return x\n    return f\n"
    )()
    with pytest.raises(UnsupportedSyntaxError, match="`nonlocal k` with `k` bound by more than assignments"):
        s2sad.grad(f)(1.5)


def test_what_no_function_assigns_is_known_beside_what_the_run_finds() -> None:
    f = build(
        "scale = 2.0\ncalls = 0\ndef tick():\n    global calls\n    calls += 1\n"
        "def f(x, fs):\n    y = x * scale\n    fs[0]()\n    return y * scale * calls\n"
    )
    gradient, names = s2sad.grad(f), f.__globals__
    assert gradient(1.5, [names["tick"]]) == 4.0
    source = gradient.source_for(1.5, [names["tick"]])
    assert ".scale" not in source and ".calls" in source
    exec("def change():\n    global scale\n    scale = 5.0\n", names)  # later, and no file has its text
    assert gradient(1.5, [names["change"]]) == 10.0
