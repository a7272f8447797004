"""Names of objects that passes write into programs."""

from __future__ import annotations

from s2sad.transforms.trees.bind_objects import Objects
from s2sad.transforms.trees.program import Names, program_of


def test_functions_whose_name_is_no_identifier_get_one() -> None:
    program = program_of("def f(x):\n    return x\n")
    objects = Objects(program, Names())
    double, halve = (lambda v: 2 * v), (lambda v: v / 2)
    assert [objects.name(f) for f in (double, halve, double)] == ["lambda_", "lambda_2", "lambda_"]
    halve.__name__ = "is"
    assert Objects(program, Names()).name(halve) == "is_"
