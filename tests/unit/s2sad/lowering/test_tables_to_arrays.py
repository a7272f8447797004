"""Tables become arrays in code that is compiled; what a table is."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build

HEAD = "def f(x, n):\n"
TABLES = {
    "rows": "    t = [[0.0] * n for _ in range(n)]\n    t[0][1] = x\n    return t[0][1] * x\n",
    "of two comprehensions": "    t = [[x * i for i in range(n)] for _ in range(n)]\n    t[0][1] += x\n"
    "    return t[0][1] * t[1][1]\n",
    "in a loop": "    t = []\n    for i in range(n):\n        row = []\n        for j in range(n):\n"
    "            row.append(x * i)\n        t.append(row)\n    t[1][1] *= x\n    s = 0.0\n"
    "    for r in t:\n        for v in r:\n            s += v\n    return s\n",
}
OTHERS = {
    "a row that is appended to": "    t = [[x] * n for _ in range(n)]\n    t[0].append(x)\n"
    "    return t[0][n]\n",
    "a table that is returned": "    t = [[x] * n for _ in range(n)]\n    t[0][0] = x\n    return [t]\n",
    "a slice": "    t = [[x] * n for _ in range(n)]\n    r = t[0][1:]\n    t[0][1] = x * x\n"
    "    return r[0]\n",
    "the loop goes on": "    t = []\n    for i in range(n):\n        row = [x] * n\n        t.append(row)\n"
    "        t[0][0] = x * i\n    return t[0][0]\n",
}


def text(body: str) -> str:
    f = build(HEAD + body)
    return s2sad.vjp(f, compile="numba").source_for(2.0, 3)


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str) -> None:
    assert "table_of(" in text(TABLES[name])
    f = build(HEAD + TABLES[name])
    assert "table_of(" not in s2sad.grad(f).source_for(2.0, 3)
    found = s2sad.grad(f, compile="numba")(2.0, 3)
    np.testing.assert_allclose(found, s2sad.grad(f)(2.0, 3), rtol=1e-13)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_table(name: str) -> None:
    assert "table_of(" not in text(OTHERS[name])
