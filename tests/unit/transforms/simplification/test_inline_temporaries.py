"""Re-nesting: expressions as a person writes them, and nothing moved past what could change it."""
from __future__ import annotations

import re

import numpy as np
import pytest

from s2sad.transforms.simplification.inline_temporaries import inline_temporaries
from tests.support.before_after import check, parse, text_of
from tests.support.generated_facts import generated_facts

X = np.array([0.5, 1.5, 2.5])

CASES = {
    "nested operations": ("""
        def f(a, t):
            t_1 = -a
            t_2 = t_1 * t
            decay = np.exp(t_2)
            out_1 = decay * 2
            return out_1
    """, """
        def f(a, t):
            decay = np.exp(-a * t)
            return decay * 2
    """, (2.0, 3.0)),
    "names of the user and what is read twice stay": ("""
        def f(a, t):
            b = a * t
            c_1 = b + 1
            d = c_1 * c_1
            return d
    """, None, (2.0, 3.0)),
    "tests, headers, returns, stores, keywords": ("""
        def f(x, n):
            t_1 = x[0] > 1
            if t_1:
                return x
            t_2 = n + 1
            t_3 = range(t_2)
            for i in t_3:
                t_4 = i * 2.0
                x[i] = t_4
                t_5 = n - i
                x[t_5] += 1.0
            t_6 = n > 0
            assert t_6
            t_7 = n - 1
            s = np.sum(x, axis=t_7)
            t_8 = x[1:]
            a, b = t_8
            return s, a, b
    """, """
        def f(x, n):
            if x[0] > 1:
                return x
            for i in range(n + 1):
                x[i] = i * 2.0
                x[n - i] += 1.0
            assert n > 0
            s = np.sum(x, axis=n - 1)
            a, b = x[1:]
            return s, a, b
    """, (X, 1), (X + 1, 1)),
    "not into loops, later tests or nested functions": ("""
        def f(x, n):
            t_1 = x * 2
            t_2 = x * 3
            t_3 = x * 4
            t_4 = x > 0
            for i in range(n):
                x = x + t_1
            while x < t_2:
                x = x + 1
            if x:
                x = x + t_4
            def g(y):
                return y * t_3
            return g
    """, """
        def f(x, n):
            t_1 = x * 2
            t_2 = x * 3
            t_3 = x * 4
            t_4 = x > 0
            for i in range(n):
                x = x + t_1
            while x < t_2:
                x = x + 1
            if x:
                x = x + t_4

            def g(y):
                return y * t_3
            return g
    """, (2.0, 2)),
    "not past a new value": ("""
        def f(x, n):
            t_1 = x * 2
            x = x + 1
            y = t_1 + x
            t_2 = x * 2
            for x in range(n):
                pass
            t_3 = y * 2
            if n:
                y = 0.0
            return t_2 + t_3
    """, None, (2.0, 2), (2.0, 0)),
    "not past a change in place": ("""
        def f(x, y):
            t_1 = x * 2
            x[0] = 5.0
            t_2 = y[0]
            x[1] += 5.0
            t_3 = x + 0.0
            y += 1.0
            t_4 = x[1]
            effect(x)
            return t_1, t_2, t_3, t_4
    """, None, (X, X)),
    "past a change in place of what is owned": ("""
        def f(x):
            da = np.zeros_like(x)
            trace = []
            t_1 = x * 2
            da[0] = 5.0
            trace.append(x)
            da += 1.0
            t_2 = da * 2
            da[1] = 7.0
            t_3 = t_1 + t_2
            return t_3, da
    """, """
        def f(x):
            da = np.zeros_like(x)
            trace = []
            da[0] = 5.0
            trace.append(x)
            da += 1.0
            t_2 = da * 2
            da[1] = 7.0
            return x * 2 + t_2, da
    """, (X,)),
    "views of what is owned do not move past its changes": ("""
        def f(x):
            da = np.zeros_like(x)
            row = da[1:]
            t_1 = row * 2
            da[1] = 5.0
            return t_1
    """, None, (X,)),
    "what has escaped is not owned": ("""
        def f(x):
            da = np.zeros_like(x)
            effect(da)
            t_1 = x * 2
            da[0] = 5.0
            return t_1
    """, None, (X,)),
    "names and numbers may pass anything": ("""
        def f(x, n0):
            t_1 = x
            t_2 = n0 * 2
            x[0] = 5.0
            effect(1)
            return t_1, t_2
    """, """
        def f(x, n0):
            x[0] = 5.0
            effect(1)
            return x, n0 * 2
    """, (X, 3)),
    "effects stay in order": ("""
        def f(x):
            t_1 = effect(x)
            t_2 = effect(x + 1)
            y = t_1 + t_2
            t_3 = effect(y)
            z = x * y
            w = t_3 + z
            t_4 = effect(w)
            u = x * w + t_4
            t_5 = effect(u)
            v = x + t_5
            return v
    """, """
        def f(x):
            y = effect(x) + effect(x + 1)
            t_3 = effect(y)
            z = x * y
            w = t_3 + z
            t_4 = effect(w)
            u = x * w + t_4
            v = x + effect(u)
            return v
    """, (2.0,)),
    "an effect before what reads": ("""
        def f(x):
            t_1 = effect(x)
            t_2 = x[0] * 2
            y = t_1[0] + t_2
            t_3 = x[1]
            z = effect(t_3)
            t_4 = x[1]
            w = effect(1) + t_4
            t_5 = effect(x)
            x[t_5[0] > 100] = x[1]
            return y, z, w
    """, """
        def f(x):
            y = effect(x)[0] + x[0] * 2
            z = effect(x[1])
            t_4 = x[1]
            w = effect(1) + t_4
            t_5 = effect(x)
            x[t_5[0] > 100] = x[1]
            return y, z, w
    """, (X,)),
    "a conditional expression evaluates what it needs": ("""
        def f(x, c):
            t_3 = effect(x)
            t_1 = x * 2
            t_2 = x > c
            return (t_1 if t_2 else x), (t_3 if c else x)
    """, """
        def f(x, c):
            t_3 = effect(x)
            return (x * 2 if x > c else x), (t_3 if c else x)
    """, (2.0, True)),
    "what is evaluated conditionally, repeatedly or in a string": ("""
        def f(x, c):
            t_1 = x * 2
            y = c or t_1
            t_2 = x * 3
            z = c and t_2
            t_3 = x * 4
            w = [t_3 for i in range(2)]
            t_4 = x * 5
            u = f"{t_4}"
            t_5 = x * 6
            v = 0 < x < t_5
            t_6 = x * 7
            g = lambda: t_6
            t_7 = x * 8
            assert x, t_7
            return y, z, w, u, v, g()
    """, None, (2.0, True)),
    "loops with a test": ("""
        def f(x, tol):
            while True:
                c_1 = abs(x)
                c = c_1 > tol
                if not c:
                    break
                x_1 = x / 2
                x = x_1
            while True:
                c_2 = x > 1
                if c_2:
                    break
                x = x * 2
            while True:
                y = x * 2
                if y > 100:
                    break
                x = y
            while True:
                if x > 0:
                    break
            return x
    """, """
        def f(x, tol):
            while abs(x) > tol:
                x = x / 2
            while not x > 1:
                x = x * 2
            while True:
                y = x * 2
                if y > 100:
                    break
                x = y
            while not x > 0:
                pass
            return x
    """, (20.0, 3.0)),
    "comments keep a statement": ("""
        def f(x):
            '# first'
            t_1 = x * 2
            '# second'
            t_2 = x * 3
            t_3 = x * 4
            y = t_3 + 1
            '# third'
            return t_1, t_2, y
    """, """
        def f(x):
            '# first'
            t_1 = x * 2
            '# second'
            y = x * 4 + 1
            '# third'
            return t_1, x * 3, y
    """, (2.0,)),
    "a name that is not assigned by assignment": ("""
        def f(xs):
            s = 0.0
            for t_1 in xs:
                s = s + t_1
            t_2, t_3 = xs[:2]
            t_4 = 1.0
            t_4 += s
            return s, t_2, t_3, t_4
    """, None, (X,)),
    "nested functions": ("""
        def f(x):
            out_1 = x * 2
            def f_bprop(dout):
                t_1 = dout * out_1
                t_2 = t_1 * x
                return t_2
            return f_bprop
    """, """
        def f(x):
            out_1 = x * 2

            def f_bprop(dout):
                return dout * out_1 * x
            return f_bprop
    """, (2.0,)),
    "a place that is written to": ("""
        def f(x):
            t_1 = x[1]
            t_1[0] = 5.0
            t_2 = x + 1.0
            t_2[0] = 6.0
            return x
    """, """
        def f(x):
            x[1][0] = 5.0
            t_2 = x + 1.0
            t_2[0] = 6.0
            return x
    """, (np.ones((2, 2)),)),
    "a global may be rebound by a call": ("""
        def f(x):
            t_1 = np
            effect(x)
            return x * t_1.pi
    """, None, (2.0,)),
}


