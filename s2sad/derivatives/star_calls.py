"""Dynamic calls with star arguments: those of the callable, whose arguments are in tuples and mappings.

Contract: `STAR_CALLS` are entries of `CALLED`, for the functions that such calls are lowered to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, chain, pairwise
from typing import Any

from ..source.fixed_arity import call_method, call_star, joined
from .closure_conversion import Layout, Lifted, lift

__all__ = ["STAR_CALLS", "layouts_at"]


def layouts_at(call: Lifted, start: int, stop: int) -> tuple[Layout, ...]:
    """The layouts of the arguments at these positions."""
    return tuple(call.arguments.get(k) for k in range(start, stop))


def _lift_star(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """`call_star(f, parts, *mappings)`, which is `f(*p, ..., **m, ...)`."""
    f, parts, *mappings = args
    return _star(f, 1, parts, mappings)


def _lift_method(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Lifted:
    """`call_method(owner, name, parts, *mappings)`, which is `owner.name(*p, ..., **m, ...)`."""
    owner, name, parts, *mappings = args
    return _star(getattr(owner, name), 2, parts, mappings)


def _star(f: Any, count: int, parts: tuple[tuple[Any, ...], ...], mappings: list[Any]) -> Lifted:
    """The call in which the first of `count` arguments is the callable, or its owner."""
    call = lift(f, tuple(chain.from_iterable(parts)), joined(f, mappings))
    ends = list(accumulate(map(len, parts), initial=0))
    placed = tuple(layouts_at(call, start, stop) for start, stop in pairwise(ends))
    named = [{k: call.arguments.get(k) for k in m} for m in mappings]
    arguments: dict[int | str, Any] = dict(enumerate([call.own, *[None] * (count - 1), placed, *named]))
    return replace(call, own=None, arguments=arguments)


STAR_CALLS = {call_star: _lift_star, call_method: _lift_method}
