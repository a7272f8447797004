"""Functions that change their arguments and cannot be put in where they are called: recursive ones."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import S2sadError
from tests.programs.recursive_stores import PROGRAMS as ALGORITHMS
from tests.support.build import build
from tests.support.compare import is_sampled
from tests.support.compare_mutation import check_changing, check_changing_second

X, V = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])

PROGRAMS = ALGORITHMS | {
    "the changed array is returned": """
def sc(u, k, s):
    if k == 0:
        return u
    u[k] *= s
    return sc(u, k-1, s * u[0])
def f(x, v):
    a = x * v
    b = sc(a, 3, v[0])
    b *= 2.0
    c = sc(x, 2, v[1])
    return np.sum(a * v * c)
""",
    "what is added to is returned": """
def coarse(u, b):
    if len(u) <= 1:
        u[0] = b[0] * 0.5
        return u
    e = coarse(np.zeros_like(b[::2]), b[::2] * b[0])
    fine = np.zeros_like(u)
    fine[::2] = e
    u += fine
    return u
def f(x, v):
    a = x * v
    b = coarse(a, v)
    b *= 2.0
    return np.sum(a * b * v)
""",
    "another argument is returned": """
def sc(u, w, k, s):
    if k == 0:
        return w
    u[k] *= s * w[k]
    return sc(u, w, k-1, s * u[0])
def f(x, v):
    a = x * v
    d = np.sin(v)
    b = sc(a, d, 3, v[0])
    b *= 2.0
    return np.sum(a * v * b * d)
""",
    "a new array is returned and changed": """
def sc(u, k, s):
    if k == 0:
        return u * 2.0
    u[k] *= s
    r = sc(u, k-1, s * u[0])
    r[0] = u[1] * r[1]
    return r
def f(x, v):
    a = x * v
    r = sc(a, 3, v[0])
    r *= a
    a *= r
    return np.sum(a * v * r)
""",
    "what the derivative reads is changed": """
def ex(u, k):
    if k > 0:
        return ex(u * 0.5, k-1)
    return np.exp(u)
def f(x, v):
    y = ex(x, 3)
    y[0] = v[1]
    y *= v
    return np.sum(y * x)
""",
    "tangents passed on are changed": """
def ex(u, k):
    if k > 0:
        return ex(u + 1.0, k-1)
    return u + 0.0
def f(x, v):
    y = ex(x, 3)
    z = y * v
    y[0] = v[1]
    x[1] = y[0] * 3
    y *= v
    return np.sum(y * x * z)
""",
    "rows and columns": """
def sc(u, k, s):
    if k > 0:
        for row in u:
            row[k] *= s
        u[k % 2, :] += u[0] * s
        sc(u, k-1, s * u[0, 0])
def f(x, v):
    a = np.outer(x, v)
    sc(a, 3, v[0])
    sc(a.T, 3, v[1])
    sc(a[1:3], 2, v[1])
    return np.sum(a * v)
""",
    "one of two": """
def sc(u, k, s):
    if k > 0:
        u[k] *= s
        sc(u, k-1, s * u[0])

def f(x, v):
    a = x * v
    b = np.sin(v)
    c = a if v[0] > 0 else b
    sc(c, 3, v[0])
    return np.sum(a * v * b)
""",
    "a list of arrays": """
def sc(u, k, s):
    if k > 0:
        u[k] *= s
        sc(u, k-1, s * u[0])

def f(x, v):
    rows = [x * v, np.sin(x), x * 2]
    for r in rows:
        sc(r, 2, v[0])
    sc(rows[1], 3, v[1])
    return np.sum(rows[0] * rows[1] * rows[2])
""",
    "a dict of arrays": """
def sc(u, k, s):
    if k > 0:
        u[k] *= s
        sc(u, k-1, s * u[0])

def f(x, v):
    d = {"a": x * v, "b": np.sin(x)}
    sc(d["a"], 2, v[0])
    sc(d["b"], 3, d["a"][1])
    return np.sum(d["a"] * d["b"])
""",
    "an infinite slope that is not taken": """
def sc(u, k, s):
    if k > 0:
        if u[0] > 1e9:
            u[k] = np.sqrt(-1.0 * u[k]**2)
        u[k] *= s
        sc(u, k-1, s)
def f(x, v):
    a = x * v
    sc(a, 3, v[0])
    return np.sum(a * v)
""",
    "two names and a view": """
def sc(u, k, s):
    if k > 0:
        u[k] *= s
        sc(u, k-1, s * u[0])

def f(x, v):
    a = x * v
    b = a
    w = a[1:]
    sc(b, 3, v[0])
    w *= v[1:]
    sc(w, 2, v[1])
    return np.sum(a * v) * b[2] * w[0]
""",
    "indices beside numbers": """
def qs(a, idx, lo, hi):
    if lo < hi:
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                t = a[i]
                a[i] = a[j]
                a[j] = t
                m = idx[i]
                idx[i] = idx[j]
                idx[j] = m
                i += 1
        t = a[i]
        a[i] = a[hi]
        a[hi] = t
        m = idx[i]
        idx[i] = idx[hi]
        idx[hi] = m
        qs(a, idx, lo, i - 1)
        qs(a, idx, i + 1, hi)