def is_temporary(name: str) -> bool:
    return name == "c" or re.search(r"_\d+$", name) is not None


FACTS = generated_facts(
    is_temporary=is_temporary, traces=frozenset({"da", "trace"}), holds_number=lambda n: n.endswith("0"))


@pytest.mark.parametrize("name", CASES)
def test_before_after(name: str) -> None:
    before, after, *inputs = CASES[name]
    check(lambda tree: inline_temporaries(tree, FACTS),
          before, before if after is None else after, *inputs)


def test_lines_and_depths_are_limited() -> None:
    lines = "".join(f"    t_{k + 1} = np.sin(t_{k})\n" for k in range(1, 12))
    text = f"def f(x):\n{lines}    return t_12\n"
    tree = parse(text.replace("t_1)", "x)"))
    shallow = text_of(inline_temporaries(tree, FACTS, levels=3))
    assert max(line.count("sin") for line in shallow.splitlines()) == 3
    narrow = text_of(inline_temporaries(tree, FACTS, columns=40, levels=100))
    assert max(map(len, narrow.splitlines())) <= 40
    assert len(narrow.splitlines()) == 5


def test_chains_of_operators_are_not_deep() -> None:
    lines = "".join(f"    t_{k + 1} = t_{k} - {k}\n" for k in range(1, 12))
    text = f"def f(x):\n    t_1 = x + 1\n{lines}    return t_12\n"
    assert len(text_of(inline_temporaries(parse(text), FACTS)).splitlines()) == 2
