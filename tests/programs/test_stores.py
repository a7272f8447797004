"""Programs that once had a wrong derivative: changes in place, and what is read around them."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.build import build
from tests.support.compare import check_program, check_second, numeric_jvp

X, Y = np.array([0.5, -0.7, 1.2, 0.9]), np.array([0.3, 0.8, -0.4, 1.1])


def program(body: str) -> str:
    """A function of two vectors with this body."""
    return "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


ITEM_UPDATES = {
    "every operator": """
a = x * 1.0
a[0] *= y[0]
a[1] /= y[1] + 2.0
a[2] **= 3
a[3] -= a[0] * a[1]
a[3] *= a[3]
return np.sum(a * a)
""",
    "slice": """
a = x * 1.0
a[1:] *= a[:-1] * y[1:]
return np.sum(a * a)
""",
    "mask": """
a = x * 1.0
a[a > 0] *= 2.0
a[a < 0] /= y[0]
return np.sum(a * a * x)
""",
    "dict": """
d = {"s": 0.0}
for i in range(4):
    d["s"] += x[i] * y[i] * d["s"] + 1.0
    d["s"] *= y[i]
return d["s"] ** 2
""",
    "list": """
s = [0.0, 1.0]
for i in range(4):
    s[0] += x[i] * s[1]
    s[1] *= y[i] + s[0]
return s[0] * s[1]
""",
}


@pytest.mark.parametrize("name", ITEM_UPDATES)
def test_augmented_assignments_of_items(name: str) -> None:
    check_program(build(program(ITEM_UPDATES[name])), (X, Y), (0, 1))


REPEATED_PLACES = {
    "store": "a = x * 1.0\na[[0, 0, 1]] = y[:3]\nreturn np.sum(a * a)",
    "sum": "a = x * 1.0\na[np.array([2, 0, 2])] += y[:3]\nreturn np.sum(a * a)",
    "difference": "a = x * 1.0\na[np.array([2, 0, 2])] -= y[:3]\nreturn np.sum(a * a)",
    "product": "a = x * 1.0\na[np.array([2, 0, 2])] *= y[:3]\nreturn np.sum(a * a)",
    "broadcast": "a = x * 1.0\na[np.array([2, 0, 2])] += y[0]\nreturn np.sum(a * a)",
    "rows": "a = np.outer(x, y)\na[[0, 0]] = np.stack([x, y])\nreturn np.sum(a * a)",
    "grid": "a = np.outer(x, y)\na[[[0, 1], [1, 0]], 0] = np.outer(x[:2], y[:2])\nreturn np.sum(a * a)",
}


@pytest.mark.parametrize("name", REPEATED_PLACES)
def test_of_stores_into_one_place_the_last_counts(name: str) -> None:
    f = build(program(REPEATED_PLACES[name]))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


def test_an_array_that_is_stored_into_itself() -> None:
    check_program(build(program("a = x * 1.0\na[::-1] = a\nreturn np.sum(a * a * y)")), (X, Y), (0, 1))


# Statements that change `c` in place; `fill` is too large to be inlined.
CHANGES = (
    "c.sort()",
    "c.fill(7.0)",
    "c.put(0, 5.0)",
    "c.flat[0] = 4.0",
    "c.__setitem__(0, 9.0)",
    "c.clip(2.0, 2.5, out=c)",
    "c.clip(2.0, 2.5, c)",
    "np.copyto(c, 4.0)",
    "np.fill_diagonal(c.reshape(1, 3), 3.0)",
    "np.add.at(c, [0, 0], 2.0)",
    "np.multiply(c, c, c)",
    "np.cumsum(c, out=c)",
    "np.nan_to_num(c, copy=False)",
    "fill(c, 3)",
    "n = fill(c, 3)",
)

REFUSED = ("np.fill_diagonal(c.reshape(1, 3), 3.0)", "fill(c, 3)", "n = fill(c, 3)")

CHANGING = """
def fill(c, n):
    if n > 0:
        fill(c, n - 1)
        c[n - 1] = 4.0 * n
    return n

def f(x):
    c = {made}
    s = x * c
    {change}
    return np.sum(s * c * x)
"""


@pytest.mark.parametrize("change", CHANGES)
def test_calls_that_change_an_array_are_run_or_refused(change: str) -> None:
    for made in ("np.array([3.0, 1.0, 2.0])", "x * 2.0 + 3.0"):
        f = build(CHANGING.format(made=made, change=change))
        try:
            check_program(f, (X[:3],), (0,))
        except UnsupportedSyntaxError:
            assert change in REFUSED


def test_a_call_that_stores_what_varies() -> None:
    f = build("""
