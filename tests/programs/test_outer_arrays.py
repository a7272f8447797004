"""Arrays of the module, or of a function around, that a function writes to."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

X = np.array([0.5, -0.7, 1.2, 0.9])
LONG = "".join(f"    BUF[{i % 4}] = v[{i % 4}] * {i + 1}.0 + BUF[{(i + 1) % 4}] * 0.01\n" for i in range(60))
READS = "".join(f"    t = t + v[{i % 4}] * BUF[{i % 4}] * {i + 1}.0\n" for i in range(60))

PROGRAMS = {
    "filled by a long function": f"""
BUF = np.zeros(4)
def fill(v):
{LONG}
def f(x, s):
    BUF[:] = 0.0
    fill(x * s)
    return np.sum(BUF * x)
""",
    "filled by a function": """
BUF = np.zeros(4)
def fill(v):
    BUF[:] = v
    return BUF
def f(x, s):
    fill(x * s)
    return np.sum(BUF * x)
""",
    "work array of a function": """
WORK = np.zeros(4)
def lap(u):
    WORK[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return WORK.copy()
def f(x, s):
    u = x * s
    for k in range(2):
        u = u + s * lap(u)
    return np.sum(u * x)
""",
    "given as output": """
CACHE = np.zeros(4)
def step(u, s):
    np.multiply(u, s, out=CACHE)
    CACHE[0] = 0.0
    return np.sum(CACHE)
def f(x, s):
    return step(x, s) * step(x * x, s)
""",
    "read and accumulate": """
BUF = np.ones(4)
def f(x, s):
    BUF[:] = x * s
    BUF[1:] += BUF[:-1] * x[1:]
    return np.sum(BUF * BUF * x)
""",
    "view of it": """
BUF = np.zeros((2, 4))
def f(x, s):
    a, b = BUF
    a[:] = x * s
    b[:] = a * a
    a *= b
    return np.sum(BUF * x)
""",
    "returns it": """
BUF = np.zeros(4)
def f(x, s):
    np.multiply(x, s, out=BUF)
    BUF[0] = x[1] * x[2]
    return BUF
""",
    "branch and loop": """
BUF = np.zeros(4)
def f(x, s):
    t = 0.0
    for k in range(3):
        if k % 2 == 0:
            BUF[:] = x * s * (k + 1)
        else:
            BUF[k] = t
        t = t + np.sum(BUF * x)
    return t
""",
    "work arrays of two functions": """
LEFT = np.zeros(4)
RIGHT = np.zeros(4)
def split(u):
    LEFT[1:] = u[:-1]
    LEFT[0] = u[-1]
    RIGHT[:-1] = u[1:]
    RIGHT[-1] = u[0]
def step(u, s):
    split(u)
    return u + s * (LEFT - 2 * u + RIGHT)
def f(x, s):
    u = x
    for k in range(3):
        u = step(u, s)
    return np.sum(u ** 3)
""",
    "add at": """
RHO = np.zeros(5)
def f(x, s):
    RHO[:] = 0.0
    np.add.at(RHO, [0, 2, 2, 4], x * s)
    return np.sum(RHO ** 2)
""",
    "exchange": """
NEW = np.zeros(4)
def f(x, s):
    u = x * s
    for k in range(3):
        NEW[1:-1] = 0.5 * (u[:-2] + u[2:])
        NEW[0] = u[0]
        NEW[-1] = u[-1]
        u[:] = NEW
    return np.sum(u * x)
""",
    "sorted": """
BUF = np.zeros(4)
def f(x, s):
    BUF[:] = x * s
    BUF.sort()
    return np.sum(BUF * np.arange(4.0))
""",
    "aug module array": """
BUF = np.zeros(4)
def step(x, s):
    global BUF
    return np.sum(x)
def f(x, s):
    b = BUF
    b[:] = 1.0
    b *= x
    b += s
    return np.sum(b * x)
""",
    "read by a nested function in a list": """
BUF = np.zeros(4)
def f(x, s):
    BUF[:] = x * s
    def g(v):
        return np.sum(BUF * v)
    h = [g]
    return h[0](x) * g(x * x)
""",
}
REFUSED = {
    "of a function around, called": """
def make():
    work = np.zeros(4)
    def g(x, s):
        work[:] = x * s
        work[1:] += work[:-1]
        return np.sum(work * x)
    return g
G = make()
def f(x, s):
    return G(x, s)
""",
    "in a list of the module": """
HELD = [np.zeros(4)]
def f(x, s):
    HELD[0][:] = x * s
    return np.sum(HELD[0] * x)
""",
}
SHARED = {
    "read by a long function": f"""
BUF = np.zeros(4)
def read(v):
    t = 0.0
{READS}    return t
def f(x, s):
    BUF[:] = x * s
    return read(x)
""",
    "another name of the module": """
BUF = np.zeros(4)
SAME = BUF
def f(x, s):
    BUF[:] = x * s
    return np.sum(SAME * x)
""",
    "a view of the module": """
BUF = np.zeros(4)
PART = BUF[1:]
def f(x, s):
    BUF[:] = x * s
    return np.sum(PART * x[1:])
""",
    "a list of the module": """
BUF = np.zeros(4)
HELD = [BUF]
def f(x, s):
    BUF[:] = x * s
    return np.sum(HELD[0] * x)
""",
}
FIRST_ORDER = {"returns it", "branch and loop"}  # a number is wanted; what a trace holds is not followed


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f = build(PROGRAMS[name])
    check_changing(f, (X, 0.7), (0, 1))
    if name not in FIRST_ORDER:
        check_changing_second(f, (X, 0.7), (0, 1))


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_left_as_the_function_leaves_them(name: str) -> None:
    f = build(PROGRAMS[name])
    arrays = {n: v for n, v in f.__globals__.items() if isinstance(v, np.ndarray)}
    before = {n: v.copy() for n, v in arrays.items()}
    f(X, 0.7)
    expected = {n: v.copy() for n, v in arrays.items()}
    for derivative, args in ((s2sad.vjp(f), (X, 0.7)), (s2sad.jvp(f), (X, 0.7, X, 0.1))):
        for n, v in arrays.items():
            v[...] = before[n]
        derivative(*args)
        for n, v in arrays.items():
            np.testing.assert_array_equal(v, expected[n])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_reverse_sweep_after_another_run(name: str) -> None:
    f = build(PROGRAMS[name])
    out, bprop = s2sad.vjp(f)(X, 0.7)
    dout = np.ones_like(out) if np.ndim(out) else 1.0
    expected = bprop(dout)
    s2sad.vjp(f)(2 * X, 0.3)
    for a, b in zip(bprop(dout), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    for derivative, args in ((s2sad.grad, ()), (s2sad.jvp, (X, 0.1))):
        with pytest.raises(s2sad.UnsupportedSyntaxError):
            derivative(build(REFUSED[name]))(X, 0.7, *args)


@pytest.mark.parametrize("name", SHARED)
def test_what_else_holds_them_is_refused(name: str) -> None:
    for derivative, args in ((s2sad.grad, ()), (s2sad.jvp, (X, 0.1))):
        with pytest.raises(s2sad.NonDifferentiableError, match="share memory"):
            derivative(build(SHARED[name]))(X, 0.7, *args)


def test_one_that_is_an_argument_is_refused() -> None:
    f = build(PROGRAMS["view of it"])
    with pytest.raises(s2sad.NonDifferentiableError, match="share memory"):
        s2sad.grad(f)(f.__globals__["BUF"][1], 0.7)


def test_a_function_that_is_given_may_read_them() -> None:
    f = build("BUF = np.zeros(4)\ndef f(g, x):\n    BUF[:] = x * 2\n    return g(x)\n")
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="something outside"):
        s2sad.grad(f, argnums=1)(lambda v: np.sum(f.__globals__["BUF"] * v), X)


PASSED = """
BUF = np.zeros(4)
def fill(v):
    BUF[:] = v * v
    return np.sum(BUF)
def f(g, x):
    t = g(x)
    return t * np.sum(BUF * x)
"""


def test_a_function_that_is_given_may_write_to_them() -> None:
    f = build(PASSED)
    for derivative, args in ((s2sad.grad, ()), (s2sad.jvp, (X,))):
        with pytest.raises(s2sad.UnsupportedSyntaxError, match="holds too"):
            derivative(f, argnums=1)(f.__globals__["fill"], X, *args)


def test_of_a_function_around() -> None:
    def make():  # type: ignore[no-untyped-def]
        work = np.zeros(4)

        def g(x, s):  # type: ignore[no-untyped-def]
            work[:] = x * s
            work[1:] += work[:-1]
            return np.sum(work * x)

        return g

    for g in (make(), make()):
        check_changing(g, (X, 0.7), (0, 1))
        check_changing_second(g, (X, 0.7), (0, 1))
