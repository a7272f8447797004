"""Merging of copies: fewer names, the same results."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.transforms.simplification.facts import GeneratedFacts
from s2sad.transforms.simplification.merge_copies import merge_copies, put_constants
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

X = np.array([0.5, 1.5, 2.5])

CASES = {
    "a copy and its source": ("""
        def f(x):
            y_1 = x * 2
            y = y_1
            return y
    """, """
        def f(x):
            y = x * 2
            return y
    """, (2.0,)),
    "a carried variable": ("""
        def f(a, n):
            x = a + 1
            for i in range(n):
                x_2 = 0.5 * (x + a / x)
                x = x_2
            return x
    """, """
        def f(a, n):
            x = a + 1
            for i in range(n):
                x = 0.5 * (x + a / x)
            return x
    """, (2.0, 3), (2.0, 0)),
    "a swap stays": ("""
        def f(a, b, n):
            for i in range(n):
                t = a
                a = b
                b = t
            return a - b
    """, None, (2.0, 1.0, 3)),
    "a lagged value stays": ("""
        def f(x, n):
            last = x
            for i in range(n):
                last = x
                x = x * 2
            return x - last
    """, None, (2.0, 3), (2.0, 0)),
    "a source that lives on unchanged": ("""
        def f(x):
            y = x + 1
            z_2 = y
            return z_2 * y
    """, """
        def f(x):
            y = x + 1
            return y * y
    """, (2.0,)),
    "a source that is changed": ("""
        def f(x):
            y = x + 1
            z = y
            y = y * 2
            return z * y
    """, None, (2.0,)),
    "a copy changed in place keeps its name apart if both are read": ("""
        def f(x):
            y = x + 1.0
            z = y
            z += 1.0
            return z, y
    """, None, (2.0,), (X,)),
    "a parameter is the name that stays": ("""
        def f(x_in, n):
            x = x_in
            for i in range(n):
                x = x * 2
            return x
    """, """
        def f(x_in, n):
            for i in range(n):
                x_in = x_in * 2
            return x_in
    """, (2.0, 3)),
    "a parameter that is read later": ("""
        def f(a, n):
            x = a
            for i in range(n):
                x = x * a
            return x
    """, None, (2.0, 3)),
    "two parameters": ("""
        def f(a, b):
            a = b
            return a * 2
    """, None, (2.0, 3.0)),
    "branches that join": ("""
        def f(c, x):
            if c:
                y_2 = x * 2
                y = y_2
            else:
                y_3 = x + 1
                y = y_3
            return y
    """, """
        def f(c, x):
            if c:
                y = x * 2
            else:
                y = x + 1
            return y
    """, (True, 2.0), (False, 2.0)),
    "an arm that says no more": ("""
        def f(c, x):
            y = x + 1
            if c:
                y_2 = y
            else:
                y_2 = y * 2
            return y_2
    """, """
        def f(c, x):
            y = x + 1
            if c:
                pass
            else:
                y = y * 2
            return y
    """, (True, 2.0), (False, 2.0)),
    "the trace moves up": ("""
        def f(a, n):
            x = a + 1
            trace = []
            for i in range(n):
                x_2 = 0.5 * (x + a / x)
                trace.append(x)
                x = x_2
            return trace, x
    """, """
        def f(a, n):
            x = a + 1
            trace = []
            for i in range(n):
                trace.append(x)
                x = 0.5 * (x + a / x)
            return trace, x
    """, (2.0, 3)),
    "the trace moves up to what it keeps, not past the way out": ("""
        def f(a, n):
            x = a + 1
            trace = []
            while True:
                c = x > n
                if not c:
                    break
                t = x * a
                x_2 = x - t
                u = x_2 * 2
                trace.append((x, t))
                x = x_2
            return trace, x
    """, """
        def f(a, n):
            x = a + 1
            trace = []
            while True:
                c = x > n
                if not c:
                    break
                t = x * a
                trace.append((x, t))
                x = x - t
                u = x * 2
            return trace, x
    """, (0.1, 0.5)),
    "a trace that keeps a copy does not move past a change in place": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                y = x * 2
                x[0] = 5.0
                trace.append(x.copy())
                x = y
            return trace, x
    """, None, (X, 3)),
    "the trace stays where it needs the new value too": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                x_2 = x * 2
                trace.append((x, x_2))
                x = x_2
            return trace, x
    """, None, (2.0, 3)),
    "constants": ("""
        def f(x):
            a = 1.0
            b = -2
            mode = "C"
            c = 0.0
            c = c + x
            return a * x ** b, mode, c
    """, """
        def f(x):
            c = 0.0
            c = c + x
            return 1.0 * x ** (-2), "C", c
    """, (2.0,)),
    "nested functions follow": ("""
        def f(x):
            out_1 = x * 2
            out = out_1
            one = 1.0
            def f_bprop(dout):
                dx_1 = dout * out
                dx = dx_1
                y = out
                return dx * one + y
            return f_bprop
    """, """
        def f(x):
            out = x * 2

            def f_bprop(dout):
                dx = dout * out
                return dx * 1.0 + out
            return f_bprop
    """, (2.0,)),
    "captured names live to the end": ("""
        def f(x):
            y = x * 2
            z = y
            def f_bprop(dout):
                return dout * y
            z = z + 1
            w = z
            return f_bprop
    """, """
        def f(x):
            y = x * 2
            z = y

            def f_bprop(dout):
                return dout * y
            z = z + 1
            return f_bprop
    """, (2.0,)),
    "names that a nested function binds itself": ("""
        def f(x):
            y = x * 2
            z_1 = y
            def f_bprop(y):
                z_2 = y * z_1
                return z_2
            return f_bprop
    """, """
        def f(x):
            y = x * 2
            z_1 = y

            def f_bprop(y):
                z_2 = y * z_1
                return z_2
            return f_bprop
    """, (2.0,)),
    "names of comprehensions and lambdas": ("""
        def f(x):
            y_1 = x * 2
            y = y_1
            z = [y_1 for y_1 in range(3)]
            g = lambda y: y
            return z, y, g(1)
    """, None, (2.0,)),
    "nonlocal names stay": ("""
        def f(x):
            y_1 = x * 2
            y = y_1
            def g(z):
                nonlocal y
                y = y + z
                return y
            return g
    """, """
        def f(x):
            y_1 = x * 2
            y = y_1

            def g(z):
                nonlocal y
                y = y + z
                return y
            return g
    """, (2.0,)),
    "loop targets": ("""
        def f(xs):
            s = 0.0
            for x_2 in xs:
                x = x_2
                s_2 = s + x
                s = s_2
            return s
    """, """
        def f(xs):
            s = 0.0
            for x in xs:
                s = s + x
            return s
    """, (X,)),
    "a loop target that is overwritten while carried": ("""
        def f(xs):
            y = 0.0
            s = 0.0
            for x in xs:
                s = s + y
                y = x
            return s + y
    """, None, (X,)),
    "targets of one unpacking stay apart": ("""
        def f(x):
            a, b = x
            a = b
            return a * 2
    """, None, ((1.0, 2.0),)),
    "adjoints in a reverse loop": ("""
        def f(trace, a):
            dx = 1.0
            da = 0.0
            for x in trace:
                dx_1 = dx * 0.5
                da_1 = da + dx_1 / x
                dx_2 = dx_1 - dx_1 * a / x ** 2
                dx = dx_2
                da = da_1
            return da + dx
    """, """
        def f(trace, a):
            dx = 1.0
            da = 0.0
            for x in trace:
                dx_1 = dx * 0.5
                da = da + dx_1 / x
                dx = dx_1 - dx_1 * a / x ** 2
            return da + dx
    """, (X, 2.0)),
}


def facts(**known: Any) -> GeneratedFacts:
    return generated_facts(alike=lambda a, b: True, nature=lambda name: name, **known)


FACTS = facts(traces=frozenset({"trace"}))


@pytest.mark.parametrize("name", CASES)
def test_before_after(name: str) -> None:
    before, after, *inputs = CASES[name]
    check(lambda tree: merge_copies(tree, FACTS), before,
          before if after is None else after, *inputs)


def test_captured_names_stay() -> None:
    text = """
        def f(x):
            y_1 = x * 2
            y = y_1
            one_1 = 1.0
            return y * one_1
    """
    kept = facts(captured=frozenset({"y_1", "y", "one_1"}))
    check(lambda tree: merge_copies(tree, kept), text, text, (2.0,))
    some = facts(captured=frozenset({"y_1", "one_1"}))
    check(lambda tree: merge_copies(tree, some), text, """
        def f(x):
            y_1 = x * 2
            one_1 = 1.0
            return y_1 * one_1
    """, (2.0,))


def test_literals_stand_where_they_are_read() -> None:
    facts = generated_facts(captured=frozenset({"kept_1"}))
    check(lambda tree: put_constants(tree, facts), """
        def f(x):
            a_1 = -4.0
            kept_1 = 1.0
            b = 0.0
            for i in range(3):
                b = b + a_1 * x + kept_1
            return b
    """, """
        def f(x):
            kept_1 = 1.0
            b = 0.0
            for i in range(3):
                b = b + -4.0 * x + kept_1
            return b
    """, (2.0,))
