"""Calls for their effect alone of functions that only the run knows: what these change in what they hold is
followed nowhere, and refused.
"""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad import UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import check_program
from tests.support.compare_mutation import check_changing

X, V = np.array([0.5, -0.7, 1.2]), np.array([0.3, 0.8])
CHANGED = (
    r"a change in place|changes? (its|an) arguments?|may change its arguments|what it binds|as a value"
    r"|an array that is changed in place|a change of an object"
)

CHANGING = {
    "partial applications in a list": """
from functools import partial
def scale(a, c):
    a *= c
def f(x, v):
    a, b = v * 1.0, v * 2.0
    for op in [partial(scale, a), partial(scale, b)][::1]:
        op(x[2])
    return np.sum(a * b)
""",
    "lambdas in a tuple": """
def scale(a, c):
    a *= c
def f(x, v):
    a, b = v * 1.0, v * 2.0
    for op in (lambda c: scale(a, c), lambda c: scale(b, c))[::1]:
        op(x[2])
    return np.sum(a * b)
""",
    "in a dict, of a number that does not vary": """
from functools import partial
def scale(a, c):
    a *= c
def f(x, v):
    a = v * x[0]
    ops = {"a": partial(scale, a)}.copy()
    ops["a"](2.0)
    return np.sum(a * a)
""",
    "with a result that is not needed": """
from functools import partial
def scale(a):
    a *= 2.0
    return 1.0
def f(x, v):
    a = v * x[0]
    for op in [partial(scale, a), partial(scale, a)][::1]:
        t = op()
    return np.sum(a * a)
""",
    "with a result that is only compared": """
from functools import partial
def scale(a, c):
    a *= c
    return a[0]
def f(x, v):
    a = v * x[0]
    ops = [partial(scale, a)][::1]
    if ops[0](x[2]) > 100.0:
        return x[0]
    return np.sum(a * a)
""",
    "passed to a recursive function": """
def each(g, x, k):
    if k >= len(x):
        return
    g(x[k])
    each(g, x, k + 1)
def f(x, v):
    a = v * x[0]
    def scale(c):
        b = a
        b *= c
    each(scale, x, 0)
    return np.sum(a * a)
""",
    "passed on by a recursive function": """
def each(g, x, k):
    if k >= len(x):
        return
    g(x[k])
    each(g, x, k + 1)
def rows(g, x, k):
    if k > 1:
        return
    each(g, x, 0)
    rows(g, x, k + 1)
def f(x, v):
    a = v * x[0]
    def scale(c):
        b = a
        b *= c
    rows(scale, x, 0)
    return np.sum(a * a)
""",
    "among changes of objects": """
from functools import partial
def scale(a, c):
    a *= c
def f(x, v):
    a = v * x[0]
    ops = {}
    ops["k"] = partial(scale, a)
    for name, op in ops.items():
        op(x[0])
    return np.sum(a * a)
""",
}


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("form", [s2sad.vjp, s2sad.jvp])
def test_what_callables_hold_and_change_is_refused(name: str, form: object) -> None:
    f = build(CHANGING[name])
    with pytest.raises(UnsupportedSyntaxError, match=CHANGED):
        if form is s2sad.jvp:
            s2sad.jvp(f, argnums=(0, 1))(X, V, X, V)
        else:
            s2sad.grad(f, argnums=(0, 1))(X, V)


@pytest.mark.parametrize("name", [n for n, text in CHANGING.items() if "[::1]" in text or ".copy()" in text])
def test_what_is_known_to_change_is_followed(name: str) -> None:
    f = build(CHANGING[name].replace("[::1]", "").replace(".copy()", ""))
    check_changing(f, (X, V), (0, 1))


METHODS = """
class Total:
    def __init__(self):
        self.n = 0.0
    def add(self, v):
        self.n = self.n + v
def walk(n, emit, x):
    if n >= 0:
        emit(x[n])
        walk(n - 1, emit, x)
def put(items, v):
    items.append(v)
def f(x):
    a, b, s, t = [1.0], [2.0], Total(), Total()
"""
CHANGED_BY_METHODS = {
    "chosen": "for v in x:\n    push = a.append if v > 0 else b.append\n    push(v)",
    "in a tuple": "for v in x:\n    for push in (a.append, b.append):\n        push(v)",
    "in a dict": "ops = {'a': a.append, 'b': b.append}\nfor k, v in zip('aba', x):\n    ops[k](v)",
    "mapped": "for _ in map(a.append, x):\n    pass",
    "with a result": "push = a.append if x[0] > 0 else b.append\ny = push(x[1])",
    "passed to a recursive function": "walk(2, a.append, x)",
    "of an array": "y = np.zeros(3)\nwalk(2, y.fill, x)\na.append(y[0])",
    "returned": "def make():\n    return a.append, b\npush, _ = make()\npush(x[0])",
    "of an object, passed to a recursive function": "walk(2, s.add, x)",
    "of objects, chosen": "for v in x:\n    add = s.add if v > 0 else t.add\n    add(v)",
    "of a partial application": "walk(2, partial(put, a), x)",
    "captured": "push = a.append\ndef emit(v):\n    push(v)\nwalk(2, emit, x)",
    "captured by lambdas": "push = a.append\nfor g in (lambda v: push(v), lambda v: v):\n    g(x[0])",
    "as a default": "def g(n, push=a.append):\n    if n > 0:\n        push(x[n])\n        g(n - 1)\ng(2)",
}