def f(x, v):
    a = x * v
    idx = np.arange(4)
    qs(a, idx, 0, 3)
    return np.sum(a * v[idx] * x)
""",
    "three functions": """
def p1(u, k, s):
    if k > 0:
        p2(u, k-1, s)
def p2(u, k, s):
    if k > 0:
        p3(u, k-1, s)
        p1(u, k-1, s)
def p3(u, k, s):
    u[k] *= s
    if k > 0:
        p1(u, k-1, s)
def f(x, v):
    a = x * v
    p3(a, 3, v[1])
    y = a * x
    p1(a, 3, v[0])
    z = a * y
    p2(a, 3, v[2])
    return np.sum(a * z)
""",
    "levels of grids": """
def vcycle(u, b, n):
    for _ in range(2):
        u[1:-1] += 0.6 * (b[1:-1] - 2*u[1:-1] + u[:-2] + u[2:]) / 2
    if n > 1:
        r = b.copy()
        r[1:-1] = b[1:-1] - 2*u[1:-1] + u[:-2] + u[2:]
        rc = r[::2].copy()
        ec = np.zeros_like(rc)
        vcycle(ec, rc, n - 1)
        u[::2] += ec
        u[1:-1:2] += 0.5 * (ec[:-1] + ec[1:])
    for _ in range(2):
        u[1:-1] += 0.6 * (b[1:-1] - 2*u[1:-1] + u[:-2] + u[2:]) / 2
def f(x, v):
    b = np.concatenate([x, v, x * v, x[:3]])[:9]
    u = np.zeros(9)
    vcycle(u, b, 3)
    return np.sum(u * u)
""",
    "a factorisation": """
def chol(A):
    n = A.shape[0]
    if n == 1:
        A[0, 0] = np.sqrt(A[0, 0])
    else:
        A[0, 0] = np.sqrt(A[0, 0])
        A[1:, 0] /= A[0, 0]
        A[0, 1:] = 0.0
        A[1:, 1:] -= np.outer(A[1:, 0], A[1:, 0])
        chol(A[1:, 1:])
def f(x, v):
    A = np.outer(x, x) + np.diag(v * v + 1.0)
    chol(A)
    return np.sum(np.sin(A))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f = build(PROGRAMS[name])
    check_changing(f, (X, V), (0, 1))
    if is_sampled(f):
        check_changing_second(f, (X, V), (0, 1))


def test_the_changed_argument_is_the_result() -> None:
    text = PROGRAMS["an argument"].replace("return np.sum(x * np.sin(x))", "return None")
    check_changing(build(text), (X, V), (0, 1), ("x",))


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_dtypes(dtype: str) -> None:
    f = build(PROGRAMS["views of views"].replace("a * np.sin(a)", "(a * np.sin(a)).real"))
    x = (X + (0.3j if dtype == "complex128" else 0)).astype(dtype)
    found = s2sad.grad(f)(x, V)
    assert found.dtype == dtype
    check_changing(f, (x.astype(np.result_type(dtype, "float64")), V), (0, 1))


SCALE = """
def scale(u, k, s):
    if k > 0:
        u[k] *= s
        scale(u, k - 1, s)
"""
REFUSED = {
    "the same array twice": ("share memory", """
def go(u, w, k):
    if k > 0:
        u[k] += w[k-1] * u[k-1]
        go(w, u, k-1)
def f(x, v):
    a = x * v
    b = np.sin(x)
    go(a, a, 3)
    return np.sum(a * v + b)
"""),
    "overlapping views": ("share memory", """
def go(u, w, k):
    if k > 0:
        u[k] += w[k-1] * u[k-1]
        go(w, u, k-1)

def f(x, v):
    a = x * v
    go(a[:3], a[1:], 2)
    return np.sum(a * v)
"""),
    "an array from outside is changed": ("derivative of the change", """
T = np.array([1.0, 2.0, 3.0, 4.0])
def sc(u, k, s):
    if k > 0:
        T[k] = 1.0
        u[k] *= s * T[k]
        sc(u, k-1, s * u[0])
def f(x, v):
    a = x * v
    sc(a, 3, v[0])
    return np.sum(a * v)
"""),
    "a view is returned": ("derivative of the change", """
def sc(u, k, s):
    if k > 0:
        u[k] *= s
        sc(u, k-1, s)
    return u[1:]
def f(x, v):
    a = x * v
    b = sc(a, 3, v[0])
    b *= 2.0
    return np.sum(a * v)
"""),
    "a set is changed": ("in a set that is changed", """
def go(u, k, s):
    if k > 0:
        u.add(s * k)
        go(u, k-1, s)
def f(x, v):
    a = {x[0] * 1.0}
    go(a, 3, v[0])
    return sum(a)
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
    """The call is one of a function that changes a copy; its adjoint takes over that of the array."""
    f = build(SCALE + "def f(x, s):\n    a = x * x\n    scale(a, 3, s)\n    return np.sum(a)\n")
    assert s2sad.grad(f).source_for(X, 0.5) == """\
def f_grad(x, s):
    a = x * x
    a_1, scale_bprop = scale_fprop(a, 3, s)
    a[...] = a_1
    # scale(a, 3, s)
    da = scale_bprop(np.ones_like(a_1))
    # a = x * x
    dx = da * x * 2
    return dx
"""
