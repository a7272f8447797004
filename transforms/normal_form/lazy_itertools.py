"""Calls of `itertools` that are consumed in place, as generator expressions.

Functions that read their arguments before the first item (`product`, `combinations`) are listed here, too;
infinite ones (`count`, `cycle`) stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import accumulated, dropped_while, filtered_out, selected, sliced, taken_while
from ..trees.nodes import call, constant, load, located, store, tuple_of
from ..trees.program import Program

__all__ = ["is_endless", "is_itertools", "itertools_generator"]

Node = Any  # gast publishes no types
Hold = Callable[[Node], Node]
SIZES = (2, 3)  # of the combinations that become loops
CHOOSING = (itertools.combinations, itertools.combinations_with_replacement, itertools.permutations)
WHOLE = (itertools.compress, itertools.dropwhile, itertools.filterfalse)  # their helpers read to the end
HELPERS: dict[Any, Any] = {
    itertools.accumulate: accumulated,
    itertools.compress: selected,
    itertools.dropwhile: dropped_while,
    itertools.filterfalse: filtered_out,
    itertools.islice: sliced,
    itertools.takewhile: taken_while,
}


def is_itertools(program: Program, node: Node) -> bool:
    """Whether the expression is a call that `itertools_generator` writes."""
    if not isinstance(node, gast.Call):
        return False
    found, count = program.resolve(node.func), len(node.args)
    if _is_starred(node) and found is not itertools.chain:
        return False
    if found is itertools.accumulate:
        return 0 < count < 3 and [k.arg for k in node.keywords] in ([], ["initial"])
    if found is itertools.product and [k.arg for k in node.keywords] == ["repeat"]:
        return 0 < count < 3 and getattr(node.keywords[0].value, "value", None) in SIZES
    if node.keywords:
        return False
    if found is itertools.chain or found is itertools.product:
        return count > 0
    if any(found is f for f in CHOOSING):
        size = getattr(node.args[1], "value", None) if count == 2 else None
        return size in SIZES
    if found is itertools.islice and count in (3, 4):
        return True
    if found is itertools.islice:
        return count == 2 and not (isinstance(node.args[1], gast.Constant) and node.args[1].value is None)
    if found is itertools.pairwise or found == itertools.chain.from_iterable:
        return count == 1
    if found in WHOLE and any(is_endless(program, a) for a in node.args):
        return False
    return count == 2 and (found in HELPERS or found is itertools.repeat or found is itertools.starmap)


def _is_starred(node: Node) -> bool:
    return any(isinstance(a, gast.Starred) for a in node.args)


def is_endless(program: Program, node: Node) -> bool:
    """Whether an expression makes an infinite iterator."""
    found = program.resolve(node.func) if isinstance(node, gast.Call) else None
    alone = found is itertools.repeat and len(node.args) + len(node.keywords) == 1
    return alone or found is itertools.count or found is itertools.cycle


def itertools_generator(objects: Objects, node: Node, hold: Hold) -> Node:
    """The generator expression that equals such a call."""
    found, args = objects.program.resolve(node.func), list(node.args)
    item = objects.names.temporary("item")

    def listed(source: Node) -> Node:
        return hold(located(call(objects.name(list), source), node))

    if found is itertools.product:
        again = node.keywords[0].value.value if node.keywords else 1
        pools = [listed(a) for a in args] * again
        names = [item, *(objects.names.temporary("item") for _ in pools[1:])]
        return _generator(_tuple(names), list(zip(names, pools, strict=True)))
    if any(found is f for f in CHOOSING):
        return _chosen(objects, listed(args[0]), args[1].value, found)
    if found is itertools.pairwise:
        pool, after = listed(args[0]), objects.names.temporary("item")
        rest = gast.Subscript(value=pool, slice=_from_one(), ctx=gast.Load())
        pairs = call(objects.name(zip), pool, rest)
        target = tuple_of([store(item), store(after)], gast.Store())
        loop = gast.comprehension(target=target, iter=pairs, ifs=[], is_async=0)
        return gast.GeneratorExp(elt=_tuple([item, after]), generators=[loop])
    if found is itertools.islice and len(args) == 2:
        target = tuple_of([store(objects.names.temporary("k")), store(item)], gast.Store())
        counted = call(objects.name(zip), call(objects.name(range), args[1]), args[0])
        loop = gast.comprehension(target=target, iter=counted, ifs=[], is_async=0)
        return gast.GeneratorExp(elt=load(item), generators=[loop])
    if found is itertools.repeat:
        value = hold(args[0])
        return _generator(value, [(item, call(objects.name(range), args[1]))])
    if found is itertools.starmap:
        function = hold(args[0])
        applied = gast.Call(
            func=function, args=[gast.Starred(value=load(item), ctx=gast.Load())], keywords=[]
        )
        return _generator(applied, [(item, args[1])])
    if found == itertools.chain.from_iterable or (found is itertools.chain and _is_starred(node)):
        part, parts = objects.names.temporary("items"), args[0]
        if found is itertools.chain:
            parts = located(gast.List(elts=args, ctx=gast.Load()), node)
        return _generator(load(item), [(part, parts), (item, load(part))])
    if found is itertools.chain:
        parts = [gast.Starred(value=a, ctx=gast.Load()) for a in args]
        return _generator(load(item), [(item, located(gast.List(elts=parts, ctx=gast.Load()), node))])
    helper = HELPERS[found]
    made = gast.Call(func=load(objects.name(helper)), args=args, keywords=node.keywords)
    return _generator(load(item), [(item, hold(located(made, node)))])


def _chosen(objects: Objects, pool: Node, size: int, found: Any) -> Node:
    """The combinations, or permutations, of the items of a list."""
    ordered = found is not itertools.permutations
    places = [objects.names.temporary("k") for _ in range(size)]
    loops = []
    for n, place in enumerate(places):
        first = load(places[n - 1])
        if found is itertools.combinations:
            first = gast.BinOp(left=first, op=gast.Add(), right=constant(1))
        start = [first] if ordered and n else []
        tests = [
            gast.Compare(left=load(place), ops=[gast.NotEq()], comparators=[load(other)])
            for other in ([] if ordered else places[:n])
        ]
        over = call(objects.name(range), *start, call(objects.name(len), pool))
        loops.append(gast.comprehension(target=store(place), iter=over, ifs=tests, is_async=0))
    items = [gast.Subscript(value=pool, slice=load(p), ctx=gast.Load()) for p in places]
    return gast.GeneratorExp(elt=tuple_of(items), generators=loops)


def _generator(elt: Node, loops: list[tuple[str, Node]]) -> Node:
    generators = [gast.comprehension(target=store(n), iter=over, ifs=[], is_async=0) for n, over in loops]
    return gast.GeneratorExp(elt=elt, generators=generators)


def _tuple(names: list[str]) -> Node:
    return tuple_of([load(n) for n in names])


def _from_one() -> Node:
    return gast.Slice(lower=constant(1), upper=None, step=None)
