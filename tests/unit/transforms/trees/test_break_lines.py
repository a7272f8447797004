"""break_line, and to_source through it: lines break where a reader would break them, and mean the same."""
from __future__ import annotations

import ast
import doctest

import gast
import pytest

from s2sad.transforms.trees import break_lines
from s2sad.transforms.trees.break_lines import break_line
from s2sad.transforms.trees.printer import WIDTH, to_source
from tests.support.tree_difference import difference


def test_long_statements_are_broken_inside_brackets() -> None:
    text = """\
def f(first_argument, second_argument, third_argument, fourth_argument, fifth_argument,
      sixth_argument=1):
    total = (first_argument * second_argument + third_argument * fourth_argument
             + fifth_argument * sixth_argument)
    return (np.where(first_argument > second_argument, third_argument, fourth_argument),
            second_argument, "a, (b + c)")
"""
    assert to_source(gast.parse(text)) == text


@pytest.mark.parametrize("text", [
    "x = " + " + ".join(["name"] * 80), "x = f(" + ", ".join(["f'{a + b, c}'"] * 80) + ")",
    "if " + " and ".join(["a < -b"] * 40) + ": pass", "for i in " + ", ".join(["abc"] * 60) + ": pass",
    "from a import " + ", ".join(["name"] * 40), "return " + ", ".join(["abc"] * 60),
    "x = [[[" + ", ".join(["a(b, c * d)"] * 60) + "]]]"])
def test_broken_lines_fit_and_mean_the_same(text: str) -> None:
    printed = to_source(gast.parse(text))
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert difference(ast.parse(text), ast.parse(printed)) is None


@pytest.mark.parametrize("line", ["x = '" + "a, " * 50 + "'", "# (" + "a, " * 50, "import a" + ", b" * 50])
def test_lines_that_cannot_be_broken_stay(line: str) -> None:
    assert break_line(line, 60) == line


def test_the_docstring_example() -> None:
    result = doctest.testmod(break_lines)
    assert result.attempted and not result.failed
