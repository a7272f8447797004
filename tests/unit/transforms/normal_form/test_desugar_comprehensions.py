from __future__ import annotations

import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.normal_form.to_anf import to_anf
from tests.support.is_normal import find_violations
from tests.support.stages import assert_agree, body_after, read, up_to

PAIRS = {
    "a list": (
        """
def f(xs):
    ys = [x * x for x in xs if x > 1]
    return ys
""",
        """
def f(xs):
    ys = []
    for x in xs:
        test_1 = x > 1
        if test_1:
            ys_1 = x * x
            ys.append(ys_1)
    return ys
""",
    ),
    "a list that reads what it is assigned to": (
        """
def f(xs):
    xs = [x for x in xs]
    return xs
""",
        """
def f(xs):
    xs_1 = []
    for x in xs:
        xs_1.append(x)
    xs = xs_1
    return xs
""",
    ),
    "a dict": (
        """
def f(xs):
    d = {g(x): h(x) for x in xs}
    return d
""",
        """
def f(xs):
    d = {}
    for x in xs:
        key_1 = g(x)
        d_1 = h(x)
        d[key_1] = d_1
    return d
""",
    ),
    "any": (
        """
def f(xs):
    return any(x > 1 for x in xs)
""",
        """
def f(xs):
    out = False
    for x in xs:
        test_1 = x > 1
        if test_1:
            out = True
        if out:
            break
    return out
""",
    ),
    "a loop over a generator": (
        """
def f(xs):
    for y in (g(x) for x in xs if x):
        h(y)
    return xs
""",
        """
def f(xs):
    for x in xs:
        if x:
            y = g(x)
            h(y)
    return xs
""",
    ),
    "reduce": (
        """
def f(xs):
    y = reduce(g, xs, 0)
    return y
""",
        """
def f(xs):
    y = 0
    for xs_1 in xs:
        y = g(y, xs_1)
    return y
""",
    ),
    "displays": (
        """
def f(x, y):
    a = [*x, y]
    b = {**x, "k": y}
    return a, b
""",
        """
def f(x, y):
    a_1 = list(x)
    a_2 = [y]
    a = a_1 + a_2
    b_1 = {"k": y}
    b = merged(x, b_1)
    out = a, b
    return out
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    text = (
        before if "reduce" not in before else before.replace("def f", "from functools import reduce\ndef f")
    )
    assert body_after(to_anf, text).strip() == after.strip()


def test_behaviour() -> None:
    program = assert_agree(
        """
from functools import reduce
import math
import operator

def f(xs, n):
    log = []
    def g(x):
        log.append(x)
        return x
    ys = [g(x) * n for x in xs if g(x) > 1 if x < 9]
    xs = [x + y for x in xs for y in range(x) if y]
    d = {g(k): g(v) for k, v in zip(ys, xs)}
    s = {a % 3 for a in xs}
    t = sum(x * x for x in xs) + sum((x for x in ys), g(3))
    m = max(i * v for i, v in enumerate(ys, 2)) if ys else 0
    b = any(g(x) > 3 for x in xs) and all(g(x) > -1 for x in ys if x)
    c = [[i * j for j in range(i)] for i in range(n)]
    e = tuple(map(lambda q: q + n, xs)), list(filter(None, xs)), list(zip(xs, ys)), sorted(map(str, ys))
    h = ", ".join(str(x) for x in xs)
    (a, *rest) = (x for x in [g(1), 2, 3])
    r = reduce(operator.mul, xs, 1) + reduce(lambda a, b: a - b, [x for x in xs], 0)
    k = max(xs, key=lambda x: -x, default=None), min([4, 2, 2.0], key=lambda x: x % 2), max(3, g(5), key=g)
    w = [y for x in xs if (y := x * 2) > 3]
    u = dict(a=1, b=n), dict(zip(xs, ys)), dict(d, c=3)
    for i, v in enumerate(map(math.sqrt, xs)):
        t += i * v
        if i > 2:
            break
    for (i, j) in ((x, y) for x in ys for y in range(x)):
        if j == 1:
            continue
        t += i * j
    z = [(lambda q: q + i)(1) for i in xs], [*xs, g(1), *ys], (*xs,), {*xs, 2}, {**d, "k": 1}
    list(map(g, xs))
    return ys, xs, d, s, t, m, b, c, e, h, a, rest, r, k, w, u, z, log
""",
        [([1, 2, 3, 5], 2), ([], 3), ([2], 0)],
    )
    assert find_violations(program) == ()


def test_exceptions() -> None:
    assert_agree(
        """
from functools import reduce

def f(xs, kind):
    if kind == 0:
        return reduce(lambda a, b: a + b, xs)
    if kind == 1:
        return max(x for x in xs)
    if kind == 2:
        a, b = (x for x in xs)
        return a + b
    return [1 / x for x in xs], any(1 / x > 0 for x in xs)
""",
        [([], 0), ([], 1), ([1], 2), ([1, 2, 3], 2), ([1, 0], 3), ([0, 1], 3), ([1, 2], 0)],
    )


@pytest.mark.parametrize(
    "statement",
    ["y = (a for a in zip(x, x))", "y = np.stack((a for a in x))", "y = [(a for a in x)]"],
)
def test_a_generator_that_is_kept_is_refused(statement: str) -> None:
    program = read(f"def f(x):\n    {statement}\n    return x\n")[1]
    with pytest.raises(UnsupportedSyntaxError, match="stored or passed on") as caught:
        up_to(to_anf, program)
    assert caught.value.where is not None and caught.value.where.line == 2


def test_a_loop_over_a_generator_of_several_loops_is_not_left() -> None:
    text = "def f(x):\n    for a in (a for b in x for a in b):\n        break\n    return x\n"
    with pytest.raises(UnsupportedSyntaxError, match="several `for`"):
        up_to(to_anf, read(text)[1])
