"""What was not chosen never reaches a gradient: no NaN or infinity of a branch that `np.where`, and what
chooses like it, did not take.

Each program is compared with one that computes the same and has nothing infinite to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import check_program, check_second

X = np.array([-1.0, 0.0, 0.3, 4.0])
Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The programs themselves divide by zero."""
    with np.errstate(all="ignore"):
        yield


def positive(x: Any) -> Any:
    """`x` where it is positive, else 1: for the programs that have nothing infinite."""
    return np.where(x > 0, x, 1.0)


def root(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(x), 0.0)


def root_safely(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(positive(x)), 0.0)


def by_steps(x: Any) -> Any:
    m = x > 0
    y = np.log(x)
    z = y * y + x**0.5
    return np.where(m, z, x) * x


def by_steps_safely(x: Any) -> Any:
    p = positive(x)
    return np.where(x > 0, np.log(p) ** 2 + p**0.5, x) * x


def otherwise(x: Any) -> Any:
    return np.where(x <= 0, x * x, 1 / np.sqrt(x))


def otherwise_safely(x: Any) -> Any:
    return np.where(x <= 0, x * x, 1 / np.sqrt(positive(x)))


def nested(x: Any) -> Any:
    return np.where(x > -0.5, np.where(x > 0, np.log(x) / x, x * 3), np.where(x < 0, x * x, np.sqrt(x)))


def nested_safely(x: Any) -> Any:
    p = positive(x)
    return np.where(x > -0.5, np.where(x > 0, np.log(p) / p, x * 3), np.where(x < 0, x * x, 1.0))


def twice(x: Any) -> Any:
    t = np.sqrt(x)
    return np.where(x > 0.1, t, 0.0) + np.where(x > 1, t * t * t, x)


def twice_safely(x: Any) -> Any:
    t = np.sqrt(positive(x))
    return np.where(x > 0.1, t, 0.0) + np.where(x > 1, t * t * t, x)


def rows(x: Any) -> Any:
    return np.where(x[:, None] > x, np.log(x - x.min()), 0.0) * x


def rows_safely(x: Any) -> Any:
    d = x - x.min()
    return np.where(x[:, None] > x, np.where(d > 0, np.log(np.where(d > 0, d, 1.0)), -np.inf), 0.0) * x


def distances(x: Any) -> Any:
    d = x[:, None] - x
    r = np.sqrt(d * d)
    return np.where(r > 0, 1 / r, 0.0)


def distances_safely(x: Any) -> Any:
    d = x[:, None] - x + 2 * np.eye(len(x))
    r = np.sqrt(d * d)
    return np.where(np.eye(len(x)) == 0, 1 / r, 0.0)


def numbers_as_conditions(x: Any) -> Any:
    return np.where(np.maximum(x, 0) * 1.0, np.sqrt(x), x)


def numbers_as_conditions_safely(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(positive(x)), x)


def listed_condition(x: Any) -> Any:
    return np.where([False, False, True, True], np.log(x), x)


def listed_condition_safely(x: Any) -> Any:
    return np.where(x > 0, np.log(positive(x)), x)


def condition_changed_later(x: Any) -> Any:
    m = x > 0
    y = np.log(x)
    z = np.where(m, y, x)
    m[:] = False
    return z * np.where(m, y, 2.0)


def condition_changed_later_safely(x: Any) -> Any:
    return 2.0 * np.where(x > 0, np.log(positive(x)), x)


def changed_between(x: Any) -> Any:
    m = x > 0
    y = np.log(x)
    z = np.where(m, y, x)
    m[2] = False
    return z + np.where(m, y * y, 0.0)


def changed_between_safely(x: Any) -> Any:
    y = np.log(positive(x))
    return np.where(x > 0, y, x) + np.where(x > 1, y * y, 0.0)


def after_a_loop(x: Any) -> Any:
    y = np.log(x)
    m = x > 0
    for k in range(3):
        m = x > k - 2
        x = x * 1.5
    return np.where(m & (y > -9), y, x)


def after_a_loop_safely(x: Any) -> Any:
    y = np.log(positive(x))
    return np.where(x > 0, y, 1.5**3 * x)


