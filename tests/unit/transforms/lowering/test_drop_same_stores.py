"""Stores of an object where it stands already are left out, others stay."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

A = np.random.default_rng(4).uniform(0.5, 1.5, (3, 4))
V = np.random.default_rng(5).uniform(0.5, 1.5, 4)

DROPPED = (
    "rows = [a[0], a[0]]\nrows[0] += v\nrows[1] *= rows[0]",
    "rows = [a, a]\nrows[1] -= v\nrows[0] /= v",
    "named = {'p': a, 'q': a[1]}\nnamed['q'] *= v\nnamed['p'] += named['q']",
    "rows = [[a[0]], [a[1]]]\nrows[1][0] *= v\nrows[0][0] += rows[1][0]",
    "rows = [a[0], a[1]]\nfor k in range(2):\n    rows[k] *= v\n    rows[1 - k] -= rows[k]",
    "rows = [a[0], a[0], a[1]]\nk = 0\nwhile k < 2:\n    rows[k] += v\n    k = k + 1\n    rows[k] *= v",
)
KEPT = (
    "rows = [a[0], a[1]]\nr = rows[0]\nrows[1] = r",
    "rows = [a[0], a[1]]\nk = 0\nr = rows[k]\nk = 1\nrows[k] = r",
    "rows = [a[0] * 2.0, a[1]]\nr = rows[0]\nrows[0] = rows[1]\nrows[0] = r",
    "rows = [2.0, 3.0]\nrows[0] *= v[0]\na[0] *= rows[0]",
)


def program(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def f(x, v):\n    a = x.copy()\n{lines}    return np.sum(np.sin(a)) + np.sum(a * a * a)\n"


@pytest.mark.parametrize("body", DROPPED)
def test_dropped(body: str) -> None:
    text = program(body)
    lines = stage("lower_augmented", text, A, V, wrt=(0, 1)).splitlines()
    stores = [line.strip() for line in lines if line.strip().startswith(("rows", "named")) and "] = " in line]
    assert all("[...]" in line for line in stores)
    check_changing(build(text), (A, V), (0, 1))
    check_changing_second(build(text), (A, V), (0, 1))


@pytest.mark.parametrize("body", KEPT)
def test_kept(body: str) -> None:
    found = stage("lower_augmented", program(body), np.ones((3, 4)), V)
    stores = [line for line in found.splitlines() if line.strip().startswith("rows[")]
    assert len(stores) == body.count("\nrows[")


def test_a_tuple_takes_no_store() -> None:
    f = build(program("rows = (a[0] * v, v)\nrows[0] += v"))
    with pytest.raises(UnsupportedSyntaxError, match="in-place update"):
        grad(f)(A, V)
