"""Arrays of one shape: what is computed element by element of one that is not known, and no other."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program, check_second

X = np.array([0.3, 0.4, 0.5, 0.9])

ALIKE = {
    "a slice": "r = x[i + 1:] - x[i]\ns = np.exp(-r) * 2.0 - r\nt += np.sum(s * r)",
    "updated in place": "r = x[i:] - x[0]\nr -= 2.0 * np.round(r / 2.0)\nr *= r\nt += np.sum(np.exp(-r))",
    "a mask": "r = x[x > 0.35 * i]\ns = r / 2.0\nt += np.sum(s ** 2 - s)",
    "another name": "r = x[i:] * 2.0\ns = r\nt += np.sum(s / (1.0 + r))",
    "after a branch": "r = x[i:] * 2.0\nif i == 1:\n    t += 1.0\nt += np.sum(np.sin(r) * r)",
}
OTHERS = {
    "one of two lengths": "r = x[i:] * 2.0\ns = x[:1] * x[1]\nt += np.sum(r * s)",
    "of the last iteration": "r = x[i:i + 1 + 3 * (i == 2)] * 2.0\nt += np.sum(r * s)\ns = r / 2.0",
    "of one path": "r = x[i:] * 2.0\nif i == 0:\n    s = r[:1] * 1.5\nt += np.sum(s * r)",
    "of a loop that may not run": "r = x[3 - i:] * 1.0\nfor k in range(i % 2, 1):\n    s = r[:1] * 3.0\n"
    "t += np.sum(s * r)",
    "exchanged": "r = x[i:] * 2.0\nr, s = s, r\nt += np.sum(s * r[:1]) + np.sum(r)\ns = s[:1]",
    "broadcast twice": "r = x[:1] * 2.0\ns = r * x\nu = s * r\nt += np.sum(u * r)",
}


def program(body: str) -> str:
    lines = body.replace("\n", "\n        ")
    return f"def f(x):\n    t, s = 0.0, x[:1]\n    for i in range(3):\n        {lines}\n    return t"


@pytest.mark.parametrize("name", ALIKE)
def test_alike(name: str) -> None:
    f = build(program(ALIKE[name]))
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))
    source = s2sad.grad(f).source_for(X)
    assert "unbroadcast" not in source and "conform" not in source


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    f = build(program(OTHERS[name]))
    check_program(f, (X,), (0,))
    check_second(f, (X,), (0,))


def test_other_dtypes_are_converted() -> None:
    f = build(program("r = x[i:] * 2.0\ns = np.asarray(r, dtype=np.float32)\nt += np.sum(s * r)"))
    wide = build(program("r = x[i:] * 2.0\nt += np.sum(r * r)"))
    found = s2sad.grad(f)(X)
    assert found.dtype == X.dtype
    np.testing.assert_allclose(found, s2sad.grad(wide)(X), rtol=1e-6)


def test_what_does_not_fit_is_refused_as_numpy_does() -> None:
    f = build("def f(x):\n    r = x[1:] * 1.0\n    r -= x.reshape(-1, 1)\n    return np.sum(r)")
    with pytest.raises(ValueError, match="does not fit"):
        s2sad.grad(f)(X)
