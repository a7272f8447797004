"""Sparse Jacobians and Hessians by compressed columns.

Columns without a common row take one pass together: they are coloured, and there is a pass of forward mode
for each colour. Rows are the columns of the transpose, with passes of reverse mode. The pattern is found by
passes with NaN in place of tangents: a NaN goes through every operation that may depend on it, also where its
factor is zero. Each result is compared with one more pass, in a random direction, so that an entry outside of
the pattern (another branch, another mask) is noticed: a found pattern is found again, a given one is refused.

Source: A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", 1974.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..runtime.border import at_border
from ..source.pickling import reduce_derivative
from ..transforms.errors import NonDifferentiableError, S2sadError
from ..values.snapshot import Before
from .closure_conversion import Lifted
from .derivative import Derivative
from .jacobians import Composed

__all__ = ["SparseHessian", "SparseJacobian", "SparseJacobianByRows", "coloured", "pattern_of", "single"]

CLOSE = 0.6  # the power of a dtype's rounding error that a sum may be wrong by, relative to its terms
Push = Callable[[Any], Any]  # from a vector of tangents to one of tangents of the result


def single(argnums: Any) -> int | str:
    """The one argument of a sparse Jacobian."""
    if isinstance(argnums, tuple):
        raise NonDifferentiableError(
            "a sparse Jacobian is one by a single array",
            instead="name one argument, or make a vector of several: see `flatten`",
        )
    found: int | str = argnums
    return found


class SparseJacobian(Composed):
    """`inner` is a `jvp` by one array; `sparsity` is True or a pattern."""

    transform = "jacobian"
    by_rows = False  # whether the matrix is computed as its transpose

    def __init__(self, f: Callable[..., Any], argnums: int | str, inner: Derivative, sparsity: Any) -> None:
        super().__init__(f, argnums, inner)
        self._sparsity = sparsity
        self._found: dict[tuple[int, int], Any] = {}  # patterns by shape

    def __reduce__(self) -> Any:
        parts = self._f, self._argnums, self._inner, self._sparsity
        return reduce_derivative(self, type(self), parts)

    @at_border
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        x = self.chosen(args, keywords)
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or x.dtype.itemsize < 4:
            raise NonDifferentiableError(
                f"a sparse Jacobian by {getattr(x, 'dtype', type(x).__name__)} was asked for",
                why="its columns belong to the numbers of one array, of float32 or float64",
                instead="leave `sparsity` out, or make a vector of the argument: see `flatten`",
            )
        push, size, aux = self._map(x, args, keywords)
        direction = np.random.default_rng(0).normal(size=size).astype(x.dtype)
        expected = push(direction)
        shape = expected.size, size
        if self._sparsity is not True:
            given = given_pattern(self._sparsity, shape[::-1] if self.by_rows else shape)
            pattern = given.T.tocsr() if self.by_rows else given
            found = self._compressed(push, pattern, direction, expected, refuse)
        else:
            found = self._by_found_pattern(push, shape, direction, expected)
        return self.result(found.T.tocsr() if self.by_rows else found, aux)

    def _map(self, x: Any, args: tuple[Any, ...], keywords: Any) -> tuple[Push, int, list[Any]]:
        """The linear map whose columns are computed, their number, and the list that what else the function
        returns is put in.
        """
        before = Before(self._f, *self._inner.bind(args, keywords))
        runs: list[Any] = []
        aux: list[Any] = []

        def push(tangent: Any) -> Any:
            with before.again() if runs else nullcontext():
                out, dout, *more = self._inner(*args, tangent.reshape(x.shape).astype(x.dtype), **keywords)
            runs[:], aux[:] = [out], more
            return np.ravel(_array_of(out, dout))

        return push, x.size, aux

    def _by_found_pattern(self, push: Push, shape: tuple[int, int], direction: Any, expected: Any) -> Any:
        """The matrix with the pattern that was found before, or with one that is found now."""
        pattern = self._found.get(shape)
        if pattern is not None:
            found = self._compressed(push, pattern, direction, expected, lambda: None)
            if found is not None:
                return found
        self._found[shape] = pattern = pattern_of(push, shape)
        return self._compressed(push, pattern, direction, expected, refuse_found)

    def _compressed(
        self, push: Push, pattern: Any, direction: Any, expected: Any, otherwise: Callable[[], Any]
    ) -> Any:
        """The matrix with this pattern; the result of `otherwise` if it has entries elsewhere."""
        values = np.zeros(pattern.nnz, expected.dtype)
        rows, columns = _coordinates(pattern)
        colours = coloured(pattern)[columns]
        for colour in range(int(colours.max(initial=-1)) + 1):
            chosen = colours == colour
            seed = np.zeros(pattern.shape[1])
            seed[columns[chosen]] = 1.0
            values[chosen] = push(seed)[rows[chosen]]
        terms = values * direction[columns]
        sums, sizes = (np.zeros(len(expected), t.dtype) for t in (terms, abs(terms)))
        np.add.at(sums, rows, terms)
        np.add.at(sizes, rows, abs(terms))
        with np.errstate(invalid="ignore"):
            tolerance = np.finfo(direction.dtype).eps ** CLOSE
            is_close = abs(sums - expected) <= tolerance * (sizes + abs(expected))
            is_close |= ~np.isfinite(sums) & ~np.isfinite(expected)
        if not np.all(is_close):
            return otherwise()
        return sparse().csr_array((values, (rows, columns)), shape=pattern.shape)

    def lift_call(self, args: tuple[Any, ...], keywords: Any) -> Lifted:
        raise NonDifferentiableError(
            f"the sparse {self.transform} of {self.__name__} is differentiated",
            why="sparse arrays carry no derivative",
            instead="leave `sparsity` out",
        )


class SparseJacobianByRows(SparseJacobian):
    """By reverse mode: `inner` is a `vjp` by one array."""

    transform = "jacrev"
    by_rows = True

    def _map(self, x: Any, args: tuple[Any, ...], keywords: Any) -> tuple[Push, int, list[Any]]:
        out, bprop, *aux = self._inner(*args, **keywords)
        if np.iscomplexobj(_array_of(out, None)):
            raise NonDifferentiableError(
                "the sparse Jacobian of a complex result, by reverse mode, was asked for",
                why="its real and imaginary parts are not combined there",
                instead="use jacfwd",
            )

        def pull(cotangent: Any) -> Any:
            return np.ravel(_array_of(x, bprop(cotangent.reshape(np.shape(out)))))

        return pull, np.size(out), aux


class SparseHessian(SparseJacobian):
    """`inner` is a `jvp` of a gradient."""

    transform = "hessian"


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


def _array_of(out: Any, dout: Any) -> Any:
    """The tangent of a result that is a number or an array, as an array."""
    if not isinstance(out, (float, complex, np.generic, np.ndarray)):
        raise NonDifferentiableError(
            f"a sparse Jacobian of a {type(out).__name__} was asked for",
            why="its rows belong to the numbers of one array",
            instead="return one array: np.concatenate joins several",
        )
    return np.zeros_like(out) if dout is None else np.asarray(dout)


def given_pattern(sparsity: Any, shape: tuple[int, int]) -> Any:
    """A pattern of the user's as a sparse array."""
    pattern = sparse().csr_array(sparsity).astype(bool)
    if pattern.shape != shape:
        raise NonDifferentiableError(
            f"the pattern has shape {pattern.shape}, the Jacobian {shape}", instead="give one of that shape"
        )
    pattern.sum_duplicates()
    pattern.eliminate_zeros()
    return pattern


