"""Coalesces names whose lives do not overlap, so that a reader has few to keep in mind.

Contract: a function definition in, an equivalent one out. Versions of one variable become one name, and so do
temporaries that hold arrays of one kind: those of different statements in loops, under a new name, and
elsewhere those of one statement.

    x_2 = f(x)          x = f(x)
    return g(x_2)  ->   return g(x)

    dA_1 = dA[1:-1] / 3          d = dA[1:-1] / 3              y_1 = a + b          y_1 = a + b
    dB[1:] += dA_1               dB[1:] += d                   y_2 = y_1 * c   ->   y_1 = y_1 * c
    dB_1 = dB[1:-1] / 3    ->    d = dB[1:-1] / 3              y = y_2 - b          y = y_1 - b
    dA[1:] += dB_1               dA[1:] += d
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain, count
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import load, names_in, own_statements
from ..trees.rebuild import rebuilt
from .facts import GeneratedFacts
from .interference import Classes, renamed

__all__ = ["coalesce_versions"]

Node = Any  # gast publishes no types


def coalesce_versions(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with fewer names."""
    taken = names_in(tree) | facts.captured | facts.scope

    def fresh(letter: str) -> Iterator[str]:
        names = chain([letter], (f"{letter}_{k}" for k in count(1)))
        return (n for n in names if n not in taken)

    return _function(tree, facts, {True: fresh("d"), False: fresh("t")})


def _function(tree: Node, facts: GeneratedFacts, names: dict[bool, Iterator[str]]) -> Node:
    """The function and its nested functions; `names` are for coalesced temporaries, of adjoints (True) and
    others.
    """
    tree = map_nested(tree, lambda nested: _function(nested, facts, names))
    uses = find_uses(tree)
    if uses is None:
        return tree
    versions = _versions(uses, facts)
    temporaries = [n for n in _made(tree.body) if _is_temporary_array(n, uses, facts)]
    if len(temporaries) < 2 and all(len(group) == 1 for group in versions):
        return tree
    classes = Classes(tree, uses, facts)
    for group in versions:
        while group:  # a name that a class rejects it rejects when it has grown, too
            first, *others = group
            group = classes.take(first, others, facts.alike)
    mapping = classes.representatives()
    for group in _shared(tree, temporaries, classes, facts):
        if len(group) > 1:
            is_one = len(set(map(_stem, group))) == 1
            name = group[0] if is_one else next(names[group[0] in facts.variables])
            mapping.update(dict.fromkeys(group, load(name)))
    return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree


def _versions(uses: Uses, facts: GeneratedFacts) -> list[list[str]]:
    """The names of each variable's versions."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys([*uses.parameters, *uses.bound]):
        variable = None if name in uses.fixed else facts.origin(name)
        if variable is not None:
            found.setdefault(variable, []).append(name)
    return list(found.values())


def _shared(tree: Node, found: list[str], classes: Classes, facts: GeneratedFacts) -> list[list[str]]:
    """The temporaries that are coalesced, by class."""
    inside = set(_made_in_loops(tree)) if len(found) > 1 else set()
    firsts: dict[str | None, list[tuple[int, str]]] = {}  # one name of each class, by stem
    for k, name in enumerate(found):
        mine = [firsts.setdefault(key, []) for key in [_stem(name)] + [None] * (name in inside)]
        known = merge(*mine)
        joined = {other for _, other in known if classes.merge(other, name, facts.are_temporary_arrays)}
        for names in mine:
            if joined.isdisjoint(other for _, other in names):
                names.append((k, name))
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(classes.find(name), []).append(name)
    return list(groups.values())


def _is_temporary_array(name: str, uses: Uses, facts: GeneratedFacts) -> bool:
    elsewhere = uses.captured, uses.fixed, facts.captured, facts.scope
    is_own = uses.bound[name] == 1 and not any(name in names for names in elsewhere)
    return is_own and facts.are_temporary_arrays(name, name)


def _made_in_loops(tree: Node) -> list[str]:
    """The names that are assigned new arrays in loops."""
    loops = [s for s in own_statements(tree.body) if isinstance(s, (gast.For, gast.While))]
    return [name for loop in loops for name in _made(loop.body)]


def _made(statements: list[Node]) -> list[str]:
    """The names whose values are computed, rather than items of an object, in order."""
    return [
        s.targets[0].id
        for s in own_statements(statements)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, (gast.BinOp, gast.UnaryOp, gast.Call))
    ]


def _stem(name: str) -> str:
    return name.rsplit("_", 1)[0]
