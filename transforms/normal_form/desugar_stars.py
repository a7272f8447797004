"""Displays with `*` and `**` as sums and merges: part of `to_anf`.

`[*a, b]` is `list(a) + [b]`, `(*a, b)` is `tuple(a) + (b,)`, `{*a, b}` is the set of the list, and `{**a, k:
b}` is `merged(a, {k: b})`. Expansions keep their place in the order of evaluation.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.helpers import merged
from ..trees.nodes import call, located
from ..trees.rebuild import rebuilt
from .desugar_comprehensions import listed
from .statement_writer import StatementWriter

__all__ = ["dict_display", "has_star", "sequence_display"]

Node = Any  # gast publishes no types


def has_star(node: Node) -> bool:
    """Whether a display has a starred part."""
    if isinstance(node, gast.Dict):
        return any(key is None for key in node.keys)
    return isinstance(node, (gast.Tuple, gast.List, gast.Set)) and any(
        isinstance(e, gast.Starred) for e in node.elts
    )


def sequence_display(w: StatementWriter, node: Node) -> Node:
    """A tuple, list or set display with stars, as an expression without."""
    if isinstance(node, gast.Set):
        return call(w.objects.name(set), gast.List(elts=node.elts, ctx=gast.Load()))
    kind = w.objects.name(tuple if isinstance(node, gast.Tuple) else list)
    starred = [isinstance(e, gast.Starred) for e in node.elts]
    atoms = w.atoms(
        [
            located(call(kind, listed(w, e.value)), e) if star else e
            for e, star in zip(node.elts, starred, strict=True)
        ]
    )
    parts: list[Node] = []
    run: list[Node] = []
    for atom, star in zip(atoms, starred, strict=True):
        if not star:
            run.append(atom)
            continue
        parts += [rebuilt(node, elts=run)] * bool(run) + [atom]
        run = []
    parts += [rebuilt(node, elts=run)] * bool(run)
    result = parts[0]
    for part in parts[1:]:
        result = gast.BinOp(left=result, op=gast.Add(), right=part)
    return result


def dict_display(w: StatementWriter, node: Node) -> Node:
    """A dict display with `**`, as an expression without."""
    pairs: list[Node] = []
    for key, value in zip(node.keys, node.values, strict=True):
        pairs += [value] if key is None else [key, value]
    atoms = iter(w.atoms(pairs))
    parts: list[Node] = []
    run: list[tuple[Node, Node]] = []
    for key in node.keys:
        if key is not None:
            run.append((next(atoms), next(atoms)))
            continue
        parts += [display(run)] * bool(run) + [next(atoms)]
        run = []
    parts += [display(run)] * bool(run)
    if len(parts) == 1:
        return call(w.objects.name(dict), parts[0])
    result = parts[0]
    for part in parts[1:]:
        result = call(w.objects.name(merged), result, part)
    return result


def display(pairs: list[tuple[Node, Node]]) -> Node:
    return gast.Dict(keys=[k for k, _ in pairs], values=[v for _, v in pairs])
