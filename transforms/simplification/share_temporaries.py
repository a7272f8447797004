"""Gives arrays that are needed for a while few names, so that few are kept.

Contract: a function definition in, one that does the same out. Temporaries become one name where never two of
them are needed at once (see `merge_copies`): in a loop those of different statements, which get a name of
their own, and elsewhere those of one statement.

    dA_1 = dA[1:-1] / 3          d = dA[1:-1] / 3              y_1 = a + b          y_1 = a + b
    dB[1:] += dA_1               dB[1:] += d                   y_2 = y_1 * c   ->   y_1 = y_1 * c
    dB_1 = dB[1:-1] / 3    ->    d = dB[1:-1] / 3              y = y_2 - b          y = y_1 - b
    dA[1:] += dB_1               dA[1:] += d
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain, count
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import load, names_in, own_statements
from ..trees.rebuild import rebuilt
from .facts import GeneratedFacts
from .merge_copies import Classes, renamed

__all__ = ["share_temporaries"]

Node = Any  # gast publishes no types


def share_temporaries(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with fewer names."""
    protected = facts.captured | facts.scope

    def fresh(letter: str) -> Iterator[str]:
        taken = names_in(tree) | protected
        names = chain([letter], (f"{letter}_{k}" for k in count(1)))
        return (n for n in names if n not in taken)

    return _Sharing(facts, protected, {True: fresh("d"), False: fresh("t")}).function(tree)


@dataclass(frozen=True)
class _Sharing:
    facts: GeneratedFacts
    protected: frozenset[str]
    names: dict[bool, Iterator[str]]

    def function(self, tree: Node) -> Node:
        tree = map_nested(tree, self.function)
        uses = find_uses(tree)
        if uses is None:
            return tree
        inside = set(_made_in_loops(tree))
        found = [n for n in _made(tree.body) if self.may_share(n, uses)]
        if len(found) < 2:
            return tree
        kept = frozenset(self.protected | uses.fixed | set(uses.parameters))
        alike = self.facts.are_temporary_arrays  # all in a class are
        classes = Classes(tree, uses, kept, alike, lambda name: None)
        firsts: dict[str | None, list[tuple[int, str]]] = {}  # one name of each class, by stem and in loops
        for k, name in enumerate(found):
            mine = [firsts.setdefault(key, []) for key in [_stem(name)] + [None] * (name in inside)]
            joined = {other for _, other in merge(*mine) if classes.merge(other, name)}
            for known in mine:
                if joined.isdisjoint(other for _, other in known):
                    known.append((k, name))
        groups: dict[str, list[str]] = {}
        for name in found:
            groups.setdefault(classes.find(name), []).append(name)
        mapping = {}
        for group in groups.values():
            if len(group) > 1:
                mapping.update(dict.fromkeys(group, load(self.name_of(group))))
        return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree

    def may_share(self, name: str, uses: Uses) -> bool:
        elsewhere = uses.captured, uses.fixed, self.protected
        is_own = uses.bound[name] == 1 and not any(name in names for names in elsewhere)
        return is_own and self.facts.are_temporary_arrays(name, name)

    def name_of(self, group: list[str]) -> str:
        """The first one's name, if they belong to one statement."""
        is_one = len(set(map(_stem, group))) == 1
        return group[0] if is_one else next(self.names[group[0] in self.facts.variables])


def _made_in_loops(tree: Node) -> list[str]:
    """The names that are assigned new arrays in loops."""
    loops = [s for s in own_statements(tree.body) if isinstance(s, (gast.For, gast.While))]
    return [name for loop in loops for name in _made(loop.body)]


def _made(statements: list[Node]) -> list[str]:
    """The names that are assigned what is computed, rather than a part of something, in order."""
    return [
        s.targets[0].id
        for s in own_statements(statements)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, (gast.BinOp, gast.UnaryOp, gast.Call))
    ]


def _stem(name: str) -> str:
    return name.rsplit("_", 1)[0]
