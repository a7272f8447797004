"""Writes loops over objects of several classes out, where these are known: then so are their methods.

Form: the normal form, in and out. What an iteration alone uses gets a name for each of them.

    for layer in layers:        layer_1 = layers[0]
        y = layer.act(x)        y_1 = layer_1.act(x)
        x = x + y          ->   x = x + y_1
                                layer_2 = layers[1]
                                y_2 = layer_2.act(x)
                                x = x + y_2
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from ..analyses.liveness import live_before
from ..normal_form.jump_outcomes import breaks_in
from ..trees.nodes import (
    assign,
    assigned_names,
    constant,
    find_nodes,
    load,
    located,
    statements_in,
    target_names,
)
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute, with_body

__all__ = ["unroll_loops"]

MOST = 16  # iterations that are written out


def unroll_loops(
    program: Program, length: Callable[[Any], int | None], is_varied: Callable[[Any], bool]
) -> tuple[Program, dict[str, int]]:
    """The program with the loops written out that go over a list of which `is_varied`, and the lengths that
    this takes for granted, by the names of lists; `length(name)` is None where it is not known.
    """
    if not any(isinstance(s, gast.For) for s in statements_in(program.tree.body)):
        return program, {}
    return _Unroller(program, length, is_varied).run()


class _Unroller:
    def __init__(
        self, program: Program, length: Callable[[Any], int | None], is_varied: Callable[[Any], bool]
    ) -> None:
        self.program, self.length, self.is_varied = program, length, is_varied
        self.names = program.names.copy()
        self.count = Counter(n.id for n in find_nodes(program.tree, gast.Name))
        self.new: set[str] = set()
        self.lengths: dict[str, int] = {}

    def run(self) -> tuple[Program, dict[str, int]]:
        tree = with_body(self.program.tree, self.block(self.program.tree.body))
        if not self.lengths:
            return self.program, {}
        new_locals = self.program.locals | self.new
        return self.program.with_tree(tree, names=self.names, locals=new_locals), self.lengths

    def block(self, statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in statements:
            rounds = self.rounds(s) if isinstance(s, gast.For) else None
            if rounds is None:
                found.append(s if isinstance(s, gast.FunctionDef) else map_blocks(s, self.block))
            else:
                found += self.written_out(s, rounds)
        return found

    def rounds(self, s: Any) -> list[dict[str, Any]] | None:
        """What each iteration assigns to the names of the target, None for a loop that stays."""
        if s.orelse or len(breaks_in(s.body)) > _breaks_last(s.body) or find_nodes(s, gast.FunctionDef):
            return None
        names = target_names(s.target)
        if set(names) & {n for inner in s.body for n in assigned_names(inner)}:
            return None
        name, items, is_strict = "", [s.iter], False
        match s.iter:
            case gast.Call(func=gast.Name(id="zip" as name), args=items, keywords=[]):
                pass
            case gast.Call(
                func=gast.Name(id="zip" as name),
                args=items,
                keywords=[gast.keyword(arg="strict", value=gast.Constant(value=bool() as is_strict))],
            ):
                pass
            case gast.Call(func=gast.Name(id="enumerate" | "reversed" as name), args=[sequence], keywords=[]):
                items = [sequence]
        counted = names[: name == "enumerate"]
        is_known = not name or self.program.resolve(s.iter.func) is getattr(builtins, name)
        is_known = is_known and all(isinstance(a, gast.Name) for a in items)
        if not is_known or len(names) != len(items) + len(counted) or not any(map(self.is_varied, items)):
            return None
        lengths = [self.length(a) for a in items]
        known = [n for n in lengths if n is not None]
        if len(known) < len(lengths) or not 1 < min(known) <= MOST or (is_strict and len({*known}) > 1):
            return None
        self.lengths |= {a.id: n for a, n in zip(items, known, strict=True)}
        order = range(min(known))
        return [
            {n: constant(k) for n in counted}
            | {n: _item(a, k) for n, a in zip(names[len(counted) :], items, strict=True)}
            for k in (reversed(order) if name == "reversed" else order)
        ]

    def written_out(self, s: Any, rounds: list[dict[str, Any]]) -> list[Any]:
        inside = Counter(n.id for n in find_nodes(s, gast.Name))
        outside = self.count - inside
        body = self.block(s.body)
        carried = live_before(body, frozenset(), frozenset())[0]
        own = [n for n in assigned_names(body) if n not in carried and n not in outside]
        found: list[Any] = []
        names = [{n: self.names.temporary(n) for n in (*items, *own)} for items in rounds]
        for items, new in zip(rounds[::-1], names[::-1], strict=True):
            self.new |= set(new.values())
            part = [located(assign(new[n], item, s), s) for n, item in items.items()]
            part += [substitute(inner, {n: load(m) for n, m in new.items()}) for inner in body]
            if items is rounds[-1] or _breaks_last(body):
                last = [located(assign(n, load(new[n]), s), s) for n in items if n in outside]
                part[len(items) : len(items)] = last
            if _breaks_last(body):
                end = part.pop()
                part += [rebuilt(end, body=[located(gast.Pass(), end)], orelse=found)] if found else []
                found = part
            else:
                found = part + found
        return found


def _breaks_last(body: list[Any]) -> bool:
    """Whether a loop is left only at the end of its body: `if stop: break`."""
    match body[-1]:
        case gast.If(body=[gast.Break()], orelse=[]):
            return True
    return False


def _item(sequence: Any, k: int) -> Any:
    return located(gast.Subscript(value=sequence, slice=constant(k), ctx=gast.Load()), sequence)
