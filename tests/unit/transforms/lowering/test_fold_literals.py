"""What a program does with literal strings and integers alone is done before it runs."""

from __future__ import annotations

import pytest

from s2sad.transforms.lowering.fold_literals import fold_literals
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import executable, read, up_to

FOLDED = {
    "a test": ('if "w1".startswith("w"):\n        x = x * 2', "x = x * 2"),
    "a test that is not met": (
        'if "b1".startswith("w"):\n        x = x * 2\n    else:\n        x = 3 * x',
        "x = 3 * x",
    ),
    "a part": ('if "w1"[0] == "w":\n        x = x * 2', "x = x * 2"),
    "a negation": ('if not "w" in "b1":\n        x = x * 2', "x = x * 2"),
    "within a loop": (
        'for k in range(2):\n        if "a" != "b":\n            x = x * k',
        "\n        x = x * k",
    ),
    "a number": ("if 2 - 1 > 0:\n        x = x * 2", "x = x * 2"),
    "a key": ('d = {"w1": x}\n    x = d["w" + "1"] * 2', 'd["w1"]'),
    "a key that is formatted": ("d = {'w1': x}\n    x = d[f'w{\"1\"}'] * 2", 'd["w1"]'),
}
LEFT = {
    "another string": "if name.startswith('w'):\n        x = x * 2",
    "an index that raises": "k = 'w1'[5]",
    "a break": "for k in range(2):\n        if 'a' == 'a':\n            break\n        x = x * 2",
    "a name bound twice": "k = 'a'[0]\n    if k == 'a':\n        x = x * 2\n    k = name",
}


@pytest.mark.parametrize(("text", "expected"), FOLDED.values(), ids=FOLDED)
def test_folded(text: str, expected: str) -> None:
    f, program = read(f"def f(x):\n    {text}\n    return x")
    found = fold_literals(up_to(to_anf, program))
    source = to_source(found.tree)
    assert expected in source and "if" not in source
    assert executable(found)(1.5) == f(1.5)


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_left(text: str) -> None:
    f, program = read(f"def f(x, name):\n    {text}\n    return x")
    found = fold_literals(up_to(to_anf, program))
    if "raises" in text or "[5]" in text:
        with pytest.raises(IndexError):
            executable(found)(1.5, "wz")
    else:
        assert executable(found)(1.5, "wz") == f(1.5, "wz")
        assert "if" in to_source(found.tree)
