"""Gives every `for` a target that is a name or a flat tuple of names.

Form in: a function with resolved names. Form out: the same, but a nested loop target is unpacked by
statements at the start of the body, `enumerate` of a lazy iterable (`enumerate(zip(...))`) is an explicit
counter, a loop over a generator, `map` or `filter` computes the items itself, one over all indices of an
array is a nest of loops over ranges, and `yield from` is a loop.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_loops(program_of('''
... def f(xs, ys):
...     for i, (x, y) in enumerate(zip(xs, ys)):
...         g(i, x, y)
... ''')).tree))
def f(xs, ys):
    i_1 = 0
    for x, y in zip(xs, ys):
        i = i_1
        i_1 = i_1 + 1
        g(i, x, y)
<BLANKLINE>
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.generators import reads_state
from ..trees.helpers import transposed
from ..trees.nodes import assign, constant, is_atom, load, located, store, tuple_of
from ..trees.printer import to_source
from ..trees.program import MISSING, Names, Program
from ..trees.rebuild import Rewriter, rebuilt
from .check_loop_effects import check_changes
from .index_loops import enumerated, nested_ranges
from .jump_outcomes import breaks_in, returns_in
from .lazy_iterables import MAPPING, PAIRING, base_name, generator_of, is_call, is_lazy, with_made
from .splice_iterables import spliced, start_of, takes_apart
from .view_loops import is_view, is_view_of_dict, over_keys

__all__ = ["desugar_loops"]

Node = Any  # gast publishes no types

# Iterables whose items a helper reads before the loop.
READ_BEFORE = (itertools.accumulate, itertools.chain, itertools.pairwise, itertools.takewhile, transposed)


def desugar_loops(program: Program) -> Program:
    """The program whose loop targets are names or flat tuples of names."""
    names = program.names.copy()
    writer = _Writer(Objects(program, names))
    tree = writer.function(program.tree)
    return program.with_tree(
        tree, names=names, bindings=writer.objects.all_bindings()
    )


class _Writer(Rewriter):
    nested = True

    def __init__(self, objects: Objects) -> None:
        self.objects, self.program, self.names = objects, objects.program, objects.names

    def statement(self, s: Node) -> list[Node]:
        if isinstance(s, gast.For):
            return self.loop(s)
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.YieldFrom):
            item, source = self.names.temporary("item"), s.value.value
            one = located(gast.Expr(value=located(gast.Yield(value=load(item)), s)), s)
            made = gast.For(target=store(item), iter=source, body=[one], orelse=[], type_comment=None)
            return self.loop(located(made, s))
        return [self.inside(s)]

    def loop(self, node: Node) -> list[Node]:
        """The statements that replace a `for`."""
        if is_lazy(self.program, node.iter, MAPPING):
            return self.block(self.computed(node))
        before: list[Node] = []
        hold = self.holder(node, before)
        if is_view_of_dict(self.objects, node.iter, node):
            key, keys, checks, reads = over_keys(self.objects, node, node.target, node.iter, hold)
            over = rebuilt(node, target=key, iter=keys, body=[*reads, *node.body])
            return self.block([*before, *checks, over])
        within = spliced(self.objects, self.with_parts(node), hold)
        if within is not None:
            return self.block([*before, *within])
        over_indices = enumerated(self.objects, node) or nested_ranges(self.objects, node)
        if over_indices is not None:
            return self.block(over_indices)
        counted = counted_iterable(self.objects, node)
        if counted is None:
            check_items(self.objects, node)
            new = self.inside(self.with_parts(node))
            target, unpacking = flat(new.target, self.names, node)
            source = self.held(new.iter, hold)
            return [*before, rebuilt(new, target=target, iter=source, body=[*unpacking, *new.body])]
        index, item = node.target.elts
        counter = self.names.temporary(base_name(index))
        step = gast.BinOp(left=load(counter), op=gast.Add(), right=constant(1))
        counting = [assign(index, load(counter), node), assign(counter, step, node)]
        start = assign(counter, start_of(counted), node)
        if not is_lazy(self.program, counted.args[0], MAPPING):
            *before, new = self.loop(rebuilt(node, target=item, iter=counted.args[0]))
            return [start, *before, rebuilt(new, body=[*counting, *new.body])]
        if not isinstance(item, gast.Name):  # the index is assigned first
            whole = store(self.names.temporary(base_name(item)))
            counting.append(assign(item, load(whole.id), node))
            item = whole
        return [
            start,
            *self.loop(rebuilt(node, target=item, iter=counted.args[0], body=[*counting, *node.body])),
        ]

    def held(self, source: Node, hold: Callable[[Node], Node]) -> Node:
        """The iterable with temporaries for names that the loop assigns."""
        if is_lazy(self.program, source, PAIRING) and not isinstance(source, gast.GeneratorExp):
            return rebuilt(source, args=[self.held(a, hold) for a in source.args])
        return hold(source) if isinstance(source, gast.Name) else source

    def with_parts(self, node: Node) -> Node:
        """A loop over `zip(x, y)` that unpacks each pair: for `for pair in ...` with `pair = a, b`."""
        if not is_lazy(self.program, node.iter, ("zip",)) or takes_apart(node.target, len(node.iter.args)):
            return node
        items = [self.names.temporary(base_name(node.target)) for _ in node.iter.args]
        target = located(tuple_of(map(store, items), gast.Store()), node.target)
        whole = assign(node.target, tuple_of(map(load, items)), node)
        return rebuilt(node, target=target, body=[whole, *node.body])

    def computed(self, node: Node) -> list[Node]:
        """A loop over a generator, `map` or `filter` as loops that compute the items."""
        check_items(self.objects, node)
        before: list[Node] = []
        hold = self.holder(node, before)
        node = self.made_early(node, hold, before)
        found = generator_of(self.objects, node.iter, hold)
        if len(found.generators) > 1 and (breaks_in(node.body) or returns_in(node.body) or node.orelse):
            self.program.refuse(
                node,
                "a loop over a generator with several `for`, left by `break` or `return` or with `else`, "
                "is not differentiated",
                "several loops would have to be left at once",
                "loop over a list: `[...]` in place of `(...)`",
            )
        body = [assign(node.target, found.elt, node), *node.body]
        for k, g in reversed(list(enumerate(found.generators))):
            for test in reversed(g.ifs):
                body = [located(gast.If(test=test, body=body, orelse=[]), node)]
            loop = gast.For(
                target=g.target, iter=g.iter, body=body, orelse=[] if k else node.orelse, type_comment=None
            )
            body = [located(loop, node)]
        return [*before, *body]

    def made_early(self, node: Node, hold: Callable[[Node], Node], before: list[Node]) -> Node:
        """A loop over items that are read before it, whose body might notice that, over what runs no code."""
        program, body = self.program, node.body
        found = program.resolve(node.iter.func) if isinstance(node.iter, gast.Call) else MISSING
        is_noticed = reads_state(program, body) or breaks_in(body) or returns_in(body)
        if not any(found is f for f in READ_BEFORE) or not is_noticed:
            return node
        checks: list[Node] = []
        source = with_made(self.objects, node.iter, hold, checks)
        before += checks
        return rebuilt(node, iter=source)

    def holder(self, node: Node, before: list[Node]) -> Callable[[Node], Node]:
        """A function that returns an atom for a value from before a loop; `before` gains the atom's
        statements.
        """

        def hold(function: Node) -> Node:
            is_name = isinstance(function, gast.Name) and function.id not in stored_names(node)
            if (
                is_name
                or isinstance(function, gast.Constant)
                or self.program.resolve(function) is not MISSING
            ):
                return function
            name = self.names.temporary(base_name(function))
            before.append(assign(name, function, node))
            return load(name)

        return hold


def check_items(objects: Objects, node: Node) -> None:
    """Refuses a loop over items that are read before it, if its body may change their source."""
    program, source = objects.program, node.iter
    found = program.resolve(source.func) if isinstance(source, gast.Call) else MISSING
    args = source.args if isinstance(source, gast.Call) and is_lazy(program, source, PAIRING) else []

    def is_shown(part: Node) -> bool:
        return is_view(program, part) and part.func.attr != "keys"

    is_before = any(found is f for f in READ_BEFORE)
    if is_before or any(is_lazy(program, part) for part in args):
        check_changes(program, node, "zip(*...)" if found is transposed else to_source(source))
    if any(map(is_shown, [source, *args])):
        check_changes(program, node, to_source(source), of_dict=True)


def stored_names(node: Node) -> set[str]:
    """The names that a statement assigns, in nested functions, too."""
    return {
        n.id
        for n in gast.walk(node)
        if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param))
    }


def counted_iterable(objects: Objects, node: Node) -> Node:
    """The call `enumerate(...)` of a loop with two targets, when its argument is lazy, too; else None."""
    program = objects.program
    if not (
        isinstance(node.target, (gast.Tuple, gast.List))
        and len(node.target.elts) == 2
        and is_call(program, node.iter, "enumerate")
    ):
        return None
    if any(isinstance(e, gast.Starred) for e in node.target.elts) or not node.iter.args:
        return None
    counted = node.iter.args[0]
    is_split = is_lazy(program, counted) or is_view_of_dict(objects, counted, node)
    return node.iter if is_split and is_atom(start_of(node.iter)) else None


def flat(target: Node, names: Names, like: Node) -> tuple[Node, list[Node]]:
    """A loop target of names only, and the statements that unpack it."""
    if isinstance(target, gast.Name):
        return target, []
    if not isinstance(target, (gast.Tuple, gast.List)) or any(
        isinstance(e, gast.Starred) for e in target.elts
    ):
        whole = names.temporary(base_name(target))
        return store(whole), [assign(target, load(whole), like)]
    flat_targets: list[Node] = []
    unpacking: list[Node] = []
    for element in target.elts:
        if isinstance(element, gast.Name) and not unpacking:
            flat_targets.append(element)
            continue
        part = names.temporary(base_name(element))
        flat_targets.append(store(part))
        unpacking.append(assign(element, load(part), like))
    return located(tuple_of(flat_targets, gast.Store()), target), unpacking
