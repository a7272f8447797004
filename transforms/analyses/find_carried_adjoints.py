"""The variables with an adjoint at the start of a loop's iteration, predicted before the body is
differentiated.

Form: the single-assignment form. Walks backwards over the body until the set stays the same. A rule may leave
out a contribution that is predicted here, so the set of the differentiated body decides in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from ..trees.nodes import assigned_names, blocks_of, names_read, target_names
from .find_active import loop_elements
from .liveness import ends_in_raise

__all__ = ["find_carried_adjoints"]

Sources = Callable[[Any], list[str]]


def find_carried_adjoints(s: Any, having: Iterable[str], assigned: set[str], sources: Sources) -> list[str]:
    """The names `assigned` in the loop `s` with an adjoint where an iteration begins, in the order in which
    they get it, given the names with an adjoint after the loop; `sources(value)` are the names that receive
    the adjoint of a value.
    """
    outside = [n for n in having if n not in assigned]
    carried = [n for n in having if n in assigned]
    while True:
        found = dict.fromkeys([*outside, *carried])
        _iteration(s, found, sources)
        more = [n for n in found if n in assigned and n not in carried]
        if not more:
            return carried
        carried += more


def _iteration(s: Any, having: dict[str, None], sources: Sources) -> None:
    """Changes `having` from the names with an adjoint after an iteration to those before it."""
    _block(s.body, having, sources)
    if isinstance(s, gast.For):
        for target, source in loop_elements(s):
            _move(target_names(target), names_read(source), having)


def _block(statements: list[Any], having: dict[str, None], sources: Sources) -> None:
    for s in reversed(statements):
        match s:
            case gast.Assign(targets=[gast.Name() | gast.Tuple() as target]):
                names = target_names(target)
                if not having.keys().isdisjoint(names):
                    _move(names, sources(s.value), having)
            case gast.Assign(targets=[target]) | gast.AugAssign(target=target):
                if not having.keys().isdisjoint(names_read(target)):
                    having.update(dict.fromkeys(sources(s.value)))
            case gast.Expr(value=gast.Call()):
                if not having.keys().isdisjoint(names_read(s.value)):
                    having.update(dict.fromkeys(names_read(s.value)))
            case gast.For() | gast.While():
                assigned = set(assigned_names(s))
                carried = find_carried_adjoints(s, having, assigned, sources)
                _iteration(s, having, sources)
                having.update(dict.fromkeys(carried))
            case gast.If() | gast.With() | gast.Try():
                paths = blocks_of(s)
                if isinstance(s, gast.Try):
                    _block(s.finalbody, having, sources)
                    paths = [[*s.body, *s.orelse], *(h.body for h in s.handlers if not ends_in_raise(h.body))]
                arms = [dict(having) for _ in paths]
                for block, arm in zip(paths, arms, strict=True):
                    _block(block, arm, sources)
                for name in assigned_names(s):
                    if all(name not in arm for arm in arms):
                        having.pop(name, None)
                for arm in arms:
                    having.update(arm)
            case gast.FunctionDef(name=name):
                if name in having:
                    _move([name], names_read(s), having)


def _move(targets: list[str], sources: Iterable[str], having: dict[str, None]) -> None:
    """Moves the adjoints of `targets`, if any, to `sources`."""
    if not having.keys().isdisjoint(targets):
        for name in targets:
            having.pop(name, None)
        having.update(dict.fromkeys(sources))
