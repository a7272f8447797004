"""Elementary functions of compiled loops, against NumPy's in higher precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import njit
from scipy import special

import s2sad
from s2sad.targets.vector_functions import FUNCTIONS
from s2sad.targets.vector_trigonometry import LARGEST

RNG = np.random.default_rng(0)
COUNT = 100_000
BITS = RNG.integers(-(2**63), 2**63 - 1, COUNT).view(np.float64)  # of all magnitudes, some NaN
SIZES = np.exp(RNG.uniform(-40.0, 40.0, COUNT)) * RNG.choice([-1.0, 1.0], COUNT)
NEAR = RNG.normal(size=COUNT)
TURNS = np.arange(1, 20000) * (np.pi / 2)
EDGES = np.array([
    0.0, np.inf, np.nan, 1.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e308, 1.7976931348623157e308, 0.5,
    2.0, 2.5, 3.0, 709.78, 709.9, 745.1, 745.2, 750.0, 2.0**45, 2.0**53, 2.0**53 + 2.0, 0.41421356237309503,
    2.414213562373095,
])  # fmt: skip
EDGES = np.concatenate([EDGES, -EDGES])
EXPONENTS = RNG.uniform(-746.0, 710.0, COUNT)
NUMBERS = np.concatenate([BITS, SIZES, 5.0 * NEAR, NEAR / 20, EXPONENTS, TURNS, EDGES])


def values(name: str, *args: np.ndarray) -> np.ndarray:
    """What a loop computes of these numbers."""
    own = FUNCTIONS[name]
    if len(args) == 2:

        @njit(error_model="numpy")  # type: ignore[untyped-decorator]
        def filled_with_two(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
            for i in range(x.shape[0]):
                out[i] = own(x[i], y[i])

        fill = filled_with_two
    else:

        @njit(error_model="numpy")  # type: ignore[untyped-decorator]
        def filled(x: np.ndarray, out: np.ndarray) -> None:
            for i in range(x.shape[0]):
                out[i] = own(x[i])

        fill = filled
    found = np.empty(args[0].size)
    fill(*args, found)
    return found


def series_of_erf(x: np.ndarray) -> np.ndarray:
    """The error function, by a series whose terms have one sign."""
    size = np.clip(x, -6.6, 6.6)
    term = total = np.where(np.isnan(x), x, size)
    for n in range(1, 250):
        term = term * (2 * size * size) / (2 * n + 1)
        total = total + term
    root_pi = np.sqrt(np.longdouble("3.14159265358979323846264338327950288"))
    return np.exp(-size * size) * total * (2 / root_pi)


def check(name: str, *args: np.ndarray) -> None:
    """Compares values with those of higher precision, and with the kinds of numbers that NumPy gives."""
    found = values(name, *args)
    function: Callable[..., np.ndarray] = getattr(np, name, series_of_erf)
    with np.errstate(all="ignore"):
        exact = function(*(a.astype(np.longdouble) for a in args))
        wanted = exact.astype(float)
        is_number = np.isfinite(wanted) & (np.abs(wanted) < 1.7e308) & (wanted != 0.0)
        errors = (found - exact)[is_number] / np.spacing(np.abs(wanted[is_number]))
    assert np.max(np.abs(errors)) < 1.0
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    np.testing.assert_array_equal(found == 0.0, wanted == 0.0)
    signs = np.signbit(found) == np.signbit(wanted)
    assert np.all(signs | np.isnan(wanted))


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"power"}))
def test_values(name: str) -> None:
    is_of_angles = name in ("sin", "cos", "tan")
    check(name, NUMBERS[np.abs(NUMBERS) <= LARGEST] if is_of_angles else NUMBERS)


def test_powers() -> None:
    integers = RNG.integers(-20, 20, COUNT).astype(float)
    with np.errstate(all="ignore"):
        to_any_size = RNG.uniform(-745.0, 709.0, COUNT) / np.log(np.abs(SIZES))
    pairs = [
        (np.abs(BITS), RNG.normal(size=COUNT)), (np.abs(SIZES), to_any_size),
        (np.abs(NEAR), 50 * SIZES[::-1]), (NEAR, integers), (SIZES, integers),
        *zip(*map(np.ravel, np.meshgrid(EDGES, EDGES)), strict=True),
    ]  # fmt: skip
    x, y = (np.concatenate([np.atleast_1d(pair[k]) for pair in pairs]) for k in (0, 1))
    check("power", x, y)


def test_checker_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    @njit  # type: ignore[untyped-decorator]
    def careless(x: float) -> float:
        return np.expm1(x) + 1.0

    monkeypatch.setitem(FUNCTIONS, "exp", careless)
    with pytest.raises(AssertionError):
        check("exp", NUMBERS)


def waves(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.sum(np.sin(np.tan(w * x)) * np.cos(x) + np.sin(x) ** 2)


def waves_in_place(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[1:] *= np.sin(w[1:] * x[:-1])
    return np.sum(np.cos(x) * x)


@pytest.mark.parametrize("f", [waves, waves_in_place])
def test_angles_of_all_sizes(f: Callable[..., np.ndarray]) -> None:
    """One angle that is too large makes its block of the loop take the functions of the library."""
    derivatives = [s2sad.grad(f, argnums=(0, 1)), s2sad.grad(f, argnums=(0, 1), compile="numba")]
    for place in (None, 0, 1023, 1024, 2999):
        x, w = RNG.normal(size=3000), RNG.normal(size=3000)
        if place is not None:
            x[place], w[place] = 1e200, 1.0
        with np.errstate(all="ignore"):
            wanted, found = (derivative(x, w) for derivative in derivatives)
        for a, b in zip(wanted, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-10)


def powers(x: np.ndarray, p: float, q: np.ndarray, n: int) -> np.ndarray:
    return np.sum(x**2.5 + x**p + 2.0**x + x**q + x**n + x**-1 + x**0.5 + x ** (-2))


def test_powers_in_loops() -> None:
    args = RNG.uniform(0.1, 3.0, 50), -1.7, RNG.normal(size=50), 3
    options = ({}, {"compile": "numba"})
    wanted, found = (s2sad.grad(powers, argnums=(0, 1, 2), **how)(*args) for how in options)
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13)


def probabilities(x: np.ndarray) -> np.ndarray:
    return np.sum(special.erf(x) * x)


def test_erf_in_loops() -> None:
    x = RNG.normal(size=50)
    wanted, found = (s2sad.value_and_grad(probabilities, **how)(x) for how in ({}, {"compile": "numba"}))
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13)


def test_powers_of_negative_numbers() -> None:
    def squared(x: np.ndarray, p: float) -> np.ndarray:
        return np.sum(x**p)

    x = np.array([-2.0, 3.0, -0.0])
    with np.errstate(all="ignore"):
        for p in (2.0, 3.0):
            wanted, found = (s2sad.grad(squared, **how)(x, p) for how in ({}, {"compile": "numba"}))
            np.testing.assert_allclose(found, wanted)
