"""Hoists the `append` to a loop's trace to where the saved values are known.

Contract: a function definition in, an equivalent one out. A trace's `append` moves up within its block, past
statements that touch neither the trace nor the saved values (an inner trace is filled by then), when a
loop-carried name then needs no second name.

    x_2 = 0.5 * (x + a / x)          trace.append(x)
    trace.append(x)            ->    x_2 = 0.5 * (x + a / x)
    x = x_2                          x = x_2
"""
from __future__ import annotations

from typing import Any

import gast

from ..analyses.find_uses import is_pure, reads
from ..trees.nodes import Comment, assigned_names, blocks_of, header_expressions, is_atom, walk_scope
from ..trees.rebuild import map_blocks, with_body
from ..trees.remember import remembered
from .facts import GeneratedFacts

__all__ = ["hoist_traces"]

Node = Any  # gast publishes no types

_JUMPS = (gast.Break, gast.Continue, gast.Return, gast.Raise)


def hoist_traces(tree: Node, facts: GeneratedFacts) -> Node:
    """The function with appends to traces in its own blocks hoisted where that saves a name."""
    return with_body(tree, _Block(tree.body, facts).hoisted()) if facts.traces else tree


class _Block:
    """One block's statements, with traces inside it hoisted."""

    def __init__(self, statements: list[Node], facts: GeneratedFacts) -> None:
        self.facts, self.traces = facts, facts.traces
        self.statements = [self.inner(s) for s in statements]

    def inner(self, s: Node) -> Node:
        if isinstance(s, gast.Try):
            return s
        return map_blocks(s, lambda b: _Block(b, self.facts).hoisted()) if blocks_of(s) else s

    def hoisted(self) -> list[Node]:
        if not any(self.entry(s) for s in self.statements):
            return self.statements
        for k, s in enumerate(self.statements):
            entry = self.entry(s)
            if entry is None:
                continue
            place = self.place(k, entry)
            if place < k and self.serves(place, k, reads(entry)):
                self.statements.insert(place, self.statements.pop(k))
        return self.statements

    def entry(self, s: Node) -> Node | None:
        """The value that a statement appends to a trace, or None."""
        match s:
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                                           args=[entry])):
                return entry if name in self.traces else None
        return None

    def place(self, k: int, entry: Node) -> int:
        """The first position to which statement k may move."""
        kept = reads(self.statements[k])
        trace = self.statements[k].value.func.value.id
        holds_references = all(is_atom(e) for e in (entry.elts if isinstance(entry, gast.Tuple) else [entry]))
        for j in range(k - 1, -1, -1):
            s = self.statements[j]
            if (isinstance(s, (Comment, gast.FunctionDef)) or not kept.isdisjoint(assigned_names(s))
                    or not ({trace} | kept & self.traces).isdisjoint(_reads(s))
                    or any(isinstance(n, _JUMPS) for n in walk_scope(s))
                    or not (holds_references or self.leaves_objects(s))):
                return j + 1
        return 0

    def leaves_objects(self, s: Node) -> bool:
        """Whether a statement changes no object in place."""
        match s:
            case gast.Assign(targets=[gast.Name() | gast.Tuple()]) | gast.Pass():
                return all(is_pure(e, self.facts.is_pure) for e in header_expressions(s))
        return False

    def serves(self, place: int, k: int, kept: set[str]) -> bool:
        """Whether a loop-carried name can be one name once statement k stands at `place`."""
        for c in range(k + 1, len(self.statements)):
            match self.statements[c]:
                case gast.Assign(targets=[gast.Name(id=x)], value=gast.Name(id=y)) if x in kept:
                    made = [j for j in range(c) if y in assigned_names(self.statements[j])]
                    if made and place <= made[0] < k and all(
                            x not in _reads(self.statements[j]) or self.entry(self.statements[j]) is not None
                            for j in range(made[-1] + 1, c)):
                        return True
        return False


@remembered
def _reads(s: Node) -> set[str]:
    return reads(s)
