"""Forward mode of `for`: a loop over a sequence that carries a derivative also runs over its tangent."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_active import loop_elements
from ..trees.nodes import assign, call, load, located, names_read, store, target_names, tuple_of, walk
from ..trees.rebuild import rebuilt, substitute
from .forward_rules import TangentEmitter

__all__ = ["forward_loop"]


def forward_loop(forward: TangentEmitter, s: Any) -> list[Any]:
    """The loop over values and tangents. An inactive sequence gives zero tangents, which the body may
    change.
    """
    target, iterable = s.target, s.iter
    started = {
        n
        for part, source in loop_elements(s)
        if not any(r in forward.active for r in names_read(source))
        for n in target_names(part)
    }
    if forward.active & (set(target_names(s.target)) - started):
        target, iterable = _zipped(forward, s) if _is_partly_active(forward, s) else _twin(forward, s)
    zeros = [assign(forward.tangent_name(n), forward.zero(n), s) for n in sorted(forward.active & started)]
    body = [*zeros, *forward.block(s.body)]
    return [located(gast.For(target=target, iter=iterable, body=body, orelse=[], type_comment=None), s)]


def _twin(forward: TangentEmitter, s: Any) -> tuple[Any, Any]:
    """The target and its tangent, as items of the iterable and of its tangent."""
    names = [n.id for n in walk(s.target) if isinstance(n, gast.Name)]
    target = substitute(s.target, {n: load(_tangent_name(forward, n)) for n in names})
    sources = s.iter.args if isinstance(s.iter, gast.Call) else [s.iter]
    twins = [_elements(forward, n) if forward.is_active(n) else n for n in sources]
    twin = rebuilt(s.iter, args=twins) if isinstance(s.iter, gast.Call) else twins[0]
    return tuple_of([s.target, target], gast.Store()), call(forward.bind("zip", zip), s.iter, twin)


def _elements(forward: TangentEmitter, source: Any) -> Any:
    """The tangents of the elements of an iterable; for one that may be a dict, its keys have none."""
    tangent = forward.tangent(source)
    is_known = forward.domain.item_nature(forward.kind(source)) != "unknown"
    return tangent if is_known else call(forward.helper("of_elements"), tangent, source)


def _tangent_name(forward: TangentEmitter, name: str) -> str:
    return forward.tangent_name(name) if name in forward.active else forward.names.fresh("_")


def _is_partly_active(forward: TangentEmitter, s: Any) -> bool:
    """Whether a loop iterates over a `zip` with an inactive operand."""
    is_zip = isinstance(s.iter, gast.Call) and forward.program.resolve(s.iter.func) is zip
    return is_zip and not all(map(forward.is_active, s.iter.args))


def _zipped(forward: TangentEmitter, s: Any) -> tuple[Any, Any]:
    """The target and iterable of a loop over a partly active `zip`; inactive operands, which may be
    iterators, are iterated over once.
    """
    places = [k for k, source in enumerate(s.iter.args) if forward.is_active(source)]
    names = [_tangent_name(forward, s.target.elts[k].id) for k in places]
    target = tuple_of([s.target, *map(store, names)], gast.Store())
    twins = [_elements(forward, s.iter.args[k]) for k in places]
    return target, call(forward.bind("zip", zip), s.iter, *twins)
