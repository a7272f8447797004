"""Single assignment: one name for each version of a variable, and copies where versions meet."""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

import gast
import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.normal_form.to_ssa import to_ssa
from s2sad.transforms.trees.nodes import assigned_names, target_names, walk_scope
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Program
from tests.support.stages import FRONT, assert_agree, read, up_to

Node = Any  # gast publishes no types

PAIRS: dict[str, tuple[str, str, list[tuple[Any, ...]]]] = {
    "versions": (
        """
def f(x):
    y = x * 2
    y = y + x
    x = y * x
    return x
""",
        """
def f(x):
    y = x * 2
    y_2 = y + x
    x_2 = y_2 * x
    return x_2
""",
        [(3.0,)],
    ),
    "only what is live joins": (
        """
def f(c, x):
    if c:
        y = x * 2
        z = y + 1
    else:
        y = x
    return y
""",
        """
def f(c, x):
    if c:
        y = x * 2
        z = y + 1
        y_3 = y
    else:
        y_2 = x
        y_3 = y_2
    return y_3
""",
        [(True, 3.0), (False, 3.0)],
    ),
    "one arm only": (
        """
def f(c, x):
    if c:
        x = x * 2
    return x
""",
        """
def f(c, x):
    if c:
        x_2 = x * 2
        x_3 = x_2
    else:
        x_3 = x
    return x_3
""",
        [(True, 3.0), (False, 3.0)],
    ),
    "a swap in a loop": (
        """
def f(u, v, n):
    for i in range(n):
        u, v = v, u
    return u - v
""",
        """
def f(u, v, n):
    u_2 = u
    v_2 = v
    for i in range(n):
        u_1 = u_2
        u_3 = v_2
        v_3 = u_1
        u_2 = u_3
        v_2 = v_3
    out = u_2 - v_2
    return out
""",
        [(1.0, 2.0, 3), (1.0, 2.0, 0)],
    ),
    "a lagged value is read before it is carried on": (
        """
def f(x, n):
    last = x
    for i in range(n):
        last = x
        x = x * 2
    return x - last
""",
        """
def f(x, n):
    last = x
    last_2 = last
    x_2 = x
    for i in range(n):
        last_3 = x_2
        x_3 = x_2 * 2
        last_2 = last_3
        x_2 = x_3
    out = x_2 - last_2
    return out
""",
        [(1.0, 3), (1.0, 0)],
    ),
    "in-place operators say so, stores stay": (
        """
def f(x, a, v):
    x += v
    x -= 1
    a[0] *= v
    return x
""",
        """
def f(x, a, v):
    x_2 = iadd(x, v)
    x_3 = isub(x_2, 1)
    a[0] *= v
    return x_3
""",
        [(1.0, [2.0], 3.0)],
    ),
    "what may be missing stays missing": (
        """
def f(xs):
    for x in xs:
        y = x * x
    return y
""",
        """
def f(xs):
    for x in xs:
        y_2 = x * x
        y = y_2
    return y
""",
        [([1.0, 2.0],), ([],)],
    ),
    "a copy of what may be missing gets a value": (
        """
def f(c, x):
    if c:
        y = x
    for i in range(2):
        if i > c:
            y = y * 2
        else:
            y = x
    return y
""",
        """
def f(c, x):
    if c:
        y = x
        y_2 = y
    else:
        y_2 = None
    y_3 = y_2
    for i in range(2):
        test_1 = i > c
        if test_1:
            y_4 = y_3 * 2
            y_6 = y_4
        else:
            y_5 = x
            y_6 = y_5
        y_3 = y_6
    return y_3
""",
        [(True, 3.0), (False, 3.0)],
    ),
    "copies stand before the exit": (
        """
def f(xs, limit):
    s = 0.0
    for x in xs:
        s = s + x
        if s > limit:
            break
    return s
""",
        """
def f(xs, limit):
    s = 0.0
    s_2 = s
    for x in xs:
        s_3 = s_2 + x
        stop = s_3 > limit
        s_2 = s_3
        if stop:
            break
    return s_2
""",
        [([1.0, 2.0, 3.0], 2.5), ([], 0.0)],
    ),
    "a while loop's test reads what the loop carries": (
        """
def f(x):
    while x > 1.0:
        x = x / 2
    return x
""",
        """
def f(x):
    x_2 = x
    while True:
        test_1 = x_2 > 1.0
        if not test_1:
            break
        x_3 = x_2 / 2
        x_2 = x_3
    return x_2
""",
        [(9.0,), (0.5,)],
    ),
    "a nested function reads the version where it is defined": (
        """
def f(x):
    x = x * 2
    def g(t):
        t = t * x
        return t
    return g(x)
""",
        """
def f(x):
    x_2 = x * 2

    def g(t):
        t_2 = t * x_2
        return t_2
    out = g(x_2)
    return out
""",
        [(3.0,)],
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_before_and_after(case: str) -> None:
    before, after, calls = PAIRS[case]
    program = assert_agree(before, calls, (*FRONT, to_ssa))
    assert to_source(program.tree).strip() == after.strip()
    assert_single_assignment(program.tree)


def assert_single_assignment(tree: Node) -> None:
    """That whatever two statements assign is assigned by copies alone."""
    values = defaultdict(list)
    for s in walk_scope(tree.body):
        if isinstance(s, gast.Assign):
            for name in target_names(s.targets[0]):
                values[name].append(s.value)
    for name, found in values.items():
        assert len(found) == 1 or all(isinstance(v, (gast.Name, gast.Constant, gast.Tuple)) for v in found), (
            f"{name} is assigned {len(found)} times"
        )


def test_the_checker_can_fail() -> None:
    with pytest.raises(AssertionError, match="y is assigned 2 times"):
        assert_single_assignment(gast.parse("def f(x):\n    y = x * 2\n    y = y + 1\n    return y").body[0])


def single(text: str) -> Program:
    return to_ssa(up_to(to_anf, read(text)[1]))


def test_what_it_says_of_its_names() -> None:
    program = single("def f(x, n):\n    for i in range(n):\n        x += x\n    return x\n")
    assert program.bindings["iadd"] is operator.iadd
    assert dict(program.origins) == {"x_2": "x", "x_3": "x"}
    assert set(assigned_names(program.tree.body)) <= program.locals


def test_the_program_given_is_left_alone() -> None:
    before = up_to(to_anf, read(PAIRS["one arm only"][0])[1])
    text, taken = gast.dump(before.tree), set(before.names.taken)
    to_ssa(before)
    assert gast.dump(before.tree) == text and before.names.taken == taken


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "def f(x):\n    y = x\n    def g(t):\n        return t * y\n    y = y + 1\n    return g(x) + y\n",
            "`y` is assigned again after `g` captured it",
        ),
        (
            "def f(xs):\n    gs = []\n    for x in xs:\n        def g(t):\n            return t * x\n"
            "        gs.append(g)\n    return gs[0](1.0)\n",
            "`g` outlives the iteration whose variable `x` it captured",
        ),
    ],
)
def test_refused(text: str, what: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=what) as caught:
        single(text)
    assert caught.value.where is not None and caught.value.instead