def within_a_loop(x: Any) -> Any:
    total = np.zeros_like(x)
    for k in range(3):
        y = np.sqrt(x) / x
        total = np.where(x > k, y * total + y, total + x)
    return total


def within_a_loop_safely(x: Any) -> Any:
    total = np.zeros_like(x)
    for k in range(3):
        p = positive(x)
        y = np.sqrt(p) / p
        total = np.where(x > k, y * total + y, total + x)
    return total


def read_in_a_loop(x: Any) -> Any:
    y = np.log(x)
    z = y[::-1]
    total = x
    for k in range(3):
        total = total * 0.5 + np.where(x > 0, y * k, x) + np.where(x[::-1] > 0, z * x[3], x)
    return total


def read_in_a_loop_safely(x: Any) -> Any:
    y = np.log(positive(x))
    total = x
    for k in range(3):
        total = total * 0.5 + np.where(x > 0, y * k, x) + np.where(x[::-1] > 0, y[::-1] * x[3], x)
    return total


def of_a_function(x: Any) -> Any:
    def f(v: Any) -> Any:
        return np.sqrt(v) * np.log(v)

    return np.where(x > 0, f(x), x)


def of_a_function_safely(x: Any) -> Any:
    p = positive(x)
    return np.where(x > 0, np.sqrt(p) * np.log(p), x)


def selected(x: Any) -> Any:
    return np.select([x > 1, x > 0], [np.log(x), np.sqrt(x) * x], 1.5 * x) * x


def selected_safely(x: Any) -> Any:
    p = positive(x)
    return np.where(x > 1, np.log(p), np.where(x > 0, np.sqrt(p) * p, 1.5 * x)) * x


def selected_otherwise(x: Any) -> Any:
    return np.select([x <= 0], [x], np.log(x))


def selected_otherwise_safely(x: Any) -> Any:
    return np.where(x <= 0, x, np.log(positive(x)))


def chosen_by_number(x: Any) -> Any:
    return np.choose((x > 0) * 1, [x, np.sqrt(x) * x]) * x


def chosen_by_number_safely(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(positive(x)) * x, x) * x


def in_pieces(x: Any) -> Any:
    return np.piecewise(x, [x > 0], [lambda v: np.sqrt(v), lambda v: v * v])


def in_pieces_safely(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(positive(x)), x * x)


def picked_by_truth(x: Any) -> Any:
    y = np.log(x)
    return np.sum(y[x > 0] * x[x > 0])


def picked_by_truth_safely(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.log(positive(x)) * x, 0.0))


def overwritten(x: Any) -> Any:
    y = np.log(x)
    y[x <= 0] = 0.0
    return y * x


def overwritten_safely(x: Any) -> Any:
    return np.where(x > 0, np.log(positive(x)), 0.0) * x


def overwritten_by_values(x: Any) -> Any:
    y = np.sqrt(x)
    bad = x <= 0
    y[bad] = x[bad] * 2
    return y * x


def overwritten_by_values_safely(x: Any) -> Any:
    return np.where(x > 0, np.sqrt(positive(x)), 2 * x) * x


def missing(x: Any) -> Any:
    return np.nansum(np.sqrt(x) / x) + np.nanmean(np.log(x + 0.5))


def missing_safely(x: Any) -> Any:
    p, q = positive(x), np.where(x > -0.5, x, 1.0) + 0.5
    return np.sum(np.where(x > 0, np.sqrt(p) / p, 0.0)) + np.sum(np.where(x > -0.5, np.log(q), 0.0)) / 3


def summed_where(x: Any) -> Any:
    return np.sum(np.log(x), where=x > 0) + np.mean(np.sqrt(x), where=x > 0)


def summed_where_safely(x: Any) -> Any:
    p = positive(x)
    return np.sum(np.where(x > 0, np.log(p), 0.0)) + np.sum(np.where(x > 0, np.sqrt(p), 0.0)) / 2


def made_finite(x: Any) -> Any:
    return np.nan_to_num(np.log(x), posinf=0.0, neginf=0.0) * x


def made_finite_safely(x: Any) -> Any:
    return np.where(x > 0, np.log(positive(x)), 0.0) * x


