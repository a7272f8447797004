"""Coloured Jacobians and Hessians: equal to the full ones, in as few passes as there are colours."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import s2sad
from s2sad import NonDifferentiableError, hessian, jacfwd, jacobian, jacrev
from s2sad.derivatives import sparse_patterns

RUNS = [0]


def counted(x: Any) -> Any:
    """The argument; the derivatives of the test count how often they run."""
    RUNS[0] += 1
    return x


s2sad.nondifferentiable([counted], pure=False)


def stencil(u: Any) -> Any:
    v = np.zeros_like(u)
    v[1:-1] = u[:-2] - 2.0 * u[1:-1] + u[2:] ** 2
    v[0] = u[0]
    return v


def forward_only(y: Any) -> Any:
    return 2.0 * y


def never(dout: Any) -> Any:
    raise NonDifferentiableError("forward mode only")


s2sad.nondifferentiable([never], pure=False)


@s2sad.bprop(forward_only)
def forward_only_rule(y: Any, out: Any, dout: Any) -> Any:
    return (never(dout),)


@forward_only_rule.jvp
def forward_only_jvp(y: Any, out: Any, dy: Any) -> Any:
    return 2.0 * dy


def elementwise(x: Any) -> Any:
    return np.sin(x) * x


def branches(x: Any) -> Any:
    return np.where(x > 0, x, 0.0)[::-1] * x


def rows(x: Any) -> Any:
    return np.concatenate([x[:2] * x[2:4], [np.sum(x)], x[5:].ravel()])


def grid(u: Any) -> Any:
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] * u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    return np.pad(inner, 1) + u * u


def in_a_loop(x: Any) -> Any:
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = x[i] * x[i - 1]
    return y


def constant_and_number(x: Any) -> Any:
    return x[3] * 2.0


def no_dependence(x: Any) -> Any:
    return np.ones(3)


def times_zero(x: Any) -> Any:
    return x * np.zeros_like(x) + x[0] * 0.0


@pytest.mark.parametrize("f", [
    stencil, elementwise, branches, rows, grid, in_a_loop, constant_and_number, no_dependence, times_zero,
])  # fmt: skip
def test_equal_to_the_full_jacobian(f: Any) -> None:
    x = np.random.default_rng(0).normal(size=(5, 4) if f is grid else 9)
    sparse = jacobian(f, sparsity=True)
    by_rows, by_columns = jacrev(f, sparsity=True), jacfwd(f, sparsity=True)
    for at in (x, -x, x * x):
        full = np.reshape(jacobian(f)(at), (-1, x.size))
        for found in (sparse(at), by_rows(at), by_columns(at)):
            assert isinstance(found, scipy.sparse.csr_array) and found.shape == full.shape
            np.testing.assert_array_equal(found.toarray(), full)


def test_entries_that_are_zero_by_chance_are_in_the_pattern() -> None:
    found = jacobian(lambda x: x[:-1] * x[1:], sparsity=True)(np.zeros(5))
    assert found.nnz == 8 and not found.toarray().any()
    assert jacobian(times_zero, sparsity=True)(np.ones(4)).nnz == 7


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1000])
def test_sizes(size: int) -> None:
    x = np.random.default_rng(0).normal(size=size)
    found = jacobian(elementwise, sparsity=True)(x)
    np.testing.assert_array_equal(found.diagonal(), np.cos(x) * x + np.sin(x))
    assert found.nnz == size
    assert jacobian(elementwise, sparsity=True)(np.zeros(0)).shape == (0, 0)


def test_passes() -> None:
    def program(x: Any) -> Any:
        counted(0.0)
        return x[:-2] * x[1:-1] * x[2:]

    sparse = jacobian(program, sparsity=True)
    x = np.random.default_rng(0).normal(size=4096)
    RUNS[0] = 0
    sparse(x)
    assert RUNS[0] < 100  # to find the pattern of 4096 columns
    RUNS[0] = 0
    sparse(x + 1.0)
    assert RUNS[0] <= 3 + 1  # three colours and one check


def test_passes_by_rows() -> None:
    def program(x: Any) -> Any:
        return np.concatenate([copied(x), [np.sum(x**3)]])

    sparse = jacrev(program, sparsity=True)
    x = np.random.default_rng(0).normal(size=500)
    sparse(x)
    RUNS[0] = 0
    found = sparse(x + 1.0)
    assert RUNS[0] == 2 + 1  # two colours, as the last row is full, and one check
    np.testing.assert_array_equal(found.toarray(), np.vstack([np.eye(500), 3 * (x + 1.0) ** 2]))


def copied(x: Any) -> Any:
    return x + 0.0


@s2sad.bprop(copied)
def copied_rule(x: Any, out: Any, dout: Any) -> Any:
    return (counted(dout),)


def test_rows_of_other_results() -> None:
    x = np.random.default_rng(0).normal(size=9)
    pattern = abs(np.subtract.outer(range(9), range(9))) <= 1
    np.testing.assert_array_equal(jacrev(stencil, sparsity=pattern)(x).toarray(), jacobian(stencil)(x))
    pattern = np.ones((2, 9), bool)
    found, aux = jacrev(lambda x: (x[:2] * x[0], x), has_aux=True, sparsity=pattern)(x)
    np.testing.assert_array_equal(found.toarray(), jacobian(lambda x: x[:2] * x[0])(x))
    assert aux is x
    with pytest.raises(NonDifferentiableError, match="entries outside of the pattern"):
        jacrev(stencil, sparsity=np.eye(9))(x)
    with pytest.raises(NonDifferentiableError, match=r"shape \(9, 2\), the Jacobian \(2, 9\)"):
        jacrev(lambda x: x[:2], sparsity=np.ones((9, 2)))(x)
    with pytest.raises(NonDifferentiableError, match="of a complex result, by reverse mode"):
        jacrev(lambda x: x * 1j, sparsity=True)(x)
    single = jacrev(stencil, sparsity=True)(x.astype(np.float32))
    np.testing.assert_array_equal(single.toarray(), jacobian(stencil)(x.astype(np.float32)))


def test_other_precisions() -> None:
    x = np.random.default_rng(0).normal(size=9).astype(np.float32)
    found = jacobian(stencil, sparsity=True)(x)
    np.testing.assert_array_equal(found.toarray(), jacobian(stencil)(x))
    with pytest.raises(NonDifferentiableError, match="entries outside of the pattern"):
        jacobian(stencil, sparsity=np.eye(9))(x)
    complex_ = jacobian(lambda x: x * (1 + 2j), sparsity=True)(x.astype(float))
    np.testing.assert_array_equal(complex_.toarray(), np.eye(9) * (1 + 2j))


def test_another_branch_has_another_pattern() -> None:
    def program(x: Any) -> Any:
        return x * x if x[0] > 0 else x[::-1] * x

    sparse = jacobian(program, sparsity=True)
    for x in (np.arange(1.0, 6.0), -np.arange(1.0, 6.0), np.arange(1.0, 6.0)):
        np.testing.assert_array_equal(sparse(x).toarray(), jacobian(program)(x))


def test_given_patterns() -> None:
    x = np.random.default_rng(0).normal(size=9)
    band = abs(np.subtract.outer(range(9), range(9))) <= 1
    for pattern in (band, band.astype(float), scipy.sparse.csc_array(band), band.tolist(), np.ones((9, 9))):
        found = jacobian(stencil, sparsity=pattern)(x)
        np.testing.assert_array_equal(found.toarray(), jacobian(stencil)(x))
    with pytest.raises(NonDifferentiableError, match="entries outside of the pattern"):
        jacobian(stencil, sparsity=np.eye(9))(x)
    with pytest.raises(NonDifferentiableError, match=r"shape \(3, 3\), the Jacobian \(9, 9\)"):
        jacobian(stencil, sparsity=np.eye(3))(x)


def test_hessians() -> None:
    def chain(x: Any, scale: float) -> Any:
        return scale * np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum(np.cos(x))

    x = np.random.default_rng(0).normal(size=12)
    found = hessian(chain, sparsity=True)(x, 2.0)
    np.testing.assert_array_equal(found.toarray(), hessian(chain)(x, 2.0))
    assert found.nnz == 12 + 2 * 11
    by_name = jacobian(lambda a, x: x * a, "x", sparsity=True)(3.0, np.ones(2))
    np.testing.assert_array_equal(by_name.toarray(), 3 * np.eye(2))


def test_what_is_refused() -> None:
    for argument in (1.0, [1.0, 2.0], np.ones(2, complex), np.ones(2, int), np.ones(2, "f2")):
        with pytest.raises(NonDifferentiableError):
            jacobian(lambda x: x, sparsity=True)(argument)
    with pytest.raises(NonDifferentiableError, match="of a tuple was asked for"):
        jacobian(lambda x: (x, x), sparsity=True)(np.ones(2))
    with pytest.raises(NonDifferentiableError, match="single array"):
        jacobian(lambda x, y: x * y, argnums=(0, 1), sparsity=True)

    def checks(x: Any) -> Any:
        return scipy.linalg.solve(np.eye(3), x)

    with pytest.raises(NonDifferentiableError, match="cannot be found"):
        jacobian(checks, sparsity=True)(np.ones(3))

    def nested(x: Any) -> Any:
        return jacobian(elementwise, sparsity=True)(x)

    with pytest.raises(s2sad.S2sadError):
        s2sad.vjp(nested, np.ones(2))


def test_pickles_and_decorates() -> None:
    made = pickle.loads(pickle.dumps(jacobian(stencil, sparsity=True)))
    x = np.arange(6.0)
    np.testing.assert_array_equal(made(x).toarray(), jacobian(stencil)(x))

    @jacobian(sparsity=True)
    def squares(x: Any) -> Any:
        return x * x

    np.testing.assert_array_equal(squares(x).toarray(), np.diag(2 * x))


def with_a_full_row(x: Any) -> Any:
    middle = len(x) // 2
    band = x * x + np.concatenate([[0.0], x[:-1]])
    return np.concatenate([band[:middle], [np.sum(np.sin(x))], band[middle + 1 :]])


def test_rows_are_computed_together_where_that_takes_fewer_passes() -> None:
    x = np.linspace(0.1, 1.0, 300)
    expected = jacobian(with_a_full_row)(x)

    def run(x: Any) -> Any:
        counted(0.0)
        return with_a_full_row(x)

    full = jacobian(run, sparsity=True)
    band = scipy.sparse.csr_array(expected)
    for sparse in (full, jacobian(run, sparsity=band)):
        np.testing.assert_allclose(sparse(x).toarray(), expected, rtol=1e-14)
        RUNS[0] = 0
        np.testing.assert_allclose(sparse(x + 1.0).toarray(), jacobian(with_a_full_row)(x + 1.0), rtol=1e-14)
        assert RUNS[0] == 1  # once, forward: its passes are those of reverse mode
    RUNS[0] = 0
    jacobian(run, sparsity=True)(x)
    assert RUNS[0] < 120  # the pattern, too, is found by rows
    copied = pickle.loads(pickle.dumps(jacobian(with_a_full_row, sparsity=True)))
    np.testing.assert_allclose(copied(x).toarray(), expected, rtol=1e-14)


def test_functions_without_reverse_mode_are_computed_by_columns() -> None:
    def run(x: Any) -> Any:
        return forward_only(with_a_full_row(x))

    x = np.linspace(0.1, 1.0, 130)
    np.testing.assert_allclose(
        jacobian(run, sparsity=True)(x).toarray(), 2.0 * jacfwd(with_a_full_row)(x), rtol=1e-14
    )


def test_colours_are_kept_for_the_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    given = sparse_patterns.coloured
    monkeypatch.setattr(sparse_patterns, "coloured", lambda pattern: made.append(1) or given(pattern))
    full = jacobian(stencil, sparsity=True)
    for size in (9, 9, 12, 9, 12):
        x = np.arange(1.0, size)
        np.testing.assert_array_equal(full(x).toarray(), jacobian(stencil)(x))
    first = len(made)
    full(np.arange(2.0, 10.0))
    assert first == len(made)
    pattern = scipy.sparse.lil_array(jacobian(stencil)(np.ones(8)) != 0)
    by_pattern = jacobian(stencil, sparsity=pattern)
    for _ in range(2):
        np.testing.assert_array_equal(by_pattern(np.ones(8)).toarray(), jacobian(stencil)(np.ones(8)))
    assert len(made) == first + 1
    pattern[3, 2] = False  # it is read again
    with pytest.raises(NonDifferentiableError, match="outside of the pattern"):
        by_pattern(np.ones(8))


def test_results_share_nothing_with_what_is_kept() -> None:
    full = jacobian(stencil, sparsity=True)
    x = np.arange(1.0, 9.0)
    first = full(x)
    expected = first.toarray()
    first.indices[:] = 0
    first.indptr[:] = 0
    first.data[:] = 7.0
    np.testing.assert_array_equal(full(x).toarray(), expected)