def refuse() -> None:
    raise NonDifferentiableError(
        "the Jacobian has entries outside of the pattern that was given",
        why="they would be added to others",
        instead="give a pattern with all entries, or sparsity=True",
    )


def refuse_found() -> None:
    raise NonDifferentiableError(
        "the pattern of the Jacobian was not found",
        why="two runs with the same arguments do not have the same derivative",
        instead="give the pattern, or leave `sparsity` out",
    )


# ---------------------------------------------------------------- patterns


def _coordinates(pattern: Any) -> tuple[Any, Any]:
    found = pattern.tocoo()
    return found.row, found.col


def pattern_of(push: Push, shape: tuple[int, int]) -> Any:
    """The pattern of a linear map: for each column the rows that depend on it, where the program runs now.

    Halves of halves of the columns are tried, those together whose wholes have no row in common: for banded
    matrices that takes a number of passes that grows with the logarithm of the columns.
    """
    rows_, columns = shape
    blocks: list[tuple[int, int, Any]] = [(0, columns, np.arange(rows_))] if columns else []
    always = _touched(push, [], columns)
    done: list[tuple[int, Any]] = []
    while blocks:
        halves = []
        for start, stop, rows in blocks:
            if stop - start == 1:
                done.append((start, rows))
            elif len(rows):
                middle = (start + stop) // 2
                halves += [(start, middle, rows), (middle, stop, rows)]
        blocks = []
        for group in _apart(halves, rows_):
            touched = _touched(push, [(start, stop) for start, stop, _ in group], columns)
            blocks += [(start, stop, rows[touched[rows]]) for start, stop, rows in group]
    if columns == 1:
        touched = _touched(push, [(0, 1)], columns)
        done = [(0, np.flatnonzero(touched))]
    row = np.concatenate([np.zeros(0, int), *(rows for _, rows in done)])
    column = np.concatenate([np.zeros(0, int), *(np.full(len(rows), k) for k, rows in done)])
    if np.any(always):  # infinite factors: what they multiply is not seen
        row, column = np.meshgrid(np.arange(rows_), np.arange(columns), indexing="ij")
        row, column = row.ravel(), column.ravel()
    return sparse().csr_array((np.ones(len(row), bool), (row, column)), shape=shape)


