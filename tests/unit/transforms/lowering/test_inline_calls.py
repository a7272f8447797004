from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from s2sad.transforms.lowering.inline_calls import inline_calls
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Program, Scope
from tests.support.is_normal import find_violations
from tests.support.stages import effect, executable, read, up_to

MODULE = """
K = 2.0

def square(x): return x * x

def norm(x, y, p=2, *, scale=1.0):
    if p == 2:
        return (square(x) + square(y)) * scale
    total = 0.0
    for v in (x, y):
        if v < 0:
            continue
        total += abs(v) ** p
        if total > 50:
            return total
    return total * K

def factorial(n): return 1 if n < 1 else n * factorial(n - 1)

def is_even(n): return True if n == 0 else is_odd(n - 1)

def is_odd(n): return False if n == 0 else is_even(n - 1)

def bump(a, v):
    a[0] += v
    v += 1
    return v

def log(x): print(x)

def apply(g, *, x): return g(g(x))

def axis_of(x, axis=None): return 1 if axis is None else axis

def adder(n):
    def add(x): return x + n
    return add

def big(x):
    x = x * 2; x = x + 1; x = x * 2; x = x + 1; x = x * 2; x = x + 1; x = x * 2; x = x + 1
    x = x * 2; x = x + 1; x = x * 2; x = x + 1; x = x * 2; x = x + 1; x = x * 2; x = x + 1
    return x
"""


def inlined(text: str, **options: Any) -> tuple[Callable[..., Any], Program]:
    """The function `f` of a text, standing after MODULE in one file, and its program after inlining."""
    function, program = read(MODULE + text)

    def find(callee: Any, call: Any) -> Program | None:
        if not isinstance(callee, FunctionType) or callee.__globals__ is not program.scope.globals:
            return None
        trees = [
            n
            for n in gast.walk(gast.parse(MODULE + text))
            if isinstance(n, gast.FunctionDef) and n.name == callee.__name__
        ]
        cells = dict(zip(callee.__code__.co_freevars, callee.__closure__ or (), strict=True))
        return up_to(to_anf, program.with_tree(trees[0], scope=Scope(program.scope.globals, cells)))

    return function, inline_calls(up_to(to_anf, program), find, **options)


def assert_same(text: str, *calls: tuple[Any, ...]) -> str:
    """Asserts that inlining changes nothing that `f` does; the text after it."""
    function, program = inlined(text)
    source = to_source(program.tree)
    after = executable(program)
    for args in calls:
        assert effect(function, args) == effect(after, args), source
    assert find_violations(program) == ()
    bound = {
        n.id for n in gast.walk(program.tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)
    }
    assert bound <= program.locals
    assert bound | set(program.bindings) <= program.names.taken
    return source


def calls_in(source: str) -> set[str]:
    return {
        n.func.id
        for n in gast.walk(gast.parse(source))
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)
    }


def test_global_functions() -> None:
    source = assert_same(
        """
def f(a, b):
    s = square(a) + norm(a, y=b, scale=K) + norm(s := square(b), b, 3)
    for i in range(4):
        s += norm(i, b, p=i) + axis_of(a, i) + axis_of(b)
    return s, square(square(a))
""",
        (2, 3),
        (-5, 1),
        (0.5, -7),
    )
    assert calls_in(source) == {"range", "abs"}


def test_the_text() -> None:
    source = assert_same(
        """
def f(a, b):
    y = square(a) * b
    return axis_of(y, b)
""",
        (2, 3),
    )
    assert (
        source
        == """def f(a, b):
    y_1 = a * a
    y = y_1 * b
    out_1 = b is None
    if out_1:
        out_2 = 1
    else:
        out_2 = b
    out = out_2
    return out
"""
    )


def test_recursion_stays_a_call() -> None:
    source = assert_same(
        """
def f(n):
    return factorial(n) + is_even(n) + is_odd(n)
""",
        (5,),
        (0,),
    )
    assert {"factorial", "is_even", "is_odd"} == calls_in(source)


def test_a_function_does_not_inline_itself() -> None:
    source = assert_same("def f(n): return 0 if n < 1 else n + f(n - 1)\n", (4,))
    assert calls_in(source) == {"f"}
    source = assert_same("def f(n): return 0 if n < 1 else g(n)\n\ndef g(n): return n + f(n - 1)\n", (4,))
    assert calls_in(source) == {"g"}


def test_parameters_that_are_assigned() -> None:
    source = assert_same(
        """
def f(a, b):
    x = [a, b]
    v = bump(x, a)
    bump(x, v)
    a = bump(x, b)
    return x, v, a, b
""",
        (2, 3),
    )
    assert calls_in(source) == set()


def test_arguments_that_do_not_fit_stay_calls() -> None:
    for call in ("square()", "square(a, a)", "square(y=a)", "square(a, x=a)", "norm(a)", "norm(a, a, 2, 3)"):
        source = assert_same(f"def f(a): return {call}\n", (2,))
        assert calls_in(source) == {call.split("(")[0]}


