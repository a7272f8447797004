"""Reverse mode of the first reads of items of a parameter: where the container has no other reader, its
adjoint is a display of theirs.

    w = p["w"]
    b = p["b"]    ->    dp = {"w": dw, "b": db}
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import takewhile
from typing import Any

import gast

from ..lowering.hoist_items import field_read, item_read
from ..trees.nodes import constant, load, tuple_of
from .adjoint import Env, Ownership, Plain, Sweep
from .adjoints import gradient_of
from .reverse_state import Block, Reverse

__all__ = ["items_first", "reverse_items"]


def items_first(statements: list[Any], parameters: list[str]) -> int:
    """The number of leading statements that read attributes of parameters, or items by literal keys."""
    fields = list(takewhile(lambda s: field_read(s, parameters) is not None, statements))
    items = list(takewhile(lambda s: item_read(s) is not None, statements[len(fields) :]))
    return len(fields) + len(items) if items else 0


def reverse_items(reverse: Reverse, reads: list[Any], env: Env, block: Block) -> Sweep:
    """Both sweeps of the leading reads; `env` holds the adjoints after them."""
    ahead: list[Any] = []
    back: list[Any] = []
    parts: dict[str, dict[Hashable, Any]] = {}

    def take(name: str) -> None:
        if name in parts:
            env[name] = Plain(_display(reverse, name, parts.pop(name)), ownership=Ownership.OWNED)

    for s in reversed(reads):
        found = item_read(s)
        take(s.targets[0].id)
        if found is None:
            first, last = block(reverse, [s], env)
            ahead, back = [*first, *ahead], [*back, *last]
            continue
        name, base, key = found
        keys = reverse.domain.keys_of(reverse.kind(load(base)))
        if key in keys and base not in env and name not in reverse.shadows and base not in reverse.shadows:
            if name in env:
                parts.setdefault(base, {})[key] = gradient_of(reverse, env, name, back)
            ahead.insert(0, s)
        else:
            take(base)
            first, last = block(reverse, [s], env)
            ahead, back = [*first, *ahead], [*back, *last]
    for base in list(parts):
        take(base)
    return ahead, back


def _display(reverse: Reverse, name: str, parts: dict[Hashable, Any]) -> Any:
    """The adjoint of a container, from those of its items."""
    kind = reverse.kind(load(name))
    keys = reverse.domain.keys_of(kind)
    values = [parts[key] if key in parts else reverse.zero_item(name, key) for key in keys]
    if reverse.domain.is_dict(kind):
        return gast.Dict(keys=list(map(constant, keys)), values=values)
    return gast.List(elts=values, ctx=gast.Load()) if reverse.domain.is_list(kind) else tuple_of(values)
