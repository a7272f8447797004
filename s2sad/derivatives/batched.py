"""Many directions in one run: the code of a `jvp` for many tangents, and of a `vjp` for many cotangents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast
import numpy as np

from ..kinds.abstraction import kinds_of
from ..kinds.lattice import Array, Kind, Scalar
from ..runtime.records import held_by
from ..source.compiling import make_function
from ..source.read import read_source
from ..transforms.errors import refusals
from ..transforms.trees.nodes import find_nodes, function
from ..transforms.trees.printer import to_source_with_places
from ..transforms.trees.rebuild import parameters
from ..values.gc_pause import collection_paused
from ..values.snapshot import Before
from .derivative import Derivative
from .generator import Generator, Request

__all__ = ["Many", "basis", "pullback", "pushforward"]

FEWEST = 8  # directions that are worth the code for many
MEMORY = 2**26  # bytes of the largest array that a function reads, times the directions of one run
CACHE = 2**19  # bytes of the directions of one run


@dataclass
class Run:
    """The code for many directions, and whether a run of it changes nothing else."""

    function: FunctionType
    is_alone: bool


_made: WeakKeyDictionary[FunctionType, Run | None] = WeakKeyDictionary()


@dataclass
class Many:
    """A derivative at one point for many directions, along a first axis: a run takes `width` of them or
    fewer. `values` tells the results that have the axis from the others, which it returns after them.
    """

    made: FunctionType  # the code for one direction
    code: Run
    primals: tuple[Any, ...]
    width: int
    values: Callable[[Any, int], tuple[tuple[Any, ...], tuple[Any, ...]]]

    def __call__(
        self, directions: Iterable[tuple[Any, ...]], before: Before | None = None
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        """The results for stacks of directions, each taken by one run, joined, and what the runs return
        beside them; None where a run fails: where the error is the function's own, the code for one
        direction raises it as well.
        """
        met, found, others = refusals.last, [], ()
        try:
            for stacks in directions:
                with nullcontext() if before is None else before.run():
                    results = self.code.function(*self.primals, *stacks)
                stacked, others = self.values(results, len(stacks[0]))
                found.append(stacked)
        except Exception:
            refusals.last, _made[self.made] = met, None
            return None
        joined = found[0] if len(found) == 1 else tuple(map(np.concatenate, zip(*found, strict=True)))
        return joined, others


def pushforward(inner: Derivative, primals: tuple[Any, ...]) -> Many | None:
    """The map of tangents of the chosen ones of all arguments to tangents of the result, of which there is
    one; the runs return the result, and what else the function does, as well. None where the code of `inner`,
    a `jvp`, can't be written for many.
    """
    taken = inner.chosen(primals)
    xs = tuple([primals[k] for k in taken])
    if not all(map(_is_plain, xs)) or inner.options.compile is not None:
        return None
    made = inner.function_of(primals, taken)
    kinds = inner.current().kinds(primals, inner.exact_lengths)
    results = (False, True, *[False] * inner.has_aux)
    code = _run_of(made, lambda: _batched(made, kinds, [kinds[k] for k in taken], results))

    def values(found: Any, count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        out, dout, *aux = found
        if not _is_plain(out):
            raise ValueError("a value of another kind")
        return _of_shapes((dout,), count, (out,)), (out, *aux)

    width = _width(inner.primal, primals, xs)
    return None if code is None or width < FEWEST else Many(made, code, primals, width, values)


def pullback(inner: Derivative, primals: tuple[Any, ...], out: Any) -> Many | None:
    """The map of cotangents of the result `out` to those of the chosen ones of all arguments; None as for
    `pushforward`, or where a run changes something.
    """
    xs = tuple([primals[k] for k in inner.chosen(primals)])
    if not all(map(_is_plain, [*xs, out])) or inner.options.compile is not None:
        return None
    made = inner.function_of(primals)
    kinds = inner.current().kinds(primals, inner.exact_lengths)
    results = None if inner.options.is_bare else (True,) * len(xs)

    def make() -> Run | None:
        flat = _both_sweeps(made)
        return None if flat is None else _batched(flat, kinds, kinds_of((out,), ("dout",)), results)

    def values(found: Any, count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return _of_shapes(found if isinstance(found, tuple) else (found,), count, xs), ()

    code, width = _run_of(made, make), _width(inner.primal, primals, (out,))
    if code is None or not code.is_alone or width < FEWEST:
        return None
    return Many(made, code, primals, width, values)


def _of_shapes(stacks: tuple[Any, ...], count: int, like: tuple[Any, ...]) -> tuple[Any, ...]:
    for part, x in zip(stacks, like, strict=True):
        if np.shape(part) != (count, *np.shape(x)):
            raise ValueError("a derivative of another shape")
    return stacks


def _is_plain(x: Any) -> bool:
    return type(x) is float or type(x) is np.float64 or (type(x) is np.ndarray and x.dtype == np.float64)


def _width(f: Any, values: tuple[Any, ...], direction: tuple[Any, ...]) -> int:
    """How many directions one run takes, so that they stay in the cache, and arrays like the largest
    argument, or the largest one that a function captures, in memory.
    """
    captured = held_by(f) if isinstance(f, FunctionType) else ()
    largest = max([1, *(x.size for x in (*values, *captured) if isinstance(x, np.ndarray))])
    size = max(1, sum(map(np.size, direction)))
    return min(max(FEWEST, MEMORY // (8 * largest)), CACHE // (8 * size))


def basis(xs: tuple[Any, ...], width: int) -> Iterator[tuple[Any, ...]]:
    """The directions along each number, `width` at once, as tangents of all arguments with an axis in
    front.
    """
    sizes = [math.prod(np.shape(x)) for x in xs]
    total = sum(sizes)
    for first in range(0, total, width):
        count, start, stacks = min(width, total - first), 0, []
        for x, size in zip(xs, sizes, strict=True):
            stacks.append(np.eye(count, size, first - start).reshape(count, *np.shape(x)))
            start += size
        yield tuple(stacks)


def _run_of(made: FunctionType, make: Callable[[], Run | None]) -> Run | None:
    """The code for many directions in place of a generated function, kept; None where there is none."""
    if made not in _made:
        met = refusals.last
        try:
            with collection_paused():
                _made[made] = make()
        except Exception:  # there is the code for one direction
            refusals.last = met
            _made[made] = None
    return _made[made]


def _batched(
    made: FunctionType, kinds: tuple[Kind, ...], given: Any, results: tuple[bool, ...] | None
) -> Run | None:
    """The code of a generated function for many values of its last arguments, of the kinds `given`."""
    code = made.__code__
    names = code.co_varnames[len(kinds) : code.co_argcount]
    if len(names) != len(given) or not all(map(_has_own_tangent, given)):
        return None
    request = Request(made, "batched", names, False, (*kinds, *given), results=results)
    generator = Generator()
    return Run(generator.derivative(request), request in generator.alone)


def _has_own_tangent(kind: Kind) -> bool:
    """Whether a value of this kind has a tangent of the same kind."""
    return kind == Scalar("float") or (isinstance(kind, Array) and kind.dtype == "float64")


def _both_sweeps(made: FunctionType) -> FunctionType | None:
    """Both sweeps of a generated `fprop` as one function, which takes the cotangent as its last argument and
    returns the gradients.
    """
    source = read_source(made)
    *forward, inner, _ = source.tree.body
    if not isinstance(inner, gast.FunctionDef) or find_nodes(inner, gast.Nonlocal, gast.FunctionDef)[1:]:
        return None
    name = f"{made.__name__}_sweeps"
    both = [*parameters(source.tree), *parameters(inner)]
    new = function(name, gast.arguments(both, [], None, [], [], None, []), [*forward, *inner.body])
    text, _ = to_source_with_places(new)
    return make_function(text, name, source.scope, {}, like=made)