def floored(x: Any) -> Any:
    return np.maximum(np.log(np.abs(x)), -0.5) + np.clip(1 / (x * x), None, 2.0) + np.fmax(np.sqrt(x), 0.25)


def floored_safely(x: Any) -> Any:
    q = np.where(x == 0, 1.0, x)
    return (
        np.where(x == 0, -0.5, np.maximum(np.log(np.abs(q)), -0.5))
        + np.where(x == 0, 2.0, np.clip(1 / (q * q), None, 2.0))
        + np.where(x > 0, np.maximum(np.sqrt(positive(x)), 0.25), 0.25)
    )


def triangles(x: Any) -> Any:
    d = np.subtract.outer(x, x)
    near = np.sqrt(d * d) * (1 + x)
    return np.sum(np.triu(near, 1), axis=0) + np.sum(np.tril(1 / d, -1) * x, axis=1)


def triangles_safely(x: Any) -> Any:
    same = np.equal.outer(x, x)
    d = np.where(same, 1.0, np.subtract.outer(x, x))
    near = np.where(same, 0.0, np.sqrt(d * d) * (1 + x))
    return np.sum(np.triu(near, 1), axis=0) + np.sum(np.tril(1 / d, -1) * x, axis=1)


def partly_read(x: Any) -> Any:
    y = np.log(x)
    z = y * y + np.sqrt(x)
    _, _, c, d = np.sqrt(x)
    return z[2:] * z[[3, 2]] + np.take(np.sqrt(x), [2, 3]) * np.delete(y, [0, 1]) + c * d


def partly_read_safely(x: Any) -> Any:
    return partly_read(positive(x))


def pairs(x: Any) -> Any:
    inverse = 1 / (x[:, None] - x)
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total = total + inverse[i, j] * x[i]
    return inverse[0][1:] * inverse[2, 3] + total


def pairs_safely(x: Any) -> Any:
    inverse = 1 / (x[:, None] - x + np.diag(np.full(len(x), 9.0)))
    total = np.sum(np.tril(inverse, -1) * x[:, None])
    return inverse[0][1:] * inverse[2, 3] + total


PAIRS: list[tuple[Program, Program]] = [
    (triangles, triangles_safely),
    (root, root_safely),
    (by_steps, by_steps_safely),
    (otherwise, otherwise_safely),
    (nested, nested_safely),
    (twice, twice_safely),
    (distances, distances_safely),
    (numbers_as_conditions, numbers_as_conditions_safely),
    (listed_condition, listed_condition_safely),
    (condition_changed_later, condition_changed_later_safely),
    (changed_between, changed_between_safely),
    (after_a_loop, after_a_loop_safely),
    (within_a_loop, within_a_loop_safely),
    (read_in_a_loop, read_in_a_loop_safely),
    (of_a_function, of_a_function_safely),
    (selected, selected_safely),
    (selected_otherwise, selected_otherwise_safely),
    (chosen_by_number, chosen_by_number_safely),
    (in_pieces, in_pieces_safely),
    (picked_by_truth, picked_by_truth_safely),
    (overwritten, overwritten_safely),
    (overwritten_by_values, overwritten_by_values_safely),
    (missing, missing_safely),
    (summed_where, summed_where_safely),
    (made_finite, made_finite_safely),
    (floored, floored_safely),
    (partly_read, partly_read_safely),
    (pairs, pairs_safely),
]


# In these, reverse mode of reverse mode has NaN: a mask does not go from one iteration to another.
LOOPS = {within_a_loop, in_pieces, partly_read}
OF_KNOWN_KINDS = {picked_by_truth, overwritten, overwritten_by_values, made_finite}
OF_KNOWN_KINDS |= {partly_read, pairs, read_in_a_loop}


def weighted(f: Program) -> Program:
    """The program as one number, of which every element has its share."""

    def total(x: Any) -> Any:
        y = f(x)
        return np.sum(y * np.arange(1.0, np.size(y) + 1).reshape(np.shape(y)))

    return total


