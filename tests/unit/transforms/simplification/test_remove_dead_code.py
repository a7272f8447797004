"""Dead code: what goes, and above all what must stay."""
from __future__ import annotations

import numpy as np
import pytest

from s2sad.transforms.simplification.remove_dead_code import remove_dead_code
from tests.support.before_after import Node, check, parse
from tests.support.generated_facts import generated_facts

X = np.array([0.5, 1.5, 2.5])

CASES = {
    "chains of unread names": ("""
        def f(x):
            a = x * 2
            b = a + 1
            return x
    """, """
        def f(x):
            return x
    """, (2.0,)),
    "overwritten values": ("""
        def f(x):
            y = x * 2
            y = x + 1
            return y
    """, """
        def f(x):
            y = x + 1
            return y
    """, (2.0,)),
    "a sum that only feeds itself": ("""
        def f(x, n):
            total = 0.0
            for i in range(n):
                total = total + x
                x = x * 2
            return x
    """, """
        def f(x, n):
            for i in range(n):
                x = x * 2
            return x
    """, (2.0, 3)),
    "a cycle of two": ("""
        def f(x, n):
            a = 0.0
            b = 1.0
            for i in range(n):
                t = a
                a = b
                b = t
            return x
    """, """
        def f(x, n):
            return x
    """, (2.0, 3)),
    "a trace that nobody reads": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                trace.append((x, i))
                x = x * 2
            return x
    """, """
        def f(x, n):
            for i in range(n):
                x = x * 2
            return x
    """, (2.0, 3)),
    "a trace that a dead reverse loop reads": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                trace.append(x)
                x = x * 2
            dx = 1.0
            for x_2 in trace[::-1]:
                dx = dx * 2
            return x
    """, """
        def f(x, n):
            for i in range(n):
                x = x * 2
            return x
    """, (2.0, 3)),
    "a trace that is read stays": ("""
        def f(x, n):
            trace = []
            for i in range(n):
                trace.append(x)
                x = x * 2
            dx = 1.0
            for x in trace[::-1]:
                dx = dx * x
            return dx
    """, None, (2.0, 3)),
    "buffers that nobody reads": ("""
        def f(x):
            da = np.zeros_like(x)
            da += x
            da[1] += 2.0
            da[2] = x[0]
            return x
    """, """
        def f(x):
            return x
    """, (X,)),
    "a buffer seen through a view stays": ("""
        def f(x):
            da = np.zeros_like(x)
            row = da[1:]
            da[1] += 2.0
            return row
    """, None, (X,)),
    "a buffer put into a list stays until it is read": ("""
        def f(x):
            da = np.zeros_like(x)
            box = []
            box.append(da)
            da[1] += 2.0
            return box
    """, None, (X,)),
    "a buffer that an unknown call got stays": ("""
        def f(x):
            da = np.zeros_like(x)
            effect(da)
            da[1] += 2.0
            return x
    """, None, (X,)),
    "a buffer put into an argument stays": ("""
        def f(x, box):
            da = np.zeros_like(x)
            box[0] = da
            da[1] += 2.0
            return x
    """, None, (X, [None])),
    "in-place changes of what is not owned": ("""
        def f(x, y):
            x[0] = 1.0
            y += 2.0
            z = x
            z[1] = 5.0
            return 0
    """, None, (X, X)),
    "an update after the last read": ("""
        def f(x):
            da = np.zeros_like(x)
            da[0] += 1.0
            s = da[0] * 2
            da[1] += 2.0
            return s
    """, """
        def f(x):
            da = np.zeros_like(x)
            da[0] += 1.0
            s = da[0] * 2
            return s
    """, (X,)),
    "empty arms": ("""
        def f(c, x):
            if c:
                dead = x
            else:
                x = x * 2
            if x > 1:
                x = x + 1
            else:
                dead = 1
            if x:
                dead = 2
            if c is None:
                pass
            else:
                x = x * 3
            return x
    """, """
        def f(c, x):
            if not c:
                x = x * 2
            if x > 1:
                x = x + 1
            if c is not None:
                x = x * 3
            return x
    """, (True, 2.0), (False, 2.0), (None, 0.1)),
    "a comparison keeps its operator": ("""
        def f(x):
            if x < 1.0:
                pass
            else:
                x = 0.0
            if not x > 1.0:
                pass
            else:
                x = 1.0
            return x
    """, """
        def f(x):
            if not x < 1.0:
                x = 0.0
            if x > 1.0:
                x = 1.0
            return x
    """, (float("nan"),), (0.5,)),
    "branches on literals, and what follows a jump": ("""
        def f(x):
            if True:
                x = x + 1
            else:
                x = 0.0
            if False:
                x = 0.0
            while False:
                x = 0.0
            if not False:
                return x
            x = 0.0
            return x
    """, """
        def f(x):
            x = x + 1
            return x
    """, (2.0,)),
    "effects stay, their unused results go": ("""
        def f(x):
            y = effect(x)
            a, b = effect((x, x))
            z = effect(x) + 1
            x * 2
            effect(1)
            if effect(x):
                pass
            return x
    """, """
        def f(x):
            effect(x)
            effect((x, x))
            z = effect(x) + 1
            effect(1)
            if effect(x):
                pass
            return x
    """, (2.0,)),
    "partly unread unpacking": ("""
        def f(x):
            a, b, c = x
            return b
    """, """
        def f(x):
            _, b, _ = x
            return b
    """, ((1, 2, 3),)),
    "unpacking keeps its names when the underscore is read": ("""
        def f(x, _):
            a, b = x
            return b + _
    """, None, ((1, 2), 3)),
    "a loop variable that is read after the loop": ("""
        def f(n):
            i = 0
            for i in range(n):
                pass
            return i
    """, None, (3,), (0,)),
    "breaks belong to their loop": ("""
        def f(xs, limit):
            total = 0.0
            count = 0
            while True:
                total = total + xs[count]
                stop = total > limit
                if stop:
                    break
                count = count + 1
            return count
    """, None, (X, 1.0)),
    "a loop with nothing but its exit goes": ("""
        def f(xs, limit):
            k = 0
            for x in xs:
                stop = x > limit
                if stop:
                    break
                k = k + 1
            return limit
    """, """
        def f(xs, limit):
            return limit
    """, (X, 1.0)),
    "unused functions": ("""
        def f(x):
            y = x * 2
            def g(z):
                return y * z
            def h(z):
                w = z * 3
                u = y
                return z + y
            return h
    """, """
        def f(x):
            y = x * 2

            def h(z):
                return z + y
            return h
    """, (2.0,)),
    "captured names stay": ("""
        def f(x):
            y = x
            def g(z):
                return y * z
            y = x + 1
            return g
    """, """
        def f(x):
            y = x

            def g(z):
                return y * z
            y = x + 1
            return g
    """, (2.0,)),
    "a function that calls itself alone": ("""
        def f(x):
            def g(z):
                return g(z - 1)
            return x
    """, """
        def f(x):
            return x
    """, (2.0,)),
    "comments go with their statements": ("""
        def f(x):
            '# first'
            a = x * 2
            '# second'
            b = x * 3
            a = b
            '# third'
            c = 1
            '# fourth'
            for i in range(3):
                '# inner'
                d = 1
                '# kept'
                b = b + 1
            return b
    """, """
        def f(x):
            '# second'
            b = x * 3
            '# fourth'
            for i in range(3):
                '# kept'
                b = b + 1
            return b
    """, (2.0,)),
    "docstrings, assertions and an empty body": ("""
        def f(x):
            "What it does."
            assert x
            y = x
    """, """
        def f(x):
            "What it does."
            assert x
    """, (2.0,)),
    "nothing left": ("""
        def f(x):
            y = x
    """, """
        def f(x):
            pass
    """, (2.0,)),
    "what is not analysed stays as it is": ("""
        def f(x):
            y = 1
            z = y
            del z
            return x
    """, None, (2.0,)),
    "what may raise stays in a try": ("""
        def f(x):
            y = 1 / x
            try:
                z = 1 / x
                a = x
                if x > 1:
                    w = x[0]
                done = True
            except ZeroDivisionError:
                v = x * x
                done = False
            return done
    """, """
        def f(x):
            try:
                z = 1 / x
                if x > 1:
                    w = x[0]
                done = True
            except ZeroDivisionError:
                done = False
            return done
    """, (1.0,)),
    "a try that only cleans up": ("""
        def f(x):
            y = x + 1
            try:
                z = x * x
            finally:
                v = x
                effect(y)
            return x
    """, """
        def f(x):
            y = x + 1
            try:
                pass
            finally:
                effect(y)
            return x
    """, (1.0,)),
    "a context": ("""
        def f(x):
            with effect(x):
                y = x * x
                z = x + 1
            return z
    """, """
        def f(x):
            with effect(x):
                z = x + 1
            return z
    """),
    "default values and decorators with effects": ("""
        def f(x):
            def g(y=effect(1)):
                return y
            def h(y=x):
                return y
            return x
    """, """
        def f(x):

            def g(y=effect(1)):
                return y
            return x
    """, (2.0,)),
}

