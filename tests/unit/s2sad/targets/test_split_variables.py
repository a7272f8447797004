"""Names that stand for several values become several names."""

from __future__ import annotations

import ast
from textwrap import dedent

from s2sad.targets.split_variables import split_variables


def split(text: str) -> str:
    function = ast.parse(dedent(text)).body[0]
    assert isinstance(function, ast.FunctionDef)
    count = iter(range(1, 99))
    split_variables(function, lambda name: f"{name}_{next(count)}")
    return ast.unparse(function)


def test_values_that_only_share_a_name() -> None:
    before = "def f(x):\n    t = x\n    y = t\n    t = y\n    x = t\n    return x"
    after = "def f(x):\n    t = x\n    y = t\n    t_1 = y\n    x_2 = t_1\n    return x_2"
    assert split(before) == after


def test_what_a_loop_or_a_branch_may_read_stays_one_variable() -> None:
    for text in (
        "def f(x, n):\n    for i in range(n):\n        x = x * x\n    return x",
        "def f(x, n):\n    if n:\n        y = x\n    else:\n        y = n\n    return y",
        "def f(x):\n    s = 0\n    while True:\n        if s > x:\n            break\n        s += 1",
        "def f(x):\n    y = x\n    y += 1\n    return y",
        "def f(x):\n    i = 0\n    z = [i for i in x]\n    i = 1\n    return (z, i)",
    ):
        assert split(text) == text


def test_a_loop_makes_its_variable_anew_at_each_turn() -> None:
    before = """
        def f(x, n):
            for i in range(n):
                t = x
                x = t * i
            t = n
            return x + t"""
    assert "t_1 = n\n    return x + t_1" in split(before)