@pytest.mark.parametrize(("f", "safe"), PAIRS, ids=[f.__name__ for f, _ in PAIRS])
def test_what_was_not_chosen_never_reaches_the_gradient(f: Program, safe: Program) -> None:
    np.testing.assert_allclose(f(X), safe(X), rtol=1e-12)
    check_program(safe, (X + 0.01,), (0,))
    close = np.testing.assert_allclose
    expected = s2sad.grad(weighted(safe))(X)
    assert np.all(np.isfinite(expected))
    close(s2sad.grad(weighted(f))(X), expected, rtol=1e-12, atol=1e-14)
    for x in np.eye(len(X)):
        close(s2sad.jvp(f)(X, x)[1], s2sad.jvp(safe)(X, x)[1], rtol=1e-12, atol=1e-14)
    close(s2sad.hessian(weighted(f))(X), s2sad.hessian(weighted(safe))(X), rtol=1e-12, atol=1e-13)
    if f in LOOPS:
        return
    reverse_twice = s2sad.grad(lambda x: np.sum(s2sad.grad(weighted(f))(x) * np.arange(1.0, 5.0)))
    forward = s2sad.hessian(weighted(safe))(X) @ np.arange(1.0, 5.0)
    close(reverse_twice(X), forward, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("f", "safe"), PAIRS, ids=[f.__name__ for f, _ in PAIRS])
def test_the_general_code_is_as_safe(f: Program, safe: Program) -> None:
    """The code that knows nothing of its arguments, and that of other dtypes."""
    total = s2sad.grad(weighted(f))
    close = np.testing.assert_allclose
    if f not in OF_KNOWN_KINDS:
        close(_general(total)(X), s2sad.grad(weighted(safe))(X), rtol=1e-12, atol=1e-14)
    found = total(X.astype(np.float32))
    assert found.dtype == np.float32
    close(found, s2sad.grad(weighted(safe))(X), rtol=1e-4, atol=1e-5)


def _general(derivative: Any) -> Any:
    """A derivative's code for arguments of which nothing is known."""
    return derivative.function_of((object(),))


@pytest.mark.parametrize("f", [f for f, _ in PAIRS], ids=lambda f: f.__name__)
def test_reverse_sweeps_can_be_run_again(f: Program) -> None:
    out, pull = s2sad.vjp(f)(X)
    first, other, again = (pull(np.full_like(out, k)) for k in (1.0, -2.5, 1.0))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(other, -2.5 * np.asarray(first), rtol=1e-12)


@pytest.mark.parametrize("v", [-1.0, 0.0, 4.0])
def test_floats_have_floats(v: float) -> None:
    def scalar(x: Any) -> Any:
        return np.where(x > 0, 1 / np.sqrt(x), 2 * x) + np.maximum(x**2, 1.0) + np.clip(x, -0.5, 0.5)

    def safe(x: Any) -> Any:
        a = 1 / np.sqrt(x) if x > 0 else 2 * x
        return a + (x**2 if x**2 >= 1 else 1.0) + (x if -0.5 <= x <= 0.5 else 0.0)

    found = s2sad.grad(scalar)(v)
    tie = s2sad.grad(lambda x: 0.5 * x**2)(v) if abs(v) == 1.0 else 0.0
    assert isinstance(found, float) and found == pytest.approx(s2sad.grad(safe)(v) - tie)
    assert isinstance(s2sad.jvp(scalar)(v, 1.0)[1], float)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64])
def test_numbers_of_numpy_have_such_numbers(dtype: Any) -> None:
    def f(x: Any) -> Any:
        return np.real(np.where(np.abs(x) > 1, x * x, 2 * x))

    assert type(s2sad.grad(f)(dtype(1.5))) is dtype
    if dtype is not np.complex64:
        assert type(s2sad.grad(lambda x: np.maximum(x, 0.5) + np.clip(x, 0, 2))(dtype(1.5))) is dtype


def test_a_branch_that_nobody_took_leaves_numbers_alone() -> None:
    def f(x: Any, s: Any) -> Any:
        return np.sum(np.where(x > 9, np.log(s) * x, x))

    assert s2sad.grad(f, argnums=1)(X, 0.0) == 0.0
    assert s2sad.grad(f, argnums=1)(X, np.float32(0.0)) == 0.0
    columns = s2sad.grad(f, argnums=1)(np.stack([X, X]), np.zeros((2, 1)))
    np.testing.assert_array_equal(columns, np.zeros((2, 1)))
    assert s2sad.grad(f, argnums=1)(X + 8, 2.0) == pytest.approx(12.0 / 2)