ARRAYS = {  # `a`, `b`, `c` and `v` are arrays
    "stores that are read for their shape alone": ("""
        def f(x, n):
            a = np.zeros(n)
            for i in range(n):
                a[i] = x * i
            b = np.zeros_like(a)
            return b + x
    """, """
        def f(x, n):
            a = np.zeros(n)
            b = np.zeros_like(a)
            return b + x
    """, (2.0, 3)),
    "stores that feed each other": ("""
        def f(x, n):
            a = np.zeros(n)
            b = np.zeros(n)
            for i in range(n):
                b[1:] = a[1:] + x
                a[1:] = b[:-1] * x
            return len(a) + b.size
    """, """
        def f(x, n):
            a = np.zeros(n)
            b = np.zeros(n)
            return len(a) + b.size
    """, (2.0, 3)),
    "an array with two names in turn": ("""
        def f(x, n):
            a = np.ones(3)
            b = np.ones(3)
            for i in range(n):
                b[1:] = a[:-1] + x
                a, b = b, a
            return a
    """, None, (2.0, 3)),
    "an array with a second name": ("""
        def f(x, n):
            a = np.zeros(n)
            b = a
            a[0] = x
            return b
    """, None, (2.0, 3)),
    "a second name whose kind is not known, in a loop": ("""
        def f(x, n):
            a = np.zeros(n)
            a[0] += x
            u = a
            for i in range(n):
                w = u * x
                u = w
            return u
    """, None, (2.0, 3)),
    "a view": ("""
        def f(x, n):
            a = np.zeros(n)
            v = a[1:]
            a[1] = x
            return v
    """, None, (2.0, 3)),
    "a list that holds an array": ("""
        def f(x, n):
            a = np.zeros(n)
            items = [a]
            a[0] = x
            return items
    """, None, (2.0, 3)),
    "an array that a function captures": ("""
        def f(x, n):
            a = np.zeros(n)

            def g():
                return a
            a[0] = x
            return g()
    """, None, (2.0, 3)),
    "an array of the caller's": ("""
        def f(a, x):
            a[0] = x
            return x
    """, None),
    "what may be an array of the caller's": ("""
        def f(a, x):
            b = np.zeros(3)
            if x > 0:
                b = a
            b[0] = x
            return x
    """, None),
    "stores before the array is replaced": ("""
        def f(x, n):
            a = np.zeros(n)
            a[0] = x
            a = np.ones(n)
            return a
    """, """
        def f(x, n):
            a = np.ones(n)
            return a
    """, (2.0, 3)),
}

FACTS = generated_facts(traces=frozenset({"da", "trace"}))


@pytest.mark.parametrize("name", CASES)
def test_before_after(name: str) -> None:
    before, after, *inputs = CASES[name]
    after = before if after is None else after
    check(lambda tree: remove_dead_code(tree, FACTS), before, after, *inputs)


@pytest.mark.parametrize("name", ARRAYS)
def test_stores_to_arrays(name: str) -> None:
    before, after, *inputs = ARRAYS[name]
    facts = generated_facts(is_array=lambda name: name in "abcv")
    check(lambda tree: remove_dead_code(tree, facts), before, before if after is None else after, *inputs)


def test_calls_are_kept_or_not_as_purity_says() -> None:
    def no_call_is_pure(call: Node) -> bool:
        return False

    tree = parse("def f(x):\n    y = np.sin(x)\n    return x\n")
    assert len(remove_dead_code(tree, generated_facts()).body) == 1
    assert len(remove_dead_code(tree, generated_facts(is_pure=no_call_is_pure)).body) == 2
