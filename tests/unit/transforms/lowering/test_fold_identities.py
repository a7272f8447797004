"""Whether two names stand for one object, where the function makes the objects."""

from __future__ import annotations

from typing import Any

import gast
import pytest

from s2sad.transforms.lowering.fold_identities import fold_identities
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import read, up_to

HEAD = "def f(x):\n    a = Cell(x)\n    b = Cell(x)\n"
FOLDED = {
    "one": ("return a is a", "out = True"),
    "two": ("return a is b", "out = False"),
    "not one": ("return a is not a", "out = False"),
    "not two": ("return a is not b", "out = True"),
}
LEFT = {
    "a parameter": "return a is x",
    "bound again": "if x:\n        a = b\n    return a is b",
    "another name": "c = a\n    return a is c",
    "in a nested function": "def g():\n        return a is b\n    return g",
}


def makes(value: Any) -> bool:
    return isinstance(value, gast.Call) and getattr(value.func, "id", "") == "Cell"


@pytest.mark.parametrize(("text", "expected"), FOLDED.values(), ids=FOLDED)
def test_folded(text: str, expected: str) -> None:
    program = up_to(to_anf, read(f"{HEAD}    {text}\n")[1])
    assert expected in to_source(fold_identities(program, makes).tree)


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_left(text: str) -> None:
    program = up_to(to_anf, read(f"{HEAD}    {text}\n")[1])
    assert fold_identities(program, makes) is program
