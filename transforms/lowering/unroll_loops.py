"""Unrolls loops over items that differ, so that the methods and array shapes of each are known.

Form: the normal form, in and out. Variables that only an iteration uses get a new name in each, and so does
an assumed length.

    for layer in layers:        length_1 = len(layers)
        y = layer.act(x)        layer_1 = layers[0]
        x = x + y          ->   y_1 = layer_1.act(x)
                                x = x + y_1
                                layer_2 = layers[1]
                                y_2 = layer_2.act(x)
                                x = x + y_2
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import gast

from ..analyses.liveness import live_before
from ..normal_form.jump_outcomes import breaks_in
from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assign,
    assigned_names,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    statements_in,
    store,
    target_names,
    tuple_of,
)
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute, with_body

__all__ = ["unroll_loops"]

MOST = 16  # iterations at most
GROWTH = 250  # statements that a loop may become


Round = list[tuple[tuple[str, ...], Any]]  # the targets, and the value
Items = Callable[[Any], Sequence[Any] | None]
Wanted = Callable[[Any], bool]


def unroll_loops(
    program: Program, items: Items, is_wanted: Wanted, is_sure: bool = False, growth: int = GROWTH
) -> tuple[Program, dict[str, int]]:
    """The program with the wanted loops unrolled that become at most `growth` statements, and the lengths
    that this assumes, by their names: none if `is_sure`. `items(name)` are the expressions of the items of an
    iterable, None where they are not known.
    """
    if not any(isinstance(s, gast.For) for s in statements_in(program.tree.body)):
        return program, {}
    return _Unroller(program, items, is_wanted, is_sure, growth).run()


class _Unroller:
    def __init__(
        self, program: Program, items: Items, is_wanted: Wanted, is_sure: bool, growth: int
    ) -> None:
        self.program, self.items, self.is_wanted = program, items, is_wanted
        self.is_sure, self.growth = is_sure, growth
        self.is_changed = False
        self.names = program.names.copy()
        self.count = Counter(n.id for n in find_nodes(program.tree, gast.Name))
        self.new: set[str] = set()
        self.objects = Objects(program, self.names)
        self.lengths: dict[str, int] = {}

    def run(self) -> tuple[Program, dict[str, int]]:
        tree = with_body(self.program.tree, self.block(self.program.tree.body))
        if not self.is_changed:
            return self.program, {}
        bindings = self.objects.all_bindings()
        new = self.program.with_tree(tree, names=self.names, bindings=bindings)
        return new, self.lengths

    def block(self, statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in statements:
            if isinstance(s, gast.FunctionDef):
                found.append(s)
                continue
            new = map_blocks(s, self.block)
            rounds, lengths = self.rounds(s) if isinstance(s, gast.For) else ([], {})
            if rounds and len(rounds) * sum(1 for _ in statements_in(new.body)) <= self.growth:
                self.is_changed = True
                found += [self.granted(s, name, n) for name, n in lengths.items()]
                found += self.written_out(s, new.body, rounds)
            else:
                found.append(new)
        return found

    def rounds(self, s: Any) -> tuple[list[Round], dict[str, int]]:
        """The assignments of each iteration's item to the target's names, and the lengths of lists that are
        assumed; empty for a loop that stays.
        """
        if s.orelse or len(breaks_in(s.body)) > _breaks_last(s.body) or find_nodes(s, gast.FunctionDef):
            return [], {}
        names = target_names(s.target)
        bound = assigned_names(s.body)
        if not {*names, *names_read(s.iter)}.isdisjoint(bound) or set(names) & set(names_read(s.iter)):
            return [], {}
        counts = self.counts(s.iter)
        if counts is not None:
            return self.counted(names, counts, s), {}
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
        targets: list[tuple[str, ...]] = [(n,) for n in names[len(counted) :]]
        if len(items) == 1 and not counted and name != "zip":
            targets = [tuple(names)]
        if not is_known or len(targets) != len(items) or not self.is_wanted(s):
            return [], {}
        parts = [self.items(a) for a in items]
        known = [len(p) for p in parts if p is not None]
        if len(known) < len(parts) or not 0 < min(known) <= MOST or (is_strict and len({*known}) > 1):
            return [], {}
        order = range(min(known))
        found: list[Round] = [
            [
                *(((n,), constant(k)) for n in counted),
                *((t, p[k]) for t, p in zip(targets, parts, strict=True) if p is not None),
            ]
            for k in (reversed(order) if name == "reversed" else order)
        ]
        return found, {} if self.is_sure else {a.id: n for a, n in zip(items, known, strict=True)}

    def counts(self, source: Any) -> range | None:
        """The range that an iterable is, if its bounds are literal."""
        match source:
            case gast.Call(func=gast.Name(id="range"), args=[*bounds], keywords=[]) if (
                self.program.resolve(source.func) is range
                and all(isinstance(b, gast.Constant) and type(b.value) is int for b in bounds)
                and [b.value for b in bounds[2:]] != [0]
            ):
                return range(*(b.value for b in bounds))
        return None

    def counted(self, names: list[str], counts: range, s: Any) -> list[Round]:
        """The assignments of each iteration of a loop over a range; empty for a loop that stays."""
        is_short = self.is_sure and 0 < len(counts) <= MOST and len(names) == 1
        return [[((names[0],), constant(k))] for k in counts] if is_short and self.is_wanted(s) else []

    def granted(self, s: Any, name: str, n: int) -> Any:
        """The statement that names the length of a list."""
        length = self.names.temporary("length")
        self.lengths[length] = n
        return assign(length, located(call(self.objects.name(len), load(name)), s), s)

    def written_out(self, s: Any, body: list[Any], rounds: list[Round]) -> list[Any]:
        """An unrolled loop, given its body with inner loops unrolled."""
        inside = Counter(n.id for n in find_nodes(s, gast.Name))
        outside = self.count - inside
        carried = live_before(body, frozenset(), frozenset())[0]
        own = [n for n in assigned_names(body) if n not in carried and n not in outside]
        targets = target_names(s.target)
        found: list[Any] = []
        names = [{n: self.names.temporary(n) for n in (*targets, *own)} for _ in rounds]
        for items, new in zip(rounds[::-1], names[::-1], strict=True):
            self.new |= set(new.values())
            first = [a for target, item in items for a in self.assigned([new[n] for n in target], item, s)]
            part = list(first)
            renamed = {n: load(m) for n, m in new.items()} | self.literals(items)
            part += [substitute(inner, renamed) for inner in body]
            if items is rounds[-1] or _breaks_last(body):
                last = [located(assign(n, load(new[n]), s), s) for n in targets if n in outside]
                part[len(first) : len(first)] = last
            if _breaks_last(body):
                end = part.pop()
                part += [rebuilt(end, body=[located(gast.Pass(), end)], orelse=found)] if found else []
                found = part
            else:
                found = part + found
        return found

    def assigned(self, names: list[str], item: Any, like: Any) -> list[Any]:
        """The statements that assign an item to a name, or its parts to names."""
        if len(names) == 1:
            return [assign(names[0], located(item, like), like)]
        whole = self.names.temporary(names[0])
        self.new.add(whole)
        target = tuple_of(map(store, names), gast.Store())
        return [assign(whole, located(item, like), like), assign(located(target, like), load(whole), like)]

    def literals(self, items: Round) -> dict[str, Any]:
        """The literals that replace names; of objects only the methods matter."""
        if not self.is_sure:
            return {}
        return {target[0]: item for target, item in items if isinstance(item, gast.Constant)}


def _breaks_last(body: list[Any]) -> bool:
    """Whether a loop is only left at the end of its body: `if stop: break`."""
    match body[-1]:
        case gast.If(body=[gast.Break()], orelse=[]):
            return True
    return False
