"""Sums in places that were just set to zero."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad.transforms.simplification.store_over_zero import store_over_zero
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of

CASES = {
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


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name: str) -> None:
    before, after = (f"def f(da, i, x):\n    {body}\n" for body in CASES[name])
    tree = store_over_zero(
        program_of(before).tree,
        lambda call: True,
        frozenset({"da", "dv", "d"}),
        lambda name: name == "da",
        lambda name: name == "d",
    )
    assert to_source(tree) == after
    results = []
    for text in (before, to_source(tree)):
        scope: dict[str, object] = {}
        exec(text, scope)
        results.append(scope["f"](np.array([1.0, 2.0, 3.0]), 1, 2))  # type: ignore[operator]
    np.testing.assert_equal(*results)
