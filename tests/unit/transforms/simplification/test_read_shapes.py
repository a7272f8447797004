"""Copies of which only the shape is read."""

from __future__ import annotations

from typing import Any

import gast

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.read_shapes import read_shape_of_source
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

READ = """
def f(a):
    A = a.copy()
    return np.zeros_like(A)
"""
CHANGED = """
def f(a, v):
    A = a.copy()
    A[0] = v
    return np.zeros_like(A)
"""


def read_shapes(tree: Any) -> Any:
    facts = generated_facts(is_array=lambda name: True)
    return apply_rules(tree, facts, {gast.Assign: (read_shape_of_source,)})


def test_the_shape_is_read_from_the_source() -> None:
    check(read_shapes, READ, "def f(a):\n    return np.zeros_like(a)\n")


def test_a_copy_that_is_changed_stays() -> None:
    check(read_shapes, CHANGED, CHANGED)
