"""What is read again is read once, unless somebody may have changed it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program, check_second
from tests.support.compare_mutation import check_changing, check_changing_second

X = np.random.default_rng(3).uniform(0.5, 1.5, 4)

SHARED = {  # how often `x[0]` is read afterwards
    "return x[0] * x[0] + x[1]": 1,
    "y = x[0] * 2.0\n    if y > 1:\n        y = y * x[0]\n    return y + x[1]": 2,
    "y = x[0] * x[1]\n    for k in range(3):\n        y = y * x[0] + x[0]\n    return y": 1,
    "y = 0.0\n    for k in range(2):\n        y = y + x[0] * x[0]\n        x = x * 2.0\n    return y": 1,
    "if x[1] > 0:\n        y = x[0] * 2.0\n    else:\n        y = x[0] + 1.0\n    return y * x[0]": 3,
    "y = x[0] * x[0]\n    x = x * x\n    return y + x[0] * 2.0 - x[0]": 2,
    "a = x[0] + 0.0\n    b = x[0] * a\n    return a * b": 1,
    "y = x[0] * 2.0\n    k = 0\n    while k < 2:\n        y = y + x[0] * y\n        x = x + 1.0\n"
    "        k = k + 1\n    return y": 2,
}
KEPT = {
    "a = x.copy()\n    y = a[0] * 2.0\n    a[0] = y\n    return y * a[0]": "a[0]",
    "a = x.copy()\n    b = a[:2]\n    y = a[0] * 2.0\n    b[0] = y * y\n    return y * a[0]": "a[0]",
    "a = [x[1], x[2]]\n    y = a[0] * 2.0\n    a[0] = y\n    return y * a[0]": "a[0]",
    "y = x[0] * 2.0\n    x += y\n    return y * x[0]": "x[0]",
}


@pytest.mark.parametrize("body", SHARED)
def test_read_once(body: str) -> None:
    text = f"def f(x):\n    {body}\n"
    found = stage("lower_augmented", text, X, wrt=(0,))
    assert sum(line.strip().endswith(("= x[0]", "= x_2[0]", "= x_3[0]")) for line in found.splitlines()) == (
        SHARED[body]
    )
    check_program(build(text), (X,), (0,))
    check_second(build(text), (X,), (0,))


@pytest.mark.parametrize("body", KEPT)
def test_what_is_changed_is_read_again(body: str) -> None:
    text = f"def f(x):\n    {body}\n"
    assert stage("lower_augmented", text, X, wrt=(0,)).count(KEPT[body]) >= 2
    check_changing(build(text), (X,), (0,))
    check_changing_second(build(text), (X,), (0,))


def test_a_tuple_is_unpacked_once_for_all_calls() -> None:
    text = """
def rate(y, theta):
    a, b = theta
    return a * y - b * y * y

def f(theta, y, n):
    for k in range(n):
        y = y + 0.1 * rate(y + 0.05 * rate(y, theta), theta)
    return y
"""
    found = stage("lower_augmented", text, X[:2], 0.5, 3, wrt=(0, 1))
    assert found.count("= theta") == 1
    check_program(build(text), (X[:2], 0.5, 3), (0, 1))
    check_second(build(text), (X[:2], 0.5, 3), (0, 1))
