"""What is added to a part of an array and stored there is added in place."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare_mutation import check_changing

U, S = np.linspace(0.2, 1.4, 6), 0.3

IN_PLACE = {
    "u[1:-1] = u[1:-1] + s * u[2:]": "u[1:-1] += ",
    "u[1:-1] = u[1:-1] - u[2:]": "u[1:-1] -= ",
    "u[...] = u + s": "u[...] += s",
    "u[:] = u - u[::-1]": "u[:] -= ",
    "u[2] = u[2] + s * u[1]": "u[2] += ",
    "for k in range(1, 6): u[k] = u[k] - s * u[k - 1]": "u[k] -= ",
}
STORED = [
    "u[1:-1] = u[2:] + s * u[1:-1]",  # another part
    "u[1:-1] = (u[1:-1] + s) * u[2:]",
    "v = u[1:-1] + s; u[1:-1] = v; u[0] = v[1]",  # the sum is read again
    "v = u[1]; u[1] = s; u[1] = v + u[0]",  # what was there before
    "v = u[1:-1]; u[2] = s; u[1:-1] = v + u[2:]",
    "k = np.arange(6); a = k[1:] + 1; k += 5; k[1:] = a; u[k[5] - 1] = s",
    "u[[1, 1]] = u[[1, 1]] + s",
    "u[1:-1] = u[1:-1] + np.ones((1, 4))",  # of another rank
    "u[1:-1] = u[1:-1] * u[2:]",
    "k = np.arange(6); a = k[1:] + 1; b = np.add(k, 5, out=k); k[1:] = a; u[k[5] - 1] = s * b[2]",
]


def function(line: str) -> str:
    return f"def f(u, s):\n    {line}\n    return np.sum(u * u)\n"


@pytest.mark.parametrize("line", IN_PLACE)
def test_additions_in_place(line: str) -> None:
    assert IN_PLACE[line] in stage("lower_augmented", function(line), U, S)
    check_changing(build(function(line)), (U, S), (0, 1))


@pytest.mark.parametrize("line", STORED)
def test_what_is_stored(line: str) -> None:
    text = stage("lower_augmented", function(line), U, S)
    assert "] +=" not in text
    assert "] -=" not in text
    check_changing(build(function(line)), (U, S), (0, 1))


def test_the_rounding_is_that_of_the_store() -> None:
    f = build("def f(u, w):\n    u[1:] = u[1:] + w\n    return np.sum(u)\n")
    single, wide = U.astype(np.float32), U[1:] / 3.0
    assert "u[1:] = " in s2sad.vjp(f).source_for(single, wide)
    expected, given = single.copy(), single.copy()
    f(expected, wide)
    s2sad.vjp(f)(given, wide)
    np.testing.assert_array_equal(given, expected)


def test_a_stencil_zeroes_nothing() -> None:
    f = build(
        "def f(u, s, n):\n    for t in range(n):\n"
        "        u[1:-1] = u[1:-1] + s * (u[2:] - 2.0 * u[1:-1] + u[:-2])\n"
    )
    source = s2sad.vjp(f, argnums=0, outputs=("u",)).source_for(U, S, 3)
    assert "= 0" not in source
    assert "trace" not in source
    check_changing(f, (U, S, 3), (0, 1), ("u",))
