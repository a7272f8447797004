"""Nested functions that rebind variables of the functions around them."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import check_program, check_second, is_sampled

X, Y = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])

PROGRAMS = {
    "order": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v + 1.0
    return s * v
t = s + g(y[0]) * s
u = [s, g(y[1]), s, g(y[2])]
return t * u[0] + u[1] * u[2] * u[3] + s
""",
    "augmented": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v + 1.0
    return s * v
s += g(y[0])
s = g(y[1])
s *= s + g(y[2])
return s
""",
    "comprehension": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v + 1.0
    return s * v
r = [g(v) * s for v in y]
d = {k: g(v) for k, v in enumerate(x)}
return sum(r) * s + d[2]
""",
    "bool ops": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v + 1.0
    return s * v
t = s > 0 and g(y[0]) > -100 and g(y[1])
r = g(y[2]) if s > 50 else s * g(y[3])
return t * r + s
""",
    "recursive": """
s = x[0]
def g(n):
    nonlocal s
    if n == 0:
        return s
    s = s * y[n] + 0.5
    r = g(n - 1) + s
    s = s * r
    return r
a = g(3)
return a * s
""",
    "mutual": """
s = x[0]
t = y[0]
def g(n):
    nonlocal s
    s = s * t
    if n > 0:
        h(n - 1)
def h(n):
    nonlocal t
    t = t + s * x[n]
    g(n)
g(2)
return s * t
""",
    "nested nested": """
s = x[0]
def outer(v):
    t = v * 2.0
    def inner(w):
        nonlocal s, t
        s = s * w
        t = t + s
        return t
    a = inner(v)
    b = inner(a)
    return a * b * t
r = outer(y[0])
q = outer(r)
return r * q * s
""",
    "inner declared only in inner": """
s = x[0]
def outer(v):
    def inner(w):
        nonlocal s
        s = s * w
    inner(v)
    inner(s)
    return s + v
r = outer(y[0])
return r * s
""",
    "shadowed names": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v
def h(s):
    g(s)
    return s * 2.0
r = h(y[0])
def k():
    s = y[1]
    def m():
        nonlocal s
        s = s * 2.0 * y[2]
    m()
    return s
return r * s * k() * s
""",
    "reader closure": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v
def get(w):
    return s * w
a = get(y[0])
g(y[1])
b = get(y[2])
g(b)
return a * b * get(1.0)
""",
    "keywords defaults": """
s = x[0]
def g(v, w=y[1], *, z=2.0):
    nonlocal s
    if v > 0.2:
        s = s * v * w
        return
    s = s + z
g(y[0])
g(w=x[1], v=y[1])
g(y[2], z=y[3])
return s
""",
    "in place and rebound": """
u = x * 1.0
w = u
def step(v):
    nonlocal u
    u[0] = v * u[1]
    u = u * v
    u[1] += w[0]
step(y[0])
step(y[1])
w[2] = u[0]
return np.sum(u * u) + np.sum(w * w)
""",
    "in loop with break": """
s = x[0]
c = 0
def tick():
    nonlocal c, s
    c += 1
    s = s * 1.5
    if c > 2:
        return True
    return False
for k in range(10):
    s = s + y[k % 4]
    if tick():
        break
return s * c
""",
    "zero trip": """
s = x[0]
def g(v):
    nonlocal s
    s = s * v
for k in range(0):
    g(y[k])
return s * x[1]
""",
    "unbound then set": """
def g(v):
    nonlocal s
    s = v * v
g(x[0])
t = s
s = t * y[0]
return s * t
""",
    "unbound then set in a recursion": """
def g(v, n):
    nonlocal s
    r, s = n * 1.0, v * n
    if n > 0:
        g(v * s, n - 1)
        s = s + v * r
    return s * v
z = g(x[0], 2) * g(y[0], 1)
z, s = z * s, None
return z
""",
    "deleted branch": """
s = x[0]
def g(v):
    nonlocal s
    if v > 0:
        t = s
    else:
        t = 2.0 * s
        s = t
    return t
return g(y[0]) * g(y[2]) * s
""",
    "walrus in index": """
s = x[0]
i = 0
def nxt():
    nonlocal i
    i = i + 1
    return i
a = x * y
a[nxt()] = a[nxt()] * y[nxt()]
a[i] += a[i - 1]
return np.sum(a * a) * i
""",
}


def program(body: str) -> str:
    """A function of two vectors with this body."""
    return "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f = build(program(PROGRAMS[name]))
    check_program(f, (X, Y), (0, 1))
    if is_sampled(f):
        check_second(f, (X, Y), (0, 1))


REBIND = "s = x[0]\ndef g(v):\n    nonlocal s\n    s = s * v\n    return s\n"
READ = REBIND.replace("return s", "return get(v)")
CLOSURES = {  # which are objects, with a cell for `s`
    "a value": REBIND + "return sum(map(g, y)) * s",
    "returned": (
        "def make(s):\n    def g(v):\n        nonlocal s\n        s = s * v\n        return s\n    return g\n"
        "h = make(x[0])\nreturn h(y[0]) * h(y[1])"
    ),
    "a lambda": REBIND + "h = lambda t: g(t) * 2\nreturn h(y[0]) * s",
    "a try": REBIND + "try:\n    g(y[0])\nexcept ValueError:\n    pass\nreturn s",
    "by stars": REBIND + "v = [y[0]]\nreturn g(*v) * s",
    "a reader": READ + "def get(w):\n    return s * w\nreturn g(y[0])",
    "a reader as an argument": (
        "s = x[0]\ndef g(v, h):\n    nonlocal s\n    s = s * v\n    return h(v)\n"
        "return g(y[0], lambda w: s * w)"
    ),
    "two definitions": REBIND + "if x[0] > 0:\n    def g(v):\n        return v\nreturn g(y[0])",
    "two counters": (
        "def make(s):\n    def g(v):\n        nonlocal s\n        s = s * v + 1.0\n        return s\n"
        "    return g\n"
        "a, b = make(x[0]), make(x[1])\nreturn a(y[0]) * b(y[1]) + a(y[2]) * b(x[2]) * a(1.0)"
    ),
}


@pytest.mark.parametrize("name", CLOSURES)
def test_closures(name: str) -> None:
    f = build(program(CLOSURES[name]))
    check_program(f, (X, Y), (0, 1))
    if is_sampled(f):
        check_second(f, (X, Y), (0, 1))


def test_a_function_that_rebinds_what_others_hold_is_refused() -> None:
    f = build(
        "def outer():\n    s = 1.0\n    def f(x):\n        nonlocal s\n        s = s * x\n"
        "        return s\n    return f\n"
    )()
    with pytest.raises(UnsupportedSyntaxError, match="assigned to the variable `s` around the function"):
        s2sad.grad(f)(2.0)


def test_the_derivative_reads_as_one_of_assignments() -> None:
    f = build(
        program(
            "u = x * 1.0\ndef step(v):\n    nonlocal u\n    u = u * v\n"
            "for k in range(4):\n    step(y)\nreturn np.sum(u)"
        )
    )
    assert (
        s2sad.grad(f).source_for(X, Y)
        == """\
def f_grad(x, y):
    u = x * 1.0
    for k in range(4):
        u = u * y
    du = np.ones_like(u)
    for _ in range(4):
        # u = u * v
        du = du * y
    # u = x * 1.0
    dx = du * 1.0
    return dx
"""
    )
