"""Arrays that reach a change in place by roundabout ways: through callees, containers, results, iterators.

What they do is right or refused, never wrong; `REFUSED` says which are refused today, and has to be right.
"""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import S2sadError
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

X, V = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])

PROGRAMS = {
    "an argument from a recursive callee": """
def same(p, k):
    if k > 0:
        return same(p, k - 1)
    return p
def f(a, v):
    b = same(a, 2)
    b += v
    return np.sum(np.sin(a) * v)
""",
    "an array from a recursive callee": """
def same(p, k):
    if k > 0:
        return same(p, k - 1)
    return p
def f(x, v):
    a = x.copy()
    b = same(a, 2)
    b[0] = v[1]
    return np.sum(np.sin(a) * v)
""",
    "a view from a recursive callee": """
def row(p, k):
    if k > 0:
        return row(p, k - 1)
    return p[1:]
def f(x, v):
    a = x * v
    b = row(a, 2)
    a *= v
    return np.sum(np.sin(b)) * np.sum(a)
""",
    "a view from a long callee": """
def row(p):
    s = 0.0
""" + "    s = s + np.sum(p) * 0.1\n" * 45 + """
    return p[1:] if s < 1e9 else p[:-1]
def f(x, v):
    a = x * v
    b = row(a)
    a *= v
    return np.sum(np.sin(b)) * np.sum(a)
""",
    "a recursive callee writes": """
def write(p, k, t):
    if k > 0:
        write(p, k - 1, t)
        p[k] *= t
def f(x, v):
    a = x * v
    write(a, 2, v[0])
    return np.sum(a * a)
""",
    "a recursive callee writes and returns": """
def write(p, k, t):
    if k > 0:
        write(p, k - 1, t)
        p[k] *= t
    return p
def f(x, v):
    a = x * v
    b = write(a, 2, v[0])
    b *= 2.0
    return np.sum(a * a)
""",
    "a recursive callee writes into an argument": """
def write(p, k, t):
    if k > 0:
        write(p, k - 1, t)
        p[k] *= t
    return p
def f(x, v):
    b = write(x, 2, v[0])
    b *= 2.0
    return np.sum(x * x)
""",
    "a closure that is returned writes": """
def make(p):
    def inc(k, t):
        if k > 0:
            inc(k - 1, t)
            p[k] += t
    return inc
def f(x, v):
    a = x * v
    inc = make(a)
    inc(2, v[0])
    inc(1, v[1])
    return np.sum(a * a)
""",
    "a view from a function passed on": """
def apply(g, p):
    return g(p)
def f(x, v):
    a = x * v
    b = apply(lambda q: q[1:], a)
    b *= 2.0
    return np.sum(a * a)
""",
    "a view from a function in a list": """
def f(x, v):
    a = x * v
    h = [lambda q: q[1:], lambda q: q * 2.0]
    b = h[0](a)
    b *= v[1:]
    return np.sum(a * a)
""",
    "a method by getattr": """
def f(x, v):
    a = x * v
    b = getattr(a, 'ravel')()
    b *= v
    return np.sum(a * a)
""",
    "dict.get": """
def f(x, v):
    a = x * v
    d = {'p': a}
    b = d.get('p')
    b *= v
    return np.sum(a * a)
""",
    "views in a dict comprehension": """
def f(x, v):
    a = x * v
    d = {k: a[k:] for k in range(2)}
    d[1] *= v[1:]
    return np.sum(a * a)
""",
    "the larger of two arrays": """
def f(x, v):
    a = x * v
    b = x + v
    c = max([a, b], key=lambda q: q[0])
    c *= v
    return np.sum(a * a) + np.sum(b)
""",
    "sorted arrays": """
def f(x, v):
    a = x * v
    b = x + v
    c = sorted([a, b], key=lambda q: q[0])[0]
    c *= v
    return np.sum(a * a) + np.sum(b)
""",
    "pairs of arrays": """
def f(x, v):
    a = x * v
    b = x + v
    for p, q in zip([a, b], [b, a]):
        p *= q
    return np.sum(a * a) + np.sum(b)
""",
    "an exchange in a loop": """
def f(x, v):
    a = x * v
    b = x + v
    for k in range(3):
        a, b = b, a
        a *= v
    return np.sum(a * a) + np.sum(b)
""",
    "a list with a star": """
def f(x, v):
    a = x * v
    b = x + v
    h = [*[a, b], a]
    h[2] *= v
    return np.sum(a * a) + np.sum(b)
""",
    "lists added": """
def f(x, v):
    a = x * v
    h = [a] + [x + v]
    h[0] *= v
    return np.sum(a * a) + np.sum(h[1])
""",
    "a list repeated": """
def f(x, v):
    a = x * v
    h = [a] * 2
    h[0] *= v
    return np.sum(a * a) + np.sum(h[1])
""",
    "a part of a list": """
def f(x, v):
    a = x * v
    h = [a, v, a][1:]
    h[1] *= v
    return np.sum(a * a)
""",
    "arrays reversed": """
def f(x, v):
    a = x * v
    b = x + v
    for p in reversed([a, b]):
        p *= a
    return np.sum(a * a) + np.sum(b)
""",
    "one of two, under two names": """
def f(x, v):
    a = x * v
    b = (a if v[0] > 0 else v)
    c = b
    a *= v
    c = c * c
    return np.sum(a * c)
""",
    "a walrus": """
def f(x, v):
    a = x * v
    (b := a)[0] = v[1]
    return np.sum(a * b)
""",
    "pairs of rows": """
def f(x, v):
    a = np.outer(x, v)
    for i, (p, q) in enumerate(zip(a[:-1], a[1:])):
        q += p * i
    return np.sum(a * a)
""",
    "an array of arrays": """
def f(x, v):
    a = x * v
    b = np.array([a, a])
    b[0] *= v
    a *= 2.0
    return np.sum(a * b)
""",
    "rows appended": """
def f(x, v):
    a = np.outer(x, v)
    h = []
    for row in a:
        h.append(row)
    for row in h:
        row *= v
    return np.sum(a * a)
""",
    "items of a dict": """
def f(x, v):
    a = x * v
    d = {'p': a, 'q': x + v}
    for k, p in d.items():
        p *= v
    return np.sum(a * a) + np.sum(d['q'])
""",
    "a name bound to another array in a loop": """
def f(x, v):
    a = x * v
    b = a
    for k in range(2):
        b = b * v
        b[0] = a[0]
        a[1] *= 2.0
    return np.sum(a * b)
""",
    "a number, the array and a new one returned": """
def f(x, v):
    a = x
    a *= v
    return np.sum(v), a, 2.0 * a
""",
    "nested results": """
def f(x, v):
    a = x
    a *= v
    return (np.sum(v), (a, np.sum(a)))
""",
    "a list returned": """
def f(x, v):
    a = x
    a *= v
    return [np.sum(v), a]
""",
    "results of two arms": """
def f(x, v):
    a = x
    a *= v
    if v[0] > 0:
        return np.sum(v), a
    return a[0], v
""",
    "two names of a tuple of an array and a number": """
def f(x, v):
    t = (x, np.sum(v))
    u = t
    u[0][:] *= v
    return t[1] * u[1] * np.sum(u[0] * t[0])
""",
    "a tuple of an array and a number unpacked": """
def f(x, v):
    t = (x, np.sum(v))
    a, s = t
    a *= s
    return np.sum(t[0] * t[1])
""",
    "a dict of an array and a number": """
def f(x, v):
    t = {'a': x, 's': np.sum(v)}
    t['a'][:] *= t['s']
    return np.sum(t['a'] * t['s'])
""",
    "two names of a list of an array and a number": """
def f(x, v):
    t = [x, np.sum(v)]
    u = t
    t[0][0] *= t[1]
    return np.sum(u[0] * u[1])
""",
    "a number stored into such a list": """
def f(x, v):
    t = [x, np.sum(v)]
    u = t
    t[0][0] *= t[1]
    u[1] = v[0]
    return np.sum(u[0] * t[1])
""",
    "a callee returns what it changed, and a number": """
def g(p, q):
    p *= q
    return p, np.sum(q), q
def f(x, v):
    a, s, q = g(x, v)
    a += s * q
    return np.sum(x * a)
""",
}
REFUSED = {
    "a view from a recursive callee",
    "a view from a long callee",
    "a closure that is returned writes",
    "views in a dict comprehension",
    "a number stored into such a list",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.xfail(strict=True, raises=S2sadError)] if n in REFUSED else [])
        for n in PROGRAMS
    ],
)
def test_roundabout_ways(name: str) -> None:
    check_changing(build(PROGRAMS[name]), (X, V), (0, 1))


