"""Copies of gast nodes with some parts replaced: what passes use in place of changing a tree.

Contract: the result stands where the original stands; parts that are not replaced are shared with the
original.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from .nodes import blocks_of, located, walk

__all__ = [
    "bound_names",
    "map_blocks",
    "map_children",
    "parameter_names",
    "parameters",
    "rebuilt",
    "relocated",
    "with_blocks",
]

Node = Any  # gast publishes no types


def rebuilt(node: Node, **changes: Any) -> Node:
    """A copy of the node with the fields that are given."""
    return located(
        type(node)(**{f: changes[f] if f in changes else getattr(node, f, None) for f in node._fields}), node
    )


def map_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each direct child replaced by `change` of it; the node itself when that changes none."""
    changes: dict[str, Any] = {}
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, gast.AST):
            if value._fields and (new := change(value)) is not value:
                changes[name] = new
        elif isinstance(value, list):
            items = [change(v) if isinstance(v, gast.AST) and v._fields else v for v in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                changes[name] = items
    return rebuilt(node, **changes) if changes else node


def map_blocks(statement: Node, change: Callable[[list[Node]], list[Node]]) -> Node:
    """The statement with `change` applied to its blocks, a nested function's body included."""
    match statement:
        case gast.If() | gast.For() | gast.While() | gast.With() | gast.Try():
            return with_blocks(statement, [change(block) for block in blocks_of(statement)])
        case gast.FunctionDef():
            return rebuilt(statement, body=change(statement.body))
        case _:
            return statement


def with_blocks(statement: Node, blocks: Sequence[list[Node]]) -> Node:
    """The compound statement with other blocks, given in the order of `blocks_of`."""
    remaining = iter(blocks)
    if isinstance(statement, gast.With):
        return rebuilt(statement, body=next(remaining))
    if isinstance(statement, gast.Try):
        body = next(remaining)
        handlers = [rebuilt(h, body=next(remaining)) for h in statement.handlers]
        return rebuilt(
            statement, body=body, handlers=handlers, orelse=next(remaining), finalbody=next(remaining)
        )
    return rebuilt(statement, body=next(remaining), orelse=next(remaining))


def relocated(node: Node, like: Node) -> Node:
    """A copy of the tree that stands, in all its parts, where `like` is."""
    return located(rebuilt(map_children(node, lambda child: relocated(child, like))), like)


def parameters(function: Node) -> list[Node]:
    """The parameters of a function definition or lambda, as nodes, star parameters left out."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def parameter_names(function: Node) -> list[str]:
    """The names of a function's parameters, positional ones first, star parameters left out."""
    return [n.id for n in parameters(function)]


def bound_names(tree: Node) -> frozenset[str]:
    """All names that a function binds anywhere in it, nested functions and their variables included."""
    found = set()
    for n in walk(tree):
        if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param)):
            found.add(n.id)
        elif isinstance(n, gast.FunctionDef) and n is not tree:
            found.add(n.name)
    return frozenset(found)
