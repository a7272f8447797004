"""Loops over all indices of an array, as loops over ranges, whose reverse needs no trace.

    for i, j in np.ndindex(a.shape):          n_1, n_2 = a.shape
        ...                            ->     for i in range(n_1):
                                                  for j in range(n_2):
                                                      ...

A loop over `np.ndenumerate` is one over indices that reads the element first. A loop with a `break`, or whose
indices are read outside of it, stays a loop over `np.ndindex`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, attribute, call, find_nodes, load, located, store, tuple_of
from ..trees.rebuild import rebuilt
from .jump_outcomes import breaks_in
from .lazy_iterables import base_name

__all__ = ["enumerated", "nested_ranges"]

Node = Any  # gast publishes no types


def enumerated(objects: Objects, node: Node) -> list[Node] | None:
    """A loop over `np.ndenumerate(x)` as one over indices, which reads the elements; None for others."""
    library, found = objects.program.library, _called(objects, node)
    if found is None or found is not library.items or len(node.iter.args) != 1:
        return None
    names, (source,) = objects.names, node.iter.args
    array = names.temporary(source.id if isinstance(source, gast.Name) else "array")
    before = assign(array, call(objects.name(library.array), source), node)
    body: list[Node] = []
    if isinstance(node.target, gast.Tuple) and len(node.target.elts) == 2:
        index, item = node.target.elts
    else:
        index, item = store(names.temporary("index")), store(names.temporary("item"))
        body.append(assign(node.target, tuple_of([load(index.id), load(item.id)]), node))
    place = _loaded(index)
    if place is None:
        place = load(names.temporary(base_name(index)))
        body.append(assign(index, place, node))
        index = store(place.id)
    read = assign(item, gast.Subscript(value=load(array), slice=place, ctx=gast.Load()), node)
    indices = located(call(objects.name(library.indices), attribute(load(array), "shape")), node)
    return [before, rebuilt(node, target=index, iter=indices, body=[read, *body, *node.body])]


def nested_ranges(objects: Objects, node: Node) -> list[Node] | None:
    """A loop over `np.ndindex(...)` as loops over ranges; None where their number is not known, or they would
    differ.
    """
    found = _called(objects, node)
    if found is None or found is not objects.program.library.indices or node.orelse or breaks_in(node.body):
        return None
    names, sizes, body = objects.names, node.iter.args, node.body
    stars = sum(isinstance(a, gast.Starred) for a in sizes)
    if isinstance(node.target, gast.Name) and len(sizes) > 1 and not stars:
        indices = [names.temporary(node.target.id) for _ in sizes]
        body = [assign(node.target, tuple_of(map(load, indices)), node), *body]
    elif isinstance(node.target, gast.Tuple) and all(isinstance(e, gast.Name) for e in node.target.elts):
        indices = [e.id for e in node.target.elts]
        if len(set(indices)) != len(indices) or _are_read_elsewhere(objects, node, indices):
            return None
    else:
        return None
    counts = [names.temporary("n") for _ in indices]
    if len(sizes) == 1 and (stars or len(indices) > 1):
        shape = sizes[0].value if stars else sizes[0]
        before = [assign(located(tuple_of(map(store, counts), gast.Store()), node), shape, node)]
    elif len(sizes) == len(indices) > 1 and not stars:
        before = [assign(count, size, node) for count, size in zip(counts, sizes, strict=True)]
    else:
        return None
    for index, count in reversed([*zip(indices, counts, strict=True)]):
        over = located(call(objects.name(range), load(count)), node)
        body = [rebuilt(node, target=store(index), iter=over, body=body)]
    return [*before, *body]


def _called(objects: Objects, node: Node) -> Any:
    """The callee of a loop's iterable with positional arguments only; None for other loops."""
    source = node.iter
    if not isinstance(source, gast.Call) or source.keywords or not source.args:
        return None
    return objects.bindings.get(getattr(source.func, "id", ""), objects.program.resolve(source.func))


def _loaded(index: Node) -> Node | None:
    """The value of an index's target, where that is a name or a tuple of names."""
    match index:
        case gast.Name(id=name):
            return load(name)
        case gast.Tuple(elts=elts) if all(isinstance(e, gast.Name) for e in elts):
            return load(elts[0].id) if len(elts) == 1 else tuple_of([load(e.id) for e in elts])
    return None


def _are_read_elsewhere(objects: Objects, node: Node, names: list[str]) -> bool:
    """Whether the program has one of the names outside of the loop, too."""
    all_names, own_names = (
        Counter(n.id for n in find_nodes(tree, gast.Name)) for tree in (objects.program.tree, node)
    )
    return any(all_names[name] > own_names[name] for name in names)
