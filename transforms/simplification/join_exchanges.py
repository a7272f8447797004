"""Joins copies that exchange names into one statement.

Contract: a function definition in, an equivalent one out. Consecutive copies whose net effect is a cycle of
values become one statement, and the names that only served for it are dropped.

    u_3 = v
    v = u            ->          u, v = v, u
    u = u_3
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_uses import find_uses, map_nested
from ..trees.nodes import assign, is_copy, load, store, tuple_of
from ..trees.rebuild import map_blocks, with_body

__all__ = ["join_exchanges"]

Node = Any  # gast publishes no types


def join_exchanges(tree: Node) -> Node:
    """The function with exchanges in one statement each."""
    tree = map_nested(tree, join_exchanges)
    return with_body(tree, _block(tree.body, tree))


def _block(statements: list[Node], function: Node) -> list[Node]:
    result: list[Node] = []
    run: list[Node] = []
    for s in statements:
        if is_copy(s):
            run.append(s)
            continue
        result += [*_joined(run, function), s if isinstance(s, gast.FunctionDef) else _inside(s, function)]
        run = []
    return [*result, *_joined(run, function)]


def _inside(s: Node, function: Node) -> Node:
    return map_blocks(s, lambda block: _block(block, function))


def _joined(run: list[Node], function: Node) -> list[Node]:
    """A run of copies as one statement for each cycle, if it consists of cycles only."""
    if len(run) < 3 or (uses := find_uses(function)) is None:
        return run
    pairs = [(s.targets[0].id, s.value.id) for s in run]
    before: dict[str, str] = {}
    for target, source in pairs:
        before[target] = before.get(source, source)
    read = [source for _, source in pairs]
    passing = {
        t
        for t in before
        if uses.read[t] == read.count(t) and uses.bound[t] == 1 and t not in uses.captured
    }
    moved = {t: s for t, s in before.items() if t not in passing and t != s}
    if not moved or set(moved) != set(moved.values()):
        return run
    result: list[Node] = []
    while moved:
        first = next(iter(moved))
        cycle = [first]
        while (source := moved.pop(cycle[-1])) != first:
            cycle.append(source)
        targets, values = cycle, [*cycle[1:], first]
        joined = assign(tuple_of(map(store, targets), gast.Store()), tuple_of(map(load, values)), run[0])
        result.append(joined)
    return result
