"""Calls that write into arrays, as stores."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program

X = np.array([0.4, 1.3, -0.8])

CASES: dict[str, tuple[str, str]] = {
    "an output": (
        "np.sin(x, out=a)",
        (
            "a_1 = np.sin(x)\n"
            "a[...] = a_1"
        ),
    ),
    "a sum in place": (
        "np.subtract(a, x, out=a)",
        "a[...] -= x",
    ),
    "the result of the call": (
        (
            "b = np.multiply(x, x, a)\n"
            "a[0] = b[1]"
        ),
        (
            "a_2 = np.multiply(x, x)\n"
            "a[...] = a_2\n"
            "b = a\n"
            "a_1 = b[1]\n"
            "a[0] = a_1"
        ),
    ),
    "a mask": (
        "np.exp(x, out=a, where=x > 0)",
        (
            "exp_1 = x > 0\n"
            "a_1 = mask_like(exp_1, a)\n"
            "a_2 = at_mask(x, a_1)\n"
            "a_3 = np.exp(a_2)\n"
            "a[a_1] = a_3"
        ),
    ),
    "a method": (
        "a.sort()",
        (
            "a_1 = np.sort(a)\n"
            "a[...] = a_1"
        ),
    ),
    "a template": (
        "np.put(a, [0, 1], x[1:])",
        (
            "put_1 = [0, 1]\n"
            "put_2 = x[1:]\n"
            "places_1 = np.ravel(put_1)\n"
            "places = flat_places(a, places_1, \"raise\")\n"
            "a_1 = np.size(put_1)\n"
            "a_2 = cycled(put_2, a_1)\n"
            "a[places] = a_2"
        ),
    ),
    "a sum at indices": (
        "np.add.at(a, [0, 0], x[1:])",
        (
            "at_1 = [0, 0]\n"
            "at_2 = x[1:]\n"
            "add_at(a, at_1, at_2)"
        ),
    ),
    "what carries no derivative stays": (
        (
            "i = np.array([2, 0, 1])\n"
            "i.sort()\n"
            "a[i[0]] = x[1]"
        ),
        (
            "i_1 = [2, 0, 1]\n"
            "i = np.array(i_1)\n"
            "i.sort()\n"
            "a_1 = x[1]\n"
            "a_2 = i[0]\n"
            "a[a_2] = a_1"
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_before_after(name: str) -> None:
    before, after = CASES[name]
    text = (
        "def f(x):\n    a = np.ones_like(x)\n"
        + "".join(f"    {line}\n" for line in before.splitlines())
        + "    return np.sum(a * a)\n"
    )
    found = stage("lower_augmented", text, X)
    body = [line[4:] for line in found.splitlines()][2:-3]
    assert "\n".join(body) == after
    check_program(build(text), (X,), (0,))
