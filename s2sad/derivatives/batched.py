"""Many directions in one run: the code of a `jvp` for many tangents, and of a `vjp` for many cotangents."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast
import numpy as np

from ..kinds.abstraction import kinds_of
from ..kinds.lattice import Array, Kind, Scalar
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

__all__ = ["columns_at_once", "rows_at_once"]

FEWEST = 8  # directions that are worth the code for many
BYTES = 2**26  # of the largest array that a function reads, times the directions of one run


@dataclass
class Run:
    """The code for many directions, and whether a run of it changes nothing else."""

    function: FunctionType
    is_alone: bool


_made: WeakKeyDictionary[FunctionType, Run | None] = WeakKeyDictionary()


def columns_at_once(
    inner: Derivative, args: tuple[Any, ...], keywords: dict[str, Any], chosen: Any, is_several: bool
) -> tuple[Any, Any, list[Any]] | None:
    """The columns of a Jacobian by the argument `chosen`, or the tuple of `is_several`, along a first axis,
    with the value and what else the function returned, from runs that take many directions; None where there
    are few, or where the code of `inner`, a `jvp`, can't be written for many.
    """
    xs = chosen if is_several else (chosen,)
    if not all(map(_is_plain, xs)) or inner.options.compile is not None:
        return None
    sizes = [math.prod(np.shape(x)) for x in xs]
    if sum(sizes) < FEWEST:
        return None
    tangents = tuple(np.zeros(np.shape(x)) if np.shape(x) else 0.0 for x in xs)
    primals, _, taken = inner.split((*args, *tangents), keywords)
    if len(taken) != len(xs):
        return None
    made = inner.function_of(primals, taken)
    kinds = inner.current().kinds(primals, inner.exact_lengths)
    results = (False, True, *[False] * inner.has_aux)
    run = _run_of(made, lambda: _batched(made, kinds, [kinds[k] for k in taken], results))
    found = None if run is None else _columns(run, inner.primal, primals, xs, sizes)
    if found is None:
        _made[made] = None
    return found


def _columns(
    run: Run, f: Any, primals: tuple[Any, ...], xs: tuple[Any, ...], sizes: list[int]
) -> tuple[Any, Any, list[Any]] | None:
    before = None if run.is_alone else Before(f, *primals)
    if before is not None and not before.can_undo:
        return None
    columns: list[Any] = []
    met = refusals.last
    out, aux = None, list[Any]()
    try:
        for directions in _directions(xs, sizes, _width(f, primals)):
            with nullcontext() if before is None or not columns else before.again():
                out, dout, *aux = run.function(*primals, *directions)
            if not _is_plain(out) or np.shape(dout) != (len(directions[0]), *np.shape(out)):
                raise ValueError("a value of another form")
            columns.append(dout)
    except Exception:  # where it is the function's own, the run for one direction raises it as well
        refusals.last = met
        if before is not None:
            before.undo()
        return None
    return columns[0] if len(columns) == 1 else np.concatenate(columns), out, aux


def rows_at_once(
    inner: Derivative,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    chosen: Any,
    is_several: bool,
    out: Any,
) -> tuple[Any, ...] | None:
    """The rows of a Jacobian along a first axis, for each argument, from runs that take many cotangents of
    the result `out`; None as for `columns_at_once`.
    """
    xs = chosen if is_several else (chosen,)
    if not all(map(_is_plain, [*xs, out])) or inner.options.compile is not None:
        return None
    size = math.prod(np.shape(out))
    if size < FEWEST:
        return None
    primals = inner.bind(args, keywords)
    made = inner.function_of(primals)
    kinds = inner.current().kinds(primals, inner.exact_lengths)
    results = None if inner.options.is_bare else (True,) * len(xs)

    def make() -> Run | None:
        flat = _pullback(made)
        return None if flat is None else _batched(flat, kinds, kinds_of((out,), ("dout",)), results)

    run = _run_of(made, make)
    if run is None or not run.is_alone:
        return None
    met, rows = refusals.last, []
    try:
        for cotangents in _directions((out,), [size], _width(inner.primal, primals)):
            found = run.function(*primals, *cotangents)
            rows.append(found if isinstance(found, tuple) else (found,))
            for part, x in zip(rows[-1], xs, strict=True):
                if np.shape(part) != (len(cotangents[0]), *np.shape(x)):
                    raise ValueError("a gradient of another form")
    except Exception:  # where it is the function's own, the run for one direction raises it as well
        refusals.last, _made[made] = met, None
        return None
    return rows[0] if len(rows) == 1 else tuple(map(np.concatenate, zip(*rows, strict=True)))


def _is_plain(x: Any) -> bool:
    return type(x) is float or type(x) is np.float64 or (type(x) is np.ndarray and x.dtype == np.float64)


def _width(f: Any, values: tuple[Any, ...]) -> int:
    """How many directions one run takes, so that arrays like the largest argument, or the largest one that a
    function captures, stay small.
    """
    captured = inspect.getclosurevars(f).nonlocals.values() if isinstance(f, FunctionType) else ()
    largest = max(np.size(x) for x in (*values, *captured) if isinstance(x, (np.ndarray, float)))
    return max(FEWEST, BYTES // (8 * largest))


def _directions(xs: tuple[Any, ...], sizes: list[int], step: int) -> Iterator[tuple[Any, ...]]:
    """The directions along each number, as tangents of all arguments with an axis in front."""
    total = sum(sizes)
    for first in range(0, total, step):
        count, start, stacks = min(step, total - first), 0, []
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


def _pullback(made: FunctionType) -> FunctionType | None:
    """Both sweeps of a generated `fprop` as one function, which takes the cotangent as its last argument and
    returns the gradients.
    """
    source = read_source(made)
    *forward, inner, _ = source.tree.body
    if not isinstance(inner, gast.FunctionDef) or find_nodes(inner, gast.Nonlocal, gast.FunctionDef)[1:]:
        return None
    name = f"{made.__name__}_pullback"
    both = [*parameters(source.tree), *parameters(inner)]
    new = function(name, gast.arguments(both, [], None, [], [], None, []), [*forward, *inner.body])
    text, _ = to_source_with_places(new)
    return make_function(text, name, source.scope, {}, like=made)
