"""`functools.partial`: the adjoint and the tangent of what it makes hold those of the function, of a tuple of
its arguments, and of a dict of its keywords.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import functools
from typing import Any

from ..primitives.record import bprop
from ..runtime.adjoints import zeros_like


def parts_of_partial(d: Any, func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The adjoints of a function, arguments and keywords, from that of the partial function of them (None
    when it is never called).
    """
    dfunc, dargs, dkeywords = d if isinstance(d, tuple) else (None, None, None)
    dargs, dkeywords = dargs or (None,) * (_count(func) + len(args)), dkeywords or {}
    if isinstance(func, functools.partial):  # the arguments of a partial function of one are put together
        known = {k: None if k in keywords else dkeywords.get(k) for k in func.keywords}
        dfunc = dfunc, dargs[: len(func.args)], known
    given = [_or_zero(dx, x) for dx, x in zip(dargs[_count(func) :], args, strict=True)]
    return dfunc, tuple(given), {k: _or_zero(dkeywords.get(k), x) for k, x in keywords.items()}


def partial_of_parts(dfunc: Any, dargs: tuple[Any, ...], dkeywords: dict[str, Any], func: Any) -> Any:
    """The tangent of a partial function, from those of its parts: the transpose of `parts_of_partial`."""
    dargs, dkeywords = dargs or (), dkeywords or {}
    if not isinstance(func, functools.partial):
        return dfunc, dargs, dkeywords
    inner, first, named = (None, None, None) if dfunc is None else dfunc
    known = {**dict.fromkeys(func.keywords), **(named or {}), **dkeywords}
    return inner, (*(first or (None,) * _count(func)), *dargs), known


def _count(func: Any) -> int:
    return len(func.args) if isinstance(func, functools.partial) else 0


def _or_zero(dx: Any, x: Any) -> Any:
    return zeros_like(x) if dx is None else dx


PARTS = (None, (1.5,), {"k": 2.5}), abs, (0.5,), {"k": 0.7}


@bprop(parts_of_partial, "linear", samples=[PARTS])
def parts_of_partial_(d, func, args, keywords, out, dout):
    return partial_of_parts(dout[0], dout[1], dout[2], func), None, None, None


@bprop(partial_of_parts, "linear", samples=[(None, (1.5,), {"k": 2.5}, abs)])
def partial_of_parts_(dfunc, dargs, dkeywords, func, out, dout):
    ddfunc, ddargs, ddkeywords = parts_of_partial(dout, func, dargs, dkeywords)
    return ddfunc, ddargs, ddkeywords, None


@bprop(functools.partial, samples=[(abs,)])
def partial(func, *args, out, dout, **keywords):
    dfunc, dargs, dkeywords = parts_of_partial(dout, func, args, keywords)
    return dfunc, dargs, dkeywords


@partial.jvp
def partial_jvp(func, *args, out, dfunc, dargs, dkeywords, **keywords):
    return partial_of_parts(dfunc, dargs, dkeywords, func)
