"""Tests that kinds answer: what they say is what Python says, of whatever value of the kind."""

from __future__ import annotations

import collections
import collections.abc
import numbers
import operator
from collections import OrderedDict, namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2sad
from s2sad.kinds.abstraction import kind_of
from s2sad.kinds.lattice import Literal, Tuple
from s2sad.kinds.result_kinds import call_kind
from s2sad.primitives.record import is_pure
from s2sad.transforms.trees.helpers import is_among, is_not_among

# mypy: allow-untyped-defs


class Plain:
    shared = 1

    def __init__(self, scale):
        self.scale = scale

    def method(self):
        return self.scale

    @property
    def failing(self):
        raise AttributeError("failing")


class Answering(Plain):
    def __getattr__(self, name):
        return 1.0


class Pair(NamedTuple):
    first: Any
    second: Any


class AsksItself(type):
    def __instancecheck__(cls, instance):
        return True


class Everything(metaclass=AsksItself):
    pass


VALUES = [
    *(1.0, np.float64(1.0), 2, np.int64(2), np.longlong(2), True, np.True_, 1j, np.complex128(1j)),
    *(np.float32(1), np.ones(3), np.ones((2, 1)), np.array(1.0), np.ones(2, dtype=complex)),
    *(np.ones(2, dtype=np.float32), None, "text", "x" * 50, (1.0, 2.0), (), [1.0], [], {"a": 1.0}, {}),
    *({1, 2}, frozenset(), OrderedDict(a=1.0)),
    *(Plain(1.0), Answering(1.0), Pair(1.0, 2.0), np.linalg.eigh(np.eye(2)), np.sum, len, np, Plain, float),
    *(..., np.dtype(float), slice(1), lambda v: v),
]
CLASSES: list[Any] = [
    *(float, int, complex, bool, str, list, tuple, dict, set, object, type(None), type, np.ndarray),
    *(np.generic, np.number, np.floating, np.integer, np.float64, np.float32, np.int64, np.longlong),
    *(np.bool_, np.dtype, numbers.Number, numbers.Real, numbers.Integral, Plain),
    *(np.complexfloating, OrderedDict, Pair, Answering, collections.abc.Iterable),
    *(collections.abc.Sequence, collections.abc.Sized, collections.abc.Mapping, Everything),
    *(collections.abc.Callable, collections.abc.Hashable),
    *(namedtuple("Other", "a"), (list, tuple), (float, int, np.floating), int | float),
]
NAMES = (
    *("unit", "name", "iloc", "shape", "dtype", "T", "ndim", "__len__", "__iter__", "__call__", "mro"),
    *("__name__", "scale", "shared", "method", "failing", "append", "keys", "first", "real", "item"),
    *("eigenvalues", "__dict__", "__array__", "__class__", "_fields", "count", "is_integer"),
    "__array_interface__",
)


def check(function: Any, value: Any, *others: Any) -> bool:
    """Whether the kinds tell the answer, which is the right one then."""
    found = call_kind(function, [kind_of(value, "x"), *map(literal, others)], {}, is_pure)
    if not isinstance(found, Literal):
        return False
    assert found.value is bool(function(value, *others)), (function, value, others)
    return True


def literal(value: Any) -> Any:
    return Tuple(tuple(map(literal, value))) if isinstance(value, tuple) else Literal(value)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{type(v).__name__}-{v}"[:30])
def test_answers(value: Any) -> None:
    for cls in CLASSES:
        check(isinstance, value, cls)
    for name in NAMES:
        check(hasattr, value, name)
    for function in (callable, np.isscalar):
        check(function, value)
    if isinstance(value, np.ndarray):
        assert check(np.iscomplexobj, value)
        assert check(np.isrealobj, value)
    made = call_kind(type, [kind_of(value, "x")], {}, is_pure)
    assert not isinstance(made, Literal) or made.value is type(value)


def test_comparisons() -> None:
    constants = [0, 1, True, None, "a", "ab", "", float, int, np.ndarray]
    for a in constants:
        for b in constants:
            for function in (operator.eq, operator.ne, operator.is_, operator.is_not):
                found = call_kind(function, [Literal(a), Literal(b)], {}, is_pure)
                assert not isinstance(found, Literal) or found.value is function(a, b)
            for function in (is_among, is_not_among):
                for items in ((b,), (b, "a"), (b, 1, 2), ()):
                    found = call_kind(function, [Literal(a), literal(items)], {}, is_pure)
                    assert not isinstance(found, Literal) or found.value is function(a, items)
    assert call_kind(operator.lt, [Literal(1), Literal(2)], {}, is_pure) == Literal(True)
    assert call_kind(is_not_among, [Literal("a"), literal(("a", "b"))], {}, is_pure) == Literal(False)


def asks(x, scale=None, method="sum"):
    if hasattr(x, "unit") or isinstance(x, (list, tuple)):
        return unreadable(x)
    if np.isscalar(x) or np.ndim(x) == 0 or type(x) is not np.ndarray:
        return unreadable(x)
    if len(np.shape(x)) > 1 or x.dtype.kind not in "fc" or callable(x):
        return unreadable(x)
    if isinstance(x, numbers.Number) or not isinstance(x, collections.abc.Iterable):
        return unreadable(x)
    if method not in ("sum", "mean"):
        raise ValueError(method)
    if scale is not None:
        x = unreadable(x)
    return np.sum(x**2)


def unreadable(x):
    raise AssertionError


def test_arms_that_kinds_rule_out_are_not_read() -> None:
    x = np.array([1.0, 2.0])
    assert s2sad.grad(asks).source_for(x) == (
        'def asks_grad(x, scale=None, method="sum"):\n'
        "    # return np.sum(x**2)\n    dx = 2.0 * x\n    return dx\n"
    )
    with pytest.raises(AssertionError):
        s2sad.grad(asks)(np.ones((2, 2)))


def test_numbers_are_told_apart_where_they_differ() -> None:
    def f(x):
        return x * 2.0 if isinstance(x, np.floating) else x * 3.0

    gradient = s2sad.grad(f)
    assert (gradient(1.0), gradient(np.float64(1.0)), gradient(np.float32(1.0))) == (3.0, 2.0, 2.0)
