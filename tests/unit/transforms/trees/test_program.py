"""Programs: names, scopes, and places in the user's file."""

from __future__ import annotations

from types import CellType

import gast
import numpy as np
import pytest

from s2sad.transforms.errors import UnsupportedSyntaxError
from s2sad.transforms.trees.program import MISSING, Names, Program, Scope, program_of


def test_fresh_names_are_versions_and_temporaries_are_parts() -> None:
    names = Names({"x", "y_2"})
    assert [names.fresh("x"), names.fresh("x"), names.fresh("z"), names.fresh("z")] == [
        "x_2",
        "x_3",
        "z",
        "z_2",
    ]
    assert [names.temporary("y"), names.temporary("y"), names.temporary("y_1")] == ["y_1", "y_3", "y_4"]
    assert names.fresh("x_2") == "x_4"


def test_names_of_functions_become_identifiers() -> None:
    names = Names()
    assert [names.fresh("<lambda>"), names.fresh("<lambda>"), names.temporary("make it")] == [
        "lambda_",
        "lambda_2",
        "make_it_1",
    ]
    assert [names.fresh("class"), names.fresh("<>"), names.fresh("2 steps")] == [
        "class_",
        "function",
        "function_2_steps",
    ]


def test_a_copy_of_names_goes_its_own_way() -> None:
    names = Names({"x"})
    copy = names.copy()
    assert copy.fresh("x") == names.fresh("x") == "x_2"


def test_scopes_are_looked_up_live() -> None:
    cell, empty = CellType(1), CellType()
    values = {"a": 2, "c": 3}
    scope = Scope(values, {"a": cell, "b": empty})
    assert scope.lookup("a") == 1 and scope.lookup("b") is MISSING and scope.lookup("c") == 3
    assert scope.lookup("len") is len and scope.lookup("nowhere") is MISSING
    cell.cell_contents = values["c"] = 5
    assert scope.lookup("a") == scope.lookup("c") == 5
    assert Scope({"__builtins__": {"len": sum}}).lookup("len") is sum


def test_what_is_known_before_the_run() -> None:
    class Model:
        rate = 0.5

    globals_ = {"np": np, "Model": Model, "model": Model(), "x": 1}
    program = program_of("def f(x, np_2):\n    return x", Scope(globals_))
    program = program.with_tree(program.tree, bindings={"np_2": np, "bound": 7})

    def resolve(text: str) -> object:
        return program.resolve(gast.parse(text, mode="eval").body)

    assert resolve("np.linalg.norm") is np.linalg.norm and resolve("np_2.sin") is np.sin
    assert resolve("Model.rate") == 0.5 and resolve("bound") == 7
    assert resolve("np.nothing") is MISSING
    assert resolve("x") is MISSING, "a local name is not the global of that name"
    assert resolve("model.rate") is MISSING, "an attribute of an object may change"
    assert resolve("f(x)") is MISSING


TEXT = """def f(x):
    y = x; z = y * 2
    for i in range(3):
        z = (z +
             'ä' * i)
    return z
"""


def statement(program: Program, *path: int) -> gast.AST:
    node = program.tree
    for k in path:
        node = node.body[k]
    return node


def test_the_text_of_a_statement() -> None:
    program = program_of(TEXT)
    assert program.source_line(statement(program, 0)) == "y = x"
    assert program.source_line(statement(program, 1)) == "z = y * 2"
    assert program.source_line(statement(program, 2)) == "for i in range(3):"
    assert program.source_line(statement(program, 2, 0)) == "z = (z + 'ä' * i)"
    assert program.source_line(gast.Pass()) == ""
    long = program_of(f"def f(x):\n    return x{' + x' * 40}\n")
    text = long.source_line(statement(long, 0))
    assert len(text) == 100 and text.endswith("...")


def test_a_refusal_shows_the_place() -> None:
    program = program_of(TEXT)
    with pytest.raises(UnsupportedSyntaxError) as caught:
        program.refuse(statement(program, 1), "something", "a reason", "another thing")
    assert str(caught.value) == (
        "something\n<text>:2\n    y = x; z = y * 2\n           ^\nwhy: a reason\ninstead: another thing"
    )
    assert isinstance(caught.value, SyntaxError) and caught.value.offset == 12


def test_a_program_is_not_changed_by_what_is_made_of_it() -> None:
    program = program_of(TEXT)
    other = program.with_tree(statement(program, 2), locals=frozenset({"q"}))
    assert other.locals == {"q"} and program.locals == {"x", "y", "z", "i"}
    assert program.tree.name == "f" and repr(MISSING) == "MISSING"
