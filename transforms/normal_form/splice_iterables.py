"""Splices `zip`, `enumerate`, `map` and generators inside the `zip` of a loop into the loop.

The loop's body may change an iterable, and then a later iteration sees the new items. So the inner iterables
may not be listed before the loop.

    for (i, v), u in zip(enumerate(w), y):         i_1 = 0
        ...                                   ->   for v, u in zip(w, y):
                                                       i = i_1
                                                       i_1 = i_1 + 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, call, constant, is_atom, load, located, store, tuple_of
from ..trees.rebuild import rebuilt
from .check_loop_effects import may_change_items
from .lazy_iterables import base_name, generator_of, is_call, is_lazy, with_made
from .view_loops import is_view, is_view_of_dict, over_keys

__all__ = ["spliced", "start_of", "takes_apart"]

Node = Any  # gast publishes no types


def spliced(objects: Objects, node: Node, hold: Callable[[Node], Node]) -> list[Node] | None:
    """The loop after its preparations; None for any other loop. `hold(function)` is a name or literal with
    the value that a function has before the loop.
    """
    sources, target = getattr(node.iter, "args", []), node.target
    if not is_call(objects.program, node.iter, "zip") or not takes_apart(target, len(sources)):
        return None
    splicer = _Splicer(objects, node, hold)
    if not any(map(splicer.is_nested, sources)):
        return None
    sources, checks = with_made_sources(splicer, sources, hold)
    for part, source in zip(target.elts, sources, strict=True):
        splicer.add(part, source)
    new_target = located(tuple_of(splicer.targets, gast.Store()), target)
    new_iter = rebuilt(node.iter, args=splicer.sources)
    new = rebuilt(node, target=new_target, iter=new_iter, body=[*splicer.first, *node.body])
    return [*checks, *splicer.before, new]


def with_made_sources(
    splicer: _Splicer, sources: list[Node], hold: Callable[[Node], Node]
) -> tuple[list[Node], list[Node]]:
    """The iterables, and checks of those that follow one whose items are computed in the loop's body: what
    these run would come before that. Calls among them are evaluated before the loop, in their order.
    """
    objects, checks = splicer.objects, list[Node]()
    computed = [isinstance(s, gast.GeneratorExp) or is_call(objects.program, s, "map") for s in sources]
    nested = [splicer.is_nested(s) for s in sources]
    first = next((k for k, pair in enumerate(zip(computed, nested, strict=True)) if all(pair)), len(sources))
    if all(nested[first:]):
        return sources, []

    def called(node: Node) -> Node:
        is_call = isinstance(node, gast.Call) and not is_lazy(objects.program, node)
        return hold(node) if is_call and not is_view(objects.program, node) else node

    found = []
    for k, source in enumerate(sources):
        if not nested[k]:
            source = with_made(objects, source, hold, checks) if k > first else called(source)
        elif isinstance(source, gast.Call):
            source = rebuilt(source, args=list(map(called, source.args)))
        found.append(source)
    return found, checks


def start_of(counted: Node) -> Node:
    """The expression of the first number of `enumerate(...)`."""
    if len(counted.args) > 1:
        return counted.args[1]
    return counted.keywords[0].value if counted.keywords else constant(0)


def takes_apart(target: Node, count: int) -> bool:
    """Whether a target unpacks exactly this many items."""
    if not isinstance(target, (gast.Tuple, gast.List)) or len(target.elts) != count:
        return False
    return not any(isinstance(e, gast.Starred) for e in target.elts)


class _Splicer:
    """Collects the targets and iterables of the new `zip`, and the statements before the loop and first in
    its body.
    """

    def __init__(self, objects: Objects, loop: Node, hold: Callable[[Node], Node]) -> None:
        self.objects, self.program, self.names = objects, objects.program, objects.names
        self.loop, self.hold = loop, hold
        self.targets: list[Node] = []
        self.sources: list[Node] = []
        self.before: list[Node] = []
        self.first: list[Node] = []
        self.is_strict = bool(loop.iter.keywords)  # it compares lengths, which splicing must keep

    def is_nested(self, source: Node) -> bool:
        """Whether one of the iterables can be spliced."""
        if is_call(self.program, source, "enumerate"):
            return is_lazy(self.program, source) and is_atom(start_of(source))
        if is_call(self.program, source, "zip"):
            return is_lazy(self.program, source) and not source.keywords and not self.is_strict
        if is_call(self.program, source, "map"):
            return is_lazy(self.program, source) and (len(source.args) == 2 or not self.is_strict)
        if isinstance(source, gast.GeneratorExp):
            return len(source.generators) == 1 and not source.generators[0].ifs
        return is_view_of_dict(self.objects, source, self.loop) or self.is_reversed(source)

    def is_reversed(self, source: Node) -> bool:
        """Whether it is `reversed(...)` of an object that the loop's body may change."""
        if not is_call(self.program, source, "reversed") or is_view(self.program, source.args[0]):
            return False
        return is_lazy(self.program, source) and may_change_items(self.program, self.loop)

    def add(self, target: Node, source: Node) -> None:
        if not self.is_nested(source):
            self.targets.append(target)
            self.sources.append(source)
        elif is_view(self.program, source):
            key, keys, checks, reads = over_keys(self.objects, self.loop, target, source, self.hold)
            self.before += checks
            self.add(key, keys)
            self.first += reads
        elif is_call(self.program, source, "reversed"):
            held, index = self.hold(source.args[0]), self.names.temporary("k")
            last = gast.BinOp(left=call(self.objects.name(len), held), op=gast.Sub(), right=constant(1))
            indices = call(self.objects.name(range), last, constant(-1), constant(-1))
            self.add(store(index), located(indices, source))
            item = gast.Subscript(value=held, slice=load(index), ctx=gast.Load())
            self.first.append(assign(target, located(item, source), self.loop))
        elif is_call(self.program, source, "enumerate"):
            (index, item), unpacking = self.taken_apart(target, ["k", base_name(source.args[0])])
            counter = self.names.temporary(base_name(index))
            self.before.append(assign(counter, start_of(source), self.loop))
            step = gast.BinOp(left=load(counter), op=gast.Add(), right=constant(1))
            self.first += [assign(index, load(counter), self.loop), assign(counter, step, self.loop)]
            self.add(item, source.args[0])
            self.first += unpacking
        elif is_call(self.program, source, "zip"):
            items, unpacking = self.taken_apart(target, [base_name(a) for a in source.args])
            for item, inner in zip(items, source.args, strict=True):
                self.add(item, inner)
            self.first += unpacking
        else:
            found = generator_of(self.objects, source, self.hold)
            loop = found.generators[0]
            self.add(loop.target, loop.iter)
            self.first.append(assign(target, found.elt, self.loop))

    def taken_apart(self, target: Node, bases: list[str]) -> tuple[list[Node], list[Node]]:
        """A target for each part of an item, and the statements that rebuild the item from them."""
        if takes_apart(target, len(bases)):
            return list(target.elts), []
        names = [self.names.temporary(base) for base in bases]
        whole = assign(target, tuple_of([load(n) for n in names]), self.loop)
        return [store(n) for n in names], [whole]
