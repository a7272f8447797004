"""Patterns of linear maps that are known as functions, and which of their columns are computed together.

Columns without a common row are one direction together. The pattern is found by directions with NaN in place
of numbers: a NaN goes through every operation that may depend on it, also where its factor is zero.

Source: A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", 1974.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..transforms.errors import NonDifferentiableError, S2sadError

__all__ = ["Compression", "Push", "coloured", "search_pattern", "sparse"]

Push = Callable[[Iterator[Any]], Iterator[Any]]  # from vectors of tangents to those of tangents of the result


def sparse() -> Any:
    """The module `scipy.sparse`."""
    try:
        return importlib.import_module("scipy.sparse")
    except ModuleNotFoundError as error:
        if error.name != "scipy":
            raise
        raise NonDifferentiableError(
            "sparse Jacobians need SciPy, which is not installed", instead="pip install s2sad[scipy]"
        ) from None


@dataclass(frozen=True)
class Compression:
    """A pattern, a `csr_array`, and how its entries are computed: columns of one colour are a direction."""

    pattern: Any

    @cached_property
    def fewest(self) -> int:
        """A number of colours that is surely needed: the entries of the longest row."""
        return int(np.diff(self.pattern.indptr).max(initial=0))

    @cached_property
    def groups(self) -> list[tuple[Any, Any, Any]]:
        """For each colour the places of its entries in the data of the pattern, their rows and columns."""
        found = self.pattern.tocoo()
        groups = _grouped(coloured(self.pattern)[found.col])
        return [(places, found.row[places], found.col[places]) for places in groups]

    def matrix(self, push: Push, dtype: Any) -> Any:
        """The matrix of a map with this pattern."""
        values = np.zeros(self.pattern.nnz, dtype)

        def seed(columns: Any) -> Any:
            found = np.zeros(self.pattern.shape[1])
            found[columns] = 1.0
            return found

        pushed = push(seed(columns) for _, _, columns in self.groups)
        for (places, rows, _), result in zip(self.groups, pushed, strict=True):
            values[places] = result[rows]
        structure = self.pattern.indices.copy(), self.pattern.indptr.copy()
        return sparse().csr_array((values, *structure), shape=self.pattern.shape)


def coloured(pattern: Any) -> Any:
    """A colour for each column, a number from 0: columns with a row in common have different ones. Those with
    many entries come first, and each takes the first colour that is free.

    >>> import scipy.sparse
    >>> coloured(scipy.sparse.csr_array([[1, 1, 0], [0, 1, 1]]))
    array([1, 0, 1])
    """
    given = pattern.tocsc()
    if 0 in given.shape:
        return np.zeros(given.shape[1], int)
    parts = given.data, given.indices.astype(np.int32), given.indptr.astype(np.int32)
    order = np.argsort(-np.diff(given.indptr), kind="stable")
    group = importlib.import_module("scipy.optimize._numdiff").group_columns
    return group(sparse().csc_array(parts, shape=given.shape), order).astype(int)


def search_pattern(push: Push, shape: tuple[int, int]) -> Generator[int, None, Any]:
    """The pattern of a linear map: for each column the rows that depend on it, where the program runs now.
    Yields how many directions each step took.

    Halves of halves of the columns are tried, those together whose wholes have no row in common: for banded
    matrices that takes a number of directions that grows with the logarithm of the columns.
    """
    make = sparse().csr_array
    starts, stops = np.array([0]), np.array([shape[1]])
    always, once = _touched(push, [np.zeros(shape[1], bool), np.ones(shape[1], bool)])
    yield 2
    if np.any(always):  # infinite factors: what they multiply is not seen
        return make(np.ones(shape, bool))
    rows = np.flatnonzero(once)
    blocks = np.zeros(len(rows), int)  # for each entry in `rows` the block of columns that it may depend on
    while np.any(is_long := stops - starts > 1):
        parts = 1 + is_long
        first = np.cumsum(parts) - parts
        middle = (starts + stops) // 2
        starts, stops = np.repeat(starts, parts), np.repeat(stops, parts)
        stops[first[is_long]] = starts[first[is_long] + 1] = middle[is_long]
        is_new = np.repeat(is_long, parts)
        again = is_long[blocks]
        rows, blocks = np.append(rows, rows[again]), np.append(first[blocks], first[blocks[again]] + 1)
        tried = np.flatnonzero(is_new[blocks])
        held = np.ones(len(tried), bool), (rows[tried], blocks[tried])
        groups = np.where(is_new, coloured(make(held, shape=(shape[0], len(starts)))), -1)
        of_columns = np.repeat(groups, stops - starts)
        keeps = np.ones(len(rows), bool)
        of_groups = _grouped(groups[blocks[tried]])
        chosen = (of_columns == group for group in range(len(of_groups)))
        for places, touched in zip(of_groups, _touched(push, chosen), strict=True):
            entries = tried[places]
            keeps[entries] = touched[rows[entries]]
        yield len(of_groups)
        rows, blocks = rows[keeps], blocks[keeps]
    return make((np.ones(len(rows), bool), (rows, starts[blocks])), shape=shape)


def _grouped(numbers: Any) -> list[Any]:
    """For each number from 0 on the places where it stands.

    >>> _grouped(np.array([0, 1, 0]))
    [array([0, 2]), array([1])]
    """
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1]) if len(numbers) else []


def _touched(push: Push, chosen: Iterable[Any]) -> Iterator[Any]:
    """Which rows depend on columns, for each choice of these."""
    pushed = push(np.where(columns, np.nan, 0.0) for columns in chosen)
    while True:
        try:
            with np.errstate(all="ignore"):
                result = next(pushed, None)
        except S2sadError:
            raise
        except Exception as error:
            raise NonDifferentiableError(
                "the pattern of the Jacobian cannot be found",
                why=f"with NaN as tangents, the derivative raises {type(error).__name__}: {error}",
                instead="give the pattern",
            ) from None
        if result is None:
            return
        yield np.isnan(result)
