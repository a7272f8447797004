"""The sum of a list that is made for it is written as additions."""

from __future__ import annotations

import pytest

from s2sad.analysis.facts import facts_of
from s2sad.kinds.abstraction import kind_of
from s2sad.transforms.analyses.facts import Facts
from s2sad.transforms.lowering.add_items import MOST, add_items
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Program
from tests.support.stages import executable, read, up_to

LEFT = {
    "read again": "p = [a, b]\n    return sum(p) * len(p)",
    "of one": "p = [a]\n    return sum(p)",
    "from a start": "p = [a, b]\n    return sum(p, a)",
    "of what is not floating": "p = [a, n]\n    return sum(p)",
    "of too many": f"p = [{', '.join(['a'] * (MOST + 1))}]\n    return sum(p)",
    "another sum": "sum = max\n    p = [a, b]\n    return sum(p)",
}



def of_floats(program: Program) -> Facts:
    return facts_of(program, {"a": kind_of(1.5, "a"), "b": kind_of(2.5, "b"), "n": kind_of(1, "n")})


def test_written_as_additions() -> None:
    f, program = read("def f(a, b, n):\n    p = [a, b, a]\n    return sum(p)")
    found = add_items(of_floats(up_to(to_anf, program)))
    assert "[" not in to_source(found.tree) and "out_1 = a + b\n" in to_source(found.tree)
    assert executable(found)(1.5, 2.5, 1) == f(1.5, 2.5, 1)


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_left(text: str) -> None:
    normal = up_to(to_anf, read(f"def f(a, b, n):\n    {text}")[1])
    assert add_items(of_floats(normal)) is normal
