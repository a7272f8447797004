"""Lists of floats: their adjoints are lists of floats, of which elements are changed in place."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program, check_second

X = np.array([0.3, 0.4, 0.5, 0.9])

PROGRAMS = {
    "de Boor": """
def f(x):
    d = [v * 2.0 for v in x]
    for r in range(1, 4):
        for i in range(3, r - 1, -1):
            d[i] = 0.7 * d[i - 1] + 0.3 * d[i] ** 2
    return d[3]
""",
    "zeros to fill": """
def f(x):
    d = [0.0] * 5
    d[0] = x[0]
    for i in range(1, 5):
        d[i] = d[i - 1] * x[i - 1] + d[i]
    return d[4] + sum(d)
""",
    "repeated from the right": """
def f(x):
    d = 3 * [x[0] * x[1]]
    d[1] *= d[0]
    return d[0] * d[1] * d[2]
""",
    "one that two names hold": """
def f(x):
    d = [0.0] * len(x)
    e = d
    for i in range(len(x)):
        e[i] += x[i] * d[i - 1] + x[i]
    return d[-1] * e[0]
""",
    "given to others": """
def square(d):
    return [v * v for v in d]
def put(d, k):
    d[k] = d[k] * d[k - 1]
    return sum(d)
def f(x):
    d = [0.0] * 4
    for i in range(4):
        d[i] = x[i] ** 2
    t = put(d, 2)
    e = square(d)
    e[1] *= d[3]
    return t * e[1] + sum(e) + max(d) + d[-1]
""",
    "parts of it, an array of it": """
def f(x):
    d = x.tolist()
    e = d[::-1]
    e[0] = e[1] * e[2]
    d[1:3] = [e[0], e[3]]
    d.append(d.pop(0) * e[2])
    return np.sum(np.array(d) * np.array(e)) + np.dot(np.array(d), x)
""",
    "a table": """
def f(x):
    t = [[0.0] * 4 for _ in range(4)]
    for i in range(4):
        for j in range(4):
            t[i][j] = x[i] * x[j] + (min(t[i - 1][j], t[i][j - 1]) if i and j else 0.0)
    return t[3][3] ** 2
""",
    "no elements": """
def f(x):
    d = [0.0] * 0
    for i in range(0):
        d[i] = x[i]
    return sum(d) + x[0] ** 2
""",
    "sums of lists": """
def f(x):
    values = [np.sin(v) for v in x]
    mean = sum(values) / len(values)
    values[1] = sum(values, x[0])
    return sum([(v - mean) ** 2 for v in values]) / (len(values) - 1) - sum(values)
""",
    "a stack of tuples": """
def f(x):
    stack, total = [(0, x[0])], 0.0
    while stack:
        depth, v = stack.pop()
        total = total + v * v
        if depth < 3:
            stack.append((depth + 1, v * x[depth]))
            if depth % 2 == 0:
                stack.append((depth + 2, v + x[depth + 1]))
    return total
""",
    "a stack of what differs": """
def f(x):
    stack = [x * 2, x[0], 3]
    n, s, v = stack.pop(), stack.pop(), stack.pop()
    return np.sum(v * v) * s * n
""",
    "by a closure": """
def f(x):
    total = [0.0] * 1
    def add(v):
        total[0] += v * v
    for v in x:
        add(v)
    return total[0] * x[0]
""",
}
FIRST_ORDER = {"given to others", "one that two names hold", "zeros to fill"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists(name: str) -> None:
    f = build(PROGRAMS[name])
    check_program(f, (X,), (0,))
    try:
        check_second(f, (X,), (0,))
    except s2sad.S2sadError:
        if name not in FIRST_ORDER:
            raise


def test_the_adjoint_of_a_list_of_floats_is_changed_in_place() -> None:
    source = s2sad.grad(build(PROGRAMS["de Boor"])).source_for(X)
    assert "dd = [0.0] * len(d)" in source and "dd[i - 1] += " in source and "add_at" not in source


def test_the_adjoint_of_a_sum_of_floats_is_a_list() -> None:
    f = build("def f(x):\n    d = []\n    for v in x:\n        d.append(v * v)\n    return sum(d) * 2.0")
    assert "dd = [2.0] * len(d)" in s2sad.grad(f).source_for(X)


def test_dicts_whose_items_are_read_in_a_loop_that_appends() -> None:
    f = build(
        "def f(p, x):\n    found = []\n    for i in range(3):\n"
        "        found.append(p['w'][i] * x[i] + p['b'])\n    return sum(found) * p['b']"
    )
    given = ({"w": X * 2.0, "b": 0.7}, X)
    check_program(f, given, (0, 1))
    check_second(f, given, (0, 1))
    assert "dw[i] += " in s2sad.grad(f, (0, 1)).source_for(*given)


def test_items_that_a_comparison_may_change_are_read_where_they_stand() -> None:
    f = build(
        "def f(p, x):\n    def key(v):\n        p['w'] = x * v\n        return v\n    items = [x[1], x[0]]\n"
        "    items.sort(key=key)\n    return np.sum(p['w']) * items[0]"
    )
    given = ({"w": X * 2.0}, X)
    expected = s2sad.jvp(f)(*given, {"w": X * 0.0}, X)[1]
    try:
        found = s2sad.grad(f, (0, 1))({"w": X * 2.0}, X)
    except s2sad.S2sadError:
        return
    assert np.isclose(np.dot(found[1], X), expected)
