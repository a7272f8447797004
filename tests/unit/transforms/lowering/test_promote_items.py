"""Items of dicts that a function makes are variables, where nothing else sees the dict before."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad.transforms.lowering.promote_items import promote_items
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.trees.printer import to_source
from tests.support.stages import executable, read, up_to

PROMOTED = {
    "items that are set": (
        """
    d = {"a": x, "n": 0}
    while d["n"] < 3:
        d["a"] = d["a"] * 2.0
        d["n"] += 1
    return d["a"]
""",
        """
    a = x
    n = 0
    while True:
        test_1 = n
        test_2 = test_1 < 3
        if not test_2:
            break
        d_1 = a
        d_2 = d_1 * 2.0
        a = d_2
        n += 1
    out = a
    return out
""",
    ),
    "items that are lists": (
        """
    h = {"loss": [], "x": x}
    for k in range(2):
        h["loss"].append(h["x"])
    return h["loss"][1]
""",
        """
    loss = []
    h_x = x
    for k in range(2):
        append_2 = h_x
        loss.append(append_2)
    out_1 = loss
    out = out_1[1]
    return out
""",
    ),
    "lengths": (
        """
    d = {"a": x}
    return d["a"] * len(d)
""",
        """
    a = x
    out_1 = a
    out_2 = 1
    out = out_1 * out_2
    return out
""",
    ),
    "the whole at the end": (
        """
    d = {"a": x, "b": 0.0}
    d["b"] = d["a"] * 3.0
    return d
""",
        """
    a = x
    b = 0.0
    d_1 = a
    d_2 = d_1 * 3.0
    b = d_2
    d = {"a": a, "b": b}
    return d
""",
    ),
}
LEFT = {
    "the whole before": 'd = {"a": x}\n    e = [d]\n    d["a"] = x * 2.0\n    return e[0]["a"]',
    "a key of the run's": 'd = {"a": x}\n    for k in "a":\n        d[k] = x * 2.0\n    return d["a"]',
    "a new key": 'd = {"a": x}\n    d["b"] = x\n    return d["a"]',
    "a closure": 'd = {"a": x}\n    def g():\n        return d["a"]\n    d["a"] = 2.0 * x\n    return g()',
    "two displays": 'd = {"a": x}\n    d = {"a": x * d["a"]}\n    return d["a"]',
    "in a loop": 'd = {"a": x}\n    for k in range(2):\n        x = x + sum(d)\n    return d["a"]',
}


@pytest.mark.parametrize("name", PROMOTED)
def test_items_become_variables(name: str) -> None:
    before, after = PROMOTED[name]
    f, program = read(f"def f(x):{before}")
    found = promote_items(up_to(to_anf, program))
    assert to_source(found.tree).strip() == f"def f(x):{after}".strip()
    x = np.array([1.5, 2.5])
    np.testing.assert_equal(executable(found)(x), f(x))


@pytest.mark.parametrize("name", LEFT)
def test_dicts_that_are_seen_stay(name: str) -> None:
    _, program = read(f"def f(x):\n    {LEFT[name]}\n")
    normal = up_to(to_anf, program)
    assert promote_items(normal) is normal


def test_lists_of_objects_become_variables() -> None:
    text = "a = g(x)\n    b = g(a)\n    p = [a, b]\n    p[1] = g(p[0])\n    return len(p) * p[1]"
    _, program = read(f"def f(x, g):\n    {text}\n")
    found = promote_items(up_to(to_anf, program), {"a", "b"})
    f, names = executable(found), to_source(found.tree)
    assert f(3.0, lambda v: v + 1.0) == 10.0
    assert "[" not in names and promote_items(up_to(to_anf, program), {"a"}) is not found


@pytest.mark.parametrize("use", ["h(pair)", "pair.append(a)", "pair[k] = a", "pair = [b, a]"])
def test_lists_of_objects_that_are_seen_stay(use: str) -> None:
    text = f"a = g(x)\n    b = g(a)\n    pair = [a, b]\n    {use}\n    return pair[1]"
    normal = up_to(to_anf, read(f"def f(x, g, h, k):\n    {text}\n")[1])
    assert promote_items(normal, {"a", "b"}) is normal
