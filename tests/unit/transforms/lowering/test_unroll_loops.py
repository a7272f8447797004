"""Loops over objects of several classes are written out, where these are known."""

from __future__ import annotations

import re
from typing import Any

import gast
import pytest

from s2sad.transforms.lowering.unroll_loops import MOST, unroll_loops
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.nodes import constant, find_nodes
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import read, up_to

LENGTHS = {"a": 2, "b": 3, "long": MOST + 1, "one": 1}

WRITTEN_OUT = {
    "what an iteration alone uses has names of its own": (
        """
    y = 0.0
    for p in a:
        z = p(x)
        y = y + z
    return y
""",
        """
    y = 0.0
    length_1 = len(a)
    p_1 = a[0]
    z_1 = p_1(x)
    y = y + z_1
    p_2 = a[1]
    z_2 = p_2(x)
    y = y + z_2
    return y
""",
    ),
    "counted, and read after the loop": (
        """
    for k, p in enumerate(a):
        x = p(x)
    return p(k)
""",
        """
    length_1 = len(a)
    k_1 = 0
    p_1 = a[0]
    x = p_1(x)
    k_2 = 1
    p_2 = a[1]
    k = k_2
    p = p_2
    x = p_2(x)
    out = p(k)
    return out
""",
    ),
    "backwards, and only as far as the shorter list goes": (
        """
    for p in reversed(a):
        x = p(x)
    for r, q in zip(b, a, strict=False):
        x = r(q)
    return x
""",
        """
    length_1 = len(a)
    p_1 = a[1]
    x = p_1(x)
    p_2 = a[0]
    x = p_2(x)
    length_2 = len(b)
    length_3 = len(a)
    r_1 = b[0]
    q_1 = a[0]
    x = r_1(q_1)
    r_2 = b[1]
    q_2 = a[1]
    x = r_2(q_2)
    return x
""",
    ),
    "left at the end": (
        """
    for p in a:
        x = p(x)
        if x:
            break
    return x
""",
        """
    length_1 = len(a)
    p_1 = a[0]
    x = p_1(x)
    stop_1 = x
    if stop_1:
        pass
    else:
        p_2 = a[1]
        x = p_2(x)
        stop_2 = x
    return x
""",
    ),
}
KEPT = {
    "of too many": "for p in long:\n        x = p(x)",
    "of a list that is not known": "for p in c:\n        x = p(x)",
    "beside one that is not known": "for p, q in zip(a, c):\n        x = p(q)",
    "that assigns its target": "for p in a:\n        p = x",
    "of a part": "for p in a[1:]:\n        x = p(x)",
    "that says the lengths are one": "for p, q in zip(a, b, strict=True):\n        x = p(q)",
    "counted from elsewhere": "for k, p in enumerate(a, x):\n        x = p(k)",
}


def unrolled(text: str, head: str = "x, a, b, c, long, one") -> tuple[str, dict[str, int]]:
    def items(atom: Any) -> list[Any] | None:
        count = LENGTHS.get(atom.id)
        return (count and [gast.Subscript(atom, constant(k), gast.Load()) for k in range(count)]) or None

    def is_wanted(loop: Any) -> bool:
        return any(n.id in LENGTHS for n in find_nodes(loop.iter, gast.Name))

    program = up_to(to_anf, read(f"def f({head}):{text}")[1])
    new, lengths = unroll_loops(program, items, is_wanted)
    return to_source(new.tree), lengths


@pytest.mark.parametrize(("before", "after"), WRITTEN_OUT.values(), ids=WRITTEN_OUT)
def test_written_out(before: str, after: str) -> None:
    source, lengths = unrolled(before)
    assert source.split("\n", 1)[1].strip("\n") == after.strip("\n")
    taken = dict(re.findall(r"(length_\d) = len\((\w)\)", source))
    assert lengths == {name: LENGTHS[taken[name]] for name in taken}


@pytest.mark.parametrize("loop", KEPT.values(), ids=KEPT)
def test_kept(loop: str) -> None:
    source, lengths = unrolled(f"\n    {loop}\n    return x\n")
    assert "for " in source and not lengths


def test_names_of_python_that_mean_something_else() -> None:
    source, _ = unrolled("\n    for p in reversed(a):\n        x = p(x)\n    return x\n", "x, a, reversed")
    assert "for p in" in source
