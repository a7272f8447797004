"""Tests of the kinds of arguments, as text: `type(x) is np.ndarray and x.ndim == 2`.

Contract: the expression is true only for values of the kind (`kinds.abstraction.contains`). It reads `np`,
builtins and the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kinds.lattice import (
    INTEGERS,
    LARGE,
    OF_TYPES,
    REALS,
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

__all__ = [
    "described",
    "has_order",
    "in_order",
    "kind_tests_of",
    "reordered",
    "with_numbers",
    "without_lengths",
    "without_minima",
]

JOINED = {"integer": INTEGERS, "real": REALS}  # the dtypes of numbers that one kind stands for


def kind_tests_of(
    names: tuple[str, ...],
    kinds: tuple[Kind, ...],
    written: Callable[[type], str | None],
    any_order: Collection[int] = (),
) -> list[str]:
    """The tests that values of parameters of these names must pass, each an expression. `written` gives the
    name of a class, where it has one; others are told by their own names. The keys of dicts in the parameters
    `any_order` come in any order.
    """
    writer = _Tests(written)
    found: list[str] = []
    for k, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        writer.any_order = k in any_order
        found += writer.of(kind, name)
    return found


@dataclass
class _Tests:
    written: Callable[[type], str | None]
    any_order: bool = False
    lengths: dict[str, str] = field(default_factory=dict)  # the expressions of lengths with names

    def of(self, kind: Kind, x: str) -> Iterator[str]:
        """The tests of an expression."""
        match kind:
            case Scalar(dtype, None):
                dtypes = JOINED.get(dtype, (dtype,))
                types = [t for t, k in OF_TYPES.items() if isinstance(k, Scalar) and k.dtype in dtypes]
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
                each = " and ".join(_Tests(self.written, self.any_order).of(element, "v"))
                if each:
                    yield f"all({each} for v in {x})"
            case List(items):
                yield f"type({x}) is list and len({x}) == {len(items or ())}"
                for k, item in enumerate(items or ()):
                    yield from self.of(item, f"{x}[{k}]")
            case Dict(pairs):
                keys = [k for k, _ in pairs]
                shown = f"list({x}) == {keys!r}"
                if self.any_order and has_order(kind):
                    shown = f"{x}.keys() == {{{', '.join(map(repr, keys))}}}"
                yield f"type({x}) is dict and {shown}"
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
    def of_lengths(k: Kind) -> Kind:
        if isinstance(k, Array) and k.dims is not None:
            return Array(k.dtype, tuple(map(change, k.dims)))
        return k

    return _changed(kind, of_lengths)


def with_numbers(kind: Kind, dtype: str) -> Kind:
    """The kind with Python's numbers as ones of this dtype, "real" or "integer", where these include them."""
    wider = [Scalar(name) for name in ("int", "float") if name in JOINED[dtype]]
    return _changed(kind, lambda k: Scalar(dtype) if k in wider else k)


def reordered(kind: Kind, turned: bool) -> Kind:
    """The kind with the keys of dicts in another order: backwards, or turned round by one."""

    def other(k: Kind) -> Kind:
        if not isinstance(k, Dict):
            return k
        return Dict((*k.items[1:], *k.items[:1]) if turned else k.items[::-1])

    return _changed(kind, other)


def has_order(kind: Kind) -> bool:
    """Whether a kind has a dict of several keys somewhere."""
    return any(reordered(kind, turned) is not kind for turned in (False, True))


def in_order(kind: Kind, dx: str, x: str, names: tuple[str, str, str] = ("k", "dv", "v")) -> str | None:
    """The expression, with these variables, for an adjoint `dx` with its keys in the order of those of
    `x`, which has this kind; None where there is none.

    >>> number = Scalar("float")
    >>> in_order(Tuple((number, Dict((("a", number), ("b", number))))), "dx", "x")
    '(dx[0], {k: dx[1][k] for k in x[1]})'
    """
    if not has_order(kind):
        return dx
    key, dv, v = names
    match kind:
        case Tuple(items, None) | List(tuple(items)):
            parts = [in_order(item, f"{dx}[{i}]", f"{x}[{i}]", names) for i, item in enumerate(items)]
            start, end = "[]" if isinstance(kind, List) else ("(", ",)" if len(items) == 1 else ")")
            return None if None in parts else f"{start}{', '.join(map(str, parts))}{end}"
        case List(None, element):
            part = in_order(element, dv, v, names)
            return None if part is None else f"[{part} for {dv}, {v} in zip({dx}, {x})]"
        case Dict(pairs):
            found = [(i, in_order(item, f"{dx}[{i!r}]", f"{x}[{i!r}]", names)) for i, item in pairs]
            if any(part is None for _, part in found):
                return None
            if any(has_order(item) for _, item in pairs):
                dx = f"{{{', '.join(f'{i!r}: {part}' for i, part in found)}}}"
            return f"{{{key}: {dx}[{key}] for {key} in {x}}}"
    return None


def _changed(kind: Kind, change: Callable[[Kind], Kind]) -> Kind:
    """The kind with what `change` gives for each part, and then for the whole."""

    def again(k: Kind) -> Kind:
        return _changed(k, change)

    match kind:
        case Tuple(items, cls):
            kind = Tuple(tuple(map(again, items)), cls)
        case List(items, element):
            kind = List(None if items is None else tuple(map(again, items)), again(element))
        case Dict(pairs):
            kind = Dict(tuple((k, again(v)) for k, v in pairs))
        case Record(cls, pairs):
            kind = Record(cls, tuple((k, again(v)) for k, v in pairs))
    return change(kind)


def described(
    kind: Kind, written: Callable[[type], str | None] = lambda cls: None, any_order: bool = True
) -> str:
    """A kind as people say it: `a float`, `a float64 array of 2 axes`; a class that is `written` out is one
    of the module's own.
    """
    match kind:
        case Scalar("real"):
            return "a real number"
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
            order = "" if any_order or len(pairs) < 2 else " in this order"
            return f"a dict with {', '.join(repr(k) for k, _ in pairs)}{order}"
    return "anything"
