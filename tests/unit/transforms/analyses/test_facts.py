"""The facts of a program: analyses are made once, and kept as far as a pass preserves what they stand on."""

from __future__ import annotations

import gast
import pytest

from s2sad.analysis.facts import facts_of
from s2sad.kinds import domain
from s2sad.kinds.lattice import UNKNOWN
from s2sad.transforms.analyses.facts import Facts, Kinds
from s2sad.transforms.analyses.operations import Apply
from s2sad.transforms.trees.nodes import load
from s2sad.transforms.trees.program import Program, Scope, program_of

TEXT = "def f(x, n):\n    y = x * n\n    return y"


def facts() -> Facts:
    def find(program: Program) -> Kinds:
        return dict.fromkeys(["x", "n", "y"], domain.INTEGER)

    return facts_of(program_of(TEXT, Scope({"limit": 3})), {"n": domain.INTEGER}, find_kinds=find)


def count(facts: Facts, start: int = 0) -> list[int]:
    """An analysis whose results can be told apart."""
    return [start]


def test_an_analysis_is_made_once_for_the_same_question() -> None:
    found = facts()
    assert found.of(count) is found.of(count) and found.of(count, 2) is found.of(count, 2) == [2]
    assert found.of(count, 2) is not found.of(count)


def test_a_pass_that_keeps_names_keeps_operations_and_no_analysis() -> None:
    found = facts()
    value = found.program.tree.body[0].value
    after = found.after(found.program.with_tree(found.program.tree))
    assert isinstance(found.operation(value), Apply) and after.operation(value) is found.operation(value)
    assert after.of(count) is not found.of(count) and found.after(found.program) is found


def test_kinds_are_found_again_of_another_program() -> None:
    found = facts()
    again = found.again(found.program.with_tree(found.program.tree))
    assert found.kind(load("y")) is UNKNOWN and again.kind(load("y")) is domain.INTEGER
    assert facts_of(found.program, None, find_kinds=found.find_kinds).kind(load("x")) is domain.INTEGER


ATOMS = [("n", domain.INTEGER), ("x", UNKNOWN), ("-2", domain.kind_of_literal(-2))]


@pytest.mark.parametrize("text, kind", ATOMS)
def test_the_kind_of_an_atom(text: str, kind: object) -> None:
    assert facts().kind(gast.parse(text, mode="eval").body) == kind


def test_the_kind_of_what_is_known_before_the_run() -> None:
    assert facts().kind(load("limit")) == domain.kind_of_static(load("limit"), 3) != UNKNOWN