def _apart(halves: list[tuple[int, int, Any]], count: int) -> list[list[tuple[int, int, Any]]]:
    """The blocks in groups without a common row."""
    groups: list[tuple[list[tuple[int, int, Any]], Any]] = []
    for block in halves:
        free = next((k for k, (_, taken) in enumerate(groups) if not np.any(taken[block[2]])), len(groups))
        if free == len(groups):
            groups.append(([], np.zeros(count, bool)))
        group, taken = groups[free]
        group.append(block)
        taken[block[2]] = True
    return [group for group, _ in groups]


def _touched(push: Push, spans: list[tuple[int, int]], columns: int) -> Any:
    """Which rows depend on the columns in these spans."""
    seed = np.zeros(columns)
    for start, stop in spans:
        seed[start:stop] = np.nan
    try:
        with np.errstate(all="ignore"):
            return np.isnan(push(seed))
    except S2sadError:
        raise
    except Exception as error:
        raise NonDifferentiableError(
            "the pattern of the Jacobian cannot be found",
            why=f"with NaN as tangents, the derivative raises {type(error).__name__}: {error}",
            instead="give the pattern",
        ) from None


def coloured(pattern: Any) -> Any:
    """A colour for each column, a number from 0: columns with a row in common have different ones. Those with
    many entries come first, and each takes the first colour that is free.

    >>> import scipy.sparse
    >>> coloured(scipy.sparse.csr_array([[1, 1, 0], [0, 1, 1]]))
    array([1, 0, 1])
    """
    by_column = pattern.tocsc()
    found = np.zeros(pattern.shape[1], int)
    taken: list[set[int]] = [set() for _ in range(pattern.shape[0])]  # colours, by row
    counts = np.diff(by_column.indptr)
    for column in np.argsort(-counts, kind="stable"):
        rows = by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]
        met = set().union(*(taken[row] for row in rows))
        colour = next(k for k in range(len(met) + 1) if k not in met)
        found[column] = colour
        for row in rows:
            taken[row].add(colour)
    return found