ROWS = """
def f(x, B):
    t = 0.0
    for i, r in enumerate(B):
        r += x
        t += i * np.sum(r * r)
    return t
"""


def test_rows_of_an_array_that_is_not_differentiated() -> None:
    """What a loop takes from it has no derivative at first, and gets one."""
    B = np.random.default_rng(2).uniform(0.5, 1.5, (3, 4))
    check_changing(build(ROWS), (X, B), (0,))
    check_changing_second(build(ROWS), (X, B), (0,))


IMAGINARY = """
def f(x, s):
    z = x * (1j + s)
    r = z.imag
    r *= s
    return np.sum(np.sin(z).real)
"""


def test_a_view_of_an_imaginary_part_is_not_changed() -> None:
    with pytest.raises(S2sadError, match="may be a part of"):
        s2sad.grad(build(IMAGINARY))(X, 0.7)


@pytest.mark.parametrize("place", ["0", "1:", "[0, 2]", "z.real > 0"])
def test_real_numbers_stored_into_a_complex_array(place: str) -> None:
    f = build(f"def f(x, s):\n    z = x * (1j + s)\n    z[{place}] = s\n    return np.sum(z.imag * z.real)\n")
    check_changing(f, (X, 0.7), (0, 1))


@pytest.mark.parametrize("second", [2.0, np.array([0.3, 0.8, -0.4, 1.1])])
def test_a_tuple_of_arguments(second: object) -> None:
    f = build("def f(t):\n    a, s = t\n    a *= s\n    return np.sum(a * a)\n")
    check_changing(f, ((X, second),), (0,))
