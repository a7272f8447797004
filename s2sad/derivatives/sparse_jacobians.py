"""Sparse Jacobians and Hessians by compressed columns or rows.

Columns without a common row are one direction of forward mode together, rows without a common column one of
reverse mode; a run takes many directions where its code can be written so. Patterns and the ways to compute
them are kept. Each result is compared with one more direction, a random one, so that an entry outside of the
pattern (another branch, another mask) is noticed: a found pattern is found again, a given one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ..runtime.border import at_border
from ..source.pickling import reduce_derivative
from ..transforms.errors import NonDifferentiableError, S2sadError
from ..values.snapshot import Before
from . import batched
from .closure_conversion import Lifted
from .derivative import Derivative
from .jacobians import Composed
from .sparse_patterns import Compression, search_pattern, sparse

__all__ = ["SparseHessian", "SparseJacobian", "SparseJacobianByRows", "single"]

CLOSE = 0.6  # the power of a dtype's rounding error that a sum may be wrong by, relative to its terms
PATIENCE = 100  # the directions after which the pattern is looked for by rows as well as by columns
Shape = tuple[int, int]
Way = tuple[bool, Compression]  # whether a Jacobian is computed by rows, and how


def single(argnums: Any) -> int | str:
    """The one argument of a sparse Jacobian."""
    if isinstance(argnums, tuple):
        raise NonDifferentiableError(
            "a sparse Jacobian is one by a single array",
            instead="name one argument, or make a vector of several: see `flatten`",
        )
    found: int | str = argnums
    return found


@dataclass
class _Call:
    """The argument of a call, and all arguments. All runs of the function start from the same state."""

    x: Any
    args: tuple[Any, ...]
    keywords: Any
    before: Before


@dataclass
class _Map:
    """The linear map whose columns are computed, which are the rows of the Jacobian `by_rows`: `one` is its
    value in a direction, `made` makes the code for many, which are like `like`. It has one value already, and
    what else the function returns.
    """

    by_rows: bool
    one: Callable[[Any], Any]
    made: Callable[[], batched.Many | None]
    like: Any
    before: Before
    aux: list[Any]
    direction: Any = field(init=False)
    expected: Any = field(init=False)

    def __post_init__(self) -> None:
        self.direction = np.random.default_rng(0).normal(size=np.size(self.like)).astype(self.like.dtype)
        self.expected = self.one(self.direction)

    @cached_property
    def many(self) -> batched.Many | None:
        """The code for many directions."""
        return self.made()

    def push(self, directions: Iterator[Any]) -> Iterator[Any]:
        """The values in these directions, in the fewest runs."""
        while given := list(islice(directions, batched.FEWEST)):
            found = None
            if len(given) == batched.FEWEST and self.many is not None:
                given += islice(directions, self.many.width - batched.FEWEST)
                stack = np.reshape(given, (len(given), *self.like.shape))
                found = self.many([(stack,)], None if self.many.code.is_alone else self.before)
                self.many = self.many if found else None
            yield from map(self.one, given) if found is None else found[0][0].reshape(len(given), -1)

    @property
    def shape(self) -> Shape:
        """The shape of the map."""
        return self.expected.size, self.direction.size

    def matrix(self, compression: Compression) -> Any:
        """The Jacobian with this pattern; None if it has entries elsewhere."""
        found = compression.matrix(self.push, self.expected.dtype)
        sums, sizes = found @ self.direction, abs(found) @ abs(self.direction)
        with np.errstate(invalid="ignore"):
            tolerance = np.finfo(self.direction.dtype).eps ** CLOSE
            is_close = abs(sums - self.expected) <= tolerance * (sizes + abs(self.expected))
            is_close |= ~np.isfinite(sums) & ~np.isfinite(self.expected)
        if not np.all(is_close):
            return None
        return found.T.tocsr() if self.by_rows else found


def _by_columns(derivative: Derivative, call: _Call) -> _Map:
    """The map of tangents to tangents of the result: `derivative` is a `jvp`."""
    x = call.x
    aux: list[Any] = []

    def one(tangent: Any) -> Any:
        given = tangent.reshape(x.shape).astype(x.dtype)
        with call.before.run():
            out, dout, *aux[:] = derivative(*call.args, given, **call.keywords)
        return np.ravel(_array_of(out, dout))

    def made() -> batched.Many | None:
        return batched.pushforward(derivative, derivative.bind(call.args, call.keywords))

    return _Map(False, one, made, x, call.before, aux)


def _by_rows(derivative: Derivative, call: _Call) -> _Map:
    """The map of cotangents to cotangents of the argument: `derivative` is a `vjp`."""
    with call.before.run():
        out, bprop, *aux = derivative(*call.args, **call.keywords)
    if np.iscomplexobj(_array_of(out, None)):
        raise NonDifferentiableError(
            "the sparse Jacobian of a complex result, by reverse mode, was asked for",
            why="its real and imaginary parts are not combined there",
            instead="use jacfwd",
        )

    def one(cotangent: Any) -> Any:
        return np.ravel(_array_of(call.x, bprop(cotangent.reshape(np.shape(out)))))

    def made() -> batched.Many | None:
        return batched.pullback(derivative, derivative.bind(call.args, call.keywords), out)

    return _Map(True, one, made, np.asarray(out, call.x.dtype), call.before, aux)


class SparseJacobian(Composed):
    """`inner` is a `jvp` by one array; `sparsity` is True or a pattern. With a `vjp`, `rows`, it is computed
    by rows where that takes fewer directions.
    """

    transform = "jacobian"
    by_rows = False  # whether `inner` is a `vjp`

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: int | str,
        inner: Derivative,
        sparsity: Any,
        rows: Derivative | None = None,
    ) -> None:
        super().__init__(f, argnums, inner)
        self._sparsity, self._rows = sparsity, rows
        self._kept: dict[Shape, Way] = {}  # by the shape of the Jacobian
        self._last: dict[int, bool] = {}  # by the size of the argument: whether it was computed by rows

    def __reduce__(self) -> Any:
        parts = self._f, self._argnums, self._inner, self._sparsity, self._rows
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
        call = _Call(x, args, keywords, Before(self._f, *self._inner.bind(args, keywords)))
        tried = self._map(self._last.get(x.size, self.by_rows), call)
        shape = tried.shape[::-1] if tried.by_rows else tried.shape
        given = None if self._sparsity is True else given_pattern(self._sparsity, shape)
        way = self._kept.get(shape)
        if way is not None and (given is None or _is_same(given, way)):
            used = self._other(tried, way[0], call)
            found = used.matrix(way[1])
            if found is not None:
                return self.result(found, used.aux)
        pattern = self._pattern(tried, call) if given is None else given
        way, used = self._fewest_directions(pattern, tried, call)
        self._kept[shape], self._last[x.size] = way, used.by_rows
        found = used.matrix(way[1])
        if found is None:
            refuse_found() if given is None else refuse()
        return self.result(found, used.aux)

    def _map(self, by_rows: bool, call: _Call) -> _Map:
        if not by_rows:
            return _by_columns(self._inner, call)
        return _by_rows(self._inner if self._rows is None else self._rows, call)

    def _other(self, tried: _Map, by_rows: bool, call: _Call) -> _Map:
        """The map by rows or by columns, of which one was made already."""
        return tried if tried.by_rows == by_rows else self._map(by_rows, call)

    def _fewest_directions(self, pattern: Any, tried: _Map, call: _Call) -> tuple[Way, _Map]:
        """How a Jacobian of this pattern is computed, and its map."""
        sides = [True] if self.by_rows else [False, *([True] if self._rows is not None else [])]
        ways = [(by_rows, Compression(pattern.T.tocsr() if by_rows else pattern)) for by_rows in sides]
        ways.sort(key=lambda way: way[1].fewest)
        if len(ways) == 2 and ways[1][1].fewest < len(ways[0][1].groups):
            ways.sort(key=lambda way: len(way[1].groups))
        for way in ways:
            with suppress(S2sadError):  # of a function that has no reverse mode
                return way, self._other(tried, way[0], call)
        raise AssertionError  # one of the maps is there

    def _pattern(self, tried: _Map, call: _Call) -> Any:
        """The pattern of the Jacobian; where that takes many directions, it is looked for by rows,
        too.
        """
        searches = {tried.by_rows: search_pattern(tried.push, tried.shape)}
        spent = {tried.by_rows: 0}
        while True:
            by_rows = min(searches, key=lambda side: spent[side])
            try:
                spent[by_rows] += next(searches[by_rows])
            except StopIteration as stopped:
                return stopped.value.T.tocsr() if by_rows else stopped.value
            except S2sadError:
                if len(searches) == 1:
                    raise
                del searches[by_rows]
            if spent[tried.by_rows] >= PATIENCE and len(spent) == 1 and self._rows is not None:
                spent[not tried.by_rows] = 0
                with suppress(S2sadError):  # of a function that has no reverse mode: the other one goes on
                    other = self._map(not tried.by_rows, call)
                    searches[other.by_rows] = search_pattern(other.push, other.shape)

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


class SparseHessian(SparseJacobian):
    """`inner` is a `jvp` of a gradient."""

    transform = "hessian"


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


def _is_same(given: Any, way: Way) -> bool:
    """Whether a way to compute a Jacobian is for this pattern."""
    by_rows, compression = way
    pattern = given.T.tocsr() if by_rows else given
    pairs = (
        (pattern.indptr, compression.pattern.indptr), (pattern.indices, compression.pattern.indices)
    )
    return all(np.array_equal(a, b) for a, b in pairs)


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