def put(c, v, n):
    if n > 0:
        put(c, v, n - 1)
    c[n] = v

def f(x):
    c = np.zeros(3)
    put(c, x[0], 2)
    return np.sum(c * c)
""")
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))


def test_an_array_in_a_list_is_changed_after_the_list_was_read() -> None:
    f = build("""
def f(x, y):
    a = np.outer(x, y)
    b = a + 1.0
    p = np.sum(np.linalg.multi_dot([a, b]))
    a[0, 0] = 5.0
    return p + np.sum(a * b)
""")
    check_program(f, (X, Y), (0, 1))


def test_a_list_that_a_call_changes_has_no_known_elements() -> None:
    f = build("""
def f(x):
    n = [1]
    n.insert(0, 2.5)
    return x ** n[0]
""")
    check_program(f, (1.3,), (0,))


def test_the_tangent_of_a_sum_does_not_change_with_an_operand() -> None:
    f = build(program("a = x * 1.0\nb = a + 1.0\na[0] = y[1]\nreturn np.sum(a * b)"))
    check_program(f, (X, Y), (0, 1))
    check_second(f, (X, Y), (0, 1))


LOOPS = {
    "a variable called len": "len = x * y\ns = 0.0\nfor v in len:\n    s = s + v * v\nreturn s",
    "a variable called range": "range = x * y\ns = 0.0\nfor v in x:\n    s = s + range[0] * 2.0\nreturn s",
    "a variable called _": "s = 0.0\n_ = x[0] * 2\nfor i in range(3):\n    s = s + y[0]\nreturn s * _ * _",
    "first assigned in the first iteration": """
for i in range(3):
    if i == 0:
        z = x * y
    else:
        z = z * x
return np.sum(z)
""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    check_program(build(program(LOOPS[name])), (X, Y), (0, 1))


def test_a_global_called_len() -> None:
    f = build(program("s = 0.0\nfor v in x:\n    s = s + v * y[0] * len(x)\nreturn s"), len=lambda a: 2.5)
    check_program(f, (X, Y), (0, 1))


LISTS = {
    "read from its end, then longer": "l = [x * 1.0]\na = l[-1] * 2.0\nl.append(y * x)\nreturn np.sum(a * a)",
    "longer in a branch": """
l = [x * 1.0]
s = np.sum(l[-1] * y)
if x[0] > 0:
    l.append(x * y)
    if y[0] > 0:
        l.append(x)
else:
    l.append(y)
return s * s
""",
    "longer in a loop": """
l = [x * 1.0]
s = 0.0
for i in range(3):
    s = s + np.sum(l[-1] * y)
    l.append(x * y)
l.append(x)
return s * s
""",
    "stacked, then longer": "l = [x, y]\na = np.stack(l)\nl.append(x * y)\nreturn np.sum(a * a)",
    "elements of other shapes": """
l = [x * 1.0, y]
for i in range(2):
    l[i] = np.sum(l[i] * l[1 - i])
return l[0] * l[1]
""",
    "an element that nothing else read": "l = [x, y]\nl[0] = y * 2.0\nreturn np.sum(l[0] * l[1])",
    "a part": "l = [x * 1.0, y, x * y]\nl[0:2] = [l[1], l[0] * x]\nreturn np.sum(l[0] * l[0] * l[1])",
    "a dict": """
d = {}
d["a"] = x * 2
d["b"] = d["a"] * y
d["a"] = d["a"] * d["b"]
return np.sum(d["a"] * d["b"])
""",
}


@pytest.mark.parametrize("name", LISTS)
def test_containers_that_change(name: str) -> None:
    f = build(program(LISTS[name]))
    check_program(f, (X, Y), (0, 1))


CALLS = {
    "of an array": "s = float(g(a, 2))",
    "of a list": "s = float(h([a, 2]))",
    "of what returns it": "b = same(a, 2)\ns = float(np.sum(b * b))",
}

CALLED = """
def g(a, n):
    if n == 0:
        return np.sum(a * a)
    return g(a, n - 1) * a[0] + a[1]

def h(l):
    if l[1] == 0:
        return np.sum(l[0] * l[0])
    return h([l[0], l[1] - 1]) * l[0][0]

def same(a, n):
    if n == 0:
        return a
    return same(a, n - 1)

"""


@pytest.mark.parametrize("name", CALLS)
def test_calls_before_a_change(name: str) -> None:
    body = f"a = x * 2.0\n{CALLS[name]}\na[0] = y[0]\nreturn s * np.sum(a * a)"
    check_program(build(CALLED + program(body)), (X, Y), (0, 1))


