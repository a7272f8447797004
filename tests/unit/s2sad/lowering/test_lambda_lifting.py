"""Recursive closures that write into what they capture."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import S2sadError
from tests.support.build import build
from tests.support.compare import is_sampled
from tests.support.compare_mutation import check_changing, check_changing_second

X, V = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])

PROGRAMS = {
    "an array of the function": """
def f(x, v):
    a = x * v
    def go(k, t):
        if k >= 0:
            a[k] *= t
            go(k-1, t * v[k])
    go(2, v[0])
    return np.sum(np.sin(a))
""",
    "an argument": """
def f(x, v):
    def go(k, t):
        if k >= 0:
            x[k] *= t
            go(k-1, t * v[k])
    go(2, v[0])
    go(3, x[0])
    return np.sum(np.sin(x))
""",
    "a helper inside": """
def f(x, v):
    a = x * v
    def swap(i, j):
        t = a[i]
        a[i] = a[j]
        a[j] = t
    def qs(lo, hi):
        if lo < hi:
            p = a[hi]
            i = lo
            for j in range(lo, hi):
                if a[j] < p:
                    swap(i, j)
                    i += 1
            swap(i, hi)
            qs(lo, i - 1)
            qs(i + 1, hi)
    qs(0, 3)
    return np.sum(a * v)
""",
    "two of them": """
def f(x, v):
    a = x * v
    def up(k):
        if k < 3:
            a[k] *= a[k+1]
            up(k + 1)
    def down(k, s):
        if k > 0:
            a[k] += s * a[k-1]
            down(k - 1, s * v[0])
    up(0)
    down(3, v[1])
    up(1)
    return np.sum(a * v)
""",
    "bound anew": """
def f(x, v):
    a = x * v
    def go(k):
        if k > 0:
            a[k] *= v[k]
            go(k - 1)
    go(2)
    a = a * x
    go(3)
    return np.sum(a * v)
""",
    "in a loop": """
def f(x, v):
    t = 0.0
    for i in range(3):
        a = x * v[i]
        def go(k):
            if k > i:
                a[k] *= v[k]
                go(k - 1)
        go(3)
        t += np.sum(a * a)
    return t
""",
    "one in another": """
def f(x, v):
    a = x * v
    def go(k):
        def inner(j):
            if j > 0:
                a[j] += a[k] * v[j]
                inner(j - 1)
        if k > 0:
            inner(k)
            go(k - 1)
    go(3)
    return np.sum(a * v)
""",
    "with a result": """
def f(x, v):
    a = x * v
    def go(k):
        if k == 0:
            return a[0]
        a[k] *= v[k]
        return go(k - 1) + a[k]
    r = go(3)
    return np.sum(a * v) * r
""",
    "keywords": """
def f(x, v):
    a = x * v
    def go(k, *, t):
        if k > 0:
            a[k] *= t
            go(k=k - 1, t=t * v[0])
    go(k=3, t=v[1])
    return np.sum(a * v)
""",
    "passed on": """
def apply(g, k):
    g(k)
def f(x, v):
    a = x * v
    def go(k):
        if k > 0:
            a[k] *= v[k]
            go(k - 1)
    apply(go, 3)
    return np.sum(a * v)
""",
    "a variable of one path": """
def f(x, v):
    a = x * v
    def go(k):
        if k > 0:
            a[k] *= b if k == 2 else 1.0
            go(k - 1)
    if v[0] > 0:
        b = v[1]
    go(3)
    return np.sum(a * v)
""",
    "names that mean something else": """
def f(x, v):
    a = x * v
    def go(k, x):
        v = x * 2
        if k > 0:
            a[k] *= v
            go(k - 1, v)
    go(3, v[1])
    return np.sum(a * v * x)
""",
    "a view of what is captured": """
def f(x, v):
    a = np.outer(x, v)
    def go(k):
        if k > 0:
            row = a[k]
            row[1:] *= v[k]
            row += a[k-1]
            go(k - 1)
    go(3)
    return np.sum(a * v)
""",
    "a factorisation": """
def f(x, v):
    A = np.outer(x, x) + np.diag(v * v + 1.0)
    n = A.shape[0]
    def step(k):
        if k < n:
            A[k+1:, k] /= A[k, k]
            A[k+1:, k+1:] -= np.outer(A[k+1:, k], A[k, k+1:])
            step(k + 1)
    step(0)
    return np.sum(np.sin(A))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f = build(PROGRAMS[name])
    check_changing(f, (X, V), (0, 1))
    if is_sampled(f):
        check_changing_second(f, (X, V), (0, 1))


def test_functions_that_call_each_other() -> None:
    check_changing(build(MUTUAL), (X, V), (0, 1))
    check_changing_second(build(MUTUAL), (X, V), (0, 1))


MUTUAL = """
def f(x, v):
    a = x * v
    def ev(k):
        if k > 0:
            a[k] *= a[k-1]
            od(k - 1)
    def od(k):
        if k > 0:
            a[k] += v[k]
            ev(k - 1)
    ev(3)
    return np.sum(a * v)
"""

REFUSED = {
    "captured and passed": ("share memory", """
def f(x, v):
    a = x * v
    def go(b, k):
        if k > 0:
            a[k] *= b[0]
            go(b, k-1)
    go(a, 2)
    return np.sum(a)
"""),
    "two names for one memory": ("share memory", """
def f(x, v):
    a = x * v
    b = a[1:]
    def go(k):
        if k > 0:
            a[k] *= b[0]
            go(k-1)
    go(2)
    return np.sum(a)
"""),
    "held by a list": ("which the caller holds too", """
def apply(g, k):
    g(k)
def f(x, v):
    a = x * v
    def go(k):
        if k > 0:
            a[k] *= v[k]
            go(k - 1)
    h = [go]
    h.reverse()
    h[0](3)
    return np.sum(a * v)
"""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused(name: str) -> None:
    reason, text = REFUSED[name]
    with pytest.raises(S2sadError, match=reason):
        s2sad.grad(build(text))(X.copy(), V.copy())
    with pytest.raises(S2sadError, match=reason):
        s2sad.jvp(build(text), argnums=(0, 1))(X.copy(), V.copy(), X, V)


def test_the_code() -> None:
    """What it captures is passed."""
    f = build(PROGRAMS["an array of the function"])
    assert s2sad.grad(f, argnums=(0, 1)).source_for(X, V) == """\
def f_grad(x, v):
    a = x * v
    a_1, go_bprop = go_fprop(a, v, 2, v[0])
    a[...] = a_1
    # return np.sum(np.sin(a))
    da = 1.0 * np.cos(a)
    # go(2, v[0])
    da, dv, dgo_1 = go_bprop(da)
    dv = np.copy(dv)
    dv[0] += dgo_1
    # a = x * v
    dx = da * v
    dv += da * x
    return dx, dv
"""


CONTAINERS = {
    "a dict": """
def f(x, v):
    memo = {}
    def fib(k):
        if k in memo:
            return memo[k]
        if k < 2:
            r = x[k]
        else:
            r = fib(k-1) * v[0] + fib(k-2)
        memo[k] = r
        return r
    return fib(4)
""",
    "a list": """
def f(x, v):
    out = []
    def walk(k, t):
        if k < 4:
            out.append(t * x[k])
            walk(k + 1, t * v[k])
    walk(0, v[0])
    return out[0] * out[1] + out[3]
""",
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_of_the_function_around(name: str) -> None:
    f = build(CONTAINERS[name])
    check_changing(f, (X, V), (0, 1))
    if is_sampled(f):
        check_changing_second(f, (X, V), (0, 1))
