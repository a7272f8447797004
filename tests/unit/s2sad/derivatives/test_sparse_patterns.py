"""Patterns of maps and colours of their columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from s2sad.derivatives.sparse_patterns import coloured, search_pattern


def pattern_of(push: Any, shape: tuple[int, int]) -> tuple[Any, int]:
    """The pattern that is found, and by how many directions."""
    search, directions = search_pattern(partial(map, push), shape), 0
    while True:
        try:
            directions += next(search)
        except StopIteration as stopped:
            return stopped.value.toarray(), directions


def test_colours() -> None:
    for seed in range(5):
        dense = np.random.default_rng(seed).random((12, 20)) < 0.15
        found = coloured(scipy.sparse.csr_array(dense))
        for row in dense:
            assert len(set(found[row])) == row.sum()
    assert set(coloured(scipy.sparse.csr_array(np.eye(7)))) == {0}
    assert set(coloured(scipy.sparse.csr_array(np.ones((1, 4))))) == {0, 1, 2, 3}


def test_patterns_of_matrices() -> None:
    for seed in range(10):
        generator = np.random.default_rng(seed)
        matrix = generator.normal(size=(9, 13)) * (generator.random((9, 13)) < 0.2)
        push = partial(product_of_rows, [np.flatnonzero(row) for row in matrix])
        np.testing.assert_array_equal(pattern_of(push, (9, 13))[0], matrix != 0)


def product_of_rows(columns: Any, v: Any) -> Any:
    """A product in which NaN meets only the entries of a matrix, which are in these columns of each row."""
    return np.array([np.sum(v[chosen]) for chosen in columns])


def test_patterns_of_few_columns_and_rows() -> None:
    for shape in ((3, 0), (0, 3), (1, 1), (2, 1), (1, 3)):
        found, _ = pattern_of(lambda v, shape=shape: np.full(shape[0], np.sum(v)), shape)
        np.testing.assert_array_equal(found, np.ones(shape, bool))
        found, passes = pattern_of(lambda v, shape=shape: np.zeros(shape[0]), shape)
        assert not found.any() and passes <= 4
    found, _ = pattern_of(lambda v: v * np.inf, (2, 2))
    assert found.all()  # zero times infinity: what depends on what is not seen


def test_the_passes_of_a_band_grow_with_the_logarithm_of_its_length() -> None:
    def push(v: Any) -> Any:
        return np.convolve(v, [1.0, 1.0, 1.0], mode="same")

    passes = [pattern_of(push, (n, n))[1] for n in (64, 1024)]
    assert passes[1] - passes[0] <= 4 * 4


def test_colours_of_patterns_with_long_indices() -> None:
    pattern = scipy.sparse.csr_array(np.eye(4, dtype=bool))
    pattern.indices, pattern.indptr = pattern.indices.astype(np.int64), pattern.indptr.astype(np.int64)
    assert set(coloured(pattern)) == {0}