def test_complex_numbers() -> None:
    def f(z: Any) -> Any:
        return np.real(np.sum(np.where(np.abs(z) > 0, z / np.abs(z), 0)))

    def safe(z: Any) -> Any:
        return np.real(np.sum(z[1:] / np.abs(z[1:])))

    z = np.array([0j, 1 + 2j, -0.5j])
    np.testing.assert_allclose(s2sad.grad(f)(z), s2sad.grad(safe)(z), rtol=1e-12)


def test_what_is_infinite_itself_stays_so() -> None:
    """Only what was not chosen is left out: a slope that is infinite where it was chosen is."""

    def f(x: Any) -> Any:
        return np.sum(np.where(x >= 0, np.sqrt(x), 0.0))

    np.testing.assert_array_equal(s2sad.grad(f)(X)[:2], [0.0, np.inf])


def test_derivatives_by_adjoints_that_happen_to_be_zero_are_kept() -> None:
    """A zero adjoint is no mask: its own derivative need not be zero."""

    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0, (np.sqrt(x) - 1.0) ** 2, 0.0))

    x = np.array([1.0, 4.0, -1.0])
    np.testing.assert_allclose(np.diag(s2sad.hessian(f)(x)), [0.5, 1 / 16, 0.0], rtol=1e-12)
    check_second(lambda x: np.sum(np.where(x > 2, (np.sqrt(x) - 1.0) ** 2, x)), (np.array([1.0, 4.0]),), (0,))


def test_the_code_is_what_one_would_write() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.log(x), 2 * x))

    assert "dx = np.where(x > 0, 1.0 / x, 2.0)" in s2sad.grad(f).source_for(X)
    assert "dx / x, dx * 2)" in s2sad.jvp(f).source_for(X) or "np.where(" in s2sad.jvp(f).source_for(X)


def test_missing_data_that_is_broadcast_stays_out() -> None:
    data = np.array([[np.nan], [2.0], [3.0]])
    ok = np.array([[False, False], [True, True], [True, False]])

    def f(x: Any, t: Any) -> Any:
        return np.sum(np.where(ok, (x * data + t) ** 2, 0.0))

    def safely(x: Any, t: Any) -> Any:
        return np.sum(ok * (x * np.nan_to_num(data) + t) ** 2)

    x, t = np.array([[1.0], [2.0], [3.0]]), np.array([[0.5, 1.5]])
    for k in (0, 1):
        np.testing.assert_allclose(s2sad.grad(f, k)(x, t), s2sad.grad(safely, k)(x, t), rtol=1e-12)


MANY = 3000


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.maximum(x, 0) * x,
        lambda x: np.maximum(x, 0) ** 0.5,
        lambda x: np.where(x > 0, np.log(x), 0.0) * x,
        lambda x: np.where(x <= 0, 1.0, np.sqrt(x)) + np.minimum(x, 0.3),
        lambda x: np.where(np.isnan(x), 2.0, x) * np.maximum(x, 0.1),
    ],
)
@pytest.mark.parametrize("special", [1.0, np.nan, -np.inf])
def test_many_elements_are_as_few(f: Any, special: float) -> None:
    x = np.random.default_rng(0).normal(size=MANY)
    x[::7], x[3] = 0.0, special
    with np.errstate(all="ignore"):
        dout = np.random.default_rng(1).normal(size=MANY)
        out, bprop = s2sad.vjp(f, x)
        found = bprop(dout)[0]
        for k in range(0, MANY, 500):
            part, bprop_of_part = s2sad.vjp(f, x[k : k + 500])
            assert np.array_equal(part, out[k : k + 500], equal_nan=True)
            few = bprop_of_part(dout[k : k + 500])[0]
            assert np.array_equal(few, found[k : k + 500], equal_nan=True)
        second = s2sad.jvp(lambda x: s2sad.grad(lambda y: np.sum(f(y)))(x))(x, np.ones(MANY))[1]
        few = s2sad.jvp(lambda x: s2sad.grad(lambda y: np.sum(f(y)))(x))(x[:500], np.ones(500))[1]
        assert np.array_equal(second[:500], few, equal_nan=True)
