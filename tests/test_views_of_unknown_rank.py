"""Views of which only the run knows the rank, or that NumPy lets nobody write into, while arrays change."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compare import check_second
from tests.mutation_checks import check_changing, check_changing_second
from tests.programs import build

X = np.random.default_rng(3).uniform(0.3, 1.2, size=(2, 3))

PROGRAMS = {
    "a diagonal that is read while the array changes": """
def f(x):
    y = x * 1.0
    v = np.diagonal(y)
    y[1, 1] = x[0, 0] ** 2
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "an element of a row that may be a number": """
def f(x):
    y = x * 1.0
    v = y[:1].squeeze()
    v[0] = v[0] * 2.0 + x[0, 1]
    y[1, 1] = x[0, 0] ** 2
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "one that is updated": """
def f(x):
    y = x * 1.0
    v = np.squeeze(y[0:1, :])
    v[1] *= x[0, 0]
    return np.sum(v * v * v) + np.sum(y * y)
""",
    "rows that are": """
def f(x):
    y = np.stack([x, x * 2])
    v = y[:2].squeeze()
    r = v[0]
    q = r * r
    v[1] *= x[0, 0]
    v[0] = v[1] ** 2 * v[0]
    return np.sum(v * v * v * q) + np.sum(y * y)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_views(name: str) -> None:
    f = build(PROGRAMS[name])
    check_changing(f, (X,), (0,))
    check_changing_second(f, (X,), (0,))
    check_second(f, (X,), (0,))
