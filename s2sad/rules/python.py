"""Python's builtins and the comparisons among its operators (arithmetic operators are with NumPy's, in
`arithmetic`).

Not here, because the transforms treat them as part of the program's structure: `list`, `tuple`, `dict`,
`set`, `zip`, `enumerate`, `reversed`, `sorted`, `map`, `filter`, `iter`, `next`, `setattr` and
the methods of containers.
"""
# mypy: allow-untyped-defs
from __future__ import annotations

import bisect
import builtins
import heapq
import logging
import operator
import os
import random
import time
import warnings
from collections import OrderedDict, deque

import numpy as np

from ..primitives.record import bprop, declare, displays, nondifferentiable
from ..runtime.adjoints import unbroadcast
from ..runtime.builtin_reductions import (
    extremal,
    extremum_adjoint,
    extremum_tangent,
    gather,
    how_many,
    spread,
)
from .choices import where_each
from .samples import A, given


# What these return is of another type than their argument may be, so they say `unbroadcast` themselves.
@bprop(float, "linear", samples=[(1.5,), given(A()), given(A(dtype="float32"))])
def float_(x, out, dout):
    return (unbroadcast(dout, x),)


@bprop(complex, "linear", samples=[(1.5,), (1.5, -0.5), (1 + 2j,), (1 + 2j, 0.5 - 1j)])
def complex_(real, imag=0, *, out, dout):
    return unbroadcast(dout, real), unbroadcast(1j * dout, imag)


@bprop(sum, sharing="unknown", samples=[
    ([1.0, 2.5, -1.0],), ((1.0, 2.0), 3.0), given([A(3), A(3), A(2, 3)]), given(A(4)), given(A(4, 3)),
    given([1.0, A(2, dtype="float32"), 2])])
def sum_(xs, start=0, *, out, dout):
    return spread(dout, xs), unbroadcast(dout, start)


@sum_.for_rows(list)
def sum_of_floats(xs, start=0, *, out, dout):
    return [dout] * len(xs), dout


@sum_.jvp
def sum_jvp(out, dxs, dstart):
    return gather(dxs, out) + dstart


def extremum(*operands, out, dout):
    return (extremum_adjoint(dout, operands, out),)


def extremum_jvp(*operands, out, doperands):
    return extremum_tangent(doperands, operands, out)


def extremum_of_numbers(*operands, out, dout):
    chosen = extremal(operands, out)
    return (where_each(chosen, dout / how_many(chosen), operands),)


# Which of two is returned where one is NaN is the first.
def max_of_two(x, y, out, dout):
    share = dout * np.where(x == y, 0.5, 1.0)
    return np.where(y > x, 0, share), np.where(y >= x, share, 0)


def min_of_two(x, y, out, dout):
    share = dout * np.where(x == y, 0.5, 1.0)
    return np.where(y < x, 0, share), np.where(y <= x, share, 0)


for _function in (max, min):
    _rule = bprop(_function, sharing="unknown", slope="finite", samples=[
        (1.5, 2.5), (2.0, 1.0, 3.0, 2.5), ([1.0, -2.0, 0.5],), ((1.0, 2.0, 3),), (2, 3.5), given(A(5)),
    ])(extremum)
    _rule = _rule.jvp(extremum_jvp)
    _rule = _rule.for_ranks(0, 0)(max_of_two if _function is max else min_of_two)
    _rule = _rule.for_ranks(0, ...)(extremum_of_numbers)


nondifferentiable([
    int, bool, str, repr, bytes, range, slice, isinstance, issubclass, callable, hasattr, type, id,
    hash, chr, ord, format, hex, bin, oct, ascii, all, any, round, operator.lt, operator.le, operator.eq,
    operator.ne, operator.gt, operator.ge, operator.is_, operator.is_not, operator.not_, operator.truth,
    operator.contains, operator.and_, operator.or_, operator.xor, operator.invert, operator.inv,
    operator.lshift,
    operator.rshift, operator.floordiv, operator.index, operator.countOf, operator.indexOf,
    operator.length_hint,
])
nondifferentiable(vars(cls)[name] for cls in (str, bytes) for name in vars(cls) if not name.startswith("_"))
nondifferentiable([len], shape_only=(0,))
nondifferentiable([extremal, how_many])
nondifferentiable([list.index, list.count, tuple.index, tuple.count])
nondifferentiable([getattr(cls, name) for cls in (set, frozenset) for name in (
    "copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference",
    "union",
)], pure=False, sharing="unknown")
nondifferentiable([bisect.bisect_left, bisect.bisect_right])
nondifferentiable([
    operator.ifloordiv, operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
], pure=False, writes=(0,), sharing="unknown")
nondifferentiable([print, input, open, builtins.breakpoint], pure=False)
nondifferentiable([warnings.warn], pure=False)
nondifferentiable([
    getattr(time, name) for name in (
        "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns",
        "sleep", "strftime", "thread_time", "thread_time_ns", "time", "time_ns")
], pure=False)
nondifferentiable([
    getattr(os.path, name) for name in (
        "abspath", "basename", "dirname", "exists", "expanduser", "isdir", "isfile", "join", "splitext")
], pure=False)
nondifferentiable([
    getattr(source, name) for source in (logging, logging.Logger)
    for name in ("debug", "info", "warning", "error", "critical", "exception", "log")
], pure=False)
displays(["json", "logging", "matplotlib", "mpl_toolkits", "pprint", "reprlib", "seaborn"])

declare([
    setattr, delattr, operator.setitem, operator.delitem, operator.iconcat, bisect.insort, bisect.insort_left,
    heapq.heapify, heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace, random.shuffle,
    np.random.shuffle,
], writes=(0,))

# Methods that change their object.
_CHANGING = """
    fill itemset partition put resize setfield setflags sort byteswap append clear extend insert pop remove
    reverse popitem setdefault update add discard difference_update intersection_update appendleft extendleft
    popleft symmetric_difference_update __setitem__ __delitem__ __iadd__ __isub__ __imul__ __itruediv__
    __ifloordiv__ __imod__ __ipow__ __imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__
    """
_CLASSES = (np.ndarray, list, dict, set, deque, OrderedDict, bytearray)
declare([vars(cls)[name] for cls in _CLASSES for name in _CHANGING.split() if name in vars(cls)], writes=(0,))