ITERATIONS = {
    "what an iteration made is changed in the next one": """
p = y * 1.0
s = 0.0
for i in range(3):
    p[i] = s * 0.1
    u = x * (i + 1.0)
    z = u * u
    s = s + np.sum(z * p)
    p = u
return s * np.sum(p * p)
""",
    "made anew": """
s = 0.0
for i in range(3):
    u = x * (i + 1.0)
    u[i] = y[i]
    z = u * u
    u[0] = s
    s = s + np.sum(z * u)
return s * s
""",
}


@pytest.mark.parametrize("name", ITERATIONS)
def test_changes_in_loops(name: str) -> None:
    check_program(build(program(ITERATIONS[name])), (X, Y), (0, 1))


def test_a_history_in_an_array_holds_copies() -> None:
    f = build(
        program("""
a = x * 1.0
h = np.zeros((3, 4))
for i in range(3):
    h[i] = a
    a[i] = a[i] * y[i] + a[i + 1]
return np.sum(h * h * a)
""")
    )
    check_program(f, (X, Y), (0, 1))


def test_keyword_only_parameters() -> None:
    f = build("def f(x, *, y=2.0, z):\n    return x * x * y - z\n")
    assert s2sad.grad(f, ("z", "x"))(1.0, z=3.0) == (-1.0, 4.0)
    assert s2sad.grad(f, "y")(4.0, z=3.0, y=1.0) == 16.0


OVERWRITTEN = {
    "a result that its own rule reads": "b = np.tanh(x)\nb[-1] *= np.sum(b)\nreturn np.sum(b * y)",
    "in a loop": """
s = 0.0
for i in range(3):
    b = np.exp(x * y[i])
    s = s + np.sum(b)
    b[i] = s
    s = s * b[i - 1]
return s
""",
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_results_that_are_overwritten(name: str) -> None:
    check_program(build(program(OVERWRITTEN[name])), (X, Y), (0, 1))


def test_an_array_is_changed_while_a_loop_runs_over_it() -> None:
    f = build(program("a = x * 1.0\ns = 0.0\nfor v in a:\n    a -= 0.1\n    s = s + v * v\nreturn s"))
    check_program(f, (X, Y), (0,))


FUNCTIONS = {
    "in a list": "h = [lambda t: t * x, lambda t: t * y]\nreturn np.sum(h[0](y))",
    "in a dict": "h = {'a': lambda t: t * x, 'b': lambda t: t * t * y}\nreturn np.sum(h['b'](x))",
    "chosen": """
def g(t):
    return t * x
def h(t):
    return t * y
k = g if x[0] > 0 else h
return np.sum(k(y))
""",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_are_not_called(name: str) -> None:
    check_program(build(program(FUNCTIONS[name])), (X, Y), (0, 1))


HELD_AND_CHANGED = {
    "an element": "a = [0, 0]\nb = a\na[1] = x\nreturn b[1] * x",
    "an element of what a tuple holds": "a = [0, 0]\nb = a, 1\na[1] = x\nreturn b[0][1] * x",
    "an element through another name": "a = [0, 0]\nb = [a]\nc = b[0]\nc[1] = x\nreturn a[1] * x",
    "a dict": "a = {}\nb = [a]\na['k'] = x\nreturn b[0]['k'] * x",
    "one of two": "a = []\nb = a if y > 0 else []\na.append(x)\nreturn b[0] * x",
    "rows": "rows = [[] for _ in range(2)]\nfor i in range(4):\n    rows[i % 2].append(x * i)\n"
    "return sum([v * x for row in rows for v in row])",
    "a list filled in the list that holds it": "rows = []\nfor i in range(2):\n    row = []\n"
    "    rows.append((i, row))\n    for j in range(2):\n"
    "        row.append(x * j)\nreturn sum([v * x for _, row in rows for v in row])",
    "by a function": "def put(a, v):\n    a.append(v)\na = []\nb = [a]\nput(a, x)\nreturn b[0][0] * x",
}


@pytest.mark.parametrize("name", HELD_AND_CHANGED)
def test_tangents_of_containers_that_others_hold(name: str) -> None:
    f = build(program(HELD_AND_CHANGED[name]))
    _, tangent = s2sad.jvp(f, argnums=0)(0.7, 0.5, 1.0)
    assert tangent == pytest.approx(numeric_jvp(f, (0.7, 0.5), (0,), (1.0,)), rel=1e-9)
