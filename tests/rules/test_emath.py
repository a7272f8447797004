"""The functions of `np.emath` where they are real, where they are complex, and where some elements are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "sqrt": (np.emath.sqrt, [0.5, -0.5]),
    "log": (np.emath.log, [0.5, -2.0]),
    "log2": (np.emath.log2, [0.5, -2.0]),
    "log10": (np.emath.log10, [0.5, -2.0]),
    "logn": (lambda x: np.emath.logn(3, x), [1.5, -1.5]),
    "power": (lambda x: np.emath.power(x, 2.5), [1.5, -1.5]),
    "arcsin": (np.emath.arcsin, [0.5, 2.0, -2.0]),
    "arccos": (np.emath.arccos, [0.5, 2.0, -2.0]),
    "arctanh": (np.emath.arctanh, [0.5, 2.0, -3.0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_emath(name: str) -> None:
    function, places = FUNCTIONS[name]

    def parts(x: Any) -> Any:
        y = function(x)
        return np.sum(2 * np.real(y) + 3 * np.imag(y))

    for x in places:
        s2sad.check_grads(parts, (x,))
    s2sad.check_grads(parts, (np.array(places),), order=2)
    assert type(s2sad.grad(parts)(np.float32(places[0]))) is np.float32


@pytest.mark.parametrize("function", [np.arcsin, np.arccos])
@pytest.mark.parametrize("x", [2.0 + 0.0j, -2.0 + 0.0j, complex(2.0, -0.0), complex(-2.0, -0.0), 0.3 + 0.4j])
def test_slopes_on_branch_cuts_are_those_of_their_side(function: Any, x: complex) -> None:
    h = 1e-6
    above, below = complex(x.real + h, x.imag), complex(x.real - h, x.imag)
    slope = (function(above) - function(below)) / (2 * h)
    assert s2sad.jvp(function, (x,), (1.0 + 0.0j,))[1] == pytest.approx(slope, rel=1e-6)
