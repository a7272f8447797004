"""A list that is appended to as soon as it is made is a display."""

from __future__ import annotations

import pytest

from s2sad.transforms.lowering.gather_appends import gather_appends
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import executable, read, up_to

GATHERED = {
    "what is made in between": (
        """
    a = []
    b = x * 2.0
    a.append(b)
    c = b * x
    a.append(c)
    return a
""",
        """
    b = x * 2.0
    c = b * x
    a = [b, c]
    return a
""",
    ),
    "within a block": (
        """
    if x > 0.0:
        a = [x]
        a.append(2.0)
        x = a[1]
    return x
""",
        """
    test_1 = x > 0.0
    if test_1:
        a = [x, 2.0]
        x = a[1]
    return x
""",
    ),
}
LEFT = {
    "a name that changes": "a = []\n    a.append(x)\n    x = x * 2.0\n    a.append(x)",
    "read in between": "a = []\n    n = len(a)\n    a.append(n)",
    "another name": "a = []\n    b = a\n    b.append(x)\n    a.append(x)",
    "in a loop": "a = []\n    for k in range(3):\n        a.append(k)",
    "made twice": "a = []\n    a = [2.0, a]\n    a.append(x)",
    "a closure": "a = []\n    def g():\n        return a\n    a.append(g)",
    "itself": "a = []\n    a.append(a)",
}


@pytest.mark.parametrize("name", GATHERED)
def test_appended_items_are_in_the_display(name: str) -> None:
    before, after = GATHERED[name]
    f, program = read(f"def f(x):{before}")
    found = gather_appends(up_to(to_anf, program))
    assert to_source(found.tree).strip() == f"def f(x):{after}".strip()
    assert executable(found)(1.5) == f(1.5)


@pytest.mark.parametrize("name", LEFT)
def test_other_lists_stay(name: str) -> None:
    f, program = read(f"def f(x):\n    {LEFT[name]}\n    return str(a)")
    found = gather_appends(up_to(to_anf, program))
    if name in ("a closure", "itself"):
        assert to_source(found.tree) == to_source(up_to(to_anf, program).tree)
    else:
        assert executable(found)(1.5) == f(1.5)
