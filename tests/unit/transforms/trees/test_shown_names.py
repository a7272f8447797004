"""Errors name values as the user wrote them, and point into the user's file."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.transforms.trees.program import program_of
from s2sad.transforms.trees.rebuild import rebuilt
from s2sad.transforms.trees.shown_names import in_users_words

OWN = """
def f(x, rows):
    y = rows[0]
    return y
"""
MADE = """
def f(x, rows):
    y_2 = rows[0]
    y_1 = x.part
    out = g(y_1, y_2)
    return out
"""


def test_names_that_passes_made_are_shown_as_what_they_stand_for() -> None:
    program, made = program_of(OWN), program_of(MADE)
    lines = program.tree.lineno, program.tree.end_lineno
    tree = rebuilt(made.tree, lineno=lines[0], end_lineno=lines[1])
    found = program.with_tree(tree, origins={"y_2": "y"})
    shown = in_users_words(found, "`y_2`, `y_1[x]` and `z_1`, not y_2")
    assert shown == "`y`, `x.part[x]` and `z_1`, not y_2"
    assert in_users_words(found, "`out = f(y_2)`") == "`g(x.part, y) = f(y)`"


def dynamic(x: float, parts: Any) -> Any:
    joined = itertools.chain
    return sum(joined(*parts)) * x


def test_calls_of_primitives_are_refused_in_the_users_file() -> None:
    with pytest.raises(s2sad.MissingRuleError, match="chain` has no rule") as caught:
        s2sad.vjp(dynamic, 2.0, [[1.0], [2.0]])
    where = caught.value.where
    assert where is not None and where.filename == __file__ and "joined(*parts)" in where.text


def test_functions_of_shared_libraries_have_finite_differences() -> None:
    double = ctypes.PYFUNCTYPE(ctypes.c_double, ctypes.c_double)
    square = double(lambda v: v * v)

    def f(x: float) -> Any:
        return square(x) * x

    with pytest.raises(s2sad.MissingRuleError) as caught:
        s2sad.grad(f)(2.0)
    assert caught.value.what.startswith("`square` has no rule")
    assert caught.value.instead.startswith("take finite differences, `s2sad.numerical(square)`;")
    with pytest.raises(s2sad.MissingRuleError) as caught:
        s2sad.grad(lambda x: np.sum(np.union1d(x, x)))(np.ones(3))
    assert "numerical" not in caught.value.instead