def test_a_shadowed_global() -> None:
    source = assert_same(
        """
def f(a, b):
    K = b
    square = a
    return norm(a, b, 3) + K * square
""",
        (2, 3),
    )
    assert calls_in(source) == {"norm"}  # it reads the number K, which could be another one later
    source = assert_same(
        """
def f(abs, b):
    return axis_of(abs) + norm2(abs, b)

def norm2(x, y): return max(abs(x), abs(y))
""",
        (2, -3),
    )
    assert calls_in(source) == {"max", "abs_2"}


def test_nested_functions() -> None:
    source = assert_same(
        """
def f(a, b):
    def affine(x, n=a, *, m=2):
        return a * x + b + n * m
    a = affine(affine(b))
    square_ = lambda x: x * x
    r = affine(x=square_(a), m=1)
    b = 9
    def unused(x):
        return affine(x)
    return r + affine(1, 2)
""",
        (2, 3),
    )
    assert calls_in(source) == set()
    assert "def " not in source.removeprefix("def f")


def test_functions_as_arguments() -> None:
    source = assert_same(
        """
def f(a, b):
    def step(x):
        return x * a
    return apply(step, x=b) + apply(lambda x: x - b, x=a) + apply(square, x=3)
""",
        (2, 3),
    )
    assert calls_in(source) == set()


def test_defaults_are_those_of_the_definition() -> None:
    assert_same(
        """
def f(a, b):
    total = 0
    for i in range(3):
        def g(x, n=i, m=a):
            return x * n + i + m
        a = g(a)
        i = 7
        total += g(b)
    return total, a
""",
        (2, 3),
    )


def test_what_stays() -> None:
    source = assert_same(
        """
def f(a, b):
    def even(n):
        return True if n < 1 else odd(n - 1)
    def odd(n):
        return False if n < 1 else even(n - 1)
    if a > 2:
        def g(x):
            return x
    else:
        def g(x):
            return -x
    h = adder(b)
    hs = [g, h]
    omega = lambda f, n: 1 if n < 1 else n * f(f, n - 1)
    return even(a), odd(b), g(a), h(a), hs[1](3), omega(omega, 5)
""",
        (2, 3),
        (5, 1),
    )
    assert {"g", "odd", "h"} <= calls_in(source)


def test_closures_over_parameters() -> None:
    assert_same(
        """
def f(a):
    g = adder(a)
    a = a + 1
    h = adder(a)
    a = g(a)
    return g(a), h(a), adder(a)(1)
""",
        (2,),
    )


def test_the_budget() -> None:
    function, program = inlined("def f(a): return big(a)\n", max_statements=5)
    assert calls_in(to_source(program.tree)) == {"big"}
    calls = " + ".join(["big(a)"] * 30)
    function, program = inlined(f"def f(a): return {calls}\n")
    assert calls_in(to_source(program.tree)) == {"big"}
    assert 100 < sum(isinstance(n, gast.stmt) for n in gast.walk(program.tree)) < 500
    assert executable(program)(3) == function(3)


def test_calls_that_are_needed() -> None:
    function, program = inlined(
        "def f(a): return big(a) + big(a + 1)\n", max_statements=5, needed=lambda call: call.args[0].id == "a"
    )
    assert calls_in(to_source(program.tree)) == {"big"}
    assert to_source(program.tree).count("big(") == 1
    assert executable(program)(3) == function(3)
    function, program = inlined("def f(n): return factorial(n)\n", needed=lambda call: True)
    assert calls_in(to_source(program.tree)) == {"factorial"}
    calls = " + ".join(["big(a)"] * 200)
    function, program = inlined(f"def f(a): return {calls}\n", needed=lambda call: True)
    assert 2000 < sum(isinstance(n, gast.stmt) for n in gast.walk(program.tree)) < 3000
    assert executable(program)(3) == function(3)


def from_elsewhere(text: str, **names: Any) -> tuple[Callable[..., Any], Program]:
    """A function `f` that calls `g` of another module, and its program after inlining."""
    g, callee = read(text, "g", **names)
    function, program = read("def f(x):\n    return g(x) + len(x)\n", g=g)
    found = up_to(to_anf, Program(callee.tree, callee.scope, "other.py", callee.lines))
    return function, inline_calls(up_to(to_anf, program), lambda f, call: found if f is g else None)


def test_functions_of_another_module() -> None:
    function, after = from_elsewhere("def g(x):\n\n\n\n    return length(x) + len(x)\n", length=len)
    assert after.bindings == {"length": len}
    assert calls_in(to_source(after.tree)) == {"len", "length"}
    assert {s.lineno for s in after.tree.body} == {2}
    assert executable(after)([1, 2]) == function([1, 2])


def test_numbers_of_another_module() -> None:
    function, after = from_elsewhere("def g(x):\n    return x[0] * K\n", K=3.0)
    assert calls_in(to_source(after.tree)) == {"g", "len"}
    assert executable(after)([1, 2]) == function([1, 2])
