"""Gives arrays that the iterations of a reverse loop need for a while few names, so that few are kept.

Contract: a function definition in, one that does the same out. Temporaries of different statements become one
name where never two of them are needed at once (see `merge_copies`).

    dA_1 = dA[1:-1] / 3          d = dA[1:-1] / 3
    dB[1:] += dA_1               dB[1:] += d
    dB_1 = dB[1:-1] / 3    ->    d = dB[1:-1] / 3
    dA[1:] += dB_1               dA[1:] += d
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any

import gast

from .find_uses import find_uses, map_nested
from .merge_copies import Classes, renamed
from .nodes import find_nodes, load, own_statements, statements_in
from .rebuild import rebuilt

__all__ = ["share_temporaries"]

Node = Any  # gast publishes no types


def share_temporaries(tree: Node, protected: frozenset[str], alike: Callable[[str, str], bool]) -> Node:
    """The function with fewer names; `alike` says of two temporaries that they hold arrays of one kind."""
    taken = {n.id for n in find_nodes(tree, gast.Name)} | protected
    names = chain(["d"], (f"d_{k}" for k in count(1)))
    return _function(tree, protected, alike, (n for n in names if n not in taken))


def _function(
    tree: Node, protected: frozenset[str], alike: Callable[[str, str], bool], names: Iterator[str]
) -> Node:
    tree = map_nested(tree, lambda nested: _function(nested, protected, alike, names))
    uses = find_uses(tree)
    if uses is None:
        return tree
    found = [
        n
        for n in _made_in_loops(tree)
        if uses.bound[n] == 1 and alike(n, n) and n not in uses.captured and n not in uses.fixed | protected
    ]
    if len(set(map(_stem, found))) < 2:
        return tree
    classes = Classes(tree, uses, frozenset(protected | uses.fixed | set(uses.parameters)), alike)
    for k, name in enumerate(found):
        for other in found[:k]:
            classes.merge(other, name)
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(classes.find(name), []).append(name)
    mapping = {}
    for group in groups.values():
        if len(set(map(_stem, group))) > 1:
            mapping.update(dict.fromkeys(group, load(next(names))))
    return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree


def _made_in_loops(tree: Node) -> list[str]:
    """The names that are assigned in loops, in order."""
    loops = [s for s in own_statements(tree.body) if isinstance(s, (gast.For, gast.While))]
    inside = dict.fromkeys(id(s) for loop in loops for s in statements_in(loop.body))
    return [
        s.targets[0].id
        for s in own_statements(tree.body)
        if id(s) in inside and isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
    ]


def _stem(name: str) -> str:
    return name.rsplit("_", 1)[0]