FOLLOWED = {
    "chosen", "in a tuple", "in a dict", "mapped", "with a result", "returned", "of objects, chosen",
    "captured by lambdas",
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED_BY_METHODS)
def test_what_methods_that_are_values_change_is_followed_or_refused(name: str) -> None:
    body = CHANGED_BY_METHODS[name].replace("\n", "\n    ")
    result = "np.prod(a) * sum(b) + s.n * t.n * x[0]"
    f = build(f"from functools import partial\n{METHODS}    {body}\n    return {result}\n")
    if name in FOLLOWED:
        check_changing(f, (X,), (0,))
        return
    with pytest.raises(s2sad.S2sadError, match=CHANGED):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.S2sadError, match=CHANGED):
        s2sad.jvp(f)(X, X)


WITH_RESULTS = {
    "a partial application, to a recursive function": "n = walk(2, partial(put, y), x)",
    "partial applications in a list": "n = [walk(1, g, x) for g in [partial(put, y), partial(put, y)]][0]",
    "of a nested function": "def own(a, v):\n    a[0] += v\nn = walk(2, partial(own, y), x)",
    "that nobody reads": "t = fs[0](y, x[0])\nn = 1.0",
    "that is compared": "n = 2.0 if fs[0](y, x[0]) > 0.5 else 3.0",
    "of an argument": "n = fs[0](y, x[0])",
}


@pytest.mark.parametrize("name", WITH_RESULTS)
def test_what_is_changed_beside_a_result_is_refused(name: str) -> None:
    f = build(
        "from functools import partial\n"
        "def put(y, v):\n    y[0] += v * v\n    return 1.0\n"
        "def walk(n, g, x):\n    g(x[n])\n    return walk(n - 1, g, x) if n > 0 else 1.0\n"
        "def f(x, fs):\n    y = np.zeros(2)\n    "
        + WITH_RESULTS[name].replace("\n", "\n    ")
        + "\n    return n * np.sum(y)\n"
    )
    put = f.__globals__["put"]
    for call in (
        lambda: s2sad.grad(f)(X, [put]),
        lambda: s2sad.vjp(f)(X, [put])[1](1.0),
        lambda: s2sad.jvp(f, argnums=0)(X, [put], X),
    ):
        with pytest.raises(UnsupportedSyntaxError, match=CHANGED):
            call()


def test_what_a_method_changes_beside_a_result() -> None:
    f = build(
        "class Total:\n    def __init__(self):\n        self.n = 0.0\n"
        "    def add(self, v):\n        self.n = self.n + v * v\n"
        "def walk(n, g, x):\n    g(x[n])\n    return walk(n - 1, g, x) if n > 0 else 1.0\n"
        "def f(x):\n    o = Total()\n    n = walk(2, o.add, x)\n    return n * o.n\n"
    )
    for call in (lambda: s2sad.grad(f)(X), lambda: s2sad.jvp(f)(X, X)):
        with pytest.raises(UnsupportedSyntaxError, match=CHANGED):
            call()


HARMLESS = {
    "a function that returns what append does": """
def put(items, c):
    return items.append(c * c)
def f(x, v):
    items, last = [], []
    push = lambda c: items.append(c * c)
    for c in x:
        push(c)
        y = last.append(c)
    put(last, v[0])
    return items[0] * items[2] + last[-1] * last[1] + np.sum(v)
""",
    "functions that compute": """
def f(x, v):
    a = v * x[0]
    seen = []
    def look(c):
        b = a * c
        return np.max(b)
    for op in [look, lambda c: c]:
        op(x[1])
    return np.sum(a * a)
""",
    "a hook": """
def run(x, hook, k):
    if k >= len(x):
        return 0.0
    if hook is not None:
        hook(x[k])
    return x[k] ** 2 + run(x, hook, k + 1)
def f(x, v):
    a = v * x[0]
    def hook(c):
        b = np.sum(a) * c
    return run(x, hook, 0) + run(x, None, 0) * np.sum(a)
""",
    "functions of the module": """
def log(c):
    str(c)
def f(x, v):
    for op in [log, print]:
        if x[0] > 100.0:
            op(x[1])
    for op in [log]:
        op(x[1])
    return np.sum(v * x[0])
""",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_callables_that_change_nothing(name: str) -> None:
    check_program(build(HARMLESS[name]), (X, V), (0, 1))


def test_a_gradient_of_a_function_that_changes_its_arguments() -> None:
    f = build("def f(x, y):\n    x += y\n    x *= x[0]\n    return np.sum(x * y)\n")
    text = "    d = g(x, y)\n    return np.sum(d[0] * np.sin(x)) + np.sum(d[1])\n"
    changed = build("def h(x, y):\n" + text, g=s2sad.grad(f, argnums=(0, 1)))
    copied = build("def h(x, y):\n    x = x.copy()\n" + text, g=s2sad.grad(f, argnums=(0, 1)))
    for h in (changed, copied):
        check_changing(h, (X, X + 1.0), (0, 1))


def test_a_gradient_that_changes_what_else_holds_is_refused() -> None:
    f = build("def f(rows, y):\n    rows[0] += y\n    return np.sum(rows[0] * y)\n")
    h = build("def h(x, y):\n    d = g([x * 1.0], y)\n    return np.sum(d[0])\n", g=s2sad.grad(f))
    with pytest.raises(UnsupportedSyntaxError, match="a call of a derivative that changes an argument"):
        s2sad.grad(h)(X, X)
