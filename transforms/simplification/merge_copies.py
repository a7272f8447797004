"""Coalesces a variable with its copies where they do not interfere, and propagates constants.

Contract: a function definition in, an equivalent one out. Two names become one when neither is assigned while
the other is live (Chaitin's coalescing); parameters and captured names stay. A constant with one assignment
replaces its name.

    x_2 = f(x)          x = f(x)
    x = x_2       ->
"""
from __future__ import annotations

from collections.abc import Set
from typing import Any

import gast

from ..analyses.find_uses import Uses, find_uses, map_nested
from ..trees.nodes import load, own_statements
from ..trees.rebuild import rebuilt
from .facts import GeneratedFacts
from .hoist_traces import hoist_traces
from .interference import Classes, is_literal, kept_names, renamed

__all__ = ["merge_copies", "put_constants"]

Node = Any  # gast publishes no types


def merge_copies(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with copies merged; traces are hoisted where that helps."""
    return _Merger(facts).function(tree, frozenset())


def put_constants(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with each name whose only value is a literal replaced by it."""
    uses = find_uses(tree)
    if uses is None:
        return tree
    mapping = _constants(tree, uses, facts.captured)
    return rebuilt(tree, body=renamed(tree.body, mapping, tree)) if mapping else tree


def _constants(tree: Node, uses: Uses, protected: frozenset[str]) -> dict[str, Node]:
    """The names to be replaced by their values."""
    found: dict[str, Node] = {}
    for s in own_statements(tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                    uses.bound[name] == 1 and is_literal(value) and name not in uses.fixed
                    and name not in protected):
                found[name] = value
    return found


class _Merger:
    """Merges the copies of a function and of those nested in it, innermost first."""

    def __init__(self, facts: GeneratedFacts) -> None:
        self.facts = facts

    def function(self, tree: Node, enclosing: frozenset[str]) -> Node:
        """The function; `enclosing` are names that only enclosing functions assign."""
        uses = find_uses(tree)
        if uses is None:
            return tree
        inner = enclosing - set(uses.bound) | (set(uses.bound) - uses.fixed)
        new = map_nested(tree, lambda nested: self.function(nested, frozenset(inner)))
        new = hoist_traces(new, self.facts)
        while True:
            if new is not tree:
                tree, uses = new, find_uses(new)
            assert uses is not None
            mapping = _constants(tree, uses, self.facts.captured)
            mapping |= self.copies(tree, uses, enclosing, mapping.keys())
            if not mapping:
                return tree
            new = rebuilt(tree, body=renamed(tree.body, mapping, tree))

    def copies(self, tree: Node, uses: Uses, enclosing: frozenset[str],
               constants: Set[str]) -> dict[str, Node]:
        """Maps names to the names that replace them; those in `constants` are replaced already."""
        keep = kept_names(tree, uses, self.facts)
        pairs = []
        found: dict[str, Node] = {}
        for s in own_statements(tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=a)], value=gast.Name(id=b)):
                    if b in constants or not self.facts.alike(a, b):
                        continue
                    if a == b or ({a, b} <= uses.bound.keys() and not {a, b} & uses.fixed):
                        pairs.append((a, b))
                    elif (b in enclosing and b not in uses.bound and uses.bound[a] == 1 and a not in keep
                          and a not in uses.captured):
                        found[a] = load(b)
        if found or not pairs:
            return found
        classes = Classes(tree, uses, self.facts)
        for a, b in pairs:
            classes.merge(a, b, self.facts.alike)
        return classes.representatives() or {a: load(a) for a, b in pairs if a == b}
