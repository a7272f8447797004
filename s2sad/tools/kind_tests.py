"""Tests of the kinds of arguments, as text: `type(x) is np.ndarray and x.ndim == 2`.

Contract: the expression is true only for values of the kind (`kinds.abstraction.contains`). It reads `np`,
builtins and the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kinds.lattice import (
    LARGE,
    OF_TYPES,
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    Literal,
    Nothing,
    Record,
    Scalar,
    Sym,
    Text,
    Tuple,
)
from ..transforms.errors import UnsupportedSyntaxError
from .literals import literal

__all__ = ["described", "kind_tests_of", "without_lengths", "without_minima"]


def kind_tests_of(
    names: tuple[str, ...], kinds: tuple[Kind, ...], written: Callable[[type], str | None]
) -> list[str]:
    """The tests that values of parameters of these names must pass, each an expression. `written` gives the
    name of a class, where it has one; others are told by their own names.
    """
    writer = _Tests(written)
    return [test for name, kind in zip(names, kinds, strict=True) for test in writer.of(kind, name)]


@dataclass
class _Tests:
    written: Callable[[type], str | None]
    lengths: dict[str, str] = field(default_factory=dict)  # the expressions of lengths with names

    def of(self, kind: Kind, x: str) -> Iterator[str]:
        """The tests of an expression."""
        match kind:
            case Scalar(dtype, None):
                types = [t for t, k in OF_TYPES.items() if k is kind]
                if not types:
                    raise _refused(x, f"a number of dtype {dtype}")
                shown = ", ".join(dict.fromkeys(map(_type_name, types)))
                yield f"type({x}) in ({shown})" if "," in shown else f"type({x}) is {shown}"
            case Array(dtype, dims):
                yield f"type({x}) is np.ndarray"
                if dtype is not None:
                    yield f"{x}.dtype == {dtype!r}"
                if dims is not None:
                    yield f"{x}.ndim == {len(dims)}"
                    for axis, dim in enumerate(dims):
                        yield from self.of_length(dim, f"{x}.shape[{axis}]")
            case Literal(value):
                shown_value = literal(value)
                if shown_value is None:
                    raise _refused(x, repr(value))
                if value is None or value is ... or type(value) is bool:
                    yield f"{x} is {shown_value}"
                else:
                    yield f"type({x}) is {type(value).__name__} and {x} == {shown_value}"
            case Text():
                yield f"type({x}) is str"
            case Tuple(items, cls):
                yield f"isinstance({x}, tuple)" if cls is None else self.of_class(cls, x)
                yield f"len({x}) == {len(items)}"
                for k, item in enumerate(items):
                    yield from self.of(item, f"{x}[{k}]")
            case List(None, Nothing()):
                yield f"type({x}) is list and not {x}"
            case List(None, element):
                yield f"type({x}) is list"
                each = " and ".join(_Tests(self.written).of(element, "v"))
                if each:
                    yield f"all({each} for v in {x})"
            case List(items):
                yield f"type({x}) is list and len({x}) == {len(items or ())}"
                for k, item in enumerate(items or ()):
                    yield from self.of(item, f"{x}[{k}]")
            case Dict(pairs):
                yield f"type({x}) is dict and list({x}) == {[k for k, _ in pairs]!r}"
                for key, item in pairs:
                    yield from self.of(item, f"{x}[{key!r}]")
            case Record(cls, pairs):
                yield self.of_class(cls, x)
                if hasattr(cls, "__dict__") and not hasattr(cls, "__slots__"):
                    yield f"sorted(vars({x})) == {[k for k, _ in pairs]!r}"
                for key, item in pairs:
                    yield from self.of(item, f"{x}.{key}")
            case _ if kind is not UNKNOWN:
                raise _refused(x, f"of kind {type(kind).__name__}")

    def of_class(self, cls: type, x: str) -> str:
        name = self.written(cls)
        return f"type({x}) is {name}" if name else f"type({x}).__name__ == {cls.__name__!r}"

    def of_length(self, dim: Any, n: str) -> Iterator[str]:
        if dim == 1:
            yield f"{n} == 1"
        if not isinstance(dim, Sym):
            return
        if dim.number is not None:
            yield f"{n} == {max(0, dim.number + dim.offset)}"
            return
        known = self.lengths.setdefault(dim.name, n) if dim.offset == 0 else n
        if known is not n:
            yield f"{n} == {known}"
        elif dim.large:
            yield f"{n} >= {LARGE}"
        elif dim.not_one:
            yield f"{n} != 1"


def _type_name(t: type) -> str:
    """The expression for a type of numbers."""
    name = t.__name__ if t.__module__ == "builtins" else f"np.{np.dtype(t).name}"
    return "np.bool_" if name == "np.bool" else name


def _refused(x: str, what: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"`{x}` is {what}: an exported derivative cannot test that",
        instead="give an example of numbers, arrays and containers of them, or none",
    )


def without_lengths(kind: Kind) -> Kind:
    """The kind with arrays of any lengths."""
    return _relaxed(kind, lambda dim: None)


def without_minima(kind: Kind) -> Kind:
    """The kind without the information that axes are long."""
    return _relaxed(kind, lambda dim: Sym(dim.name, dim.offset, dim.not_one) if isinstance(dim, Sym) else dim)


def _relaxed(kind: Kind, change: Callable[[Any], Any]) -> Kind:
    def again(k: Kind) -> Kind:
        return _relaxed(k, change)

    match kind:
        case Array(dtype, dims):
            return Array(dtype, None if dims is None else tuple(map(change, dims)))
        case Tuple(items, cls):
            return Tuple(tuple(map(again, items)), cls)
        case List(items, element):
            return List(None if items is None else tuple(map(again, items)), again(element))
        case Dict(pairs):
            return Dict(tuple((k, again(v)) for k, v in pairs))
        case Record(cls, pairs):
            return Record(cls, tuple((k, again(v)) for k, v in pairs))
    return kind


def described(kind: Kind, written: Callable[[type], str | None] = lambda cls: None) -> str:
    """A kind as people say it: `a float`, `a float64 array of 2 axes`; a class that is `written` out is one
    of the module's own.
    """
    match kind:
        case Scalar(dtype):
            return f"a {dtype}" if dtype[0] not in "iu" else f"an {dtype}"
        case Array(dtype, dims):
            axes = "" if dims is None else f" of {len(dims)} {'axis' if len(dims) == 1 else 'axes'}"
            return f"a {dtype} array{axes}"
        case Literal(value):
            return repr(value)
        case Text():
            return "a str"
        case Tuple(items, None):
            return f"a tuple of {len(items)}"
        case Tuple(cls=cls) | Record(cls=cls) if cls is not None:
            name = written(cls)
            return f"a {name} of this module" if name else f"a {cls.__name__}"
        case List():
            return "a list"
        case Dict(pairs):
            return f"a dict with {', '.join(repr(k) for k, _ in pairs)}"
    return "anything"
