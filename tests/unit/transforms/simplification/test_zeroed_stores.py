"""Copies of what is set to zero next, and sums with what was just set to zero."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.zeroed_stores import read_before_zero, store_first, store_over_zero
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of
from tests.support.generated_facts import generated_facts

ADJOINTS = generated_facts(
    is_derivative=("da", "dv", "du", "d").__contains__,
    is_array=lambda name: name == "da",
    is_number_adjoint=lambda name: name == "d",
)

READ = {
    "read once": (
        "dv = da[1:].copy()\n    da[1:] = 0\n    du = dv / 3\n    da[:1] += du\n    return da",
        "du = da[1:] / 3\n    da[1:] = 0\n    da[:1] += du\n    return da",
    ),
    "read twice": ("dv = da[1:].copy()\n    da[1:] = 0\n    du = dv / 3\n    return da, du, dv",) * 2,
    "another place": ("dv = da[1:].copy()\n    da[:1] = 0\n    du = dv / 3\n    return da, du",) * 2,
    "with another adjoint": (
        "dv = da[1:].copy()\n    da[1:] = 0\n    du = dv * da[1:]\n    return da, du",
    )
    * 2,
    "in place": ("dv = da[1:].copy()\n    da[1:] = 0\n    da[:1] += dv\n    return da",) * 2,
    "what may be a view": (
        "dv = da[1:].copy()\n    da[1:] = 0\n    du = np.ravel(dv)\n    return da, du",
    )
    * 2,
}


@pytest.mark.parametrize("name", READ)
def test_read_before_zero(name: str) -> None:
    before, after = (f"def f(da, x):\n    {body}\n" for body in READ[name])
    tree = program_of(before).tree
    assert to_source(apply_rules(tree, ADJOINTS, {gast.Assign: (read_before_zero,)})) == after


STORED = {
    "an element": (
        "d = da[i]\n    da[i] = 0\n    da[i] += d / x\n    return da",
        "da[i] /= x\n    return da",
    ),
    "a slice": (
        "dv = da[1:].copy()\n    da[1:] = 0\n    da[1:] += dv * x\n    return da",
        "da[1:] *= x\n    return da",
    ),
    "all of it": ("dv = da[1:].copy()\n    da[1:] = 0\n    da[1:] += dv\n    return da", "return da"),
    "an operand on the right": (
        "d = da[i]\n    da[i] = 0\n    da[i] += x / d\n    return da",
        "da[i] = x / da[i]\n    return da",
    ),
    "read again": (
        "d = da[i]\n    da[i] = 0\n    da[i] += d / x\n    return da, d",
        "d = da[i]\n    da[i] = d / x\n    return da, d",
    ),
    "what is between": (
        "d = da[i]\n    da[i] = 0\n    y = d * x\n    da[i] += d / x\n    return da, y",
        "d = da[i]\n    y = d * x\n    da[i] = d / x\n    return da, y",
    ),
    "made before": (
        "dv = da[1:] / x\n    da[1:] = 0\n    da[1:] += dv\n    return da, dv",
        "dv = da[1:] / x\n    da[1:] = dv\n    return da, dv",
    ),
    "another place": ("d = da[i]\n    da[i] = 0\n    da[x] += d\n    return da",) * 2,
    "subtracted": ("d = da[i]\n    da[i] = 0\n    da[i] -= d\n    return da",) * 2,
    "read meanwhile": (
        "d = da[i]\n    da[i] = 0\n    y = da.sum()\n    da[i] += d\n    return da, y",
    )
    * 2,
    "another adjoint": ("d = da[i]\n    da[i] = 0\n    da[i] += d * da[x]\n    return da",) * 2,
    "a view": ("dv = da[1:]\n    da[1:] = 0\n    da[1:] += dv + x\n    return da",) * 2,
}


@pytest.mark.parametrize("name", STORED)
def test_store_over_zero(name: str) -> None:
    before, after = (f"def f(da, i, x):\n    {body}\n" for body in STORED[name])
    tree = apply_rules(program_of(before).tree, ADJOINTS, {gast.AugAssign: (store_over_zero,)})
    assert to_source(tree) == after
    results = []
    for text in (before, to_source(tree)):
        scope: dict[str, object] = {}
        exec(text, scope)
        results.append(scope["f"](np.array([1.0, 2.0, 3.0]), 1, 2))  # type: ignore[operator]
    np.testing.assert_equal(*results)


FIRST = {
    "a part": ("da[i] += x", "da = np.zeros_like(w)\n    da[i] = x"),
    "but the first": ("da[1:] += x", "da = np.empty_like(w)\n    da[:1] = 0\n    da[1:] = x"),
    "but the last two": ("da[:-2] += x", "da = np.empty_like(w)\n    da[-2:] = 0\n    da[:-2] = x"),
    "the middle": ("da[1:-1] += x", "da = np.zeros_like(w)\n    da[1:-1] = x"),
    "all": ("da[0:] += x", "da = np.zeros_like(w)\n    da[0:] = x"),
    "every second": ("da[1::2] += x", "da = np.zeros_like(w)\n    da[1::2] = x"),
}


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_store_first(name: str, length: int) -> None:
    added, stored = FIRST[name]
    before = f"def f(w, i, x):\n    da = np.zeros_like(w)\n    {added}\n    da[:3] += x\n    return da\n"
    after = f"def f(w, i, x):\n    {stored}\n    da[:3] += x\n    return da\n"
    tree = apply_rules(program_of(before).tree, ADJOINTS, {gast.AugAssign: (store_first,)})
    assert to_source(tree) == after
    results = []
    for text in (before, to_source(tree)):
        scope: dict[str, object] = {"np": np}
        exec(text, scope)
        results.append(scope["f"](np.full(length, 7.0), slice(1), 2.0))  # type: ignore[operator]
    np.testing.assert_equal(*results)
