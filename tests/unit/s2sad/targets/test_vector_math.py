"""Elementary functions of compiled loops, against NumPy's in higher precision."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from s2sad.targets.vector_math import FUNCTIONS

RNG = np.random.default_rng(0)
SIZES = np.exp(RNG.uniform(-700.0, 6.5, 5000))
NUMBERS = np.concatenate([SIZES, -SIZES, 5.0 * RNG.normal(size=10000)])
EDGES = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, 1e-310, 709.78, 709.9, -745.1, -750.0, 1e308]
)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_values(name: str) -> None:
    own = FUNCTIONS[name]

    @njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def filled(x: np.ndarray, out: np.ndarray) -> None:
        for i in range(x.shape[0]):
            out[i] = own(x[i])

    found = np.empty(NUMBERS.size + EDGES.size)
    filled(np.concatenate([NUMBERS, EDGES]), found)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(NUMBERS.astype(np.longdouble))
        at_edges = getattr(np, name)(EDGES)
        wanted = exact.astype(float)
    is_number = np.isfinite(wanted) & (wanted != 0.0)
    errors = (found[: NUMBERS.size] - exact)[is_number] / np.spacing(np.abs(wanted[is_number]))
    assert np.max(np.abs(errors)) < 2.5
    np.testing.assert_array_equal(np.isnan(found[: NUMBERS.size]), np.isnan(wanted))
    np.testing.assert_allclose(found[NUMBERS.size :], at_edges, rtol=1e-15)
    signs = np.signbit(found[NUMBERS.size :]) == np.signbit(at_edges)
    assert np.all(signs | np.isnan(at_edges))
