"""Tests of names for the variables of loops."""

from s2sad.transforms.lowering.separate_loops import separate_loops
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of


def separated(text: str) -> str:
    return to_source(separate_loops(program_of(text)).tree)


def test_a_variable_that_is_bound_again_gets_another_name() -> None:
    before = "def f(x):\n    for v in x:\n        g(v)\n    for v in x:\n        h(v)\n    return x\n"
    after = "def f(x):\n    for v_1 in x:\n        g(v_1)\n    for v_2 in x:\n        h(v_2)\n    return x\n"
    assert separated(before) == after


def test_a_variable_that_is_read_after_the_loop_keeps_its_name() -> None:
    text = "def f(x):\n    for v in x:\n        g(v)\n    v = v + 1\n    return v\n"
    assert separated(text) == text


def test_a_variable_that_is_bound_in_its_loop_alone_keeps_its_name() -> None:
    text = "def f(x):\n    for v in x:\n        v = v + 1\n        g(v)\n    return x\n"
    assert separated(text) == text
