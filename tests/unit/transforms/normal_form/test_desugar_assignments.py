from __future__ import annotations

import pytest

from s2sad.transforms.normal_form.desugar_assignments import desugar_assignments
from tests.random.evaluation_order import random_assignments
from tests.support.stages import assert_agree, body_after

PAIRS = {
    "independent values": ("a, b = x + 1, y", "a = x + 1\nb = y"),
    "a swap": ("x, y = y, x", "x_1 = x\nx = y\ny = x_1"),
    "a value that reads an earlier target": ("x, y = y, x + y", "y_1 = x + y\nx = y\ny = y_1"),
    "two values in order": ("x, y = x + y, x - y", "x_1 = x + y\ny_1 = x - y\nx = x_1\ny = y_1"),
    "elements": ("x[0], x[1] = x[1], x[0]", "x_1 = x[1]\nx_2 = x[0]\nx[0] = x_1\nx[1] = x_2"),
    "an index that an earlier target sets": ("y, x[y] = 1, 2", "y = 1\nx[y] = 2"),
    "a chain": ("a = b = x + y", "a = x + y\nb = a"),
    "a chain of one name": ("a = b = x", "a = x\nb = x"),
    "a chain of elements": ("x[0] = x[1] = y + 1", "x_1 = y + 1\nx[0] = x_1\nx[1] = x_1"),
    "nested": ("a, (b, c) = x", "a, b_1 = x\nb, c = b_1"),
    "nested on both sides": ("(a, b), c = (x, y), 1", "a = x\nb = y\nc = 1"),
    "a star": ("a, *b = x", "a_1 = list(x)\n(a,) = a_1[:1]\nb = a_1[1:]"),
    "a star in the middle": (
        "a, *b, c = x",
        "a_1 = list(x)\n(a,) = a_1[:1]\nb_1 = a_1[1:]\nb = b_1[:-1]\n(c,) = b_1[-1:]",
    ),
    "a star with known values": ("a, *b = x, y, 1", "a = x\nb = [y, 1]"),
    "annotated": ("a: float = x", "a = x"),
    "augmented stays": ("x[y] += 1", "x[y] += 1"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = (
        "def f(x, y):\n" + "".join(f"    {line}\n" for line in (*text.split("\n"), "return x"))
        for text in PAIRS[name]
    )
    assert body_after(desugar_assignments, before) == after


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of Python, about the random text: `4[0]`
def test_random_assignments(seed: int) -> None:
    assert_agree(random_assignments(seed), [([], [1, 2, 3]), ([], [0, -1, 5, 8])])


def test_too_few_and_too_many_values() -> None:
    for targets in ("a, *b, c", "a, b, *c", "*a, b", "a, b"):
        assert_agree(
            f"def f(x):\n    {targets} = x\n    return a, b\n", [([],), ([1],), ([1, 2],), ("abcd",), (3,)]
        )


def test_an_annotation_alone_leaves_nothing() -> None:
    assert_agree("def f(x):\n    if x:\n        y: int\n    return x\n", [(0,), (1,)])


def test_list_by_another_name() -> None:
    assert_agree("def f(list):\n    a, *b = list\n    return a, b\n", [((1, 2, 3),)])
