"""Copies of what is set to zero next."""

from __future__ import annotations

import pytest

from s2sad.transforms.simplification.read_before_zero import read_before_zero
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of

CASES = {
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


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name: str) -> None:
    before, after = (f"def f(da, x):\n    {body}\n" for body in CASES[name])
    tree = program_of(before).tree
    assert to_source(read_before_zero(tree, lambda call: True, frozenset({"da", "dv", "du"}))) == after
